package reconcile_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"longhaul/a2a"
	"longhaul/internal/reconcile"
	"longhaul/internal/test"
	"longhaul/opt"
	"longhaul/opt/shown"
	"longhaul/workflows"
)

// A world is a Temporal and a journal that do not agree.
type world struct {
	mu    sync.Mutex                // of fates, list and done
	fates map[string]workflows.Fate // of workflows; others run
	list  []string                  // ids that Temporal lists as running
	open  map[string]*opt.Objective // in the journal
	ended []*opt.Objective          // likewise, with open plans

	unlisted bool                   // Temporal lists the stopped ones no more
	failed   []workflows.StoppedRun // that have failed by themselves

	done  []string
	reads map[string]int // of open work, by objective
	fails error          // of the next signals and lists

	last    map[string][]opt.Batch // in the results of objectives
	unread  error                  // why those cannot be read
	refuses bool                   // the journal takes none of them, for good

	unrecorded map[string]*opt.Objective // that the journal does not have yet
}

func (w *world) Opening(_ context.Context, id string) (o opt.Opening, _ error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if begun := w.unrecorded[id]; begun != nil && w.fates[id] == workflows.FateStopped {
		o.Objective = *begun
	}
	return o, nil
}

func (w *world) Fate(_ context.Context, id string) (workflows.Fate, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if f, ok := w.fates[id]; ok {
		return f, nil
	}
	return workflows.FateRunning, nil
}

func (w *world) Stopped(context.Context, time.Time) (runs []workflows.StoppedRun, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for id, f := range w.fates {
		if f == workflows.FateStopped && !w.unlisted {
			runs = append(runs, workflows.StoppedRun{WorkflowID: id, RunID: "run of " + id})
		}
	}
	return append(runs, w.failed...), nil
}

func (w *world) Ended(context.Context, time.Time) (ids []string, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for id := range w.last {
		ids = append(ids, id)
	}
	return ids, nil
}

func (w *world) Last(_ context.Context, id string) ([]opt.Batch, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.last[id], w.unread
}

func (w *world) Record(_ context.Context, batches ...opt.Batch) error {
	id := batches[0].ObjectiveID
	w.does("record " + id)
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.refuses {
		return &opt.RewoundError{Source: id}
	}
	delete(w.open, id)
	if o := w.unrecorded[id]; o != nil && batches[0].Events[0].Kind == opt.ObjectiveOpened {
		delete(w.unrecorded, id)
		w.open[id] = o
	}
	return nil
}

func (w *world) does(what string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.done = append(w.done, what)
}

func (w *world) Running(context.Context) ([]string, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.list), w.fails
}

func (w *world) fail(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.fails = err
}

func (w *world) Close(_ context.Context, o opt.Objective) error {
	if fate, _ := w.Fate(context.Background(), o.ID); fate == workflows.FateRunning {
		return opt.ErrConflict
	}
	w.does("close " + o.ID)
	delete(w.open, o.ID)
	return nil
}

func (w *world) PlanLost(_ context.Context, o opt.Objective, p opt.Plan) error {
	if o.ID != p.ObjectiveID {
		return opt.ErrUnknown
	}
	w.does(fmt.Sprint("lost ", p.ID, " ", p.Run))
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.fails
}

// Contexts that run have begun a day into the world, except those that have begun again.
func (w *world) ContextBegan(_ context.Context, tenant, contextID string) (time.Time, error) {
	return map[string]time.Time{"there": time.UnixMilli(0).Add(24 * time.Hour), "again": time.UnixMilli(0).Add(48 * time.Hour)}[contextID], nil
}

func (w *world) Place(_ context.Context, p shown.Place) (shown.Placed, error) {
	return shown.Placed{QueuedAt: w.open[p.ObjectiveID].QueuedAt}, nil
}

func (w *world) Enter(_ context.Context, o opt.Objective, p shown.Placed) error {
	if p.Waiting == 0 {
		w.does("begin as the first of its context")
	}
	w.does("enter " + o.ID)
	return nil
}

func (w *world) OpenObjectives(_ context.Context, after string, _ int) (list []opt.Objective, _ error) {
	for id, o := range w.open {
		if id > after {
			list = append(list, *o)
		}
	}
	slices.SortFunc(list, func(a, b opt.Objective) int { return strings.Compare(a.ID, b.ID) })
	return list, nil
}

func (w *world) OpenPlans(_ context.Context, after, last string) (list []opt.Plan, _ error) {
	for id, o := range w.open {
		for _, p := range o.Plans {
			if id > after && id <= last && p.Started && !p.Status.Ended() {
				list = append(list, *p)
			}
		}
	}
	return list, nil
}

func (w *world) EndedWork(context.Context) (list []*opt.Objective, _ error) {
	return w.ended, nil
}

func (w *world) OpenWork(_ context.Context, id string) (*opt.Objective, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.reads[id]++
	if w.unrecorded[id] != nil {
		return nil, opt.ErrUnknown
	}
	return w.open[id], nil
}

func newWorld(n int) (w *world, ids []string) {
	w = &world{fates: map[string]workflows.Fate{}, open: map[string]*opt.Objective{}, reads: map[string]int{}}
	for i := range n {
		id := opt.NewObjectiveID([16]byte{1, byte(i)})
		plan := &opt.Plan{ID: opt.PlanID(id, 1), ObjectiveID: id, Status: opt.PlanWorking, Started: true, Run: 1}
		w.open[id] = &opt.Objective{ID: id, Plans: []*opt.Plan{plan}}
		w.list = append(w.list, id, plan.ID)
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return w, ids
}

func (w *world) reconciler(log *zap.Logger) *reconcile.Reconciler {
	return reconcile.New(reconcile.Config{Temporal: w, Journal: w, Log: log, Safe: 3})
}

// once runs r until it has compared everything once.
func once(t *testing.T, r *reconcile.Reconciler) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	r.Run(ctx)
}

func (w *world) did(t *testing.T, want ...string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	t.Helper()
	test.Equal(t, "actions", want, w.done)
}

func TestReconciler_closesObjectivesWithoutAWorkflow(t *testing.T) {
	w, ids := newWorld(4)
	w.fates[ids[0]], w.fates[ids[1]], w.fates[ids[2]] = workflows.FateStopped, workflows.FateGone, workflows.FateRunning
	w.list = slices.DeleteFunc(w.list, func(id string) bool { return id == ids[0] || id == ids[1] || id == ids[2] }) // the list lags behind for the third
	once(t, w.reconciler(zap.NewNop()))
	w.did(t, "close "+ids[0], "close "+ids[1])
}

func TestReconciler_reportsPlansWithoutAWorkflow(t *testing.T) {
	w, ids := newWorld(3)
	stopped, ended := opt.PlanID(ids[0], 1), opt.PlanID(ids[1], 1)
	w.fates[stopped], w.fates[ended] = workflows.FateStopped, workflows.FateEnded // the report of the second is on its way
	w.list = slices.DeleteFunc(w.list, func(id string) bool { return id == stopped || id == ended })
	r := w.reconciler(zap.NewNop())
	once(t, r)
	once(t, r) // the signal is on its way
	w.did(t, "lost "+stopped+" 1")
}

// A signal that fails is sent again at the next look, not after a minute.
func TestReconciler_reportsAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, ids := newWorld(1)
		r := w.reconciler(zap.NewNop())
		ctx, cancel := context.WithCancel(t.Context())
		go r.Run(ctx)
		synctest.Wait()
		w.mu.Lock()
		w.fates[opt.PlanID(ids[0], 1)], w.fails = workflows.FateStopped, errors.New("down")
		w.mu.Unlock()
		time.Sleep(4 * time.Second)
		w.fail(nil)
		time.Sleep(20 * time.Second)
		cancel()
		synctest.Wait()
		lost := "lost " + opt.PlanID(ids[0], 1) + " 1"
		w.did(t, lost, lost)
	})
}

// What fails each time is logged once, and again after it has worked.
func TestReconciler_logsFailures(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, _ := newWorld(1)
		core, logs := observer.New(zap.WarnLevel)
		ctx, cancel := context.WithCancel(t.Context())
		w.fail(errors.New("no permission"))
		go w.reconciler(zap.New(core)).Run(ctx)
		time.Sleep(150 * time.Second)
		w.fail(nil)
		time.Sleep(time.Minute)
		w.fail(errors.New("no permission"))
		time.Sleep(time.Minute)
		cancel()
		synctest.Wait()
		if logs.Len() != 2 {
			t.Errorf("it logged %v", logs.All())
		}
	})
}

// A plan that was stopped after it had recorded its end may not have reported that to its objective. Temporal
// removes the workflows of others some day.
func TestReconciler_reportsPlansStoppedAtTheirEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, ids := newWorld(3)
		for i, fate := range []workflows.Fate{workflows.FateStopped, workflows.FateGone, workflows.FateStopped} {
			w.fates[opt.PlanID(ids[i], 1)], w.open[ids[i]].Plans[0].Status = fate, opt.PlanCompleted
		}
		w.open[ids[2]].Plans[0].Reason = opt.Terminated // its objective has recorded that
		r := w.reconciler(zap.NewNop())
		for _, id := range ids {
			r.Doubt(id)
		}
		go r.Run(t.Context())
		synctest.Wait()
		w.did(t, "lost "+opt.PlanID(ids[0], 1)+" 1")
	})
}

// A plan that was reset after its end is open again, though its objective has ended. If it is stopped or
// deleted then, no workflow of its own ends it in the journal.
func TestReconciler_reportsPlansOfEndedObjectives(t *testing.T) {
	w, _ := newWorld(0)
	var want []string
	for i, fate := range []workflows.Fate{workflows.FateStopped, workflows.FateGone, workflows.FateRunning, workflows.FateEnded} {
		id := opt.NewObjectiveID([16]byte{3, byte(i)})
		plan := &opt.Plan{ID: opt.PlanID(id, 1), ObjectiveID: id, Status: opt.PlanWorking, Started: true, Run: 1}
		w.ended = append(w.ended, &opt.Objective{ID: id, Status: opt.ObjectiveCompleted, Plans: []*opt.Plan{plan}})
		if w.fates[plan.ID] = fate; i < 2 {
			want = append(want, "lost "+plan.ID+" 1")
		}
	}
	r := w.reconciler(zap.NewNop())
	once(t, r)
	once(t, r) // the objectives act upon it
	w.did(t, want...)
}

// Such a plan is found even if nothing has looked while Temporal listed it as stopped: an objective
// that works has a plan that does, but for a moment.
func TestReconciler_findsWorkWithoutAPlan(t *testing.T) {
	w, ids := newWorld(3)
	for i, o := range []*opt.Objective{w.open[ids[0]], w.open[ids[1]], w.open[ids[2]]} {
		o.Status, o.Plans[0].Status = opt.ObjectiveWorking, opt.PlanCompleted
		if i > 0 {
			w.fates[o.Plans[0].ID] = workflows.FateStopped
			w.list = slices.DeleteFunc(w.list, func(id string) bool { return id == o.Plans[0].ID })
		}
	}
	w.open[ids[2]].UpdatedAt = a2a.At(time.Now())
	once(t, w.reconciler(zap.NewNop()))
	w.did(t, "lost "+opt.PlanID(ids[1], 1)+" 1")
}

func TestReconciler_beginsContextsAgain(t *testing.T) {
	w, ids := newWorld(4)
	for i, contextID := range []string{"gone", "there", "gone", "again"} {
		w.open[ids[i]].ContextID = contextID
	}
	since := a2a.At(time.UnixMilli(0).Add(36 * time.Hour))
	w.open[ids[0]].QueuedAt, w.open[ids[1]].QueuedAt, w.open[ids[3]].QueuedAt = since, since, since
	r := w.reconciler(zap.NewNop())
	once(t, r)
	w.did(t, "enter "+ids[0], "enter "+ids[3])
	once(t, r)
	w.did(t, "enter "+ids[0], "enter "+ids[3], "enter "+ids[0]) // as long as the context is gone; the other one knows its objective now
}

// Temporal knows which were stopped, also if that is so long ago that it does not list them: all of these are closed,
// and none of those that are gone.
func TestReconciler_closesAllThatWereStopped(t *testing.T) {
	w, ids := newWorld(8)
	w.list, w.unlisted = nil, true
	for i, id := range ids {
		w.fates[id] = []workflows.Fate{workflows.FateStopped, workflows.FateGone}[i%2]
	}
	once(t, w.reconciler(zap.NewNop()))
	w.did(t, "close "+ids[0], "close "+ids[2], "close "+ids[4], "close "+ids[6])
}

// When a Temporal has lost much at once, or is another one, nothing is closed by itself, and
// the log says so once.
func TestReconciler_closesFewByItself(t *testing.T) {
	w, ids := newWorld(5)
	w.list = nil
	for _, id := range ids {
		w.fates[id] = workflows.FateGone
	}
	core, logs := observer.New(zap.ErrorLevel)
	r := w.reconciler(zap.New(core))
	r.Doubt(ids[0])
	once(t, r)
	once(t, r)
	w.did(t)
	if logs.Len() != 1 {
		t.Errorf("it logged %v", logs.All())
	}
	for _, fate := range []workflows.Fate{workflows.FateRunning, workflows.FateGone} { // they were there for a while
		for _, id := range ids {
			w.fates[id] = fate
		}
		once(t, r)
	}
	if w.did(t); logs.Len() != 2 {
		t.Errorf("it logged %v", logs.All())
	}
	lost, err := r.Lost(t.Context())
	if err != nil || lost.Open != 5 || len(lost.Objectives) != 5 {
		t.Errorf("lost = %+v, %v", lost, err)
	}
	for _, id := range lost.Objectives { // as an operator does
		test.Error(t, "the call", nil, r.Close(t.Context(), id))
	}
}

// It looks at its start and every minute, every few seconds at what Temporal lists as stopped, and
// at once at an objective that is in doubt.
func TestReconciler_Run(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, ids := newWorld(5)
		lose := func(id string, fate workflows.Fate) {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.fates[id] = fate
			w.list = slices.DeleteFunc(w.list, func(listed string) bool { return listed == id })
		}
		lose(ids[0], workflows.FateGone)
		r := w.reconciler(zap.NewNop())
		ctx, cancel := context.WithCancel(t.Context())
		go r.Run(ctx)
		want := []string{"close " + ids[0]}
		expect := func(after time.Duration, more ...string) {
			t.Helper()
			time.Sleep(after)
			synctest.Wait()
			want = append(want, more...)
			w.did(t, want...)
		}
		expect(time.Millisecond)
		lose(ids[1], workflows.FateStopped)
		expect(3*time.Second, "close "+ids[1])
		lose(ids[2], workflows.FateGone)
		expect(10 * time.Second) // Temporal lists it nowhere
		lose(ids[3], workflows.FateGone)
		r.Doubt(ids[3])
		expect(time.Millisecond, "close "+ids[2], "close "+ids[3]) // others may be gone, too
		lose(ids[4], workflows.FateGone)
		r.Doubt(ids[4])
		expect(6*time.Second, "close "+ids[4])
		expect(time.Minute)
		cancel()
		synctest.Wait()
	})
}

// Temporal may lose its data at any time: what calls do not find is not closed, either, while that
// may be too much.
func TestReconciler_Run_losesEverything(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, ids := newWorld(5)
		r := w.reconciler(zap.NewNop())
		ctx, cancel := context.WithCancel(t.Context())
		go r.Run(ctx)
		time.Sleep(10 * time.Second)
		w.mu.Lock()
		w.list = nil
		for _, id := range ids {
			w.fates[id] = workflows.FateGone
		}
		w.mu.Unlock()
		for range 2 {
			for _, id := range ids {
				r.Doubt(id)
			}
			time.Sleep(5 * time.Second)
		}
		cancel()
		synctest.Wait()
		w.did(t)
	})
}

// One that has failed by itself is looked at once, though Temporal lists it for a minute.
func TestReconciler_endedByItself(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, _ := newWorld(1)
		failed := opt.NewObjectiveID([16]byte{2})
		w.fates[failed] = workflows.FateStopped
		ctx, cancel := context.WithCancel(t.Context())
		go w.reconciler(zap.NewNop()).Run(ctx)
		time.Sleep(30 * time.Second)
		cancel()
		synctest.Wait()
		test.Is(t, "it was read times", 1, w.reads[failed])
	})
}

// One that has failed by itself, and was begun again and stopped while Temporal lists that, is closed as soon as others.
func TestReconciler_stoppedSoonAfterItHadFailed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, ids := newWorld(1)
		again := w.open[ids[0]]
		delete(w.open, ids[0])
		w.failed = []workflows.StoppedRun{{WorkflowID: ids[0], RunID: "first"}}
		go w.reconciler(zap.NewNop()).Run(t.Context())
		time.Sleep(10 * time.Second)
		w.mu.Lock()
		w.open[ids[0]], w.fates[ids[0]] = again, workflows.FateStopped
		w.mu.Unlock()
		time.Sleep(4 * time.Second)
		synctest.Wait()
		w.did(t, "close "+ids[0])
	})
}

// An objective that was stopped before its beginning was recorded is in the journal soon, and is closed.
func TestReconciler_recordsTheBeginning(t *testing.T) {
	w, ids := newWorld(2)
	w.unrecorded = map[string]*opt.Objective{ids[0]: w.open[ids[0]], ids[1]: w.open[ids[1]]}
	clear(w.open)
	w.fates[ids[0]] = workflows.FateStopped // the other one runs
	synctest.Test(t, func(t *testing.T) {
		go w.reconciler(zap.NewNop()).Run(t.Context())
		time.Sleep(4 * time.Second)
		synctest.Wait()
		w.did(t, "record "+ids[0], "close "+ids[0])
	})
}

// The end of an objective whose worker was lost before it recorded that is in the result of its
// workflow. It is recorded, and no work is closed as lost, however many objectives there are.
func TestReconciler_settles(t *testing.T) {
	for name, tt := range map[string]struct {
		by      func(*testing.T, *reconcile.Reconciler)
		refuses bool
		unread  error
		want    string
	}{
		"when all is compared":    {by: once, want: "record"},
		"when a worker was lost":  {by: func(t *testing.T, r *reconcile.Reconciler) { r.Settle(t.Context(), time.Now()) }, want: "record"},
		"it cannot be read":       {by: once, unread: errors.New("Temporal is away")},
		"the journal has another": {by: once, refuses: true, want: "record, close"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w, ids := newWorld(5) // more than may be closed at a time
				w.list, w.refuses, w.unread, w.last = nil, tt.refuses, tt.unread, map[string][]opt.Batch{}
				for _, id := range ids {
					w.fates[id], w.last[id] = workflows.FateEnded, []opt.Batch{{ObjectiveID: id, Source: id}}
				}
				tt.by(t, w.reconciler(zap.NewNop()))
				slices.Sort(w.done)
				var want []string
				for what := range strings.SplitSeq(tt.want, ", ") {
					for _, id := range ids {
						if what != "" {
							want = append(want, what+" "+id)
						}
					}
				}
				slices.Sort(want)
				w.did(t, want...)
			})
		})
	}
}

func TestReconciler_Close(t *testing.T) {
	w, ids := newWorld(2)
	w.fates[ids[0]] = workflows.FateEnded
	r := w.reconciler(zap.NewNop())
	for id, want := range map[string]error{ids[0]: nil, ids[1]: opt.ErrConflict, "obj-x": opt.ErrUnknown} {
		if err := r.Close(t.Context(), id); !errors.Is(err, want) {
			t.Errorf("Close(%s) = %v, want %v", id, err, want)
		}
	}
}
