package console

import (
	"errors"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"longhaul/api/call"
	"longhaul/api/read"
	"longhaul/api/work"
	"longhaul/opt"
)

// A change is a form that was sent.
type change struct {
	*visit
	objectiveID string
	button      string // which button
	revision    int64
	query       url.Values // of the page that is shown next
}

// errForm is the fault of a form without the fields that all forms have.
var errForm = call.Invalid(call.Violation{Field: "form", Description: "is incomplete: open the page again"})

// applyChange makes a change that a form asks for. formID is the id of the form's element, page
// shows the page of the form again if the change is refused, to callers who may read it,
// and apply makes it and returns how many plans had not confirmed it. back is the address
// of the page.
func applyChange(v *visit, formID, back string, page func(*refusedForm) (view, error), apply func(change) (int, error)) (view, error) {
	v.call.OfOPT = true
	c := change{visit: v, objectiveID: v.r.PathValue("id"), button: v.field("do"), query: url.Values{}}
	var err error
	key := v.field("key")
	if c.revision, err = strconv.ParseInt(v.field("revision"), 10, 64); err != nil || key == "" || len(key) > 100 || c.revision <= 0 {
		return view{}, errForm
	}
	v.call.Key, v.call.KeyField = key+":"+c.button, "key"
	unconfirmed := 0
	fault := v.cfg.Service.Guard(v.call, func() error {
		unconfirmed, err = apply(c)
		return err
	})
	switch {
	case fault == nil:
		c.query.Set("done", c.button)
		if unconfirmed > 0 {
			c.query.Set("unconfirmed", strconv.Itoa(unconfirmed))
		}
		return view{Location: withQuery(back, c.query)}, nil
	case !v.has(call.ReadRuns):
		return view{}, fault
	case fault.Kind == call.InvalidState, fault.Kind == call.InvalidParams, fault.Kind == call.Unavailable:
		return page(&refusedForm{id: formID, values: v.r.PostForm, fault: fault, reused: errors.Is(err, opt.ErrConflict), same: fault.Kind == call.Unavailable})
	}
	return view{}, fault
}

// errAction is the fault of a form whose button no page has.
var errAction = call.Invalid(call.Violation{Field: "do", Description: "names no change"})

// applyObjectiveChange makes a change whose form is on the page of an objective, or on that of
// the plan or task that the path of the form names.
func applyObjectiveChange(v *visit, formID string, apply func(change) (int, error)) (view, error) {
	at := spotOf(v.r)
	at.Plan, at.Task = v.r.PathValue("plan"), v.r.PathValue("task")
	return applyChange(v, formID, at.path(), func(r *refusedForm) (view, error) { return objectiveView(v, at, r) }, apply)
}

// changeObjective changes the state of an objective.
func changeObjective(v *visit) (view, error) {
	return changeState(v, "change", objectiveButtons, "", "")
}

// changePlan changes the state of a plan.
func changePlan(v *visit) (view, error) {
	key := v.r.PathValue("plan")
	return changeState(v, "p"+key+"-change", planButtons, idOf("plan", v, key), "")
}

// changeTask changes the state of a task by hand.
func changeTask(v *visit) (view, error) {
	key := v.r.PathValue("task")
	plan, _, _ := strings.Cut(key, "-")
	return changeState(v, "task-change", taskButtons, idOf("plan", v, plan), idOf("task", v, key))
}

// changeState makes the change of a button of an objective, or of the plan or the task with an id.
func changeState(v *visit, formID string, buttons []button, plan, task string) (view, error) {
	return applyObjectiveChange(v, formID, func(c change) (unconfirmed int, err error) {
		i := slices.IndexFunc(buttons, func(b button) bool { return b.Do == c.button })
		if i < 0 {
			return 0, errAction
		}
		cmd := buttons[i].command(plan, task)
		cmd.Seen = c.revision
		if unconfirmed, err = c.perform(cmd); err != nil || plan != "" || c.button != "retry" {
			return unconfirmed, err
		}
		c.call.Key += ":start" // the new attempt waits until it is started
		fault := c.cfg.Service.Guard(c.call, func() error {
			unconfirmed, err = c.perform(opt.Command{Kind: opt.UpdateObjective, Status: string(opt.ObjectiveWorking)})
			return err
		})
		if fault != nil { // the attempt stays
			c.query.Set(missedField, missedStart)
		}
		return unconfirmed, nil
	})
}

// changeObjectiveText changes the name and the description of an objective.
func changeObjectiveText(v *visit) (view, error) {
	return applyObjectiveChange(v, "text", func(c change) (int, error) {
		name, description := strings.TrimSpace(v.field("name")), strings.TrimSpace(v.field("description"))
		o, err := c.cfg.Service.Work.UpdateObjective(c.r.Context(), c.call, work.UpdateObjectiveParams{
			ID: c.objectiveID, Seen: c.revision, Change: opt.Change{Name: &name, Description: &description},
		})
		return len(o.Unconfirmed), err
	})
}

// replan makes the planner replace the open plans.
func replan(v *visit) (view, error) {
	return applyObjectiveChange(v, "replan", func(c change) (int, error) {
		o, err := c.cfg.Service.Work.Replan(c.r.Context(), c.call, work.ReplanParams{ID: c.objectiveID, Reason: v.field("reason"), Seen: c.revision})
		return len(o.Unconfirmed), err
	})
}

// forkObjective starts another objective from an event of this one, and shows it.
func forkObjective(v *visit) (view, error) {
	var made *opt.Objective
	out, err := applyObjectiveChange(v, "fork", func(c change) (_ int, err error) {
		at := 0
		if text := strings.TrimSpace(v.field("at")); text != "" {
			if at, err = strconv.Atoi(text); err != nil || at < 1 {
				return 0, call.Invalid(call.Violation{Field: "at", Description: "is not the number of an event"})
			}
		}
		made, err = c.cfg.Service.Forks.ForkObjective(c.r.Context(), c.call, work.ForkParams{ID: c.objectiveID, At: at, Message: strings.TrimSpace(v.field("message")), Repeat: v.field("repeat") != ""})
		return 0, err
	})
	if out.Location != "" {
		out.Location = withQuery(objectivePath(made.ID), url.Values{"done": {"fork"}})
	}
	return out, err
}

// addPlan adds a plan with tasks, one for each line.
func addPlan(v *visit) (view, error) {
	return applyObjectiveChange(v, "add-plan", func(c change) (int, error) {
		spec := opt.PlanSpec{Name: strings.TrimSpace(v.field("name")), Description: strings.TrimSpace(v.field("description")), Dependencies: []string{}}
		for _, key := range v.r.PostForm["after"] {
			spec.Dependencies = append(spec.Dependencies, idOf("plan", v, key))
		}
		if v.field("optional") != "" {
			spec.Metadata = spec.Metadata.With(opt.KeyOptional, true)
		}
		for line := range strings.Lines(v.field("tasks")) {
			if name := strings.TrimSpace(line); name != "" {
				spec.Tasks = append(spec.Tasks, opt.TaskSpec{Name: name})
			}
		}
		_, err := c.cfg.Service.Work.CreatePlan(c.r.Context(), c.call, work.CreatePlanParams{ObjectiveID: c.objectiveID, Plan: spec, Seen: c.revision})
		return 0, err
	})
}

// idOf returns the id of the plan or the task with a key, in the objective of a request.
func idOf(what string, v *visit, key string) string {
	return what + "-" + strings.TrimPrefix(v.r.PathValue("id"), "obj-") + "-" + key
}

// sendDraft makes the changes of a draft, one after another. Those that were made are no longer in
// it if one is refused.
func sendDraft(v *visit) (view, error) {
	at := spotOf(v.r)
	made := map[int]bool{}
	page := func(r *refusedForm) (view, error) {
		left := at
		left.Steps = nil
		for i, text := range at.Steps {
			if !made[i] {
				left.Steps = append(left.Steps, text)
			}
		}
		r.made = len(made)
		return objectiveView(v, left, r)
	}
	return applyChange(v, "draft", at.sent().path(), page, func(c change) (unconfirmed int, err error) {
		o, err := c.objective(c.objectiveID)
		if err != nil {
			return 0, err
		}
		d, lines := draftOf(forms{visit: v, o: o}, at)
		if slices.ContainsFunc(lines, func(l draftLine) bool { return l.Refused != "" }) && o.Revision == c.revision {
			return 0, errAction
		}
		key := c.call.Key
		for _, a := range d.commands() {
			a.Seen, c.call.Key = c.revision, key+":"+strconv.FormatInt(c.revision, 10)
			waits, err := c.perform(a.Command)
			if err != nil {
				return 0, err
			}
			for _, i := range a.steps {
				made[i] = true
			}
			unconfirmed += waits
			c.revision++
			at.Draft = c.revision
		}
		return unconfirmed, nil
	})
}

// perform makes a change of the state of the objective, or a change of a plan or a task. It returns how many plans had not confirmed it.
func (c change) perform(cmd opt.Command) (unconfirmed int, err error) {
	ctx, to := c.r.Context(), c.cfg.Service
	switch cmd.Kind {
	case opt.UpdateObjective:
		o, err := to.Work.UpdateObjective(ctx, c.call, work.UpdateObjectiveParams{ID: c.objectiveID, Status: opt.ObjectiveStatus(cmd.Status), Seen: cmd.Seen})
		return len(o.Unconfirmed), err
	case opt.AddTasks:
		p, err := to.Work.AddTasks(ctx, c.call, work.AddTasksParams{ID: cmd.PlanID, Tasks: cmd.Tasks, Seen: cmd.Seen})
		return len(p.Unconfirmed), err
	case opt.UpdatePlan, opt.OrderTasks:
		params := work.UpdatePlanParams{ID: cmd.PlanID, Status: opt.PlanStatus(cmd.Status), Tasks: cmd.Order, Seen: cmd.Seen}
		if cmd.Change != nil {
			params.Change = *cmd.Change
		}
		p, err := to.Work.UpdatePlan(ctx, c.call, params)
		return len(p.Unconfirmed), err
	case opt.MoveTask:
		_, err = to.TaskWork.UpdateTaskStatus(ctx, c.call, work.UpdateTaskStatusParams{ID: cmd.TaskID, State: opt.TaskState(cmd.Status), Message: cmd.Text, Seen: cmd.Seen})
		return 0, err
	}
	o, err := c.objective(c.objectiveID)
	if err != nil {
		return 0, err
	}
	_, t := taskAt(o, keyOfTask(cmd.TaskID))
	if t == nil {
		return 0, unknown("Task", keyOfTask(cmd.TaskID))
	}
	_, err = to.TaskWork.CancelTask(ctx, c.call, read.TaskParams{ID: t.A2AID(), Seen: cmd.Seen})
	return 0, err
}
