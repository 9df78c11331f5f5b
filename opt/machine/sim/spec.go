package sim

import (
	"fmt"
	"slices"
	"time"

	"longhaul/a2a"
	"longhaul/opt"
	"longhaul/opt/worktime"
)

// drawPlans draws specs of plans.
func drawPlans(w *world, c *choice, most int) []opt.PlanSpec {
	n := c.pick(most) + 1
	if most == 3 && c.chance(8) {
		n = 0
	}
	shape := c.pick(256)
	var out []opt.PlanSpec
	for i := range n {
		w.specs++
		p := opt.PlanSpec{Name: fmt.Sprintf("plan %d", w.specs), Tasks: drawTasks(w, c)}
		if i > 0 && shape&1 == 1 {
			p.Dependencies = [][]string{{fmt.Sprintf("plan-%d", (shape>>1)%i)}, nil, {}}[(shape/3+i)%3]
		}
		if shape>>4&3 == 3 {
			p.Metadata = a2a.Metadata{}.With(opt.KeyOptional, true)
		}
		out = append(out, p)
	}
	return out
}

// drawTasks draws specs of tasks from two numbers: how many and of which kinds.
func drawTasks(w *world, c *choice) []opt.TaskSpec {
	shape := c.pick(256)
	var out []opt.TaskSpec
	for i := range shape%4 + 1 {
		if shape%16 == 15 {
			break // a plan without tasks
		}
		w.specs++
		t := opt.TaskSpec{Name: fmt.Sprintf("task %d", w.specs)}
		switch drawKind(w, i, shape) {
		case 5:
			t.Ask = drawGate(w, i > 0, shape)
			if i > 0 && w.specs%2 == 0 {
				out = append(out, drawChecks(&t, len(out), shape)...)
			}
		case 6:
			t.Attempts = 1
		case 7:
			t.Metadata = a2a.Metadata{}.With(opt.KeyOptional, true)
		}
		if w.specs%3 > 0 {
			t.Standing = "gates"
		}
		if i > 0 && shape>>6 == 3 && t.Dependencies == nil {
			t.Dependencies = [][]string{{fmt.Sprintf("task-%d", i/2)}, nil, {}}[(shape/5+i)%3]
		}
		out = append(out, t)
	}
	return out
}

// drawGate draws the gate of a task, which may be about results.
func drawGate(w *world, results bool, shape int) *opt.Gate {
	g := &opt.Gate{Kind: opt.Approval, Title: "Continue?", Actions: []opt.Action{opt.Accept, opt.Reject}}
	if results {
		g = aboutResults("Good?", opt.AllResults)
		g.Responders = []*opt.Responders{nil, {NotRequester: true}, {Principals: []string{"alice", "bob"}, Accepts: 2}}[shape%3]
	}
	g.Ladder, g.Calendar, g.Keep = ladders[shape/3%len(ladders)], FirstHalf.Calendar(), w.specs%5 > 0
	return g
}

// drawKind draws the kind of the i-th task of a plan.
func drawKind(w *world, i, shape int) int {
	kind := (shape>>2 + i*3) % 8
	if w.forks && i > 0 && kind < 3 && shape>>6 != 3 { // more decisions of which there may be forks
		kind = 5
	}
	return kind
}

// checkExecutor is the executor of tasks that check an object.
const checkExecutor = "check"

// drawChecks returns the checks of the object of t, whose place is n without them.
func drawChecks(t *opt.TaskSpec, n, shape int) (out []opt.TaskSpec) {
	before := []string{opt.TaskPlace(n - 1)}
	group := opt.CheckGroup{Need: shape%2 + 1}
	t.Dependencies = slices.Clone(before)
	for i := range 2*group.Need - 1 {
		out = append(out, opt.TaskSpec{
			Name: fmt.Sprintf("check %d of %s", i, t.Name), Executor: checkExecutor, Check: true, Dependencies: before, Attempts: 1,
			Metadata: a2a.Metadata{}.With(opt.KeyOptional, true),
		})
		group.Tasks = append(group.Tasks, opt.TaskPlace(n+i))
	}
	t.Dependencies = append(t.Dependencies, group.Tasks...)
	t.Ask.Form.Checks = &opt.Checks{Groups: []opt.CheckGroup{group}, Rounds: shape % 3}
	return out
}

// ladders are the ladders of gates: with steps after a second, a minute and an hour.
var ladders = [][]opt.Step{
	nil,
	{{Kind: opt.Remind, After: 1}, {Kind: opt.Escalate, After: 60, To: &opt.Responders{Principals: []string{"carol"}}}, {Kind: opt.Expire, After: 3600}},
	{{Kind: opt.Reassign, After: 60, To: &opt.Responders{Principals: []string{"bob", "carol"}}}, {Kind: opt.Remind, After: 3600}},
	{{Kind: opt.Remind, After: 60}, {Kind: opt.Expire, After: 61, Action: opt.Accept}},
	{{Kind: opt.Expire, After: 3600}},
	{{Kind: opt.Remind, After: 60, Works: true}, {Kind: opt.Escalate, After: 2000, Works: true, To: &opt.Responders{Principals: []string{"carol"}}}, {Kind: opt.Remind, After: 3000, Works: true, Calendar: SecondHalf.Calendar()}, {Kind: opt.Expire, After: 120_000}},
}

// A Shift is when people work: for half an hour from so many seconds of each hour on.
type Shift int64

const (
	FirstHalf  Shift = 0    // the calendar of gates
	SecondHalf Shift = 1800 // that of a step. The first day is a holiday
)

// Calendar returns the calendar of f.
func (f Shift) Calendar() *worktime.Calendar {
	c := &worktime.Calendar{Name: fmt.Sprint(f), Offsets: []worktime.Offset{{}}}
	if first := a2a.AtMillis(epoch).Time().Format(time.DateOnly); f == SecondHalf {
		c.Holidays = []worktime.Holiday{{From: first, To: first}}
	}
	for hour := range 7 * 24 {
		from := hour%24*60 + int(f)/60
		c.Week = append(c.Week, worktime.Interval{Day: hour / 24, From: from, To: from + 30})
	}
	return c
}

// worked returns how many seconds of work there are between two times.
func (f Shift) worked(from, to int64) int64 {
	until := func(at int64) int64 {
		const day, cycle, half = 24 * 60 * 60, 3600, 1800
		if at -= int64(f); f == SecondHalf {
			at = max(at, epoch/1000/day*day+day)
		}
		return at/cycle*half + min(at%cycle, half)
	}
	return until(to) - until(from)
}

// after returns when some seconds of work are done that begin at a time.
func (f Shift) after(begin, seconds int64) int64 {
	least, most := begin, begin+4*seconds+2*24*60*60
	for least < most {
		if at := (least + most) / 2; f.worked(begin, at) < seconds {
			least = at + 1
		} else {
			most = at
		}
	}
	return least
}

// aboutResults returns a gate about the results of tasks.
func aboutResults(title string, names ...string) *opt.Gate {
	return &opt.Gate{
		Kind: opt.Approval, Title: title, Actions: []opt.Action{opt.Accept, opt.Reject, opt.Refine, opt.EditAccept, opt.Ask},
		Form: &opt.GateForm{Object: names, Title: []opt.Piece{{Literal: title + " "}, {Results: opt.AllResults}}},
	}
}

// principals are the senders of decisions. The first asks for all objectives.
var principals = []string{"alice", "bob", "carol"}
