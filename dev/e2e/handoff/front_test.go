package handoff_test

import (
	"context"
	"net/http"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"longhaul/dev/e2e/harness"
	"longhaul/internal/test"
)

// inMemory are agents on the official servers, with their tasks in memory, and the programs that
// serve them at an address.
var inMemory = map[string]func(t *testing.T, addr string) []string{
	"Go": func(t *testing.T, addr string) []string {
		return []string{harness.Build(t, "longhaul/dev/e2e/official/server"), "--addr", addr}
	},
	"JavaScript": func(t *testing.T, addr string) []string {
		dir := harness.NodeProgram(t, "../official/js", "../official/js/main.mjs", "../official/js/kit.json")
		return []string{"node", filepath.Join(dir, "main.mjs"), strings.TrimPrefix(addr, "127.0.0.1:")}
	},
}

// A fronted is an agent behind a Longhaul.
type fronted struct {
	site    *harness.Site
	at      *harness.Site // of the agent: its address
	program []string
	cmd     *exec.Cmd
}

// inFront runs a test with each of the agents, which is not up yet.
func inFront(t *testing.T, run func(t *testing.T, f *fronted)) {
	t.Parallel()
	for language, program := range inMemory {
		t.Run(language, func(t *testing.T) {
			t.Parallel()
			f := &fronted{site: harness.NewSite(t, harness.Dev), at: harness.NewSite(t, harness.Dev)}
			f.program = program(t, f.at.Addr)
			f.site.Env = []string{"LONGHAUL_FRONT=" + f.at.URL(), "LONGHAUL_FALLBACK=reject", "LONGHAUL_PUBLIC_URL=" + f.site.URL()}
			run(t, f)
		})
	}
}

// start starts the agent, which has none of the tasks of an earlier one.
func (f *fronted) start(t *testing.T) {
	t.Helper()
	f.cmd = exec.CommandContext(t.Context(), f.program[0], f.program[1:]...)
	harness.Start(t, f.cmd)
	harness.Eventually(t, within, "the agent answers", func() error {
		res, err := http.Get(f.at.URL() + "/.well-known/agent-card.json")
		if err != nil {
			return err
		}
		return res.Body.Close()
	})
}

// kill kills the agent, and its tasks with it.
func (f *fronted) kill(t *testing.T) {
	t.Helper()
	test.OK(t, f.cmd.Process.Kill())
	_ = f.cmd.Wait() // says that it was killed
}

// A message waits for an agent that is not up yet, survives a kill of both sides, and is done
// once the agent has it again. A stream of the task shows all of it.
func TestFront_killed(t *testing.T) {
	inFront(t, func(t *testing.T, f *fronted) {
		server, c := f.site.Start(harness.AllInOne), f.site.Client()
		task := c.MustSendUntil(t.Context(), t, harness.Message{ID: "m", ContextID: "talk", Text: "work 5s; say done"})
		stream := c.Follow(t.Context(), task.ID, harness.Fresh)
		defer stream.Stop()
		c.AwaitText(t, within, task.ID, "Agent front cannot be used")
		f.start(t)
		begun, cancel := context.WithTimeout(t.Context(), within) // the words of the agent may follow at once
		defer cancel()
		test.OK(t, test.Err(stream.Until(begun, func(e harness.Event) bool { return strings.Contains(string(e.Data), "Agent front has the task") })))
		server.Kill()
		f.kill(t)
		f.start(t)
		f.site.Start(harness.AllInOne)
		done := c.AwaitState(t, within, task.ID, "COMPLETED")
		if len(done.Artifacts) != 1 || done.Artifacts[0].Text != "done" || done.ContextID != "talk" {
			t.Errorf("the task is %s", done.Raw)
		}
		events, err := stream.Wait(t.Context())
		if err != nil || stream.Resumes() == 0 || !slices.ContainsFunc(events, func(e harness.Event) bool { return strings.Contains(string(e.Data), `"done"`) }) {
			t.Errorf("the stream was resumed %d times, with %d events, error %v", stream.Resumes(), len(events), err)
		}
	})
}

// All that an agent says in its stream while it works is shown.
func TestFront_words(t *testing.T) {
	inFront(t, func(t *testing.T, f *fronted) {
		f.start(t)
		agents := test.File(t, "agents.yaml", "agents: {streams: {url: '"+f.at.URL()+"', no-push: true}}")
		f.site.Env = append(f.site.Env, "LONGHAUL_AGENTS="+agents, "LONGHAUL_FRONT=streams")
		f.site.Start(harness.AllInOne)
		c := f.site.Client()
		task := c.MustSendUntil(t.Context(), t, harness.Message{ID: "m", Text: "work 5s; report Baking; work 3s; report Icing; work 3s; say done"})
		stream := c.Follow(t.Context(), task.ID, harness.Fresh)
		defer stream.Stop()
		c.AwaitState(t, within, task.ID, "COMPLETED")
		events, err := stream.Wait(t.Context())
		for _, words := range []string{`: Baking"`, `: Icing"`} {
			if !slices.ContainsFunc(events, func(e harness.Event) bool { return strings.Contains(string(e.Data), words) }) {
				t.Errorf("of %d events none has %s, error %v", len(events), words, err)
			}
		}
	})
}

// ask sends a message upon which the agent asks, in its own words.
func ask(t *testing.T, c *harness.Client, id string) (taskID string) {
	t.Helper()
	task := c.MustSendUntil(t.Context(), t, harness.Message{ID: id, Text: "ask Which color?"})
	test.Is(t, "it asks", "Which color?", c.AwaitState(t, within, task.ID, "INPUT_REQUIRED").Message)
	return task.ID
}

// completes waits until the task has ended with an answer in its artifacts.
func completes(t *testing.T, c *harness.Client, taskID, answer string) {
	t.Helper()
	done := c.AwaitState(t, within, taskID, "COMPLETED")
	if !slices.ContainsFunc(done.Artifacts, func(a harness.Artifact) bool { return strings.HasSuffix(a.Text, answer) }) {
		t.Errorf("after %s the task is %s", answer, done.Raw)
	}
}

// After a kill of Longhaul an answer reaches the task that has asked. If the agent has lost that, a
// person decides that it gets it again.
func TestFront_forgetsQuestion(t *testing.T) {
	inFront(t, func(t *testing.T, f *fronted) {
		f.start(t)
		server, c := f.site.Start(harness.AllInOne), f.site.Client()
		kept, lost := ask(t, c, "kept"), ask(t, c, "lost")
		server.Kill()
		f.site.Start(harness.AllInOne)
		c.MustSendUntil(t.Context(), t, harness.Message{ID: "blue", TaskID: kept, Text: "blue"})
		completes(t, c, kept, "blue")
		f.kill(t)
		f.start(t)
		c.MustSend(t.Context(), t, harness.Message{ID: "green", TaskID: lost, Text: "green"})
		c.Await(t, within, lost, "asks whether to send it again", func(task *harness.Task) bool {
			return task.State == "INPUT_REQUIRED" && strings.Contains(task.Message, "has lost the task")
		})
		c.MustSend(t.Context(), t, harness.Message{ID: "again", TaskID: lost, Text: "send again"})
		c.Await(t, within, lost, "asks again", func(task *harness.Task) bool {
			return task.State == "INPUT_REQUIRED" && strings.HasPrefix(task.Message, "Which color?")
		})
		c.MustSend(t.Context(), t, harness.Message{ID: "red", TaskID: lost, Text: "red"})
		completes(t, c, lost, "red")
	})
}
