// Package rehearse runs an objective before it begins: the real machines and their driver in virtual
// time, with tasks that only take time and people who answer as they are assumed to. [Run] plays it
// once with the middle of all assumptions, for its course, and many times with random draws from them,
// for the ranges of its time and costs.
//
// It has no rules of its own. Each file calls those below it:
//
//	rehearse.go  all of it, and the draws
//	past.go      how tasks went in past runs
//	report.go    the report, read from the recorded events
//	warning.go   what the report warns of
//	world.go     the host of the driver: appointments and time
//	part.go      how the two machines reach each other, and how their tasks end
//	people.go    who answers at a gate, and when
//	assume.go    the assumptions about tasks, people and limits
package rehearse
