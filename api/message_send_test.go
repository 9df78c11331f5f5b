package api_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"longhaul/a2a"
	"longhaul/api/call"
	"longhaul/api/message"
	"longhaul/internal/test"
	"longhaul/opt"
)

func TestSend_opensAnObjective(t *testing.T) {
	s := newService(t)
	s.call(t, "SendMessage", `{"message":`+messageJSON("m-1", "playbook  for\n a launch", `,"contextId":"mine"`)+`}`)
	id := opt.DerivedObjectiveID("acme", "ann", "m-1")
	m := a2a.Message{MessageID: "m-1", ContextID: "mine", Role: a2a.RoleUser, Parts: []a2a.Part{a2a.TextPart("playbook  for\n a launch")}}
	want := []opt.Opening{{
		Message: &m,
		Plans:   []opt.PlanSpec{{Name: "Known", Tasks: []opt.TaskSpec{{Name: "Only"}}}},
		Objective: opt.Objective{
			ID: id, ContextID: "mine", Tenant: "acme", Principal: "ann", Name: "playbook for a launch",
			Status: opt.ObjectiveSubmitted, Root: opt.TaskSubmitted, CreatedAt: a2a.At(start), UpdatedAt: a2a.At(start),
			Revision: 1, Attempt: 1, MessageID: "m-1", Digest: m.Digest(),
			Metadata: a2a.Metadata{}.With(opt.KeyPlanner, "playbook").With("longhaul/v1/reason", "it said so"),
		},
	}}
	test.Equal(t, "openings", want, s.world.Openings(), cmp.AllowUnexported(a2a.Time{}))
}

func TestSend_namesTheObjective(t *testing.T) {
	s := newService(t)
	for name, tc := range map[string]struct{ text, more, want string }{
		"by its text":      {strings.Repeat("ü", 100), "", strings.Repeat("ü", 80)},
		"by a suggestion":  {"quiet", `,"metadata":{"opt/v1/suggestedName":"S","opt/v1/objective":{"name":"O"}}`, "S"},
		"by the objective": {"quiet", `,"metadata":{"opt/v1/objective":{"name":"O"}}`, "O"},
		"without text":     {" ", `,"metadata":{"opt/v1/plan":{"name":"P","tasks":[{"name":"A"}]}}`, "Untitled objective"},
	} {
		s.call(t, "SendMessage", `{"message":`+messageJSON(name, tc.text, tc.more)+`}`)
		openings := s.world.Openings()
		test.Is(t, name+": name", tc.want, openings[len(openings)-1].Objective.Name)
	}
}

// Twenty clients that repeat one message share one objective, which a repeat finds without the
// engine. Another principal with the same message id does not.
func TestSend_isIdempotent(t *testing.T) {
	s := newService(t)
	var wg sync.WaitGroup
	answers := make([]string, 20)
	for i := range answers {
		wg.Go(func() { answers[i] = s.send(t, "m-1", "Write").at("id").String() })
	}
	wg.Wait()
	for _, id := range answers {
		if id != answers[0] {
			t.Errorf("tasks %s and %s", id, answers[0])
		}
	}
	test.Is(t, "objectives were started", 1, len(s.world.Openings()))
	for _, who := range []string{"acme/bob", "rival/ann"} {
		n := s.call(t, "SendMessage", `{"message":`+messageJSON("m-1", "Write other things", "")+`}`, "Authorization", "Bearer "+who)
		if got := n.at("result", "task", "id").String(); got == "" || got == answers[0] {
			t.Errorf("%s got task %q: %v", who, got, n)
		}
	}
	first := s.send(t, "m-1", "Write").String()
	s.world.Down(opt.ErrUnavailable)
	if again := s.send(t, "m-1", "Write").String(); again != first {
		t.Errorf("without the engine the repeat got\n%s, not\n%s", again, first)
	}
}

// A send that the engine does not take leaves no task: a repeat would find it, and no workflow
// would work on it.
func TestSend_notTaken(t *testing.T) {
	s := newService(t)
	params := `{"message":` + messageJSON("m-1", "Write", "") + `}`
	s.world.Down(opt.ErrUnavailable)
	if n := s.call(t, "SendMessage", params); !n.has("error") {
		t.Errorf("without the engine: %v", n)
	}
	s.world.Down(nil)
	if n := s.must(t, "ListTasks", `{}`); n.at("totalSize").String() != "0" {
		t.Errorf("a task that nothing works on: %v", n)
	}
	s.must(t, "SendMessage", params)
	test.Is(t, "the repeat started objectives", 1, len(s.world.Openings()))
}

func TestSend_idempotencyKey(t *testing.T) {
	params := func(id string) string { return `{"message":` + messageJSON(id, "quiet", "") + `}` }
	for name, tc := range map[string]struct {
		mode  call.Idempotency
		key   string
		first string
		then  string
		same  bool
	}{
		"message id":         {call.ByMessageID, "", "m-1", "m-1", true},
		"other message id":   {call.ByMessageID, "", "m-1", "m-2", false},
		"key and message id": {call.ByMessageID, "k", "m-1", "m-1", true},
		"key instead of id":  {call.ByMessageID, "k", "m-1", "m-2", true},
		"header instead":     {call.ByHeader, "k", "m-1", "m-2", true},
		"header only, none":  {call.ByHeader, "", "m-1", "m-1", false},
		"header only":        {call.ByHeader, "k", "m-1", "m-1", true},
		"off":                {call.NoRepeats, "k", "m-1", "m-1", false},
	} {
		t.Run(name, func(t *testing.T) {
			s := newService(t, func(c *config) { c.Idempotency = tc.mode })
			first := s.call(t, "SendMessage", params(tc.first), "Idempotency-Key", tc.key).at("result", "task", "id").String()
			then := s.call(t, "SendMessage", params(tc.then), "Idempotency-Key", tc.key).at("result", "task", "id").String()
			if first == "" || then == "" || (first == then) != tc.same {
				t.Errorf("tasks %q and %q", first, then)
			}
		})
	}
}

// Other content under a key is refused in the name of the key, whether the message
// id is the same or not. The message id alone makes no other content.
func TestSend_idempotencyKeyReused(t *testing.T) {
	s := newService(t)
	id := s.must(t, "SendMessage", `{"message":`+messageJSON("m-1", "approve", "")+`}`, "Idempotency-Key", "k").at("task", "id").String()
	for name, m := range map[string]string{
		"other message id": messageJSON("m-2", "quiet", ""),
		"same message id":  messageJSON("m-1", "quiet", ""),
	} {
		n := s.call(t, "SendMessage", `{"message":`+m+`}`, "Idempotency-Key", "k")
		if wantCode(t, n, "-32602"); field(n) != "Idempotency-Key" {
			t.Errorf("%s: %v", name, n)
		}
	}
	for _, messageID := range []string{"m-3", "m-4", "m-4"} {
		if n := s.say(t, id, messageID, `{"text":"accept"}`, "", "Idempotency-Key", "k 3"); n.has("error") {
			t.Errorf("the same reply as %s: %v", messageID, n)
		}
	}
	n := s.say(t, id, "m-3", `{"text":"reject"}`, "", "Idempotency-Key", "k 3")
	if wantCode(t, n, "-32602"); field(n) != "Idempotency-Key" {
		t.Errorf("another reply: %v", n)
	}
	test.Is(t, "objectives", 1, len(s.world.Openings()))
}

// A repeat with another message id is recognized before the journal has the work
// that the first attempt began.
func TestSend_idempotencyKeyBeforeTheRecord(t *testing.T) {
	s := newService(t)
	s.journal.record = errors.New("disk full")
	wantCode(t, s.call(t, "SendMessage", `{"message":`+messageJSON("m-1", "quiet", "")+`}`, "Idempotency-Key", "k"), "-32603")
	s.journal.record = nil
	task := s.must(t, "SendMessage", `{"message":`+messageJSON("m-2", "quiet", "")+`}`, "Idempotency-Key", "k").at("task")
	if got := task.at("history", "0", "messageId").String(); got != "m-1" || len(s.world.Openings()) != 1 {
		t.Errorf("the history begins with %q; %d objectives", got, len(s.world.Openings()))
	}
}

// A row from before a key replaced the message id has the digest of the whole
// message.
func TestSend_idempotencyKeyOfAnOldRow(t *testing.T) {
	s := newService(t)
	send := func(id string) node {
		return s.call(t, "SendMessage", `{"message":`+messageJSON(id, "quiet", "")+`}`, "Idempotency-Key", "k")
	}
	at := opt.DerivedObjectiveID("acme", "ann", "key:k")
	m := a2a.Message{MessageID: "m-1", Role: a2a.RoleUser, Parts: []a2a.Part{a2a.TextPart("quiet")}}
	o := opt.Objective{ID: at, ContextID: at, Tenant: "acme", Principal: "ann", Name: "Old", Status: opt.ObjectiveSubmitted, Root: opt.TaskSubmitted,
		CreatedAt: a2a.At(s.world.Now()), UpdatedAt: a2a.At(s.world.Now()), Attempt: 1, Revision: 1, MessageID: "m-1", Digest: m.Digest()}
	test.OK(t, s.journal.Journal.Record(t.Context(), opt.Batch{ObjectiveID: at, Source: at, Events: []opt.Event{(opt.Opening{Objective: o, Message: &m}).Event()}}))
	test.Is(t, "the task is", at, send("m-1").at("result", "task", "id").String())
	wantCode(t, send("m-2"), "-32602") // the row cannot show that it is the same
}

// The engine started the objective, and the journal failed. The client's repeat
// finds the same objective.
func TestSend_survivesALostRecord(t *testing.T) {
	s := newService(t)
	s.journal.record = errors.New("disk full")
	wantCode(t, s.call(t, "SendMessage", `{"message":`+messageJSON("m-1", "quiet", "")+`}`), "-32603")
	wantCode(t, s.call(t, "GetTask", `{"id":"`+opt.DerivedObjectiveID("acme", "ann", "m-1")+`"}`), "-32001")
	s.journal.record = nil
	test.Is(t, "task is", opt.DerivedObjectiveID("acme", "ann", "m-1"), s.send(t, "m-1", "quiet").at("id").String())
	n := s.call(t, "SendMessage", `{"message":`+messageJSON("m-1", "something else", "")+`}`)
	wantCode(t, n, "-32602")
	test.Is(t, "objectives were started", 1, len(s.world.Openings()))
}

// The engine refuses another message under the same id, even if the journal does
// not have the first one yet.
func TestSend_engineRefusesOtherContent(t *testing.T) {
	s := newService(t)
	id := opt.DerivedObjectiveID("acme", "ann", "m-1")
	quiet := a2a.Message{MessageID: "other", Parts: []a2a.Part{a2a.TextPart("quiet")}}
	test.OK(t, test.Err(s.world.Start(t.Context(), opt.Opening{Message: &quiet, Objective: opt.Objective{ID: id, Tenant: "acme", Digest: "other"}})))
	n := s.call(t, "SendMessage", `{"message":`+messageJSON("m-1", "quiet", "")+`}`)
	if wantCode(t, n, "-32602"); field(n) != "message.messageId" || s.events(id) != 0 {
		t.Errorf("answer %v, %d events recorded", n, s.events(id))
	}
}

func TestSend_waits(t *testing.T) {
	patient := func(c *config) { c.BlockingWait = time.Minute }
	id := opt.DerivedObjectiveID("acme", "ann", "m-1")
	for text, want := range map[string]string{
		"Write": "TASK_STATE_COMPLETED", "fail": "TASK_STATE_FAILED", "approve it": "TASK_STATE_INPUT_REQUIRED", "auth please": "TASK_STATE_AUTH_REQUIRED",
	} {
		t.Run(text, func(t *testing.T) {
			s := newService(t, patient)
			s.world.Sleep()
			done := make(chan node)
			go func() { done <- s.call(t, "SendMessage", `{"message":`+messageJSON("m-1", text, "")+`}`) }()
			s.until(t, func() bool { return s.events(id) == 1 })
			select {
			case n := <-done:
				t.Fatalf("answered too early: %v", n)
			default:
			}
			s.world.Wake()
			test.Is(t, "state", want, (<-done).at("result", "task", "status", "state").String())
			test.Is(t, "watches are left", 0, s.journal.watches.Load())
		})
	}
	t.Run("not for ever", func(t *testing.T) {
		test.Is(t, "state", "TASK_STATE_SUBMITTED", newService(t).send(t, "m-1", "quiet").at("status", "state").String())
	})
	t.Run("not past Close", func(t *testing.T) {
		s := newService(t, patient)
		s.service.Close()
		s.service.Close()
		test.Is(t, "state", "TASK_STATE_SUBMITTED", s.send(t, "m-1", "quiet").at("status", "state").String())
	})
}

// A client that disconnects ends only its wait.
func TestSend_clientGoes(t *testing.T) {
	s := newService(t, func(c *config) { c.BlockingWait = time.Minute })
	ctx, leave := context.WithCancel(t.Context())
	id := opt.DerivedObjectiveID("acme", "ann", "m-1")
	done := make(chan struct{})
	go func() {
		defer close(done)
		r := httptest.NewRequestWithContext(ctx, http.MethodPost, "/", strings.NewReader(
			`{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{"message":`+messageJSON("m-1", "quiet", "")+`}}`))
		r.Header.Set("A2A-Version", "1.0")
		s.ServeHTTP(httptest.NewRecorder(), r)
	}()
	s.until(t, func() bool { return s.events(id) == 1 })
	leave()
	<-done
	test.Is(t, "state", "TASK_STATE_SUBMITTED", s.call(t, "GetTask", fmt.Sprintf(`{"id":%q}`, id)).at("result", "status", "state").String())
	if len(s.world.Calls()) != 1 || s.journal.watches.Load() != 0 {
		t.Errorf("canceled %v, %d watches left", s.world.Calls(), s.journal.watches.Load())
	}
}

func TestSend_objectiveInMetadata(t *testing.T) {
	s := newService(t)
	with := func(id, objective, more string) node {
		return s.call(t, "SendMessage", `{"message":`+messageJSON(id, "quiet", `,"metadata":{"opt/v1/objective":`+objective+`}`+more)+`}`)
	}
	fresh := with("m-1", `{"id":"theirs","name":"N","description":"D","metadata":{"a":1,"opt/v1/planId":"forged"},
		"plans":[{"id":"p1","name":"P","tasks":[{"id":"a","name":"A"},{"name":"B","dependencies":["a"]}]},{"name":"Q","dependencies":["p1"]}]}`, "")
	o := s.world.Openings()[0]
	wantPlans := []opt.PlanSpec{
		{Name: "P", Tasks: []opt.TaskSpec{{Name: "A"}, {Name: "B", Dependencies: []string{"task-0"}}}},
		{Name: "Q", Dependencies: []string{"plan-0"}},
	}
	test.Equal(t, "plans", wantPlans, o.Plans)
	wantMetadata := a2a.Metadata{}.With("a", 1).With("opt/v1/clientObjectiveId", "theirs")
	test.Equal(t, "metadata", wantMetadata, o.Objective.Metadata)
	id := fresh.at("result", "task", "id").String()
	if o.Objective.Name != "N" || o.Objective.Description != "D" || id == "theirs" {
		t.Errorf("objective is %+v", o.Objective)
	}

	known := with("m-2", `{"id":"`+id+`"}`, "")
	test.Is(t, "context is", id, known.at("result", "task", "contextId").String())
	wantCode(t, with("m-3", `{"id":"`+id+`"}`, `,"contextId":"other"`), "-32602")
}

// A2A calls context ids opaque: any id that a client chooses is returned
// unchanged.
func TestSend_opaqueContexts(t *testing.T) {
	s := newService(t)
	for i, contextID := range []string{"a b", "team/7", "Größe", "日本", "?x=1&y=%2F#", "..", strings.Repeat("ü", 128)} {
		n := s.call(t, "SendMessage", `{"message":`+messageJSON(fmt.Sprint("m", i), "Write", `,"contextId":"`+contextID+`"`)+`}`)
		id := n.at("result", "task", "id").String()
		if got := n.at("result", "task", "contextId").String(); got != contextID {
			t.Errorf("context %q became %q: %v", contextID, got, n)
		}
		list := s.must(t, "ListTasks", fmt.Sprintf(`{"contextId":%q}`, contextID))
		w := s.rest(t, "GET", "/a2a/rest/tasks?contextId="+url.QueryEscape(contextID), "")
		rest := parse(t, w.Body.Bytes())
		if list.at("totalSize").String() != "2" || rest.at("totalSize").String() != "2" || rest.at("tasks", "1", "contextId").String() != contextID {
			t.Errorf("tasks in %q: %v, over plain HTTP %v", contextID, list, rest)
		}
		if next := s.call(t, "SendMessage", `{"message":`+messageJSON(fmt.Sprint("n", i), "Write", `,"contextId":"`+contextID+`"`)+`}`).at("result", "task"); next.at("contextId").String() != contextID || next.at("id").String() == id {
			t.Errorf("the next message in %q: %v", contextID, next)
		}
	}
}

// An objective made by objectives/create waits for a message with its context.
func TestSend_startsAnIdleObjective(t *testing.T) {
	s := newService(t)
	id := s.call(t, "objectives/create", `{"name":"Launch"}`).at("result", "id").String()
	params := `{"message":` + messageJSON("m-1", "Write", `,"contextId":"`+id+`"`) + `}`
	for range 2 { // a repeat finds the started objective
		n := s.call(t, "SendMessage", params)
		if got := n.at("result", "task", "id").String(); got != id {
			t.Fatalf("task is %q, want %q: %v", got, id, n)
		}
	}
	if len(s.world.Letters()) != 1 || len(s.world.Openings()) != 1 {
		t.Fatalf("%d letters and %d starts", len(s.world.Letters()), len(s.world.Openings()))
	}
	l := s.world.Letters()[0]
	if l.ObjectiveID != id || l.TaskID != id || l.PlanID != "" || l.Reply != nil || l.Principal != "ann" {
		t.Errorf("letter is %+v", l)
	}
	wantCode(t, s.call(t, "SendMessage", `{"message":`+messageJSON("m-1", "Other", `,"contextId":"`+id+`"`)+`}`), "-32602")
	next := s.call(t, "SendMessage", `{"message":`+messageJSON("m-2", "Write more", `,"contextId":"`+id+`"`)+`}`)
	if got := next.at("result", "task", "id").String(); got == id || got == "" {
		t.Errorf("the next message of the context got task %q", got)
	}
}

// If two messages are sent at the same time to an objective that waits to be
// started, one starts it and the other begins a new objective behind it in the
// queue.
func TestSend_twoToAnIdleObjective(t *testing.T) {
	s := newService(t, func(c *config) { c.ReplyWait = time.Minute })
	id := s.must(t, "objectives/create", `{"name":"Launch"}`).at("id").String()
	s.world.Sleep()
	tasks := make(chan node, 2)
	for i := range 2 {
		go func() {
			tasks <- s.call(t, "SendMessage", `{"message":`+messageJSON(fmt.Sprint("m", i), "slow", `,"contextId":"`+id+`"`)+`,"configuration":{"returnImmediately":true}}`)
		}()
	}
	s.until(t, func() bool { return len(s.world.Letters()) == 2 })
	s.world.Wake()
	got := map[string]string{}
	for range 2 {
		task := (<-tasks).at("result", "task")
		got[task.at("id").String()] = task.at("metadata", "longhaul/v1/queuePosition").String()
	}
	if len(got) != 2 || got[id] != "" {
		t.Fatalf("the messages began %v, the idle objective is %s", got, id)
	}
	for other, position := range got {
		if other != id && position != "1" {
			t.Errorf("the other one is at position %q", position)
		}
	}
}

// A message after an objective that starts by itself begins a new objective.
func TestSend_afterAutoStart(t *testing.T) {
	s := newService(t)
	id := s.must(t, "objectives/create", `{"name":"Launch","metadata":{"opt/v1/autoStart":true}}`).at("id").String()
	s.must(t, "plans/create", `{"objectiveId":"`+id+`","name":"P","tasks":[{"name":"a"}]}`)
	n := s.must(t, "SendMessage", `{"message":`+messageJSON("m", "slow", `,"contextId":"`+id+`"`)+`}`).at("task")
	if n.at("id").String() == id || n.at("metadata", "longhaul/v1/queuePosition").String() != "1" {
		t.Fatalf("the message began %v", n)
	}
	s.world.Complete(opt.TaskID(opt.PlanID(id, 1), 0))
	if _, running := s.running(opt.TaskID(opt.PlanID(n.at("id").String(), 1), 0)); !running {
		t.Error("the message does not get its turn")
	}
}

func TestSend_mediaTypes(t *testing.T) {
	s := newService(t, func(c *config) { c.Card.InputModes = []string{"text/plain", "image/*"} })
	for part, ok := range map[string]bool{
		`{"text":"x","mediaType":"text/markdown"}`:               true,
		`{"data":1,"mediaType":"application/json"}`:              true,
		`{"raw":"aGk=","mediaType":"text/plain; charset=utf-8"}`: true,
		`{"raw":"aGk="}`: true,
		`{"url":"https://x.example/a.png","mediaType":"image/png"}`:          true,
		`{"raw":"aGk=","mediaType":"application/x-unsupported-tck-type"}`:    false,
		`{"data":1,"mediaType":"application/x-unsupported-tck-type"}`:        false,
		`{"raw":"aGk=","mediaType":"nonsense;;"}`:                            false,
		`{"url":"https://x.example/a.mp4","mediaType":"video/mp4;codecs=x"}`: false,
	} {
		calls := len(s.world.Calls())
		n := s.call(t, "SendMessage", `{"message":{"messageId":"m`+strconv.Itoa(calls)+`","role":"ROLE_USER","parts":[{"text":"quiet"},`+part+`]}}`)
		if ok && n.has("error") {
			t.Errorf("%s refused: %v", part, n)
		}
		if !ok {
			wantCode(t, n, "-32005")
			if len(s.world.Calls()) != calls {
				t.Errorf("%s: the engine was called", part)
			}
		}
	}
}

// An accepted send is completed even if its client disconnects.
func TestSend_clientGoesHalfway(t *testing.T) {
	s := newService(t)
	ctx, leave := context.WithCancel(t.Context())
	s.world.Before(func(context.Context, string) error { leave(); return nil })
	r := httptest.NewRequestWithContext(ctx, http.MethodPost, "/", strings.NewReader(
		`{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{"message":`+messageJSON("m-1", "quiet", "")+`}}`))
	r.Header.Set("A2A-Version", "1.0")
	s.ServeHTTP(httptest.NewRecorder(), r)
	test.Is(t, "events are recorded", 1, s.events("obj-"+u("m-1")))
}

// A send that waits reads the journal to find a repeat, once when its task has ended, and for the answer: not at each
// step of the work.
func TestSend_reads(t *testing.T) {
	s := newService(t, func(c *config) { c.BlockingWait = time.Minute })
	done := make(chan node)
	before := s.journal.calls.Load()
	go func() {
		done <- s.call(t, "SendMessage", `{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"text":"slow"}],"metadata":{"opt/v1/plan":{"name":"Writing","tasks":[{"name":"a"},{"name":"b"},{"name":"c"}]}}}}`)
	}()
	plan := opt.PlanID(opt.DerivedObjectiveID("acme", "ann", "m"), 1)
	for i := range 3 {
		s.until(t, func() bool { _, runs := s.running(opt.TaskID(plan, i)); return runs })
		s.finish(opt.TaskID(plan, i))
	}
	test.Is(t, "it is", "TASK_STATE_COMPLETED", (<-done).at("result", "task", "status", "state").String())
	if n := s.journal.calls.Load() - before; n != 5 { // one records the opening, and one reads the objective for the extension
		t.Errorf("it has called the journal %d times, want 5", n)
	}
}

// A send that finds the work begun by another one with its id, whose task rests already, answers at once.
func TestSend_besideAnother(t *testing.T) {
	var s *fixture
	send := func() string { return s.send(t, "m-1", "approve it").at("status", "state").String() }
	first := &meanwhile{does: func() { test.Is(t, "the other one", "TASK_STATE_INPUT_REQUIRED", send()) }}
	s = newService(t, func(c *config) { c.Agent, c.BlockingWait = first, 5*time.Second })
	began := time.Now()
	test.Is(t, "the state", "TASK_STATE_INPUT_REQUIRED", send())
	if took := time.Since(began); took >= 5*time.Second || len(s.world.Openings()) != 1 {
		t.Errorf("it took %v, and %d objectives were started", took, len(s.world.Openings()))
	}
}

// A meanwhile is the oracle, which does something before its first decision.
type meanwhile struct {
	oracle
	does func()
}

func (m *meanwhile) Decide(ctx context.Context, in a2a.Message) (message.Decision, error) {
	if does := m.does; does != nil {
		m.does = nil
		does()
	}
	return m.oracle.Decide(ctx, in)
}
