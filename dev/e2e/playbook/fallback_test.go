package playbook_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"longhaul/dev/e2e/harness"
)

// A message that no skill takes is rejected with the list of skills; in the
// all-in-one program, echo is one.
func TestRejects(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	site := harness.NewSite(t, harness.Dev)
	site.Env = []string{"LONGHAUL_FALLBACK=reject"}
	site.Start(harness.AllInOne)
	c := site.Client()
	for text, want := range map[string]string{
		"Sing a song":            "REJECTED No skill takes this message.",
		"First sing, then dance": "REJECTED No skill takes this message.",
		"say hello":              "COMPLETED ",
	} {
		task := c.MustSend(ctx, t, harness.Message{ID: text, Text: text, Wait: true})
		got := task.State + " " + task.Message
		lists := strings.Contains(got, "\n- research-and-write: ") && strings.Contains(got, "\n- echo: ")
		if !strings.HasPrefix(got, want) || lists != (task.State == "REJECTED") {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}
