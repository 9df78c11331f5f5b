// Package sim runs the machines of package machine in a world of its own: no
// Temporal, no goroutine, no wall clock. The world has objectives that share
// contexts, their plans, a model of Temporal, a model of the journal, replicas of
// the API and clients. What happens in it follows from a [Schedule], a list of
// small numbers, so the same schedule always does the same.
//
//	client.go ──letter, command──► temporal.go ──input──► host.go (a machine)
//	                                   ▲  │ events
//	              invariants.go ◄──────┘  └──► journal.go ──rows──► client.go
//
// [Run] plays a schedule: each step lets one thing happen that could happen now
// (a workflow task, a delivery, the end of an activity, a commit of the journal, a
// client's act, a fault). After the last step the world comes to rest, helpful
// clients finish what waits for them, and at last everything that is open is
// canceled. The functions of invariants.go say what must hold after each step and
// at rest. A schedule that breaks one is cut down by [Shrink] to a short one, whose
// script says in plain words what happened.
package sim
