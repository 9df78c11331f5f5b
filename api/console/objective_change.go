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

// A change is a form that was sent, about an objective or a part of it.
type change struct {
	*visit
	objectiveID string
	button      string // which button
	revision    int64
	at          spot     // the page that is shown again if the change is refused
	next        spot     // the page that is shown if it is made
	said        []string // more fields of the address of that, names and values in turn
	unconfirmed int      // plans that had not confirmed it
	made        int      // steps of a draft that were carried out before it was refused

	fault  *call.Fault // why it was refused
	reused bool        // it was sent before with other contents, as from another tab
}

// errForm is the fault of a form without the fields that all forms have.
var errForm = call.Invalid(call.Violation{Field: "form", Description: "is incomplete: open the page again"})

// errAction is the fault of a form whose button no page has.
var errAction = call.Invalid(call.Violation{Field: "do", Description: "names no change"})

// changing returns what makes the change that a form on the page of an objective asks for, or on that of the plan
// or task that the path of the form names. A form that is refused shows its page again, to callers who may read it.
func changing(apply func(*change) error) func(*visit) (view, error) {
	return func(v *visit) (view, error) {
		v.call.OfOPT = true
		c := &change{visit: v, objectiveID: v.r.PathValue("id"), button: v.field("do"), at: spotOf(v.r)}
		for _, part := range []string{"plan", "task"} {
			if key := v.r.PathValue(part); key != "" {
				c.at = c.at.with(part, key)
			}
		}
		c.next = c.at.sent()
		var err error
		key := v.field("key")
		if c.revision, err = strconv.ParseInt(v.field("revision"), 10, 64); err != nil || key == "" || len(key) > 100 || c.revision <= 0 {
			return view{}, errForm
		}
		v.call.Key, v.call.KeyField = key+":"+c.button, "key"
		c.fault = v.cfg.Service.Guard(v.call, func() error {
			err = apply(c)
			return err
		})
		switch {
		case c.fault == nil:
			if c.unconfirmed > 0 {
				c.said = append(c.said, "unconfirmed", strconv.Itoa(c.unconfirmed))
			}
			return view{Location: c.next.At(c.next.base, append(c.said, "done", c.button)...)}, nil
		case !v.has(call.ReadRuns):
			return view{}, c.fault
		case c.fault.Kind == call.InvalidState, c.fault.Kind == call.InvalidParams, c.fault.Kind == call.Unavailable:
			c.reused = errors.Is(err, opt.ErrConflict)
			return objectiveView(v, c.at, c)
		}
		return view{}, c.fault
	}
}

// changeState makes the change of a button of an objective, or of one of its plans or tasks.
func changeState(c *change) error {
	what, plan, task := "objective", c.r.PathValue("plan"), c.r.PathValue("task")
	switch number, _, _ := strings.Cut(task, "-"); {
	case task != "":
		what, plan, task = "task", c.idOf("plan", number), c.idOf("task", task)
	case plan != "":
		what, plan = "plan", c.idOf("plan", plan)
	}
	i := slices.IndexFunc(buttons[what], func(b button) bool { return b.Do == c.button })
	if i < 0 {
		return errAction
	}
	cmd := buttons[what][i].command(plan, task)
	cmd.Seen = c.revision
	if err := c.perform(cmd); err != nil || what != "objective" || c.button != "retry" {
		return err
	}
	c.call.Key += ":start" // the new attempt waits until it is started
	fault := c.cfg.Service.Guard(c.call, func() error {
		return c.perform(opt.Command{Kind: opt.UpdateObjective, Status: string(opt.ObjectiveWorking)})
	})
	if fault != nil { // the attempt stays
		c.said = append(c.said, missedField, missedStart)
	}
	return nil
}

// idOf returns the id of the plan or the task with a key, in the objective of the form.
func (c *change) idOf(what, key string) string {
	return what + "-" + strings.TrimPrefix(c.objectiveID, "obj-") + "-" + key
}

// changeText changes the name and the description of an objective.
func changeText(c *change) error {
	name, description := strings.TrimSpace(c.field("name")), strings.TrimSpace(c.field("description"))
	o, err := c.cfg.Service.Work.UpdateObjective(c.r.Context(), c.call, work.UpdateObjectiveParams{
		ID: c.objectiveID, Seen: c.revision, Change: opt.Change{Name: &name, Description: &description},
	})
	c.unconfirmed = len(o.Unconfirmed)
	return err
}

// replan makes the planner replace the open plans.
func replan(c *change) error {
	o, err := c.cfg.Service.Work.Replan(c.r.Context(), c.call, work.ReplanParams{ID: c.objectiveID, Reason: c.field("reason"), Seen: c.revision})
	c.unconfirmed = len(o.Unconfirmed)
	return err
}

// fork starts another objective from an event of this one, and shows it.
func fork(c *change) error {
	p := work.ForkParams{ID: c.objectiveID, Message: strings.TrimSpace(c.field("message")), Repeat: c.field("repeat") != ""}
	if text := strings.TrimSpace(c.field("at")); text != "" {
		var err error
		if p.At, err = strconv.Atoi(text); err != nil || p.At < 1 {
			return call.Invalid(call.Violation{Field: "at", Description: "is not the number of an event"})
		}
	}
	made, err := c.cfg.Service.Forks.ForkObjective(c.r.Context(), c.call, p)
	if err == nil {
		c.next = spot{objectivePath(made.ID), listing{url.Values{}}}
	}
	return err
}

// addPlan adds a plan with tasks, one for each line.
func addPlan(c *change) error {
	spec := opt.PlanSpec{Name: strings.TrimSpace(c.field("name")), Description: strings.TrimSpace(c.field("description")), Dependencies: []string{}}
	for _, key := range c.r.PostForm["after"] {
		spec.Dependencies = append(spec.Dependencies, c.idOf("plan", key))
	}
	if c.field("optional") != "" {
		spec.Metadata = spec.Metadata.With(opt.KeyOptional, true)
	}
	for line := range strings.Lines(c.field("tasks")) {
		if name := strings.TrimSpace(line); name != "" {
			spec.Tasks = append(spec.Tasks, opt.TaskSpec{Name: name})
		}
	}
	_, err := c.cfg.Service.Work.CreatePlan(c.r.Context(), c.call, work.CreatePlanParams{ObjectiveID: c.objectiveID, Plan: spec, Seen: c.revision})
	return err
}

// sendDraft makes the changes of a draft, one after another. Those that were made are no longer in
// it if one is refused.
func sendDraft(c *change) error {
	o, err := c.objective(c.objectiveID)
	if err != nil {
		return err
	}
	d, lines := draftOf(forms{visit: c.visit, o: o}, c.at)
	if slices.ContainsFunc(lines, draftLine.refused) && o.Revision == c.revision {
		return errAction
	}
	key, steps := c.call.Key, slices.Clone(c.at.Values["step"])
	for _, a := range d.commands() {
		a.Seen, c.call.Key = c.revision, key+":"+strconv.FormatInt(c.revision, 10)
		if err := c.perform(a.Command); err != nil {
			return err
		}
		for _, i := range a.steps {
			if steps[i] != "" {
				steps[i] = ""
				c.made++
			}
		}
		c.revision++
		left := slices.DeleteFunc(slices.Clone(steps), func(text string) bool { return text == "" })
		c.at = c.at.stepping(left).with("draft", numberText(c.revision))
	}
	return nil
}

// perform makes a change of the state of the objective, or a change of a plan or a task.
func (c *change) perform(cmd opt.Command) error {
	ctx, to := c.r.Context(), c.cfg.Service
	switch cmd.Kind {
	case opt.UpdateObjective:
		o, err := to.Work.UpdateObjective(ctx, c.call, work.UpdateObjectiveParams{ID: c.objectiveID, Status: opt.ObjectiveStatus(cmd.Status), Seen: cmd.Seen})
		c.unconfirmed += len(o.Unconfirmed)
		return err
	case opt.AddTasks:
		p, err := to.Work.AddTasks(ctx, c.call, work.AddTasksParams{ID: cmd.PlanID, Tasks: cmd.Tasks, Seen: cmd.Seen})
		c.unconfirmed += len(p.Unconfirmed)
		return err
	case opt.UpdatePlan, opt.OrderTasks:
		params := work.UpdatePlanParams{ID: cmd.PlanID, Status: opt.PlanStatus(cmd.Status), Tasks: cmd.Order, Seen: cmd.Seen}
		if cmd.Change != nil {
			params.Change = *cmd.Change
		}
		p, err := to.Work.UpdatePlan(ctx, c.call, params)
		c.unconfirmed += len(p.Unconfirmed)
		return err
	case opt.MoveTask:
		_, err := to.TaskWork.UpdateTaskStatus(ctx, c.call, work.UpdateTaskStatusParams{ID: cmd.TaskID, State: opt.TaskState(cmd.Status), Message: cmd.Text, Seen: cmd.Seen})
		return err
	}
	o, err := c.objective(c.objectiveID)
	if err != nil {
		return err
	}
	_, t := taskAt(o, keyOfTask(cmd.TaskID))
	if t == nil {
		return unknown("Task", keyOfTask(cmd.TaskID))
	}
	_, err = to.TaskWork.CancelTask(ctx, c.call, read.TaskParams{ID: t.A2AID(), Seen: cmd.Seen})
	return err
}
