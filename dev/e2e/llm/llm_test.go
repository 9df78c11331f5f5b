// Package llm runs tasks with models and tools in the whole program, and kills it
// between the steps.
package llm_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"longhaul/activities/llm/llmtest"
	"longhaul/dev/e2e/harness"
	"longhaul/internal/test"
)

// toolFile is the variable that has the test program serve tools over standard input and
// output, and log their calls to a file.
const toolFile = "LLM_E2E_TOOLS"

func TestMain(m *testing.M) {
	if file := os.Getenv(toolFile); file != "" {
		_ = llmtest.ServeTools(context.Background(), file)
		return
	}
	os.Exit(m.Run())
}

// models is the file of the program under test.
const models = `
models:
  main: {provider: openai, url: "%s/v1", model: scripted, key: LLM_E2E_KEY, price: {input: 1, output: 1}}
servers:
  desk:
    run: [%q]
    env: [LLM_E2E_TOOLS]
    tools: {note: ask, hang: allow}
planner:
  model: main
  approvePlan: true
  tools: [desk/note, desk/hang]
`

const key = "sk-of-the-test"

// A world is a running program with a scripted model and a tool.
type world struct {
	t     *testing.T
	site  *harness.Site
	calls string // file with the calls of tools
	c     *harness.Client
	task  string
	f     *harness.Follower
}

// begin starts the program and sends a message that no playbook takes.
func begin(t *testing.T, script func(int, llmtest.Request) llmtest.Turn) (*world, *harness.Process) {
	t.Helper()
	program := test.Value(os.Executable())(t)
	dir := t.TempDir()
	w := &world{t: t, calls: filepath.Join(dir, "calls")}
	file := harness.WriteFile(t, dir, "models.yaml", fmt.Sprintf(models, llmtest.New(t, script).URL, program))
	w.site = harness.NewSite(t, harness.Dev)
	w.site.Hide(key)
	w.site.Env = []string{"LONGHAUL_FALLBACK=reject", "LONGHAUL_MODELS=" + file, "LLM_E2E_KEY=" + key, toolFile + "=" + w.calls}
	p := w.site.Start(harness.AllInOne)
	w.c = w.site.Client()
	task := w.c.MustSend(t.Context(), t, harness.Message{ID: "request", Text: "Write it down"})
	w.task, w.f = task.ID, w.c.Follow(t.Context(), task.ID, 0)
	return w, p
}

// within bounds each wait, on a busy machine.
const within = 90 * time.Second

// answer waits for a gate with a title, or a question if that is "", and answers it.
func (w *world) answer(title string, reply func(gateID string) harness.Message) {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.t.Context(), within)
	defer cancel()
	e, err := w.f.Until(ctx, func(e harness.Event) bool { g := e.Gate(); return g != nil && g.Title == title })
	if err != nil {
		w.t.Fatalf("wait for the gate %q: %v", title, err)
	}
	if _, err := w.c.SendUntil(ctx, reply(e.Gate().ID)); err != nil {
		w.t.Fatalf("answer the gate %q: %v", title, err)
	}
}

func (w *world) accept(title string) {
	w.t.Helper()
	w.answer(title, func(id string) harness.Message { return harness.Reply("accept-"+id, w.task, id, "accept") })
}

// end waits for the end of the task and returns its state and its artifacts.
func (w *world) end() (state, text string) {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.t.Context(), within)
	defer cancel()
	test.OK(w.t, test.Err(w.f.Wait(ctx)))
	task := test.Value(w.c.Get(ctx, w.task))(w.t)
	for _, a := range task.Artifacts {
		text += a.Text
	}
	return task.State, text
}

// made lists the calls of tools.
func (w *world) made() []string {
	data, err := os.ReadFile(w.calls)
	if err != nil && !os.IsNotExist(err) {
		w.t.Fatal(err)
	}
	return strings.Fields(strings.ReplaceAll(string(data), " ", ":"))
}

// work is a script for a plan of one task that calls a tool and then answers with its result.
// after is called with the turn that follows the call.
func work(tool string, after func() llmtest.Turn) func(int, llmtest.Request) llmtest.Turn {
	return func(_ int, r llmtest.Request) llmtest.Turn {
		last := r.Messages[len(r.Messages)-1]
		switch {
		case strings.HasPrefix(r.System, "You plan"):
			return llmtest.Turn{Text: []string{fmt.Sprintf(`{"reason":"It is a note.","plans":[{"name":"Note","tasks":[{"name":"Write","kind":"llm","text":"Write it down.","tools":["desk/%s"]}]}]}`, tool)}}
		case last.Role == "tool":
			turn := after()
			turn.Text = []string{"Done: ", last.Text}
			return turn
		}
		return llmtest.Turn{Calls: []llmtest.Call{{Name: "desk__" + tool, Args: `{"text":"x"}`}}}
	}
}

// timed is how long tasks ran, in a usage.
var timed = regexp.MustCompile(`,"seconds":\d+`)

// used returns what the task shows as used, without time.
func (w *world) used() string {
	task := test.Value(w.c.Get(w.t.Context(), w.task))(w.t)
	var has struct {
		Metadata struct {
			Usage json.RawMessage `json:"longhaul/v1/usage"`
		} `json:"metadata"`
	}
	test.OK(w.t, json.Unmarshal(task.Raw, &has))
	return timed.ReplaceAllString(string(has.Metadata.Usage), "")
}

// The program is killed after a call of a tool, while the model takes its next turn. The
// call is not made again, and what the model has used is counted once: by the planner, before the call and
// after it.
func TestKilledAfterCall(t *testing.T) {
	t.Parallel()
	turns := make(chan bool, 10) // that follow the call
	stall := make(chan bool, 1)
	stall <- true
	w, p := begin(t, work("note", func() llmtest.Turn {
		return llmtest.Turn{Stall: func() bool {
			turns <- true
			select {
			case <-stall:
				return true
			default:
				return false
			}
		}}
	}))
	w.accept("Start this plan?")
	w.accept("Call the tool desk/note?")
	select {
	case <-turns:
	case <-time.After(within):
		t.Fatal("the model was not asked after the call")
	}
	p.Kill()
	w.site.Start(harness.AllInOne)
	state, text := w.end()
	if state != "COMPLETED" || text != "Done: noted x" {
		t.Errorf("state %s, text %q", state, text)
	}
	test.Equal(t, "calls", []string{"note:x"}, w.made())
	if used := w.used(); used != `{"inputTokens":30,"outputTokens":15,"cost":"0.000045","questions":2}` {
		t.Errorf("it has used %s", used)
	}
}

// The program is killed during a call that must not be repeated: a person decides.
func TestKilledDuringCall(t *testing.T) {
	t.Parallel()
	w, p := begin(t, work("hang", func() llmtest.Turn { return llmtest.Turn{} }))
	w.accept("Start this plan?")
	ctx, cancel := context.WithTimeout(t.Context(), within)
	defer cancel()
	for tick := time.Tick(20 * time.Millisecond); len(w.made()) == 0; {
		select {
		case <-tick:
		case <-ctx.Done():
			t.Fatal("the tool was not called")
		}
	}
	p.Kill()
	w.site.Start(harness.AllInOne)
	w.answer("", func(id string) harness.Message { return harness.Message{ID: "skip", TaskID: w.task, Text: "skip"} })
	state, text := w.end()
	if state != "COMPLETED" || !strings.HasPrefix(text, "Done: It is not known whether the call was made") {
		t.Errorf("state %s, text %q", state, text)
	}
	test.Equal(t, "calls", []string{"hang:x"}, w.made())
}

// No task of a plan that a person rejects begins.
func TestRejectedPlan(t *testing.T) {
	t.Parallel()
	w, _ := begin(t, work("note", func() llmtest.Turn { return llmtest.Turn{} }))
	w.answer("Start this plan?", func(id string) harness.Message { return harness.Reply("no", w.task, id, "reject") })
	if state, text := w.end(); state != "FAILED" || text != "" || len(w.made()) > 0 {
		t.Errorf("state %s, text %q, calls %q", state, text, w.made())
	}
}
