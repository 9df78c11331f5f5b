package api_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"longhaul/a2a"
	"longhaul/internal/test"
)

// A plan of a client whose tasks have no executor here is refused, in both versions and
// wherever plans are accepted, and changes nothing. Tasks for people need no executor.
func TestExecutors_refused(t *testing.T) {
	s := newService(t, func(c *config) {
		c.TestSeams, c.BlockingWait = true, 10*time.Second
		c.CheckExecutor = func(name string) error {
			return errors.New("none: " + name + ".")
		}
	})
	s.open(t)
	s.must(t, "plans/create", `{"objectiveId":"`+objectiveID+`","name":"Empty"}`)
	const plan = `{"name":"P","tasks":[{"name":"work 1h"}]}`
	for _, version := range []string{"0.3", "1.0"} {
		send, said := "SendMessage", func(metadata string) string { return messageJSON("m", "x", `,"metadata":{`+metadata+`}`) }
		if version == "0.3" {
			send = "message/send"
			said = func(metadata string) string {
				return `{"kind":"message","messageId":"m","role":"user","parts":[{"kind":"text","text":"x"}],"metadata":{` + metadata + `}}`
			}
		}
		for i, call := range []struct{ method, params, field string }{
			{"plans/create", `{"objectiveId":"` + objectiveID + `","name":"P","tasks":[{"name":"A"}]}`, "tasks[0]"},
			{"plans/addTasks", `{"id":"` + planID + `","tasks":[{"name":"A"}]}`, "tasks[0]"},
			{send, `{"message":` + said(`"opt/v1/plan":`+plan) + `}`, "message.metadata.opt/v1/plan.tasks[0]"},
			{send, `{"message":` + said(`"opt/v1/objective":{"name":"O","plans":[{"name":"Q"},`+plan+`]}`) + `}`, "message.metadata.opt/v1/objective.plans[1].tasks[0]"},
		} {
			s.unchanged(t, func() {
				n := s.callIn(t, version, call.method, call.params, "A2A-Extensions", a2a.ExtensionOPT, "X-A2A-Extensions", a2a.ExtensionOPT)
				test.Is(t, fmt.Sprintf("%s, call %d: message", version, i), "Invalid parameters: "+call.field+": none: .", wantCode(t, n, "-32602"))
				if version == "1.0" && !strings.Contains(fmt.Sprint(n.at("error", "data")), "EXECUTOR_NOT_OFFERED") {
					t.Errorf("%s, call %d: no reason: %v", version, i, n)
				}
			})
		}
	}
	w := s.rest(t, "POST", seams+"/start", `{"scenario":"paused-at-approval"}`)
	if w.Code != 200 {
		t.Errorf("a task for a person: %d %s", w.Code, w.Body)
	}
}

// An agent whose plans have executors that are not here gets no work begun.
func TestExecutors_refusedAgent(t *testing.T) {
	s := newService(t, func(c *config) { c.CheckExecutor = func(string) error { return errors.New("none") } })
	wantCode(t, s.call(t, "SendMessage", `{"message":`+messageJSON("m", "playbook", "")+`}`), "-32603")
	s.untouched(t)
}
