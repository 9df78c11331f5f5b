package api_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"longhaul/a2a"
	"longhaul/api/service"
	"longhaul/opt"
)

// An engine plays the part of the workflows at once: what an objective does
// follows from the first word of its message. Under "quiet" nothing happens
// before the test says so.
type engine struct {
	journal *memory

	mu       sync.Mutex
	down     error // of every call
	deaf     bool  // letters are taken in and nobody reads them
	ended    bool  // what was started has ended
	starts   []opt.Opening
	letters  []opt.Letter
	canceled []string
	entered  []string
	changes  []string                              // kinds of them, see change
	seen     []int64                               // the revisions that came with them
	troubles []func(*engine, *opt.Objective) error // of the next changes, in place of them
}

func (e *engine) enter(ctx context.Context) (func(), error) {
	e.mu.Lock()
	if e.down != nil {
		e.mu.Unlock()
		return nil, e.down
	}
	return e.mu.Unlock, ctx.Err()
}

func (e *engine) Ready(context.Context) error { return e.down }

func (e *engine) Start(ctx context.Context, o opt.Opening) (opt.Opening, error) {
	leave, err := e.enter(ctx)
	if err != nil {
		return o, err
	}
	defer leave()
	for _, earlier := range e.starts {
		switch {
		case earlier.Objective.ID != o.Objective.ID:
		case earlier.Objective.Digest != o.Objective.Digest:
			return o, fmt.Errorf("start: %w", opt.ErrConflict)
		case e.ended:
			return o, fmt.Errorf("start: %w", opt.ErrEnded)
		default:
			return earlier, nil
		}
	}
	e.starts = append(e.starts, o)
	if !o.Idle && o.Message != nil && o.Objective.QueuedAt.IsZero() {
		e.journal.play(o.Objective.ID, o.Event())
		e.run(o.Objective.ID, o.Objective.ContextID, o.Message.Text(), o.Plans)
	}
	return o, nil
}

// run does what the text says.
func (e *engine) run(id, contextID, text string, specs []opt.PlanSpec) {
	word, _, _ := strings.Cut(text, " ")
	if word == "quiet" {
		return
	}
	if specs == nil {
		specs = []opt.PlanSpec{{Name: "The plan", Tasks: []opt.TaskSpec{{Name: "First"}, {Name: "Second"}}}}
	}
	plan, err := opt.NewPlan(id, 0, specs[0], nil, []string{opt.PlanID(id, 0), opt.PlanID(id, 1)}, a2a.At(start))
	if err != nil {
		panic(err)
	}
	first, second := opt.TaskID(plan.ID, 0), opt.TaskID(plan.ID, 1)
	e.journal.play(id,
		opt.Event{Kind: opt.PlanAdded, PlanID: plan.ID, Plan: plan},
		opt.Event{Kind: opt.ObjectiveMoved, To: "working"},
		opt.Event{Kind: opt.PlanMoved, PlanID: plan.ID, To: "working"},
		opt.Event{Kind: opt.TaskMoved, PlanID: plan.ID, TaskID: first, To: "working", Attempt: 1},
		opt.Event{Kind: opt.TaskMoved, TaskID: id, To: "working"},
	)
	switch word {
	case "slow":
	case "fail":
		e.journal.play(id, opt.Event{Kind: opt.TaskMoved, TaskID: id, To: "failed", Status: &a2a.Message{
			MessageID: id + ":status", Role: a2a.RoleAgent, Parts: []a2a.Part{a2a.TextPart("It did not work.")},
		}})
	case "approve", "clarify", "auth":
		e.wait(id, contextID, first, word)
	case "two":
		e.wait(id, contextID, first, "approve")
		e.journal.play(id, opt.Event{Kind: opt.TaskMoved, PlanID: plan.ID, TaskID: second, To: "input-required", Gate: approval(second)})
	default:
		e.finish(id, first)
	}
}

// wait opens a gate at a task, and shows it at the root task.
func (e *engine) wait(id, contextID, taskID, word string) {
	gate := approval(taskID)
	switch word {
	case "clarify":
		gate.Kind, gate.Title, gate.Actions = opt.Clarification, "", nil
		gate.Questions = []opt.Question{{ID: "audience", Question: "For whom?"}}
	case "auth":
		gate.Kind, gate.Title, gate.Actions = opt.Credential, "Sign in at https://example.com/auth", nil
	}
	ref, _ := opt.ParseID(taskID)
	e.journal.play(id,
		opt.Event{Kind: opt.TaskMoved, PlanID: ref.PlanID, TaskID: taskID, To: string(gate.State()), Gate: gate, Status: gate.Message(contextID, taskID)},
		opt.Event{Kind: opt.TaskMoved, TaskID: id, To: string(gate.State()), Gate: gate, Status: gate.Message(contextID, id)},
	)
}

func approval(taskID string) *opt.Gate {
	return &opt.Gate{
		Kind: opt.Approval, ID: opt.GateID(taskID, 1), TaskID: taskID, Title: "Publish?",
		Actions: []opt.Action{opt.Accept, opt.Reject, opt.Refine}, RequestedAt: a2a.At(start),
	}
}

func (e *engine) finish(id, taskID string) {
	ref, _ := opt.ParseID(taskID)
	chunk := func(text string) *opt.Chunk {
		return &opt.Chunk{Artifact: a2a.Artifact{ArtifactID: "post", Name: "Post", Parts: []a2a.Part{a2a.TextPart(text)}}}
	}
	one, two := chunk("Durable "), chunk("agents.")
	two.Append, two.Last = true, true
	e.journal.play(id,
		opt.Event{Kind: opt.ArtifactAdded, PlanID: ref.PlanID, TaskID: taskID, RootID: id, Chunk: one},
		opt.Event{Kind: opt.ArtifactAdded, PlanID: ref.PlanID, TaskID: taskID, RootID: id, Chunk: two},
		opt.Event{Kind: opt.TaskMoved, PlanID: ref.PlanID, TaskID: taskID, To: "completed"},
		opt.Event{Kind: opt.PlanMoved, PlanID: ref.PlanID, To: "completed"},
		opt.Event{Kind: opt.ObjectiveMoved, To: "completed"},
		opt.Event{Kind: opt.TaskMoved, TaskID: id, To: "completed"},
	)
}

// Tell judges a letter, as the first valid decision wins.
func (e *engine) Tell(ctx context.Context, l opt.Letter) error {
	leave, err := e.enter(ctx)
	if err != nil {
		return err
	}
	defer leave()
	e.letters = append(e.letters, l)
	if !e.deaf {
		e.judge(l)
	}
	return nil
}

func (e *engine) judge(l opt.Letter) {
	id := l.ObjectiveID
	root, err := e.journal.Task(context.Background(), e.journal.objectives[id].Tenant, id, opt.TaskWant{})
	if err != nil {
		panic(err)
	}
	heard := opt.Event{Kind: opt.MessageAdded, PlanID: l.PlanID, TaskID: l.TaskID, ForTask: l.ForTask,
		Message: &l.Message, Principal: l.Principal, Reply: l.Reply, Verdict: opt.Noted}
	if l.Reply == nil {
		e.journal.play(id, heard)
		if root.State == opt.TaskSubmitted {
			e.run(id, root.Task.ContextID, l.Message.Text(), nil)
		}
		return
	}
	heard.Verdict = opt.NotWaiting
	for _, g := range root.Gates {
		if g.ID == l.Reply.GateID {
			heard.Verdict = opt.Accepted
		}
	}
	e.journal.play(id, heard)
	if heard.Verdict != opt.Accepted {
		return
	}
	taskID := l.TaskID
	if l.ForTask != "" {
		taskID = l.ForTask
	}
	e.journal.play(id, opt.Event{Kind: opt.TaskMoved, PlanID: l.PlanID, TaskID: taskID, To: "working"})
	switch {
	case len(root.Gates) > 1: // the other one is still open, and shows now
		i := slices.IndexFunc(root.Gates, func(g *opt.Gate) bool { return g.ID != l.Reply.GateID })
		g := root.Gates[i]
		e.journal.play(id, opt.Event{Kind: opt.TaskMoved, TaskID: id, To: string(g.State()), Gate: g, Status: g.Message(root.Task.ContextID, id)})
	case l.Reply.Action == opt.Reject:
		e.journal.play(id,
			opt.Event{Kind: opt.TaskMoved, PlanID: l.PlanID, TaskID: taskID, To: "failed", Reason: "approval_rejected"},
			opt.Event{Kind: opt.TaskMoved, TaskID: id, To: "failed"})
	default:
		e.journal.play(id, opt.Event{Kind: opt.TaskMoved, TaskID: id, To: "working"})
		e.finish(id, taskID)
	}
}

func (e *engine) Cancel(ctx context.Context, taskID, _ string) error {
	leave, err := e.enter(ctx)
	if err != nil {
		return err
	}
	defer leave()
	e.canceled = append(e.canceled, taskID)
	if !e.deaf {
		ref, _ := opt.ParseID(taskID)
		e.journal.play(ref.ObjectiveID, opt.Event{Kind: opt.TaskMoved, TaskID: taskID, To: "canceled"})
	}
	return nil
}

func (e *engine) AddPlan(ctx context.Context, objectiveID string, spec opt.PlanSpec, begin bool, seen int64) (plan *opt.Plan, err error) {
	err = e.change(ctx, "plan added", objectiveID, seen, func(o *opt.Objective) error {
		made, err := opt.NewPlan(objectiveID, len(o.Plans), spec, o.Plans, nil, a2a.At(start))
		if err != nil {
			return err
		}
		plan = new(opt.Plan)
		*plan = *made
		e.journal.play(objectiveID, opt.Event{Kind: opt.PlanAdded, PlanID: made.ID, Plan: made})
		if begin && !o.Started {
			e.moveObjective(o, opt.ObjectiveWorking, "")
		}
		return nil
	})
	return plan, err
}

// An oracle answers greetings itself.
type oracle struct{}

func (oracle) Decide(_ context.Context, m a2a.Message) (service.Decision, error) {
	switch {
	case strings.HasPrefix(m.Text(), "hello"):
		return service.Decision{Answer: &a2a.Message{Parts: []a2a.Part{a2a.TextPart("Hello.")}}}, nil
	case strings.HasPrefix(m.Text(), "panic"):
		panic("the oracle is out")
	case strings.HasPrefix(m.Text(), "playbook"):
		return service.Decision{Planner: "playbook", Reason: "it said so", Plans: []opt.PlanSpec{{Name: "Known", Tasks: []opt.TaskSpec{{Name: "Only"}}}}}, nil
	}
	return service.Decision{}, nil
}
