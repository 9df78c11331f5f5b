package main

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"strings"
	"time"

	"longhaul/a2a"
	"longhaul/opt"
	"longhaul/opt/shown"
	"longhaul/opt/worktime"
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
	idle  bool
	long  bool
	hasty bool
	added int // plans added meanwhile
	steps []step

	limits opt.Limits // of the objective
	budget string     // of its request
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
	switch {
	case s.long:
		engine = r.long
	case s.hasty:
		engine = r.hasty
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
	for n := range s.plans() {
		ids = append(ids, w.plan(n+1))
	}
	return ids, nil
}

func ended(_ work, o *opt.Objective) bool { return o.Status.Ended() && o.Root.Ended() }

func (s shape) plans() int {
	if s.specs == nil && !s.idle {
		return 1
	}
	return len(s.specs) + s.added
}

var shapes = []shape{
	{name: "plain", specs: plans("say one|say two|say three")},
	{name: "planned", text: "say planned"},
	{name: "two-plans", specs: plans("say one", "say two")},
	{name: "dag", specs: []opt.PlanSpec{diamond()}},
	{name: "mixed", specs: mixed()},
	{name: "plan-dag", specs: []opt.PlanSpec{plan("A", "say a"), plan("B", "say b"), after(plan("C", "say c"), "plan-0", "plan-1")}},
	{name: "gate", specs: plans("approve Go on?; say done"), steps: []step{reply(1, 0, opt.Reply{Action: opt.Accept})}},
	{name: "gate-after-stream", specs: plans("stream 2 1ms; approve Go on?; pass|say next"), steps: []step{reply(1, 0, opt.Reply{Action: opt.Accept})}},
	{name: "rejected", specs: plans("approve Go on?|say never"), steps: []step{reply(1, 0, opt.Reply{Action: opt.Reject})}},
	{name: "human", specs: []opt.PlanSpec{human()}, steps: []step{reply(1, 0, opt.Reply{Answers: []opt.Answer{{ID: "q1", Answer: []byte(`"blue"`)}}})}},
	{name: heldShape, specs: []opt.PlanSpec{human()}, limits: opt.Limits{CountsQuestions: true}, steps: []step{reply(1, 0, opt.Reply{Answers: []opt.Answer{{ID: "q1", Answer: []byte(`"blue"`)}}})}},
	{name: "failed", specs: plans("say one|fail|say never", "say never")},
	{name: "retried", specs: plans("fail 1; say at last")},
	{name: "excepted", specs: []opt.PlanSpec{excepted()}},
	{name: "uses", specs: []opt.PlanSpec{uses()}},
	{name: "forked", specs: []opt.PlanSpec{forked()}},
	{name: "canceled-working", specs: plans("work 1m", "say never"), steps: []step{waitFor(opt.TaskWorking), cancel}},
	{name: "canceled-waiting", specs: plans("approve Go on?"), steps: []step{waitFor(opt.TaskInputRequired), cancel}},
	{name: "canceled-task", specs: plans("work 1m|say never"), steps: []step{waitFor(opt.TaskWorking), cancelTask}},
	{name: "idle", idle: true, added: 2, steps: []step{addPlan("say one", false), addPlan("say two", true)}},
	{name: "idle-message", idle: true, added: 1, steps: []step{note("say hello")}},
	{name: "expired", idle: true, hasty: true, added: 1, steps: []step{addPlan("say never", false)}},
	{name: "idle-started", idle: true, hasty: true, added: 1, steps: []step{note("say hello")}},
	{name: "note", specs: plans("approve Go on?|say done"), steps: []step{waitFor(opt.TaskInputRequired), note("by the way"), reply(1, 0, opt.Reply{Action: opt.Accept})}},
	{name: "ladder", specs: asked(opt.Gate{Ladder: []opt.Step{
		{Kind: opt.Remind, After: 1}, {Kind: opt.Escalate, After: 2, To: &opt.Responders{Groups: []string{"leads"}}}, {Kind: opt.Expire, After: 3},
	}})},
	{name: "ladder-answered", specs: asked(opt.Gate{Ladder: []opt.Step{{Kind: opt.Remind, After: 1}, {Kind: opt.Expire, After: 600}}}), steps: []step{
		reminded(1, 1), reply(1, 1, opt.Reply{Action: opt.Accept}),
	}},
	{name: "ladder-accepted", specs: asked(opt.Gate{Ladder: []opt.Step{
		{Kind: opt.Reassign, After: 1, To: &opt.Responders{Principals: []string{"other"}}}, {Kind: opt.Expire, After: 2, Action: opt.Accept},
	}})},
	{name: "calendar", specs: asked(opt.Gate{Calendar: always(), Ladder: []opt.Step{
		{Kind: opt.Remind, After: 1, Works: true}, {Kind: opt.Expire, After: 2, Works: true, Action: opt.Accept},
	}})},
	{name: "calendar-reassigned", specs: asked(opt.Gate{Calendar: always(), Ladder: []opt.Step{
		{Kind: opt.Reassign, After: 1, Works: true, To: &opt.Responders{Principals: []string{"other"}}},
		{Kind: opt.Expire, After: 2, Works: true, Calendar: always(), Action: opt.Accept},
	}})},
	{name: "reported", specs: asked(opt.Gate{}), steps: []step{reply(1, 1, opt.Reply{Action: opt.Accept})}},
	{name: "reported-first", specs: []opt.PlanSpec{human()}, steps: []step{reply(1, 0, opt.Reply{Answers: []opt.Answer{{ID: "q1", Answer: []byte(`"blue"`)}}})}},
	{name: "gate-limit", limits: opt.Limits{GateTimeout: 1}, specs: plans("approve Go on?; say never")},
	{name: "worker-limit", limits: opt.Limits{WorkerTimeout: 10}, text: "say planned"},
	{name: "refined", specs: asked(opt.Gate{}), steps: []step{
		reply(1, 1, opt.Reply{Action: opt.Refine, Refine: &opt.Refinement{Scope: "whole", Text: "shorter"}}), replyAgain(1, 1, 2, opt.Reply{Action: opt.Accept}),
	}},
	{name: "edit-accepted", specs: asked(opt.Gate{}), steps: []step{
		reply(1, 1, opt.Reply{Action: opt.EditAccept, Edited: []a2a.Part{a2a.TextPart("better")}}),
	}},
	{name: "patient", specs: plans("approve Go on?; say done", "say after"), steps: []step{reply(1, 0, opt.Reply{Action: opt.Accept})}},
	{name: "end-completed", specs: plans("say done", "say after")},
	{name: "end-failed", specs: plans("fail|say never", "say never")},
	{name: "end-canceled", specs: plans("work 1m|say never"), steps: []step{waitFor(opt.TaskWorking), cancelFor("It is not needed.")}},
	{name: "first-rides", specs: plans("say one|approve Go on?"), steps: []step{reply(1, 1, opt.Reply{Action: opt.Accept})}},
	{name: "checked", specs: checked("accept", 0)},
	{name: "checked-refined", specs: checked("reject", 1), steps: []step{reply(1, 2, opt.Reply{Action: opt.Accept})}},
	{name: "standing", specs: standing("decided")},
	{name: "standing-asked", specs: standing("asked"), steps: []step{reply(1, 1, opt.Reply{Action: opt.Accept})}},
	{name: "kept-decision", specs: kept(opt.Gate{}, "bob")},
	{name: "kept-decision-asked", specs: kept(opt.Gate{Responders: &opt.Responders{Principals: []string{principal}}}, "bob"), steps: []step{reply(1, 1, opt.Reply{Action: opt.Accept})}},
	{name: "budget", budget: `{"questions":0}`, specs: plans("approve Go on?|say done"), steps: []step{raise(1, 0), reply(1, 0, opt.Reply{Action: opt.Accept})}},
	{name: "playbook-budget", specs: ofPlaybook(opt.Budget{SpendLimit: opt.SpendLimit{Questions: 1}, Most: opt.SpendLimit{Questions: 2}}), steps: []step{raise(1, 0), reply(1, 0, opt.Reply{Action: opt.Accept})}},
	{name: "shared-budget", budget: `{"questions":0}`, specs: together("approve Go on?", "work 3s|approve Go on, too?"), steps: []step{
		raise(1, 0), raise(2, 1), reply(1, 0, opt.Reply{Action: opt.Accept}), reply(2, 1, opt.Reply{Action: opt.Accept}),
	}},
	{name: "canceled-reason", specs: plans("work 1m|say never", "say never"), steps: []step{waitFor(opt.TaskWorking), cancelFor("It is not needed.")}},
	{name: "continued", long: true, specs: plans(strings.TrimSuffix(strings.Repeat("say on|", 45), "|"), "approve Last?"), steps: []step{reply(2, 0, opt.Reply{Action: opt.Accept})}},
	{name: "continued-objective", long: true, specs: plans("approve Go on?; say done"), steps: append(notes(40), reply(1, 0, opt.Reply{Action: opt.Accept}))},
}

// plans makes a plan of each argument; tasks are separated by "|".
func plans(scripts ...string) []opt.PlanSpec {
	var out []opt.PlanSpec
	for i, s := range scripts {
		out = append(out, plan(fmt.Sprintf("Plan %d", i+1), strings.Split(s, "|")...))
	}
	return out
}

// together returns plans that follow none.
func together(scripts ...string) []opt.PlanSpec {
	list := plans(scripts...)
	for i := range list {
		list[i].Dependencies = []string{}
	}
	return list
}

func plan(name string, scripts ...string) opt.PlanSpec {
	p := opt.PlanSpec{Name: name}
	for i, s := range scripts {
		p.Tasks = append(p.Tasks, opt.TaskSpec{Name: fmt.Sprintf("Task %d", i+1), Description: s})
	}
	return p
}

func after(p opt.PlanSpec, dependencies ...string) opt.PlanSpec {
	p.Dependencies = dependencies
	return p
}

// mixed returns plans of which some follow the list, with tasks of which some do.
func mixed() []opt.PlanSpec {
	list := plan("Mixed", "work 1s; say one", "say two", "say after one", "say at once", "say after that")
	list.Tasks[2].Dependencies, list.Tasks[3].Dependencies = []string{"task-0"}, []string{}
	beside := plan("Beside", "say beside")
	beside.Dependencies = []string{}
	return []opt.PlanSpec{list, plan("Next", "say next"), beside, after(plan("Last", "say last"), "plan-0"), plan("End", "say end")}
}

func diamond() opt.PlanSpec {
	p := plan("Diamond", "say top", "say left", "say right", "say bottom")
	p.Tasks[1].Dependencies = []string{"task-0"}
	p.Tasks[2].Dependencies = []string{"task-0"}
	p.Tasks[3].Dependencies = []string{"task-1", "task-2"}
	return p
}

func excepted() opt.PlanSpec {
	p := plan("Exceptions", "fail 1 busy; say at last", "fail 1 busy")
	for i := range p.Tasks {
		p.Tasks[i].Attempts, p.Tasks[i].Retry.Wait = 2, 2
	}
	p.Tasks[1].Retry.Except = []string{"busy"}
	return p
}

func uses() opt.PlanSpec {
	p := plan("Results", "say one", "say two", "x")
	p.Tasks[2].Description, p.Tasks[2].Uses = "", []string{"task-0"}
	p.Tasks[2].Input = []byte(`{"longhaul/v1/text":["It was ",{"results":"task-0"}]}`)
	return p
}

// forked returns a plan of a fork, whose first task was taken over.
func forked() opt.PlanSpec {
	p := uses()
	p.Tasks[0].Taken = &opt.Taken{TaskID: "task-of-the-original", Digest: "sha256:0", Artifacts: []a2a.Artifact{{ArtifactID: "1-0-out", Parts: []a2a.Part{a2a.TextPart("taken")}}}}
	return p
}

func human() opt.PlanSpec {
	p := plan("People", "say after")
	ask := opt.TaskSpec{Name: "Ask", Ask: &opt.Gate{Kind: opt.Clarification, Questions: []opt.Question{{ID: "q1", Question: "Which color?"}}}}
	p.Tasks = append([]opt.TaskSpec{ask}, p.Tasks...)
	return p
}

// always returns a calendar of people who always work.
func always() *worktime.Calendar {
	c := &worktime.Calendar{Name: "always", Offsets: []worktime.Offset{{}}}
	for day := range 7 {
		c.Week = append(c.Week, worktime.Interval{Day: day, To: 24 * 60})
	}
	return c
}

// asked returns a plan with an approval of the result before it, which is like g, and
// a task after it.
func asked(g opt.Gate) []opt.PlanSpec {
	p := plan("Object", "say outline", "", "pass")
	g.Kind, g.Title = opt.Approval, "Good?"
	g.Actions, g.Form = []opt.Action{opt.Accept, opt.Reject, opt.Refine, opt.EditAccept}, &opt.GateForm{Object: []string{"task-0"}}
	p.Tasks[1].Ask = &g
	return []opt.PlanSpec{p}
}

// checked returns a plan whose approval asks people only if a check does not give the verdict, or
// rejects again after some rounds.
func checked(verdict string, rounds int) []opt.PlanSpec {
	p := plan("Checked", "say outline", `say {"verdict": "`+verdict+`", "reason": "so"}`, "", "pass")
	p.Tasks[1].Check, p.Tasks[1].Dependencies = true, []string{"task-0"}
	p.Tasks[2].Dependencies = []string{"task-0", "task-1"}
	p.Tasks[2].Ask = &opt.Gate{
		Kind: opt.Approval, Title: "Good?", Actions: []opt.Action{opt.Accept, opt.Reject, opt.Refine},
		Form: &opt.GateForm{Object: []string{"task-0"}, Checks: &opt.Checks{Groups: []opt.CheckGroup{{Tasks: []string{"task-1"}, Need: 1}}, Rounds: rounds}},
	}
	return []opt.PlanSpec{p}
}

// standing returns a plan with an approval about which a standing decision decides if its gates have the
// name "decided".
func standing(gates string) []opt.PlanSpec {
	specs := asked(opt.Gate{})
	specs[0].Tasks[1].Standing = gates
	return specs
}

// kept returns a plan of a fork, with an approval like g whose object a principal has accepted in the original.
func kept(g opt.Gate, by string) []opt.PlanSpec {
	g.Keep = true
	specs := asked(g)
	then := *specs[0].Tasks[1].Ask
	then.Object = []a2a.Part{a2a.TextPart("outline")}
	of := opt.NewObjectiveID([16]byte{1})
	at := opt.TaskID(opt.PlanID(of, 1), 1)
	specs[0].Tasks[1].Earlier = []opt.Original{{
		ObjectiveID: of, TaskID: at, ObjectDigest: then.Digest(), Action: opt.Accept, DecidedBy: by, GateID: opt.GateID(at, 1),
		By: []opt.Vote{{Action: opt.Accept, DecidedBy: by}}, Terms: then.Terms(), Head: &opt.ChainHead{PlanID: opt.PlanID(of, 1), Attempt: 1, Chain: opt.Chain{N: 1, Hash: "sha256:1"}},
	}}
	return specs
}

// ofPlaybook returns a plan under the budget of a playbook.
func ofPlaybook(b opt.Budget) []opt.PlanSpec {
	list := plans("approve Go on?|say done")
	list[0].Budget = &b
	return list
}

// opening returns the request for a shape. Its id follows from the name.
func opening(sh shape) opt.Opening {
	sum := sha256.Sum256([]byte(sh.name))
	id := opt.NewObjectiveID([16]byte(sum[:16]))
	at := a2a.At(time.Now())
	request := message("m1", sh.text)
	if sh.budget != "" {
		request.Metadata = a2a.Metadata{a2a.ExtensionBudget: []byte(sh.budget)}
	}
	o := opt.Opening{
		Objective: opt.Objective{
			ID: id, ContextID: id, Tenant: tenant, Principal: principal, Name: sh.name, Status: opt.ObjectiveSubmitted,
			Root: opt.TaskSubmitted, CreatedAt: at, UpdatedAt: at, Revision: 1, Attempt: 1, MessageID: "m1",
		},
		Plans: sh.specs, Idle: sh.idle,
	}
	o.Objective.Limits = sh.limits
	if !sh.idle {
		o.Message = &request
	}
	return o
}

func message(id, text string) a2a.Message {
	return a2a.Message{MessageID: id, Role: a2a.RoleUser, Parts: []a2a.Part{a2a.TextPart(text)}}
}

func waitFor(state opt.TaskState) step { return inState(1, 0, state) }

func inState(n, m int, state opt.TaskState) step {
	return untilTask(n, m, func(_ string, v shown.TaskView) bool { return v.State == state })
}

// reminded waits until the gate of a task has taken a step.
func reminded(n, m int) step {
	return untilTask(n, m, func(_ string, v shown.TaskView) bool { return len(v.Gates) > 0 && v.Gates[0].Taken > 0 })
}

// untilTask waits until the journal shows that a task is as is says, which gets its id, too.
func untilTask(n, m int, is func(id string, v shown.TaskView) bool) step {
	return func(ctx context.Context, w work) error {
		id := w.task(n, m)
		return w.untilTask(ctx, id, func(v shown.TaskView) bool { return is(id, v) })
	}
}

// reply waits for the gate of a task and answers it.
func reply(n, m int, answer opt.Reply) step { return replyAgain(n, m, 1, answer) }

// replyAgain is reply for the gate of a task with a number.
func replyAgain(n, m, gate int, answer opt.Reply) step {
	return func(ctx context.Context, w work) error {
		task := w.task(n, m)
		answer.GateID = opt.GateID(task, gate)
		if err := w.untilTask(ctx, task, func(v shown.TaskView) bool { return len(v.Gates) > 0 && v.Gates[0].ID == answer.GateID }); err != nil {
			return err
		}
		text := "reply"
		if gate > 1 {
			text = fmt.Sprintf("reply-%d", gate)
		}
		return w.engine.Letter(ctx, opt.Letter{
			ObjectiveID: w.id, PlanID: w.plan(n), TaskID: task, Message: message(text, "here"), Principal: principal, Reply: &answer,
		})
	}
}

// raise waits for the gate about the budget at a task, and accepts.
func raise(n, m int) step {
	return func(ctx context.Context, w work) error {
		task, answer := w.task(n, m), opt.Reply{Action: opt.Accept}
		err := w.untilTask(ctx, task, func(v shown.TaskView) bool {
			if len(v.Gates) > 0 && v.Gates[0].Budget {
				answer.GateID = v.Gates[0].ID
			}
			return answer.GateID != ""
		})
		if err != nil {
			return err
		}
		return w.engine.Letter(ctx, opt.Letter{
			ObjectiveID: w.id, PlanID: w.plan(n), TaskID: task, Message: message("raise", "more"), Principal: principal, Reply: &answer,
		})
	}
}

func note(text string) step { return send(message("note-0", text), true) }

// notes returns steps that send messages to the root task.
func notes(n int) (steps []step) {
	for i := range n {
		steps = append(steps, send(message(fmt.Sprintf("note-%d", i), "note"), false))
	}
	return steps
}

// send sends a message to the root task, which begins work or not.
func send(m a2a.Message, begins bool) step {
	return func(ctx context.Context, w work) error {
		return w.judged(ctx, opt.Letter{ObjectiveID: w.id, TaskID: w.id, Message: m, Principal: principal, Begins: begins})
	}
}

// noteBy sends a note of a principal to a task.
func noteBy(by string, n, m int) step {
	return func(ctx context.Context, w work) error {
		return w.judged(ctx, opt.Letter{ObjectiveID: w.id, PlanID: w.plan(n), TaskID: w.task(n, m), Message: message("note-by-"+by, "note"), Principal: by})
	}
}

// judged sends a letter and waits until the journal has the verdict on it.
func (w work) judged(ctx context.Context, l opt.Letter) error {
	err := w.engine.Letter(ctx, l)
	if err != nil {
		return err
	}
	wait := w.untilTrue(ctx, w.id, func() (ok bool) {
		_, ok, err = w.journal.Judgement(ctx, w.id, l.Principal, l.Message.MessageID)
		return ok || err != nil
	})
	return errors.Join(err, wait)
}

func cancel(ctx context.Context, w work) error { return cancelFor("")(ctx, w) }

// cancelFor cancels the objective for a reason.
func cancelFor(reason string) step {
	return func(ctx context.Context, w work) error { return w.engine.Cancel(ctx, w.id, principal, reason) }
}

var cancelTask = do(opt.Command{Kind: opt.CancelTask}, 1, 0)

func addPlan(script string, start bool) step {
	added := plan("Added", strings.Split(script, "|")...)
	return do(opt.Command{Kind: opt.CreatePlan, Plan: &added, Start: start}, 0, 0)
}
