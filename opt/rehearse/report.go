package rehearse

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"longhaul/a2a"
	"longhaul/opt"
)

// A Report is the course of an objective as it is likely, and the ranges of its time and costs. All
// times are since the begin.
type Report struct {
	Status   opt.ObjectiveStatus  `json:"status"` // at the end; blocked if it never ends
	Reason   string               `json:"reason,omitempty"`
	Failure  string               `json:"failure,omitempty"`
	Planner  string               `json:"planner,omitempty"` // who made the plans, such as "playbook research"
	Why      string               `json:"why,omitempty"`     // it made these
	Took     Range[time.Duration] `json:"took"`
	Cost     Range[opt.Money]     `json:"cost"`
	Past     int                  `json:"past"`  // runs that the assumptions come from
	Tasks    []Task               `json:"tasks"` // in the order in which they begin
	Gates    []Gate               `json:"gates"` // in the order in which they open
	Warnings []Warning            `json:"warnings"`
	Events   []opt.Event          `json:"events"` // of the machines, as they record them
}

// A Range is where a share of all runs is expected, with the likely course between.
type Range[T ~int64] struct {
	Low    T       `json:"low"`
	Likely T       `json:"likely"`
	High   T       `json:"high"`
	Share  float64 `json:"share"` // 0.8, or less if it comes from few past runs: of one, nothing follows
}

// rangeOf returns the range of values: those of rehearsals, which take so many past runs in turn; 0 for none. Before
// the first of n runs, between any two and after the last the next one is with the same chance: so the i-th of them is
// the limit for i/(n+1), and all together are the range for (n-1)/(n+1).
func rangeOf[T ~int64](values []T, likely T, runs int) Range[T] {
	if len(values) == 0 {
		return Range[T]{likely, likely, likely, usualShare}
	}
	low, share := (1-usualShare)/2, usualShare
	if runs = min(runs, len(values)); runs > 0 {
		n, each := float64(runs), len(values)/runs
		values = values[:each*runs]
		low = (float64(each)*(low*(n+1)-0.5) - 0.5) / float64(max(1, len(values)-1))
		share = min(share, (n-1)/(n+1))
	}
	s := SpreadOf(values...)
	low = max(0, low)
	return Range[T]{min(s.At(low), likely), likely, max(s.At(1-low), likely), share}
}

// Text returns r in words.
func (r Range[T]) Text(text func(T) string) string {
	switch between := text(r.Low) + " to " + text(r.High); {
	case r.Low == r.High:
		return text(r.Likely)
	case r.Share == 0:
		return fmt.Sprintf("%s (%s)", text(r.Likely), between)
	default:
		return fmt.Sprintf("%s (%s in %.0f%% of runs)", text(r.Likely), between, 100*r.Share)
	}
}

// A Task is the work on a task, with all its attempts and gates.
type Task struct {
	ID       string        `json:"id"`
	Plan     string        `json:"plan"` // names
	Name     string        `json:"name"`
	Executor string        `json:"executor,omitempty"`
	State    opt.TaskState `json:"state"`
	Began    time.Duration `json:"began"`
	Ended    time.Duration `json:"ended"`              // as far as the rehearsal went, if it has not
	Critical bool          `json:"critical,omitempty"` // the end of all waits for its end

	before []string // ids of the tasks that it waits for
}

// A Gate is a question to people, or one that checks have answered before them.
type Gate struct {
	ID     string        `json:"id,omitempty"` // "" for one that did not open
	Plan   string        `json:"plan"`         // names
	Task   string        `json:"task"`
	Title  string        `json:"title"`
	Asked  []Ask         `json:"asked"`           // who, when: at its opening and by each step that was taken
	Later  []Ask         `json:"later,omitempty"` // the steps that come if it stays open
	Action opt.Action    `json:"action,omitempty"`
	By     string        `json:"by,omitempty"` // who has closed it: "" if it stays open
	Closed time.Duration `json:"closed"`

	gate opt.Gate // as it was shown last
}

// An Ask is one time at which people are asked.
type Ask struct {
	At   time.Duration   `json:"at"`
	Step opt.StepKind    `json:"step,omitempty"` // of the ladder; "" for the opening
	Of   *opt.Responders `json:"of,omitempty"`   // nil for everyone

	Calendar string `json:"calendar,omitempty"` // the name of that by which the working time of the step counts
}

// Task returns the latest task with a name; ok is false if there is none.
func (r *Report) Task(name string) (t Task, ok bool) {
	for _, t := range slices.Backward(r.Tasks) {
		if t.Name == name {
			return t, true
		}
	}
	return Task{}, false
}

// Critical returns the names of the tasks on the critical path, in the order in which they begin.
func (r *Report) Critical() (names []string) {
	for _, t := range r.Tasks {
		if t.Critical {
			names = append(names, t.Name)
		}
	}
	return names
}

// A reader makes a report of events.
type reader struct {
	w         *world
	report    *Report
	objective opt.Objective  // with the plans as they were added
	open      map[string]int // indexes of the tasks that have begun and not ended, by id
}

// reportOf returns the report of a rehearsal.
func reportOf(w *world) *Report {
	r := &reader{w: w, report: &Report{Past: len(w.Past), Events: w.events, Tasks: []Task{}, Gates: []Gate{}}, open: map[string]int{}}
	for _, e := range w.events {
		r.read(e)
	}
	end := r.since(w.now)
	for _, i := range r.open {
		r.report.Tasks[i].Ended = end
	}
	r.report.Took.Likely = end
	r.report.mark()
	r.report.Warnings = r.warnings()
	if w.Unnamed {
		r.report.Events = nil
	}
	return r.report
}

func (r *reader) since(at a2a.Time) time.Duration { return at.Time().Sub(r.w.At) }

// read reads one event.
func (r *reader) read(e opt.Event) {
	out := r.report
	if e.Head != nil {
		out.Status, out.Reason, out.Failure = e.Head.Status, e.Head.Reason, e.Head.Failure
	}
	if o := e.Objective; o != nil {
		out.Planner, _ = o.Metadata.String(opt.KeyPlanner)
		out.Why, _ = o.Metadata.String(opt.KeyReason)
	}
	switch {
	case e.Kind == opt.PlanAdded:
		r.objective.Plans = append(r.objective.Plans, e.Plan)
	case e.Kind == opt.UsageAdded:
		out.Cost.Likely += e.Usage.Cost
	case e.Kind == opt.TaskMoved && e.PlanID != "":
		r.moved(e)
	}
	if d := e.Decision; d != nil && d.Closed {
		r.closed(e, *d)
	}
}

// moved reads the move of a task.
func (r *reader) moved(e opt.Event) {
	id := e.TaskID
	ref, _ := opt.ParseID(id)
	if opt.TaskState(e.From) == opt.TaskPending && opt.TaskState(e.To) != opt.TaskCanceled {
		t, p := r.w.tasks[ref.TaskID], r.objective.Plan(e.PlanID)
		r.open[id] = len(r.report.Tasks)
		r.report.Tasks = append(r.report.Tasks, Task{ID: ref.TaskID, Plan: p.Name, Name: t.Name, Executor: t.Executor, Began: r.since(e.At), before: r.before(p, t)})
	}
	i, begun := r.open[id]
	if !begun {
		return
	}
	t := &r.report.Tasks[i]
	t.State = opt.TaskState(e.To)
	if e.Gate != nil {
		r.asked(e, t)
	}
	if t.State.Ended() {
		t.Ended = r.since(e.At)
		delete(r.open, id)
	}
}

// before lists the tasks that t, of p, waits for: those of the plans before if it is one of the first.
func (r *reader) before(p *opt.Plan, t *opt.Task) (ids []string) {
	list := p.Before(t)
	if len(list) == 0 {
		for _, b := range r.objective.Before(p) {
			list = append(list, b.Tasks...)
		}
	}
	for _, b := range list {
		ids = append(ids, b.ID)
	}
	return ids
}

// asked reads who is asked at the gate of a task, and by which step.
func (r *reader) asked(e opt.Event, t *Task) {
	g := e.Gate
	i := slices.IndexFunc(r.report.Gates, func(x Gate) bool { return x.ID == g.ID })
	if i < 0 {
		i = len(r.report.Gates)
		r.report.Gates = append(r.report.Gates, Gate{ID: g.ID, Plan: t.Plan, Task: t.Name, Title: cmp.Or(g.Title, g.Prompt()), Asked: []Ask{{At: r.since(e.At), Of: r.w.who(g.Responders)}}})
	}
	x := &r.report.Gates[i]
	x.gate = *g
	if e.Step != "" {
		x.Asked = append(x.Asked, Ask{r.since(e.At), e.Step, r.w.who(g.Responders), r.calendar(g, t.ID, g.Taken-1)})
	}
	x.Later = nil
	for after := *g; ; {
		next, more := after.NextStep()
		if !more {
			return
		}
		step := Ask{At: r.since(next.At), Step: next.Kind, Calendar: r.calendar(g, t.ID, after.Taken)}
		if next.Kind != opt.Expire {
			after = after.Stepped(next.At, nil)
			step.Of = r.w.who(after.Responders)
		} else {
			after.Taken++
		}
		x.Later = append(x.Later, step)
	}
}

// calendar returns the name of the calendar by which a step of g, at which a task waits, counts, "" for none.
func (r *reader) calendar(g *opt.Gate, taskID string, step int) string {
	ask := r.w.tasks[taskID].Ask
	if ask == nil || g.Budget || step < 0 || step >= len(ask.Ladder) || !ask.Ladder[step].Works {
		return ""
	}
	return ask.Clock(step).Name
}

// closed reads the decision that has closed a gate, or that checks have made before it could open.
func (r *reader) closed(e opt.Event, d opt.Decision) {
	ref, _ := opt.ParseID(cmp.Or(e.ForTask, e.TaskID))
	t := r.w.tasks[ref.TaskID]
	if t == nil {
		return
	}
	i := slices.IndexFunc(r.report.Gates, func(x Gate) bool { return x.ID == d.GateID && d.GateID != "" })
	if i < 0 {
		i = len(r.report.Gates)
		r.report.Gates = append(r.report.Gates, Gate{Plan: r.objective.Plan(ref.PlanID).Name, Task: t.Name, Title: t.Name, Asked: []Ask{}})
	}
	x := &r.report.Gates[i]
	x.By, x.Action, x.Closed = r.w.name(d.DecidedBy, x.gate.Responders), d.Action, r.since(e.At)
}

// mark marks the critical path, from the end to the begin.
func (r *Report) mark() {
	last := -1
	for i, t := range r.Tasks {
		if last < 0 || t.Ended >= r.Tasks[last].Ended {
			last = i
		}
	}
	for ; last >= 0; last = r.waited(last) {
		r.Tasks[last].Critical = true
	}
}

// waited returns which task has ended last before the i-th could begin: one that it waits for, rather
// than one whose place it has taken. It is -1 for none.
func (r *Report) waited(i int) int {
	best, t := -1, r.Tasks[i]
	rank := func(j int) int {
		if slices.Contains(t.before, r.Tasks[j].ID) {
			return 1
		}
		return 0
	}
	for j, b := range r.Tasks[:i] {
		if b.Ended <= t.Began && (best < 0 || cmp.Or(cmp.Compare(b.Ended, r.Tasks[best].Ended), cmp.Compare(rank(j), rank(best))) >= 0) {
			best = j
		}
	}
	return best
}
