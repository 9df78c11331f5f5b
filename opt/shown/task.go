package shown

import (
	"time"

	"longhaul/a2a"
	"longhaul/opt"
)

// A Recorded is an event with its number in the order that every reader of the
// objective sees: 1, 2, 3 … without gaps.
type Recorded struct {
	Seq   int64
	Event opt.Event
}

// A TaskView is an A2A task as the journal shows it: the root task of an
// objective, or one of its plan tasks.
type TaskView struct {
	Task         a2a.Task // with the requested History and Artifacts
	State        opt.TaskState
	Seq          int64 // of the last event of the objective that the view includes
	ObjectiveID  string
	PlanID       string // of a root task: the plan being worked on; "" before and after
	Index        int    // likewise
	IsRoot       bool
	Name         string       // of the objective, or of the plan task
	Principal    string       // who requested the objective
	MessageID    string       // of the message that began it
	Digest       string       // of that message
	Gates        []*opt.Gate  // open at the task, or anywhere under a root task; oldest first
	Decided      *opt.Decided // how a gate there was closed, the latest; nil for none
	Stopping     string       // why it is being stopped, "" if it is not
	Attempt      int          // of the running activity, 0 before the first
	Dependencies []string
	Paused       bool       // of a root task that has not ended: a client has paused its objective
	Progress     *Progress  // of a root task that works or waits, nil while its plans have no tasks
	RetriedBy    string     // of a root task of an earlier attempt: the root task of the latest one
	QueuedAt     a2a.Time   // of a root task that waits for its turn in its context
	Position     int        // likewise: 1 is next
	Rewound      bool       // the objective or a plan of it was set back
	Stuck        *opt.Stuck // of the objective, nil if its events are recorded
	Used         opt.Used   // of models, in all attempts; not in lists
}

// A TaskWant says how much of a task to read.
type TaskWant struct {
	History   int          `param:"historyLength,history"` // the most messages to return, the latest; negative means all
	Scope     HistoryScope // whose messages; "" for the scope chosen in the conversation, or the task alone
	Artifacts bool         `param:"includeArtifacts"`
}

// A HistoryScope selects the messages in the history of a task.
type HistoryScope string

// The scopes. A root task counts to the plan that is being worked on.
const (
	ScopeTask      HistoryScope = "task"
	ScopePlan      HistoryScope = "plan"      // and of the other tasks of the plan
	ScopeObjective HistoryScope = "objective" // and all other messages about the objective
)

// Valid reports whether s is a scope.
func (s HistoryScope) Valid() bool { return s == ScopeTask || s == ScopePlan || s == ScopeObjective }

// A TaskFilter selects tasks for a list. Zero members select everything.
type TaskFilter struct {
	ContextID string        `param:"contextId,context"`
	State     a2a.TaskState `param:"status"`
	Since     a2a.Time      `param:"statusTimestampAfter"` // status not older than this
	After     Cursor        // the last task of the page before
	Limit     int           `param:"pageSize,page of 50"`
	Want      TaskWant
}

// An ObjectiveFilter selects objectives for a list.
type ObjectiveFilter struct {
	Status opt.ObjectiveStatus `param:"status"`
	Plans  bool                `param:"includePlans"` // with their plans and tasks
	Limit  int                 `param:"pageSize,page of 10"`
	After  Cursor
}

// An ObjectiveSearch selects objectives by more than their status. Zero members select
// everything.
type ObjectiveSearch struct {
	ObjectiveFilter
	Text      string   `param:"text,search"`       // in the name, the description or the id; upper and lower case are alike
	ContextID string   `param:"contextId,context"` // of the objective
	Planner   string   `param:"planner,search"`    // that made the plans, as the metadata of the objective has it
	Since     a2a.Time `param:"createdAfter"`      // when it was created, or later
	Until     a2a.Time `param:"createdBefore"`     // before that it was created
	Principal string   // who asked for it
	Failure   string   // reason of a task of it that has failed
	Sort      Sort
	Tasks     int // how many tasks whose names have Text to find, too
	Reach     int // how many objectives to look at, the newest first; 0 for 20,000
}

// A Sort is the order of a list of objectives.
type Sort string

// The orders. The newest objectives come first unless a list asks for another one.
const (
	NewestFirst    Sort = ""
	OldestFirst    Sort = "oldest"
	ChangedFirst   Sort = "changed"   // the latest change
	UnchangedFirst Sort = "unchanged" // the longest time without a change
)

// At returns the time of an objective by which s orders.
func (s Sort) At(o *opt.Objective) a2a.Time {
	if s == ChangedFirst || s == UnchangedFirst {
		return o.UpdatedAt
	}
	return o.CreatedAt
}

// Plain reports whether s selects by the status alone, and lists the newest first.
func (s ObjectiveSearch) Plain() bool {
	return s.Text+s.ContextID+s.Planner+s.Principal+s.Failure+string(s.Sort) == "" && s.Since.IsZero() && s.Until.IsZero()
}

// ObjectivesFound are the objectives that a search has found.
type ObjectivesFound struct {
	Objectives []*opt.Objective
	Total      int // on all pages
	Tasks      []TaskFound
	AtLeast    bool   // there may be more than Total
	Reached    Cursor // the last objective that was looked at, if there are older ones; zero if there are none
}

// A TaskFound is a plan task that a search has found.
type TaskFound struct {
	ID          string // of the A2A task
	ObjectiveID string
	Name        string
	State       opt.TaskState
}

// A Standing is how far an open objective is.
type Standing struct {
	Progress *Progress // nil while its plans have no tasks
	Waiting  int       // open gates
}

// An Overview is what a tenant's work looks like as a whole.
type Overview struct {
	Open   map[opt.ObjectiveStatus]int // objectives that have not ended
	Gates  int                         // that are open
	Oldest a2a.Time                    // since when the longest wait lasts; zero if there is no open gate
	Ended  []Ended                     // attempts at objectives that have ended, hour by hour; hours without any are left out
	Month  []Ended                     // likewise day by day, for 30 days
	Failed []Count                     // tasks of plans that have failed, by the reason, the most first
	Queues []Count                     // objectives that wait for their turn, by the context, the most first
	Held   []Count                     // tasks that wait for quotas, by the context, the most first
	Ages   []Count                     // open objectives by their age, the least first; see [AgesOfOpen]
	Spent  []Spending                  // of budgets, the one nearest to its end first
}

// A Spending is what an open objective has used of its budget, without its time.
type Spending struct {
	ObjectiveID, Name string
	opt.Used
}

// An Ended says how many attempts at objectives ended in an hour or a day, and how.
type Ended struct {
	At    a2a.Time // when the hour or the day began
	State a2a.TaskState
	N     int
}

// A Count says how much there is of something.
type Count struct {
	Of string
	N  int
}

// An AgeOfOpen is a group of open objectives: those that are younger than an age, and not in
// the group before.
type AgeOfOpen struct {
	Name  string
	Under time.Duration // 0 for the others
}

// AgesOfOpen lists the groups of open objectives by their age.
var AgesOfOpen = []AgeOfOpen{{"under an hour", time.Hour}, {"under a day", 24 * time.Hour}, {"under a week", 7 * 24 * time.Hour}, {"a week or more", 0}}

// A Cursor is a position in a list that is sorted by time, then id, both
// descending, or in one of urgent interrupts. The zero Cursor is before the first.
type Cursor struct {
	At  a2a.Time `json:"at"`
	ID  string   `json:"id"`
	Due a2a.Time `json:"due,omitzero"` // of an interrupt, if the list is sorted by it
}

// A Judgement is the recorded outcome of a message from a client.
type Judgement struct {
	Seq     int64
	TaskID  string
	Verdict opt.Verdict
	Digest  string // of the message
}
