package agent_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"longhaul/a2a"
	"longhaul/activities"
	"longhaul/activities/agent"
	"longhaul/activities/executortest"
	"longhaul/internal/test"
	"longhaul/opt"
)

// whole is a task that hands a conversation over as it is.
func whole(word string, more ...a2a.Part) activities.Work {
	w := attempt("task-1", "")
	w.Input = json.RawMessage(`{"agent":"other","whole":true}`)
	w.Tenant, w.ContextID = opt.DefaultTenant, "ctx-9"
	w.Messages = []a2a.Message{{
		MessageID: "m-1", Role: a2a.RoleUser, Parts: append([]a2a.Part{a2a.TextPart(word)}, more...), Extensions: []string{"urn:x:1"},
		Metadata: a2a.Metadata{}.With("urn:x:1", "kept").With(opt.KeyAuthor, "ann"),
	}}
	return w
}

// All of the request arrives, in the context of the client, without who has sent it.
func TestExecutor_whole(t *testing.T) {
	for _, d := range dialects {
		t.Run(d.name, func(t *testing.T) {
			f := newFake(t, d.version, d.rest)
			file := a2a.Part{Raw: []byte("\x00\x01"), Filename: "a.bin", MediaType: "application/octet-stream", Metadata: a2a.Metadata{}.With("k", 1)}
			_, got := play(t, executor(t, f, ""), whole("go", file, a2a.Part{Data: json.RawMessage(`{"n":1}`)}))
			test.Is(t, "the result", `completed|result=Done: go `, got)
			sent := f.params("send")[0]["message"].(object)
			parts, _ := json.Marshal(sent["parts"])
			for _, want := range []string{"AAE=", "a.bin", "application/octet-stream", `"k":1`, `{"n":1}`} {
				test.Contains(t, "the parts", want, string(parts))
			}
			meta := sent["metadata"].(object)
			if sent["contextId"] != "ctx-9" || meta["urn:x:1"] != "kept" || meta[opt.KeyAuthor] != nil || meta["urn:longhaul:handoff:v1"] == nil {
				t.Errorf("the message is %v", sent)
			}
			header := map[string]string{"1.0": "A2A-Extensions", "0.3": "X-A2A-Extensions"}[d.version]
			for i, op := range f.log() {
				if op == "send" && f.heads[i].Get(header) != "urn:x:1" {
					t.Errorf("the headers are %v", f.heads[i])
				}
			}
		})
	}
}

// Contexts of other tenants are not those of the agent: a name that is known proves nothing.
func TestExecutor_wholeOfAnotherTenant(t *testing.T) {
	f := newFake(t, "1.0", false)
	for _, tenant := range []string{"acme", "other", "acme"} {
		w := whole("go")
		w.Tenant, w.ObjectiveID = tenant, "objective-"+tenant
		play(t, executor(t, f, ""), w)
	}
	var contexts []any
	for _, p := range f.params("send") {
		contexts = append(contexts, p["message"].(object)["contextId"])
	}
	if len(contexts) != 3 || contexts[0] == "ctx-9" || contexts[0] == contexts[1] || contexts[0] != contexts[2] {
		t.Errorf("the contexts are %v", contexts)
	}
}

// The id of the client's message goes over where clients are one, for the first task alone, and
// not when it is sent again; for another objective only where ids are no keys.
func TestExecutor_wholeMessageID(t *testing.T) {
	objective := opt.DerivedObjectiveID(opt.DefaultTenant, opt.Anonymous, "m-1")
	first, second := opt.TaskID(opt.PlanID(objective, 1), 0), opt.TaskID(opt.PlanID(objective, 1), 1)
	for _, tc := range []struct {
		author, task, id, more string
		lost, same             bool
	}{
		{opt.Anonymous, first, "m-1", "", false, true}, {opt.Anonymous, second, "m-1", "", false, false}, {"ann", first, "m-1", "", false, false},
		{opt.Anonymous, first, "m-1", "", true, false}, {opt.Anonymous, first, "m-2", "", false, false}, {opt.Anonymous, first, "m-2", `,"ids":true`, false, true},
	} {
		f := newFake(t, "1.0", false)
		w := whole("go")
		w.ObjectiveID, w.TaskID, w.Messages[0].MessageID, w.Messages[0].Metadata = objective, tc.task, tc.id, a2a.Metadata{}.With(opt.KeyAuthor, tc.author)
		w.Input = json.RawMessage(`{"agent":"other","whole":true` + tc.more + `}`)
		at := 0
		if tc.lost {
			at = 3
		}
		_, got := loses(t, f, executor(t, f, ""), w, at)
		sent := f.params("send")
		id := sent[len(sent)-1]["message"].(object)["messageId"]
		if got != "completed|result=Done: go " || (id == tc.id) != tc.same {
			t.Errorf("%+v: %s, the message id is %v", tc, got, id)
		}
	}
}

// Notes reach the agent while it works, each once. One that it refuses changes nothing. While it
// asks it gets none: it would take it for the answer.
func TestExecutor_wholeNotes(t *testing.T) {
	for word, want := range map[string][]string{"long": {"long", "and n-1", "and n-2"}, "picky": {"picky", "and n-1"}} {
		f := newFake(t, "1.0", false)
		w := whole(word)
		for _, id := range []string{"n-1", "n-2"} {
			w.Messages, w.Notes = append(w.Messages, a2a.Message{MessageID: id, Role: a2a.RoleUser, Parts: []a2a.Part{a2a.TextPart("and " + id)}}), w.Notes+1
		}
		_, _ = executortest.Player{Executor: executor(t, f, ""), Twice: true, Legs: 12}.Play(t.Context(), w)
		var said []string
		seen := map[any]bool{}
		for _, p := range f.params("send") {
			m := p["message"].(object)
			if !seen[m["messageId"]] {
				said = append(said, words(m))
			}
			seen[m["messageId"]] = true
		}
		test.Equal(t, word, want, said)
	}
}

// The question of the agent is asked in its words, and a file goes back beside the answer.
func TestExecutor_wholeAnswer(t *testing.T) {
	f := newFake(t, "1.0", false)
	e := executor(t, f, "")
	asked, got := play(t, e, whole("ask"))
	if want := "input-required|clarification|Which color?"; !strings.HasPrefix(got, want) {
		t.Fatalf("got %s, want %s", got, want)
	}
	answer := opt.Reply{Answers: []opt.Answer{{ID: "answer", Answer: json.RawMessage(`"red"`)}}, Attached: []a2a.Part{{Data: json.RawMessage(`{"shade":3}`)}}}
	if _, got = play(t, e, replied(asked, answer)); got != `completed|result=Done: ask red {"shade":3}` {
		t.Errorf("got %s", got)
	}
}

// An agent that has not been reached yet is waited for.
func TestExecutor_wholeAway(t *testing.T) {
	f := newFake(t, "1.0", false)
	e := executor(t, f, "")
	f.Close()
	o, err := e.Execute(t.Context(), whole("go"), &executortest.Stream{})
	if err != nil || o.Park == nil || !strings.Contains(o.Park.Text, "cannot be used") {
		t.Errorf("%+v, error %v", o, err)
	}
}

// forget has the agent lose its tasks, as one that keeps them in memory does when it is started
// again.
func (f *fake) forget() {
	f.mu.Lock()
	defer f.mu.Unlock()
	clear(f.tasks)
	clear(f.by)
}

// loses plays a task whose agent loses it once, when it is parked for the n-th time.
func loses(t *testing.T, f *fake, e activities.Executor, w activities.Work, n int) (executortest.Played, string) {
	t.Helper()
	p, err := executortest.Player{Executor: e, Legs: 60, Parked: func(activities.Work, activities.Outcome) *activities.Outcome {
		if n--; n == 0 {
			f.forget()
		}
		return nil
	}}.Play(t.Context(), w)
	if err != nil {
		return p, "error " + err.Error()
	}
	return p, show(p)
}

const asksLost = "input-required|clarification|Agent other has lost the task: send again, or stop?"

func TestExecutor_lost(t *testing.T) {
	for _, tc := range []struct {
		name, more, word string
		at               int
		want             string
	}{
		{"sent again by itself", ", on-lost: resend", "go", 3, "completed|result=Done: go "},
		{"after an artifact a person is asked", ", on-lost: resend", "replace", 5, asksLost},
		{"a person is asked", "", "go", 3, asksLost},
		{"the task fails", ", on-lost: fail", "go", 3, "failed|remote-task-lost: Agent other does not know the task any more that it was given."},
	} {
		f := newFake(t, "1.0", false)
		_, got := loses(t, f, executor(t, f, ", no-push: true"+tc.more), attempt("task-1", tc.word), tc.at)
		if !strings.HasPrefix(got, tc.want) {
			t.Errorf("%s: got %s, want %s", tc.name, got, tc.want)
		}
	}
}

// A conversation that is handed over whole is sent again by itself, unless an older program has
// taken an artifact or a question of the agent for it.
func TestExecutor_lostOfOlderProgram(t *testing.T) {
	f := newFake(t, "1.0", false)
	e := executor(t, f, "")
	for memo, want := range map[string]string{"": "completed|result=Done: go ", `,"seen":{"a":"x"}`: asksLost, `,"answered":"x"`: asksLost} {
		w := whole("go")
		w.Memo = json.RawMessage(fmt.Sprintf(`{"at":{"url":%q,"binding":"JSONRPC","version":"1.0"},"messageId":"m","taskId":"gone","since":%d,"missing":5%s}`, f.URL+"/a2a", time.Now().UnixMilli(), memo))
		if _, got := play(t, e, w); !strings.HasPrefix(got, want) {
			t.Errorf("%s: got %s, want %s", memo, got, want)
		}
	}
}

// Who asked for the work says what happens to a lost task, or an operator; where callers are not known,
// everyone may.
func TestExecutor_lostResponders(t *testing.T) {
	for author, want := range map[string]*opt.Responders{"ann": {Principals: []string{"ann"}, Groups: []string{"ops"}}, opt.Anonymous: nil} {
		f := newFake(t, "1.0", false)
		w := whole("go")
		w.Messages[0].Metadata = w.Messages[0].Metadata.With(opt.KeyAuthor, author)
		p, got := loses(t, f, executor(t, f, ", no-push: true, on-lost: ask, operators: [ops]"), w, 3)
		if !strings.HasPrefix(got, asksLost) {
			t.Fatalf("%s: got %s, want %s", author, got, asksLost)
		}
		test.Equal(t, author+": responders", want, p.Outcome.Gate.Responders)
	}
}

// After a question a person decides; the agent gets the task again with the exchange.
func TestExecutor_lostAfterQuestion(t *testing.T) {
	for answer, want := range map[string]string{
		`"send again"`: "input-required|clarification|Which color?",
		`"stop"`:       "failed|remote-task-lost: Agent other does not know the task any more that it was given.",
	} {
		f := newFake(t, "1.0", false)
		e := executor(t, f, "")
		asked, _ := play(t, e, whole("ask"))
		f.forget()
		lost, got := play(t, e, replied(asked, opt.Reply{Answers: []opt.Answer{{ID: "answer", Answer: json.RawMessage(`"red"`)}}}))
		if !strings.HasPrefix(got, asksLost) {
			t.Fatalf("got %s, want %s", got, asksLost)
		}
		w := replied(lost, opt.Reply{Answers: []opt.Answer{{ID: "lost", Answer: json.RawMessage(answer)}}})
		w.Replies[0].GateID = opt.GateID(w.TaskID, 2)
		w.Replies, w.Round, w.Key = append(lost.Work.Replies, w.Replies...), 3, w.TaskID+":3"
		if _, got = play(t, e, w); !strings.HasPrefix(got, want) {
			t.Errorf("%s: got %s, want %s", answer, got, want)
		}
		sent := f.params("send")
		if last := words(sent[len(sent)-1]["message"].(object)); strings.Contains(answer, "again") && (!strings.Contains(last, "ask You have asked: Which color?") || !strings.HasSuffix(last, " The answer was: red")) {
			t.Errorf("the agent was sent %q", last)
		}
	}
}

// An agent that is away while a person is to give it an authorization closes no gate, and
// words at another gate give none.
func TestExecutor_awayAtAuthorization(t *testing.T) {
	f := newFake(t, "1.0", false)
	e := executor(t, f, "")
	asked, got := play(t, e, whole("auth"))
	if asked.Outcome.State != opt.TaskAuthRequired {
		t.Fatal(got)
	}
	w := asked.Work
	w.Memo, w.Leg = asked.Outcome.Memo, w.Leg+1
	f.refuse = map[string]rpcFault{"get": {-32603, "down"}}
	o, err := e.Execute(t.Context(), w, &executortest.Stream{})
	if err != nil || o.State != opt.TaskAuthRequired || o.Park == nil {
		t.Errorf("%+v, error %v", o, err)
	}
	f.refuse = nil
	w.Memo, w.Round, w.Leg = o.Memo, 2, 0
	w.Replies = []opt.Reply{{GateID: "another", Action: opt.Accept, DecidedBy: "ann"}}
	if o, err = e.Execute(t.Context(), w, &executortest.Stream{}); err != nil || o.Code != agent.CodeNoAnswer {
		t.Errorf("%+v, error %v", o, err)
	}
}

// A note that the agent does not take is sent a few times, more and more rarely, and the task
// continues. Meanwhile another note does not end the wait.
func TestExecutor_wholeNoteInVain(t *testing.T) {
	f := newFake(t, "1.0", false)
	w := whole("long")
	w.Messages, w.Notes = append(w.Messages, a2a.Message{MessageID: "n-1", Role: a2a.RoleUser, Parts: []a2a.Part{a2a.TextPart("more")}}), 1
	var waits []int64
	pauses := 0 // that notes do not end
	_, _ = executortest.Player{Executor: executor(t, f, ", no-stream: true, no-push: true"), Legs: 14, Parked: func(_ activities.Work, o activities.Outcome) *activities.Outcome {
		if waits = append(waits, o.Park.Wait); !o.Park.Notes {
			pauses++
		}
		f.refuse = map[string]rpcFault{"send": {-32603, "down"}}
		if len(waits) < 2 {
			f.refuse = nil
		}
		return nil
	}}.Play(t.Context(), w)
	tries := 0
	for _, op := range f.log() {
		if op == "send" {
			tries++
		}
	}
	if tries != 1+5 || slices.Max(waits) < 8000 || pauses != 4 {
		t.Errorf("%d sends, waits %v, %d of them with notes, too", tries, waits, pauses)
	}
}
