// Package opt is the Objective-Plan-Task model: objectives, plans, tasks and gates, the
// moves between their states, and the events that follow from a state.
//
// An [Objective] has plans, a [Plan] has tasks, and a [Task] may wait at a [Gate] for a
// person. Tables list the moves of their states ([ObjectiveMoves], [PlanMoves]). Every
// change is an [Event], a fact with new values. Apply is the only code that changes an
// objective or a plan, which are the sums of their events. Roll-up derives the state of a
// plan from its tasks and the state of an objective from its plans. [Objective.Startable] lists
// the plans that may start now, [Plan.Ready] the tasks.
//
// The order of the tasks of a plan, and of the plans of an objective: one that declares
// dependencies begins when those are done, at once if it declares an empty list. One that
// declares none follows the one before it in the list, which may wait itself. So the members
// of a list without dependencies run one after another, and those that are added are the
// last. [Plan.Before] and [Objective.Before] list what one waits for. Nothing is removed
// from a list: a plan that was skipped or replaced is done, an optional one also if it
// failed.
//
// What clients send is a [Letter] (a message), a [Command] (a change) or a [Reply] (a
// response at a gate). Each has one answer: a [Judgement] with a verdict, or a
// [CommandAnswer]. A reply that is judged leaves a [Decision] in a [Chain].
//
// What executors get and return is [Work] and an [Outcome]. What the journal records are
// [Batch]es of events of one source.
//
// Package machine, below this one, decides which events follow from which input. The
// workflows, the API and the simulation all use both packages. The other packages below it
// have what the machines do not need: shown is the work as readers see it, outbox what goes
// to receivers, timetable what starts objectives at times, access who may use the server.
//
// The package is pure: it reads no clock, draws no random number, starts no goroutine and
// does no input or output, so the same code decides in a workflow, in a handler and in a
// test. Everything here is stored in histories and in the journal, so fields are added,
// never renamed or reused.
package opt
