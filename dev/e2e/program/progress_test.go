package program_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"

	"go.temporal.io/api/enums/v1"

	"longhaul"
	"longhaul/activities"
	"longhaul/dev/e2e/harness"
	"longhaul/internal/test"
	"longhaul/opt"
)

// steps is an executor that the test leads: it shows the progress that it gets, nothing for "", and ends
// with an error or without.
type steps struct {
	say  chan string
	done chan error
}

// Execute implements [activities.Executor].
func (s steps) Execute(ctx context.Context, _ activities.Work, out activities.Stream) (activities.Outcome, error) {
	for {
		select {
		case <-ctx.Done():
			return activities.Outcome{}, ctx.Err()
		case text := <-s.say:
			if text != "" {
				out.Progress(text, 0.25)
			}
		case err := <-s.done:
			return activities.Completed(), err
		}
	}
}

// What an executor says of its progress reaches those who look and those who listen, stays when the
// attempt fails, and costs the plan no workflow task.
func TestProgress(t *testing.T) {
	t.Parallel()
	s := steps{make(chan string), make(chan error)}
	site := harness.NewSite(t, harness.Dev)
	site.Start(harness.Temporal)
	embed := func(context.Context, longhaul.EmbedConfig) (*longhaul.Embedded, error) {
		return &longhaul.Embedded{Addr: site.TemporalAddr, Stop: func() error { return nil }}, nil
	}
	ctx, cancel := context.WithCancel(t.Context())
	var ended sync.WaitGroup
	ended.Go(func() {
		longhaul.Run(ctx, []string{"dev", "--addr", site.Addr, "--temporal-addr", harness.FreeAddr(t), "--temporal-ui-addr", "", "--data-dir", t.TempDir(), "--log-level", "error"},
			io.Discard, t.Output(), longhaul.Program{Executors: map[string]longhaul.Executor{"steps": s}, Default: "steps", Embed: embed})
	})
	t.Cleanup(func() { cancel(); ended.Wait() })
	c := site.Client()
	task := c.MustSendUntil(ctx, t, harness.Message{ID: "m", Text: "x", Plan: harness.NewPlan("Steps", "one")})
	stream := test.Value(c.Subscribe(ctx, task.ID, harness.Fresh))(t)
	defer stream.Close()
	s.say <- "first"
	for heard := ""; !strings.Contains(heard, "first"); {
		e, err := stream.Next()
		if err != nil {
			t.Fatalf("the stream ended before it had the progress: %v", err)
		}
		heard = e.Data
	}
	plan := planOf(t, task.ID)
	before := workflowTasks(t, site, plan)
	for n := range 1000 {
		s.say <- fmt.Sprint("step ", n)
	}
	c.AwaitText(t, within, task.ID, "step 999")
	if after := workflowTasks(t, site, plan); after != before {
		t.Errorf("the plan had %d workflow tasks before and %d after a thousand texts", before, after)
	}
	s.done <- errors.New("no luck")
	s.say <- "" // the second attempt runs, and has said nothing
	if now, err := c.Get(ctx, task.ID); err != nil || !strings.Contains(string(now.Raw), `"longhaul/v1/progress":25`) || !strings.Contains(string(now.Raw), "step 999") {
		t.Errorf("the task is %s, error %v", now.Raw, err)
	}
	s.done <- nil
	c.AwaitState(t, within, task.ID, "COMPLETED")
}

// planOf returns the id of the first plan under a root task.
func planOf(t *testing.T, rootID string) string {
	t.Helper()
	ref, ok := opt.ParseID(rootID)
	if !ok {
		t.Fatalf("%q is no id of a task", rootID)
	}
	return opt.PlanID(ref.ObjectiveID, 1)
}

// workflowTasks returns how many workflow tasks of a workflow were completed.
func workflowTasks(t *testing.T, site *harness.Site, id string) (n int) {
	t.Helper()
	c := site.Temporal(t)
	defer c.Close()
	events := c.GetWorkflowHistory(t.Context(), id, "", false, enums.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	for events.HasNext() {
		e := test.Value(events.Next())(t)
		if e.GetEventType() == enums.EVENT_TYPE_WORKFLOW_TASK_COMPLETED {
			n++
		}
	}
	return n
}
