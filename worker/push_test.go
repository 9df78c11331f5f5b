package worker_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"longhaul/internal/test"
	"longhaul/opt"
	"longhaul/opt/outbox"
	"longhaul/worker"
)

// waitingPushes is a journal with configs that wait, and an engine that takes them. Its log
// has each hand-over with the time since the start.
type waitingPushes struct {
	mu     sync.Mutex
	due    []outbox.PushKey
	began  time.Time
	log    []string
	fail   int // calls of Push that fail first
	lose   int // calls of PushesHanded that fail first
	signal chan struct{}
}

func (o *waitingPushes) add(ids ...string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, id := range ids {
		o.due = append(o.due, outbox.PushKey{TaskID: "task", ConfigID: id})
	}
}

func (o *waitingPushes) PushesDue(_ context.Context, limit int) ([]outbox.PushKey, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.Clone(o.due[:min(limit, len(o.due))]), nil
}

func (o *waitingPushes) PushesHanded(_ context.Context, list []outbox.PushKey) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.lose--; o.lose >= 0 {
		return errors.New("the journal is locked")
	}
	o.due = slices.DeleteFunc(o.due, func(k outbox.PushKey) bool { return slices.Contains(list, k) })
	return nil
}

func (o *waitingPushes) PushSignal() <-chan struct{} { return o.signal }

func (o *waitingPushes) Push(_ context.Context, k outbox.PushKey) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.fail--; o.fail >= 0 {
		return opt.ErrUnavailable
	}
	if k.ConfigID == "bad" {
		return errors.New("the request is invalid")
	}
	o.log = append(o.log, fmt.Sprint(time.Since(o.began), " ", k.ConfigID))
	return nil
}

// A change is something that happens to waitingPushes at a time after the start.
type change struct {
	after time.Duration
	do    func(o *waitingPushes)
}

// dispatch runs a dispatcher for a minute of simulated time, and checks its
// hand-overs.
func dispatch(t *testing.T, o *waitingPushes, changes []change, want ...string) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		o.signal, o.began = make(chan struct{}, 1), time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		for _, c := range changes {
			time.AfterFunc(c.after, func() { c.do(o) })
		}
		worker.Dispatcher{Outbox: o, To: o}.Run(ctx)
	})
	test.Equal(t, "hand-overs", want, o.log)
}

// A signal is handled at once, deliveries of other processes with the next poll.
func TestDispatcher(t *testing.T) {
	o := &waitingPushes{}
	o.add("a", "b")
	dispatch(t, o, []change{
		{300 * time.Millisecond, func(o *waitingPushes) { o.add("c"); o.signal <- struct{}{} }},
		{500 * time.Millisecond, func(o *waitingPushes) { o.add("d") }},
	}, "0s a", "0s b", "300ms c", "1.3s d")
}

// A delivery that could not be handed over is handed over later. One that could not be
// noted is handed over twice.
func TestDispatcher_goesOnAfterFailures(t *testing.T) {
	o := &waitingPushes{fail: 1, lose: 2}
	o.add("a")
	dispatch(t, o, nil, "5s a", "10s a")
}

// A config that the engine refuses does not hold up the others.
func TestDispatcher_passesOverOne(t *testing.T) {
	o := &waitingPushes{}
	o.add("a", "bad", "b")
	dispatch(t, o, nil, "0s a", "0s b")
}

func TestDispatcher_handsOverManyAtOnce(t *testing.T) {
	o := &waitingPushes{}
	want := make([]string, 250)
	for i := range want {
		id := strconv.Itoa(i)
		o.add(id)
		want[i] = "0s " + id
	}
	dispatch(t, o, nil, want...)
}
