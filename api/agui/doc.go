// Package agui has the runs of AG-UI: a thread is a context, and a run a message in it. [Runs.Open]
// sends the message of an input, or its answers to gates, and follows the objective. [Run.Next] returns
// its events: the conversation, plans and tasks as the state, and gates as interrupts, which end the
// run. All of it is done by operations of the table; there are no rules about work here, and the forms
// are those of package protocol.
package agui
