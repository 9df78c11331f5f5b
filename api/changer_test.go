package api_test

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"longhaul/a2a"
	"longhaul/opt"
)

// Changes are made as workflows make them: by the model, on what the journal has.
// Tasks that are begun go on for ever.

// change has f change an objective, after the checks that every change begins
// with, and lets follow what follows.
func (e *engine) change(ctx context.Context, what, id string, seen int64, f func(*opt.Objective) error) error {
	leave, err := e.enter(ctx)
	if err != nil {
		return err
	}
	defer leave()
	e.changes, e.seen = append(e.changes, what), append(e.seen, seen)
	ref, _ := opt.ParseID(id)
	o := e.read(ref.ObjectiveID)
	for i, trouble := range e.troubles {
		e.troubles = slices.Delete(e.troubles, i, i+1)
		return trouble(e, o)
	}
	if seen != 0 && seen != o.Revision {
		return fmt.Errorf("%w: at %d", opt.ErrStale, o.Revision)
	}
	if err := f(o); err != nil {
		return err
	}
	e.follow(o.ID)
	return nil
}

func (e *engine) read(id string) *opt.Objective {
	e.journal.mu.Lock()
	defer e.journal.mu.Unlock()
	return e.journal.whole(e.journal.objectives[id])
}

func (e *engine) revise(o *opt.Objective, c *opt.Change) {
	e.journal.play(o.ID, opt.Event{Kind: opt.ObjectiveChanged, Change: c, Revision: o.Revision + 1})
	o.Revision++
}

func (e *engine) moveObjective(o *opt.Objective, to opt.ObjectiveStatus, reason string) {
	e.journal.play(o.ID, opt.Event{Kind: opt.ObjectiveMoved, From: string(o.Status), To: string(to), Reason: reason})
	o.Status = to
}

func (e *engine) movePlan(p *opt.Plan, to opt.PlanStatus, reason string) {
	e.journal.play(p.ObjectiveID, opt.Event{Kind: opt.PlanMoved, PlanID: p.ID, From: string(p.Status), To: string(to), Reason: reason})
}

func (e *engine) moveTask(p *opt.Plan, t *opt.Task, to opt.TaskState, reason, text string) {
	move := opt.Event{Kind: opt.TaskMoved, PlanID: p.ID, TaskID: t.A2AID(), From: string(t.State), To: string(to), Reason: reason}
	if text != "" {
		move.Status = &a2a.Message{MessageID: t.ID + ":said", Role: a2a.RoleAgent, Parts: []a2a.Part{a2a.TextPart(text)}}
	}
	e.journal.play(p.ObjectiveID, move)
}

// follow does what follows, until nothing does.
func (e *engine) follow(id string) {
	for e.step(e.read(id)) {
	}
}

func (e *engine) step(o *opt.Objective) bool {
	now := a2a.At(start)
	for _, p := range o.Plans {
		if o.Stopping != "" && p.Stopping == "" && !p.Status.Ended() {
			e.journal.play(o.ID, opt.Event{Kind: opt.PlanStopping, PlanID: p.ID, Reason: o.Stopping})
			return true
		}
		for _, t := range p.Doomed() {
			e.moveTask(p, t, opt.TaskCanceled, "canceled", "")
			return true
		}
		if next := p.Next(now); len(next) > 0 {
			e.journal.play(o.ID, next...)
			return true
		}
		for _, t := range p.Ready() {
			e.moveTask(p, t, opt.TaskWorking, "", "")
			return true
		}
		report := p.Brief()
		p.Report = &report
	}
	for _, p := range o.Startable() {
		e.movePlan(p, opt.PlanWorking, "")
		return true
	}
	for _, p := range o.Held() {
		e.movePlan(p, opt.PlanBlocked, opt.BlockedByDependencies)
		return true
	}
	if next := o.Next(now); len(next) > 0 {
		e.journal.play(o.ID, next...)
		return true
	}
	return false
}

func (e *engine) ChangeObjective(ctx context.Context, id string, c *opt.Change, to opt.ObjectiveStatus, seen int64) error {
	return e.change(ctx, "objective", id, seen, func(o *opt.Objective) error {
		if to == opt.ObjectiveWorking && o.Status == opt.ObjectiveBlocked && o.Reason != opt.BlockedByOperator {
			return fmt.Errorf("refused: %w", &opt.MoveError{From: string(o.Status), To: string(to)})
		}
		if err := c.Check(); err != nil {
			return err
		}
		if !c.Empty() {
			e.revise(o, c)
		}
		switch {
		case to == "" || to == o.Status && o.Reason != opt.ByHand:
			return nil
		case to == opt.ObjectiveBlocked:
			e.moveObjective(o, to, opt.BlockedByOperator)
			e.pause(o)
		case to.Ended():
			e.journal.play(o.ID, opt.Event{Kind: opt.ObjectiveStopping, Reason: string(to)})
		default:
			e.moveObjective(o, to, "")
			e.resume(o)
		}
		e.revise(o, nil)
		return nil
	})
}

// pause pauses the plans that have been started.
func (e *engine) pause(o *opt.Objective) {
	for _, p := range o.Plans {
		if p.Started && !p.Status.Ended() {
			e.movePlan(p, opt.PlanBlocked, opt.BlockedByOperator)
		}
	}
}

// resume lets paused plans go on.
func (e *engine) resume(o *opt.Objective) {
	for _, p := range o.Plans {
		if o.Status == opt.ObjectiveWorking && p.Status == opt.PlanBlocked && p.Reason == opt.BlockedByOperator {
			e.movePlan(p, opt.PlanWorking, "")
		}
	}
}

// Replan pauses what runs, and leaves the planning to a planner that takes its
// time, or with "quick" as the reason does not.
func (e *engine) Replan(ctx context.Context, id, reason string, seen int64) error {
	return e.change(ctx, "replan", id, seen, func(o *opt.Objective) error {
		if o.Status == opt.ObjectiveWorking {
			e.moveObjective(o, opt.ObjectiveBlocked, opt.BlockedByOperator)
		}
		e.moveObjective(o, opt.ObjectivePlanning, opt.Replanning)
		e.revise(o, nil)
		e.pause(o)
		if reason == "quick" {
			e.moveObjective(o, opt.ObjectiveWorking, "")
		}
		return nil
	})
}

func (e *engine) Enter(ctx context.Context, o opt.Objective, behind []string) error {
	leave, err := e.enter(ctx)
	if err != nil {
		return err
	}
	defer leave()
	e.entered = append(e.entered, o.ID+" behind "+strings.Join(behind, ", "))
	return nil
}

func (e *engine) Again(ctx context.Context, o *opt.Objective, to opt.ObjectiveStatus, behind []string) error {
	return e.change(ctx, "again", o.ID, 0, func(*opt.Objective) error {
		attempt := o.Attempt + 1
		e.journal.play(o.ID, opt.Event{Kind: opt.ObjectiveAgain, From: string(o.Status), To: string(to), Attempt: attempt, TaskID: opt.RootID(o.ID, attempt)})
		for _, p := range o.Plans {
			if p.Status != opt.PlanCompleted {
				e.journal.play(o.ID, opt.Event{Kind: opt.PlanAgain, PlanID: p.ID, Attempt: attempt})
			}
		}
		if to == opt.ObjectivePlanning {
			e.moveObjective(o, to, "")
		}
		return nil
	})
}

func (e *engine) ChangePlan(ctx context.Context, id string, c *opt.Change, to opt.PlanStatus, met bool, seen int64) error {
	return e.change(ctx, "plan", id, seen, func(o *opt.Objective) error {
		p := o.Plan(id)
		if to == opt.PlanWorking && (!met || p.Status == opt.PlanBlocked && p.Reason == opt.BlockedByInput) {
			return &opt.MoveError{From: string(p.Status), To: string(to)}
		}
		if !c.Empty() {
			e.journal.play(o.ID, opt.Event{Kind: opt.PlanChanged, PlanID: id, Change: c})
		}
		if to != "" && to != p.Status {
			reason := ""
			if to == opt.PlanBlocked {
				reason = opt.BlockedByOperator
			}
			e.movePlan(p, to, reason)
			if to == opt.PlanWorking && !o.Started {
				e.moveObjective(o, opt.ObjectiveWorking, "")
			}
		}
		e.revise(o, nil)
		return nil
	})
}

func (e *engine) AgainPlan(ctx context.Context, p *opt.Plan, to opt.PlanStatus, seen int64) error {
	return e.change(ctx, "plan again", p.ID, seen, func(o *opt.Objective) error {
		attempt := p.NextRun(o.Attempt + 1)
		e.journal.play(o.ID, opt.Event{Kind: opt.PlanAgain, PlanID: p.ID, Attempt: attempt})
		if e.revise(o, nil); to == opt.PlanWorking {
			e.movePlan(o.Plan(p.ID), to, "")
		}
		return nil
	})
}

func (e *engine) ReorderPlan(ctx context.Context, id string, c *opt.Change, seen int64) error {
	return e.change(ctx, "reorder", id, seen, func(o *opt.Objective) error {
		p := o.Plan(id)
		ids, err := o.Reordered(p, c.Dependencies)
		if err != nil {
			return err
		}
		change := *c
		change.Dependencies = ids
		e.journal.play(o.ID, opt.Event{Kind: opt.PlanChanged, PlanID: id, Change: &change})
		if p.Status == opt.PlanBlocked && e.read(o.ID).Met(&opt.Plan{Dependencies: ids}) {
			e.movePlan(p, opt.PlanPending, "")
		}
		e.revise(o, nil)
		return nil
	})
}

func (e *engine) AddTasks(ctx context.Context, id string, specs []opt.TaskSpec, seen int64) error {
	return e.change(ctx, "tasks", id, seen, func(o *opt.Objective) error {
		tasks, err := o.Plan(id).NewTasks(specs)
		if err != nil {
			return err
		}
		e.journal.play(o.ID, opt.Event{Kind: opt.TasksAdded, PlanID: id, Tasks: tasks})
		e.revise(o, nil)
		return nil
	})
}

func (e *engine) LinkTask(ctx context.Context, id, link string, follow bool, seen int64) error {
	return e.change(ctx, "link", id, seen, func(o *opt.Objective) error {
		ref, _ := opt.ParseID(id)
		e.journal.play(o.ID, opt.Event{Kind: opt.TaskLinked, PlanID: ref.PlanID, TaskID: o.Plan(ref.PlanID).Task(id).A2AID(), Link: link, Follow: follow})
		e.revise(o, nil)
		return nil
	})
}

func (e *engine) MoveTask(ctx context.Context, id string, to opt.TaskState, text string, seen int64) error {
	return e.change(ctx, "task", id, seen, func(o *opt.Objective) error {
		if seen != 0 {
			e.revise(o, nil)
		}
		ref, _ := opt.ParseID(id)
		p := o.Plan(ref.PlanID)
		e.moveTask(p, p.Task(id), to, opt.ByHand, text)
		return nil
	})
}
