package api_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"longhaul/a2a"
	"longhaul/api/service"
	"longhaul/opt"
)

// Whoever watches a task that is removed is told by the end of the stream, and
// finds no task when they come back.
func TestGone_streamEnds(t *testing.T) {
	s := newService(t)
	url := s.listen(t)
	s.send(t, "m", "slow")
	id := "obj-" + u("m")
	params := `{"id":"` + id + `"}`
	readers := []*reader{
		open(t, url, "1.0", "SubscribeToTask", params),
		open(t, url, "1.0", "SubscribeToTask", params, "A2A-Extensions", a2a.ExtensionOPT),
		open(t, url, "0.3", "tasks/resubscribe", params),
		open(t, url, "1.0", "SubscribeToTask", params, "Last-Event-ID", "1"),
	}
	for _, r := range readers {
		r.event()
	}
	s.journal.forget(id)
	for i, r := range readers {
		for e, ok := r.next(); ok; e, ok = r.next() {
			if e.data.has("error") {
				t.Errorf("reader %d: %v", i, e.data)
			}
		}
	}
	wantCode(t, s.call(t, "SubscribeToTask", params), "-32001")
}

// A wait for a task that is removed is over at once.
func TestGone_waitEnds(t *testing.T) {
	s := newService(t, func(c *config) { c.BlockingWait = time.Minute })
	answer := make(chan node, 1)
	go func() { answer <- s.call(t, "SendMessage", `{"message":`+message("m", "quiet", "")+`}`) }()
	id := "obj-" + u("m")
	s.until(t, func() bool { return len(s.journal.log[id]) > 0 })
	s.journal.forget(id)
	wantCode(t, <-answer, "-32001")
}

// A message that is repeated when the journal has forgotten what it began, and the
// engine has not, brings back nothing.
func TestGone_repeatIsNotFound(t *testing.T) {
	s := newService(t)
	id := s.send(t, "m-1", "Write").at("id").String()
	s.engine.ended = true
	s.journal.forget(id)
	for range 2 {
		n := s.call(t, "SendMessage", `{"message":`+message("m-1", "Write", "")+`}`)
		wantCode(t, n, "-32001")
		if got := n.at("error", "data", "0", "metadata", "taskId").String(); got != id {
			t.Errorf("the error is about task %q: %v", got, n)
		}
	}
	wantCode(t, s.call(t, "SendMessage", `{"message":`+message("m-1", "Write other things", "")+`}`), "-32602")
	wantCode(t, s.call(t, "GetTask", `{"id":"`+id+`"}`), "-32001")
	if len(s.journal.log) != 0 || len(s.engine.starts) != 1 || s.journal.watching() != 0 {
		t.Errorf("%d are recorded, %d were started, %d watches", len(s.journal.log), len(s.engine.starts), s.journal.watching())
	}
}

// An objective that nobody started in time says why it was canceled.
func TestGone_expired(t *testing.T) {
	s := newService(t)
	s.have(t, func(o *opt.Objective) {
		o.Status, o.Root, o.Reason, o.Plans = opt.ObjectiveCanceled, opt.TaskCanceled, opt.Expired, nil
	})
	o := s.call(t, "objectives/get", `{"id":"`+objectiveID+`"}`).at("result", "objective")
	if got := o.at("metadata", "opt/v1/failureReason").String(); got != "expired" {
		t.Errorf("the reason is %q: %v", got, o)
	}
}

// swift is an engine in which the work of an earlier send is over by the time
// that a repeat gets there.
type swift struct{ *engine }

func (e swift) Start(ctx context.Context, o opt.Opening) (opt.Opening, error) {
	if _, err := e.engine.Start(ctx, o); err != nil {
		return o, err
	}
	return o, fmt.Errorf("start: %w", opt.ErrEnded)
}

// What has just ended, while its message was repeated, is found in the journal.
func TestGone_repeatOfWhatHasJustEnded(t *testing.T) {
	s := newService(t)
	s.Server, s.service = serve(service.Config{Engine: swift{s.engine}, Journal: s.journal, Watch: s.journal.Watch, Agent: oracle{}})
	if got := s.send(t, "m-1", "Write").at("status", "state").String(); got != "TASK_STATE_COMPLETED" {
		t.Errorf("the repeat got a task that is %q", got)
	}
}

// An objective for which a new attempt is asked is kept before the engine hears
// of it.
func TestGone_newAttemptIsKept(t *testing.T) {
	s := newService(t)
	s.have(t, func(o *opt.Objective) { o.Status, o.Root, o.Plans = opt.ObjectiveFailed, opt.TaskFailed, nil })
	kept := a2a.Time{}
	s.engine.troubles = append(s.engine.troubles, func(e *engine, o *opt.Objective) error {
		kept = e.journal.kept[o.ID]
		return opt.ErrUnavailable
	})
	wantCode(t, s.call(t, "objectives/update", `{"id":"`+objectiveID+`","status":"submitted"}`), "-32603")
	if !kept.Equal(a2a.At(start)) {
		t.Errorf("it was kept as of %v, want %v", kept, start)
	}
}
