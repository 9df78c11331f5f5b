package main

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"strings"
	"time"

	"longhaul/a2a"
	"longhaul/dev/e2e/harness"
	"longhaul/opt"
	"longhaul/opt/shown"
	"longhaul/workflows"
)

const (
	tenant    = "default"
	principal = "local"
)

// A shape is one course of work.
type shape struct {
	name  string
	specs []opt.PlanSpec // nil: the planner makes one plan of the text
	text  string
	long  bool
	added int // plans added meanwhile
	steps []step
}

// A step is something that happens during the work.
type step func(ctx context.Context, w work) error

// A work is a shape of work in progress.
type work struct {
	*recorder
	engine *workflows.Client
	id     string // of the objective
}

// plan returns the id of the n-th plan.
func (w work) plan(n int) string { return opt.PlanID(w.id, n) }

// task returns the id of the m-th task of the n-th plan.
func (w work) task(n, m int) string { return opt.TaskID(w.plan(n), m) }

// run runs a shape to its end.
func (s shape) run(ctx context.Context, r *recorder) ([]string, error) {
	engine := r.usual
	if s.long {
		engine = r.long
	}
	o := opening(s)
	if _, err := engine.Start(ctx, o); err != nil {
		return nil, err
	}
	w := work{r, engine, o.Objective.ID}
	for _, step := range append(s.steps, untilObjective(ended)) {
		if err := step(ctx, w); err != nil {
			return nil, err
		}
	}
	ids := []string{w.id}
	for n := range max(1, len(s.specs)) + s.added {
		ids = append(ids, w.plan(n+1))
	}
	return ids, nil
}

func ended(_ work, o *opt.Objective) bool { return o.Status.Ended() && o.Root.Ended() }

var shapes = []shape{
	{name: "planned", text: "say planned"},
	{name: "gate", specs: plans("approve Go on?; say done"), steps: []step{reply(1, 0, opt.Reply{Action: opt.Accept})}},
	{name: "canceled-working", specs: plans("work 1m", "say never"), steps: []step{waitFor(opt.TaskWorking), cancel}},
	{name: "continued-objective", long: true, specs: plans("approve Go on?; say done"), steps: append(notes(40), reply(1, 0, opt.Reply{Action: opt.Accept}))},
	{name: "edited", added: 1, specs: plans("approve Go on?|say one", "say never", "say two"), steps: []step{
		waitFor(opt.TaskInputRequired), do(opt.Command{Kind: opt.AddTasks, Tasks: plan("", "say more").Tasks}, 1),
		do(opt.Command{Kind: opt.UpdatePlan, Status: string(opt.PlanSkipped)}, 2), do(opt.Command{Kind: opt.CreatePlan, Plan: new(plan("Added", "say added"))}, 0),
		reply(1, 0, opt.Reply{Action: opt.Accept}),
	}},
	{name: "retried-objective", specs: plans("say kept", "fail|say never", "say last"), steps: []step{
		retry(opt.ObjectiveSubmitted), do(opt.Command{Kind: opt.UpdateObjective, Status: string(opt.ObjectiveWorking)}, 0),
	}},
	{name: "reset-reports", specs: plans("approve Go on?; say done"), steps: []step{
		waitFor(opt.TaskInputRequired), reset(1, harness.First), reply(1, 0, opt.Reply{Action: opt.Accept}),
	}},
	{name: "reset-asks", specs: plans("approve Go on?; say done", "say last"), steps: []step{
		waitFor(opt.TaskInputRequired), reset(0, harness.First), reply(1, 0, opt.Reply{Action: opt.Accept}),
	}},
	{name: "result-lost", specs: plans("work 1s; say done"), steps: []step{waitFor(opt.TaskWorking), terminate, planEnds(1), reset(0, last)}},
	{name: "replan-retried", text: "fail", added: 1, specs: append([]opt.PlanSpec{{Name: "Plan 1", Tasks: []opt.TaskSpec{approval}}}, plans("say never")...), steps: []step{
		waitFor(opt.TaskInputRequired), do(opt.Command{Kind: opt.UpdatePlan, Status: string(opt.PlanSkipped)}, 2),
		do(opt.Command{Kind: opt.Replan, Text: "fail"}, 0), retry(opt.ObjectiveSubmitted),
		do(opt.Command{Kind: opt.UpdateObjective, Status: string(opt.ObjectiveWorking)}, 0),
	}},
	{name: "timed-out-marked", specs: []opt.PlanSpec{{Name: "Plan", Tasks: []opt.TaskSpec{{Name: "Task", Description: "work 1m", Timeout: 1, Attempts: 1}}}}},
	{name: "checked-plan", specs: plans("approve Go on?; say done"), steps: []step{
		waitFor(opt.TaskInputRequired), seemsLost(1), reply(1, 0, opt.Reply{Action: opt.Accept}),
	}},
	{name: "reset-over", specs: plans("work 2s; say done", "say last"), steps: []step{
		waitFor(opt.TaskWorking), do(opt.Command{Kind: opt.UpdateObjective, Status: string(opt.ObjectiveBlocked)}, 0), planEnds(1),
		reset(1, harness.First), planEnds(1), do(opt.Command{Kind: opt.UpdateObjective, Status: string(opt.ObjectiveWorking)}, 0),
	}},
	{name: "reset-permitted", specs: plans("approve Go on?; say done|say last"), steps: []step{
		waitFor(opt.TaskInputRequired), reset(1, harness.First), reply(1, 0, opt.Reply{Action: opt.Accept}),
	}},
	{name: "timed", specs: plans("work 1300ms|work 900ms; say done")},
}

// seemsLost has a reconciler say that a plan is gone, which runs.
func seemsLost(n int) step {
	return func(ctx context.Context, w work) error {
		return w.engine.PlanLost(ctx, opt.Objective{ID: w.id, Status: opt.ObjectiveBlocked}, opt.Plan{ID: w.plan(n)})
	}
}

// plans makes a plan of each argument; tasks are separated by "|".
func plans(scripts ...string) []opt.PlanSpec {
	var out []opt.PlanSpec
	for i, s := range scripts {
		out = append(out, plan(fmt.Sprintf("Plan %d", i+1), strings.Split(s, "|")...))
	}
	return out
}

func plan(name string, scripts ...string) opt.PlanSpec {
	p := opt.PlanSpec{Name: name}
	for i, s := range scripts {
		p.Tasks = append(p.Tasks, opt.TaskSpec{Name: fmt.Sprintf("Task %d", i+1), Description: s})
	}
	return p
}

// opening returns the request for a shape. Its id follows from the name.
func opening(sh shape) opt.Opening {
	sum := sha256.Sum256([]byte(sh.name))
	id := opt.NewObjectiveID([16]byte(sum[:16]))
	at := a2a.At(time.Now())
	request := message("m1", sh.text)
	return opt.Opening{
		Objective: opt.Objective{
			ID: id, ContextID: id, Tenant: tenant, Principal: principal, Name: sh.name, Status: opt.ObjectiveSubmitted,
			Root: opt.TaskSubmitted, CreatedAt: at, UpdatedAt: at, Revision: 1, Attempt: 1, MessageID: "m1",
		},
		Message: &request, Plans: sh.specs,
	}
}

func message(id, text string) a2a.Message {
	return a2a.Message{MessageID: id, Role: a2a.RoleUser, Parts: []a2a.Part{a2a.TextPart(text)}}
}

// waitFor waits until the first task is in a state.
func waitFor(state opt.TaskState) step {
	return func(ctx context.Context, w work) error {
		return w.untilTask(ctx, w.task(1, 0), func(v shown.TaskView) bool { return v.State == state })
	}
}

// reply waits for a gate of a task and answers it.
func reply(n, m int, answer opt.Reply) step {
	return func(ctx context.Context, w work) error {
		task := w.task(n, m)
		err := w.untilTask(ctx, task, func(v shown.TaskView) bool {
			if len(v.Gates) > 0 {
				answer.GateID = v.Gates[0].ID
			}
			return len(v.Gates) > 0
		})
		if err != nil {
			return err
		}
		return w.engine.Letter(ctx, opt.Letter{
			ObjectiveID: w.id, PlanID: w.plan(n), TaskID: task, Message: message("reply to "+answer.GateID, "here"), Principal: principal, Reply: &answer,
		})
	}
}

// notes returns steps that send messages to the root task.
func notes(n int) (steps []step) {
	for i := range n {
		steps = append(steps, func(ctx context.Context, w work) error {
			l := opt.Letter{ObjectiveID: w.id, TaskID: w.id, Message: message(fmt.Sprintf("note-%d", i), "note"), Principal: principal}
			err := w.engine.Letter(ctx, l)
			if err != nil {
				return err
			}
			wait := w.untilTrue(ctx, w.id, func() (ok bool) {
				_, ok, err = w.journal.Judgement(ctx, w.id, l.Principal, l.Message.MessageID)
				return ok || err != nil
			})
			return errors.Join(err, wait)
		})
	}
	return steps
}

// cancel cancels the objective.
func cancel(ctx context.Context, w work) error { return w.engine.Cancel(ctx, w.id, principal, "") }

// do sends a command to the objective, about its n-th plan unless n is 0, and waits for the answer.
func do(c opt.Command, n int) step {
	return func(ctx context.Context, w work) error {
		return w.answered(ctx, w.command(c, n), func(c opt.Command) error { return w.engine.Command(ctx, c) })
	}
}

// command returns c with its own id.
func (w work) command(c opt.Command, n int) opt.Command {
	w.commands++
	c.ID, c.ObjectiveID = fmt.Sprintf("command-%d", w.commands), w.id
	if n > 0 {
		c.PlanID = w.plan(n)
	}
	return c
}

// answered sends a command and waits until it is answered. A refusal is an error.
func (w work) answered(ctx context.Context, c opt.Command, send func(opt.Command) error) error {
	if err := send(c); err != nil {
		return err
	}
	var answer opt.CommandAnswer
	var err error
	wait := w.untilTrue(ctx, c.ObjectiveID, func() (ok bool) {
		answer, ok, err = w.journal.Answer(ctx, c.ObjectiveID, c.ID)
		return ok || err != nil
	})
	if answer.Refusal != nil {
		return fmt.Errorf("%s: %w", c.Kind, answer.Refusal)
	}
	return errors.Join(err, wait)
}

// approval is a task of a playbook at which people are asked.
var approval = opt.TaskSpec{Name: "Approve", Ask: &opt.Gate{Kind: opt.Approval, Title: "Go on?", Actions: []opt.Action{opt.Accept, opt.Reject}}}

func last(n int) int { return n - 1 }

// terminate ends the workflow of the objective as an operator does.
func terminate(ctx context.Context, w work) error {
	return w.temporal.TerminateWorkflow(ctx, w.id, "", "recorded")
}

// planEnds waits for the end of the workflow of the n-th plan.
func planEnds(n int) step {
	return func(ctx context.Context, w work) error {
		return w.temporal.GetWorkflow(ctx, w.plan(n), "").Get(ctx, nil)
	}
}

// reset resets the workflow of the n-th plan, or for 0 of the objective, to one of its tasks, and waits until the
// journal shows that.
func reset(n int, which func(n int) int) step {
	return func(ctx context.Context, w work) error {
		workflowID := w.id
		if n > 0 {
			workflowID = w.plan(n)
		}
		if err := w.reset(ctx, workflowID, which); err != nil {
			return err
		}
		return w.untilTask(ctx, w.id, func(v shown.TaskView) bool { return v.Rewound })
	}
}

// retry waits for the end of an objective and begins a new attempt at it.
func retry(to opt.ObjectiveStatus) step {
	return func(ctx context.Context, w work) error {
		if err := w.untilObjective(ctx, w.id, func(o *opt.Objective) bool { return o.Settled() }); err != nil {
			return err
		}
		o, err := w.journal.Objective(ctx, tenant, w.id)
		if err != nil {
			return err
		}
		if err := w.rememberEnd(ctx, w.id); err != nil {
			return err
		}
		for _, p := range o.Plans {
			if p.Status != opt.PlanCompleted && p.Status != opt.PlanSkipped {
				if err := w.rememberEnd(ctx, p.ID); err != nil {
					return err
				}
			}
		}
		head := *o
		head.Plans = nil
		c := w.command(opt.Command{Kind: opt.UpdateObjective, Status: string(to)}, 0)
		return w.answered(ctx, c, func(c opt.Command) error { return w.engine.Retry(ctx, head, c) })
	}
}

// untilObjective waits until the objective is as is says.
func untilObjective(is func(w work, o *opt.Objective) bool) step {
	return func(ctx context.Context, w work) error {
		return w.untilObjective(ctx, w.id, func(o *opt.Objective) bool { return is(w, o) })
	}
}
