// Package machine decides what an objective, a plan and a context do next. It is
// pure: no Temporal, no clock, no goroutine, no input or output. The same code
// runs in workflows and in the simulation (package sim).
//
// There are three machines: [Objective], [Plan] and [Context]. Each has a State,
// which is all that it knows and all that one run of its workflow passes to the
// next, and two methods. Handle handles one [Input] (a message, a command, a
// report, an elapsed timer, the outcome of a call) and returns the events that
// follow. Wants returns everything that should now run or be known outside:
// activities, child workflows, timers, signals, and whether the workflow may end.
// It is a state, not a list of steps: the driver in package workflows starts
// missing work and stops unwanted work. Calling Wants changes nothing.
//
// The machines send each other states, too:
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
// earlier one that arrives late is dropped. So neither side depends on having
// seen every step of the other. Until a plan has acted on a directive, the
// objective shows the status that it has asked for: [Directive.assumed] is that
// rule. The plan uses it, too, so that it reports only what the objective does
// not know.
//
// A plan decides about its tasks and gates, its own pause and its status. The
// objective decides about its list of plans, their names and dependencies, its
// own pause, the revision and the root task. The context decides about turns. A
// command goes to the objective, which handles one at a time: it passes a command
// for a plan on in the directive, and the plan answers in the report.
//
// A machine makes events; what only changes its state, or decides by it, is in methods of the state
// and of its parts: the turn, the links to plans, the commands. A task of a plan with the work on it
// is a job, which knows nothing of the others and sees its plan through a small interface.
//
// Admit says which commands are allowed. The API calls it with the state in the
// journal, to refuse early; the machines call it to decide.
package machine
