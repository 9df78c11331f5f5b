package planner

// agentExecutor is the kind of the executor that hands tasks over to agents.
const agentExecutor = "agent"

// frontPlans returns the plan of a playbook that hands whole conversations over to an agent: one
// task, named after the message.
func frontPlans(agent text) []*plan {
	name, err := parseText("{{short 60 .Message}}", false)
	if err != nil {
		panic("planner: the name of a task in front of an agent: " + err.Error())
	}
	handover := &task{step: step{name: name}, at: agent.line, executor: agentExecutor, input: map[string]any{"agent": agent, "whole": true}}
	return []*plan{{step: step{name: text{raw: "Work"}}, tasks: []*task{handover}}}
}
