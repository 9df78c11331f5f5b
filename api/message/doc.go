// Package message delivers messages of clients. A message begins work (message_start.go) or is
// for a task (message_reply.go): an answer to a gate, a comment or a note. What it begins has an
// id that is made from the caller and the id of the message, so a repeat finds the same work.
// After a write it waits until the journal shows the result: the verdict on a reply, the end of
// the work or a question. The agent ([Agent]) decides what new work is.
package message
