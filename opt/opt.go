package opt

import "cmp"

// Limits bound one objective. A member that is 0 has its default.
type Limits struct {
	Plans    int `json:"plans,omitempty"`    // per objective, not counting those that were skipped; 10
	Tasks    int `json:"tasks,omitempty"`    // per plan; 50
	Parallel int `json:"parallel,omitempty"` // tasks of one plan, or plans of one objective, at a time where dependencies are declared; 4
	Timeout  int `json:"timeout,omitempty"`  // seconds that one attempt at a task may take, unless the task has a timeout; 1,800

	GateTimeout   int `json:"gateTimeout,omitempty"`   // seconds after which a gate without a ladder expires; 0 for never
	WorkerTimeout int `json:"workerTimeout,omitempty"` // seconds after which a silent worker counts as lost; 30

	CountsQuestions bool `json:"countsQuestions,omitempty"` // quotas limit the questions of human tasks
}

// OrDefault returns l with the defaults in place of zeros.
func (l Limits) OrDefault() Limits {
	return Limits{
		Plans: cmp.Or(l.Plans, 10), Tasks: cmp.Or(l.Tasks, 50), Parallel: cmp.Or(l.Parallel, 4), Timeout: cmp.Or(l.Timeout, 1800),
		GateTimeout: l.GateTimeout, WorkerTimeout: cmp.Or(l.WorkerTimeout, 30), CountsQuestions: l.CountsQuestions,
	}
}

// Metadata keys of the extension and our own.
const (
	KeyObjectiveID     = "opt/v1/objectiveId"
	KeyPlanID          = "opt/v1/planId"
	KeyTaskIndex       = "opt/v1/taskIndex"
	KeyTaskID          = "opt/v1/taskId"
	KeyDependencies    = "opt/v1/dependencies"
	KeyPreferObjective = "opt/v1/preferObjective"
	KeySuggestedName   = "opt/v1/suggestedName"
	KeyObjective       = "opt/v1/objective"
	KeyPlan            = "opt/v1/plan"
	KeyAutoStart       = "opt/v1/autoStart"
	KeyOptional        = "opt/v1/optional"
	KeyBlockedReason   = "opt/v1/blockedReason"
	KeyFailureReason   = "opt/v1/failureReason"
	KeyEvent           = "opt/v1/event"
	KeyHistoryScope    = "opt/v1/historyScope"
	KeyInterrupt       = "openwop" // holds {"interrupt": Gate, "decision": Decided}
	KeyReplyPending    = "longhaul/v1/replyPending"
	KeyAfter           = "longhaul/v1/after"
	KeyAttempt         = "longhaul/v1/attempt"
	KeyPlanner         = "longhaul/v1/planner"
	KeyReason          = "longhaul/v1/reason"        // the reason of the planner for its plans, for people
	KeyQueuePosition   = "longhaul/v1/queuePosition" // of a task that waits for its turn in its context: 1 is next
	KeyProgress        = "longhaul/v1/progress"      // of a root task whose plans have tasks, while it works or waits, and of a status message about a task: how much is done, in percent
	KeyPaused          = "longhaul/v1/paused"
	KeyUsage           = "longhaul/v1/usage"        // what work has used of models, in all its attempts
	KeyStuck           = "longhaul/v1/stuck"        // why what happens is not recorded at the moment, and since when
	KeyRewound         = "longhaul/v1/rewound"      // of an objective, or of a status: it was set back in Temporal and has continued from there
	KeySchedule        = "longhaul/v1/schedule"     // of an objective: the id of the schedule that has started it
	KeyScheduledFor    = "longhaul/v1/scheduledFor" // the time for which it has started it
	KeyForkOf          = "longhaul/v1/forkOf"       // of an objective: a ForkOf
	KeyTakenOver       = "longhaul/v1/takenOver"    // of a plan task of a fork: a Taken, since it was done in the original
	KeySkill           = "longhaul/v1/skill"        // of a message: the skill of the agent card, or the playbook, that it asks for
	KeyAccept          = "longhaul/v1/accept"       // of a message that begins work: criteria for its result
	KeyAuthor          = "longhaul/v1/author"       // of a message that executors get: the principal who sent it
	KeyRequestID       = "longhaul/v1/requestId"    // id of a command, which makes a repeat safe
)
