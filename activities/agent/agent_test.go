package agent_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"longhaul/a2a"
	"longhaul/activities"
	"longhaul/activities/agent"
	"longhaul/activities/executortest"
	"longhaul/internal/egress"
	"longhaul/internal/test"
	"longhaul/opt"
)

const token = "token-of-the-worker"

// dialects are the ways in which agents speak.
var dialects = []struct {
	name, version string
	rest          bool
}{{"1.0", "1.0", false}, {"1.0 over plain HTTP", "1.0", true}, {"0.3", "0.3", false}}

func load(t *testing.T, text string) (agent.Agents, error) {
	t.Helper()
	path := test.File(t, "agents.yaml", text)
	env := map[string]string{"TOKEN": token}
	return agent.Load(path, agent.Reader{Env: func(name string) (string, bool) { v, ok := env[name]; return v, ok }})
}

// executor returns one that knows f as "other". more are further members of it.
func executor(t *testing.T, f *fake, more string) *agent.Executor {
	t.Helper()
	agents := test.Value(load(t, fmt.Sprintf("agents:\n  other: {url: '%s', headers: {Authorization: 'Bearer ${TOKEN}'}%s}\n", f.URL, more)))(t)
	return agent.New(agent.Config{Agents: agents, HTTP: client(t)})
}

func client(t *testing.T) *egress.Client {
	t.Helper()
	c := test.Value(egress.New(egress.Config{AllowPrivate: true, MaxAnswer: agent.MaxAnswer}))(t)
	t.Cleanup(c.Close)
	return c
}

func task(message string) activities.Work {
	return activities.Work{Input: json.RawMessage(fmt.Sprintf(`{"agent":"other","message":%q}`, message))}
}

// attempt is the first attempt at a task with an id.
func attempt(id, message string) activities.Work {
	w := task(message)
	w.TaskID, w.Round, w.Attempt, w.Key = id, 1, 1, id+":1"
	return w
}

func TestExecutor(t *testing.T) {
	for _, d := range dialects {
		t.Run(d.name, func(t *testing.T) {
			f, gone := newFake(t, d.version, d.rest), newFake(t, d.version, d.rest)
			away := executor(t, gone, "")
			gone.Close()
			waits, large, hostile, long := task("ask"), task("large"), task("hostile"), task("long")
			cfg := executortest.Config{
				Executor: executor(t, f, ""), Completes: task("go"), Fails: task("fail"), Waits: &waits, Long: long,
				Large: &large, Untrusted: &hostile, Parks: &long, Effects: f.started, Secrets: []string{token},
			}
			executortest.Run(t, cfg)
			unreachable := task("go")
			t.Run("unreachable", func(t *testing.T) {
				_, err := away.Execute(t.Context(), unreachable, &executortest.Stream{})
				test.Is(t, "the error", "unreachable: Agent other cannot be used. There was no answer: refused.", fmt.Sprint(err))
			})
		})
	}
}

// play runs a task to its end or its first gate, and shows it.
func play(t *testing.T, e activities.Executor, w activities.Work) (executortest.Played, string) {
	t.Helper()
	if w.TaskID == "" {
		w.TaskID, w.Round, w.Attempt, w.Key, w.ObjectiveID = "task-1", 1, 1, "task-1:1", "objective-1"
	}
	p, err := executortest.Player{Executor: e, Legs: 40}.Play(t.Context(), w)
	if err != nil {
		return p, "error " + err.Error()
	}
	return p, show(p)
}

// replied returns the work of the round after a reply to the first gate of a task.
func replied(p executortest.Played, r opt.Reply) activities.Work {
	w := p.Work
	r.GateID = opt.GateID(w.TaskID, w.Round)
	w.Replies, w.Round, w.Leg, w.Key = []opt.Reply{r}, 2, 0, w.TaskID+":2"
	return w
}

func show(p executortest.Played) string {
	o := p.Outcome
	out := []string{string(o.State)}
	if o.Code != "" {
		out = append(out, o.Code+": "+o.Message)
	}
	if o.Gate != nil {
		out = append(out, string(o.Gate.Kind), o.Gate.Prompt())
	}
	for _, a := range p.Artifacts {
		out = append(out, a.ArtifactID+"="+a.Text())
	}
	return strings.Join(out, "|")
}

// Each state of a remote task, in each dialect.
func TestExecutor_states(t *testing.T) {
	for _, d := range dialects {
		f := newFake(t, d.version, d.rest)
		e := executor(t, f, "")
		for message, want := range map[string]string{
			"go":        "completed|result=Done: go ",
			"message":   "completed|answer=Just this.",
			"silent":    "completed|answer=All is in this message.",
			"fail":      "failed|remote-failed: Agent other failed: No luck. Really.",
			"reject":    "rejected|rejected_by_remote: Agent other rejected the task: Not my job.",
			"gone":      "failed|remote-canceled: The task was canceled at agent other: It gave no reason.",
			"ask":       "input-required|clarification|Agent other asks: Which color?‹U+001B›[31m",
			"auth":      "auth-required|credential|Agent other needs an authorization\nLog in at https://example.com.",
			"gate":      "input-required|approval|Agent other asks: Ship it?",
			"questions": "input-required|clarification|Agent other asks: A?\nB?",
			"stream":    "completed|text=Hello",
			"leak":      "failed|remote-failed: Agent other failed: Bearer [credential] is not enough",
			"odd":       "error the task still parks after 40 legs",
		} {
			if _, got := play(t, e, attempt("task-"+message, message)); got != want {
				t.Errorf("%s, %s: got %q, want %q", d.name, message, got, want)
			}
		}
		for _, h := range f.heads {
			if got, want := h.Get("A2A-Version"), map[string]string{"1.0": "1.0"}[d.version]; got != want || h.Get("Authorization") != "Bearer "+token {
				t.Fatalf("%s: the headers are %v", d.name, h)
			}
		}
	}
}

// The answer of a person goes to the remote task in the form that its agent takes.
func TestExecutor_answers(t *testing.T) {
	answer := func(id, text string) opt.Reply {
		return opt.Reply{Answers: []opt.Answer{{ID: id, Answer: json.RawMessage(text)}}}
	}
	for _, tt := range []struct {
		message string
		reply   opt.Reply
		want    string
	}{
		{"ask", answer("answer", `"blue"`), "completed|result=Done: ask blue"},
		{"ask", answer("answer", `{"rgb":[0,0,1]}`), `completed|result=Done: ask {"rgb":[0,0,1]}`},
		{"picky", answer("answer", `"blue"`), "input-required|clarification|Agent other asks: Which color?‹U+001B›[31m\nThe agent did not take the last answer: say please‹U+001B›[2J"},
		{"slow", answer("answer", `"blue"`), "completed|result=Late: blue"}, // it shows its question for a while
		{"auth", opt.Reply{Feedback: "I did."}, "completed|result=Done: auth I did."},
		{"auth", opt.Reply{Action: opt.Accept}, "completed|result=Done: auth The authorization was given."},
		{"auth", opt.Reply{Action: opt.Accept, Feedback: "Code 7."}, "completed|result=Done: auth The authorization was given. Code 7."},
		{"auth", opt.Reply{Action: opt.Reject, Feedback: "No."}, "failed|no-answer: The authorization that agent other needs was refused. No."},
		{"gate", opt.Reply{Action: opt.Accept}, `completed|result=Done: gate {"action":"accept","interruptId":"g:1","objectDigest":"d1"}`},
		{"gate", opt.Reply{Action: opt.Reject, Feedback: "No."}, `completed|result=Done: gate {"action":"reject","feedback":"No.","interruptId":"g:1","objectDigest":"d1"}`},
		{"questions", answer("a", `"x"`), `completed|result=Done: questions {"answers":[{"id":"a","answer":"x"}],"interruptId":"g:2"}`},
		{"ask", opt.Reply{DecidedBy: opt.ByTimer, Action: opt.Reject}, "failed|no-answer: The question of agent other was not answered."},
	} {
		for _, d := range dialects {
			f := newFake(t, d.version, d.rest)
			e := executor(t, f, "")
			p, _ := play(t, e, task(tt.message))
			_, got := play(t, e, replied(p, tt.reply))
			if got = strings.ReplaceAll(got, `{"answer":"x","id":"a"}`, `{"id":"a","answer":"x"}`); got != tt.want {
				t.Errorf("%s, %s: got %q, want %q", d.name, tt.message, got, tt.want)
			}
		}
	}
}

// A question that the agent does not ask any more gets no answer.
func TestExecutor_answersOnce(t *testing.T) {
	f := newFake(t, "1.0", false)
	e := executor(t, f, "")
	p, _ := play(t, e, task("ask"))
	w := replied(p, opt.Reply{Answers: []opt.Answer{{ID: "answer", Answer: json.RawMessage(`"blue"`)}}})
	p = test.Value(executortest.Player{Executor: e, Twice: true}.Play(t.Context(), w))(t)
	test.Is(t, "the result", "completed|result=Done: ask blue", show(p))
	test.Is(t, "messages were sent", 2, len(f.params("send")))
}

// A message whose answer was lost is looked for before it is sent again.
func TestExecutor_findsItsTask(t *testing.T) {
	for _, d := range dialects {
		f := newFake(t, d.version, d.rest)
		var lost atomic.Bool
		f.drop = func(op string) bool { return op == "send" && !lost.Swap(true) }
		_, got := play(t, executor(t, f, ""), task("go"))
		if want := "completed|result=Done: go "; got != want || f.started() != 1 {
			t.Errorf("%s: got %q with %d remote tasks, want %q with one", d.name, got, f.started(), want)
		}
		calls := f.log()
		again := slices.Contains(calls[1:], "send") // 0.3 cannot list tasks
		if again != (d.version == "0.3") {
			t.Errorf("%s: the calls were %v", d.name, calls)
		}
	}
}

// The memo is left before anything is sent, and names the remote task before any wait.
func TestExecutor_memoComesFirst(t *testing.T) {
	f := newFake(t, "1.0", false)
	var at []string
	w := attempt("task-1", "go")
	_, err := executortest.Player{Executor: executor(t, f, ""), Parked: func(w activities.Work, o activities.Outcome) *activities.Outcome {
		var m struct{ MessageID, TaskID string }
		test.OK(t, json.Unmarshal(o.Memo, &m))
		at = append(at, fmt.Sprintf("%d calls, message %t, task %q, wait %d, cancel %t", len(f.log()), m.MessageID != "", m.TaskID, o.Park.Wait, o.OnCancel))
		return nil
	}}.Play(t.Context(), w)
	test.OK(t, err)
	want := []string{
		`0 calls, message true, task "", wait 0, cancel true`,
		`1 calls, message true, task "remote-1", wait 0, cancel true`,
		`3 calls, message true, task "remote-1", wait 1000, cancel true`,
	}
	test.Equal(t, "parks", want, at)
}

// A canceled task cancels the remote one, and says whether that is known.
func TestExecutor_cancel(t *testing.T) {
	for _, tt := range []struct {
		name, message string
		before        func(*fake)
		want          string
	}{
		{"works", "long", func(*fake) {}, "failed|canceled-confirmed: Agent other confirmed that it canceled the task."},
		{"completed meanwhile", "long", func(f *fake) { f.tasks["remote-1"].make("late", "Late"); f.tasks["remote-1"].set("completed", "") }, "completed|late=Late"},
		{"failed meanwhile", "long", func(f *fake) { f.tasks["remote-1"].set("failed", "Oh.") }, "failed|remote-failed: Agent other failed: Oh."},
		{"asks", "ask", func(*fake) {}, "failed|canceled-confirmed: Agent other confirmed that it canceled the task."},
	} {
		f := newFake(t, "1.0", false)
		e := executor(t, f, "")
		p, _ := play(t, e, task(tt.message))
		tt.before(f)
		w := p.Work
		w.Cancel = true
		if _, got := play(t, e, w); got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.name, got, tt.want)
		}
	}
}

// A task that was canceled while its message was on the way is found and canceled.
func TestExecutor_cancelOfALostAnswer(t *testing.T) {
	f := newFake(t, "1.0", false)
	e := executor(t, f, "")
	w := attempt("task-1", "long")
	chosen := test.Value(e.Execute(t.Context(), w, &executortest.Stream{}))(t)
	w.Memo = chosen.Memo
	if _, err := e.Execute(t.Context(), w, &executortest.Stream{}); err != nil { // whose result is lost
		t.Fatal(err)
	}
	w.Cancel = true
	o, err := e.Execute(t.Context(), w, &executortest.Stream{})
	if err != nil || o.Code != agent.CodeStopped || f.tasks["remote-1"].state != "canceled" {
		t.Errorf("got %+v, %v, and the remote task is %s", o, err, f.tasks["remote-1"].state)
	}
}

// An agent that does not list its tasks gets the message again, and cannot confirm the
// cancellation of a task whose id is unknown.
func TestExecutor_cannotList(t *testing.T) {
	for _, status := range []int{401, 403, 404, 501} {
		f := newFake(t, "1.0", false)
		f.status = map[string]answered{"list": {status: status}}
		e := executor(t, f, "")
		w := attempt("task-1", "go")
		o := test.Value(e.Execute(t.Context(), w, &executortest.Stream{}))(t)
		w.Memo, w.Cancel = o.Memo, true
		test.Is(t, fmt.Sprint(status), agent.CodeNotToldOf, test.Value(e.Execute(t.Context(), w, &executortest.Stream{}))(t).Code)
		w.Cancel, w.Attempt = false, 2
		if _, got := play(t, e, w); got != "completed|result=Done: go " {
			t.Errorf("%d: got %q", status, got)
		}
	}
}

// An agent that pushes is asked less often, and gets the callback once.
func TestExecutor_push(t *testing.T) {
	for _, d := range dialects {
		for _, refused := range []bool{false, true} {
			f := newFake(t, d.version, d.rest)
			if refused {
				f.refuse = map[string]rpcFault{"push": {-32003, "no"}}
			}
			var waits []int64
			w := attempt("task-1", "long")
			w.WakeURL = "https://here.example.com/wake/secret"
			_, _ = executortest.Player{Executor: executor(t, f, ", no-stream: true"), Legs: 9, Parked: func(_ activities.Work, o activities.Outcome) *activities.Outcome {
				waits = append(waits, o.Park.Wait/1000)
				return nil
			}}.Play(t.Context(), w)
			want, pushes := []int64{0, 0, 15, 30, 60, 120, 240, 300, 300}, []string{w.WakeURL}
			if refused {
				want, pushes = []int64{0, 0, 1, 2, 4, 8, 16, 32, 60}, nil
			}
			test.Equal(t, fmt.Sprintf("%s, refused %t: waits in seconds", d.name, refused), want, waits)
			test.Equal(t, d.name+": registered URLs", pushes, f.push)
		}
	}
}

// What the agent says and pieces of artifacts are shown while it works, both as they come.
func TestExecutor_stream(t *testing.T) {
	for _, d := range dialects {
		for message, want := range map[string][]string{"stream": {"Hel", "lo", "Reading"}, "talk": {"Reading", "Step 1", "Step‹U+001B› 2", "Step‹U+001B› 2"}} {
			f := newFake(t, d.version, d.rest)
			w := whole(message)
			e, shown := executor(t, f, ""), []string{}
			for {
				out := &executortest.Stream{}
				o := test.Value(e.Execute(t.Context(), w, out))(t)
				for _, p := range out.Pieces() {
					shown = append(shown, p.Artifact.Text())
				}
				shown = append(shown, out.Texts()...)
				if o.Park == nil {
					break
				}
				if len(shown) > 0 && o.Park.Text != "" {
					t.Errorf("%s: %q would be shown after %q", d.name, o.Park.Text, shown)
				}
				w.Memo = o.Memo
			}
			test.Equal(t, fmt.Sprintf("%s: %s shows", d.name, message), want, shown)
		}
	}
}

// The card decides which interface a task uses. The task keeps that interface.
func TestExecutor_chooses(t *testing.T) {
	const elsewhere = "no-common-interface: The interface of agent other is at another host or port than its card, or not encrypted: if that is right, list the host, with the port if it is an unusual one, in its hosts in the file of --agents."
	both := func(f *fake) func(object) {
		return func(c object) {
			c["supportedInterfaces"] = []object{
				{"url": f.URL + "/old", "protocolBinding": "JSONRPC", "protocolVersion": "0.3"},
				{"url": "https://elsewhere.example.com/a2a", "protocolBinding": "JSONRPC", "protocolVersion": "1.0"},
				{"url": f.URL + "/a2a", "protocolBinding": "GRPC", "protocolVersion": "1.0"},
				{"url": f.URL + "/new/", "protocolBinding": "JSONRPC", "protocolVersion": "1.0.1"},
			}
		}
	}
	offers := func(url, version string) func(*fake) func(object) { // one interface; url "" is that of the fake
		return func(f *fake) func(object) {
			at := url
			if at == "" {
				at = f.URL
			}
			return func(c object) {
				c["supportedInterfaces"] = []object{{"url": at, "protocolBinding": "JSONRPC", "protocolVersion": version}}
			}
		}
	}
	for _, tt := range []struct {
		name, more string
		card       func(*fake) func(object)
		want       string
	}{
		{"the newer", "", both, "1.0 /new"},
		{"pinned", `, version: "0.3"`, both, "0.3 /old"},
		{"pinned to one that is not offered", `, version: "1.0"`, func(f *fake) func(object) {
			return func(c object) {
				delete(c, "supportedInterfaces")
				c["protocolVersion"], c["url"] = "0.3.0", f.URL
			}
		}, "no-common-interface: The card of agent other offers no interface of A2A 1.0, which its version in the file of --agents demands."},
		{"another transport", "", func(f *fake) func(object) {
			return func(c object) {
				delete(c, "supportedInterfaces")
				c["protocolVersion"], c["url"], c["preferredTransport"] = "0.3.0", f.URL+"/grpc", "GRPC"
				c["additionalInterfaces"] = []object{{"url": f.URL + "/rpc", "transport": "JSONRPC"}}
			}
		}, "0.3 /rpc"},
		{"none", "", func(*fake) func(object) { return func(c object) { delete(c, "supportedInterfaces") } },
			"no-common-interface: The card of agent other offers no interface of A2A 1.0 or 0.3 over HTTP that is spoken here."},
		{"a later version", "", offers("", "2.0"), "no-common-interface: The card of agent other offers no interface of A2A 1.0 or 0.3 over HTTP that is spoken here."},
		{"elsewhere", "", offers("https://elsewhere.example.com/a2a", "1.0"), elsewhere},
		{"another port", "", offers("http://127.0.0.1:1/a2a", "1.0"), elsewhere},
		{"another port, allowed", ", hosts: ['127.0.0.1:1']", offers("http://127.0.0.1:1/a2a", "1.0"), "1.0 http://127.0.0.1:1/a2a"},
		{"an allowed host, another port", ", hosts: [elsewhere.example.com]", offers("https://elsewhere.example.com:8443/a2a", "1.0"), elsewhere},
		{"an allowed host, the default port", ", hosts: [Elsewhere.example.com]", offers("https://elsewhere.example.com:443/a2a", "1.0"), "1.0 https://elsewhere.example.com:443/a2a"},
		{"elsewhere, allowed", ", hosts: [elsewhere.example.com]", offers("https://elsewhere.example.com/a2a", "1.0"), "1.0 https://elsewhere.example.com/a2a"},
	} {
		f := newFake(t, "1.0", false)
		f.card = tt.card(f)
		o := test.Value(executor(t, f, tt.more).Execute(t.Context(), task("go"), &executortest.Stream{}))(t)
		var m struct{ At struct{ URL, Version string } }
		test.OK(t, json.Unmarshal(o.Memo, &m))
		got := m.At.Version + " " + strings.TrimPrefix(m.At.URL, f.URL)
		if o.Code != "" {
			got = o.Code + ": " + o.Message
		}
		test.Is(t, tt.name, tt.want, got)
	}
}

// A task that began with 1.0 does not continue with 0.3.
func TestExecutor_neverDowngrades(t *testing.T) {
	f := newFake(t, "1.0", false)
	e := executor(t, f, "")
	w := attempt("task-1", "go")
	o := test.Value(e.Execute(t.Context(), w, &executortest.Stream{}))(t)
	if again, err := e.Execute(t.Context(), w, &executortest.Stream{}); err != nil || messageID(t, again) != messageID(t, o) {
		t.Errorf("a repeat of the first leg chose another message id: %v", err)
	}
	f.version = "0.3"
	f.refuse = map[string]rpcFault{"": {-32009, "Version not supported"}}
	w.Memo = o.Memo
	_, got := play(t, e, w)
	test.Is(t, "the result", "failed|remote-refused: Agent other refuses the message: Version not supported", got)
}

// messageID returns the id of the message that an outcome has chosen.
func messageID(t *testing.T, o activities.Outcome) string {
	t.Helper()
	var m struct{ MessageID string }
	if err := json.Unmarshal(o.Memo, &m); err != nil || m.MessageID == "" {
		t.Fatalf("the memo is %s", o.Memo)
	}
	return m.MessageID
}

// Hops are counted on the way, and loops are refused.
func TestExecutor_hops(t *testing.T) {
	f := newFake(t, "1.0", false)
	e := executor(t, f, "")
	w := task("go")
	var sent json.RawMessage
	for hop := 1; hop <= 6; hop++ {
		w.TaskID, w.Round, w.Attempt, w.Key, w.ObjectiveID = fmt.Sprint("task-", hop), 1, 1, fmt.Sprint("key-", hop), fmt.Sprint("objective-", hop)
		w.Input = json.RawMessage(fmt.Sprintf(`{"agent":"other","message":"go","skill":"skill-%d"}`, hop))
		_, got := play(t, e, w)
		want := "completed|result=Done: go "
		if hop == 6 {
			want = "failed|too-many-hops: The work was handed over 5 times already, and at most 5 are allowed."
		}
		if got != want {
			t.Fatalf("hop %d: got %q, want %q", hop, got, want)
		}
		sends := f.params("send")
		message := sends[len(sends)-1]["message"].(object)
		metadata, _ := json.Marshal(message["metadata"])
		var m a2a.Metadata
		test.OK(t, json.Unmarshal(metadata, &m))
		sent = m[agent.KeyHops]
		w.Messages = []a2a.Message{{Metadata: m}}
	}
	var hops agent.Hops
	if err := json.Unmarshal(sent, &hops); err != nil || hops.Hops != 5 || len(hops.To) != 5 {
		t.Errorf("the last message says %s", sent)
	}
	test.Equal(t, "objectives", []string{"objective-1", "objective-2", "objective-3", "objective-4", "objective-5"}, hops.Objectives)
	w.Messages = []a2a.Message{{Metadata: a2a.Metadata{}.With(agent.KeyHops, agent.Hops{Hops: 1, To: hops.To[:1]})}}
	w.Input = json.RawMessage(`{"agent":"other","message":"go","skill":"skill-1"}`)
	if _, got := play(t, e, w); got != "failed|handoff-loop: The work was handed over to agent other already: it would go round in a loop." {
		t.Errorf("the same skill again: %q", got)
	}
}

// Each error of an agent has a defined effect on the task.
func TestExecutor_trouble(t *testing.T) {
	for _, tt := range []struct {
		name   string
		status int
		header http.Header
		on     string
		want   string // state, then code or wait in ms
	}{
		{"busy at the message", 429, http.Header{"Retry-After": {"7"}}, "send", "working 7000 Agent other asks to wait."},
		{"busy for long", 503, http.Header{"Retry-After": {"86400"}}, "send", "working 600000 Agent other asks to wait."},
		{"busy at a look", 503, nil, "get", "working 15000 Agent other asks to wait."},
		{"no credentials", 401, nil, "send", "failed remote-denied Agent other is not to be used with these credentials or at this address. The answer has HTTP status 401."},
		{"credentials expire", 401, nil, "get", "working 1000 Agent other cannot be used. The answer has HTTP status 401. It is tried again."},
		{"broken", 500, nil, "send", "working 1000 Agent other cannot be used. The answer has HTTP status 500. It is tried again."},
		{"moved", 301, http.Header{"Location": {"http://127.0.0.1:1/"}}, "send", "failed remote-refused Agent other refuses the message: The answer is a redirect, which is not followed: the URL of the agent has changed."},
		{"not found", 404, nil, "send", "failed remote-refused Agent other refuses the message: The answer has HTTP status 404."},
	} {
		f := newFake(t, "1.0", false)
		e := executor(t, f, "")
		f.status = map[string]answered{tt.on: {tt.status, tt.header}}
		w := attempt("task-1", "go")
		var o activities.Outcome
		for range 3 {
			var err error
			if o, err = e.Execute(t.Context(), w, &executortest.Stream{}); err != nil {
				t.Fatal(err)
			}
			if w.Memo = o.Memo; o.Park == nil || o.Park.Wait > 0 {
				break
			}
		}
		got := fmt.Sprintf("%s %s %s", o.State, o.Code, o.Message)
		if o.Park != nil {
			got = fmt.Sprintf("%s %d %s", o.State, o.Park.Wait, o.Park.Text)
		}
		test.Is(t, tt.name, tt.want, got)
	}
}

// An agent that is away for longer than the patience fails the attempt, and the next
// attempt continues with the same remote task.
func TestExecutor_patience(t *testing.T) {
	f := newFake(t, "1.0", false)
	agents := test.Value(load(t, "agents:\n  other: {url: '"+f.URL+"', patience: 10m, max-wait: 30m}\n"))(t)
	e := agent.New(agent.Config{Agents: agents, HTTP: client(t), Now: func() time.Time { // a minute goes by with each call
		return time.Date(2030, 1, 1, 0, len(f.log()), 0, 0, time.UTC)
	}})
	f.status = map[string]answered{"get": {status: 502}}
	p, got := play(t, e, task("go"))
	if want := "error leg 13: Execute: unreachable: Agent other cannot be used. The answer has HTTP status 502."; got != want {
		t.Fatalf("got %q, want %q", got, want)
	}
	f.status = nil
	p.Work.Attempt, p.Work.Leg = 2, 0
	if _, got := play(t, e, p.Work); got != "completed|result=Done: go " || f.started() != 1 {
		t.Errorf("the next attempt: %q, with %d remote tasks", got, f.started())
	}

	_, got = play(t, e, attempt("task-2", "long"))
	test.Is(t, "the result", "failed|remote-timeout: Agent other took longer than 30m0s.", got)
}

// A task that runs again, after its result was sent back or its failure was retried,
// begins another remote task.
func TestExecutor_beginsAgain(t *testing.T) {
	f := newFake(t, "1.0", false)
	e := executor(t, f, "")
	p, _ := play(t, e, task("go"))
	w := p.Work
	w.Refined = []opt.Reply{{Action: opt.Refine, Feedback: "Shorter."}}
	if _, got := play(t, e, w); got != "completed|result=Done: go\n\nShorter. " || f.started() != 2 {
		t.Errorf("got %q with %d remote tasks", got, f.started())
	}
	sends := f.params("send")
	first, second := sends[0]["message"].(object), sends[1]["message"].(object)
	if first["messageId"] == second["messageId"] || first["contextId"] != second["contextId"] || words(second) != "go\n\nShorter." {
		t.Errorf("the messages are %v and %v", first, second)
	}
}

// A later attempt of a task has no memo of the one before, but uses the same context.
func TestExecutor_keepsItsContext(t *testing.T) {
	f := newFake(t, "1.0", false)
	e := executor(t, f, "")
	plan := opt.PlanID(opt.DerivedObjectiveID("acme", "ann", "m"), 1)
	for _, id := range []string{opt.TaskID(plan, 1), opt.RootID(opt.TaskID(plan, 1), 2), opt.TaskID(plan, 2)} {
		w := attempt(id, "go")
		play(t, e, w)
	}
	sends := f.params("send")
	if len(sends) != 3 {
		t.Fatalf("%d messages were sent, want 3", len(sends))
	}
	first, again, other := sends[0]["message"].(object), sends[1]["message"].(object), sends[2]["message"].(object)
	if first["contextId"] != again["contextId"] || first["messageId"] == again["messageId"] || first["contextId"] == other["contextId"] {
		t.Errorf("the messages are %v, %v and, of another task, %v", first, again, other)
	}
}

// An agent that replaces an artifact all the time is looked at once a second, one whose
// task has ended at once.
func TestExecutor_streamWaits(t *testing.T) {
	for message, want := range map[string]int64{"replace": 1000, "stream": 0} {
		f := newFake(t, "1.0", false)
		var waits []int64
		w := attempt("task-1", message)
		_, _ = executortest.Player{Executor: executor(t, f, ""), Legs: 6, Parked: func(_ activities.Work, o activities.Outcome) *activities.Outcome {
			waits = append(waits, o.Park.Wait)
			return nil
		}}.Play(t.Context(), w)
		if len(waits) < 3 {
			t.Fatalf("%s: the waits are %v", message, waits)
		}
		for _, wait := range waits[2:] { // after the first two there is a remote task
			if wait != want {
				t.Errorf("%s: the waits are %v, want %d", message, waits, want)
				break
			}
		}
	}
}

// Limits of what an agent makes, and what it may not do to the task.
func TestExecutor_limits(t *testing.T) {
	f := newFake(t, "1.0", false)
	for more, want := range map[string]string{
		", bytes: 1000":    "failed|remote-result-too-large: The artifacts of agent other have more than the 1000 bytes that the operator allows.",
		", bytes: 1000000": "completed|large=xxx",
	} {
		if _, got := play(t, executor(t, f, more), attempt(more, "large")); !strings.HasPrefix(got, want) {
			t.Errorf("%s: got %.100q, want %q", more, got, want)
		}
	}
}

func TestExecutor_input(t *testing.T) {
	e := executor(t, newFake(t, "1.0", false), "")
	for input, want := range map[string]string{
		``:                            "bad-input",
		`{}`:                          "bad-input",
		`{"agent":"other","url":"x"}`: "bad-input",
		`{"agent":"unknown"}`:         "unknown-agent",
	} {
		o := test.Value(e.Execute(t.Context(), activities.Work{Input: json.RawMessage(input)}, &executortest.Stream{}))(t)
		test.Is(t, input, opt.TaskRejected, o.State)
		test.Is(t, input, want, o.Code)
	}
}
