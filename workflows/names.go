// Package workflows decides when things happen: an Objective workflow per
// objective, a Plan workflow per plan, and a Context workflow for a context that
// several objectives want at a time. Client is the only caller of Temporal's
// client; the rest of Longhaul sees it as an engine that starts, tells and
// stops work.
//
// Workflow state is one struct per workflow, changed only through Apply of the
// model in package opt. Inputs, results, signals and updates live for ever in
// histories: fields are added, never renamed or reused.
//
// A schedule runs a Purge workflow now and then, which has nothing to do with the
// others: it removes from the journal what has ended.
package workflows

import (
	"go.temporal.io/sdk/temporal"
)

// Names as they stand in histories and in Temporal's UI.
const (
	ObjectiveWorkflow = "Objective"
	PlanWorkflow      = "Plan"
	ContextWorkflow   = "Context"
	PurgeWorkflow     = "Purge"

	LetterSignal = "letter" // Letter, from the API
	ReportSignal = "report" // PlanReport, from a plan to its objective
	OrderSignal  = "order"  // Order, from an objective to a plan
	EnterSignal  = "enter"  // Enter, from the API to a context
	SlotSignal   = "slot"   // Slot, from an objective to its context
	JoinSignal   = "join"   // Join, from a context to an objective that began when it was alone
	TurnSignal   = "turn"   // from a context to an objective: it may work

	// Updates of an objective.
	AddPlanUpdate         = "add-plan"
	ChangeObjectiveUpdate = "change-objective"
	ReplanUpdate          = "replan"
	ClaimUpdate           = "claim"
	AgainPlanUpdate       = "again-plan"
	ReorderUpdate         = "reorder"

	// Updates of a plan.
	ChangePlanUpdate = "change-plan"
	AddTasksUpdate   = "add-tasks"
	LinkTaskUpdate   = "link-task"
	MoveTaskUpdate   = "move-task"
	CancelTaskUpdate = "cancel-task"

	specErrorType    = "Spec"
	moveErrorType    = "Move"
	unknownErrorType = "Unknown"
	staleErrorType   = "Stale"
)

// PurgeSchedule is the id of the schedule that runs Purge.
const PurgeSchedule = "longhaul-purge"

// TaskQueue is the queue of workflows and of executors that run in our worker.
const TaskQueue = "longhaul"

// RecordQueue is the queue of what is to be recorded, which must not wait for
// tasks that take all of a worker.
const RecordQueue = "longhaul-record"

// Search attributes, all of type keyword.
var (
	TenantAttribute    = temporal.NewSearchAttributeKeyKeyword("Tenant")
	ContextAttribute   = temporal.NewSearchAttributeKeyKeyword("ContextId")
	ObjectiveAttribute = temporal.NewSearchAttributeKeyKeyword("ObjectiveId")
	StateAttribute     = temporal.NewSearchAttributeKeyKeyword("A2AState")
)
