package opt

import (
	"slices"

	"longhaul/a2a"
)

// An ObjectiveStatus is the status of an objective.
type ObjectiveStatus string

// The statuses of an objective.
const (
	ObjectiveSubmitted ObjectiveStatus = "submitted"
	ObjectivePlanning  ObjectiveStatus = "planning"
	ObjectiveWorking   ObjectiveStatus = "working"
	ObjectiveBlocked   ObjectiveStatus = "blocked"
	ObjectiveCompleted ObjectiveStatus = "completed"
	ObjectiveFailed    ObjectiveStatus = "failed"
	ObjectiveCanceled  ObjectiveStatus = "canceled"
)

// A PlanStatus is the status of a plan.
type PlanStatus string

// The statuses of a plan.
const (
	PlanPending   PlanStatus = "pending"
	PlanWorking   PlanStatus = "working"
	PlanBlocked   PlanStatus = "blocked"
	PlanCompleted PlanStatus = "completed"
	PlanFailed    PlanStatus = "failed"
	PlanSkipped   PlanStatus = "skipped"
)

// Reasons why an objective or a plan is blocked.
const (
	BlockedByDependencies = "dependencies"
	BlockedByInput        = "input"
	BlockedByAuth         = "auth"
	BlockedByOperator     = "operator"    // paused
	BlockedByPlan         = "plan-paused" // of an objective: one of its plans is paused
)

// Expired is the reason of an objective that was canceled because no client started
// it in time.
const Expired = "expired"

// Other reasons of an objective.
const (
	NothingToDo      = "nothing-to-do"     // it was started and has no open plan: it waits for a new one
	NothingCompleted = "nothing-completed" // it failed because it had only optional plans left and they failed
)

// Reasons why a plan was stopped.
const (
	Replanned      = "replanned"       // other plans replace it; it ends skipped
	ObjectiveEnded = "objective-ended" // a client declared the objective completed while the plan worked
	Terminated     = "terminated"      // an operator ended its workflow
	PlanCanceled   = "plan-canceled"   // an operator canceled its workflow; it fails with the reason canceled
)

// Begins is the reason of the event of a message that has started an objective.
const Begins = "begins"

// ReasonRejected is the reason of a plan or an objective that failed because an
// agent rejected a task, and never used otherwise. The root task is then rejected.
const ReasonRejected = string(TaskRejected)

// A TaskState is the state of a plan task: pending until it is dispatched, then the
// state of its A2A task.
type TaskState string

// The states of a plan task.
const (
	TaskPending       TaskState = "pending"
	TaskSubmitted               = TaskState(a2a.Submitted)
	TaskWorking                 = TaskState(a2a.Working)
	TaskInputRequired           = TaskState(a2a.InputRequired)
	TaskAuthRequired            = TaskState(a2a.AuthRequired)
	TaskCompleted               = TaskState(a2a.Completed)
	TaskFailed                  = TaskState(a2a.Failed)
	TaskCanceled                = TaskState(a2a.Canceled)
	TaskRejected                = TaskState(a2a.Rejected)
)

// The statuses and states, for texts that list them.
var (
	ObjectiveStatuses = []ObjectiveStatus{
		ObjectiveSubmitted, ObjectivePlanning, ObjectiveWorking, ObjectiveBlocked, ObjectiveCompleted, ObjectiveFailed, ObjectiveCanceled,
	}
	PlanStatuses = []PlanStatus{PlanPending, PlanWorking, PlanBlocked, PlanCompleted, PlanFailed, PlanSkipped}
	TaskStates   = []TaskState{
		TaskPending, TaskSubmitted, TaskWorking, TaskInputRequired, TaskAuthRequired, TaskCompleted, TaskFailed, TaskCanceled, TaskRejected,
	}
)

// ObjectiveMoves lists, for each status, the statuses that may follow it. The
// moves out of failed and canceled begin a new attempt.
var ObjectiveMoves = map[ObjectiveStatus][]ObjectiveStatus{
	ObjectiveSubmitted: {ObjectivePlanning, ObjectiveWorking, ObjectiveCanceled},
	ObjectivePlanning:  {ObjectiveWorking, ObjectiveBlocked, ObjectiveFailed, ObjectiveCanceled},
	ObjectiveWorking:   {ObjectiveBlocked, ObjectiveCompleted, ObjectiveFailed, ObjectiveCanceled},
	ObjectiveBlocked:   {ObjectivePlanning, ObjectiveWorking, ObjectiveFailed, ObjectiveCanceled},
	ObjectiveCompleted: {},
	ObjectiveFailed:    {ObjectiveSubmitted, ObjectivePlanning},
	ObjectiveCanceled:  {ObjectiveSubmitted},
}

// PlanMoves lists, for each status, the statuses a client may ask for.
var PlanMoves = map[PlanStatus][]PlanStatus{
	PlanPending:   {PlanWorking, PlanSkipped},
	PlanWorking:   {PlanBlocked, PlanCompleted, PlanFailed},
	PlanBlocked:   {PlanWorking, PlanFailed, PlanSkipped},
	PlanCompleted: {},
	PlanFailed:    {PlanPending, PlanWorking},
	PlanSkipped:   {},
}

// serverPlanMoves lists the moves that only the server makes.
var serverPlanMoves = map[PlanStatus][]PlanStatus{
	PlanPending: {PlanBlocked},
	PlanBlocked: {PlanPending},
	PlanSkipped: {PlanPending},
}

// taskEnds are the states that any task which has not ended may move to.
var taskEnds = []TaskState{TaskCompleted, TaskFailed, TaskCanceled, TaskRejected}

// taskMoves lists the moves of a task other than those to taskEnds.
var taskMoves = map[TaskState][]TaskState{
	TaskPending:       {TaskSubmitted, TaskWorking},
	TaskSubmitted:     {TaskWorking},
	TaskWorking:       {TaskInputRequired, TaskAuthRequired},
	TaskInputRequired: {TaskWorking},
	TaskAuthRequired:  {TaskWorking},
}

// rootMoves is taskMoves for a root task. It mirrors several tasks, so one gate may
// follow another, and a gate may open before the root task was seen working.
var rootMoves = map[TaskState][]TaskState{
	TaskSubmitted:     {TaskWorking, TaskInputRequired, TaskAuthRequired},
	TaskWorking:       {TaskInputRequired, TaskAuthRequired},
	TaskInputRequired: {TaskWorking, TaskInputRequired, TaskAuthRequired},
	TaskAuthRequired:  {TaskWorking, TaskInputRequired, TaskAuthRequired},
}

// Ended reports whether an objective in status s has ended. The table may still
// allow a new attempt.
func (s ObjectiveStatus) Ended() bool {
	return s == ObjectiveCompleted || s == ObjectiveFailed || s == ObjectiveCanceled
}

// May reports whether s may become to. Staying is always allowed.
func (s ObjectiveStatus) May(to ObjectiveStatus) bool {
	return s == to || slices.Contains(ObjectiveMoves[s], to)
}

// Valid reports whether s is a status.
func (s ObjectiveStatus) Valid() bool { _, ok := ObjectiveMoves[s]; return ok }

// Ended reports whether a plan in status s has ended.
func (s PlanStatus) Ended() bool {
	return s == PlanCompleted || s == PlanFailed || s == PlanSkipped
}

// May reports whether a client may ask for s to become to.
func (s PlanStatus) May(to PlanStatus) bool { return s == to || slices.Contains(PlanMoves[s], to) }

// Valid reports whether s is a status.
func (s PlanStatus) Valid() bool { _, ok := PlanMoves[s]; return ok }

func (s PlanStatus) serverMay(to PlanStatus) bool {
	return s.May(to) || slices.Contains(serverPlanMoves[s], to)
}

// Ended reports whether s is final for a task.
func (s TaskState) Ended() bool { return slices.Contains(taskEnds, s) }

// Waiting reports whether a task in state s waits for a person.
func (s TaskState) Waiting() bool { return s == TaskInputRequired || s == TaskAuthRequired }

// May reports whether a plan task in state s may move to to. Staying is always
// allowed.
func (s TaskState) May(to TaskState) bool { return s.may(to, taskMoves) }

func (s TaskState) may(to TaskState, moves map[TaskState][]TaskState) bool {
	if s == to || slices.Contains(moves[s], to) {
		return true
	}
	return !s.Ended() && slices.Contains(taskEnds, to)
}

// A2A returns the state that an A2A client sees: pending shows as submitted.
func (s TaskState) A2A() a2a.TaskState {
	if s == TaskPending {
		return a2a.Submitted
	}
	return a2a.TaskState(s)
}

// Valid reports whether s is a state.
func (s TaskState) Valid() bool { return s == TaskPending || a2a.TaskState(s).Valid() }
