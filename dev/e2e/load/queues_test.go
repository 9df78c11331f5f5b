package load_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"testing"
	"time"

	"longhaul/dev/e2e/harness"
	"longhaul/internal/test"
)

// Workers share the queues: one does the work, another one writes events and makes
// deliveries. What no worker serves waits.
func TestQueues(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), 4*time.Minute)
	defer cancel()
	delivered := make(chan bool, 99)
	desk := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { delivered <- true }))
	t.Cleanup(desk.Close)
	site, tally := newTallied(t, "LONGHAUL_ALLOW_PRIVATE_EGRESS=true")
	site.Start(harness.Temporal)
	site.Start(harness.API)
	c := site.Client()

	others := site.Start(harness.Worker, "LONGHAUL_QUEUES=record,push")
	task := c.MustSend(ctx, t, harness.Message{ID: "first", Text: "say done"})
	push := map[string]any{"taskId": task.ID, "id": "desk", "url": desk.URL}
	test.OK(t, c.Call(ctx, "CreateTaskPushNotificationConfig", push, nil))
	others.Stop()
	if list := harness.Tally(t, tally); len(list) != 0 {
		t.Errorf("a worker without the queue for work did %+v", list)
	}

	// This worker has one slot, which a long task uses: others' events wait for the other queue.
	work := site.Start(harness.Worker, "LONGHAUL_QUEUES=work", "LONGHAUL_MAX_TASKS=1")
	test.OK(t, test.Err(c.Follow(ctx, task.ID, 0).UntilState(ctx, "COMPLETED")))
	if len(delivered) != 0 {
		t.Error("a worker without the queue for deliveries made one")
	}
	c.MustSend(ctx, t, harness.Message{ID: "long", Text: "work 1h"})
	harness.Eventually(t, time.Minute, "the long task runs", func() error {
		if n := len(harness.Tally(t, tally)); n != 3 {
			return fmt.Errorf("%d lines", n)
		}
		return nil
	})
	site.Start(harness.Worker, "LONGHAUL_QUEUES=record,push")
	waits := c.MustSend(ctx, t, harness.Message{ID: "waits", Text: "say done"})
	if _, err := c.Cancel(ctx, waits.ID); err != nil { // its end is recorded while the slot is in use
		t.Fatal(err)
	}
	test.OK(t, test.Err(c.Follow(ctx, waits.ID, 0).UntilState(ctx, "CANCELED")))
	select {
	case <-delivered:
	case <-ctx.Done():
		t.Error("no worker made the delivery")
	}
	for _, l := range harness.Tally(t, tally) {
		if l.PID != work.PID() {
			t.Errorf("process %d ran %s, want %d", l.PID, l.Key, work.PID())
		}
	}
}

// A worker runs no more tasks of an executor at a time than --limit says, against the
// real queue.
func TestLimit(t *testing.T) {
	t.Parallel()
	const most, tasks = 3, 20
	ctx, cancel := context.WithTimeout(t.Context(), 4*time.Minute)
	defer cancel()
	site, tally := newTallied(t, fmt.Sprint("LONGHAUL_LIMIT=echo=", most))
	control := harness.NewControl(t)
	site.Start(harness.AllInOne, control.Env())
	c := site.Client()
	var ids []string
	for i := range tasks {
		task := c.MustSend(ctx, t, harness.Message{ID: fmt.Sprint("m-", i), Text: "x", Plan: harness.NewPlan("plan", "await all; work 200ms; say done")})
		ids = append(ids, task.ID)
	}
	harness.Eventually(t, time.Minute, "as many tasks run as may", func() error {
		if n := len(control.Knocked("all")); n < most {
			return fmt.Errorf("%d run", n)
		}
		return nil
	})
	control.Open("all", "")
	for _, id := range ids {
		test.OK(t, test.Err(c.Follow(ctx, id, 0).UntilState(ctx, "COMPLETED")))
	}
	list := harness.Tally(t, tally)
	busiest := harness.MostAtOnce(list)
	if len(list) != 2*tasks || busiest != most {
		t.Errorf("%d tasks ran at a time, in %d lines; want %d, in %d", busiest, len(list), most, 2*tasks)
	}
}

// newTallied returns a site that records each run of a task in a file.
func newTallied(t *testing.T, env string) (site *harness.Site, tally string) {
	t.Helper()
	tally = filepath.Join(t.TempDir(), "tally")
	site = harness.NewSite(t, harness.Crashable)
	site.Env = []string{"CRASHABLE_TALLY=" + tally, "LONGHAUL_CALL_TIMEOUT=60s", env}
	return site, tally
}
