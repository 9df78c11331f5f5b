package journal_test

import (
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"longhaul/internal/journal"
	"longhaul/internal/test"
	"longhaul/opt"
)

// An observed keeps the calls of a journal to its observer.
type observed struct {
	mu       sync.Mutex
	commits  []int // writes of transactions that succeeded
	failed   int
	notified chan struct{}
	looks    chan bool
}

func newObserved() *observed {
	return &observed{notified: make(chan struct{}, 1000), looks: make(chan bool, 1000)}
}

func (o *observed) Committed(writes int, took time.Duration, err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if err != nil || took <= 0 {
		o.failed++
		return
	}
	o.commits = append(o.commits, writes)
}

func (o *observed) Notified()          { o.notified <- struct{}{} }
func (o *observed) Looked(missed bool) { o.looks <- missed }

func (o *observed) reset() (commits []int, failed int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	commits, failed = o.commits, o.failed
	o.commits, o.failed = nil, 0
	return commits, failed
}

// Writes that come while one is committed are committed together.
func TestObserver_commits(t *testing.T) {
	t.Parallel()
	to := newObserved()
	j := openWith(t, journal.Config{Path: file(t), Sync: "normal", Observer: to})
	s := begin(t, j, newObjective())
	to.reset()
	release := j.Hold(t.Context())
	var wg sync.WaitGroup
	for range 5 {
		batch := s.as(newObjective().ID, j).batch(s.rootMoved(opt.TaskWorking))
		wg.Go(func() {
			test.Error(t, "the call", nil, j.Record(t.Context(), batch))
		})
	}
	deadline := time.Now().Add(patience)
	for j.Activity().Waiting < 5 && time.Now().Before(deadline) {
		runtime.Gosched()
	}
	if now := j.Activity(); now.Waiting != 5 || now.Reads != 0 || now.Watches != 0 {
		t.Errorf("activity %+v, want 5 writes that wait", now)
	}
	test.OK(t, release())
	wg.Wait()
	if commits, failed := to.reset(); len(commits) != 1 || commits[0] != 6 || failed != 0 {
		t.Errorf("commits of %v writes, %d failed, want one of the held write and 5", commits, failed)
	}
	watch := j.Watch(s.objective.ID)
	test.Is(t, "activity", journal.Activity{Watches: 1}, j.Activity())
	watch.Close()
	test.Is(t, "activity", journal.Activity{}, j.Activity())
}

// A check finds a commit without a notification, and the observer gets that.
func TestObserver_notifications(t *testing.T) {
	t.Parallel()
	url, to := database(t), newObserved()
	j := openWith(t, journal.Config{URL: url, Migrate: true, Observer: to})
	s := begin(t, openURL(t, url), newObjective())
	listens(t, j)
	watch := j.Watch(s.objective.ID)
	defer watch.Close()
	s.record(s.rootMoved(opt.TaskWorking))
	<-watch.C()
	select {
	case <-to.notified:
	case <-time.After(patience):
		t.Fatal("no notification was observed")
	}
	test.OK(t, j.Script(t.Context(), "UPDATE objectives SET seq = seq + 1")) // without a notification
	look := func() (missed bool) {
		select {
		case missed = <-to.looks:
		case <-time.After(patience):
			t.Fatal("no look was observed")
		}
		return missed
	}
	for !look() { // it may have begun before the change
	}
	if look() {
		t.Error("the next look has found the same again")
	}
}

// Each event is announced once, even if it is recorded again, and not if it was refused.
func TestRecord_announces(t *testing.T) {
	t.Parallel()
	var announced []journal.Recorded
	j := openWith(t, journal.Config{Path: file(t), Sync: "normal", Recorded: func(r journal.Recorded) { announced = append(announced, r) }})
	s := begin(t, j, newObjective())
	first := s.batch(planAdded(s.objective, 0, 1), s.moved(0, 0, opt.TaskWorking))
	second := s.batch(s.moved(0, 0, opt.TaskCompleted))
	both := opt.Batch{ObjectiveID: first.ObjectiveID, Source: first.Source, Events: append(first.Events[1:2:2], second.Events...)}
	for _, b := range []opt.Batch{first, first, both, second} {
		test.OK(t, j.Record(t.Context(), b))
	}
	late := s.batch(s.moved(0, 0, opt.TaskWorking))
	late.Events[0].N++
	test.Fails(t, "a gap was recorded", "", j.Record(t.Context(), late))
	var got []opt.EventKind
	for _, r := range announced {
		if r.ObjectiveID != s.objective.ID || r.CreatedAt != s.objective.CreatedAt.Millis() {
			t.Errorf("announced %+v", r)
		}
		for _, e := range r.Events {
			got = append(got, e.Kind)
		}
	}
	if want := []opt.EventKind{opt.ObjectiveOpened, opt.PlanAdded, opt.TaskMoved, opt.TaskMoved}; len(announced) != 3 || !slices.Equal(got, want) {
		t.Errorf("announced %d times of %s, want 3 times of %s", len(announced), got, want)
	}
}
