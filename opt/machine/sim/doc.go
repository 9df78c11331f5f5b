// Package sim simulates the machines of package machine and their driver: without Temporal,
// goroutines or a clock. The simulated world has objectives that share contexts,
// their plans, a model of Temporal, a model of the journal, replicas of the API
// and clients. A [Schedule], a list of small numbers, decides everything, so the
// same schedule always does the same.
//
//	client.go, call.go ──letter, command──► temporal.go ──► workflow.go (drive.Driver) ──► host.go (a machine)
//	                                          ▲  │ events       │
//	activity.go (workers) ──ends, records─────┤  ▼              ▼
//	reset.go (an operator)                    │ record.go    checks.go
//	                                          └── the rows of journal.go ──► client.go
//
// Each of those who act has its own type over the [world]: the state that all see, which decides
// nothing. A director (director.go) chooses who acts next. Checks are functions of the world and
// of an input, an event or a state (checks.go, begin.go, gates.go, legs.go, shown.go, rest.go); facts.go has what they
// have noted.
//
// [Run] plays a schedule: each step does one thing that is possible now (a
// workflow task, a delivery, the end of an activity, a commit of the journal, a
// client's call, a fault, an act of an operator). Some worlds run under the rules before, or
// have a clock of the API that differs. The journal removes what ended long ago, and may be restored
// from an older copy and rebuilt. Operators end workflows, and in some worlds reset those of objectives
// and plans. After the last step everything runs until nothing is
// possible without clients; then clients finish what waits for them, and at last
// everything open is canceled. The checks find what does not hold after each step and at
// rest. [Shrink] cuts a schedule that breaks an
// invariant down to a short one, and its script says what happened.
package sim
