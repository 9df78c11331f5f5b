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
	"go.temporal.io/sdk/workflow"

	"longhaul/activities"
	"longhaul/opt"
)

// The code and the text for clients come through, and nothing that was wrapped
// around them.
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
		w := work
		w.Attempt = 3
		_, err := run(t, &recorder{}, w, func(context.Context, activities.Work, activities.Stream) (activities.Outcome, error) {
			return activities.Outcome{}, tt.err
		})
		app := application(t, err)
		if reason, attempt := activities.Reason(app); reason != tt.reason || attempt != 4 || app.Message() != tt.text || app.NonRetryable() {
			t.Errorf("%v: %q at attempt %d, text %q, non-retryable %t", tt.err, reason, attempt, app.Message(), app.NonRetryable())
		}
		if !slices.Contains(activities.ErrorTypes(tt.reason), app.Type()) {
			t.Errorf("%v has type %q, which is not among those of %q: %q", tt.err, app.Type(), tt.reason, activities.ErrorTypes(tt.reason))
		}
	}
}

// Errors of older workers have no details, those of workers in other languages may
// have others.
func TestReason_withoutNumber(t *testing.T) {
	for kind, want := range map[string]string{activities.ExecutorError: "failed", activities.PanicError: "failed", "": "failed", "Executor:busy": "busy"} {
		err := temporal.NewApplicationError("No.", kind).(*temporal.ApplicationError)
		if reason, attempt := activities.Reason(err); reason != want || attempt != 0 {
			t.Errorf("type %q: reason %q at attempt %d", kind, reason, attempt)
		}
	}
	env := (&testsuite.WorkflowTestSuite{}).NewTestActivityEnvironment()
	env.RegisterActivityWithOptions(func() error { return temporal.NewApplicationError("No.", "Executor:busy", "details") }, activity.RegisterOptions{Name: "odd"})
	_, err := env.ExecuteActivity("odd")
	if reason, attempt := activities.Reason(application(t, err)); reason != "busy" || attempt != 0 {
		t.Errorf("with other details: reason %q at attempt %d", reason, attempt)
	}
}

// Another attempt is told of before it does anything. The first is not: the move
// that begins the work tells of it.
func TestRun_tellsOfOtherAttempts(t *testing.T) {
	r := &recorder{}
	var told []int // batches when an attempt began
	attempts(t, r, 3, func(ctx context.Context, w activities.Work, s activities.Stream) (activities.Outcome, error) {
		told = append(told, r.count())
		if w.Attempt < 4 {
			return activities.Outcome{}, errors.New("no route")
		}
		chunk(t, s, "a", "1", true)
		return activities.Completed(), nil
	})
	if !slices.Equal(told, []int{0, 1, 2}) {
		t.Errorf("batches when the attempts began: %v", told)
	}
	var events []string
	for _, b := range r.batches {
		for _, e := range b.Events {
			events = append(events, fmt.Sprintf("%s %d %s %s %d", b.Source, e.N, e.Kind, e.To, e.Attempt))
		}
	}
	want := []string{taskID + "#3 1 task-tried working 3", taskID + "#4 1 task-tried working 4", taskID + "#4 2 artifact  4"}
	if !slices.Equal(events, want) {
		t.Errorf("recorded\n%q\nwant\n%q", events, want)
	}
}

// The number of an attempt is worth no attempt: while the journal is away it waits
// to be written with what comes next.
func TestRun_triesWithoutAJournal(t *testing.T) {
	r := &recorder{refuse: 1}
	attempts(t, r, 2, func(_ context.Context, w activities.Work, _ activities.Stream) (activities.Outcome, error) {
		if w.Attempt < 3 {
			return activities.Outcome{}, errors.New("no route")
		}
		return activities.Completed(), nil
	})
	if n := r.count(); n != 2 || len(r.batches[1].Events) != 1 || r.batches[1].Events[0].Kind != opt.TaskTried {
		t.Errorf("%d batches: %+v", n, r.batches)
	}
}

// attempts runs work, which had one attempt in an earlier round, until an attempt
// completes it, which the n-th does.
func attempts(t *testing.T, r *recorder, n int, do executor) {
	t.Helper()
	acts := activities.New(activities.Config{Executors: map[string]activities.Executor{"test": do}, Default: "test", Recorder: r})
	env := (&testsuite.WorkflowTestSuite{}).NewTestWorkflowEnvironment()
	env.RegisterActivityWithOptions(acts.Run, activity.RegisterOptions{Name: "Run"})
	w := work
	w.Attempt = 1
	var out activities.Outcome
	env.ExecuteWorkflow(func(ctx workflow.Context) error {
		ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{StartToCloseTimeout: time.Minute, RetryPolicy: &temporal.RetryPolicy{MaximumAttempts: int32(n)}})
		return workflow.ExecuteActivity(ctx, "Run", w).Get(ctx, &out)
	})
	if err := env.GetWorkflowError(); err != nil || out.Attempt != n+1 {
		t.Errorf("came to %+v, error %v", out, err)
	}
}
