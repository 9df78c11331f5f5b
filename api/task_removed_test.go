package api_test

import (
	"testing"

	"longhaul/a2a"
	"longhaul/internal/test"
)

// The stream of a task ends when the task is removed, and a later subscription
// does not find the task.
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
	s.forget(t, id)
	for i, r := range readers {
		for e, ok := r.next(); ok; e, ok = r.next() {
			if e.data.has("error") {
				t.Errorf("reader %d: %v", i, e.data)
			}
		}
	}
	wantCode(t, s.call(t, "SubscribeToTask", params), "-32001")
}

// If the journal has removed the task of a message and the engine still knows it,
// a repeat of the message does not restore it.
func TestGone_repeatIsNotFound(t *testing.T) {
	s := newService(t)
	id := s.send(t, "m-1", "Write").at("id").String()
	s.forget(t, id)
	for range 2 {
		n := s.call(t, "SendMessage", `{"message":`+messageJSON("m-1", "Write", "")+`}`)
		wantCode(t, n, "-32001")
		if got := n.at("error", "data", "0", "metadata", "taskId").String(); got != id {
			t.Errorf("the error is about task %q: %v", got, n)
		}
	}
	wantCode(t, s.call(t, "SendMessage", `{"message":`+messageJSON("m-1", "Write other things", "")+`}`), "-32602")
	wantCode(t, s.call(t, "GetTask", `{"id":"`+id+`"}`), "-32001")
	if s.events(id) != 0 || len(s.world.Openings()) != 1 || s.journal.watches.Load() != 0 {
		t.Errorf("%d are recorded, %d were started, %d watches", s.events(id), len(s.world.Openings()), s.journal.watches.Load())
	}
}

// forget ends an objective and has the journal remove it.
func (s *fixture) forget(t *testing.T, id string) {
	t.Helper()
	if o := s.world.Objective(id); !o.Status.Ended() {
		test.OK(t, s.world.Cancel(t.Context(), id, "ann", ""))
	}
	s.world.Advance(tick)
	if n, err := s.journal.Purge(t.Context(), s.world.Now(), 10); err != nil || n != 1 {
		t.Fatalf("%d objectives were removed: %v", n, err)
	}
}
