package main

import (
	"context"
	"errors"
	"slices"
	"time"

	"longhaul/opt"
	"longhaul/workflows"
)

// changed are the shapes of work that clients change while it is there.
var changed = []shape{
	{name: "edited", added: 1, specs: plans("approve Go on?|say one", "say never", "say two"), steps: []step{
		waitFor(opt.TaskInputRequired), addTasks(1, "say more"), skip(2), addPlan("say added", false), reorder(3, 4), reply(1, 0, opt.Reply{Action: opt.Accept}),
	}},
	{name: "linked", idle: true, added: 1, steps: []step{
		addPlan("say one|say two|say three", false), link(1, 0, "elsewhere", false), linkOther(1, 1, "work 2s; say theirs"), start,
		inState(1, 0, opt.TaskWorking), move(1, 0, opt.TaskCompleted),
	}},
	{name: "again", specs: plans("say kept", "fail|say never", "say last"), steps: []step{
		again(opt.ObjectiveSubmitted), addTasks(3, "say more"), start,
	}},
	{name: "plan-again", specs: []opt.PlanSpec{optional(plan("Plan 1", "say kept", "fail")), plan("Plan 2", "approve Go on?; say done")}, steps: []step{
		planStatus(1, opt.PlanFailed), planAgain(1, opt.PlanWorking), inState(1, 1, opt.TaskFailed), planStatus(1, opt.PlanFailed),
		planAgain(1, opt.PlanPending), reply(2, 0, opt.Reply{Action: opt.Accept}),
	}},
	{name: "by-hand", idle: true, added: 2, steps: []step{
		addPlan("say one", false), addPlan("say two|say three", false),
		move(2, 0, opt.TaskWorking), move(2, 0, opt.TaskInputRequired), root(opt.TaskInputRequired), move(2, 0, opt.TaskWorking), root(opt.TaskWorking),
		move(2, 0, opt.TaskCompleted), start,
	}},
	{name: "by-hand-beside", idle: true, added: 1, steps: []step{
		addPlan("say one|say two", false), move(1, 0, opt.TaskWorking), move(1, 1, opt.TaskWorking), move(1, 1, opt.TaskInputRequired),
		move(1, 1, opt.TaskCompleted), move(1, 0, opt.TaskCompleted),
	}},
	{name: "paused-resumed", specs: plans("work 2s|say done"), steps: []step{
		waitFor(opt.TaskWorking), ask(opt.ObjectiveBlocked), planStatus(1, opt.PlanBlocked), breathe, start,
	}},
	{name: "replanned", added: 1, text: "say planned", specs: plans("approve Go on?|say never"), steps: []step{
		waitFor(opt.TaskInputRequired), replan,
	}},
	{name: "replan-dropped", text: "slow", specs: plans("approve Go on?|say done"), steps: []step{
		waitFor(opt.TaskInputRequired), replan, start, reply(1, 0, opt.Reply{Action: opt.Accept}),
	}},
	{name: "works-while-planned", text: "slow", steps: []step{start}},
}

// soon calls change until the workflow is there that it is for: a plan is in the
// journal before it begins.
func soon(ctx context.Context, change func() error) error {
	for {
		if err := change(); !errors.Is(err, opt.ErrEnded) && !errors.Is(err, opt.ErrUnknown) {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(10 * time.Millisecond):
		}
	}
}

func addTasks(n int, scripts ...string) step {
	return func(ctx context.Context, _ *recorder, engine *workflows.Client, id string) error {
		return soon(ctx, func() error { return engine.AddTasks(ctx, opt.PlanID(id, n), plan("", scripts...).Tasks, 0) })
	}
}

func skip(n int) step {
	return func(ctx context.Context, _ *recorder, engine *workflows.Client, id string) error {
		return soon(ctx, func() error { return engine.ChangePlan(ctx, opt.PlanID(id, n), nil, opt.PlanSkipped, false, 0) })
	}
}

// reorder has a plan come after another.
func reorder(n, after int) step {
	return func(ctx context.Context, _ *recorder, engine *workflows.Client, id string) error {
		return engine.ReorderPlan(ctx, opt.PlanID(id, n), &opt.Change{Dependencies: []string{opt.PlanID(id, after)}}, 0)
	}
}

func link(n, m int, to string, follow bool) step {
	return func(ctx context.Context, _ *recorder, engine *workflows.Client, id string) error {
		return soon(ctx, func() error { return engine.LinkTask(ctx, opt.TaskID(opt.PlanID(id, n), m), to, follow, 0) })
	}
}

// linkOther links a task to another objective, which begins then.
func linkOther(n, m int, script string) step {
	return func(ctx context.Context, r *recorder, engine *workflows.Client, id string) error {
		other := opening(shape{name: "beside " + id, specs: plans(script)})
		if _, err := engine.Start(ctx, other); err != nil {
			return err
		}
		if err := r.until(ctx, other.Objective.ID, func(opt.TaskView) bool { return true }); err != nil {
			return err
		}
		return link(n, m, other.Objective.ID, true)(ctx, r, engine, id)
	}
}

func move(n, m int, to opt.TaskState) step {
	return func(ctx context.Context, _ *recorder, engine *workflows.Client, id string) error {
		return soon(ctx, func() error { return engine.MoveTask(ctx, opt.TaskID(opt.PlanID(id, n), m), to, "", 0) })
	}
}

func ask(to opt.ObjectiveStatus) step {
	return func(ctx context.Context, _ *recorder, engine *workflows.Client, id string) error {
		return engine.ChangeObjective(ctx, id, nil, to, 0)
	}
}

func start(ctx context.Context, r *recorder, engine *workflows.Client, id string) error {
	return ask(opt.ObjectiveWorking)(ctx, r, engine, id)
}

// breathe lets an objective hear of what its plans have recorded.
func breathe(ctx context.Context, _ *recorder, _ *workflows.Client, _ string) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(300 * time.Millisecond):
		return nil
	}
}

func replan(ctx context.Context, _ *recorder, engine *workflows.Client, id string) error {
	return engine.Replan(ctx, id, "another way", 0)
}

// again waits for the end of an objective and begins a new attempt at it.
func again(to opt.ObjectiveStatus) step {
	return func(ctx context.Context, r *recorder, engine *workflows.Client, id string) error {
		if err := r.whole(ctx, id, func(o *opt.Objective) bool { return o.Settled() }); err != nil {
			return err
		}
		o, err := r.journal.Whole(ctx, tenant, id)
		if err != nil {
			return err
		}
		if err := r.leave(ctx, id); err != nil {
			return err
		}
		for _, p := range o.Plans {
			if p.Status != opt.PlanCompleted {
				if err := r.leave(ctx, p.ID); err != nil {
					return err
				}
			}
		}
		if err := engine.Again(ctx, o, to, nil); err != nil {
			return err
		}
		return r.whole(ctx, id, func(now *opt.Objective) bool { return now.Attempt > o.Attempt })
	}
}

// planAgain begins a new attempt at a plan that failed.
func planAgain(n int, to opt.PlanStatus) step {
	return func(ctx context.Context, r *recorder, engine *workflows.Client, id string) error {
		o, err := r.journal.Whole(ctx, tenant, id)
		if err != nil {
			return err
		}
		p := o.Plan(opt.PlanID(id, n))
		if err := r.leave(ctx, p.ID); err != nil {
			return err
		}
		if err := soon(ctx, func() error { return engine.AgainPlan(ctx, p, to, 0) }); err != nil {
			return err
		}
		return r.whole(ctx, id, func(now *opt.Objective) bool { return now.Plan(p.ID).Run > p.Run })
	}
}

func optional(p opt.PlanSpec) opt.PlanSpec {
	p.Metadata = p.Metadata.With(opt.KeyOptional, true)
	return p
}

// leave waits for the end of a workflow that is about to begin again, and keeps
// its run.
func (r *recorder) leave(ctx context.Context, workflowID string) error {
	run := r.temporal.GetWorkflow(ctx, workflowID, "")
	if _ = run.Get(ctx, nil); ctx.Err() != nil {
		return ctx.Err()
	}
	r.ended[workflowID] = slices.Insert(r.ended[workflowID], 0, run.GetRunID())
	return nil
}

func root(state opt.TaskState) step {
	return func(ctx context.Context, r *recorder, _ *workflows.Client, id string) error {
		return r.whole(ctx, id, func(o *opt.Objective) bool { return o.Root == state })
	}
}

func planStatus(n int, s opt.PlanStatus) step {
	return func(ctx context.Context, r *recorder, _ *workflows.Client, id string) error {
		return r.whole(ctx, id, func(o *opt.Objective) bool { return o.Plan(opt.PlanID(id, n)).Status == s })
	}
}

func inState(n, m int, state opt.TaskState) step {
	return func(ctx context.Context, r *recorder, _ *workflows.Client, id string) error {
		return r.until(ctx, opt.TaskID(opt.PlanID(id, n), m), func(v opt.TaskView) bool { return v.State == state })
	}
}
