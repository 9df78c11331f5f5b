package activities_test

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"
	sdkworker "go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"longhaul/a2a"
	"longhaul/activities"
	"longhaul/internal/test"
	"longhaul/opt"
)

const taskID = "task-aaaaaaaaaaaaaaaaaaaaaaaaaa-1-2"

var work = activities.Work{ObjectiveID: "obj-aaaaaaaaaaaaaaaaaaaaaaaaaa", PlanID: "plan-aaaaaaaaaaaaaaaaaaaaaaaaaa-1", TaskID: taskID, RootID: "root", Round: 1, Attempt: 1}

func TestRun_passesOutcomeOn(t *testing.T) {
	gate := activities.WaitFor(opt.Gate{Kind: opt.Approval, Title: "Ship it?", Actions: []opt.Action{opt.Accept}})
	gate.Try = 1
	late := activities.WaitFor(opt.Gate{Kind: opt.Approval, Title: "Ship it?", Actions: []opt.Action{opt.Accept}, Ladder: []opt.Step{{Kind: opt.Remind, After: 60}}})
	late.Try = 1
	never := activities.WaitFor(opt.Gate{Kind: opt.Approval, Title: "Ship it?", Actions: []opt.Action{opt.Accept}, Ladder: []opt.Step{{Kind: opt.Remind}}})
	for name, tt := range map[string]struct{ give, want activities.Outcome }{
		"completed": {
			activities.Completed(artifact("a", "text")),
			activities.Outcome{State: opt.TaskCompleted, Artifacts: []a2a.Artifact{artifact(opt.ArtifactID(taskID, "a"), "text")}, Try: 1},
		},
		"failed":              {activities.Failed("no", "No."), activities.Outcome{State: opt.TaskFailed, Code: "no", Message: "No.", Try: 1}},
		"rejected":            {activities.Rejected("no", "No."), activities.Outcome{State: opt.TaskRejected, Code: "no", Message: "No.", Try: 1}},
		"waiting":             {gate, gate},
		"reminded":            {late, late},
		"a code to be copied": {activities.Failed("no; touch x", "No."), activities.Outcome{State: opt.TaskFailed, Code: "failed", Message: "No.", Try: 1}},
		"an id to be copied": {activities.WaitFor(opt.Gate{Kind: opt.Clarification, Questions: []opt.Question{{ID: "x; touch x", Question: "Why?"}}}),
			activities.Outcome{State: opt.TaskFailed, Code: "invalid-gate", Try: 1,
				Message: `The task opened an invalid gate: the question "Why?" needs an id of its own: 1 to 64 letters, digits, dots, hyphens and underscores.`}},
		"two objects": {activities.WaitFor(opt.Gate{Kind: opt.Approval, Actions: []opt.Action{opt.Accept}, ArtifactData: []byte(`"shown"`), Object: []a2a.Part{a2a.TextPart("digested")}}),
			activities.Outcome{State: opt.TaskFailed, Code: "invalid-gate", Try: 1,
				Message: "The task opened an invalid gate: it has an object and artifact data, which are two things to decide on: give one of them."}},
		"reminded at once": {never, activities.Outcome{State: opt.TaskFailed, Code: "invalid-gate", Try: 1,
			Message: "The task opened an invalid gate: step 1: must be between one second and 366 days after the gate opens."}},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := run(t, &recorder{}, work, func(context.Context, activities.Work, activities.Stream) (activities.Outcome, error) {
				return tt.give, nil
			})
			test.OK(t, err)
			if got.Ran--; got.Ran != 0 {
				t.Errorf("it ran for %d ms more than 1", got.Ran)
			}
			test.Equal(t, "outcome", tt.want, got)
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
		{"", "", "unknown-executor", "The task names no executor, and the worker has no default."},
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

// TestRun_leavesOutcomeAlone is for executors that return the same artifacts each
// time, in many goroutines.
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
	test.Is(t, "the executor's own artifact became", "a", shared.Artifacts[0].ArtifactID)
}

func TestRun_panicTellsNothing(t *testing.T) {
	_, err := run(t, &recorder{}, work, func(context.Context, activities.Work, activities.Stream) (activities.Outcome, error) {
		panic("secret of line 12")
	})
	app := application(t, err)
	if app.Type() != activities.PanicError || !app.NonRetryable() || app.Message() != "The task stopped unexpectedly." {
		t.Errorf("got type %q, message %q, non-retryable %t", app.Type(), app.Message(), app.NonRetryable())
	}
	for _, leak := range []string{"secret", "goroutine", ".go:"} {
		if strings.Contains(fmt.Sprintf("%+v", err), leak) {
			t.Errorf("the error has %q in it: %+v", leak, err)
		}
	}
}

// The plan decides about another attempt, so an error is final for Temporal.
func TestRun_errorIsFinal(t *testing.T) {
	_, err := run(t, &recorder{}, work, func(context.Context, activities.Work, activities.Stream) (activities.Outcome, error) {
		return activities.Outcome{}, errors.New("no route")
	})
	app := application(t, err)
	if app.Type() != activities.ExecutorError || !app.NonRetryable() || app.Message() != "no route" {
		t.Errorf("got type %q, message %q, non-retryable %t", app.Type(), app.Message(), app.NonRetryable())
	}
	test.Is(t, "the reason", "failed", activities.Reason(app))
}

// TestRun_hearsCancellation cancels the activity as a workflow does: the
// executor's context is canceled after a heartbeat, and the activity ends as
// canceled.
func TestRun_hearsCancellation(t *testing.T) {
	returned := make(chan error, 1)
	acts := activities.New(config(&recorder{}, func(ctx context.Context, _ activities.Work, _ activities.Stream) (activities.Outcome, error) {
		<-ctx.Done()
		return activities.Outcome{}, errors.New("asked to stop")
	}))
	env := (&testsuite.WorkflowTestSuite{}).NewTestWorkflowEnvironment()
	patient(env)
	env.RegisterActivityWithOptions(func(ctx context.Context, in activities.RunInput) (activities.Outcome, error) {
		out, err := acts.Run(ctx, in)
		returned <- err
		return out, err
	}, activity.RegisterOptions{Name: "Run"})
	env.SetOnActivityStartedListener(func(*activity.Info, context.Context, converter.EncodedValues) { env.CancelWorkflow() })
	env.ExecuteWorkflow(func(ctx workflow.Context) error {
		ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{StartToCloseTimeout: time.Minute})
		return workflow.ExecuteActivity(ctx, "Run", activities.RunInput{Work: work}).Get(ctx, nil)
	})
	test.Error(t, "Run returned", context.Canceled, <-returned)
}

// Run sends heartbeats while it records events, so a slow journal does not time it out
// before the executor begins.
func TestRun_beatsWhileTheJournalIsSlow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var beats atomic.Int64
		w := newWorker(config(slow{10 * time.Second}, func(context.Context, activities.Work, activities.Stream) (activities.Outcome, error) {
			if beats.Load() == 0 { // the SDK here passes on one in ten seconds
				t.Error("no heartbeat before the executor began")
			}
			return activities.Completed(), nil
		}))
		w.SetOnActivityHeartbeatListener(func(*activity.Info, converter.EncodedValues) { beats.Add(1) })
		test.Error(t, "the call", nil, test.Err(w.run(activities.RunInput{Work: work, Ride: []opt.Batch{{}}})))
	})
}

// A worker does not do a task again whose outcome Temporal did not receive. After a run
// on another worker it does.
func TestRun_returnsAnOutcomeThatWasLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		runs := 0
		w := newWorker(config(&recorder{}, func(context.Context, activities.Work, activities.Stream) (activities.Outcome, error) {
			if runs++; runs == 1 {
				return activities.Outcome{}, errors.New("no route") // an error is no outcome
			}
			return activities.Completed(artifact("sum", fmt.Sprint("run ", runs))), nil
		}))
		next := work
		next.Key += "-2"
		for i, run := range []struct {
			work  activities.Work
			tries int // before this one
			want  string
		}{
			{work, 0, ""}, {work, 0, "run 2"}, {work, 1, "run 2"}, {work, 2, "run 2"}, {work, 4, "run 3"}, {work, 5, "run 3"}, {next, 0, "run 4"},
		} {
			out, err := w.run(activities.RunInput{Work: run.work, Tries: run.tries})
			got := ""
			if len(out.Artifacts) == 1 {
				got = *out.Artifacts[0].Parts[0].Text
			}
			if got != run.want || (err != nil) != (run.want == "") {
				t.Errorf("run %d returned %q (%v), want %q", i+1, got, err, run.want)
			}
		}
	})
}

// A run that panics has no outcome to remember: the next one does the task.
func TestRun_remembersNoPanic(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorker(config(&panicsOnce{}, named("done")))
		in := activities.RunInput{Work: work, Ride: []opt.Batch{{}}}
		if _, err := w.run(in); err == nil {
			t.Fatal("the journal did not panic")
		}
		in.Tries = 1
		test.Is(t, "the run after a panic returned", "done", test.Value(w.run(in))(t).Code)
	})
}

// panicsOnce is a journal that panics at the first recording.
type panicsOnce struct{ panicked bool }

func (p *panicsOnce) Record(context.Context, ...opt.Batch) error {
	if !p.panicked {
		p.panicked = true
		panic("once")
	}
	return nil
}

// What a worker remembers is bounded: one outcome of each task and round, and none above
// 64 KiB.
func TestRun_remembersLittle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		runs := 0
		done := newWorker(config(&recorder{}, func(_ context.Context, w activities.Work, _ activities.Stream) (activities.Outcome, error) {
			runs++
			if w.Attempt == 3 {
				return activities.Failed("large", strings.Repeat("x", 64<<10)), nil
			}
			return activities.Failed(fmt.Sprint("run ", runs), "No."), nil
		}))
		for i, run := range []struct {
			attempt, leg, tries int
			want                int // runs of the executor afterwards
		}{
			{1, 0, 0, 1}, {1, 0, 1, 1}, // remembered
			{1, 1, 0, 2}, {1, 1, 1, 2}, {1, 0, 2, 3}, // the next leg takes the place
			{2, 0, 0, 4}, {2, 0, 1, 4}, {1, 0, 1, 5}, // the next attempt, too
			{3, 0, 0, 6}, {3, 0, 1, 7}, // too large
		} {
			w := work
			w.Attempt, w.Leg = run.attempt, run.leg
			if _, err := done.run(activities.RunInput{Work: w, Tries: run.tries}); err != nil || runs != run.want {
				t.Errorf("call %d: %d runs, want %d; error %v", i+1, runs, run.want, err)
			}
		}
	})
}

// slow is a journal that takes a time to record.
type slow struct{ time.Duration }

func (s slow) Record(context.Context, ...opt.Batch) error {
	<-time.After(s.Duration) // simulated
	return nil
}

// TestRun_leavesNothingBehind counts goroutines before and after an attempt that
// streams, however it ends. The count is exact in a synctest bubble.
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
				acts := activities.New(config(&recorder{}, func(ctx context.Context, _ activities.Work, s activities.Stream) (activities.Outcome, error) {
					chunk(t, s, "a", "1", true)
					return activities.Completed(), end(ctx, cancel)
				}))
				env := (&testsuite.WorkflowTestSuite{}).NewTestActivityEnvironment()
				env.SetWorkerOptions(sdkworker.Options{BackgroundActivityContext: background})
				env.RegisterActivityWithOptions(func(ctx context.Context, in activities.RunInput) (activities.Outcome, error) {
					before := goroutines(t)
					out, err := acts.Run(ctx, in)
					test.Is(t, "goroutines after the attempt", before, goroutines(t))
					return out, err
				}, activity.RegisterOptions{Name: "Run"})
				if _, err := env.ExecuteActivity("Run", activities.RunInput{Work: work}); (err == nil) != (name == "completed") {
					t.Errorf("Run returned %v", err)
				}
			})
		})
	}
}

// goroutines counts the goroutines of the bubble when all others of it are blocked.
func goroutines(t *testing.T) int {
	t.Helper()
	synctest.Wait()
	buf := make([]byte, 1<<22)
	dump := string(buf[:runtime.Stack(buf, true)])
	bubble := regexp.MustCompile(`, synctest bubble \d+`).FindString(dump) // this goroutine comes first
	if bubble == "" {
		t.Fatal("this goroutine is in no bubble")
	}
	return len(regexp.MustCompile(bubble+`\b`).FindAllString(dump, -1))
}

func TestPlan(t *testing.T) {
	want := activities.Planned{Plans: []opt.PlanSpec{{Name: "Work", Tasks: []opt.TaskSpec{{Name: "Do it"}}}}, Planner: "playbook tea", Reason: "default"}
	got, err := plan(t, func(r activities.Request) (activities.Planned, error) {
		if r.Name != "Tea" {
			t.Errorf("request: got %+v", r)
		}
		return want, nil
	})
	test.OK(t, err)
	test.Equal(t, "plans", want, got)
}

func TestPlan_errors(t *testing.T) {
	for name, tt := range map[string]struct {
		planner planner
		kind    string
		final   bool
		message string
	}{
		"no plan": {func(activities.Request) (activities.Planned, error) {
			return activities.Planned{}, fmt.Errorf("the moon: %w", activities.ErrNoPlan)
		}, activities.NoPlanError, true, "the moon: no plan"},
		"passing": {func(activities.Request) (activities.Planned, error) { return activities.Planned{}, errors.New("busy") }, "", false, "busy"},
		"panic":   {func(activities.Request) (activities.Planned, error) { panic("secret") }, activities.PanicError, false, "The task stopped unexpectedly."},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := plan(t, tt.planner)
			if app := application(t, err); app.Type() != tt.kind || app.NonRetryable() != tt.final || app.Message() != tt.message {
				t.Errorf("got type %q, message %q, non-retryable %t", app.Type(), app.Message(), app.NonRetryable())
			}
		})
	}
}

// What a planner has used before it fails is in the error, with what its runs before have used.
func TestPlan_usage(t *testing.T) {
	w := newWorker(activities.Config{Planner: planner(func(activities.Request) (activities.Planned, error) {
		return activities.Planned{Usage: &opt.Usage{Input: 5, Model: "m"}}, errors.New("busy")
	})})
	w.SetHeartbeatDetails(activities.Progress{Spent: &opt.Usage{Input: 30, Output: 2}})
	_, err := w.ExecuteActivity(w.acts.Plan, activities.Request{})
	var got opt.Usage
	if app := application(t, err); app.NonRetryable() || app.Message() != "busy" || app.Details(&got) != nil {
		t.Errorf("the error is %v", app)
	}
	test.Is(t, "used", (opt.Usage{Input: 35, Output: 2, Model: "m"}), got)
}

func TestRecord(t *testing.T) {
	r := &recorder{}
	w := newWorker(activities.Config{Recorder: r})
	batches := []opt.Batch{{Source: "plan"}, {Source: "objective"}}
	_ = test.Value(w.ExecuteActivity(w.acts.Record, batches))(t)
	test.Equal(t, "batches", [][]opt.Batch{batches}, r.calls)
}

// The events that ride are recorded before the executor runs. If they cannot be
// recorded the executor does not run, and Temporal repeats the activity.
func TestRun_recordsWhatRides(t *testing.T) {
	ride := []opt.Batch{{Source: "plan"}, {Source: "objective"}}
	for _, refuse := range []int{0, 1} {
		r := &recorder{refuse: refuse}
		recorded := -1
		cfg := config(r, func(context.Context, activities.Work, activities.Stream) (activities.Outcome, error) {
			recorded = r.count()
			return activities.Completed(), nil
		})
		_, err := runInput(t, cfg, activities.RunInput{Work: work, Ride: ride})
		test.Equal(t, "recorded", [][]opt.Batch{ride}, r.calls)
		if refuse == 0 {
			if err != nil || recorded != 2 {
				t.Errorf("%d batches were recorded when the executor began, error %v", recorded, err)
			}
			continue
		}
		var before int
		if app := application(t, err); recorded != -1 || app.Type() != activities.JournalError || !app.HasDetails() || app.Details(&before) != nil || before != 0 {
			t.Errorf("without a journal: type %q, after %d tries; the executor ran: %t", app.Type(), before, recorded >= 0)
		}
	}
}

// A worker that stops uses up no attempt: Temporal repeats the activity.
func TestRun_workerStops(t *testing.T) {
	stop := make(chan struct{})
	background, cancel := context.WithCancel(t.Context())
	w := newWorker(config(&recorder{}, func(ctx context.Context, _ activities.Work, _ activities.Stream) (activities.Outcome, error) {
		close(stop)
		cancel()
		<-ctx.Done()
		return activities.Outcome{}, ctx.Err()
	}))
	w.SetWorkerOptions(sdkworker.Options{BackgroundActivityContext: background})
	w.givesBack(t, stop, w.acts.Run, activities.RunInput{Work: work})
}

// Work that is still running when the worker has been stopping for StopAfter is handed
// back while the worker can still answer.
func TestRun_workerStopsAfter(t *testing.T) {
	stop := make(chan struct{})
	cfg := config(&recorder{}, func(ctx context.Context, _ activities.Work, _ activities.Stream) (activities.Outcome, error) {
		close(stop)
		<-ctx.Done()
		return activities.Outcome{}, ctx.Err()
	})
	cfg.StopAfter = time.Millisecond
	w := newWorker(cfg)
	w.givesBack(t, stop, w.acts.Run, activities.RunInput{Work: work})
}

// Work is given back at once when others may take the worker for lost.
func TestRun_fenced(t *testing.T) {
	fence := make(chan struct{})
	cfg := config(&recorder{}, func(ctx context.Context, _ activities.Work, _ activities.Stream) (activities.Outcome, error) {
		close(fence)
		<-ctx.Done()
		return activities.Outcome{}, ctx.Err()
	})
	cfg.Fence = func([]byte) <-chan struct{} { return fence }
	w := newWorker(cfg)
	_, err := w.ExecuteActivity(w.acts.Run, activities.RunInput{Work: work})
	test.Is(t, "the type of the error", activities.JournalError, application(t, err).Type())
}

// givesBack checks that a worker that stops gives work back.
func (w worker) givesBack(t *testing.T, stop chan struct{}, do, in any) {
	t.Helper()
	w.SetWorkerStopChannel(stop)
	_, err := w.ExecuteActivity(do, in)
	app := application(t, err)
	test.Is(t, "the type of the error", activities.WorkerStoppedError, app.Type())
	test.Is(t, "no retry", false, app.NonRetryable())
}

// former holds objectives whose attempt has ended, by tenant and id.
type former map[string]opt.Kept

func (f former) Kept(_ context.Context, tenant, objectiveID string) (opt.Kept, error) {
	if objectiveID == "down" {
		return opt.Kept{}, errAway
	}
	kept, ok := f[tenant+"/"+objectiveID]
	if !ok {
		return kept, fmt.Errorf("objective %s: %w", objectiveID, opt.ErrUnknown)
	}
	return kept, nil
}

func TestLoad(t *testing.T) {
	want := opt.Kept{Objective: opt.Objective{ID: "o", Attempt: 2}, Recorded: map[string]int64{"o": 7}}
	w := newWorker(activities.Config{Kept: former{"t/o": want}})
	load := func(tenant, id string, after int64) (opt.Kept, error) {
		return result[opt.Kept](w.ExecuteActivity(w.acts.Load, activities.KeptRequest{Tenant: tenant, ObjectiveID: id, Source: id, After: after}))
	}
	got := test.Value(load("t", "o", 7))(t)
	test.Equal(t, "kept", want, got)
	for _, tt := range []struct {
		tenant, id string
		after      int64
		final      bool
	}{{"rival", "o", 0, true}, {"t", "gone", 0, true}, {"t", "down", 0, false}, {"t", "o", 8, false}, {"t", "gone", 8, false}} {
		_, err := load(tt.tenant, tt.id, tt.after)
		test.Is(t, fmt.Sprintf("%s of %s: %v, final", tt.id, tt.tenant, err), tt.final, application(t, err).NonRetryable())
	}
}

// config is of a worker that does all tasks by do.
func config(r activities.Recorder, do executor) activities.Config {
	return activities.Config{Recorder: r, Default: "test", Executors: map[string]activities.Executor{"test": do}}
}

// run runs w by do, as an activity.
func run(t *testing.T, r *recorder, w activities.Work, do executor) (activities.Outcome, error) {
	t.Helper()
	return runWith(t, config(r, do), w)
}

// runWith runs w as an activity in a synctest bubble: time is simulated, and a
// goroutine that does not end fails the test.
func runWith(t *testing.T, cfg activities.Config, w activities.Work) (activities.Outcome, error) {
	t.Helper()
	return runInput(t, cfg, activities.RunInput{Work: w})
}

func runInput(t *testing.T, cfg activities.Config, in activities.RunInput) (out activities.Outcome, err error) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { out, err = newWorker(cfg).run(in) })
	return out, err
}

func plan(t *testing.T, do planner) (planned activities.Planned, err error) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := newWorker(activities.Config{Planner: do})
		planned, err = result[activities.Planned](w.ExecuteActivity(w.acts.Plan, activities.Request{Name: "Tea"}))
	})
	return planned, err
}

// A worker runs activities as Temporal does.
type worker struct {
	*testsuite.TestActivityEnvironment
	acts *activities.Activities
}

func newWorker(cfg activities.Config) worker {
	w := worker{(&testsuite.WorkflowTestSuite{}).NewTestActivityEnvironment(), activities.New(cfg)}
	w.RegisterActivity(w.acts)
	return w
}

func (w worker) run(in activities.RunInput) (activities.Outcome, error) {
	return result[activities.Outcome](w.ExecuteActivity(w.acts.Run, in))
}

// result returns the result of an activity.
func result[T any](value converter.EncodedValue, err error) (out T, _ error) {
	if err == nil {
		err = value.Get(&out)
	}
	return out, err
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

// executor is a function that implements Executor.
type executor func(context.Context, activities.Work, activities.Stream) (activities.Outcome, error)

func (f executor) Execute(ctx context.Context, w activities.Work, out activities.Stream) (activities.Outcome, error) {
	return f(ctx, w, out)
}

func named(name string) executor {
	return func(context.Context, activities.Work, activities.Stream) (activities.Outcome, error) {
		return activities.Failed(name, "I am "+name+"."), nil
	}
}

type planner func(activities.Request) (activities.Planned, error)

func (f planner) Plan(_ context.Context, r activities.Request) (activities.Planned, error) {
	return f(r)
}

// recorder keeps batches, and refuses the first few.
type recorder struct {
	mu      sync.Mutex
	refuse  int
	refusal error // errAway if nil
	calls   [][]opt.Batch
	batches []opt.Batch // of all calls, refused ones too
}

var errAway = fmt.Errorf("the journal is away: %w", opt.ErrUnavailable)

func (r *recorder) Record(_ context.Context, batches ...opt.Batch) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.calls = append(r.calls, batches)
	r.batches = append(r.batches, batches...)
	if len(r.calls) <= r.refuse {
		if r.refusal != nil {
			return r.refusal
		}
		return errAway
	}
	return nil
}

func (r *recorder) count() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.batches)
}

// A refuser has other events than those that it gets.
type refuser struct{ recorder }

func (r *refuser) Record(ctx context.Context, batches ...opt.Batch) error {
	_ = r.recorder.Record(ctx, batches...)
	return fmt.Errorf("record: %w", &opt.RewoundError{Source: batches[0].Source, Epoch: 3, Event: 7})
}

// Events that the journal refuses for good are a final error with what the journal has.
func TestRecord_refused(t *testing.T) {
	w := newWorker(activities.Config{Recorder: &refuser{}})
	_, err := w.ExecuteActivity(w.acts.Record, []opt.Batch{{Source: "plan"}})
	var has opt.RewoundError
	app := application(t, err)
	if err := app.Details(&has); err != nil || !app.NonRetryable() || app.Type() != activities.RewoundError || has != (opt.RewoundError{Source: "plan", Epoch: 3, Event: 7}) {
		t.Errorf("non-retryable %t, type %q, details %+v, error %v", app.NonRetryable(), app.Type(), has, err)
	}
}

// If they ride, the task runs all the same. The artifacts that it cannot stream come with its
// outcome.
func TestRun_refusedRide(t *testing.T) {
	cfg := config(&refuser{}, func(ctx context.Context, _ activities.Work, s activities.Stream) (activities.Outcome, error) {
		return activities.Completed(), s.Chunk(ctx, artifact("a", "made"), true)
	})
	out, err := runInput(t, cfg, activities.RunInput{Work: work, Ride: []opt.Batch{{Source: "plan"}}})
	if err != nil || out.State != opt.TaskCompleted || out.Refused == nil || out.Refused.Epoch != 3 {
		t.Fatalf("outcome %+v, error %v", out, err)
	}
	if len(out.Artifacts) != 1 || len(out.Streamed) != 0 {
		t.Errorf("%d artifacts, streamed %v", len(out.Artifacts), out.Streamed)
	}
}
