package prove

import (
	"fmt"
	"time"

	"longhaul/internal/witness"
)

// A Kind is the kind of a finding.
type Kind string

// The kinds of findings.
const (
	Lost       Kind = "lost"
	Repeated   Kind = "repeated"
	OutOfOrder Kind = "out-of-order"
)

// A Check is a row of the scorecard: what a client relies on.
type Check struct {
	Name  string `json:"name"`
	Title string `json:"title"`
	Why   string `json:"why"` // it matters
}

// checks in the order of the scorecard.
var checks = []Check{
	{"accepted", "An accepted task is still there", "The client has the id and waits for a task that no longer exists. It cannot know whether the work was done."},
	{"finished", "Accepted work is finished", "The server took the work on and did not do it. A person has to notice and send it again."},
	{"kept", "A result stays as it was told", "Results, history or state that clients have seen were changed or dropped afterwards."},
	{"once", "A repeated message is one task", "A client that got no answer can only send again. If that makes a second task, the work is done, and paid for, twice."},
	{"streams", "Streams are whole and in order", "A client that puts a result together from a stream has another one than the server, or shows states that are not true."},
	{"lists", "Lists have each task once", "A client that finds its work through the list misses some, or does it twice."},
	{"questions", "Questions survive and take answers", "A person is asked and answers, and the answer is lost."},
	{"cancels", "A cancellation holds", "Work that a client has stopped continues, or comes back."},
	{"pushes", "Webhooks get each end, in order", "A client that waits for a webhook never continues, or acts on an old state."},
}

// A Finding is something that a client could not rely on.
type Finding struct {
	Kind       Kind   `json:"kind"`
	Check      string `json:"check"`
	Experiment string `json:"experiment"`
	TaskID     string `json:"taskId,omitempty"`
	Seen       string `json:"seen"`
}

// Counts are the numbers of findings of one check.
type Counts struct {
	Cases      int    `json:"cases"` // that were checked
	Lost       int    `json:"lost"`
	Repeated   int    `json:"repeated"`
	OutOfOrder int    `json:"outOfOrder"`
	Skipped    string `json:"skipped,omitempty"` // why nothing was checked
}

// Clean reports whether there are no findings.
func (c Counts) Clean() bool { return c.Lost+c.Repeated+c.OutOfOrder == 0 }

func (c *Counts) add(o Counts) {
	c.Cases += o.Cases
	c.Lost += o.Lost
	c.Repeated += o.Repeated
	c.OutOfOrder += o.OutOfOrder
}

// A Recovery says how long a server took after it was started again, in seconds. Zero is
// never.
type Recovery struct {
	Down  float64 `json:"downSeconds"`     // from the end of the server to its start, which prove chose
	Ready float64 `json:"readySeconds"`    // from the start to the first answer
	First float64 `json:"firstSeconds"`    // to the first open task that continued
	All   float64 `json:"allSeconds"`      // to the end of the last open task
	Open  int     `json:"openTasks"`       // tasks that had been acknowledged and were open at the end of the server
	Never int     `json:"neverEndedTasks"` // tasks of them that did not end in time, or were lost
	Note  string  `json:"note,omitempty"`  // about the way the server ended
}

// An Experiment is a column of the scorecard.
type Experiment struct {
	Name         string            `json:"name"` // such as "kill 1"
	What         string            `json:"what"` // was done
	Sent         int               `json:"sent"`
	Acknowledged int               `json:"acknowledged"` // at once, without a repeat
	Checks       map[string]Counts `json:"checks"`
	Recovery     *Recovery         `json:"recovery,omitempty"`
}

// A Scorecard is the result of [Run].
type Scorecard struct {
	URL         string       `json:"url"`
	Agent       string       `json:"agent"`
	Version     string       `json:"agentVersion"`
	Protocol    string       `json:"protocol"`
	Began       time.Time    `json:"began"`
	Took        float64      `json:"tookSeconds"`
	Seed        uint64       `json:"seed"`
	Checks      []Check      `json:"checks"`
	Experiments []Experiment `json:"experiments"`
	Total       Counts       `json:"total"`
	Findings    []Finding    `json:"findings"`          // at most maxFindings; the counts are complete
	Anomaly     string       `json:"anomaly,omitempty"` // a picture, as text, of the calls that show the first loss or repeat of a task

	first *witness.Anomaly // the same
}

const maxFindings = 200

// Clean reports whether nothing acknowledged was lost, repeated or out of order.
func (s *Scorecard) Clean() bool { return s.Total.Clean() }

// Of returns the counts of a check in all experiments.
func (s *Scorecard) Of(check string) (all Counts) {
	for _, e := range s.Experiments {
		c := e.Checks[check]
		all.add(c)
		if c.Skipped != "" {
			all.Skipped = c.Skipped
		}
	}
	if all.Cases > 0 {
		all.Skipped = ""
	}
	return all
}

// A column collects the counts of one experiment.
type column struct {
	Experiment
	card *Scorecard
	seen map[Finding]bool
}

func (s *Scorecard) begin(name, what string) *column {
	return &column{Experiment: Experiment{Name: name, What: what, Checks: map[string]Counts{}}, card: s, seen: map[Finding]bool{}}
}

// checked counts a case of a check.
func (c *column) checked(check string) {
	n := c.Checks[check]
	n.Cases++
	c.Checks[check] = n
}

// skip records why a check is not made.
func (c *column) skip(check, why string) {
	n := c.Checks[check]
	n.Skipped = why
	c.Checks[check] = n
}

// find adds a finding. The same finding again is not counted.
func (c *column) find(kind Kind, check string, s *sentTask, format string, args ...any) {
	f := Finding{Kind: kind, Check: check, Experiment: c.Name, TaskID: s.taskID(), Seen: fmt.Sprintf(format, args...)}
	if c.seen[f] {
		return
	}
	c.seen[f] = true
	n := c.Checks[check]
	switch kind {
	case Lost:
		n.Lost++
	case Repeated:
		n.Repeated++
	case OutOfOrder:
		n.OutOfOrder++
	}
	c.Checks[check] = n
	if len(c.card.Findings) < maxFindings {
		c.card.Findings = append(c.card.Findings, f)
	}
}

// end adds the column to the scorecard.
func (c *column) end() {
	for _, check := range checks {
		n := c.Checks[check.Name]
		if n.Cases > 0 {
			n.Skipped = ""
		}
		c.Checks[check.Name] = n
		c.card.Total.add(n)
	}
	c.card.Experiments = append(c.card.Experiments, c.Experiment)
}
