// Package servicetest is an engine for tests of the API. It runs the real
// machines of package machine with a driver that does everything at once, in the
// calling goroutine, and records their events in the real journal, in memory. So
// tests of the API use the real rules.
//
// Tasks do not run: [Config.Script] gives their results, or the test does, with
// [World.End]. After [World.Sleep] there is no worker: inputs are kept, and
// handled after [World.Wake]. The function of [World.Before] is called before
// each call of the engine and may refuse or delay it.
package servicetest

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"testing"
	"time"

	"longhaul/a2a"
	"longhaul/api/call"
	"longhaul/internal/journal"
	"longhaul/internal/seal"
	"longhaul/internal/test"
	"longhaul/opt"
	"longhaul/opt/machine"
	"longhaul/opt/shown"
)

// Start is the first time of the clock of a world.
var Start = time.Date(2026, 3, 1, 9, 30, 0, 0, time.UTC)

// A Config says how work runs.
type Config struct {
	// Script returns the course of an attempt at a task. With nil, or a Play
	// without an outcome, the attempt runs until the test ends it.
	Script func(opt.Work) Play
	// Planner makes plans for a request. With nil or false, planning lasts until
	// the test calls [World.Planned].
	Planner func(o opt.Objective, request *a2a.Message) (Made, bool)
	// Sleeps reports whether no worker works on an objective. Nil is for none.
	Sleeps func(opt.Opening) bool
	// Prompt has workflow tasks take no time.
	Prompt bool
	// IdleFor is how long an objective may wait to be started; 0 is no limit.
	IdleFor time.Duration
}

// A Play is the course of an attempt at a task.
type Play struct {
	Chunks  []opt.Chunk  // of artifacts, while it runs
	Held    string       // about a quota that holds it back, for clients
	Outcome *opt.Outcome // nil: it runs until the test ends it
}

// Made is the result of a planner. An empty Failure means success.
type Made struct {
	Plans                    []opt.PlanSpec
	Planner, Reason, Failure string
}

// A Call is one that the engine has accepted. One of Opening, Letter, Command and
// Canceled is set.
type Call struct {
	Opening  *opt.Opening
	Letter   *opt.Letter
	Command  *opt.Command
	Callback *opt.Callback
	Canceled string       // id of an objective
	Entered  string       // likewise
	Place    shown.Placed // with Entered
}

// A World is an engine with a journal. It is safe for concurrent use.
type World struct {
	t testing.TB

	mu       sync.Mutex
	before   func(ctx context.Context, name string) error
	calls    []Call
	openings map[string]opt.Opening
	all      *journal.Journal
	driver   *driver
}

// tables returns the tables of the journals of all worlds of a process.
var tables = sync.OnceValues(func() (*journal.Template, error) { return journal.NewTemplate(context.Background()) })

// New returns a world, which ends with the test.
func New(t testing.TB, cfg Config) *World {
	t.Helper()
	box, err := seal.New(make([]byte, 32))
	test.OK(t, err)
	template, err := tables()
	test.OK(t, err)
	w := &World{
		t: t, openings: map[string]opt.Opening{},
		driver: &driver{cfg: cfg, now: Start, stoppedIDs: map[string]bool{}, runs: map[string]*run{}},
	}
	w.all, err = journal.Open(context.Background(), journal.Config{Sealer: box, Now: w.driver.Now, Template: template})
	test.OK(t, err)
	t.Cleanup(func() {
		if err := w.all.Close(); err != nil {
			t.Errorf("close journal: %v", err)
		}
	})
	w.driver.journal, w.driver.standing = w.all, w.all.Standing
	return w
}

// Now returns the time in the world. It advances with the work.
func (w *World) Now() time.Time { return w.driver.Now() }

// Journal returns the journal of w.
func (w *World) Journal() *journal.Journal { return w.all }

// Watch watches the journal of w.
func (w *World) Watch(objectiveID string) call.Watch { return w.all.Watch(objectiveID) }

// Before sets a function that is called before each call of the engine, with its
// name. An error refuses the call. Nil is for none.
func (w *World) Before(f func(ctx context.Context, name string) error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.before = f
}

// Down makes all calls of the engine fail with err, nil for none.
func (w *World) Down(err error) {
	w.Before(func(context.Context, string) error { return err })
}

// Sleep stops all workers. Later inputs are kept.
func (w *World) Sleep() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.driver.noWorkers = true
}

// Wake starts the workers, which handle the kept inputs.
func (w *World) Wake() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.driver.noWorkers, w.driver.stoppedIDs = false, map[string]bool{}
	w.driver.runAll()
}

// SleepOn stops the work on one objective or plan.
func (w *World) SleepOn(id string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.driver.stoppedIDs[id] = true
}

// WakeOnly starts the workers, except for the objectives and plans of
// [World.SleepOn].
func (w *World) WakeOnly() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.driver.noWorkers = false
	w.driver.runAll()
}

// Stubborn makes canceled tasks run until the test ends them.
func (w *World) Stubborn() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.driver.ignoreCancel = true
}

// Calls returns what the engine has accepted so far.
func (w *World) Calls() []Call {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.calls)
}

// Commands returns the commands that the engine has accepted so far.
func (w *World) Commands() (out []opt.Command) {
	for _, c := range w.Calls() {
		if c.Command != nil {
			out = append(out, *c.Command)
		}
	}
	return out
}

// Letters returns the letters that the engine has accepted so far.
func (w *World) Letters() (out []opt.Letter) {
	for _, c := range w.Calls() {
		if c.Letter != nil {
			out = append(out, *c.Letter)
		}
	}
	return out
}

// Openings returns the objectives that were started so far.
func (w *World) Openings() (out []opt.Opening) {
	for _, c := range w.Calls() {
		if c.Opening != nil {
			out = append(out, *c.Opening)
		}
	}
	return out
}

// Objective returns an objective from the journal.
func (w *World) Objective(id string) *opt.Objective {
	w.t.Helper()
	w.mu.Lock()
	tenant := w.openings[id].Objective.Tenant
	w.mu.Unlock()
	o, err := w.all.Objective(context.Background(), tenant, id)
	if err != nil {
		w.t.Fatalf("objective %s: %v", id, err)
	}
	return o
}

// Events returns the recorded events of an objective.
func (w *World) Events(id string) []shown.Recorded {
	w.t.Helper()
	list, err := w.all.Events(context.Background(), id, 0, 0)
	if err != nil {
		w.t.Fatalf("events of %s: %v", id, err)
	}
	return list
}

// enter begins a call of the engine. The caller calls release at the end.
func (w *World) enter(ctx context.Context, name string) (release func(), err error) {
	w.mu.Lock()
	before := w.before
	w.mu.Unlock()
	if before != nil {
		if err := before(ctx, name); err != nil {
			return nil, err
		}
	}
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("%s: %w: %w", name, opt.ErrUnavailable, err)
	}
	w.mu.Lock()
	return w.mu.Unlock, nil
}

// Start implements [service.Engine].
func (w *World) Start(ctx context.Context, o opt.Opening) (opt.Opening, error) {
	release, err := w.enter(ctx, "start")
	if err != nil {
		return opt.Opening{}, err
	}
	defer release()
	id := o.Objective.ID
	if found, ok := w.openings[id]; ok {
		switch {
		case found.Objective.Digest != o.Objective.Digest:
			return opt.Opening{}, fmt.Errorf("start %s: %w", id, opt.ErrConflict)
		case w.driver.runs[id] == nil:
			return opt.Opening{}, fmt.Errorf("start %s: %w", id, opt.ErrEnded)
		}
		found = deepCopy(found)
		found.Found = true
		return found, nil
	}
	w.openings[id] = deepCopy(o)
	w.calls = append(w.calls, Call{Opening: new(deepCopy(o))})
	if w.driver.cfg.Sleeps != nil && w.driver.cfg.Sleeps(o) {
		w.driver.stoppedIDs[id] = true
	}
	r := w.driver.begin(id, objectiveHost{machine.NewObjective(deepCopy(o), w.driver.idleFor(), machine.Rules)})
	r.isNew = true
	w.driver.runAll()
	return o, nil
}

// Letter implements [service.Engine].
func (w *World) Letter(ctx context.Context, l opt.Letter) error {
	to := l.ObjectiveID
	if l.PlanID != "" {
		to = l.PlanID
	}
	return w.signal(ctx, "tell", to, machine.Letter{Letter: deepCopy(l)}, Call{Letter: &l})
}

// Callback implements [service.Engine].
func (w *World) Callback(ctx context.Context, c opt.Callback) error {
	ref, _ := opt.ParseID(c.TaskID)
	return w.signal(ctx, "callback", ref.PlanID, machine.Callback{Callback: deepCopy(c)}, Call{Callback: &c})
}

// Command implements [service.Engine].
func (w *World) Command(ctx context.Context, cmd opt.Command) error {
	return w.signal(ctx, "command", cmd.ObjectiveID, machine.Command{Command: deepCopy(cmd)}, Call{Command: &cmd})
}

// Overtake delivers a command before all waiting inputs of its objective.
func (w *World) Overtake(cmd opt.Command) {
	w.mu.Lock()
	defer w.mu.Unlock()
	r := w.driver.runs[cmd.ObjectiveID]
	r.inbox = append([]machine.Input{machine.Command{Command: deepCopy(cmd)}}, r.inbox...)
	w.driver.runAll()
}

// Cancel implements [service.Engine].
func (w *World) Cancel(ctx context.Context, objectiveID, principal, reason string) error {
	return w.signal(ctx, "cancel", objectiveID, machine.Canceled{Principal: principal, Text: reason}, Call{Canceled: objectiveID})
}

func (w *World) signal(ctx context.Context, name, to string, in machine.Input, call Call) error {
	return w.deliver(ctx, name, in, call, func() (*run, error) {
		if r := w.driver.runs[to]; r != nil {
			return r, nil
		}
		return nil, fmt.Errorf("%s to %s: %w", name, to, opt.ErrEnded)
	})
}

// deliver gives an input to the run that find returns.
func (w *World) deliver(ctx context.Context, name string, in machine.Input, call Call, find func() (*run, error)) error {
	release, err := w.enter(ctx, name)
	if err != nil {
		return err
	}
	defer release()
	r, err := find()
	if err != nil {
		return err
	}
	w.calls = append(w.calls, call)
	r.inbox = append(r.inbox, in)
	w.driver.runAll()
	return nil
}

// Retry implements [service.Engine].
func (w *World) Retry(ctx context.Context, o opt.Objective, cmd opt.Command) error {
	return w.deliver(ctx, "retry", machine.Command{Command: deepCopy(cmd)}, Call{Command: &cmd}, func() (*run, error) {
		if r := w.driver.runs[o.ID]; r != nil {
			return r, nil
		}
		kept, err := w.driver.journal.Kept(ctx, o.Tenant, o.ID)
		if err != nil {
			return nil, err
		}
		return w.driver.begin(o.ID, objectiveHost{machine.RestoreObjective(deepCopy(kept), w.driver.idleFor(), machine.Rules)}), nil
	})
}

// Enter implements [service.Engine].
func (w *World) Enter(ctx context.Context, o opt.Objective, p shown.Placed) error {
	in := machine.Enter{ObjectiveID: o.ID, Attempt: o.Attempt, At: p.QueuedAt, Behind: p.Behind, Starting: p.Starting, Waiting: p.Waiting}
	return w.deliver(ctx, "enter", in, Call{Entered: o.ID, Place: p}, func() (*run, error) {
		id := contextRun(o.Tenant, o.ContextID)
		if r := w.driver.runs[id]; r != nil {
			return r, nil
		}
		return w.driver.begin(id, contextHost{machine.NewContext(o.Tenant, o.ContextID, machine.Rules)}), nil
	})
}

// Ready implements [service.Engine].
func (w *World) Ready(ctx context.Context) error {
	release, err := w.enter(ctx, "ready")
	if err == nil {
		release()
	}
	return err
}

// End ends the attempt at a task that runs, by its A2A id.
func (w *World) End(taskID string, out opt.Outcome) {
	w.t.Helper()
	w.endTask(taskID, func(key string) machine.Input { return machine.Ended{Key: key, Outcome: finished(taskID, out)} })
}

// Complete completes a task that runs, with artifacts.
func (w *World) Complete(taskID string, artifacts ...a2a.Artifact) {
	w.t.Helper()
	w.End(taskID, opt.Outcome{State: opt.TaskCompleted, Artifacts: artifacts})
}

// Fail fails a task that runs, for good.
func (w *World) Fail(taskID, code, text string) {
	w.t.Helper()
	w.End(taskID, opt.Outcome{State: opt.TaskFailed, Code: code, Message: text})
}

// FailAttempt fails one attempt at a task that runs. The next begins at its time:
// see [World.Advance].
func (w *World) FailAttempt(taskID, code, text string) {
	w.t.Helper()
	w.endTask(taskID, func(key string) machine.Input {
		return machine.Ended{Key: key, Failed: &machine.Failure{Code: code, Message: text}}
	})
}

// Gate makes a running task wait at a gate.
func (w *World) Gate(taskID string, g opt.Gate) {
	w.t.Helper()
	w.End(taskID, opt.Outcome{State: g.State(), Gate: &g})
}

// Stop ends a canceled task that has ignored the cancellation.
func (w *World) Stop(taskID string) {
	w.t.Helper()
	w.endTask(taskID, canceled)
}

func canceled(key string) machine.Input {
	return machine.Ended{Key: key, Failed: &machine.Failure{Code: string(opt.TaskCanceled), Canceled: true}}
}

func (w *World) endTask(taskID string, in func(key string) machine.Input) {
	w.t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	r, a := w.driver.running(taskID)
	if a == nil {
		w.t.Fatalf("task %s does not run", taskID)
	}
	r.end(a.Key, in(a.Key))
	w.driver.runAll()
}

// Stream adds pieces of artifacts to a task that runs.
func (w *World) Stream(taskID string, chunks ...opt.Chunk) {
	w.t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	r, a := w.driver.running(taskID)
	if a == nil {
		w.t.Fatalf("task %s does not run", taskID)
	}
	w.driver.stream(r, r.m.(planHost).State.WorkOf(*a), chunks)
}

// Running returns the work of a task if an attempt at it runs.
func (w *World) Running(taskID string) (opt.Work, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	r, a := w.driver.running(taskID)
	if a == nil {
		return opt.Work{}, false
	}
	return r.m.(planHost).State.WorkOf(*a), true
}

// Planned ends the planning of an objective.
func (w *World) Planned(objectiveID string, made Made) {
	w.t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	if r := w.driver.runs[objectiveID]; r != nil {
		for _, a := range r.activities {
			if a.Kind == machine.MakePlans {
				r.end(a.Key, machine.Made{Key: a.Key, Plans: made.Plans, Planner: made.Planner, Reason: made.Reason, Failure: made.Failure})
				w.driver.runAll()
				return
			}
		}
	}
	w.t.Fatalf("no planner works on %s", objectiveID)
}

// Advance advances the time and fires due timers.
func (w *World) Advance(d time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.driver.advance(d)
	for changed := true; changed; {
		changed = false
		for _, id := range slices.Clone(w.driver.order) {
			r := w.driver.runs[id]
			for r != nil && w.driver.fireNextTimer(r) {
				changed = true
			}
		}
		w.driver.runAll()
	}
}

// Terminate ends the workflows of an objective, as an operator may.
func (w *World) Terminate(objectiveID string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, id := range slices.Collect(maps.Keys(w.driver.runs)) {
		if ref, ok := opt.ParseID(id); ok && ref.ObjectiveID == objectiveID {
			w.driver.remove(id)
		}
	}
}
