// Package mcp is the door for hosts of models: the Model Context Protocol at [Path], as streamable
// HTTP without sessions, so that each process can answer each request. It has no rules of its own:
// every tool calls operations of the table, as the caller of the request:
//
//	a skill of the card     SendMessage, then SubscribeToTask for a bounded time (tool.go)
//	get, cancel             GetTask, CancelTask
//	inbox, answer           ListInterrupts, AnswerInterrupt (tool.go)
//	tasks/get, …/update     GetTask, ListInterrupts, AnswerInterrupt (task.go)
//
// A host that declares the extension io.modelcontextprotocol/tasks gets a task for work that takes
// time. Another one waits with the call, and then gets the id of the A2A task. Questions that wait
// for the caller go to the person at the host, by elicitation.
package mcp
