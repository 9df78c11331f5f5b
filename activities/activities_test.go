package activities_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"
	sdkworker "go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"longhaul/a2a"
	"longhaul/activities"
	"longhaul/opt"
)

const taskID = "task-aaaaaaaaaaaaaaaaaaaaaaaaaa-1-2"

var work = activities.Work{ObjectiveID: "obj-aaaaaaaaaaaaaaaaaaaaaaaaaa", PlanID: "plan-aaaaaaaaaaaaaaaaaaaaaaaaaa-1", TaskID: taskID, RootID: "root"}

func TestRun_passesOutcomeOn(t *testing.T) {
	gate := activities.WaitFor(opt.Gate{Kind: opt.Approval, Title: "Ship it?", Actions: []opt.Action{opt.Accept}})
	gate.Attempt = 1
	for name, tt := range map[string]struct{ give, want activities.Outcome }{
		"completed": {
			activities.Completed(artifact("a", "text")),
			activities.Outcome{State: opt.TaskCompleted, Artifacts: []a2a.Artifact{artifact(opt.ArtifactID(taskID, "a"), "text")}, Attempt: 1},
		},
		"failed":   {activities.Failed("no", "No."), activities.Outcome{State: opt.TaskFailed, Code: "no", Message: "No.", Attempt: 1}},
		"rejected": {activities.Rejected("no", "No."), activities.Outcome{State: opt.TaskRejected, Code: "no", Message: "No.", Attempt: 1}},
		"waiting":  {gate, gate},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := run(t, &recorder{}, work, func(context.Context, activities.Work, activities.Stream) (activities.Outcome, error) {
				return tt.give, nil
			})
			if diff := cmp.Diff(tt.want, got); err != nil || diff != "" {
				t.Errorf("outcome mismatch (-want +got), error %v:\n%s", err, diff)
			}
		})
	}
}

func TestRun_choosesExecutor(t *testing.T) {
	names := map[string]activities.Executor{"a": named("a"), "b": named("b")}
	for _, tt := range []struct {
		fallback, executor string
		code, message      string
	}{
		{"a", "", "a", "I am a."},
		{"a", "b", "b", "I am b."},
		{"a", "c", "unknown-executor", `No worker here runs tasks of kind "c".`},
		{"gone", "", "unknown-executor", `No worker here runs tasks of kind "gone".`},
	} {
		w := work
		w.Executor = tt.executor
		got, err := runWith(t, activities.Config{Executors: names, Default: tt.fallback, Recorder: &recorder{}}, w)
		if err != nil || got.State != opt.TaskFailed || got.Code != tt.code || got.Message != tt.message {
			t.Errorf("executor %q, default %q: got %+v, error %v", tt.executor, tt.fallback, got, err)
		}
	}
}

func TestRun_countsAttemptsOfEarlierRounds(t *testing.T) {
	w := work
	w.Attempt = 2
	got, err := run(t, &recorder{}, w, func(_ context.Context, w activities.Work, _ activities.Stream) (activities.Outcome, error) {
		return activities.Failed("saw", fmt.Sprint(w.Attempt)), nil
	})
	if err != nil || got.Message != "3" || got.Attempt != 3 {
		t.Errorf("attempt: got %q and %d, want 3; error %v", got.Message, got.Attempt, err)
	}
}

// TestRun_leavesOutcomeAlone is for executors that give the same artifacts each
// time, to many goroutines.
func TestRun_leavesOutcomeAlone(t *testing.T) {
	shared := activities.Completed(artifact("a", "text"))
	for range 2 {
		got, err := run(t, &recorder{}, work, func(context.Context, activities.Work, activities.Stream) (activities.Outcome, error) {
			return shared, nil
		})
		if err != nil || got.Artifacts[0].ArtifactID != "1-2-a" {
			t.Errorf("artifact id: got %q, want 1-2-a; error %v", got.Artifacts[0].ArtifactID, err)
		}
	}
	if id := shared.Artifacts[0].ArtifactID; id != "a" {
		t.Errorf("the executor's own artifact became %q", id)
	}
}

func TestRun_panicTellsNothing(t *testing.T) {
	_, err := run(t, &recorder{}, work, func(context.Context, activities.Work, activities.Stream) (activities.Outcome, error) {
		panic("secret of line 12")
	})
	app := application(t, err)
	if app.Type() != activities.PanicError || app.NonRetryable() || app.Message() != "The task stopped unexpectedly." {
		t.Errorf("got type %q, message %q, non-retryable %t", app.Type(), app.Message(), app.NonRetryable())
	}
	for _, leak := range []string{"secret", "goroutine", ".go:"} {
		if strings.Contains(fmt.Sprintf("%+v", err), leak) {
			t.Errorf("the error has %q in it: %+v", leak, err)
		}
	}
}

func TestRun_errorIsRetried(t *testing.T) {
	_, err := run(t, &recorder{}, work, func(context.Context, activities.Work, activities.Stream) (activities.Outcome, error) {
		return activities.Outcome{}, errors.New("no route")
	})
	app := application(t, err)
	if app.Type() != activities.ExecutorError || app.NonRetryable() || app.Message() != "no route" {
		t.Errorf("got type %q, message %q, non-retryable %t", app.Type(), app.Message(), app.NonRetryable())
	}
	if reason, attempt := activities.Reason(app); reason != "failed" || attempt != 1 {
		t.Errorf("the reason is %q at attempt %d, want failed at 1", reason, attempt)
	}
}

// TestRun_hearsCancellation cancels from the side of the workflow, so that the
// executor hears of it through a heartbeat, and Temporal that it was canceled.
func TestRun_hearsCancellation(t *testing.T) {
	returned := make(chan error, 1)
	acts := activities.New(activities.Config{Recorder: &recorder{}, Default: "test", Executors: map[string]activities.Executor{
		"test": executor(func(ctx context.Context, _ activities.Work, _ activities.Stream) (activities.Outcome, error) {
			<-ctx.Done()
			return activities.Outcome{}, errors.New("told to stop")
		}),
	}})
	env := (&testsuite.WorkflowTestSuite{}).NewTestWorkflowEnvironment()
	env.RegisterActivityWithOptions(func(ctx context.Context, w activities.Work) (activities.Outcome, error) {
		out, err := acts.Run(ctx, w)
		returned <- err
		return out, err
	}, activity.RegisterOptions{Name: "Run"})
	env.SetOnActivityStartedListener(func(*activity.Info, context.Context, converter.EncodedValues) { env.CancelWorkflow() })
	env.ExecuteWorkflow(func(ctx workflow.Context) error {
		ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{StartToCloseTimeout: time.Minute})
		return workflow.ExecuteActivity(ctx, "Run", work).Get(ctx, nil)
	})
	if err := <-returned; !errors.Is(err, context.Canceled) {
		t.Errorf("Run returned %v, want %v", err, context.Canceled)
	}
}

// TestRun_leavesNothingBehind counts goroutines before and after an attempt that
// streams, however it ends. In its bubble that is exact.
func TestRun_leavesNothingBehind(t *testing.T) {
	for name, end := range map[string]func(ctx context.Context, cancel func()) error{
		"completed": func(context.Context, func()) error { return nil },
		"error":     func(context.Context, func()) error { return errors.New("no route") },
		"panic":     func(context.Context, func()) error { panic("no") },
		"canceled":  func(ctx context.Context, cancel func()) error { cancel(); <-ctx.Done(); return ctx.Err() },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				background, cancel := context.WithCancel(t.Context())
				acts := activities.New(activities.Config{Recorder: &recorder{}, Default: "test", Executors: map[string]activities.Executor{
					"test": executor(func(ctx context.Context, _ activities.Work, s activities.Stream) (activities.Outcome, error) {
						chunk(t, s, "a", "1", true)
						return activities.Completed(), end(ctx, cancel)
					}),
				}})
				env := (&testsuite.WorkflowTestSuite{}).NewTestActivityEnvironment()
				env.SetWorkerOptions(sdkworker.Options{BackgroundActivityContext: background})
				env.RegisterActivityWithOptions(func(ctx context.Context, w activities.Work) (activities.Outcome, error) {
					before := goroutines()
					out, err := acts.Run(ctx, w)
					if after := goroutines(); after != before {
						t.Errorf("%d goroutines before the attempt, %d after it", before, after)
					}
					return out, err
				}, activity.RegisterOptions{Name: "Run"})
				if _, err := env.ExecuteActivity("Run", work); (err == nil) != (name == "completed") {
					t.Errorf("Run returned %v", err)
				}
			})
		})
	}
}

// goroutines counts goroutines once those of the bubble are at rest.
func goroutines() int {
	synctest.Wait()
	return runtime.NumGoroutine()
}

func TestPlan(t *testing.T) {
	specs := []opt.PlanSpec{{Name: "Work", Tasks: []opt.TaskSpec{{Name: "Do it"}}}}
	got, err := plan(t, func(r activities.Request) ([]opt.PlanSpec, error) {
		if r.Name != "Tea" {
			t.Errorf("request: got %+v", r)
		}
		return specs, nil
	})
	if diff := cmp.Diff(specs, got); err != nil || diff != "" {
		t.Errorf("plans mismatch (-want +got), error %v:\n%s", err, diff)
	}
}

func TestPlan_errors(t *testing.T) {
	for name, tt := range map[string]struct {
		planner func(activities.Request) ([]opt.PlanSpec, error)
		kind    string
		final   bool
		message string
	}{
		"no plan": {func(activities.Request) ([]opt.PlanSpec, error) {
			return nil, fmt.Errorf("the moon: %w", activities.ErrNoPlan)
		}, activities.NoPlanError, true, "the moon: no plan"},
		"passing": {func(activities.Request) ([]opt.PlanSpec, error) { return nil, errors.New("busy") }, "", false, "busy"},
		"panic":   {func(activities.Request) ([]opt.PlanSpec, error) { panic("secret") }, activities.PanicError, false, "The task stopped unexpectedly."},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := plan(t, tt.planner)
			if app := application(t, err); app.Type() != tt.kind || app.NonRetryable() != tt.final || app.Message() != tt.message {
				t.Errorf("got type %q, message %q, non-retryable %t", app.Type(), app.Message(), app.NonRetryable())
			}
		})
	}
}

func TestRecord(t *testing.T) {
	r := &recorder{}
	env := (&testsuite.WorkflowTestSuite{}).NewTestActivityEnvironment()
	acts := activities.New(activities.Config{Recorder: r})
	env.RegisterActivity(acts)
	if _, err := env.ExecuteActivity(acts.Record, opt.Batch{Source: "plan"}); err != nil || len(r.batches) != 1 || r.batches[0].Source != "plan" {
		t.Errorf("recorded %+v, error %v", r.batches, err)
	}
}

// run runs w by do, as an activity.
func run(t *testing.T, r *recorder, w activities.Work, do executor) (activities.Outcome, error) {
	t.Helper()
	return runWith(t, activities.Config{Executors: map[string]activities.Executor{"test": do}, Default: "test", Recorder: r}, w)
}

// runWith runs w as an activity, in a bubble of its own: time costs nothing, and
// a goroutine that is left behind fails the test.
func runWith(t *testing.T, cfg activities.Config, w activities.Work) (out activities.Outcome, err error) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		env := (&testsuite.WorkflowTestSuite{}).NewTestActivityEnvironment()
		acts := activities.New(cfg)
		env.RegisterActivity(acts)
		value, runErr := env.ExecuteActivity(acts.Run, w)
		if err = runErr; err == nil {
			err = value.Get(&out)
		}
	})
	return out, err
}

func plan(t *testing.T, do planner) (specs []opt.PlanSpec, err error) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		env := (&testsuite.WorkflowTestSuite{}).NewTestActivityEnvironment()
		acts := activities.New(activities.Config{Planner: do})
		env.RegisterActivity(acts)
		value, planErr := env.ExecuteActivity(acts.Plan, activities.Request{Name: "Tea"})
		if err = planErr; err == nil {
			err = value.Get(&specs)
		}
	})
	return specs, err
}

func application(t *testing.T, err error) *temporal.ApplicationError {
	t.Helper()
	var app *temporal.ApplicationError
	if !errors.As(err, &app) {
		t.Fatalf("got %v, want an application error", err)
	}
	return app
}

func artifact(id string, texts ...string) a2a.Artifact {
	a := a2a.Artifact{ArtifactID: id}
	for _, text := range texts {
		a.Parts = append(a.Parts, a2a.TextPart(text))
	}
	return a
}

// executor is a function as an executor.
type executor func(context.Context, activities.Work, activities.Stream) (activities.Outcome, error)

func (f executor) Execute(ctx context.Context, w activities.Work, out activities.Stream) (activities.Outcome, error) {
	return f(ctx, w, out)
}

func named(name string) activities.Executor {
	return executor(func(context.Context, activities.Work, activities.Stream) (activities.Outcome, error) {
		return activities.Failed(name, "I am "+name+"."), nil
	})
}

type planner func(activities.Request) ([]opt.PlanSpec, error)

func (f planner) Plan(_ context.Context, r activities.Request) ([]opt.PlanSpec, error) { return f(r) }

// recorder keeps batches, and refuses the first few.
type recorder struct {
	mu      sync.Mutex
	refuse  int
	batches []opt.Batch // refused ones, too
}

func (r *recorder) Record(_ context.Context, b opt.Batch) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.batches = append(r.batches, b)
	if len(r.batches) <= r.refuse {
		return errors.New("the journal is away")
	}
	return nil
}

func (r *recorder) count() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.batches)
}
