package console

import (
	"cmp"
	"net/url"
	"slices"
	"strings"

	"longhaul/api/call"
	"longhaul/api/read"
	"longhaul/opt"
	"longhaul/opt/shown"
)

// A draftPanel shows the steps of a draft beside the graph, and forms for more.
type draftPanel struct {
	Lines  []draftLine
	Theirs []moment // changes since the draft began
	Renew  string   // the address of the draft for the present state, "" if it is for that
	Drop   string
	Send   *changeForm // nil while nothing can be sent
	Of     *draftTarget
	Hidden url.Values // the fields of forms that add a step
}

// A draftLine is a step of a draft.
type draftLine struct{ Text, Refused, Undo string }

// A draftTarget is the plan or task that is selected, and what can be done with it.
type draftTarget struct {
	Key, Name string
	Skip      string // the address with the step that leaves it out, "" if that is impossible
	Earlier   string // likewise, that changes places with the one before it in a chain
	Later     string // likewise, with the one after it
	Plan      string // the key of the plan that can have a new task, "" for none
	After     []planChoice
	Order     []planChoice
}

// draftPanelOf returns the drawing of a draft, and the panel beside it.
func draftPanelOf(f forms, at spot) (*tree, *draftPanel, error) {
	if len(at.Values["step"]) > mostSteps || len(at.path()) > longestDraft {
		return nil, nil, call.Invalid(call.Violation{Field: "A draft", Description: "has no room for more: make its changes first"})
	}
	d, lines := draftOf(f, at)
	p := &draftPanel{Lines: lines, Drop: at.sent().path(), Hidden: at.Values}
	if of, ok := d.at(cmp.Or(at.Get("task"), at.Get("plan"))); ok {
		p.Of = d.target(f, at, of)
	}
	ready := len(d.asked) > 0 && !slices.ContainsFunc(lines, draftLine.refused)
	if f.o.Revision != at.number("draft") {
		p.Renew = at.onto(f.o).path()
		var err error
		if p.Theirs, err = changedSince(f, at.number("since")); err != nil {
			return nil, nil, err
		}
	} else if ready {
		p.Send = new(f.form("draft", "/draft?"+at.Encode()))
		p.Send.Revision = f.o.Revision
	}
	return d.draw(at), p, nil
}

func (l draftLine) refused() bool { return l.Refused != "" }

// changeKinds are the events by which people and planners change work.
var changeKinds = []opt.EventKind{
	opt.ObjectiveChanged, opt.ObjectivePaused, opt.ObjectiveResumed, opt.ObjectiveStopping, opt.ObjectiveRetried, opt.PlanAdded, opt.PlanChanged,
	opt.PlanPaused, opt.PlanResumed, opt.PlanStopping, opt.PlanRetried, opt.TasksAdded, opt.TasksOrdered, opt.TaskLinked, opt.TaskMoved,
}

// changedSince lists the changes after a time. Of the moves of tasks, those by hand are changes.
func changedSince(f forms, since int64) ([]moment, error) {
	events, err := f.cfg.Service.Events.ListEvents(f.r.Context(), f.call, read.EventListParams{ObjectiveID: f.o.ID, Limit: timelineSize})
	later := slices.DeleteFunc(events.Events, func(r shown.Recorded) bool {
		return r.Event.At.Millis() <= since || !slices.Contains(changeKinds, r.Event.Kind) || r.Event.Kind == opt.TaskMoved && r.Event.Reason != opt.ByHand
	})
	return momentsOf(f.o, later), err
}

// target returns what can be done with an item that is selected.
func (d *draft) target(f forms, at spot, of item) *draftTarget {
	out := &draftTarget{Key: d.key(of.id), Name: of.name}
	step := func(do string) string { // the address with one more step, "" if it cannot be made
		to := at.adding(url.Values{"do": {do}, "of": {out.Key}})
		if _, lines := draftOf(f, to); lines[len(lines)-1].refused() {
			return ""
		}
		return to.path()
	}
	out.Earlier, out.Later = step("earlier"), step("later")
	if d.added[of.id] == "" && !d.skipped[of.id] {
		out.Skip = step("skip")
	}
	if d.free(of) {
		out.Order = d.choices(d.row(of), of.id, of.before)
	}
	if d.allows(opt.Command{Kind: opt.AddTasks, PlanID: of.plan.ID, Tasks: []opt.TaskSpec{{Name: "another"}}}) {
		last := of.id
		if n := len(of.plan.Tasks); of.task == nil && n > 0 {
			last = of.plan.Tasks[n-1].ID
		}
		out.Plan, out.After = keyOf(of.plan.ID), d.choices(d.tasks(of.plan), "", []string{last})
	}
	return out
}

// choices lists the items of a row but one, and which of them are chosen.
func (d *draft) choices(row []item, but string, chosen []string) []planChoice {
	others := filter(row, func(one item) bool { return one.id != but })
	return each(others, func(one item) planChoice {
		return planChoice{d.key(one.id), nameText(one.name), slices.Contains(chosen, one.id)}
	})
}

// draw returns the drawing of d, with what it changes.
func (d *draft) draw(at spot) *tree {
	t := treeOf(d.now, at.To, d.was)
	for i, p := range d.row(item{}) {
		d.mark(&t.Plans[i].treeTask, p, at)
		for j, task := range d.tasks(p.plan) {
			d.mark(&t.Plans[i].Tasks[j], task, at)
		}
	}
	return t
}

// mark adds what d says about an item to its drawing, whose title says it, too.
func (d *draft) mark(drawn *treeTask, of item, at spot) {
	drawn.Free, drawn.After = d.free(of), strings.Join(each(of.before, d.key), " ")
	switch {
	case d.added[of.id] != "":
		drawn.Mark, drawn.Name, drawn.Key = "added", "+ "+drawn.Name, d.key(of.id)
		drawn.Path = at.To(drawn.Key)
	case d.skipped[of.id]:
		drawn.Mark = "skipped"
	default:
		return
	}
	drawn.Title += ", " + drawn.Mark
}
