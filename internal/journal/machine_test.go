package journal_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"longhaul/a2a"
	"longhaul/internal/journal"
	"longhaul/opt"
	"longhaul/opt/machine"
)

// A world runs the machines of an objective and its plans without Temporal, and
// records their events.
type world struct {
	t         *testing.T
	j         *journal.Journal
	random    *rand.Rand
	now       int64
	commands  int
	id        string
	objective *machine.Objective
	numbers   map[string]int64         // of the latest events that were recorded, by source
	plans     map[string]*machine.Plan // the latest attempt at each that has begun
	open      map[string]bool          // plans whose workflow runs
}

// TestMachines makes random changes to objectives. The rows must be equal to the
// states of the machines, since clients see the rows and workflows use the
// states.
func TestMachines(t *testing.T) {
	t.Parallel()
	t.Run("memory", func(t *testing.T) {
		j := openFile(t, "")
		happened := map[opt.EventKind]int{}
		for seed := range uint64(24) {
			w := newWorld(t, j, seed)
			for n := 0; n < 80 && w.objective.State.Objective.Status != opt.ObjectiveCompleted; n++ {
				w.step()
				if n%4 == 0 {
					w.check(fmt.Sprint("seed ", seed))
				}
			}
			if w.check(fmt.Sprint("seed ", seed, " in the end")); t.Failed() {
				return
			}
			events, err := j.Events(t.Context(), w.id, 0, 0)
			if err != nil {
				t.Fatal(err)
			}
			for _, e := range events {
				happened[e.Event.Kind]++
			}
		}
		for _, kind := range []opt.EventKind{
			opt.ObjectivePaused, opt.ObjectiveResumed, opt.ObjectiveRetried, opt.PlanChanged, opt.PlanRetried, opt.PlanStarted, opt.PlanPaused,
			opt.PlanResumed, opt.PlanStopping, opt.TasksAdded, opt.TaskLinked, opt.TaskTried, opt.ArtifactAdded, opt.ExchangeAdded, opt.CommandAnswered,
		} {
			if happened[kind] == 0 {
				t.Errorf("no %s has happened", kind)
			}
		}
	})
}

func newWorld(t *testing.T, j *journal.Journal, seed uint64) *world {
	o := newObjective()
	m := userMessage(o.MessageID, "Ship it, please")
	o.Digest = m.Digest()
	opening := opt.Opening{Objective: o, Message: &m}
	for p := range 1 + seed%3 {
		spec := opt.PlanSpec{Name: fmt.Sprint("Plan ", p)}
		for n := range 2 + seed%3 {
			task := opt.TaskSpec{Name: fmt.Sprint("Task ", n)}
			if n == 2 {
				task.Ask = &opt.Gate{Kind: opt.Approval, Title: "Sure?", Actions: []opt.Action{opt.Accept, opt.Reject}}
			}
			if n > 0 && seed%2 == 0 {
				task.Dependencies = []string{"task-0"}
			}
			spec.Tasks = append(spec.Tasks, task)
		}
		opening.Plans = append(opening.Plans, spec)
	}
	w := &world{
		t: t, j: j, random: rand.New(rand.NewPCG(seed, 0)), id: o.ID,
		objective: machine.NewObjective(opening, 0, machine.Rules), plans: map[string]*machine.Plan{}, open: map[string]bool{},
		numbers: map[string]int64{},
	}
	w.decide(machine.Opened{})
	return w
}

// record records events of a source.
func (w *world) record(source string, events []opt.Event) {
	w.t.Helper()
	if len(events) == 0 {
		return
	}
	b := opt.Batch{ObjectiveID: w.id, Source: source, Events: events}
	if err := w.j.Record(w.t.Context(), b); err != nil {
		w.t.Fatal(err)
	}
	w.numbers[source] = max(w.numbers[source], b.Last())
}

// decide gives one input to the objective.
func (w *world) decide(in machine.Input) {
	w.t.Helper()
	w.now++
	w.record(w.id, w.objective.Handle(at(w.now), in))
	w.record(w.id, w.objective.Handle(at(w.now), machine.Begin{}))
}

// decidePlan gives an input to a plan.
func (w *world) decidePlan(id string, in machine.Input) {
	w.t.Helper()
	w.now++
	p := w.plans[id]
	w.record(p.State.Source(), p.Handle(at(w.now), in))
	w.record(p.State.Source(), p.Handle(at(w.now), machine.Begin{}))
}

// step makes one random change: something that the machines want, or a client's
// request.
func (w *world) step() {
	steps := w.objectiveSteps()
	for _, id := range slices.Sorted(maps.Keys(w.open)) {
		steps = append(steps, w.planSteps(id)...)
	}
	if len(steps) == 0 || w.random.IntN(4) == 0 {
		w.client()
		return
	}
	steps[w.random.IntN(len(steps))]()
}

func (w *world) objectiveSteps() (steps []func()) {
	wants := w.objective.Wants()
	for _, a := range wants.Activities {
		steps = append(steps, func() {
			if a.Kind == machine.MakePlans {
				w.decide(machine.Made{Key: a.Key, Planner: "rules", Plans: []opt.PlanSpec{{Name: "Anew", Tasks: []opt.TaskSpec{{Name: "Task"}}}}})
				return
			}
			w.decide(machine.Loaded{Key: a.Key, Kept: w.kept()})
		})
	}
	for _, c := range wants.Children {
		steps = append(steps, func() {
			w.plans[c.PlanID] = &machine.Plan{State: w.objective.State.ChildState(c.PlanID)}
			w.open[c.PlanID] = true
			w.decide(machine.ChildStarted{PlanID: c.PlanID, Attempt: c.Attempt, N: c.N})
			w.decidePlan(c.PlanID, machine.Opened{})
		})
	}
	for _, s := range wants.Signals {
		steps = append(steps, func() {
			if w.open[s.To] {
				w.decidePlan(s.To, w.objective.State.Message(s.To))
			}
			w.decide(machine.Delivered{To: s.To, N: s.N})
		})
	}
	for _, timer := range wants.Timers {
		steps = append(steps, func() { w.decide(machine.Elapsed{Key: timer.Key}) })
	}
	return steps
}

func (w *world) planSteps(id string) (steps []func()) {
	p := w.plans[id]
	wants := p.Wants()
	for _, a := range wants.Activities {
		steps = append(steps, func() { w.work(id, a) })
	}
	for range wants.Signals {
		steps = append(steps, func() {
			n := p.State.Report.N
			w.decide(p.Message())
			w.decidePlan(id, machine.Delivered{To: w.id, N: n})
		})
	}
	for _, timer := range wants.Timers {
		steps = append(steps, func() { w.decidePlan(id, machine.Elapsed{Key: timer.Key}) })
	}
	for _, task := range p.State.Plan.Waiting() {
		m := userMessage(fmt.Sprint("m-", w.now), "Yes")
		reply := &opt.Reply{GateID: task.Gate.ID, MessageID: m.MessageID, Action: opt.Accept}
		letter := opt.Letter{ObjectiveID: w.id, PlanID: id, TaskID: task.A2AID(), Message: m, Principal: "ann", Reply: reply}
		note := letter
		note.Reply = nil
		steps = append(steps, func() { w.decidePlan(id, machine.Letter{Letter: letter}) }, func() { w.decidePlan(id, machine.Letter{Letter: note}) })
	}
	if wants.Done != nil {
		steps = append(steps, func() {
			delete(w.open, id)
			report := p.State.Report
			w.decide(machine.ChildEnded{PlanID: id, Attempt: p.State.Plan.Run, Report: &report})
		})
	}
	return steps
}

// work ends an activity of a plan with a random result.
func (w *world) work(id string, a machine.Activity) {
	task := w.plans[id].State.Plan.Task(a.Of)
	if a.Kind == machine.FollowTask {
		w.decidePlan(id, machine.Followed{Key: a.Key, State: opt.TaskCompleted, Artifacts: []a2a.Artifact{w.artifact(task)}})
		return
	}
	in := machine.Ended{Key: a.Key}
	switch n := w.random.IntN(10); {
	case a.Stop:
		in.Failed = &machine.Failure{Code: "canceled", Canceled: true}
	case n < 2:
		in.Failed = &machine.Failure{Code: "broken", Message: "It broke."}
	case n == 2:
		in.Outcome = opt.Outcome{State: opt.TaskFailed, Code: "refused", Message: "It cannot be done."}
	case n == 3:
		in.Outcome = opt.Outcome{State: opt.TaskInputRequired, Gate: &opt.Gate{Kind: opt.Approval, Title: "Go on?", Actions: []opt.Action{opt.Accept}}}
	default:
		in.Outcome = opt.Outcome{State: opt.TaskCompleted, Artifacts: []a2a.Artifact{w.artifact(task)}, Try: 1}
	}
	w.decidePlan(id, in)
}

func (w *world) artifact(t *opt.Task) a2a.Artifact {
	return a2a.Artifact{ArtifactID: opt.ArtifactID(t.ID, "out"), Parts: []a2a.Part{a2a.TextPart(fmt.Sprint("made at ", w.now))}}
}

// client has a client do something. An objective that has ended is retried.
func (w *world) client() {
	o := &w.objective.State.Objective
	c := opt.Command{Kind: opt.UpdateObjective, ObjectiveID: w.id}
	name := fmt.Sprint("Name ", w.now)
	if w.objective.Wants().Done != nil {
		w.objective = machine.RestoreObjective(w.kept(), 0, machine.Rules)
		c.Status = string(opt.ObjectivePlanning)
		w.command(c)
		return
	}
	p := o.Plans[w.random.IntN(max(1, len(o.Plans)))]
	switch w.random.IntN(12) {
	case 0:
		c.Status = string(opt.ObjectiveBlocked)
	case 1, 2:
		c.Status = string(opt.ObjectiveWorking)
	case 3:
		c.Change = &opt.Change{Name: &name, Metadata: a2a.Metadata{}.With("n", w.now)}
	case 4:
		c.Kind, c.PlanID, c.Change = opt.UpdatePlan, p.ID, &opt.Change{Description: &name}
	case 5:
		c.Kind, c.PlanID, c.Status = opt.UpdatePlan, p.ID, string(opt.PlanBlocked)
	case 6:
		c.Kind, c.PlanID, c.Status = opt.UpdatePlan, p.ID, string(opt.PlanWorking)
	case 7:
		c.Kind, c.PlanID, c.Tasks = opt.AddTasks, p.ID, []opt.TaskSpec{{Name: name}}
	case 8:
		c.Kind, c.PlanID, c.TaskID, c.Link, c.Follow = opt.LinkTask, p.ID, w.last(p.ID), "another", w.now%2 == 0
	case 9:
		c.Kind, c.PlanID, c.TaskID, c.Status = opt.MoveTask, p.ID, opt.TaskID(p.ID, w.random.IntN(4)), string(opt.TaskWorking)
	case 10:
		c.Kind = opt.Replan
	default:
		w.note(p.ID)
		return
	}
	w.command(c)
}

// last returns the id of the last task of a plan that has begun.
func (w *world) last(id string) string {
	if p := w.plans[id]; p != nil {
		return p.State.Plan.Tasks[len(p.State.Plan.Tasks)-1].ID
	}
	return ""
}

func (w *world) command(c opt.Command) {
	w.commands++
	c.ID = fmt.Sprint("c-", w.commands)
	w.decide(machine.Command{Command: c})
}

// note says something to a task of a plan.
func (w *world) note(id string) {
	if w.open[id] {
		m := userMessage(fmt.Sprint("m-", w.now), "By the way")
		w.decidePlan(id, machine.Letter{Letter: opt.Letter{ObjectiveID: w.id, PlanID: id, TaskID: w.plans[id].State.Plan.Tasks[0].A2AID(), Message: m, Principal: "ann"}})
	}
}

func (w *world) kept() opt.Kept {
	w.t.Helper()
	kept, err := w.j.Kept(w.t.Context(), tenant, w.id)
	if err != nil {
		w.t.Fatal(err)
	}
	return kept
}

// decided returns the objective and its plans as the machines have them.
func (w *world) decided() opt.Objective {
	o := w.objective.State.Objective
	o.Plans = nil
	for i, p := range w.objective.State.Objective.Plans {
		owned := *p
		if start := w.objective.State.Links[i].Start; start != nil {
			owned = *start
		} else if own := w.plans[p.ID]; own != nil {
			owned = own.State.Plan
		}
		owned.Name, owned.Description, owned.Metadata, owned.Dependencies = p.Name, p.Description, p.Metadata, p.Dependencies
		o.Plans = append(o.Plans, &owned)
	}
	return o
}

// check compares the rows with the decisions.
func (w *world) check(when string) {
	w.t.Helper()
	kept := w.kept()
	want := w.decided()
	memory := cmp.Options{ // members that only the machines use
		cmpopts.IgnoreFields(opt.Objective{}, "Planning", "Cause"),
		cmpopts.IgnoreFields(opt.Plan{}, "Report", "Kept", "ObjectivePaused", "UpdatedAt"),
		cmpopts.IgnoreFields(opt.Task{}, "Gates", "Replies", "ByHand"),
		cmpopts.EquateEmpty(),
	}
	if diff := cmp.Diff(want, kept.Objective, memory); diff != "" {
		w.t.Errorf("%s at %d: the objective that is read is not the one that was decided (-decided +read):\n%s", when, w.now, diff)
	}
	var links []string
	for _, p := range want.Plans {
		for _, t := range p.Tasks {
			if t.Follow && !t.State.Ended() {
				links = append(links, t.Link)
			}
		}
	}
	if diff := cmp.Diff(w.numbers, kept.Recorded); diff != "" {
		w.t.Errorf("%s at %d: numbers that were recorded (-want +got):\n%s", when, w.now, diff)
	}
	if kept.Request == nil || kept.Request.MessageID != want.MessageID || len(kept.Given) == 0 {
		w.t.Errorf("%s: the request is %v, with the plans %v", when, kept.Request, kept.Given)
	}
	got, err := w.j.Links(w.t.Context(), tenant, w.id)
	if diff := cmp.Diff(links, got, cmpopts.EquateEmpty()); diff != "" || err != nil {
		w.t.Errorf("%s at %d, %v: links (-want +got):\n%s", when, w.now, err, diff)
	}
}
