package api_test

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"longhaul/opt"
)

// TestQueue has messages to a context in which something works.
func TestQueue(t *testing.T) {
	s := newService(t, func(c *config) { c.MaxQueue = 2 })
	send := func(id string) node {
		return s.call(t, "SendMessage", `{"message":`+message(id, "quiet", `,"contextId":"mine"`)+`,"configuration":{"returnImmediately":true}}`)
	}
	first := send("m-1").at("result", "task", "id").String()
	s.journal.play(first, opt.Event{Kind: opt.ObjectiveMoved, To: "working"})
	var since string
	for i, id := range []string{"m-2", "m-3"} {
		metadata := send(id).at("result", "task", "metadata")
		at, place := metadata.at("longhaul/v1/queuedAt").String(), metadata.at("longhaul/v1/queuePosition").v
		if at == "" || at <= since || fmt.Sprint(place) != strconv.Itoa(i+1) {
			t.Errorf("%s waits since %q at place %v, the one before since %q", id, at, place, since)
		}
		since = at
		o := s.engine.starts[i+1]
		if o.Objective.QueuedAt.String() != at || len(o.Behind) != 1 || o.Behind[0] != first {
			t.Errorf("%s was started as %+v behind %v", id, o.Objective, o.Behind)
		}
	}
	full := send("m-4")
	wantCode(t, full, "-32603")
	info := full.at("error", "data", "0")
	if info.at("reason").String() != "QUEUE_LIMIT_EXCEEDED" || info.at("metadata", "limit").String() != "2" || info.at("metadata", "contextId").String() != "mine" {
		t.Errorf("the error is %v", full)
	}
	if again := send("m-3"); again.at("result", "task", "id").String() != s.engine.starts[2].Objective.ID {
		t.Errorf("what waits, sent again: %v", again)
	}
	over := s.rest(t, http.MethodPost, "/a2a/rest/message:send", `{"message":`+message("m-5", "quiet", `,"contextId":"mine"`)+`}`)
	if over.Code != http.StatusTooManyRequests || !strings.Contains(over.Body.String(), "RESOURCE_EXHAUSTED") {
		t.Errorf("over plain HTTP: %d %s", over.Code, over.Body)
	}
	if other := s.call(t, "SendMessage", `{"message":`+message("m-6", "quiet", "")+`}`); other.at("result", "task", "metadata", "longhaul/v1/queuedAt").String() != "" {
		t.Errorf("another context waits: %v", other)
	}
}
