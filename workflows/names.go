package workflows

import (
	"strings"

	"go.temporal.io/sdk/temporal"
)

// Names in histories and in Temporal's UI.
const (
	ObjectiveWorkflow = "Objective"
	PlanWorkflow      = "Plan"
	ContextWorkflow   = "Context"
	PurgeWorkflow     = "Purge"
	PushWorkflow      = "Push"
	ScheduledWorkflow = "Scheduled"

	LetterSignal    = "letter"    // opt.Letter, from the API to an objective or a plan
	CommandSignal   = "command"   // opt.Command, from the API to an objective
	DirectiveSignal = "directive" // machine.Directed, from an objective to a plan
	ReportSignal    = "report"    // machine.Reported, from a plan to its objective
	EnterSignal     = "enter"     // machine.Enter, from the API to a context
	RequestSignal   = "request"   // machine.TurnRequest, from an objective to its context
	TurnSignal      = "turn"      // machine.Turn, from a context to an objective
	CallbackSignal  = "callback"  // opt.Callback, from the API to a plan
	CancelSignal    = "cancel"    // machine.Canceled, from the API to an objective
	RewindSignal    = "rewind"    // to an objective or a plan, without an argument: set the journal to what it knows
	LostSignal      = "lost"      // machine.PlanLost, from a reconciler to an objective
	PushSignal      = "push"      // nothing, from a worker to a push: there may be another delivery
)

// PurgeSchedule is the id of the schedule that runs Purge.
const PurgeSchedule = "longhaul-purge"

// TaskQueue is the queue of workflows and of executors that run in our worker.
const TaskQueue = "longhaul"

// RecordQueue is the queue of activities that record events. They must not wait
// when tasks use all slots of a worker.
const RecordQueue = "longhaul-record"

// PushQueue is the queue of deliveries, so that slow receivers take no slots from
// tasks.
const PushQueue = "longhaul-push"

// ScheduleQueue is the queue of the activities of schedules. The processes that serve
// the API run them: they start objectives by its settings.
const ScheduleQueue = "longhaul-schedule"

// Search attributes, all of type keyword. The prefix keeps them apart from the attributes of
// others in a shared namespace.
var (
	TenantAttribute    = temporal.NewSearchAttributeKeyKeyword("LonghaulTenant")
	ContextAttribute   = temporal.NewSearchAttributeKeyKeyword("LonghaulContextId")
	ObjectiveAttribute = temporal.NewSearchAttributeKeyKeyword("LonghaulObjectiveId")
	NameAttribute      = temporal.NewSearchAttributeKeyKeyword("LonghaulName") // of the objective, or of the plan
	StateAttribute     = temporal.NewSearchAttributeKeyKeyword("LonghaulState")
)

// nameAttribute returns the search attribute for a name, or none if payloads are
// encrypted: Temporal has search attributes as plain text.
func nameAttribute(name string, encrypted bool) []temporal.SearchAttributeUpdate {
	if encrypted {
		return nil
	}
	return []temporal.SearchAttributeUpdate{NameAttribute.ValueSet(shortName(name))}
}

// maxName is how long a keyword may be in every visibility store, in bytes.
const maxName = 255

// shortName cuts a name to what Temporal takes as a keyword.
func shortName(name string) string { return strings.ToValidUTF8(name[:min(len(name), maxName)], "") }

// fairnessKey cuts a tenant's name to what Temporal takes as a key.
func fairnessKey(tenant string) string { return strings.ToValidUTF8(tenant[:min(len(tenant), 64)], "") }
