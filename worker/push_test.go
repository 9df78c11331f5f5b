package worker_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"longhaul/opt"
	"longhaul/worker"
)

// outbox is a journal with configs that wait, and an engine that takes them.
type outbox struct {
	mu      sync.Mutex
	due     []opt.PushKey
	started []string
	fail    int // calls of Push that fail first
	lose    int // calls of PushesHanded that fail first
	signal  chan struct{}
}

func (o *outbox) add(ids ...string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, id := range ids {
		o.due = append(o.due, opt.PushKey{TaskID: "task", ConfigID: id})
	}
}

func (o *outbox) PushesDue(_ context.Context, limit int) ([]opt.PushKey, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.Clone(o.due[:min(limit, len(o.due))]), nil
}

func (o *outbox) PushesHanded(_ context.Context, list []opt.PushKey) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.lose--; o.lose >= 0 {
		return errors.New("the journal is locked")
	}
	o.due = slices.DeleteFunc(o.due, func(k opt.PushKey) bool { return slices.Contains(list, k) })
	return nil
}

func (o *outbox) PushSignal() <-chan struct{} { return o.signal }

func (o *outbox) Push(_ context.Context, k opt.PushKey) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.fail--; o.fail >= 0 {
		return opt.ErrUnavailable
	}
	if k.ConfigID == "bad" {
		return errors.New("the request is invalid")
	}
	o.started = append(o.started, k.ConfigID)
	return nil
}

// dispatch runs a dispatcher in simulated time while play plays.
func dispatch(t *testing.T, o *outbox, play func()) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		o.signal = make(chan struct{}, 1)
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() {
			worker.Dispatcher{Outbox: o, To: o}.Run(ctx)
			close(ended)
		}()
		synctest.Wait()
		play()
		cancel()
		<-ended
	})
}

func (o *outbox) expect(t *testing.T, when string, want ...string) {
	t.Helper()
	synctest.Wait()
	o.mu.Lock()
	defer o.mu.Unlock()
	if diff := cmp.Diff(want, o.started); diff != "" {
		t.Errorf("started %s (-want +got):\n%s", when, diff)
	}
}

func TestDispatcher(t *testing.T) {
	o := &outbox{}
	o.add("a", "b")
	dispatch(t, o, func() {
		o.expect(t, "at the start", "a", "b")
		o.add("c")
		o.signal <- struct{}{}
		o.expect(t, "after a signal", "a", "b", "c")
		o.add("d")
		time.Sleep(900 * time.Millisecond)
		o.expect(t, "before the poll", "a", "b", "c")
		time.Sleep(200 * time.Millisecond)
		o.expect(t, "after the poll", "a", "b", "c", "d")
	})
}

// A delivery that could not be handed over is handed over later. One that could not be
// noted is handed over twice.
func TestDispatcher_goesOnAfterFailures(t *testing.T) {
	o := &outbox{fail: 1, lose: 2}
	o.add("a")
	dispatch(t, o, func() {
		o.expect(t, "while the engine is away")
		time.Sleep(6 * time.Second)
		o.expect(t, "while the journal is locked", "a")
		time.Sleep(6 * time.Second)
		o.expect(t, "at last", "a", "a")
		time.Sleep(6 * time.Second)
		o.expect(t, "later", "a", "a")
	})
}

// A config that the engine refuses does not hold up the others.
func TestDispatcher_passesOverOne(t *testing.T) {
	o := &outbox{}
	o.add("a", "bad", "b")
	dispatch(t, o, func() { o.expect(t, "at the start", "a", "b") })
}

func TestDispatcher_handsOverManyAtOnce(t *testing.T) {
	o := &outbox{}
	want := make([]string, 250)
	for i := range want {
		want[i] = time.Duration(i).String()
		o.add(want[i])
	}
	dispatch(t, o, func() { o.expect(t, "at the start", want...) })
}
