// Package retention_test runs the service with a retention of seconds, and checks
// what remains after it.
package retention_test

import (
	"context"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/log"

	"longhaul/dev/e2e/harness"
	"longhaul/internal/test"
	"longhaul/workflows"
)

const within = 60 * time.Second

// dial returns a client of the Temporal of a site.
func dial(t *testing.T, site *harness.Site) client.Client {
	t.Helper()
	c := test.Value(workflows.Dial(workflows.DialConfig{Addr: site.TemporalAddr, Namespace: "default", Local: true, Log: log.NewStructuredLogger(slog.New(slog.DiscardHandler))}))(t)
	t.Cleanup(c.Close)
	return c
}

// purge triggers the schedule once.
func purge(ctx context.Context, c client.Client) error {
	return c.ScheduleClient().GetHandle(ctx, workflows.PurgeSchedule).Trigger(ctx, client.ScheduleTriggerOptions{Overlap: enums.SCHEDULE_OVERLAP_POLICY_SKIP})
}

// gone triggers the schedule and returns nil if a task is unknown.
func gone(ctx context.Context, site *harness.Site, temporal client.Client, id string) error {
	if err := purge(ctx, temporal); err != nil {
		return err
	}
	task, err := site.Client().Get(ctx, id)
	switch {
	case harness.Code(err) == -32001:
		return nil
	case err != nil:
		return err
	}
	return fmt.Errorf("%s is %s", id, task.State)
}

// An ended objective is removed after the TTL; an open objective stays. A repeat
// of its first message does not restore it, though Temporal keeps the workflow
// for an hour.
func TestRetention(t *testing.T) {
	ctx := t.Context()
	site := harness.NewSite(t, harness.Dev, "--ttl", "2s", "--idle-ttl", "1s")
	p := site.Start(harness.AllInOne)
	c, temporal := site.Client(), dial(t, site)

	send := func(id, text string) *harness.Task {
		t.Helper()
		return c.MustSend(ctx, t, harness.Message{ID: id, Text: text, Wait: true})
	}
	short := harness.Message{ID: "short", Text: "say done", Wait: true}
	done, waits := send("short", "say done"), send("waits", "approve Go on?; say done")
	if done.State != "COMPLETED" || waits.State != "INPUT_REQUIRED" {
		t.Fatalf("the tasks are %s and %s", done.State, waits.State)
	}
	idle := c.MustCreateObjective(ctx, t, "Nobody's")
	if task := c.AwaitState(t, within, idle.ID, "CANCELED"); task.Message != "No client started this objective within 1s, so it was canceled." {
		t.Errorf("an objective without a start says %q", task.Message)
	}

	for _, id := range []string{done.ID, idle.ID} {
		harness.Eventually(t, within, "what has ended is gone", func() error { return gone(ctx, site, temporal, id) })
	}
	again, err := c.Send(ctx, short)
	if harness.Code(err) != -32001 {
		t.Errorf("a repeat of the message: %+v, %v", again, err)
	}
	if _, err := c.Objective(ctx, done.ID); harness.Code(err) != -32000 {
		t.Errorf("the objective: %v", err)
	}
	if list, err := c.Objectives(ctx); err != nil || len(list) != 1 || list[0].ID != waits.ID {
		t.Errorf("there are %+v, %v, want only the one that waits", list, err)
	}
	if task, err := c.Get(ctx, waits.ID); err != nil || task.Gate == nil || len(task.History) == 0 {
		t.Errorf("the task that waits is %+v, %v", task, err)
	}
	reply := harness.Reply("go", waits.ID, waits.Gate.ID, "accept")
	reply.Wait = true
	test.Is(t, "the task that waited is", "COMPLETED", test.Value(c.Send(ctx, reply))(t).State)
	p.Stop()
}
