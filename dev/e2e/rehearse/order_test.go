package rehearse_test

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"longhaul/opt"
)

// courses returns what happens to each task and plan, and to the objective, in order. Ids have no place of the
// objective, so that those of two objectives are equal. Of a plan, the objective and its root task, which show
// all tasks, the order is left out, with moves from one open state to another, and all but the last state if they
// fail: these depend on other work.
func courses(events []opt.Event) map[string][]string {
	out := map[string][]string{}
	_, hex, _ := strings.Cut(events[0].TaskID, "-")
	for _, e := range events {
		of := strings.ReplaceAll(cmp.Or(e.TaskID, e.PlanID, "objective"), hex, "")
		switch whole, ended := e.PlanID == "" || e.TaskID == "", endsIn(e); {
		case e.Verdict == opt.NotWaiting, e.Kind == opt.TaskTaken, e.Kind == opt.UsageAdded && e.Usage.TimeAlone(): // it came too late; a worker may be busy, or slow
		case whole && ended && e.To != "completed":
			out[of] = []string{e.To}
		case whole && !ended && (e.Kind == opt.TaskMoved || e.Kind == opt.PlanMoved || e.Kind == opt.ObjectiveMoved):
		case whole:
			out[of] = append(out[of], strings.ReplaceAll(fmt.Sprint(e.Kind, " ", e.To, e.Principal), hex, ""))
			slices.Sort(out[of])
		default:
			out[of] = append(out[of], strings.ReplaceAll(textOf(e), hex, ""))
		}
	}
	return out
}

// endsIn reports whether what an event is about ends with it.
func endsIn(e opt.Event) bool {
	return opt.TaskState(e.To).Ended() || opt.PlanStatus(e.To).Ended() || opt.ObjectiveStatus(e.To).Ended()
}

// textOf returns an event of a task in short.
func textOf(e opt.Event) string {
	text := fmt.Sprint(e.Kind, " ", e.From, ">", e.To, " ", e.Reason, e.Step, " ", e.Round, ".", e.Attempt, " ", e.Verdict, e.Principal)
	if g := e.Gate; g != nil {
		id := g.ID
		if g.Budget {
			id = "about the budget" // its number is that of an event of its plan, whose tasks beside each other have no order
		}
		text += fmt.Sprint(" gate ", id, " ", g.Kind, g.Responders, " votes ", len(g.Votes))
		if next, more := g.NextStep(); more {
			text += fmt.Sprint(" then ", next.Kind, " in ", next.At.Time().Sub(e.At.Time()).Round(time.Hour))
		}
	}
	if d := e.Decision; d != nil {
		text += fmt.Sprint(" decision ", d.Action, " ", d.DecidedBy, d.For != nil, d.Closed)
	}
	if e.Usage != nil {
		text += fmt.Sprint(" used ", e.Usage.Cost, " ", e.Usage.Questions)
	}
	return text
}

// differences lists what differs in two lists of courses.
func differences(want, got map[string][]string) (wrong []string) {
	for of := range got {
		if want[of] == nil {
			wrong = append(wrong, of+" was not rehearsed")
		}
	}
	for of, w := range want {
		if g := got[of]; !agree(of, w, g) {
			wrong = append(wrong, fmt.Sprintf("%s: the run has\n  %s\nthe rehearsal\n  %s", of, strings.Join(g, "\n  "), strings.Join(w, "\n  ")))
		}
	}
	slices.Sort(wrong)
	return wrong
}

// agree reports whether two courses are equal. Where the failure of other work has stopped a task, they are equal
// up to there, and of its plan is said what its tasks have.
func agree(of string, a, b []string) bool {
	return slices.Equal(a, b) || stoppedIn(of, a, b) || stoppedIn(of, b, a)
}

// stoppedIn reports whether a was stopped, and is the begin of b.
func stoppedIn(of string, a, b []string) bool {
	if len(a) == 0 || len(b) == 0 {
		return false
	}
	last := len(a) - 1
	if strings.HasPrefix(of, "plan-") {
		return last == 0 && slices.Contains([]string{"skipped", "canceled", "failed"}, a[0])
	}
	return strings.Contains(a[last], ">canceled") && last <= len(b) && slices.Equal(a[:last], b[:last])
}

// disorder lists the tasks that begin before those that they wait for have ended, and those that begin again
// before a decision has sent them back.
func disorder(events []opt.Event) (wrong []string) {
	o, tasks, ended, sent := opt.Objective{}, map[string]*opt.Task{}, map[string]bool{}, map[string]bool{}
	for _, e := range events {
		if e.Kind == opt.PlanAdded {
			o.Plans = append(o.Plans, e.Plan)
		}
		if e.Plan != nil {
			for _, t := range e.Plan.Tasks {
				tasks[t.ID] = t
			}
		}
		if d := e.Decision; d != nil && d.Closed && d.Action == opt.Refine {
			sent[e.PlanID] = true
		}
		if e.Kind != opt.TaskMoved || e.PlanID == "" {
			continue
		}
		ref, _ := opt.ParseID(e.TaskID)
		t, p := tasks[ref.TaskID], o.Plan(e.PlanID)
		if ended[t.ID] && !sent[p.ID] {
			wrong = append(wrong, t.Name+" begins again, and nothing has sent it back")
		}
		to := opt.TaskState(e.To)
		if opt.TaskState(e.From) == opt.TaskPending && to != opt.TaskCanceled {
			for _, b := range before(&o, p, t) {
				if !ended[b.ID] {
					wrong = append(wrong, t.Name+" begins before the end of "+b.Name)
				}
			}
		}
		ended[t.ID] = to.Ended()
	}
	return wrong
}

// before lists the tasks that t, of p, waits for: those of the plans before if it is one of the first.
func before(o *opt.Objective, p *opt.Plan, t *opt.Task) []*opt.Task {
	list := p.Before(t)
	if len(list) == 0 {
		for _, b := range o.Before(p) {
			list = append(list, b.Tasks...)
		}
	}
	return list
}
