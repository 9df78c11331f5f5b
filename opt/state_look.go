package opt

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
	string(ObjectiveSubmitted): {"submitted", LooksPending},
	string(ObjectivePlanning):  {"planning", LooksWorking},
	string(ObjectiveWorking):   {"working", LooksWorking},
	string(ObjectiveBlocked):   {"blocked", LooksWaiting},
	string(ObjectiveCompleted): {"completed", LooksCompleted},
	string(ObjectiveFailed):    {"failed", LooksFailed},
	string(ObjectiveCanceled):  {"canceled", LooksCanceled},
	string(PlanPending):        {"pending", LooksPending},
	string(PlanSkipped):        {"skipped", LooksCanceled},
	string(TaskInputRequired):  {"waiting", LooksWaiting},
	string(TaskAuthRequired):   {"waiting", LooksWaiting},
	string(TaskRejected):       {"rejected", LooksFailed},
}

// blocks are the blocked states as people read them, by their reasons.
var blocks = map[string]Look{
	BlockedByInput:        {"waiting", LooksWaiting},
	BlockedByAuth:         {"waiting", LooksWaiting},
	BlockedByOperator:     {"paused", LooksPending},
	BlockedByPlan:         {"paused", LooksPending},
	BlockedByDependencies: {"blocked", LooksPending},
}

// Look returns how the state is read. It is the only table of words for states: all pages
// and commands use it.
func (s Stage) Look() Look {
	look, known := looks[s.Status]
	switch {
	case !known:
		return Look{s.Status, LooksPending}
	case s.Status == string(PlanFailed) && s.Reason == string(ObjectiveCanceled): // plans have no status for it
		return looks[string(ObjectiveCanceled)]
	case look.Kind != LooksPending && look.Kind != LooksWorking && look.Kind != LooksWaiting:
		return look // it has ended
	case s.Stopping:
		return Look{"stopping", LooksCanceled}
	case s.Paused:
		return blocks[BlockedByOperator]
	case s.Queued:
		return Look{"queued", LooksPending}
	}
	if block, ok := blocks[s.Reason]; ok && s.Status == string(ObjectiveBlocked) {
		return block
	}
	return look
}

// LookOf returns how the state of an objective is read.
func LookOf(o *Objective) Look {
	return Stage{Status: string(o.Status), Reason: o.Reason, Paused: o.Paused, Queued: !o.QueuedAt.IsZero(), Stopping: o.Stopping != ""}.Look()
}

// LookOfPlan returns how the state of a plan is read.
func LookOfPlan(p *Plan) Look {
	return Stage{Status: string(p.Status), Reason: p.Reason, Paused: p.Paused, Stopping: p.Stopping != ""}.Look()
}

// Look returns how s is read.
func (s TaskState) Look() Look { return Stage{Status: string(s)}.Look() }
