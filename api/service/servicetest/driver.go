package servicetest

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"time"

	"longhaul/a2a"
	"longhaul/internal/condition"
	"longhaul/opt"
	"longhaul/opt/machine"
	"longhaul/opt/shown"
)

// A machineHost is a machine and the inputs that its signals carry.
type machineHost interface {
	Handle(a2a.Time, machine.Input) []opt.Event
	Wants() machine.Wants
	message(s machine.Signal) (to string, in machine.Input)
}

type objectiveHost struct{ *machine.Objective }

func (h objectiveHost) message(s machine.Signal) (string, machine.Input) {
	if s.To == machine.ToContext {
		return contextRun(h.State.Objective.Tenant, h.State.Objective.ContextID), deepCopy(h.State.TurnRequest())
	}
	return s.To, deepCopy(h.State.Message(s.To))
}

type planHost struct{ *machine.Plan }

func (h planHost) message(s machine.Signal) (string, machine.Input) {
	return s.To, deepCopy(h.Message())
}

type contextHost struct{ *machine.Context }

func (h contextHost) message(s machine.Signal) (string, machine.Input) {
	return s.To, deepCopy(h.Message(s.To))
}

func contextRun(tenant, contextID string) string { return "context " + tenant + " " + contextID }

// recorded is the part of the journal that workflows use.
type recorded interface {
	Record(ctx context.Context, batches ...opt.Batch) error
	Kept(ctx context.Context, tenant, objectiveID string) (opt.Kept, error)
	Task(ctx context.Context, tenant, id string, want shown.TaskWant) (shown.TaskView, error)
}

// A driver runs machines. Only its clock is safe for concurrent use.
type driver struct {
	cfg      Config
	journal  recorded
	standing condition.Rules

	noWorkers    bool
	stoppedIDs   map[string]bool // ids of objectives and plans
	ignoreCancel bool            // tasks do not stop when they are asked to
	runs         map[string]*run
	order        []string // ids of runs, in the order in which they began

	clock sync.Mutex
	now   time.Time
}

// tick returns how long one workflow task takes.
func (d *driver) tick() time.Duration {
	if d.cfg.Prompt {
		return 0
	}
	return 100 * time.Millisecond
}

func (d *driver) idleFor() int64 { return int64(d.cfg.IdleFor / time.Second) }

// Now returns the time in the world. It advances with the work.
func (d *driver) Now() time.Time {
	d.clock.Lock()
	defer d.clock.Unlock()
	return d.now
}

func (d *driver) advance(by time.Duration) a2a.Time {
	d.clock.Lock()
	defer d.clock.Unlock()
	d.now = d.now.Add(by)
	return a2a.At(d.now)
}

// A run is one machine, and what it has begun.
type run struct {
	id         string
	m          machineHost
	objective  string // whose rows its events change; "" for a context
	parent     string // id of the run that gets its result
	attempt    int    // of a plan
	isNew      bool   // Opened is to be handled
	inbox      []machine.Input
	activities []machine.Activity // that run
	children   map[machine.Child]bool
	ended      map[string]bool  // keys of activities
	elapsed    map[string]bool  // keys of timers
	pieces     map[string]int64 // of artifacts that were streamed, by source
}

func (d *driver) begin(id string, m machineHost) *run {
	r := &run{id: id, m: m, children: map[machine.Child]bool{}, ended: map[string]bool{}, elapsed: map[string]bool{}, pieces: map[string]int64{}}
	if ref, ok := opt.ParseID(id); ok {
		r.objective = ref.ObjectiveID
	}
	d.runs[id] = r
	d.order = append(d.order, id)
	return r
}

func (d *driver) remove(id string) {
	delete(d.runs, id)
	d.order = slices.DeleteFunc(d.order, func(x string) bool { return x == id })
}

// end handles the end of an activity.
func (r *run) end(key string, in machine.Input) {
	r.activities = slices.DeleteFunc(r.activities, func(a machine.Activity) bool { return a.Key == key })
	r.ended[key] = true
	r.inbox = append(r.inbox, in)
}

// runAll handles all inputs and their consequences.
func (d *driver) runAll() {
	for changed := true; changed; {
		changed = false
		for _, id := range slices.Clone(d.order) {
			if r := d.runs[id]; r != nil && !d.noWorkers && !d.stoppedIDs[r.id] {
				changed = d.task(r) || changed
			}
		}
		changed = d.endFollowing() || changed
	}
}

// task runs one workflow task, if there is anything to do: it handles all inputs
// that have arrived, records the events, and begins and stops what the machine
// wants.
func (d *driver) task(r *run) bool {
	if !r.isNew && len(r.inbox) == 0 {
		return false
	}
	now := d.advance(d.tick())
	if r.isNew {
		r.isNew = false
		opened := now
		if o, ok := r.m.(objectiveHost); ok {
			opened = o.State.Objective.CreatedAt
		}
		d.handle(r, opened, machine.Opened{})
	}
	for len(r.inbox) > 0 {
		inbox := r.inbox
		r.inbox = nil
		for _, in := range inbox {
			d.handle(r, now, in)
		}
	}
	d.handle(r, now, machine.Begin{})
	d.reconcile(r)
	if wants := r.m.Wants(); wants.Done != nil && len(r.inbox) == 0 && len(r.activities) == 0 {
		d.close(r)
	}
	return true
}

// handle gives one input to a machine, and records the events.
func (d *driver) handle(r *run, now a2a.Time, in machine.Input) {
	events := r.m.Handle(now, in)
	if len(events) == 0 {
		return
	}
	source := r.id
	if p, ok := r.m.(planHost); ok {
		source = p.State.Source()
	}
	d.record(opt.Batch{ObjectiveID: r.objective, Source: source, Events: events})
}

func (d *driver) record(b opt.Batch) {
	if err := d.journal.Record(context.Background(), deepCopy(b)); err != nil {
		panic(fmt.Sprintf("record events of %s: %v", b.Source, err))
	}
}

// reconcile begins the wanted tasks that do not run, and stops the running ones that are
// not wanted.
func (d *driver) reconcile(r *run) {
	wants := r.m.Wants()
	for _, a := range slices.Clone(r.activities) {
		i := slices.IndexFunc(wants.Activities, func(x machine.Activity) bool { return x.Key == a.Key })
		if (i < 0 || wants.Activities[i].Stop) && !d.ignoreCancel {
			r.end(a.Key, canceled(a.Key))
		}
	}
	for _, s := range wants.Signals {
		d.signal(r, s)
	}
	for _, c := range wants.Children {
		d.child(r, c)
	}
	for _, a := range wants.Activities {
		running := slices.ContainsFunc(r.activities, func(x machine.Activity) bool { return x.Key == a.Key })
		switch {
		case running || r.ended[a.Key]:
		case a.Stop:
			r.end(a.Key, canceled(a.Key))
		default:
			r.activities = append(r.activities, a)
			d.activity(r, a)
		}
	}
}

// signal delivers a signal of r.
func (d *driver) signal(r *run, s machine.Signal) {
	to, in := r.m.message(s)
	receiver := d.runs[to]
	if receiver != nil {
		receiver.inbox = append(receiver.inbox, in)
	}
	r.inbox = append(r.inbox, machine.Delivered{To: s.To, N: s.N, Gone: receiver == nil})
}

// child begins a plan, once.
func (d *driver) child(r *run, c machine.Child) {
	key := machine.Child{PlanID: c.PlanID, Attempt: c.Attempt, Try: c.Try}
	if r.children[key] {
		return
	}
	r.children[key] = true
	if d.runs[c.PlanID] != nil {
		r.inbox = append(r.inbox, machine.ChildRefused{PlanID: c.PlanID, Attempt: c.Attempt})
		return
	}
	state := deepCopy(r.m.(objectiveHost).State.ChildState(c.PlanID))
	p := d.begin(c.PlanID, planHost{&machine.Plan{State: state}})
	p.parent, p.attempt, p.isNew = r.id, c.Attempt, true
	r.inbox = append(r.inbox, machine.ChildStarted{PlanID: c.PlanID, Attempt: c.Attempt, N: c.N})
}

// close ends a run whose machine has nothing more to do.
func (d *driver) close(r *run) {
	d.remove(r.id)
	if parent := d.runs[r.parent]; parent != nil {
		report := deepCopy(r.m.(planHost).State.Report)
		parent.inbox = append(parent.inbox, machine.ChildEnded{PlanID: r.id, Attempt: r.attempt, Report: &report})
	}
}

// activity begins an activity, and ends it at once if the test says so.
func (d *driver) activity(r *run, a machine.Activity) {
	switch a.Kind {
	case machine.MakePlans:
		s := r.m.(objectiveHost).State
		if d.cfg.Planner == nil {
			return
		}
		if made, ok := d.cfg.Planner(s.Objective, s.Request); ok {
			r.end(a.Key, machine.Made{Key: a.Key, Plans: made.Plans, Planner: made.Planner, Reason: made.Reason, Failure: made.Failure})
		}
	case machine.LoadKept:
		kept := must(d.journal.Kept(context.Background(), r.m.(objectiveHost).State.Objective.Tenant, r.id))
		r.end(a.Key, machine.Loaded{Key: a.Key, Kept: deepCopy(kept)})
	case machine.CallRoll: // its contexts know all their members
		r.end(a.Key, machine.Listed{Key: a.Key})
	case machine.CheckPlan:
		r.end(a.Key, machine.Checked{Key: a.Key, Gone: d.runs[a.Of] == nil})
	case machine.LookUp:
		by := must(condition.Standing{Rules: d.standing}.Decide(context.Background(), r.m.(planHost).State.QuestionOf(a, a2a.At(d.Now()))))
		r.end(a.Key, machine.Looked{Key: a.Key, By: by})
	case machine.RunTask:
		if d.cfg.Script != nil {
			d.play(r, a)
		}
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func (d *driver) play(r *run, a machine.Activity) {
	work := r.m.(planHost).State.WorkOf(a)
	play := d.cfg.Script(deepCopy(work))
	d.stream(r, work, play.Chunks)
	if play.Held != "" {
		r.inbox = append(r.inbox, machine.Held{Key: a.Key, Text: play.Held})
	}
	if play.Outcome != nil {
		r.end(a.Key, machine.Ended{Key: a.Key, Outcome: finished(work.TaskID, *play.Outcome)})
	}
}

// stream records pieces of artifacts, as their activity would.
func (d *driver) stream(r *run, work opt.Work, chunks []opt.Chunk) {
	if len(chunks) == 0 {
		return
	}
	source := fmt.Sprintf("%s#%d.%d.1", work.TaskID, work.Round, work.Attempt)
	b := opt.Batch{ObjectiveID: r.objective, Source: source}
	for _, c := range chunks {
		c.Artifact.ArtifactID = opt.ArtifactID(work.TaskID, c.Artifact.ArtifactID)
		r.pieces[source]++
		b.Events = append(b.Events, opt.Event{
			N: r.pieces[source], Kind: opt.ArtifactAdded, At: a2a.At(d.Now()), PlanID: work.PlanID, TaskID: work.TaskID, RootID: work.RootID,
			Round: work.Round, Attempt: work.Attempt, Try: 1, Chunk: &c,
		})
	}
	d.record(b)
}

// finished returns an outcome as its activity would: the ids of its artifacts are
// unique in the objective.
func finished(taskID string, out opt.Outcome) opt.Outcome {
	out = deepCopy(out)
	for i := range out.Artifacts {
		out.Artifacts[i].ArtifactID = opt.ArtifactID(taskID, out.Artifacts[i].ArtifactID)
	}
	for i := range out.Streamed {
		out.Streamed[i] = opt.ArtifactID(taskID, out.Streamed[i])
	}
	out.Try = 1
	return out
}

// endFollowing sends plans the ends of the tasks that they follow.
func (d *driver) endFollowing() (any bool) {
	if d.noWorkers {
		return false
	}
	for _, id := range d.order {
		r := d.runs[id]
		p, ok := r.m.(planHost)
		if !ok {
			continue
		}
		for _, a := range slices.Clone(r.activities) {
			if a.Kind != machine.FollowTask {
				continue
			}
			link := p.State.Plan.Task(a.Of).Link
			v, err := d.journal.Task(context.Background(), p.State.Tenant, link, shown.TaskWant{Artifacts: true})
			if err == nil && v.State.Ended() {
				r.end(a.Key, machine.Followed{Key: a.Key, State: v.State, Artifacts: deepCopy(v.Task.Artifacts)})
				any = true
			}
		}
	}
	return any
}

// deepCopy returns a value that shares no memory with v: it goes through JSON, as
// between two workflows.
func deepCopy[T any](v T) T {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	var out T
	if err := json.Unmarshal(b, &out); err != nil {
		panic(err)
	}
	return out
}

// running returns the run and the activity of a task, nil for none.
func (d *driver) running(taskID string) (*run, *machine.Activity) {
	for _, id := range d.order {
		r := d.runs[id]
		p, ok := r.m.(planHost)
		if !ok {
			continue
		}
		for _, a := range r.activities {
			if t := p.State.Plan.Task(a.Of); t.A2AID() == taskID {
				return r, &a
			}
		}
	}
	return nil, nil
}

// fireNextTimer fires the next due timer of r.
func (d *driver) fireNextTimer(r *run) bool {
	for _, timer := range r.m.Wants().Timers {
		if !r.elapsed[timer.Key] && !timer.At.Time().After(d.Now()) {
			r.elapsed[timer.Key] = true
			r.inbox = append(r.inbox, machine.Elapsed{Key: timer.Key})
			return true
		}
	}
	return false
}
