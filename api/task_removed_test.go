package api_test

import (
	"testing"

	"longhaul/a2a"
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

// A message that is repeated when the journal has removed what it began, and the
// engine has not, brings back nothing.
func TestGone_repeatIsNotFound(t *testing.T) {
	s := newService(t)
	id := s.send(t, "m-1", "Write").at("id").String()
	s.forget(t, id)
	for range 2 {
		n := s.call(t, "SendMessage", `{"message":`+message("m-1", "Write", "")+`}`)
		wantCode(t, n, "-32001")
		if got := n.at("error", "data", "0", "metadata", "taskId").String(); got != id {
			t.Errorf("the error is about task %q: %v", got, n)
		}
	}
	wantCode(t, s.call(t, "SendMessage", `{"message":`+message("m-1", "Write other things", "")+`}`), "-32602")
	wantCode(t, s.call(t, "GetTask", `{"id":"`+id+`"}`), "-32001")
	if s.events(id) != 0 || len(s.world.Openings()) != 1 || s.journal.watches.Load() != 0 {
		t.Errorf("%d are recorded, %d were started, %d watches", s.events(id), len(s.world.Openings()), s.journal.watches.Load())
	}
}

// forget ends an objective and has the journal remove it, as if long ago.
func (s *fixture) forget(t *testing.T, id string) {
	t.Helper()
	if o := s.world.Objective(id); !o.Status.Ended() {
		if err := s.world.Cancel(t.Context(), id); err != nil {
			t.Fatal(err)
		}
	}
	s.world.Advance(tick)
	if n, err := s.journal.Purge(t.Context(), s.world.Now(), 10); err != nil || n != 1 {
		t.Fatalf("%d objectives were removed: %v", n, err)
	}
}
