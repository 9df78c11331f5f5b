package api_test

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"longhaul/opt"
)

// TestQueue sends messages to a context in which an objective works.
func TestQueue(t *testing.T) {
	s := newService(t, func(c *config) { c.MaxQueue = 2 })
	send := func(id string) node {
		return s.call(t, "SendMessage", `{"message":`+messageJSON(id, "slow", `,"contextId":"mine"`)+`,"configuration":{"returnImmediately":true}}`)
	}
	first := send("m-1").at("result", "task", "id").String()
	var since string
	for i, id := range []string{"m-2", "m-3"} {
		metadata := send(id).at("result", "task", "metadata")
		at, place := metadata.at("longhaul/v1/queuedAt").String(), metadata.at("longhaul/v1/queuePosition").v
		if at == "" || at <= since || fmt.Sprint(place) != strconv.Itoa(i+1) {
			t.Errorf("%s waits since %q at place %v, the one before since %q", id, at, place, since)
		}
		since = at
		if o := s.world.Openings()[i+1]; o.Objective.QueuedAt.String() != at {
			t.Errorf("%s was started as %+v", id, o.Objective)
		}
	}
	full := send("m-4")
	wantCode(t, full, "-32603")
	info := full.at("error", "data", "0")
	if info.at("reason").String() != "QUEUE_LIMIT_EXCEEDED" || info.at("metadata", "limit").String() != "2" || info.at("metadata", "contextId").String() != "mine" {
		t.Errorf("the error is %v", full)
	}
	if again := send("m-3"); again.at("result", "task", "id").String() != s.world.Openings()[2].Objective.ID {
		t.Errorf("what waits, sent again: %v", again)
	}
	over := s.rest(t, http.MethodPost, "/a2a/rest/message:send", `{"message":`+messageJSON("m-5", "slow", `,"contextId":"mine"`)+`}`)
	if over.Code != http.StatusTooManyRequests || !strings.Contains(over.Body.String(), "RESOURCE_EXHAUSTED") {
		t.Errorf("over plain HTTP: %d %s", over.Code, over.Body)
	}
	s.world.Complete(opt.TaskID(opt.PlanID(first, 1), 0))
	if next := s.must(t, "GetTask", `{"id":"`+s.world.Openings()[1].Objective.ID+`"}`); next.at("status", "state").String() != "TASK_STATE_WORKING" || next.at("metadata").has("longhaul/v1/queuePosition") {
		t.Errorf("the next one is %v", next)
	}
	if other := s.call(t, "SendMessage", `{"message":`+messageJSON("m-6", "quiet", "")+`}`); other.at("result", "task", "metadata", "longhaul/v1/queuedAt").String() != "" {
		t.Errorf("another context waits: %v", other)
	}
}
