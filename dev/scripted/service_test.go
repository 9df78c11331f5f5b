package scripted_test

import (
	"fmt"
	"strings"
	"testing"

	"longhaul/dev/e2e/harness"
	"longhaul/internal/test"
)

// The tasks of the script are planned, run, recorded and streamed by the whole
// service.
func TestAgent_inTheService(t *testing.T) {
	site := harness.NewSite(t, harness.Dev, "--agent", "scripted", "--idempotency", "off")
	p := site.Start(harness.AllInOne)
	c := site.Client()

	for id, want := range map[string]string{
		"tck-complete-task-1":           "COMPLETED Hello from TCK",
		"tck-stream-artifact-chunked-1": "COMPLETED chunk-1 chunk-2",
		"tck-reject-task-1":             "REJECTED",
		"tck-input-required-1":          "INPUT_REQUIRED",
	} {
		for range 2 { // as a kit that reuses ids
			task := c.MustSend(t.Context(), t, harness.Message{ID: id, Text: "x", Wait: true})
			test.Is(t, id, want, outcome(task))
		}
	}
	if task, err := c.Send(t.Context(), harness.Message{ID: "tck-message-response-1", Text: "x"}); err != nil || task != nil {
		t.Errorf("a message in place of a task: %+v, %v", task, err)
	}
	p.Stop()
}

// A kit that asks a question answers it with a message to the task.
func TestAgent_goesOnAfterAReply(t *testing.T) {
	site := harness.NewSite(t, harness.Dev, "--agent", "scripted")
	p := site.Start(harness.AllInOne)
	c := site.Client()

	task := c.MustSend(t.Context(), t, harness.Message{ID: "tck-input-required-1", Text: "x", Wait: true})
	follower := c.Follow(t.Context(), task.ID, 0)
	c.MustSend(t.Context(), t, harness.Message{ID: "tck-complete-task-1", TaskID: task.ID, Text: "y"})
	test.Error(t, "the call", nil, test.Err(follower.UntilState(t.Context(), "COMPLETED")))
	p.Stop()
}

func outcome(t *harness.Task) string {
	out := t.State
	for _, a := range t.Artifacts {
		out += fmt.Sprint(" ", a.Text)
	}
	return strings.TrimSpace(out)
}
