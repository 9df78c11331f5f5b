package webhook_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"longhaul/dev/e2e/harness"
	"longhaul/internal/test"
)

// Thousands of callbacks for one task leave a short history. The last progress is shown,
// and no piece of an artifact is dropped.
func TestService_sendsManyCallbacks(t *testing.T) {
	t.Parallel()
	const callbacks, pieces, events = 5000, 20, 600
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	shop := newService(t)
	s := newSite(t, shop)
	s.env += "\x00LONGHAUL_RATE_LIMIT=0"
	api := s.start(harness.API)
	s.start(harness.Worker)
	c := s.Client()
	root := c.MustSend(ctx, t, harness.Message{ID: "m", Text: "tea"})
	url := shop.next(t, 1).CallbackURL
	send := func(key, body string) {
		if got := callback(t, url, key, body); got != http.StatusAccepted {
			t.Fatalf("callback %s: %d", key, got)
		}
	}
	began := time.Now()
	for i := range callbacks {
		send(fmt.Sprint("text-", i), fmt.Sprintf(`{"text":"Packed %d of %d."}`, i+1, callbacks))
		if i%(callbacks/pieces) == 0 {
			send(fmt.Sprint("piece-", i), fmt.Sprintf(`{"artifact":{"artifactId":"slip","parts":[{"text":"%d;"}]},"append":true}`, i))
		}
	}
	took := time.Since(began)
	last := fmt.Sprintf("Packed %d of %d.", callbacks, callbacks)
	c.AwaitText(t, within, root.ID, last)

	// An API that gets a signal to stop delivers the callbacks that wait.
	send("soon", `{"text":"Nearly sent."}`)
	send("sooner", `{"text":"Nearly there."}`)
	api.Stop()
	s.start(harness.API)
	c.AwaitText(t, within, root.ID, "Nearly there.")

	send("done", `{"outcome":{"state":"completed"}}`)
	task := c.AwaitEnd(t, within, root.ID)
	if task.State != "COMPLETED" || len(task.Artifacts) != 1 || strings.Count(task.Artifacts[0].Text, ";") != pieces {
		t.Errorf("the task is %s with %+v, want %d pieces", task.State, task.Artifacts, pieces)
	}
	temporal := s.Temporal(t)
	defer temporal.Close()
	plan := test.Value(temporal.DescribeWorkflowExecution(ctx, "plan-"+strings.TrimPrefix(root.ID, "obj-")+"-1", ""))(t)
	info := plan.GetWorkflowExecutionInfo()
	t.Logf("%d callbacks in %v are a history of %d events and %d bytes", callbacks+pieces, took, info.GetHistoryLength(), info.GetHistorySizeBytes())
	if got := info.GetHistoryLength(); got > events {
		t.Errorf("the history has %d events, want at most %d", got, events)
	}
}
