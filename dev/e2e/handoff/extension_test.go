package handoff_test

import (
	"strconv"
	"strings"
	"testing"

	"longhaul/a2a"
	"longhaul/client"
	"longhaul/dev/e2e/harness"
	"longhaul/internal/test"
)

// The desk cancels with a reason: the task that hands over ends with it, and the writers get it for
// theirs, at its root and below.
func TestHandoff_cancelReason(t *testing.T) {
	t.Parallel()
	const reason = "The neighbors have moved."
	p := newPair(t, asks, "")
	p.writers.Start(harness.AllInOne)
	p.desk.Start(harness.AllInOne)
	root := p.begin(t)
	p.desk.Client().AwaitState(t, within, root, "INPUT_REQUIRED")
	remote := p.remote(t, "INPUT_REQUIRED")
	params := map[string]any{"id": root, "metadata": map[string]any{a2a.ExtensionCancel: map[string]any{"reason": reason}}}
	test.OK(t, p.desk.Client().With("A2A-Extensions", a2a.ExtensionCancel).Call(t.Context(), "CancelTask", params, nil))
	below := func(root string) string { return "task-" + strings.TrimPrefix(root, "obj-") + "-1-0" }
	for _, at := range []struct {
		site *harness.Site
		id   string
	}{{p.desk, root}, {p.desk, below(root)}, {p.writers, remote}, {p.writers, below(remote)}} {
		if task := at.site.Client().AwaitState(t, within, at.id, "CANCELED"); !strings.HasPrefix(task.Message, reason) {
			t.Errorf("%s says %q", at.id, task.Message)
		}
	}
}

// The Go client follows a task by its numbers while the server is killed and started again: each event
// comes once, and the task is not sent again.
func TestExtensionStream_killed(t *testing.T) {
	t.Parallel()
	site := harness.NewSite(t, harness.Dev)
	running := site.Start(harness.AllInOne)
	c := client.New(client.Config{URL: site.URL()})
	task := site.Client().MustSend(t.Context(), t, harness.Message{ID: "m", Text: "work 1s; ask Which tone?; say Done"})
	last, tasks, asked := int64(0), 0, false
	for e, err := range c.Subscribe(t.Context(), task.ID, "") {
		test.OK(t, err)
		var at struct{ Sequence int64 }
		if err := e.Metadata().Decode(a2a.ExtensionStream, &at); err != nil || at.Sequence <= last || strconv.FormatInt(at.Sequence, 10) != e.ID {
			t.Fatalf("%d (id %q) follows on %d: %v", at.Sequence, e.ID, last, err)
		}
		if last = at.Sequence; e.Task != nil {
			tasks++
		}
		if s, ok := e.TaskStatus(); ok && s.State == a2a.InputRequired && !asked {
			asked = true
			running.Kill()
			running = site.Start(harness.AllInOne)
			site.Client().MustSendUntil(t.Context(), t, harness.Message{ID: "a", TaskID: task.ID, Text: "friendly"})
		}
	}
	if got := site.Client().AwaitEnd(t, within, task.ID); got.State != "COMPLETED" || tasks != 1 || !asked {
		t.Errorf("the task is %s, and came %d times in its stream; it asked: %t", got.State, tasks, asked)
	}
}
