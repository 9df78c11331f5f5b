package api_test

import (
	"testing"

	"longhaul/a2a"
	"longhaul/opt"
)

// A client that resumes with the number of an event of a journal that was lost gets the
// task, and then what comes after: it cannot know what that event was.
func TestSubscribe_afterRebuild(t *testing.T) {
	s := newService(t)
	url := s.listen(t) + "/a2a/rest"
	version := []string{"A2A-Version", "1.0"}
	sent := follow(t, "POST", url+"/message:stream", `{"message":`+messageJSON("m", "slow", "")+`}`, version...)
	first := sent.event()
	id := first.data.at("task", "id").String()
	note := a2a.Message{MessageID: "restored", Role: a2a.RoleUser, Parts: []a2a.Part{a2a.TextPart("hello")}}
	restored := opt.Event{N: 1, Kind: opt.MessageAdded, TaskID: id, Message: &note, Principal: "ann", Verdict: opt.Noted}
	if n, err := s.journal.Maintenance.Restore(t.Context(), 1000, opt.Batch{ObjectiveID: id, Source: "lost", Events: []opt.Event{restored}}); n != 1 || err != nil {
		t.Fatalf("restored %d events, error %v", n, err)
	}
	next := func(after string) sse {
		return follow(t, "GET", url+"/tasks/"+id+":subscribe", "", append(version, "Last-Event-ID", after)...).event()
	}
	for _, after := range []string{"10", "999"} {
		if e := next(after); !e.data.has("task") {
			t.Errorf("after event %s comes %+v, want the task", after, e)
		}
	}
	s.finish(opt.TaskID(planOf(id), 0))
	for _, after := range []string{"8", first.id, "1001"} {
		if e := next(after); e.data.has("task") {
			t.Errorf("after event %s comes %+v, want the event after it", after, e)
		}
	}
}
