package shown

import "longhaul/opt"

// A Look is how people read a state, on pages and terminals: a word, and what kind of state
// it is.
type Look struct {
	Word string
	Kind Kind
}

// A Kind is a kind of state for people. Each has a sign and a color.
type Kind string

// The kinds of states. Pending is also what neither works nor needs anyone now.
const (
	LooksPending   Kind = "pending"
	LooksWorking   Kind = "working"
	LooksWaiting   Kind = "waiting" // for a person
	LooksCompleted Kind = "completed"
	LooksFailed    Kind = "failed"
	LooksCanceled  Kind = "canceled"
)

// Kinds lists the kinds of states.
var Kinds = []Kind{LooksPending, LooksWorking, LooksWaiting, LooksCompleted, LooksFailed, LooksCanceled}

// signs are the signs of the kinds.
var signs = map[Kind]string{LooksPending: "○", LooksWorking: "◉", LooksWaiting: "◇", LooksCompleted: "✓", LooksFailed: "✗", LooksCanceled: "–"}

// Sign returns the sign of a kind.
func (k Kind) Sign() string { return signs[k] }

// A Stage is what decides how the state of an objective, a plan or a task is read. The zero
// value of each field but Status means that there is nothing to say.
type Stage struct {
	Status   string // of an objective or a plan, or the state of a task
	Reason   string // of the status
	Paused   bool
	Queued   bool // it waits for its turn in its context
	Stopping bool // it was asked to end, and has not ended yet
}

// looks are the states as people read them, if nothing else is to be said of them. A blocked
// objective without a reason needs a person: nothing else can continue it.
var looks = map[string]Look{
	string(opt.ObjectiveSubmitted): {"submitted", LooksPending},
	string(opt.ObjectivePlanning):  {"planning", LooksWorking},
	string(opt.ObjectiveWorking):   {"working", LooksWorking},
	string(opt.ObjectiveBlocked):   {"blocked", LooksWaiting},
	string(opt.ObjectiveCompleted): {"completed", LooksCompleted},
	string(opt.ObjectiveFailed):    {"failed", LooksFailed},
	string(opt.ObjectiveCanceled):  {"canceled", LooksCanceled},
	string(opt.PlanPending):        {"pending", LooksPending},
	string(opt.PlanSkipped):        {"skipped", LooksCanceled},
	string(opt.TaskInputRequired):  {"waiting", LooksWaiting},
	string(opt.TaskAuthRequired):   {"waiting", LooksWaiting},
	string(opt.TaskRejected):       {"rejected", LooksFailed},
}

// blocks are the blocked states as people read them, by their reasons.
var blocks = map[string]Look{
	opt.BlockedByInput:        {"waiting", LooksWaiting},
	opt.BlockedByAuth:         {"waiting", LooksWaiting},
	opt.BlockedByOperator:     {"paused", LooksPending},
	opt.BlockedByPlan:         {"paused", LooksPending},
	opt.BlockedByDependencies: {"blocked", LooksPending},
}

// Look returns how the state is read. It is the only table of words for states: all pages
// and commands use it.
func (s Stage) Look() Look {
	look, known := looks[s.Status]
	switch {
	case !known:
		return Look{s.Status, LooksPending}
	case s.Status == string(opt.PlanFailed) && s.Reason == string(opt.ObjectiveCanceled): // plans have no status for it
		return looks[string(opt.ObjectiveCanceled)]
	case look.Kind != LooksPending && look.Kind != LooksWorking && look.Kind != LooksWaiting:
		return look // it has ended
	case s.Stopping:
		return Look{"stopping", LooksCanceled}
	case s.Paused:
		return blocks[opt.BlockedByOperator]
	case s.Queued:
		return Look{"queued", LooksPending}
	}
	if block, ok := blocks[s.Reason]; ok && s.Status == string(opt.ObjectiveBlocked) {
		return block
	}
	return look
}

// LookOf returns how the state of an objective is read.
func LookOf(o *opt.Objective) Look {
	return Stage{Status: string(o.Status), Reason: o.Reason, Paused: o.Paused, Queued: !o.QueuedAt.IsZero(), Stopping: o.Stopping != ""}.Look()
}

// LookOfPlan returns how the state of a plan is read.
func LookOfPlan(p *opt.Plan) Look {
	return Stage{Status: string(p.Status), Reason: p.Reason, Paused: p.Paused, Stopping: p.Stopping != ""}.Look()
}

// LookOfTask returns how the state of a task is read.
func LookOfTask[S ~string](s S) Look { return Stage{Status: string(s)}.Look() }
