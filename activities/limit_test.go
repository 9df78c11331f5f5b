package activities_test

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"longhaul/activities"
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

// An executor with a limit runs no more tasks at a time. Those that wait lend their
// slots; other executors do not wait.
func TestRun_limit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		next, began, slots := make(chan struct{}), make(chan struct{}, 9), &lender{}
		wait := executor(func(context.Context, activities.Work, activities.Stream) (activities.Outcome, error) {
			began <- struct{}{}
			<-next
			return activities.Completed(), nil
		})
		acts := activities.New(activities.Config{
			Recorder: &recorder{}, Default: "few", Executors: map[string]activities.Executor{"few": wait, "many": wait},
			Limits: map[string]int{"few": 2}, Slots: slots,
		})
		ended := make(chan error, 9)
		run := func(ctx context.Context, kind string) {
			w := work
			w.Executor = kind
			_, err := acts.Run(ctx, activities.RunInput{Work: w})
			ended <- err
		}
		check := func(when string, running int, lent int32) {
			t.Helper()
			synctest.Wait()
			if got := len(began); got != running || slots.lent.Load() != lent {
				t.Errorf("%s: %d tasks have begun and %d slots are lent, want %d and %d", when, got, slots.lent.Load(), running, lent)
			}
		}
		ctx, cancel := context.WithCancel(t.Context())
		for range 3 {
			go run(t.Context(), "few")
		}
		check("three of few", 2, 1)
		go run(ctx, "few")
		check("four of few", 2, 2)
		go run(t.Context(), "many")
		check("one of many", 3, 2)
		cancel()
		check("one of few is canceled", 3, 1)
		if err := <-ended; err == nil {
			t.Error("a canceled task that waited has no error")
		}
		close(next)
		check("the first have ended", 4, 0)
		for range 4 {
			if err := <-ended; err != nil {
				t.Error(err)
			}
		}
	})
}

// Tenants get the permits of an executor in turns, each of them for its tasks in order. One
// that comes again, or for the first time, does not precede those whose turn it is.
func TestRun_limitTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		next, began := make(chan struct{}), make(chan string, 99)
		acts := activities.New(activities.Config{
			Recorder: &recorder{}, Default: "one", Limits: map[string]int{"one": 1},
			Executors: map[string]activities.Executor{"one": executor(func(_ context.Context, w activities.Work, _ activities.Stream) (activities.Outcome, error) {
				began <- w.TaskID
				<-next
				return activities.Completed(), nil
			})},
		})
		var got []string
		send := func(ctx context.Context, tenant string, ids ...string) {
			for _, id := range ids {
				w := work
				w.Tenant, w.TaskID = tenant, id
				go func() { _, _ = acts.Run(ctx, activities.RunInput{Work: w}) }()
				synctest.Wait()
			}
		}
		end := func(times int) {
			for range times {
				got = append(got, <-began)
				next <- struct{}{}
				synctest.Wait()
			}
		}
		gone, cancel := context.WithCancel(t.Context())
		send(t.Context(), "a", "a0", "a1", "a2", "a3", "a4", "a5")
		send(gone, "a", "gone")
		send(t.Context(), "b", "b1", "b2")
		send(gone, "c", "gone")
		cancel()
		end(3)
		send(t.Context(), "c", "c1")
		end(3)
		send(t.Context(), "b", "b3")
		end(4)
		want := []string{"a0", "a1", "b1", "a2", "b2", "a3", "c1", "a4", "b3", "a5"}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("order of the tasks (-want +got):\n%s", diff)
		}
	})
}

// When the worker stops, a task that waits because of a limit is handed back at once.
func TestRun_limitWorkerStops(t *testing.T) {
	stop, began := make(chan struct{}), make(chan struct{})
	acts := activities.New(activities.Config{
		Recorder: &recorder{}, Default: "test", Limits: map[string]int{"test": 1},
		Executors: map[string]activities.Executor{"test": executor(func(ctx context.Context, _ activities.Work, _ activities.Stream) (activities.Outcome, error) {
			close(began)
			<-ctx.Done()
			return activities.Completed(), nil
		})},
	})
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_, _ = acts.Run(ctx, activities.RunInput{Work: work}) // it only uses the limit up
	}()
	<-began
	close(stop)
	givesBack(t, acts, stop, work)
	cancel()
	<-ended
}
