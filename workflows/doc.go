// Package workflows decides when things happen: an Objective workflow per
// objective, a Plan workflow per plan, and a Context workflow for a context that
// several objectives want at a time. What happens next is decided by the machines
// of package machine; here is what carries that out.
//
// The three workflows are alike. Each makes its machine, hands it to a driver and
// returns what the machine came to. The driver (driver.go) takes in everything
// that has arrived, asks the machine what it wants, starts what is missing and
// stops what is not wanted, and waits for the next thing to arrive. Its recorder
// (driver_record.go) writes the machine's events to the journal: by an activity,
// or in the input of a task's activity, in which they ride, and always before
// anyone is told of them.
//
// Client is the only caller of Temporal's client; the rest of Longhaul sees it as
// an engine that starts, tells and stops work. Messages and commands are signals;
// what becomes of them is an event in the journal.
//
// Inputs, results and signals live for ever in histories: from v0.1.0 on, fields
// are added, never renamed or reused.
//
// A schedule runs a Purge workflow now and then, which has nothing to do with the
// others: it removes from the journal what has ended.
package workflows
