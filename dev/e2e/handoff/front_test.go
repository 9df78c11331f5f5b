package handoff_test

import (
	"net/http"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"longhaul/dev/e2e/harness"
)

// A fronted is an agent on the official Go server, with its tasks in memory, behind a Longhaul.
type fronted struct {
	site *harness.Site
	at   *harness.Site // of the agent: its address
	cmd  *exec.Cmd
}

func newFronted(t *testing.T) *fronted {
	t.Helper()
	f := &fronted{site: harness.NewSite(t, harness.Dev), at: harness.NewSite(t, harness.Dev)}
	f.site.Env = []string{"LONGHAUL_FRONT=" + f.at.URL(), "LONGHAUL_FALLBACK=reject", "LONGHAUL_PUBLIC_URL=" + f.site.URL()}
	return f
}

// start starts the agent, which has none of the tasks of an earlier one.
func (f *fronted) start(t *testing.T) {
	t.Helper()
	f.cmd = exec.CommandContext(t.Context(), harness.Build(t, "longhaul/dev/e2e/official/server"), "--addr", f.at.Addr)
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
	if err := f.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = f.cmd.Wait() // says that it was killed
}

// A message waits for an agent that is not up yet, survives a kill of both sides, and is done
// once the agent has it again.
func TestFront_killed(t *testing.T) {
	t.Parallel()
	f := newFronted(t)
	server := f.site.Start(harness.AllInOne)
	task := f.site.Client().MustSendUntil(t.Context(), t, harness.Message{ID: "m", ContextID: "talk", Text: "work 5s; say done"})
	f.site.Client().AwaitText(t, within, task.ID, "Agent front cannot be used")
	f.start(t)
	f.site.Client().AwaitText(t, within, task.ID, "Agent front has the task")
	server.Kill()
	f.kill(t)
	f.start(t)
	f.site.Start(harness.AllInOne)
	done := f.site.Client().AwaitState(t, within, task.ID, "COMPLETED")
	if len(done.Artifacts) != 1 || done.Artifacts[0].Text != "done" || done.ContextID != "talk" {
		t.Errorf("the task is %s", done.Raw)
	}
}

// The agent asks in its own words, and what it has asked survives that it forgets the task: a
// person decides that it gets it again.
func TestFront_forgetsQuestion(t *testing.T) {
	t.Parallel()
	f := newFronted(t)
	f.start(t)
	f.site.Start(harness.AllInOne)
	c := f.site.Client()
	task := c.MustSendUntil(t.Context(), t, harness.Message{ID: "m", Text: "ask Which color?"})
	asked := c.AwaitState(t, within, task.ID, "INPUT_REQUIRED")
	if asked.Message != "Which color?" {
		t.Errorf("it asks %q", asked.Message)
	}
	f.kill(t)
	f.start(t)
	c.MustSend(t.Context(), t, harness.Message{ID: "green", TaskID: task.ID, Text: "green"})
	lost := c.Await(t, within, task.ID, "asks whether to send it again", func(task *harness.Task) bool {
		return task.State == "INPUT_REQUIRED" && strings.Contains(task.Message, "has lost the task")
	})
	c.MustSend(t.Context(), t, harness.Message{ID: "again", TaskID: task.ID, Text: "send again"})
	again := c.Await(t, within, task.ID, "asks again", func(task *harness.Task) bool {
		return task.State == "INPUT_REQUIRED" && strings.HasPrefix(task.Message, "Which color?")
	})
	c.MustSend(t.Context(), t, harness.Message{ID: "red", TaskID: task.ID, Text: "red"})
	done := c.AwaitState(t, within, task.ID, "COMPLETED")
	if !slices.ContainsFunc(done.Artifacts, func(a harness.Artifact) bool { return strings.HasSuffix(a.Text, " red") }) {
		t.Errorf("after the gates %s and %s the task is %s", lost.Gate.ID, again.Gate.ID, done.Raw)
	}
}
