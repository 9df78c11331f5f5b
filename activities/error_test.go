package activities_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"
	sdkworker "go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"longhaul/activities"
	"longhaul/internal/test"
	"longhaul/opt"
)

// The code and the text for clients are kept, and the text of wrapping errors is
// not.
func TestRun_errorWithACode(t *testing.T) {
	for _, tt := range []struct {
		err          error
		reason, text string
	}{
		{&activities.Error{Code: "busy", Message: "Come back later."}, "busy", "Come back later."},
		{fmt.Errorf("call 10.0.0.7: %w", &activities.Error{Code: "busy", Message: "Come back later."}), "busy", "Come back later."},
		{&activities.Error{Code: "busy"}, "busy", "The task failed."},
		{&activities.Error{Message: "Come back later."}, "failed", ": Come back later."},
		{errors.New("no route"), "failed", "no route"},
	} {
		_, err := run(t, &recorder{}, work, func(context.Context, activities.Work, activities.Stream) (activities.Outcome, error) {
			return activities.Outcome{}, tt.err
		})
		app := application(t, err)
		if reason := activities.Reason(app); reason != tt.reason || app.Message() != tt.text || !app.NonRetryable() {
			t.Errorf("%v: reason %q, text %q, non-retryable %t", tt.err, reason, app.Message(), app.NonRetryable())
		}
	}
}

func TestReason(t *testing.T) {
	for kind, want := range map[string]string{activities.ExecutorError: "failed", activities.PanicError: "failed", "": "failed", "Executor:busy": "busy"} {
		err := temporal.NewApplicationError("No.", kind).(*temporal.ApplicationError)
		test.Is(t, fmt.Sprintf("type %q: reason", kind), want, activities.Reason(err))
	}
}

// A try after a lost worker is recorded before the executor runs. The first try
// is not, since the move that begins the attempt is recorded.
func TestRun_tellsOfOtherTries(t *testing.T) {
	r := &recorder{}
	var told []int // batches when a try began
	out := tries(t, r, 3, func(ctx context.Context, w activities.Work, s activities.Stream) (activities.Outcome, error) {
		told = append(told, r.count())
		if w.Try != len(told) {
			t.Errorf("the work of try %d says that it is try %d", len(told), w.Try)
		}
		if len(told) == 3 {
			chunk(t, s, "a", "1", true)
		}
		return activities.Completed(), nil
	})
	if !slices.Equal(told, []int{0, 1, 2}) || out.Try != 3 {
		t.Errorf("batches when the tries began: %v; the outcome is %+v", told, out)
	}
	var events []string
	for _, b := range r.batches {
		for _, e := range b.Events {
			events = append(events, fmt.Sprintf("%s %d %s %s %d.%d.%d", b.Source, e.N, e.Kind, e.To, e.Round, e.Attempt, e.Try))
		}
	}
	want := []string{
		taskID + "#2.3.2 1 task-tried working 2.3.2", taskID + "#2.3.3 1 task-tried working 2.3.3", taskID + "#2.3.3 2 artifact  2.3.3",
	}
	test.Equal(t, "recorded", want, events)
}

// A try that follows one of another activity is recorded with its own number.
func TestRun_triesOfAnotherActivity(t *testing.T) {
	r := &recorder{}
	cfg := config(r, func(context.Context, activities.Work, activities.Stream) (activities.Outcome, error) {
		return activities.Completed(), nil
	})
	out, err := runInput(t, cfg, activities.RunInput{Work: work, Tries: 1})
	if err != nil || out.Try != 2 || r.count() != 1 || r.batches[0].Events[0].Try != 2 {
		t.Errorf("got %+v, %v; recorded %+v", out, err, r.batches)
	}
}

// While the journal cannot be reached, nothing is executed again: no outcome could be recorded.
func TestRun_triesWithoutAJournal(t *testing.T) {
	r := &recorder{refuse: 1}
	_, err := runInput(t, config(r, func(context.Context, activities.Work, activities.Stream) (activities.Outcome, error) {
		t.Error("it was executed")
		return activities.Completed(), nil
	}), activities.RunInput{Work: work, Tries: 1})
	if app := application(t, err); app.Type() != activities.JournalError || app.NonRetryable() {
		t.Errorf("the error is %v", err)
	}
}

// A try does not fail because the journal does not take its start yet: the event is written
// together with the next ones.
func TestRun_triesTooEarly(t *testing.T) {
	r := &recorder{refuse: 1, refusal: errors.New("too early")}
	tries(t, r, 2, func(context.Context, activities.Work, activities.Stream) (activities.Outcome, error) {
		return activities.Completed(), nil
	})
	if n := r.count(); n != 2 || len(r.batches[1].Events) != 1 || r.batches[1].Events[0].Kind != opt.TaskTried {
		t.Errorf("%d batches: %+v", n, r.batches)
	}
}

// tries runs the third attempt of the second round of work. The worker is lost
// at the end of each try but the n-th, which completes the task.
func tries(t *testing.T, r *recorder, n int, do executor) (out activities.Outcome) {
	t.Helper()
	env := (&testsuite.WorkflowTestSuite{}).NewTestWorkflowEnvironment()
	patient(env)
	env.RegisterActivityWithOptions(func(ctx context.Context, in activities.RunInput) (activities.Outcome, error) {
		acts := activities.New(activities.Config{Executors: map[string]activities.Executor{"test": do}, Default: "test", Recorder: r}) // of a new worker
		out, err := acts.Run(ctx, in)
		if err == nil && int(activity.GetInfo(ctx).Attempt) < n {
			err = errors.New("the worker is gone")
		}
		return out, err
	}, activity.RegisterOptions{Name: "Run"})
	w := work
	w.Round, w.Attempt = 2, 3
	env.ExecuteWorkflow(func(ctx workflow.Context) error {
		ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{StartToCloseTimeout: time.Minute, RetryPolicy: &temporal.RetryPolicy{MaximumAttempts: int32(n)}})
		return workflow.ExecuteActivity(ctx, "Run", activities.RunInput{Work: w}).Get(ctx, &out)
	})
	if err := env.GetWorkflowError(); err != nil {
		t.Errorf("got %+v, error %v", out, err)
	}
	return out
}

// patient has a test wait as long as a busy machine needs: Temporal's own limits are seconds of the
// machine's time, not of the workflow's.
func patient(env *testsuite.TestWorkflowEnvironment) {
	env.SetTestTimeout(time.Minute)
	env.SetWorkerOptions(sdkworker.Options{DeadlockDetectionTimeout: time.Minute})
}
