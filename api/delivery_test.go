package api_test

import (
	"net/http"
	"strings"
	"testing"

	"longhaul/a2a"
	"longhaul/api/call"
	"longhaul/opt/outbox"
)

// attempt notes an attempt at the next delivery to a config.
func (s *fixture) attempt(t *testing.T, taskID, configID string, a outbox.DeliveryAttempt, status outbox.DeliveryStatus) {
	t.Helper()
	j := s.world.Journal().Pushes
	p, d, ok, err := j.NextDelivery(t.Context(), taskID, configID)
	if err == nil && ok {
		_, err = j.NoteDelivery(t.Context(), p, d, a, status)
	}
	if err != nil || !ok {
		t.Fatalf("attempt at the next delivery: %v, %v", ok, err)
	}
}

// The page of deliveries has each state and each attempt, and nothing of the work,
// the receiver or the secrets; a state can be delivered again.
func TestDeliveries(t *testing.T) {
	s := newService(t, pushOn)
	id := s.call(t, "SendMessage", `{"message":`+messageJSON("m-1", "approve canary", "")+`,`+strings.Replace(hook, `{"url"`, `{"id":"a/b","url"`, 1)+`}`).at("result", "task", "id").String()
	s.attempt(t, id, "a/b", outbox.DeliveryAttempt{At: a2a.At(start), Error: "timeout"}, outbox.DeliveryDue)
	s.attempt(t, id, "a/b", outbox.DeliveryAttempt{At: a2a.At(start.Add(tick)), Status: 404}, outbox.DeliveryDead)

	path := "/v1/tasks/" + id + "/deliveries"
	w := s.get(t, path)
	if w.Code != http.StatusOK || strings.Contains(w.Body.String(), "canary") || strings.Contains(w.Body.String(), "example.com") {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	d := parse(t, w.Body.Bytes()).at("deliveries", "0")
	event := d.at("event").String()
	want := `{"attempts":[{"attempt":1,"error":"timeout","timestamp":"2026-03-01T09:30:00.000Z"},{"attempt":2,"httpStatus":404,"timestamp":"2026-03-01T09:30:01.000Z"}],` +
		`"configId":"a/b","dueSince":"` + d.at("timestamp").String() + `","event":` + event + `,"interrupt":{"interruptId":"task-` + u("m-1") + `-1-0:1","kind":"approval"},` +
		`"state":"input-required","status":"dead","timestamp":"` + d.at("timestamp").String() + `","tries":2}`
	if d.String() != want {
		t.Errorf("delivery\n%v, want\n%s", d, want)
	}

	again := path + "/a%2Fb/" + event + "/redeliver"
	for range 2 {
		w = s.rest(t, "POST", again, "")
		if got := parse(t, w.Body.Bytes()).at("status").String(); w.Code != http.StatusOK || got != "due" {
			t.Errorf("again: %d %s", w.Code, w.Body)
		}
	}
	s.call(t, "DeleteTaskPushNotificationConfig", `{"taskId":"`+id+`","id":"a/b"}`)
	for _, tc := range []struct {
		name, verb, path, auth string
		status                 int
		code                   string
	}{
		{"its config is gone", "POST", again, "", 404, "delivery_not_found"},
		{"no such event", "POST", path + "/a%2Fb/99/redeliver", "", 404, "delivery_not_found"},
		{"no number", "POST", path + "/a%2Fb/x/redeliver", "", 400, "invalid_params"},
		{"by another tenant", "POST", again, "Bearer other/bob", 404, "task_not_found"},
		{"list by another tenant", "GET", path, "Bearer other/bob", 404, "task_not_found"},
		{"unknown task", "GET", "/v1/tasks/none/deliveries", "", 404, "task_not_found"},
		{"without the scope", "GET", path, limitedTo(without(call.ManageWebhooks)...), 403, "permission_denied"},
		{"by the wrong verb", "GET", again, "", 405, "method_not_allowed"},
	} {
		var headers []string
		if tc.auth != "" {
			headers = []string{"Authorization", tc.auth}
		}
		w := s.rest(t, tc.verb, tc.path, "", headers...)
		if got := parse(t, w.Body.Bytes()).at("error").String(); w.Code != tc.status || got != tc.code {
			t.Errorf("%s: %d %s, want %d %s", tc.name, w.Code, w.Body, tc.status, tc.code)
		}
	}
}
