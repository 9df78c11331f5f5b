package api_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"longhaul/internal/test"
	"longhaul/opt"
	"longhaul/opt/outbox"
)

// pushOn turns push notifications on. URLs of hosts that begin with "10." and
// those without TLS are refused.
func pushOn(c *config) {
	c.CheckPush = func(_ context.Context, url string) error {
		if host, ok := strings.CutPrefix(url, "https://"); !ok || strings.HasPrefix(host, "10.") {
			return errors.New("must be the https URL of a public host")
		}
		return nil
	}
}

// pushed returns the push configs of a task, as text with their secrets.
func (s *fixture) pushed(t *testing.T, taskID string) (list []string) {
	t.Helper()
	configs, err := s.world.Journal().Pushes.Pushes(t.Context(), "acme", taskID)
	if err != nil && !errors.Is(err, opt.ErrUnknown) {
		t.Fatal(err)
	}
	for _, p := range configs {
		list = append(list, fmt.Sprint(p.Version, " ", p.URL, " ", p.Token, " ", p.Scheme, " ", p.Credentials))
	}
	return list
}

// due returns the states of a task that are to be delivered.
func (s *fixture) due(t *testing.T, taskID string) (list []string) {
	t.Helper()
	all := test.Value(s.world.Journal().Pushes.Deliveries(t.Context(), "acme", taskID))(t)
	for _, d := range all {
		list = append(list, string(d.State))
	}
	return list
}

// hook is a push config of 1.0 for a send.
const hook = `"configuration":{"returnImmediately":true,"taskPushNotificationConfig":` +
	`{"url":"https://client.example.com/hook","token":"canary-token","authentication":{"scheme":"Bearer","credentials":"canary-credentials"}}}`

const hooked = "1.0 https://client.example.com/hook canary-token Bearer canary-credentials"

func wantList(t *testing.T, what string, got []string, want ...string) {
	t.Helper()
	test.Equal(t, what, want, got)
}

// A config that comes with a message is stored before the work begins: no state
// is missed, and a repeat makes no second one.
func TestSendMessage_withPush(t *testing.T) {
	s := newService(t, pushOn, func(c *config) { c.PushStates = outbox.PushAll })
	for range 2 {
		s.call(t, "SendMessage", `{"message":`+messageJSON("m-1", "Write", "")+`,`+hook+`}`)
	}
	id := "obj-" + u("m-1")
	wantList(t, "configs", s.pushed(t, id), hooked)
	wantList(t, "states", s.due(t, id), "submitted", "working", "completed")
}

func TestStreamMessage_withPush(t *testing.T) {
	s := newService(t, pushOn)
	s.post(t, `{"jsonrpc":"2.0","id":1,"method":"message/stream","params":{"message":{"messageId":"m-1","role":"user","parts":[{"kind":"text","text":"Write"}]},`+
		`"configuration":{"pushNotificationConfig":{"url":"https://client.example.com/hook","authentication":{"schemes":["Digest","basic"],"credentials":"YQ=="}}}}}`)
	id := "obj-" + u("m-1")
	wantList(t, "configs", s.pushed(t, id), "0.3 https://client.example.com/hook  basic YQ==")
	wantList(t, "states", s.due(t, id), "completed")
}

// The service ends between the config and the work, and between the work and the
// answer: the repeat of the send makes the missing one.
func TestSendMessage_withPushAndCrash(t *testing.T) {
	s := newService(t, pushOn)
	id := "obj-" + u("m-1")
	send := func(s *fixture) node {
		return s.call(t, "SendMessage", `{"message":`+messageJSON("m-1", "Write", "")+`,`+hook+`}`)
	}
	s.world.Down(fmt.Errorf("dial: %w", opt.ErrUnavailable))
	wantCode(t, send(s), "-32603")
	wantList(t, "configs of work that has not begun", s.pushed(t, id))
	wantCode(t, s.call(t, "ListTaskPushNotificationConfigs", `{"taskId":"`+id+`"}`), "-32001")
	s.world.Down(nil)
	send(s.twin())
	wantList(t, "configs", s.pushed(t, id), hooked)
	wantList(t, "states", s.due(t, id), "completed")
}

// A send that is refused leaves no config.
func TestSendMessage_refusedWithPush(t *testing.T) {
	s := newService(t, pushOn, func(c *config) { c.MaxQueue = 1 })
	in := func(id, text, more string) string {
		return `{"message":` + messageJSON(id, text, `,"contextId":"mine"`) + more + `}`
	}
	s.call(t, "SendMessage", in("m-1", "slow work", ""))
	s.call(t, "SendMessage", in("m-2", "Write", ""))
	wantCode(t, s.call(t, "SendMessage", in("m-3", "Write", ","+hook)), "-32603")
	s.world.Before(func(context.Context, string) error { return opt.ErrConflict })
	wantCode(t, s.call(t, "SendMessage", `{"message":`+messageJSON("m-6", "Write", "")+`,`+hook+`}`), "-32602")
	s.world.Down(nil)
	s.call(t, "SendMessage", `{"message":`+messageJSON("m-6", "Write", "")+`}`)
	wantList(t, "configs of another message's work", s.pushed(t, "obj-"+u("m-6")))

	refused := s.call(t, "SendMessage", `{"message":`+messageJSON("m-4", "slow work", "")+`}`).at("result", "task", "id").String()
	first := s.call(t, "CreateTaskPushNotificationConfig", `{"taskId":"`+refused+`","id":"mine","url":"https://client.example.com/first"}`)
	if first.has("error") {
		t.Fatal(first)
	}
	named := strings.Replace(hook, `{"url"`, `{"id":"mine","url"`, 1)
	s.world.Before(func(context.Context, string) error { return opt.ErrEnded })
	for _, with := range []string{hook, named} {
		wantCode(t, s.call(t, "SendMessage", `{"message":`+messageJSON("m-5", "please hurry", `,"taskId":"`+refused+`"`)+`,`+with+`}`), "-32004")
	}
	s.world.Down(nil)
	wantList(t, "configs", s.pushed(t, refused), "1.0 https://client.example.com/first   ")

	s.call(t, "CancelTask", `{"id":"obj-`+u("m-1")+`"}`)
	s.call(t, "SendMessage", in("m-3", "Write", ""))
	wantList(t, "configs of the repeat without one", s.pushed(t, "obj-"+u("m-3")))
}

// A config that comes with a reply delivers what follows, not the gate that is
// answered.
func TestSendMessage_replyWithPush(t *testing.T) {
	s := newService(t, pushOn)
	id := s.send(t, "m-1", "approve it").at("id").String()
	n := s.call(t, "SendMessage", `{"message":`+messageJSON("m-2", "accept", `,"taskId":"`+id+`"`)+`,`+hook+`}`)
	if n.has("error") {
		t.Fatal(n)
	}
	wantList(t, "configs", s.pushed(t, id), hooked)
	wantList(t, "states", s.due(t, id), "completed")
}

func TestCreatePush_limit(t *testing.T) {
	s := newService(t, pushOn)
	id := s.send(t, "m-1", "slow work").at("id").String()
	create := func() node {
		return s.call(t, "CreateTaskPushNotificationConfig", `{"taskId":"`+id+`","url":"https://a.example.com"}`)
	}
	for range outbox.MaxPushes {
		if n := create(); n.has("error") {
			t.Fatal(n)
		}
	}
	n := create()
	wantCode(t, n, "-32603")
	test.Is(t, "reason", "PUSH_CONFIG_LIMIT_EXCEEDED", n.at("error", "data", "0", "reason").String())
}

// The durable record names the oldest config by its URL and a fingerprint of its
// token.
func TestTaskRecord_push(t *testing.T) {
	s := newService(t, pushOn)
	id := s.call(t, "SendMessage", `{"message":`+messageJSON("m-1", "slow work", "")+`,`+hook+`}`).at("result", "task", "id").String()
	body := s.get(t, "/v1/a2a/tasks/"+id).Body.String()
	wantValid(t, schema(t, "a2a-task-state.schema.json"), body)
	config := parse(t, []byte(body)).at("pushConfig")
	if mark := config.at("tokenFingerprint").String(); config.at("url").String() != "https://client.example.com/hook" || len(mark) != 16 || strings.Contains(body, "canary") {
		t.Errorf("record %s", body)
	}
}

// Two sends race, of which one is accepted and one refused: the config of the
// accepted one stays. overtake is the send that comes while the engine handles the
// first.
func TestSendMessage_racesWithPush(t *testing.T) {
	for _, tc := range []struct {
		name, before     string // begins the task; "" for none
		first, overtakes string
		after            error  // that the engine returns for the first; nil: its own
		code             string // of the first; "" for success
		want             string
	}{
		{"the same message, whose work has ended", "", messageJSON("m-1", "Write", "") + "," + hook, messageJSON("m-1", "Write", "") + "," + hook, opt.ErrEnded, "", hooked},
		{
			"another message with the same id", "",
			messageJSON("m-1", "Write", "") + "," + hookMine, messageJSON("m-1", "Write more", "") + "," + strings.Replace(hookMine, "/hook", "/more", 1),
			nil, "-32602", strings.Replace(hooked, "/hook", "/more", 1),
		},
		{
			"the same reply, which ends the task", messageJSON("m-1", "approve it", ""),
			messageJSON("m-2", "accept", `,"taskId":"obj-`+u("m-1")+`"`) + "," + hook, messageJSON("m-2", "accept", `,"taskId":"obj-`+u("m-1")+`"`) + "," + hook,
			nil, "", hooked,
		},
	} {
		s := newService(t, pushOn)
		if tc.before != "" {
			s.call(t, "SendMessage", `{"message":`+tc.before+`}`)
		}
		raced := false
		s.world.Before(func(context.Context, string) error {
			if raced {
				return nil
			}
			raced = true
			if n := s.call(t, "SendMessage", `{"message":`+tc.overtakes+`}`); n.has("error") {
				t.Errorf("%s: the one that overtakes: %v", tc.name, n)
			}
			return tc.after
		})
		n := s.call(t, "SendMessage", `{"message":`+tc.first+`}`)
		if tc.code != "" {
			wantCode(t, n, tc.code)
		} else if n.has("error") {
			t.Errorf("%s: %v", tc.name, n)
		}
		wantList(t, tc.name+": configs", s.pushed(t, "obj-"+u("m-1")), tc.want)
	}
}

// hookMine is hook with an id.
var hookMine = strings.Replace(hook, `{"url"`, `{"id":"mine","url"`, 1)
