// Package machine decides what an objective, a plan and a context do next. It is
// pure: no Temporal, no clock, no goroutine, no input or output. The same code
// runs in a workflow and, a million times over, in its simulation.
//
// There are three machines: [Objective], [Plan] and [Context]. Each has a State,
// which is all that it knows and all that one run of its workflow hands to the
// next, and two methods. Handle takes in one [Input] (a message, a command, a
// report, an elapsed timer, the outcome of a call) and returns the events that
// follow. Wants returns everything that should be running or known outside as
// things stand: activities, child workflows, timers, signals, and whether the
// workflow may end. It is a state and never a list of steps: the driver in
// package workflows starts what is missing and stops what is not wanted, and to
// ask twice changes nothing.
//
// The machines talk to each other in states, too:
//
//	API ──Command, Letter──► Objective ──Directive──► Plan
//	API ──Letter (a decision)───────────────────────► Plan
//	                         Objective ◄──Report───── Plan
//	                         Objective ──TurnRequest─► Context
//	                         Objective ◄──Turn──────── Context
//
// A [Directive] is the state that an objective wants one of its plans to be in, a
// report ([opt.Report]) is the state that the plan is in, with the number of the
// directive that it has acted upon. Both are numbered; the latest counts, and an
// earlier one that arrives late is dropped. So nothing depends on having seen
// every step of the other side. What the objective shows of a plan that has not
// acted yet is what it has asked for: [Directive.assumed] is that rule, and the
// plan uses it as well, to tell only what the objective does not know.
//
// Who owns what: a plan decides about its tasks and gates, its own pause and its
// status; the objective about its plans, what they are called and depend on, its
// own pause, the revision and the root task; the context about turns. A command
// goes to the objective, which handles one at a time: what belongs to a plan goes
// there in the directive, and comes back as an answer in the report.
//
// Admit says what a command may ask for. The API refuses the obvious with it, by
// what the journal shows; the machines judge with it.
package machine
