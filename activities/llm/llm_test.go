package llm_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"longhaul/a2a"
	"longhaul/activities"
	"longhaul/activities/executortest"
	"longhaul/activities/llm"
	"longhaul/activities/llm/llmtest"
	"longhaul/internal/test"
	"longhaul/opt"
)

// toolFile is the variable that has the test program serve tools, and log their calls to
// a file.
const toolFile = "LLM_TEST_TOOLS"

func TestMain(m *testing.M) {
	if file := os.Getenv(toolFile); file != "" {
		_ = llmtest.ServeTools(context.Background(), file)
		return
	}
	os.Exit(m.Run())
}

const key = "sk-very-secret"

// file has the models of tests. MODEL and TOOLS are the URLs of servers.
const file = `
models:
  main: {provider: openai, url: MODEL/v1, model: m1, key: KEY, timeout: 2s}
  claude: {provider: anthropic, url: MODEL, model: m2, key: KEY, price: {input: 1, cached: 0.1, output: 10}}
servers:
  desk:
    url: TOOLS
    headers: {Authorization: "Bearer ${KEY}"}
    tools: {look: allow, note: allow, large: allow, fail: allow, hang: allow, ask: ask, secret: deny}
  guarded: {url: TOOLS, tools: {"*": ask}}
  closed: {url: TOOLS, tools: {"*": deny}}
  again: {url: TOOLS, tools: {"*": allow}, repeat: [note]}
  quick: {url: TOOLS, tools: {"*": allow}, timeout: 300ms}
  gone: {url: "http://127.0.0.1:1/mcp", tools: {"*": allow}}
`

func env(name string) (string, bool) { return key, name == "KEY" }

func load(t testing.TB, text string, replace ...string) (*llm.Models, error) {
	t.Helper()
	return llm.Load(test.File(t, "models.yaml", strings.NewReplacer(replace...).Replace(text)), env)
}

// A world is an executor with a model that follows a script, and with tools.
type world struct {
	llm.Executor
	server *llmtest.Server
	tools  llmtest.ToolServer
	log    *observer.ObservedLogs
}

func newWorld(t testing.TB, script func(int, llmtest.Request) llmtest.Turn, more ...string) world {
	t.Helper()
	core, log := observer.New(zap.DebugLevel)
	w := world{server: llmtest.New(t, script), tools: llmtest.NewToolServer(t), log: log}
	m := test.Value(load(t, file+strings.Join(more, "\n"), "MODEL", w.server.URL, "TOOLS", w.tools.URL))(t)
	w.Executor = llm.Executor{Models: m, Log: zap.New(core)}
	return w
}

func (w world) player() executortest.Player { return executortest.Player{Executor: w.Executor} }

// work returns the first work of a task.
func work(input string) activities.Work {
	return activities.Work{
		TaskID: "task-1", Round: 1, Attempt: 1, Name: "Task", Input: json.RawMessage(input),
		Messages: []a2a.Message{{MessageID: "request", Role: a2a.RoleUser, Parts: []a2a.Part{a2a.TextPart("A request")}}},
	}
}

func play(t *testing.T, p executortest.Player, w activities.Work) executortest.Played {
	t.Helper()
	played := test.Value(p.Play(t.Context(), w))(t)
	return played
}

// next returns the work of the round after a reply.
func next(p executortest.Played, r opt.Reply) activities.Work {
	w := p.Work
	w.Replies = append(w.Replies, r)
	w.Round, w.Attempt, w.Leg, w.Try = w.Round+1, 1, 0, 0
	return w
}

func say(pieces ...string) llmtest.Turn { return llmtest.Turn{Text: pieces} }

func use(name, args string) llmtest.Turn {
	return llmtest.Turn{Calls: []llmtest.Call{{Name: name, Args: args}}}
}

// answerOf returns the result of a task as text.
func answerOf(p executortest.Played) string {
	var texts []string
	for _, a := range p.Artifacts {
		for _, part := range a.Parts {
			if part.Data != nil {
				texts = append(texts, string(part.Data))
			} else {
				texts = append(texts, *part.Text)
			}
		}
	}
	return strings.Join(texts, "")
}

func TestExecutor(t *testing.T) {
	for _, model := range []string{"main", "claude"} {
		t.Run(model, func(t *testing.T) {
			w := newWorld(t, func(_ int, r llmtest.Request) llmtest.Turn {
				switch text := r.Messages[0].Text; {
				case text == "long":
					return llmtest.Turn{Text: []string{"it "}, Stall: func() bool { return true }}
				case text == "down":
					return llmtest.Turn{Status: 500}
				case text == "hostile":
					return say(executortest.Hostile)
				case text == "large":
					return say(strings.Repeat("0123456789", 7000))
				case text == "call" && len(r.Messages) == 1:
					return use("guarded__note", `{"text":"x"}`)
				}
				return say("The ", "answer.")
			})
			on := func(prompt, more string) activities.Work {
				return activities.Work{Input: fmt.Appendf(nil, `{"model":%q,"prompt":%q%s}`, model, prompt, more)}
			}
			errs, waits, large, hostile := on("down", ""), on("call", `,"tools":["guarded/note"]`), on("large", ""), on("hostile", "")
			executortest.Run(t, executortest.Config{
				Executor: w.Executor, Completes: on("do", ""), Fails: on("do", `,"tools":["other/x"]`), Errs: &errs, Long: on("long", ""),
				Waits: &waits, Large: &large, Untrusted: &hostile, Secrets: []string{key},
			})
			for _, e := range w.log.All() {
				if text := fmt.Sprint(e.Message, e.ContextMap()); strings.Contains(text, key) {
					t.Errorf("the log has the key: %s", text)
				}
			}
		})
	}
}

// A text is streamed as it arrives, and the request has the settings of the task.
func TestExecutor_text(t *testing.T) {
	w := newWorld(t, llmtest.Turns(say("One ", "two ", "three.")))
	out := &executortest.Stream{}
	task := work(`{"model":"main","system":"Be brief.","prompt":"Count."}`)
	task.Refined = []opt.Reply{{Feedback: "Too long."}}
	got := test.Value(w.Execute(t.Context(), task, out))(t)
	test.Is(t, "the result", opt.TaskCompleted, got.State)
	test.Equal(t, "usage", &opt.Usage{Input: 10, Output: 5, Model: "main"}, got.Usage)
	var pieces []string
	for _, p := range out.Pieces() {
		pieces = append(pieces, fmt.Sprint(*p.Artifact.Parts[0].Text, p.Last))
	}
	test.Equal(t, "pieces", []string{"One false", "two false", "three.true"}, pieces)
	r := w.server.Requests()[0]
	if !strings.Contains(r.System, "Be brief.") || r.Messages[0].Text != "Count.\n\nA person has sent an earlier answer back with this remark: Too long." ||
		r.Header.Get("Authorization") != "Bearer "+key || !strings.Contains(r.Body, `"max_tokens":4096`) || r.Schema {
		t.Errorf("request %+v", r)
	}
}

// Invalid inputs are rejected.
func TestExecutor_badInput(t *testing.T) {
	w := newWorld(t, llmtest.Turns(say("x")))
	for input, want := range map[string]string{
		`"x"`:                            "must be an object",
		`{"prompt":"x","more":1}`:        "must be an object",
		`{"prompt":"x"}`:                 `no model ""`,
		`{"prompt":"x","model":"other"}`: `no model "other"`,
		`{"prompt":"x","model":"main","schema":{"type":"no"}}`:     "schema in the input",
		`{"prompt":"x","model":"main","maxTurns":-1}`:              "below 0",
		`{"prompt":"x","model":"main","budget":{"cost":1}}`:        "has no price",
		`{"prompt":"x","model":"main","tools":["desk/nothing"]}`:   `"desk" has no tool "nothing"`,
		`{"prompt":"x","model":"main","tools":["nothing/at-all"]}`: `no server "nothing"`,
	} {
		got, err := w.Execute(t.Context(), work(input), &executortest.Stream{})
		if err != nil || got.State != opt.TaskRejected || got.Code != llm.CodeInput || !strings.Contains(got.Message, want) {
			t.Errorf("%s: got %+v, error %v", input, got, err)
		}
	}
	if n := len(w.server.Requests()); n > 0 {
		t.Errorf("%d requests", n)
	}
}

// An answer must fit the schema; the model is asked twice more.
func TestExecutor_schema(t *testing.T) {
	const input = `{"model":%q,"prompt":"x","schema":{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}}`
	for _, tt := range []struct {
		name  string
		turns []llmtest.Turn
		state opt.TaskState
		want  string // result or code
		asked int
	}{
		{"at once", []llmtest.Turn{say(`{"n":`, `1}`)}, opt.TaskCompleted, `{"n":1}`, 1},
		{"in a fence", []llmtest.Turn{say("```json\n{\"n\":2}\n```")}, opt.TaskCompleted, `{"n":2}`, 1},
		{"corrected", []llmtest.Turn{say("Sure!"), say(`{"n":"x"}`), say(`{"n":3}`)}, opt.TaskCompleted, `{"n":3}`, 3},
		{"never", []llmtest.Turn{say(`{"n":"x"}`)}, opt.TaskFailed, llm.CodeSchema, 3},
		{"refused by the server", []llmtest.Turn{{Status: 400}, say(`{"n":4}`)}, opt.TaskCompleted, `{"n":4}`, 2},
	} {
		for _, model := range []string{"main", "claude"} {
			t.Run(tt.name+" "+model, func(t *testing.T) {
				w := newWorld(t, llmtest.Turns(tt.turns...))
				p := play(t, w.player(), work(fmt.Sprintf(input, model)))
				if got := answerOf(p) + p.Outcome.Code; p.Outcome.State != tt.state || got != tt.want {
					t.Errorf("got %s, outcome %+v", got, p.Outcome)
				}
				requests := w.server.Requests()
				if len(requests) != tt.asked || !requests[0].Schema || !strings.Contains(requests[0].System, `"required":["n"]`) {
					t.Errorf("%d requests, the first: %+v", len(requests), requests[0])
				}
				if tt.turns[0].Status == 400 && requests[1].Schema {
					t.Error("the schema was sent again to a server that refuses it")
				}
			})
		}
	}
}

// An error of a server fails the attempt, parks the task or fails the task. After a wait the model is asked again, which
// quotas and budgets may hold back.
func TestExecutor_trouble(t *testing.T) {
	for _, tt := range []struct {
		name string
		turn llmtest.Turn
		code string // of the error or the failure, "" for a wait
		wait int64  // milliseconds
	}{
		{"busy", llmtest.Turn{Status: 429, RetryAfter: "7"}, "", 7000},
		{"busy without a time", llmtest.Turn{Status: 429}, "", 1000},
		{"busy for days", llmtest.Turn{Status: 429, RetryAfter: "999999999"}, "", 3600_000},
		{"restarts", llmtest.Turn{Status: 503, RetryAfter: "2"}, "", 2000},
		{"down", llmtest.Turn{Status: 502}, llm.CodeUnavailable, 0},
		{"wrong key", llmtest.Turn{Status: 401}, llm.CodeDenied, 0},
		{"bad request", llmtest.Turn{Status: 400}, llm.CodeRequest, 0},
		{"redirect", llmtest.Turn{Status: 307}, llm.CodeRequest, 0},
		{"broken JSON", llmtest.Turn{Raw: "event: message_start\ndata: {\"id\": nonsense\n\n"}, llm.CodeAnswer, 0},
		{"error in the stream", llmtest.Turn{Raw: "event: error\ndata: {\"error\":{\"type\":\"overloaded\",\"message\":\"x\"}}\n\n"}, llm.CodeAnswer, 0},
		{"cut off", llmtest.Turn{Text: []string{"One"}, Cut: true}, llm.CodeAnswer, 0},
	} {
		for _, model := range []string{"main", "claude"} {
			t.Run(tt.name+" "+model, func(t *testing.T) {
				w := newWorld(t, llmtest.Turns(tt.turn))
				got, err := w.Execute(t.Context(), work(fmt.Sprintf(`{"model":%q,"prompt":"x"}`, model)), &executortest.Stream{})
				var coded *activities.Error
				switch {
				case tt.code == "" && (err != nil || got.Park == nil || got.Park.Wait != tt.wait || got.Park.Needs != opt.Usage{Output: 1, Cost: 1}):
					t.Errorf("got %+v, error %v", got, err)
				case tt.code != "" && (!errors.As(err, &coded) || coded.Code != tt.code):
					t.Errorf("got %+v, error %v", got, err)
				}
				test.Is(t, "requests: one was repeated", 1, len(w.server.Requests()))
			})
		}
	}
}

// Of the events of an answer those that are no part of it are ignored, and the usage is that
// of the whole answer.
func TestExecutor_events(t *testing.T) {
	for model, raw := range map[string]string{
		"main": ": hello\r\n\r\ndata: {\"error\":null,\"choices\":[{\"delta\":{\"content\":\"Hi\"},\"finish_reason\":null}]}\r\n\r\n" +
			"data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}],\"usage\":null}\r\n\r\n" +
			"data: {\"choices\":[],\"usage\":{\"prompt_tokens\":7,\"completion_tokens\":2,\"total_tokens\":9}}\r\n\r\ndata: [DONE]\r\n\r\ndata: no JSON\r\n\r\n",
		"claude": "event: ping\ndata: {\"type\": \"ping\"}\n\n" +
			"data: {\"type\":\"message_start\",\"message\":{\"usage\":{\"input_tokens\":1,\"cache_read_input_tokens\":4,\"cache_creation_input_tokens\":2,\"output_tokens\":1}}}\n\n" +
			"data: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"thinking\",\"thinking\":\"\"}}\n\n" +
			"data: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"thinking_delta\",\"thinking\":\"Hm\"}}\n\n" +
			"data: {\"type\":\"content_block_start\",\"index\":1,\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\n" +
			"data: {\"type\":\"content_block_delta\",\"index\":1,\"delta\":{\"type\":\"text_delta\",\"text\":\"Hi\"}}\n\n" +
			"data: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"},\"usage\":{\"output_tokens\":2}}\n\ndata: {\"type\":\"message_stop\"}\n\n",
	} {
		w := newWorld(t, llmtest.Turns(llmtest.Turn{Raw: raw}))
		p := play(t, w.player(), work(fmt.Sprintf(`{"model":%q,"prompt":"x"}`, model)))
		if u := p.Outcome.Usage; p.Outcome.State != opt.TaskCompleted || answerOf(p) != "Hi" || u == nil || u.Input != 7 || u.Output != 2 {
			t.Errorf("%s: got %q, usage %+v, %+v", model, answerOf(p), u, p.Outcome)
		}
	}
}

// The log never has the key, although a server says it.
func TestExecutor_echoedKey(t *testing.T) {
	for _, model := range []string{"main", "claude"} {
		w := newWorld(t, llmtest.Turns(llmtest.Turn{Raw: "event: error\ndata: {\"error\":{\"type\":\"x\",\"message\":\"no " + key + "\"}}\n\n"}))
		if _, err := w.Execute(t.Context(), work(fmt.Sprintf(`{"model":%q,"prompt":"x"}`, model)), &executortest.Stream{}); err == nil || strings.Contains(err.Error(), key) {
			t.Errorf("%s: error %v", model, err)
		}
		lines := w.log.All()
		if text := fmt.Sprint(lines); len(lines) == 0 || strings.Contains(text, key) || strings.Contains(fmt.Sprint(lines[0].ContextMap()), key) {
			t.Errorf("%s: the log has the key, or nothing: %s", model, text)
		}
	}
}

// A turn that takes too long fails the attempt.
func TestExecutor_slow(t *testing.T) {
	w := newWorld(t, llmtest.Turns(llmtest.Turn{Text: []string{"It "}, Stall: func() bool { return true }}))
	_, err := w.Execute(t.Context(), work(`{"model":"main","prompt":"x"}`), &executortest.Stream{})
	var coded *activities.Error
	if !errors.As(err, &coded) || coded.Code != llm.CodeTimeout {
		t.Errorf("error %v", err)
	}
}

// A cancellation ends the stream of the model at once.
func TestExecutor_cancel(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	w := newWorld(t, llmtest.Turns(llmtest.Turn{Text: []string{"It "}, Stall: func() bool { cancel(); return true }}))
	_, err := w.Execute(ctx, work(`{"model":"claude","prompt":"x"}`), &executortest.Stream{})
	test.Error(t, "the call", context.Canceled, err)
	<-w.server.Left() // the server sees that the caller has left
}

// Endings of the model that no repeat would change fail the task.
func TestExecutor_endings(t *testing.T) {
	for _, tt := range []struct{ model, end, code string }{
		{"main", "length", llm.CodeTooLong}, {"main", "content_filter", llm.CodeRefused},
		{"claude", "max_tokens", llm.CodeTooLong}, {"claude", "refusal", llm.CodeRefused},
	} {
		w := newWorld(t, llmtest.Turns(llmtest.Turn{Text: []string{"x"}, End: tt.end}))
		p := play(t, w.player(), work(fmt.Sprintf(`{"model":%q,"prompt":"x"}`, tt.model)))
		if p.Outcome.State != opt.TaskFailed || p.Outcome.Code != tt.code || p.Outcome.Usage == nil {
			t.Errorf("%s: got %+v", tt.end, p.Outcome)
		}
	}
}

// A model that never comes to an end is stopped.
func TestExecutor_turns(t *testing.T) {
	w := newWorld(t, llmtest.Turns(use("desk__look", `{"text":"x"}`)))
	p := play(t, w.player(), work(`{"model":"main","prompt":"x","tools":["desk/look"],"maxTurns":3}`))
	if p.Outcome.Code != llm.CodeTurns || len(w.server.Requests()) != 3 || len(w.tools.Calls()) != 3 {
		t.Errorf("%d requests, outcome %+v", len(w.server.Requests()), p.Outcome)
	}
}

// Messages that clients send while the task works reach the model, each once: those for the
// objective stand before those for the task, whichever came first.
func TestExecutor_hears(t *testing.T) {
	look := func(id string) llmtest.Turn { return use("desk__look", `{"text":"`+id+`"}`) }
	w := newWorld(t, llmtest.Turns(look("1"), look("2"), look("3"), say("Done.")))
	p := w.player()
	p.Parked = nil
	note := func(text string) a2a.Message { return a2a.Message{Parts: []a2a.Part{a2a.TextPart(text)}} }
	own, root := note("And hurry"), note("In blue")
	inner := p.Executor
	p.Executor = executorFunc(func(ctx context.Context, w activities.Work, s activities.Stream) (activities.Outcome, error) {
		switch {
		case w.Leg == 0:
		case w.Leg < 3: // a turn, and the calls before it
			w.Messages, w.Notes, w.NotesTo = append(w.Messages, own), 1, 1
		default:
			w.Messages, w.Notes, w.NotesTo = append(w.Messages, root, own), 2, 1
		}
		return inner.Execute(ctx, w, s)
	})
	play(t, p, work(`{"model":"main","prompt":"x","tools":["desk/look"]}`))
	requests := w.server.Requests()
	var heard []string
	for _, m := range requests[len(requests)-1].Messages {
		if text, ok := strings.CutPrefix(m.Text, "A client adds: "); ok {
			heard = append(heard, text)
		}
	}
	if !slices.Equal(heard, []string{"And hurry", "In blue"}) {
		t.Errorf("after %d turns the model has heard %q", len(requests), heard)
	}
}

type executorFunc func(context.Context, activities.Work, activities.Stream) (activities.Outcome, error)

func (f executorFunc) Execute(ctx context.Context, w activities.Work, s activities.Stream) (activities.Outcome, error) {
	return f(ctx, w, s)
}
