// Package queue_test runs several objectives in one context with the whole
// service: one works at a time, in their order of arrival. The work of tenants gets turns
// by the fairness keys of Temporal.
package queue_test

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/workflowservice/v1"
	"golang.org/x/sync/errgroup"

	"longhaul/dev/e2e/harness"
	"longhaul/internal/test"
)

// patience keeps a loaded machine from changing what clients see.
var patience = []string{"LONGHAUL_CALL_TIMEOUT=60s", "LONGHAUL_BLOCKING_WAIT=60s", "LONGHAUL_REPLY_WAIT=60s", "LONGHAUL_CANCEL_WAIT=60s"}

// A room is a site with the record of what ran there.
type room struct {
	*harness.Client
	t     *testing.T
	ctx   context.Context
	site  *harness.Site
	tally string
	sent  int
}

func newRoom(t *testing.T, limit time.Duration, flags ...string) *room {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	t.Cleanup(cancel)
	site := harness.NewSite(t, harness.Crashable, flags...)
	r := &room{t: t, ctx: ctx, site: site, tally: filepath.Join(t.TempDir(), "tally"), Client: site.Client()}
	site.Env = append(patience, "CRASHABLE_TALLY="+r.tally)
	return r
}

// begin sends a message that makes a plan of one task, and returns its root task.
func (r *room) begin(contextID, script string) *harness.Task {
	r.t.Helper()
	r.sent++
	return r.MustSend(r.ctx, r.t, harness.Message{ID: fmt.Sprint("m-", r.sent), ContextID: contextID, Text: "please", Plan: harness.NewPlan("Plan", script)})
}

// until waits until a task is in a state.
func (r *room) until(task *harness.Task, state string) *harness.Task {
	r.t.Helper()
	return r.AwaitState(r.t, 90*time.Second, task.ID, state)
}

// runs waits until an executor has begun a round of the only task of an objective.
func (r *room) runs(task *harness.Task, round int) {
	r.t.Helper()
	harness.Eventually(r.t, 90*time.Second, "an executor runs", func() error {
		lines, err := harness.ReadTally(r.tally)
		if err == nil && !slices.ContainsFunc(lines, func(l harness.TallyLine) bool { return l.Key == key(task, round) }) {
			err = errors.New("not yet")
		}
		return err
	})
}

// key returns the key of a round of the only task of an objective.
func key(root *harness.Task, round int) string {
	return fmt.Sprintf("task-%s-1-0:%d", strings.TrimPrefix(root.ID, "obj-"), round)
}

// place returns the position in the queue that a task shows, 0 if it shows none.
func place(t *testing.T, task *harness.Task) int {
	t.Helper()
	var in struct {
		Metadata struct {
			At       string `json:"longhaul/v1/queuedAt"`
			Position int    `json:"longhaul/v1/queuePosition"`
		} `json:"metadata"`
	}
	test.OK(t, json.Unmarshal(task.Raw, &in))
	if (in.Metadata.At == "") != (in.Metadata.Position == 0) {
		t.Errorf("%s is at place %d since %q", task.ID, in.Metadata.Position, in.Metadata.At)
	}
	return in.Metadata.Position
}

// turns returns the rounds of some objectives in the order of their beginnings,
// and checks that each began after the end of the one before.
func (r *room) turns(roots ...*harness.Task) []string {
	r.t.Helper()
	var order []string
	running := ""
	for _, l := range harness.Tally(r.t, r.tally) {
		if !slices.ContainsFunc(roots, func(root *harness.Task) bool { return strings.HasPrefix(l.Key, strings.TrimSuffix(key(root, 1), "1")) }) {
			continue
		}
		switch {
		case l.What != "begin":
			running = ""
			continue
		case running != "" && l.Attempt == 1:
			r.t.Errorf("%s began while %s ran", l.Key, running)
		}
		running = l.Key
		order = append(order, l.Key)
	}
	return order
}

// TestTurns has one objective of a context wait for a person while another works
// and more arrive. They wait in order and can be canceled, and the answered
// objective continues before them.
func TestTurns(t *testing.T) {
	for _, events := range []string{"0", "100"} { // with 100, workflows often continue as new
		t.Run("max-events "+events, func(t *testing.T) { takeTurns(t, events) })
	}
}

func takeTurns(t *testing.T, maxEvents string) {
	r := newRoom(t, 3*time.Minute, "--max-events", maxEvents)
	r.site.Start(harness.AllInOne)

	asks := r.until(r.begin("", "approve Go on?; work 50ms; say a"), "INPUT_REQUIRED")
	works := r.begin(asks.ContextID, "work 3s; say b")
	r.runs(works, 1)
	canceled := r.begin(asks.ContextID, "say c")
	last := r.begin(asks.ContextID, "say d")
	for i, task := range []*harness.Task{canceled, last} {
		if at := place(t, task); task.State != "SUBMITTED" || at != i+1 {
			t.Errorf("%s is %s at place %d, want SUBMITTED at %d", task.ID, task.State, at, i+1)
		}
	}
	list, err := r.List(r.ctx, map[string]any{"contextId": asks.ContextID, "status": "TASK_STATE_SUBMITTED"})
	if err != nil || list.TotalSize < 2 {
		t.Fatalf("%+v are listed, %v", list, err)
	}
	for _, task := range list.Tasks {
		if i := slices.Index([]string{canceled.ID, last.ID}, task.ID); i >= 0 && place(t, &task) != i+1 {
			t.Errorf("%s is listed at place %d, want %d", task.ID, place(t, &task), i+1)
		}
	}
	r.MustCancel(r.ctx, t, canceled.ID)
	r.until(canceled, "CANCELED")
	test.Is(t, "after one was canceled, the next is at place", 1, place(t, r.until(last, "SUBMITTED")))

	answered, err := r.Send(r.ctx, harness.Reply("yes", asks.ID, asks.Gate.ID, "accept"))
	if err != nil || answered.State != "WORKING" {
		t.Fatalf("the answered task is %+v, %v, want WORKING", answered, err)
	}
	elsewhere := r.begin("", "say e")
	r.until(elsewhere, "COMPLETED")
	test.Is(t, "what began first by now", "WORKING", r.until(works, "WORKING").State)
	for _, task := range []*harness.Task{works, asks, last} {
		r.until(task, "COMPLETED")
	}
	want := []string{key(asks, 1), key(works, 1), key(asks, 2), key(last, 1)}
	if got := r.turns(asks, works, canceled, last); !slices.Equal(got, want) {
		t.Errorf("ran in the order %v, want %v", got, want)
	}
	test.Is(t, "a task that has ended waits at place", 0, place(t, r.until(last, "COMPLETED")))
}

// TestTurns_beforeAnyWorker sends messages one after another before there is a
// worker.
func TestTurns_beforeAnyWorker(t *testing.T) {
	r := newRoom(t, 3*time.Minute)
	r.site.Start(harness.Temporal)
	r.site.Start(harness.API)
	var tasks []*harness.Task
	var want []string
	for i := range 3 {
		task := r.begin("early", "work 300ms; say x")
		if at := place(t, task); task.State != "SUBMITTED" || at != i {
			t.Errorf("message %d is %s at place %d, want SUBMITTED at %d", i+1, task.State, at, i)
		}
		tasks, want = append(tasks, task), append(want, key(task, 1))
	}
	r.site.Start(harness.Worker)
	r.until(tasks[2], "COMPLETED")
	if got := r.turns(tasks...); !slices.Equal(got, want) {
		t.Errorf("ran in the order %v, want %v", got, want)
	}
}

// TestTurns_ofNewAttempts has a new attempt at an objective wait like new work.
func TestTurns_ofNewAttempts(t *testing.T) {
	r := newRoom(t, 3*time.Minute)
	r.site.Start(harness.AllInOne)
	failed := r.until(r.begin("room", "fail"), "FAILED")
	idle := r.until(r.begin("room", "fail"), "FAILED")
	update := func(task *harness.Task, status string) {
		t.Helper()
		test.OK(t, r.Call(r.ctx, "objectives/update", map[string]any{"id": task.ID, "status": status}, nil))
	}
	update(idle, "submitted")
	works := r.begin("room", "work 10m")
	r.runs(works, 1)
	update(failed, "planning")
	update(idle, "working")
	for _, task := range []*harness.Task{failed, idle} {
		second := r.until(&harness.Task{ID: task.ID + "~2"}, "SUBMITTED")
		if task == failed && place(t, second) != 1 {
			t.Errorf("the new attempt is at place %d, want 1", place(t, second))
		}
	}
	r.MustCancel(r.ctx, t, works.ID)
	for _, task := range []*harness.Task{failed, idle} {
		r.until(&harness.Task{ID: task.ID + "~2"}, "FAILED")
	}
	r.turns(failed, idle, works)
}

// TestTurns_full fills the queue.
func TestTurns_full(t *testing.T) {
	r := newRoom(t, 3*time.Minute, "--max-queue", "3")
	r.site.Start(harness.AllInOne)
	first := r.begin("full", "work 10m")
	var waiting []*harness.Task
	for range 3 {
		waiting = append(waiting, r.begin("full", "say w"))
	}
	_, err := r.Send(r.ctx, harness.Message{ID: "one-more", ContextID: "full", Text: "please", Plan: harness.NewPlan("Plan", "say no")})
	var refused *harness.RPCError
	if !errors.As(err, &refused) || refused.Code != -32603 || !strings.Contains(string(refused.Data), "QUEUE_LIMIT_EXCEEDED") || !strings.Contains(string(refused.Data), `"limit":"3"`) {
		t.Fatalf("one more: got %v, want -32603 QUEUE_LIMIT_EXCEEDED", err)
	}
	repeated, err := r.Send(r.ctx, harness.Message{ID: fmt.Sprint("m-", r.sent), ContextID: "full", Text: "please", Plan: harness.NewPlan("Plan", "say w")})
	if err != nil || repeated.ID != waiting[2].ID {
		t.Errorf("what waits, sent again: %+v, %v", repeated, err)
	}
	r.MustCancel(r.ctx, t, waiting[1].ID)
	r.until(waiting[1], "CANCELED")
	waiting[1] = r.begin("full", "say w")
	r.MustCancel(r.ctx, t, first.ID)
	for _, task := range waiting {
		r.until(task, "COMPLETED")
	}
	want := []string{key(first, 1), key(waiting[0], 1), key(waiting[2], 1), key(waiting[1], 1)}
	if got := r.turns(append(waiting, first)...); !slices.Equal(slices.Compact(got), want) {
		t.Errorf("ran in the order %v, want %v", got, want)
	}
}

var queued = flag.Int("queued", 300, "how many objectives wait in TestDrain")

// TestDrain works off a long queue and kills all processes in the middle. The
// order must stay, and the histories of the context's workflow must stay short.
func TestDrain(t *testing.T) {
	r := newRoom(t, 60*time.Minute)
	process := r.site.Start(harness.AllInOne)
	first := r.begin("drain", "work 50m")
	r.runs(first, 1)
	waiting := r.crowd("drain", *queued)
	if state := r.until(waiting[len(waiting)-1], "SUBMITTED"); place(t, state) != *queued {
		t.Errorf("the last is at place %d, want %d", place(t, state), *queued)
	}
	r.MustCancel(r.ctx, t, first.ID)
	middle := waiting[len(waiting)/2]
	r.soon(middle, "WORKING")
	process.Kill()
	r.site.Start(harness.AllInOne)
	r.soon(waiting[len(waiting)-1], "COMPLETED")

	var want []string
	for _, task := range waiting {
		want = append(want, key(task, 1))
	}
	got := r.turns(waiting...)
	if !slices.Equal(slices.Compact(got), want) {
		t.Errorf("%d ran, in another order than %d came", len(got), len(want))
	}
	r.checkHistories()
}

// crowd sends n messages to a context, several at a time, and returns their tasks
// in the order in which they wait.
func (r *room) crowd(contextID string, n int) []*harness.Task {
	r.t.Helper()
	tasks := make([]*harness.Task, n)
	group, ctx := errgroup.WithContext(r.ctx)
	group.SetLimit(8)
	for i := range n {
		group.Go(func() (err error) {
			tasks[i], err = r.Send(ctx, harness.Message{ID: fmt.Sprint("crowd-", i), ContextID: contextID, Text: "please", Plan: harness.NewPlan("Plan", "say x")})
			return err
		})
	}
	test.OK(r.t, group.Wait())
	since := func(task *harness.Task) string {
		var in struct {
			Metadata map[string]any `json:"metadata"`
		}
		_ = json.Unmarshal(task.Raw, &in)
		at, _ := in.Metadata["longhaul/v1/queuedAt"].(string)
		return at
	}
	slices.SortFunc(tasks, func(a, b *harness.Task) int { return strings.Compare(since(a), since(b)) })
	for i, task := range tasks[1:] {
		if since(task) == since(tasks[i]) {
			r.t.Fatalf("two wait since %q", since(task))
		}
	}
	return tasks
}

// soon waits on the stream of a task until it is in a state, since polling would
// cost more than the work.
func (r *room) soon(task *harness.Task, state string) {
	r.t.Helper()
	f := r.Follow(r.ctx, task.ID, harness.Fresh)
	defer f.Stop()
	test.OK(r.t, test.Err(f.UntilState(r.ctx, state)))
}

// checkHistories checks that no run of the context's workflow got long, and that
// the last has ended.
func (r *room) checkHistories() {
	r.t.Helper()
	temporal := r.site.Temporal(r.t)
	defer temporal.Close()
	runs, longest := 0, int64(0)
	harness.Eventually(r.t, time.Minute, "the context's workflow has ended", func() error {
		page, err := temporal.ListWorkflow(r.ctx, &workflowservice.ListWorkflowExecutionsRequest{Query: `WorkflowType = "Context"`, PageSize: 1000})
		if err != nil {
			return err
		}
		runs = len(page.Executions)
		for _, e := range page.Executions {
			longest = max(longest, e.HistoryLength)
			if e.Status == enums.WORKFLOW_EXECUTION_STATUS_RUNNING {
				return errors.New("it runs")
			}
		}
		return nil
	})
	if longest == 0 || longest >= 4096 {
		r.t.Errorf("of %d runs the longest has %d events, want at most 4095", runs, longest)
	}
	r.t.Logf("%d runs of the context's workflow, of %d events at the most", runs, longest)
}
