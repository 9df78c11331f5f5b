package activities_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"longhaul/activities"
	"longhaul/opt"
)

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
func quotas(t *testing.T, texts ...string) opt.Quotas {
	t.Helper()
	q, err := opt.Quotas{}.With(texts...)
	if err != nil {
		t.Fatal(err)
	}
	return q
}

// A tenant runs as many tasks in a worker as its quota says, with all executors together. Others
// wait without a slot, and go back to Temporal after a minute, or after a quarter of the time
// that they have: nothing fails. Other tenants do not wait, and neither do the outcomes of
// callbacks.
func TestRun_quota(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		next, began, slots, seen := make(chan struct{}), make(chan string, 9), &lender{}, &watcher{}
		wait := executor(func(_ context.Context, w activities.Work, _ activities.Stream) (activities.Outcome, error) {
			began <- w.Tenant
			<-next
			return activities.Completed(), nil
		})
		acts := activities.New(activities.Config{
			Recorder: &recorder{}, Executors: map[string]activities.Executor{"one": wait, "two": wait},
			Quotas: quotas(t, "running-tasks=2", "free:running-tasks=0"), Slots: slots, Observer: seen,
		})
		ended := make(chan error, 9)
		run := func(ctx context.Context, tenant, kind string) {
			w := work
			w.Tenant, w.Executor = tenant, kind
			go func() {
				_, err := acts.Run(ctx, activities.RunInput{Work: w})
				ended <- err
			}()
			synctest.Wait()
		}
		var got []string
		drain := func() {
			for len(began) > 0 {
				got = append(got, <-began)
			}
		}
		handedBack := func(after time.Duration) {
			t.Helper()
			since := time.Now()
			if app := application(t, <-ended); app.Type() != activities.QuotaError || app.NonRetryable() {
				t.Errorf("got type %q, non-retryable %t", app.Type(), app.NonRetryable())
			} else if before := -1; app.Details(&before) != nil || before != 0 {
				t.Errorf("%d runs may have begun before, want 0", before)
			}
			if waited := time.Since(since); waited != after || slots.lent.Load() != 0 {
				t.Errorf("it went back after %v with %d slots lent, want after %v and 0", waited, slots.lent.Load(), after)
			}
		}
		for range 2 {
			run(t.Context(), "large", "one")
		}
		run(t.Context(), "large", "two") // waits
		if slots.lent.Load() != 1 {
			t.Errorf("%d slots are lent, want 1", slots.lent.Load())
		}
		run(t.Context(), "small", "one")
		for range 3 {
			run(t.Context(), "free", "one")
		}
		drain()
		handedBack(time.Minute)
		soon, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		defer cancel()
		run(soon, "large", "one")
		handedBack(5 * time.Second)
		gone, leave := context.WithCancel(t.Context())
		run(gone, "large", "one")
		leave()
		if err := <-ended; err != context.Canceled {
			t.Errorf("a canceled task that waited: %v", err)
		}
		w, done := work, activities.Completed()
		w.Tenant, w.Executor = "large", "one"
		if out, err := acts.Run(t.Context(), activities.RunInput{Work: w, Returned: &done}); err != nil || out.State != opt.TaskCompleted {
			t.Errorf("the outcome of a callback: %v, %v", out, err)
		}

		run(t.Context(), "large", "two")
		next <- struct{}{} // one of the six ends, so another of the large tenant may begin
		for range 5 {
			next <- struct{}{}
		}
		synctest.Wait()
		drain()
		close(next)
		for range 7 {
			if err := <-ended; err != nil {
				t.Error(err)
			}
		}
		if diff := cmp.Diff([]string{"large", "large", "small", "free", "free", "free", "large"}, got); diff != "" {
			t.Errorf("tasks that began (-want +got):\n%s", diff)
		}
		if want := []string{"running-tasks", "running-tasks", "running-tasks", "running-tasks"}; !cmp.Equal(seen.quotas, want) {
			t.Errorf("exceeded %v, want %v", seen.quotas, want)
		}
	})
}

// While so many tasks of a tenant wait that the worker has no slot for others, one after another
// goes back, and no more than need to.
func TestRun_quotaMakesRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		next, slots := make(chan struct{}), &lender{most: 2}
		acts := activities.New(activities.Config{
			Recorder: &recorder{}, Default: "one", Quotas: quotas(t, "running-tasks=1"), Slots: slots,
			Executors: map[string]activities.Executor{"one": executor(func(context.Context, activities.Work, activities.Stream) (activities.Outcome, error) {
				<-next
				return activities.Completed(), nil
			})},
		})
		ended := make(chan error, 9)
		for range 6 { // one runs, and five wait
			go func() {
				_, err := acts.Run(t.Context(), activities.RunInput{Work: work})
				ended <- err
			}()
		}
		for _, want := range []int{0, 1, 2, 3, 3} {
			synctest.Wait()
			if got := len(ended); got != want {
				t.Errorf("%d tasks have gone back, want %d", got, want)
			}
			<-time.After(500 * time.Millisecond) // of the clock of the bubble
		}
		close(next)
		handedBack := 0
		for range 6 {
			if err := <-ended; err != nil {
				handedBack++
			}
		}
		if handedBack != 3 {
			t.Errorf("%d tasks have gone back, want 3", handedBack)
		}
	})
}
