package workflows_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/workflow"

	"longhaul/a2a"
	"longhaul/activities"
	"longhaul/internal/test"
	"longhaul/opt/outbox"
	"longhaul/workflows"
)

// A hook is a journal with the deliveries of one config, and the receiver of
// them: it answers by the number of the delivery and the number of the attempt.
type hook struct {
	mu     sync.Mutex
	due    []outbox.Delivery
	answer func(n int64, try int) int
	empty  func() // called when nothing is due; may be nil
	now    func() time.Time
	log    []string // of each attempt: number, HTTP status, seconds since the start
	status map[int64]outbox.DeliveryStatus
}

const sealed = "s3cret"

func (h *hook) add(n int64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.due = append(h.due, outbox.Delivery{TaskID: "task", ConfigID: "config", N: n, State: a2a.Completed})
}

func (h *hook) NextDelivery(context.Context, string, string) (c outbox.PushConfig, d outbox.Delivery, ok bool, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.due) == 0 {
		if h.empty != nil {
			h.empty()
		}
		return c, d, false, nil
	}
	return outbox.PushConfig{URL: "https://example.com/" + sealed, Token: sealed, Scheme: "Bearer", Credentials: sealed}, h.due[0], true, nil
}

func (h *hook) NextNotice(context.Context, string, string) (n outbox.Notice, d outbox.Delivery, ok bool, err error) {
	return n, d, false, nil
}

func (h *hook) NoteDelivery(_ context.Context, _ outbox.PushConfig, d outbox.Delivery, a outbox.DeliveryAttempt, s outbox.DeliveryStatus) (outbox.DeliveryStatus, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.due[0].Tries++
	h.log = append(h.log, fmt.Sprintf("%d:%d at %v", d.N, a.Status, h.now().Sub(began).Truncate(time.Second)))
	if s != outbox.DeliveryDue {
		h.due = h.due[1:]
		h.status[d.N] = s
	}
	return s, nil
}

func (h *hook) Do(_ context.Context, r *http.Request) (*http.Response, error) {
	id := r.Header.Get(activities.DeliveryHeader)
	n, _ := strconv.ParseInt(id[strings.LastIndexByte(id, '/')+1:], 10, 64)
	try, _ := strconv.Atoi(r.Header.Get(activities.AttemptHeader))
	return &http.Response{StatusCode: h.answer(n, try), Body: io.NopCloser(strings.NewReader(""))}, nil
}

// newPushEnv returns Temporal's test environment with a hook that has some
// deliveries and answers 200.
func newPushEnv(t *testing.T, due ...int64) (*testsuite.TestWorkflowEnvironment, *hook) {
	t.Helper()
	var suite testsuite.WorkflowTestSuite
	suite.SetLogger(discard)
	env := suite.NewTestWorkflowEnvironment()
	patient(env)
	env.SetStartTime(began)
	h := &hook{now: env.Now, status: map[int64]outbox.DeliveryStatus{}, answer: func(int64, int) int { return 200 }}
	for _, n := range due {
		h.add(n)
	}
	env.RegisterWorkflowWithOptions(workflows.Push, workflow.RegisterOptions{Name: workflows.PushWorkflow})
	env.RegisterActivity(activities.New(activities.Config{Push: &activities.Push{
		Journal: h, Sender: h, Notice: func(string, a2a.StatusUpdate) (string, []byte, error) { return "text/plain", nil, nil },
	}}))
	return env, h
}

var pushInput = workflows.PushInput{TaskID: "task", ConfigID: "config"}

func TestPush_deliversInOrder(t *testing.T) {
	env, h := newPushEnv(t, 1, 4, 9)
	h.answer = func(n int64, try int) int {
		if n == 4 && try <= 2 {
			return 500
		}
		return 200
	}
	env.ExecuteWorkflow(workflows.Push, pushInput)
	finished(t, env)
	test.Equal(t, "attempts", []string{"1:200 at 0s", "4:500 at 0s", "4:500 at 1s", "4:200 at 3s", "9:200 at 3s"}, h.log)
}

// After a day a delivery is dead, and the next one has its turn.
func TestPush_givesUpAfterADay(t *testing.T) {
	env, h := newPushEnv(t, 1, 2)
	h.answer = func(n int64, _ int) int {
		if n == 1 {
			return 503
		}
		return 200
	}
	env.ExecuteWorkflow(workflows.Push, pushInput)
	finished(t, env)
	test.Equal(t, "deliveries", map[int64]outbox.DeliveryStatus{1: outbox.DeliveryDead, 2: outbox.DeliveryDone}, h.status)
	if day := env.Now().Sub(began); day < 23*time.Hour+50*time.Minute || day > 24*time.Hour {
		t.Errorf("it took %v, want about a day", day)
	}
	if n := len(h.log); n < 200 || n > 350 {
		t.Errorf("%d attempts, want some 260", n)
	}
}

// A run that continues as new keeps the backoff and the day.
func TestPush_continuesAsNew(t *testing.T) {
	h, in, at := (*hook)(nil), pushInput, began
	in.MaxEvents = 100
	for {
		env, next := newPushEnv(t, 1)
		if h == nil {
			h = next
			h.answer = func(int64, int) int { return 503 }
		}
		h.now = env.Now
		next.due, next.log, next.status, next.answer = h.due, h.log, h.status, h.answer
		h = next
		env.SetStartTime(at)
		env.SetCurrentHistoryLength(200) // so that each run makes one attempt
		env.ExecuteWorkflow(workflows.Push, in)
		at = env.Now()
		var again *workflow.ContinueAsNewError
		if !errors.As(env.GetWorkflowError(), &again) {
			finished(t, env)
			break
		}
		test.OK(t, converter.GetDefaultDataConverter().FromPayloads(again.Input, &in))
	}
	test.Equal(t, "deliveries", map[int64]outbox.DeliveryStatus{1: outbox.DeliveryDead}, h.status)
	if day, n := at.Sub(began), len(h.log); day < 23*time.Hour+50*time.Minute || day > 24*time.Hour || n < 200 || n > 350 {
		t.Errorf("it took %v and %d attempts, want about a day", day, n)
	}
}

// While a host has no place the workflow waits longer each time, and an attempt ends
// that.
func TestPush_waitsForAPlace(t *testing.T) {
	var suite testsuite.WorkflowTestSuite
	suite.SetLogger(discard)
	env := suite.NewTestWorkflowEnvironment()
	patient(env)
	env.RegisterWorkflowWithOptions(workflows.Push, workflow.RegisterOptions{Name: workflows.PushWorkflow})
	due := activities.Delivered{N: 1, Status: outbox.DeliveryDue, Wait: 1000}
	busy := due
	busy.Busy, busy.Outcome = true, "quota"
	var got []int
	answers := []activities.Delivered{busy, busy, due, busy, {Idle: true}}
	env.RegisterDelayedCallback(func() {
		if shown := detailsOf(t, env); !strings.Contains(shown, " (1) waits: quota. The next attempt is at ") {
			t.Errorf("Temporal's UI shows %q", shown)
		}
	}, 500*time.Millisecond)
	env.RegisterActivityWithOptions(func(_ context.Context, r activities.DeliverRequest) (activities.Delivered, error) {
		got = append(got, r.Busy)
		return answers[len(got)-1], nil
	}, activity.RegisterOptions{Name: "Deliver"})
	env.ExecuteWorkflow(workflows.Push, pushInput)
	finished(t, env)
	test.Equal(t, "times without a place", []int{0, 1, 2, 0, 1}, got)
}

// A signal that arrives while the last delivery is made keeps the workflow alive.
func TestPush_losesNoSignal(t *testing.T) {
	env, h := newPushEnv(t, 1)
	h.empty = func() { // it is about to say that nothing is due
		h.empty = nil
		h.due = append(h.due, outbox.Delivery{TaskID: "task", ConfigID: "config", N: 2})
		env.SignalWorkflow(workflows.PushSignal, nil)
	}
	env.ExecuteWorkflow(workflows.Push, pushInput)
	finished(t, env)
	test.Equal(t, "attempts", []string{"1:200 at 0s", "2:200 at 0s"}, h.log)
}
