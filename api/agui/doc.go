// Package agui has the runs of AG-UI 1.0, the protocol between agents and the pages of people: a thread
// is a context, and a run a message in it. [Open] sends the message of an [Input], or its answers to
// gates, and follows the objective. [Run.Next] returns its events: the conversation, plans and tasks as
// the state, and gates as interrupts, which end the run. The id of each event is the position of a client
// that has it, so that any process continues the run. It has no rules about work, and no HTTP.
package agui
