package api_test

import (
	"fmt"
	"testing"
	"time"

	"longhaul/internal/test"
	"longhaul/opt"
)

// The stream of a task shows a new attempt while it runs; other streams do not.
// No stream ends because of it.
func TestStream_showsAttempts(t *testing.T) {
	s := newService(t)
	url := s.listen(t)
	s.send(t, "m", "slow")
	root, task := "obj-"+u("m"), "task-"+u("m")+"-1-0"
	streams := map[string]*reader{
		"task":          open(t, url, "1.0", "SubscribeToTask", `{"id":"`+task+`"}`),
		"task, 0.3":     open(t, url, "0.3", "tasks/resubscribe", `{"id":"`+task+`"}`),
		"root":          open(t, url, "1.0", "SubscribeToTask", `{"id":"`+root+`"}`),
		"root with OPT": open(t, url, "1.0", "SubscribeToTask", `{"id":"`+root+`"}`, "A2A-Extensions", "https://github.com/zeroasterisk/a2a-opt/v1"),
	}
	for _, r := range streams {
		r.event() // the snapshot
	}
	s.world.FailAttempt(task, "busy", "It was busy.")
	s.world.Advance(time.Minute)
	test.Is(t, "while it runs the task shows attempt", "2", s.call(t, "GetTask", `{"id":"`+task+`"}`).at("result", "metadata", opt.KeyAttempt).String())
	s.finish(task)
	want := map[string][]string{
		"task":          {"working 2", "1-0-post ", "1-0-post ", "completed 2"},
		"task, 0.3":     {"working 2", "piece", "piece", "completed 2"},
		"root":          {"1-0-post ", "1-0-post ", "completed "},
		"root with OPT": {"1-0-post ", "1-0-post ", "working ", "working ", "working ", "completed "},
	}
	got := map[string][]string{}
	for name, r := range streams {
		for e, ok := r.next(); ok; e, ok = r.next() {
			if e.data.at("result", "kind").String() == "artifact-update" {
				got[name] = append(got[name], "piece")
				continue
			}
			metadata := e.data.at("result", "metadata")
			if u := e.data.at("result", "statusUpdate"); u.v != nil {
				metadata = u.at("metadata")
			}
			attempt := ""
			if metadata.has(opt.KeyAttempt) {
				attempt = metadata.at(opt.KeyAttempt).String()
			}
			got[name] = append(got[name], fmt.Sprintf("%s %s", brief(e.data), attempt))
		}
	}
	test.Equal(t, "events", want, got)
}
