package rehearse_test

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"longhaul/opt"
)

// A course is what happens to one task or plan, or to the objective, in order.
type course struct {
	texts []string
	at    []time.Duration // since the begin
}

// courses returns those of all that events are about. Ids have no place of the objective, so that those
// of two objectives are equal. Of a plan, the objective and its root task, which show all tasks, the moves
// from one open state to another are left out: which they have depends on what they hear of at once.
func courses(events []opt.Event) map[string]*course {
	out := map[string]*course{}
	_, hex, _ := strings.Cut(events[0].TaskID, "-")
	for _, e := range events {
		of := cmp.Or(e.TaskID, e.PlanID, "objective")
		from, open := e.From, !opt.TaskState(e.To).Ended() && !opt.PlanStatus(e.To).Ended() && !opt.ObjectiveStatus(e.To).Ended()
		if e.PlanID == "" || e.TaskID == "" {
			if from = ""; open && (e.Kind == opt.TaskMoved || e.Kind == opt.PlanMoved || e.Kind == opt.ObjectiveMoved) {
				continue
			}
		}
		if e.Verdict == opt.NotWaiting { // it came too late
			continue
		}
		text := fmt.Sprint(e.Kind, " ", from, ">", e.To, " ", e.Reason, e.Step, " ", e.Round, ".", e.Attempt, " ", e.Verdict, e.Principal)
		if e.Gate != nil {
			text += fmt.Sprint(" gate ", e.Gate.ID, " ", e.Gate.Kind, e.Gate.Responders, " votes ", len(e.Gate.Votes))
		}
		if d := e.Decision; d != nil {
			text += fmt.Sprint(" decision ", d.Action, " ", d.DecidedBy, d.For != nil, d.Closed)
		}
		if e.Usage != nil {
			text += fmt.Sprint(" used ", e.Usage.Cost, " ", e.Usage.Questions)
		}
		of, text = strings.ReplaceAll(of, hex, ""), strings.ReplaceAll(text, hex, "")
		if out[of] == nil {
			out[of] = &course{}
		}
		out[of].texts, out[of].at = append(out[of].texts, text), append(out[of].at, e.At.Time().Sub(events[0].At.Time()))
	}
	return out
}

// differences lists what differs in two lists of courses, and by how much the times of got are later where
// they do not.
func differences(want, got map[string]*course) (wrong []string, late time.Duration) {
	for of := range got {
		if want[of] == nil {
			wrong = append(wrong, of+" was not rehearsed")
		}
	}
	for of, w := range want {
		g := cmp.Or(got[of], &course{})
		if !slices.Equal(w.texts, g.texts) {
			wrong = append(wrong, fmt.Sprintf("%s: the run has\n  %s\nthe rehearsal\n  %s", of, strings.Join(g.texts, "\n  "), strings.Join(w.texts, "\n  ")))
		}
		for i := range w.texts {
			if i < len(g.texts) && w.texts[i] == g.texts[i] {
				late = max(late, g.at[i]-w.at[i])
			}
		}
	}
	slices.Sort(wrong)
	return wrong, late
}

// disorder lists the tasks that begin before those that they wait for have ended, and those that begin again
// before a decision has sent them back.
func disorder(events []opt.Event) (wrong []string) {
	o, tasks, ended, sent := opt.Objective{}, map[string]*opt.Task{}, map[string]bool{}, map[string]bool{}
	for _, e := range events {
		if e.Kind == opt.PlanAdded {
			o.Plans = append(o.Plans, e.Plan)
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
