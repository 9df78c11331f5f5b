package activities_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.temporal.io/sdk/temporal"

	"longhaul/activities"
	"longhaul/internal/test"
	"longhaul/opt"
	"longhaul/opt/access"
)

// A lender counts the slots that are lent, and is crowded while more are than it says.
type lender struct {
	lent atomic.Int32
	most int32 // 0 for any number
}

func (l *lender) Crowded() bool { return l.most > 0 && l.lent.Load() > l.most }

func (l *lender) Lend() (retake func()) {
	l.lent.Add(1)
	return func() { l.lent.Add(-1) }
}

// A watcher keeps the quotas that were exceeded.
type watcher struct {
	activities.Observer
	quotas []string
}

func (*watcher) Ran(string, string, time.Duration) {}
func (*watcher) Running(string, int)               {}
func (*watcher) Waiting(string, int)               {}
func (w *watcher) Exceeded(quota string)           { w.quotas = append(w.quotas, quota) }

// quotas returns limits of tenants.
func quotas(t *testing.T, texts ...string) access.Quotas {
	t.Helper()
	q := test.Value(access.Quotas{}.With(texts...))(t)
	return q
}

// A site runs tasks with the executors slow, which has a limit, and fast. Each runs until
// the test ends it.
type site struct {
	t     *testing.T
	acts  *activities.Activities
	slots *lender
	seen  *watcher
	mu    sync.Mutex // two may begin when one ends
	began []string
	next  map[string]chan struct{} // by id
	ended chan error
}

func (s *site) Execute(ctx context.Context, w activities.Work, _ activities.Stream) (activities.Outcome, error) {
	s.mu.Lock()
	s.began = append(s.began, w.TaskID)
	s.mu.Unlock()
	select {
	case <-s.next[w.TaskID]:
		return activities.Completed(), nil
	case <-ctx.Done():
		return activities.Outcome{}, ctx.Err()
	}
}

func newSite(t *testing.T, slow int, quota ...string) *site {
	s := &site{t: t, slots: &lender{}, seen: &watcher{}, next: map[string]chan struct{}{}, ended: make(chan error, 99)}
	s.acts = activities.New(activities.Config{
		Recorder: &recorder{}, Executors: map[string]activities.Executor{"slow": s, "fast": s}, Limits: map[string]int{"slow": slow},
		Quotas: quotas(t, quota...), Slots: s.slots, Observer: s.seen,
	})
	return s
}

// send sends tasks of a tenant to an executor, one after another.
func (s *site) send(ctx context.Context, tenant, kind string, ids ...string) {
	for _, id := range ids {
		s.next[id] = make(chan struct{})
		w := work
		w.Tenant, w.Executor, w.TaskID = tenant, kind, id
		go func() {
			_, err := s.acts.Run(ctx, activities.RunInput{Work: w})
			s.ended <- err
		}()
		synctest.Wait()
	}
}

// end ends tasks that run, one after another.
func (s *site) end(ids ...string) {
	for _, id := range ids {
		close(s.next[id])
		synctest.Wait()
	}
}

// want checks which tasks have begun so far, in order.
func (s *site) want(when string, ids ...string) {
	s.t.Helper()
	test.Equal(s.t, when+": tasks that began", ids, s.began)
}

// lent checks how many slots are lent.
func (s *site) lent(want int32) {
	s.t.Helper()
	test.Is(s.t, "slots are lent", want, s.slots.lent.Load())
}

// finish checks that n tasks have ended well, and that no slot is lent.
func (s *site) finish(n int) {
	s.t.Helper()
	for range n {
		test.Error(s.t, "the call", nil, <-s.ended)
	}
	s.lent(0)
}

// An executor with a limit runs no more tasks at a time. Those that wait lend their
// slots; other executors do not wait.
func TestRun_limit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t, 2)
		gone, cancel := context.WithCancel(t.Context())
		s.send(t.Context(), "a", "slow", "s1", "s2", "s3")
		s.lent(1)
		s.send(gone, "a", "slow", "gone")
		s.lent(2)
		s.send(t.Context(), "a", "fast", "f1")
		s.want("within the limit", "s1", "s2", "f1")
		cancel()
		test.Fails(t, "a canceled task that waited has no error", "", <-s.ended)
		s.lent(1)
		s.end("s1", "s2")
		s.want("after the first", "s1", "s2", "f1", "s3")
		s.end("f1", "s3")
		s.finish(4)
	})
}

// Tenants get the permits of an executor in turns, each of them for its tasks in order. One
// that comes again, or for the first time, does not precede those whose turn it is.
func TestRun_limitTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t, 1)
		gone, cancel := context.WithCancel(t.Context())
		s.send(t.Context(), "a", "slow", "a0", "a1", "a2", "a3", "a4", "a5")
		s.send(gone, "a", "slow", "gone")
		s.send(t.Context(), "b", "slow", "b1", "b2")
		s.send(gone, "c", "slow", "gone, too")
		cancel()
		s.end("a0", "a1", "b1")
		s.send(t.Context(), "c", "slow", "c1")
		s.end("a2", "b2", "a3")
		s.send(t.Context(), "b", "slow", "b3")
		s.end("c1", "a4", "b3", "a5")
		s.want("in turns", "a0", "a1", "b1", "a2", "b2", "a3", "c1", "a4", "b3", "a5")
	})
}

// When the worker stops, a task that waits because of a limit is handed back at once.
func TestRun_limitWorkerStops(t *testing.T) {
	stop, began := make(chan struct{}), make(chan struct{})
	cfg := config(&recorder{}, func(ctx context.Context, _ activities.Work, _ activities.Stream) (activities.Outcome, error) {
		close(began)
		<-ctx.Done()
		return activities.Completed(), nil
	})
	cfg.Limits = map[string]int{"test": 1}
	w := newWorker(cfg)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_, _ = w.acts.Run(ctx, activities.RunInput{Work: work}) // it only uses the limit up
	}()
	<-began
	close(stop)
	w.givesBack(t, stop, w.acts.Run, activities.RunInput{Work: work})
	cancel()
	<-ended
}

// A tenant runs as many tasks in a worker as its quota says, with all executors together. Others
// wait without a slot, and go back to Temporal after a minute, or after a quarter of the time
// that they have: nothing fails. Other tenants do not wait, and neither do the outcomes of
// callbacks.
func TestRun_quota(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t, 0, "running-tasks=2", "free:running-tasks=0")
		handedBack := func(after time.Duration) {
			t.Helper()
			since := time.Now()
			if app := application(t, <-s.ended); app.Type() != activities.QuotaError || app.NonRetryable() {
				t.Errorf("got type %q, non-retryable %t", app.Type(), app.NonRetryable())
			} else if before, text := -1, ""; app.Details(&before, &text) != nil || before != 0 || !strings.Contains(text, "the quota running-tasks of the tenant: 2 of 2 used") {
				t.Errorf("%d runs may have begun before, want 0; it says %q", before, text)
			}
			test.Is(t, "it went back after", after, time.Since(since))
			s.lent(0)
		}
		s.send(t.Context(), "large", "slow", "l1", "l2")
		s.send(t.Context(), "large", "fast", "waits")
		s.lent(1)
		s.send(t.Context(), "small", "slow", "s1")
		s.send(t.Context(), "free", "slow", "f1", "f2", "f3")
		handedBack(time.Minute)
		soon, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		defer cancel()
		s.send(soon, "large", "slow", "soon")
		handedBack(5 * time.Second)
		gone, leave := context.WithCancel(t.Context())
		s.send(gone, "large", "slow", "gone")
		leave()
		if err := <-s.ended; err != context.Canceled {
			t.Errorf("a canceled task that waited: %v", err)
		}
		w, done := work, activities.Completed()
		w.Tenant, w.Executor = "large", "slow"
		test.Is(t, "the outcome of a callback", opt.TaskCompleted, test.Value(s.acts.Run(t.Context(), activities.RunInput{Work: w, Returned: &done}))(t).State)
		s.send(t.Context(), "large", "fast", "l3")
		s.end("l1", "l2", "s1", "f1", "f2", "f3", "l3")
		s.want("within the quota", "l1", "l2", "s1", "f1", "f2", "f3", "l3")
		s.finish(7)
		if want := []string{"running-tasks", "running-tasks", "running-tasks", "running-tasks"}; !cmp.Equal(s.seen.quotas, want) {
			t.Errorf("exceeded %v, want %v", s.seen.quotas, want)
		}
	})
}

// While so many tasks of a tenant wait that the worker has no slot for others, one after another
// goes back, and no more than need to.
func TestRun_quotaMakesRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t, 0, "running-tasks=1")
		s.slots.most = 2
		s.send(t.Context(), "a", "fast", "runs", "w1", "w2", "w3", "w4", "w5")
		for _, want := range []int{0, 1, 2, 3, 3} {
			synctest.Wait()
			test.Is(t, "tasks have gone back", want, len(s.ended))
			<-time.After(500 * time.Millisecond) // of the clock of the bubble
		}
		s.end("runs", "w1", "w2", "w3", "w4", "w5")
		handedBack := 0
		for range 6 {
			if err := <-s.ended; err != nil {
				handedBack++
			}
		}
		test.Is(t, "tasks have gone back", 3, handedBack)
	})
}

// used says how much contexts have used of each quota.
type used map[string]int64

func (u used) Usage(_ context.Context, tenant, contextID string, _ access.Quota) (int64, error) {
	if n, ok := u[tenant+"/"+contextID]; ok {
		return n, nil
	}
	return 0, context.DeadlineExceeded
}

// No step begins after its tenant or context has used what it may, or if that is not known: it goes back to the
// queue. What cancels work is not held up.
func TestRun_spending(t *testing.T) {
	for of, tt := range map[string]struct {
		cancel, collects, runs bool
	}{
		"acme/below": {runs: true}, "acme/at": {}, "acme/at ": {cancel: true, runs: true}, "acme/at  ": {collects: true, runs: true},
		"acme/unknown": {}, "globex/unknown": {runs: true},
	} {
		seen := &watcher{}
		echo := executor(func(context.Context, activities.Work, activities.Stream) (activities.Outcome, error) {
			return activities.Completed(), nil
		})
		acts := activities.New(activities.Config{
			Recorder: &recorder{}, Executors: map[string]activities.Executor{"echo": echo}, Quotas: quotas(t, "acme:context-calls-in-all=5"), Observer: seen,
			Usage: used{"acme/below": 4, "acme/at": 5, "acme/at ": 5, "acme/at  ": 5},
		})
		w := work
		w.Executor, w.Cancel = "echo", tt.cancel
		w.Tenant, w.ContextID, _ = strings.Cut(of, "/")
		_, err := acts.Run(t.Context(), activities.RunInput{Work: w, Collects: tt.collects})
		var back *temporal.ApplicationError
		if (err == nil) != tt.runs || err != nil && (!errors.As(err, &back) || back.Type() != activities.QuotaError) {
			t.Errorf("%s: %v", of, err)
		}
		if full := len(seen.quotas) > 0; full != (of == "acme/at") || full != (err != nil && strings.Contains(err.Error(), "used up")) {
			t.Errorf("%s: quotas %v are used up, and the error is %v", of, seen.quotas, err)
		} else if full {
			before, text := -1, ""
			if err := back.Details(&before, &text); err != nil || before != 0 || text != "Waits for the quota context-calls-in-all of the context: 5 of 5 used, until the limit is raised." {
				t.Errorf("its details are %d and %q, %v", before, text, err)
			}
		}
	}
}

// A step that a quota has held back says when it continues.
func TestRun_spendingGoesOn(t *testing.T) {
	for held, want := range map[bool]int{true: 1, false: 0} {
		to := &recorder{}
		acts := activities.New(config(to, func(context.Context, activities.Work, activities.Stream) (activities.Outcome, error) {
			return activities.Completed(), nil
		}))
		test.Value(acts.Run(t.Context(), activities.RunInput{Work: work, Held: held}))(t)
		said := 0
		for _, batch := range to.batches {
			for _, e := range batch.Events {
				if e.Kind == opt.TaskProgressed && e.Status.Text() == "The quota has room again." {
					said++
				}
			}
		}
		if said != want {
			t.Errorf("held %t: it says so %d times", held, said)
		}
	}
}

// Where questions count, a human task asks when there is room; a standing decision needs none.
func TestLookUp_questions(t *testing.T) {
	for name, tt := range map[string]struct {
		used   int64
		counts bool
		by     opt.StandingUse
		waits  bool
	}{
		"room": {4, true, opt.StandingUse{}, false}, "no room": {5, true, opt.StandingUse{}, true},
		"not counted": {5, false, opt.StandingUse{}, false}, "decided": {5, true, opt.StandingUse{ID: "sd-1"}, false},
	} {
		acts := activities.New(activities.Config{
			Recorder: &recorder{}, Quotas: quotas(t, "questions-per-day=5", "calls-per-day=1"), Standing: standingUse{tt.by},
			Usage: used{"acme/c": tt.used}, Observer: &watcher{},
		})
		got, err := acts.LookUp(t.Context(), opt.StandingQuestion{Tenant: "acme", ContextID: "c", Counts: tt.counts})
		var back *temporal.ApplicationError
		if waits := errors.As(err, &back) && back.Type() == activities.QuotaError; waits != tt.waits || !waits && (err != nil || got.ID != tt.by.ID) {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
}

// A standingUse is what standing decisions say about each gate.
type standingUse struct{ opt.StandingUse }

func (s standingUse) Decide(context.Context, opt.StandingQuestion) (opt.StandingUse, error) {
	return s.StandingUse, nil
}
