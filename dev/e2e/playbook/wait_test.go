package playbook_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"longhaul/dev/e2e/harness"
	"longhaul/internal/test"
)

// While a task waits for a person, the worker is killed twice: between two steps, so
// that the next two become due without a worker, and right after a step. Each step is
// taken once, in order, and the last one fails the task.
func TestWait_workersKilled(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	books := newFile(t)
	books.write("waits", `
  - name: Ask
    human:
      approve: Go on?
      responders: {principals: [local]}
      wait:
      - {after: 2s, do: remind}
      - {after: 6s, do: escalate, to: {groups: [leads]}}
      - {after: 8s, do: remind}
      - {after: 20s, do: expire}
`)
	site := harness.NewSite(t, harness.Dev, "--playbooks", books.path)
	temporal, api, worker := site.Start(harness.Temporal), site.Start(harness.API), site.Start(harness.Worker)
	c := site.Client()
	root := c.MustSend(ctx, t, harness.Message{ID: "m", Text: "x"})
	gate := c.AwaitState(t, within, root.ID, "INPUT_REQUIRED").Gate
	f := c.Follow(ctx, gate.TaskID, 0)
	defer f.Stop()
	taken := func(n int) *harness.Gate {
		t.Helper()
		e, err := f.Until(ctx, func(e harness.Event) bool { return e.Gate() != nil && e.Gate().Taken == n })
		if err != nil {
			t.Fatalf("wait for step %d: %v", n, err)
		}
		return e.Gate()
	}
	due := taken(1).Next.At.Add(2 * time.Second)
	worker.Kill()
	select {
	case <-ctx.Done():
		t.Fatal(ctx.Err())
	case <-time.After(time.Until(due)):
	}
	worker = site.Start(harness.Worker)
	last := taken(3)
	worker.Kill()
	worker = site.Start(harness.Worker)
	events := test.Value(f.Wait(ctx))(t)
	if time.Now().Before(last.Next.At) {
		t.Error("the gate has expired too early")
	}
	var got []string
	for _, e := range events {
		switch g := e.Gate(); {
		case g != nil:
			got = append(got, fmt.Sprintf("%d taken, next %s", g.Taken, g.Next.Kind))
		case e.State() == "FAILED":
			got = append(got, "failed")
		}
	}
	want := []string{"0 taken, next remind", "1 taken, next escalate", "2 taken, next remind", "3 taken, next expire", "failed"}
	test.Equal(t, "events", want, got)
	if task := c.AwaitState(t, within, root.ID, "FAILED"); task.Message != "No answer came within 20s." {
		t.Errorf("the root task says %q", task.Message)
	}
	for _, p := range []*harness.Process{api, worker, temporal} {
		p.Stop()
	}
}
