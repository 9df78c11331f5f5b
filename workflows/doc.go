// Package workflows decides when things happen: an Objective workflow per
// objective, a Plan workflow per plan, and a Context workflow for a context that
// several objectives use at a time. The machines of package machine decide what
// happens next; this package carries it out.
//
// The three workflows are alike. Each makes its machine, passes it to a driver (package
// drive) and returns the machine's result. The driver decides what to begin, to stop, to send
// and to record; host.go does it in Temporal. Events are recorded with a separate activity or
// in the input of a task's activity (they "ride"), and always before anything is sent to others
// about them.
//
// Client is the only caller of Temporal's client; the rest of Longhaul sees it as
// an engine that starts work and sends it messages. Messages and commands are
// signals; each is answered by an event in the journal.
//
// Inputs, results and signals stay in histories: from v0.1.0 on, fields
// are added, never renamed or reused.
//
// A Push workflow makes the deliveries of one push config for as long as some are
// due. The journal says which; a worker starts and signals it.
//
// A schedule runs a Purge workflow, which is separate from the others: it removes
// ended objectives from the journal.
package workflows
