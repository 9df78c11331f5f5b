package machine

import (
	"longhaul/a2a"
	"longhaul/opt"
)

// A task runs while a leg of it does, and between two legs for as long as it has asked to wait: its work goes on elsewhere.
// Workers measure legs, so that a wait for a worker does not count; that of one whose worker says nothing, or that is
// elsewhere, counts from its begin to its end. No wait for people, budgets, quotas, turns or another attempt counts.
// An attempt that ends is counted at once. One that goes on is counted with what its legs use, or after a minute:
// else each look at work elsewhere would have an event.

// A Clock is how long an attempt at a task ran that is under way, as far as no event counts it.
type Clock struct {
	Since a2a.Time `json:"since,omitzero"` // since when it runs; zero if it does not
	Ran   int64    `json:"ran,omitempty"`  // milliseconds before
}

// latestCount is after how many milliseconds an attempt is counted that goes on.
const latestCount = 60_000

// runs reports whether a task runs.
func (w *Work) runs(t *opt.Task) bool {
	switch {
	case w == nil, t.Follow, w.Opens:
		return false
	case w.Running:
		return !w.Quota
	}
	return w.Waiting && w.Leg > 0 && !w.Due.IsZero() && !w.AtGate
}

// lap adds to the clock of the task what passed since the lap before: as many milliseconds as were measured, unless that
// is 0.
func (j job) lap(measured int64) {
	c, now, w := j.kept.Clocks[j.task.ID], j.plan.facts().now, j.work()
	switch {
	case measured > 0 && (w == nil || w.Elsewhere == nil): // no worker of ours has measured the others
		c.Ran += measured
	case !c.Since.IsZero():
		c.Ran += max(0, now.Millis()-c.Since.Millis())
	}
	if !c.Since.IsZero() {
		c.Since = now
	}
	j.setClock(c)
}

// setClock keeps the clock of the task.
func (j job) setClock(c Clock) {
	if c != j.kept.Clocks[j.task.ID] && j.plan.facts().rules >= rulesTime {
		j.kept.Clocks = made(j.kept.Clocks)
		j.kept.Clocks[j.task.ID] = c
	}
}

// restart drops what passed since the latest lap.
func (j job) restart() {
	c := j.kept.Clocks[j.task.ID]
	c.Since = a2a.Time{}
	j.setClock(c)
}

// count starts or stops the clock of the task, and takes as many whole seconds off it as are to be counted now. spends
// is whether an event has what its leg has used.
func (j job) count(spends bool) (seconds int64) {
	w, id := j.work(), j.task.ID
	runs := w.runs(j.task)
	if runs == j.kept.Clocks[id].Since.IsZero() {
		j.lap(0)
		c := j.kept.Clocks[id]
		if c.Since = (a2a.Time{}); runs {
			c.Since = j.plan.facts().now
		}
		j.setClock(c)
	}
	c, known := j.kept.Clocks[id]
	goes := w != nil && !w.Opens && (w.Running || w.Leg > 0)
	if !known || goes && !spends && c.Ran < latestCount {
		return 0
	}
	sum := j.kept.Ran + c.Ran
	if j.kept.Ran, c.Ran = sum%1000, 0; goes {
		j.kept.Clocks[id] = c
	} else {
		delete(j.kept.Clocks, id)
	}
	return sum / 1000
}

// countTime records how long the tasks of a plan ran.
func countTime(m *Plan, in Input) {
	_, rewound := in.(Rewound) // the events are those of the run before
	spent := map[string]*opt.Usage{}
	for _, e := range m.events {
		if e.Kind == opt.UsageAdded {
			spent[e.TaskID] = e.Usage
		}
	}
	for _, j := range m.jobs() {
		if rewound {
			j.restart()
			continue
		}
		id := j.task.A2AID()
		switch seconds := j.count(spent[id] != nil); {
		case seconds == 0:
		case spent[id] != nil:
			spent[id].Ran = seconds
		default:
			m.record(opt.Event{Kind: opt.UsageAdded, TaskID: id, Usage: &opt.Usage{Ran: seconds}})
		}
	}
}
