package console

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"longhaul/api/call"
	"longhaul/api/work"
	"longhaul/opt"
	"longhaul/opt/shown"
)

// A changeForm is a form that changes an objective. It carries the revision at which it was seen, so that a change of
// others is noticed, and a key, so that a repeat changes nothing.
type changeForm struct {
	ID       string // of its element
	Action   string // path that it is sent to
	Revision int64
	Key      string
	Buttons  []button
	Open     bool // it was refused, and is shown again with its contents
	url.Values
}

// A button asks for a change of the state of an objective, a plan or a task.
type button struct {
	Do, Label, Hint string
	Danger          bool   // it needs a second step
	to              string // the state that it asks for, "" for that of a task that is canceled
	when            string // the phase in which it is shown if the change is possible, "" for any
}

// phases returns what an objective, a plan or a task is, as far as buttons differ by it: t, p or o, the first that
// is not nil.
func phases(o *opt.Objective, p *opt.Plan, t *opt.Task) []string {
	begun, over := o.Started || o.Paused, o.Status.Ended()
	if p != nil {
		begun, over = p.Started || p.Paused, p.Status == opt.PlanFailed
	}
	switch open := cmp.Or(shown.When(begun, "begun"), "fresh"); {
	case t != nil:
		return []string{"", cmp.Or(shown.When(t.Optional(), "optional"), "needed")}
	case over:
		return []string{"", "ended"}
	case p == nil && len(o.Plans) == 0:
		return []string{"", "planless", open}
	default:
		return []string{"", open}
	}
}

// buttons are those that pages know, by how the ids begin of what they are about.
var buttons = map[string][]button{
	"obj": {
		{Do: "retry", Label: "Retry", Hint: "A new attempt begins. Plans that were completed stay completed.", to: string(opt.ObjectiveSubmitted), when: "ended"},
		{Do: "retry-planned", Label: "Retry with new plans", Hint: "A new attempt begins with new plans.", Danger: true, to: string(opt.ObjectivePlanning), when: "ended"},
		{Do: "resume", Label: "Resume", to: string(opt.ObjectiveWorking), when: "begun"},
		{Do: "start", Label: "Start", to: string(opt.ObjectiveWorking), when: "fresh"},
		{Do: "pause", Label: "Pause", Hint: "Running tasks finish, and nothing new begins.", to: string(opt.ObjectiveBlocked)},
		{Do: "plan", Label: "Make plans", to: string(opt.ObjectivePlanning), when: "planless"},
		{Do: "complete", Label: "Declare completed", Hint: "Its open tasks are stopped, and open questions are closed.", Danger: true, to: string(opt.ObjectiveCompleted)},
		{Do: "fail", Label: "Declare failed", Hint: "Its open tasks are stopped. It can be retried.", Danger: true, to: string(opt.ObjectiveFailed)},
		{Do: "cancel", Label: "Cancel", Hint: "Its open tasks are stopped. It can be retried.", Danger: true, to: string(opt.ObjectiveCanceled)},
	},
	"plan": {
		{Do: "retry", Label: "Retry now", Hint: "Completed tasks stay completed.", to: string(opt.PlanWorking), when: "ended"},
		{Do: "retry-later", Label: "Retry at its turn", to: string(opt.PlanPending), when: "ended"},
		{Do: "resume", Label: "Resume", to: string(opt.PlanWorking), when: "begun"},
		{Do: "start", Label: "Start now", to: string(opt.PlanWorking), when: "fresh"},
		{Do: "pause", Label: "Pause", Hint: "Its running tasks finish, and none begins.", to: string(opt.PlanBlocked)},
		{Do: "skip", Label: "Skip", Hint: "The objective continues without this plan. It cannot be taken back.", Danger: true, to: string(opt.PlanSkipped)},
		{Do: "complete", Label: "Declare completed", Hint: "Its open tasks are stopped, and plans that wait for it begin.", Danger: true, to: string(opt.PlanCompleted)},
		{Do: "fail", Label: "Declare failed", Hint: "Its open tasks are stopped. The plan can be retried while the objective is open.", Danger: true, to: string(opt.PlanFailed)},
	},
	"task": {
		{Do: "complete", Label: "Declare completed", Hint: "A running attempt is stopped and its result is dropped. The plan continues.", Danger: true, to: string(opt.TaskCompleted)},
		{Do: "fail", Label: "Declare failed", Hint: "A running attempt is stopped and its result is dropped.", Danger: true, to: string(opt.TaskFailed)},
		{Do: "cancel", Label: "Cancel this task", Hint: "The plan fails without it.", Danger: true, when: "needed"},
		{Do: "skip", Label: "Skip this task", Hint: "It is optional: the plan continues without it.", Danger: true, when: "optional"},
	},
}

// buttonsOf returns those about the objective, the plan or the task with an id.
func buttonsOf(id string) []button {
	kind, _, _ := strings.Cut(id, "-")
	return buttons[kind]
}

// command returns the change that b asks for, of the objective, the plan or the task with an id.
func (b button) command(id string) opt.Command {
	ref, _ := opt.ParseID(id)
	cmd := opt.Command{Kind: opt.UpdateObjective, PlanID: ref.PlanID, TaskID: ref.TaskID, Status: b.to}
	switch {
	case ref.TaskID != "" && b.to == "":
		cmd.Kind = opt.CancelTask
	case ref.TaskID != "":
		cmd.Kind = opt.MoveTask
	case ref.PlanID != "":
		cmd.Kind = opt.UpdatePlan
	}
	return cmd
}

// A forms makes the forms of a page about an objective.
type forms struct {
	*visit
	o       *opt.Objective
	refused *change // nil for none
}

// form returns a form with an id. Its key is the same while nothing changes, so that the
// page stays the same, and that a form which is sent twice counts once.
func (f forms) form(id, path string) changeForm {
	out := changeForm{ID: id, Action: objectivePath(f.o.ID) + path, Revision: f.o.Revision}
	sum := sha256.Sum256(fmt.Appendf(nil, "%s %d %d %d %s %s %s", f.o.ID, f.o.Revision, f.o.UpdatedAt.Millis(), latestOf(f.o), path, id, f.call.Principal))
	out.Key = "console-" + hex.EncodeToString(sum[:12])
	if r := f.refused; r != nil {
		out.Key = newKey() // a refusal may be recorded under the former one
		if action, _, _ := strings.Cut(out.Action, "?"); action == f.r.URL.EscapedPath() {
			out.Open, out.Values = true, f.r.PostForm
			if r.fault.Kind == call.Unavailable { // the result is not known: a repeat has to be the same
				out.Key, out.Revision = f.field("key"), r.revision
			}
		}
	}
	return out
}

// latestOf returns the time of the latest change of a plan.
func latestOf(o *opt.Objective) (at int64) {
	for _, p := range o.Plans {
		at = max(at, p.UpdatedAt.Millis())
	}
	return at
}

// state returns a form with the buttons that the state of an objective, or of its plan or task, and the scopes of the
// caller allow.
func (f forms) state(p *opt.Plan, t *opt.Task) changeForm {
	var out changeForm
	id := f.o.ID
	switch {
	case t != nil:
		id, out = t.ID, f.form("task-change", "/tasks/"+keyOf(t.ID))
	case p != nil:
		id, out = p.ID, f.form("p"+keyOf(p.ID)+"-change", "/plans/"+keyOf(p.ID))
	default:
		out = f.form("change", "")
	}
	in := phases(f.o, p, t)
	out.Buttons = filter(buttonsOf(id), func(b button) bool { return slices.Contains(in, b.when) && f.allows(b.command(id)) })
	return out
}

// allows reports whether the state and the scopes of the caller allow a change.
func (f forms) allows(cmd opt.Command) bool {
	cmd.ObjectiveID = f.o.ID
	return work.Offers(f.call, f.o, cmd)
}

// objectiveForms are the forms that change an objective as a whole: the end of the path that each is sent to, and a
// change for which it serves.
var objectiveForms = map[string]struct {
	path string
	cmd  opt.Command
}{
	"replan":   {"/replan", opt.Command{Kind: opt.Replan}},
	"add-plan": {"/plans", opt.Command{Kind: opt.CreatePlan, Plan: &opt.PlanSpec{Name: "another"}}},
	"text":     {"/text", opt.Command{Kind: opt.UpdateObjective, Change: &opt.Change{Name: new("another")}}},
}

type offers map[string]*changeForm

// Opened reports whether one of them was refused, and is shown again.
func (o offers) Opened() bool {
	return slices.ContainsFunc(slices.Collect(maps.Values(o)), func(f *changeForm) bool { return f.Open })
}

// ofObjective returns those of objectiveForms that are offered, and the one for a fork.
func (f forms) ofObjective() offers {
	out := offers{}
	for id, of := range objectiveForms {
		if f.allows(of.cmd) {
			out[id] = new(f.form(id, of.path))
		}
	}
	if f.has(call.CreateRuns) {
		out["fork"] = new(f.form("fork", "/fork"))
	}
	return out
}

// A choice is one of those that a page offers: a value of a form, or an address.
type choice struct {
	Value, Text string
	Chosen      bool
}

// Choices lists the plans of an objective, on which a new one may depend. It would follow the last.
func (o offers) Choices(plans []*opt.Plan) []choice {
	chosen := o["add-plan"].Values["after"]
	if n := len(plans); n > 0 && !o["add-plan"].Open {
		chosen = []string{keyOf(plans[n-1].ID)}
	}
	return each(plans, func(p *opt.Plan) choice {
		return choice{keyOf(p.ID), shown.Name(p.Name), slices.Contains(chosen, keyOf(p.ID))}
	})
}

// addResult adds to a page what a form has done, or why it was refused.
func addResult(v *visit, out view, refused *change) view {
	if refused != nil {
		out.Status, out.Problem = refusalOf(refused)
		if refused.made > 0 {
			out.Done = "A part was made, and is in no list of yours any more: " + opt.Count(refused.made, "change") + "."
			out.Problem = strings.ReplaceAll(out.Problem, "Nothing was changed.", "Nothing more was changed.")
		}
		return out
	}
	q := v.r.URL.Query()
	if out.Done = doneTexts[q.Get("done")]; out.Done == "" {
		return out
	}
	if n, err := strconv.Atoi(q.Get("unconfirmed")); err == nil && n > 0 {
		out.Done += " " + opt.Count(n, "plan") + " had not confirmed the change when it was answered. It follows as soon as it can."
	}
	return out
}

// refusalOf returns why a form was refused, and what to do.
func refusalOf(c *change) (status int, text string) {
	p := problemOf(c.fault)
	switch f := c.fault; {
	case c.reused:
		return http.StatusConflict, "You have sent this form before with other contents, for example in another tab. That change counts; this one was not made. " +
			"The page shows the present state and what you wrote: look at it, and send the form again."
	case f.Reason == "STALE_REVISION":
		return p.Status, "Another change was faster: the objective is at revision " + f.Info["revision"] + " now, and the form was opened at revision " + f.Info["seen"] +
			". Nothing was changed. The page shows the present state and what you wrote: look at it, and send the form again."
	case f.Kind == call.Unavailable:
		return p.Status, "It is not known whether the change was made. Send the form again: it is made once at most."
	}
	return p.Status, p.Text + " Nothing was changed."
}

// doneTexts says what each change has done, by the name of its button.
var doneTexts = map[string]string{
	"start": "Started.", "pause": "Paused: running tasks finish, and nothing new begins.", "resume": "Resumed.", "plan": "Plans are being made.",
	"cancel": "Canceled.", "complete": "Declared completed.", "fail": "Declared failed.", "retry": "A new attempt has begun.",
	"retry-planned": "A new attempt has begun, with new plans.", "retry-later": "It is tried again when it is its turn.",
	"skip": "Skipped.", "replan": "New plans are being made.", "fork": "This is the fork.", "add-plan": "The plan was added.", "draft": "Your changes were made.", "text": "The text was changed.",
}
