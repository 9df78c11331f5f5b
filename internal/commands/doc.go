// Package commands has the commands for people and scripts, which reach an agent over A2A:
// Commands lists them.
//
// remote.go reaches the agent, for all of them, and says what to do about its errors. watch.go
// follows a task on a display (display.go): print.go and gate.go print lines, live.go draws a
// tree (tree.go) on a terminal. inbox.go has a person at a terminal answer, with prompt.go; id.go
// completes ids.
package commands

// Commands are the commands for people, who reach an agent over A2A.
type Commands struct {
	Health  healthCommand    `cmd:"" help:"Ask a process on this machine, or at a URL, whether it is ready; for health checks."`
	Send    sendCommand      `cmd:"" help:"Send a message to an agent and show the result."`
	Watch   watchCommand     `cmd:"" help:"Show what happens to a task until it has ended."`
	Inbox   inboxCommand     `cmd:"" help:"List the tasks that wait for a person, the oldest first."`
	Answer  answerCommand    `cmd:"" help:"Answer a waiting task."`
	Stands  standingCommand  `cmd:"" name:"standing" help:"Decide about gates of a playbook beforehand: make, approve, revoke and list standing decisions."`
	Absence absenceCommand   `cmd:"" help:"Be absent for a time in which a deputy may decide at gates: add, list and end absences."`
	Decided decisionsCommand `cmd:"" name:"decisions" help:"List the decisions at the gates of an objective."`
	Verify  verifyCommand    `cmd:"" help:"Check saved decisions without a server: none was changed, added or removed."`
	List    listCommand      `cmd:"" help:"List objectives, the newest first."`
	Get     getCommand       `cmd:"" help:"Show a task, and how to answer it if it waits."`
	Goal    objectiveCommand `cmd:"" name:"objective" help:"Show an objective with its plans and tasks."`
	Fork    forkCommand      `cmd:"" help:"Start a new objective from an event of another one, with the work that was finished there."`
	Compare compareCommand   `cmd:"" help:"Show two objectives side by side: their tasks, times, costs, and how results differ."`
	Try     rehearseCommand  `cmd:"" name:"rehearse" help:"Show how the work of a message would go, before it begins: who is asked when, the time and the costs."`
	Costs   costsCommand     `cmd:"" help:"List what contexts, models or tenants have cost."`
	Cancel  cancelCommand    `cmd:"" help:"Cancel a task."`
	Times   scheduleCommand  `cmd:"" name:"schedule" help:"Make, list, pause, trigger and delete schedules, which start objectives at times."`
	Card    cardCommand      `cmd:"" help:"Show the card of an agent: its skills and where it is served."`
	MCP     mcpCommand       `cmd:"" name:"mcp" help:"Give a local host of models the tools of a server, by MCP over standard input and output."`
	Prove   proveCommand     `cmd:"" help:"Kill, restart and cut off an A2A server, any one, and show what it keeps."`
}
