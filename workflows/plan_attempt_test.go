package workflows_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"

	"longhaul/activities"
	"longhaul/internal/test"
	"longhaul/opt"
	"longhaul/opt/machine"
	"longhaul/workflows"
)

const (
	scheduleToStart = enumspb.TIMEOUT_TYPE_SCHEDULE_TO_START
	startToClose    = enumspb.TIMEOUT_TYPE_START_TO_CLOSE
	heartbeat       = enumspb.TIMEOUT_TYPE_HEARTBEAT
)

// A worker that is silent for longer than the limits of the objective allow is lost.
func TestWorkerTimeout(t *testing.T) {
	for limit, want := range map[int]time.Duration{0: 30 * time.Second, 20: 20 * time.Second} {
		got := map[string]time.Duration{}
		listen := func(env *testsuite.TestWorkflowEnvironment) {
			env.SetOnActivityStartedListener(func(info *activity.Info, _ context.Context, _ converter.EncodedValues) {
				if info.HeartbeatTimeout > 0 {
					got[info.ActivityType.Name] = info.HeartbeatTimeout
				}
			})
		}
		objective, _ := newEnv(t)
		listen(objective)
		o := opening()
		o.Objective.Limits.WorkerTimeout = limit
		objective.ExecuteWorkflow(workflows.Objective, workflows.ObjectiveInput{Opening: &o})
		finished(t, objective)

		plan, _ := newPlanEnv(t)
		listen(plan)
		in := planInput(t, planOf("say one"))
		in.State.Plan.Limits.WorkerTimeout = limit
		plan.ExecuteWorkflow(workflows.Plan, in)
		finished(t, plan)
		if got["Plan"] != want || got["Run"] != want {
			t.Errorf("with the limit %d, workers may be silent for %v, want %v while they plan and run", limit, got, want)
		}
	}
}

func timeout(kind enumspb.TimeoutType) error { return temporal.NewTimeoutError(kind, nil) }

// journalAway is the error of a Run that cannot record the events in its input.
var journalAway = temporal.NewApplicationError("The journal cannot be reached.", activities.JournalError, 0)

// failed is the error of a Run whose executor returned an error.
func failed(code string) error {
	return temporal.NewNonRetryableApplicationError("No.", activities.ExecutorError+":"+code, nil)
}

// A task says when it is attempted again, and after which errors it is not. The
// last error is the reason.
func TestPlan_attemptsAgain(t *testing.T) {
	text := func(attempt, times int) string {
		return fmt.Sprintf("told to fail on attempt %d of %d", attempt, times)
	}
	for name, tt := range map[string]struct {
		script   string
		attempts int
		retry    opt.Retry

		reason, text string // "" if the task completes
		attempt      int    // that it ended with
		took         time.Duration
	}{
		"as ever":                       {script: "fail 2; say Done", attempt: 3, took: 3 * time.Second},
		"used up":                       {script: "fail 3", reason: "failed", text: text(3, 3), attempt: 3, took: 3 * time.Second},
		"used up by errors with a code": {script: "fail 3 busy", reason: "busy", text: text(3, 3), attempt: 3, took: 3 * time.Second},
		"attempts of its own":           {script: "fail 5 busy", attempts: 2, reason: "busy", text: text(2, 5), attempt: 2, took: time.Second},
		"exception":                     {script: "fail 3 busy", retry: opt.Retry{Except: []string{"bad-input", "busy"}}, reason: "busy", text: text(1, 3), attempt: 1},
		"other exception":               {script: "fail 1 busy; say Done", retry: opt.Retry{Except: []string{"bus", "failed"}}, attempt: 2, took: time.Second},
		"no error without a code":       {script: "fail 1", retry: opt.Retry{Except: []string{"failed"}}, reason: "failed", text: text(1, 1), attempt: 1},
		"a panic":                       {script: "panic", reason: "failed", text: "The task stopped unexpectedly.", attempt: 3, took: 3 * time.Second},
		"no panic":                      {script: "panic", retry: opt.Retry{Except: []string{"failed"}}, reason: "failed", text: "The task stopped unexpectedly.", attempt: 1},
		"wait":                          {script: "fail 2", retry: opt.Retry{Wait: 10}, attempt: 3, took: 30 * time.Second},
		"a long wait":                   {script: "fail 3", attempts: 4, retry: opt.Retry{Wait: 120}, attempt: 4, took: 6 * time.Minute},
		"the default wait has an end":   {script: "fail 8", attempts: 9, attempt: 9, took: (1 + 2 + 4 + 8 + 16 + 32 + 60 + 60) * time.Second},
		"an outcome is no error":        {script: "fail", reason: "told-to", text: "The task was told to fail.", attempt: 1},
		"an outcome later":              {script: "fail 1; fail", reason: "told-to", text: "The task was told to fail.", attempt: 2, took: time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			env, log := newPlanEnv(t)
			spec := planOf(tt.script)
			spec.Tasks[0].Attempts, spec.Tasks[0].Retry = tt.attempts, tt.retry
			env.ExecuteWorkflow(workflows.Plan, planInput(t, spec))
			took := env.Now().Sub(began)
			result(t, env, log)
			last := log.moves(taskID)[len(log.moves(taskID))-1]
			said := ""
			if last.Status != nil {
				said = last.Status.Text()
			}
			if last.Reason != tt.reason || said != tt.text || last.Attempt != tt.attempt || (last.To == "completed") != (tt.reason == "") {
				t.Errorf("%s for %q, %q, at attempt %d", last.To, last.Reason, said, last.Attempt)
			}
			test.Is(t, "it took", tt.took, took)
		})
	}
}

// Events have the number of the attempt. A gate begins a new round, whose
// attempts count from 1.
func TestPlan_countsAttemptsWithinARound(t *testing.T) {
	env, log := newPlanEnv(t)
	reply(env, time.Hour, "r1", opt.Reply{GateID: taskGate, Action: opt.Accept})
	env.ExecuteWorkflow(workflows.Plan, planInput(t, planOf("fail 1; approve Go on?; fail 2; say Done")))
	result(t, env, log)
	var got []string
	for _, e := range log.events {
		if e.Kind == opt.TaskMoved || e.Kind == opt.TaskTried {
			got = append(got, fmt.Sprintf("%s %d.%d", e.To, e.Round, e.Attempt))
		}
	}
	want := []string{"working 1.1", "working 1.2", "input-required 0.0", "working 2.1", "working 2.2", "working 2.3", "completed 2.3"}
	test.Equal(t, "moves and attempts", want, got)
}

// Temporal repeats a run whose worker was lost or that cannot be recorded, and
// this uses up no attempt. A time-out is an attempt that failed.
func TestPlan_losesWorkers(t *testing.T) {
	stopped := temporal.NewApplicationError("The worker stops.", activities.WorkerStoppedError)
	quota := temporal.NewApplicationError("The tenant runs as many tasks here as it may.", activities.QuotaError)
	keyless := temporal.NewApplicationError("The key is missing.", "PayloadUnreadable")
	for name, tt := range map[string]struct {
		err     error
		times   int // that it comes
		want    string
		reason  string
		attempt int
		runs    int
	}{
		"heartbeat":            {timeout(heartbeat), 5, "completed", "", 1, 6},
		"heartbeat, for ever":  {timeout(heartbeat), 1000, "failed", "worker-lost", 1, 20},
		"stopped":              {stopped, 5, "completed", "", 1, 6},
		"stopped, for ever":    {stopped, 1000, "failed", "worker-lost", 1, 20},
		"no key for payloads":  {keyless, 100, "completed", "", 1, 101}, // however often
		"quota of the tenant":  {quota, 100, "completed", "", 1, 101},
		"no journal":           {journalAway, 5, "completed", "", 1, 6},
		"no journal, for long": {journalAway, 70, "completed", "", 1, 71},
		"executor":             {failed("busy"), 2, "completed", "", 3, 3},
		"executor, for ever":   {failed("busy"), 1000, "failed", "busy", 3, 3},
		"a code like a reason": {failed("timeout"), 1, "completed", "", 2, 2},
	} {
		t.Run(name, func(t *testing.T) {
			env, log := newPlanEnv(t)
			runs, attempts := 0, map[int]bool{}
			env.OnActivity("Run", anyArg, anyArg).Return(func(ctx context.Context, in activities.RunInput) (activities.Outcome, error) {
				attempts[in.Work.Attempt] = true
				if runs++; runs <= tt.times {
					return activities.Outcome{}, tt.err
				}
				return rideAndComplete(ctx, log, in)
			})
			env.ExecuteWorkflow(workflows.Plan, planInput(t, planOf("x")))
			result(t, env, log)
			last := log.moves(taskID)[len(log.moves(taskID))-1]
			if last.To != tt.want || last.Reason != tt.reason || last.Attempt != tt.attempt || runs != tt.runs || len(attempts) != tt.attempt {
				t.Errorf("%s for %q at attempt %d of %v, after %d runs", last.To, last.Reason, last.Attempt, attempts, runs)
			}
		})
	}
}

// A task that is sent back before it begins uses up no try, and none that was made is forgotten:
// the number of the try says whether an earlier one may have begun. It pauses between.
func TestPlan_isSentBack(t *testing.T) {
	stopped := temporal.NewApplicationError("The worker stops.", activities.WorkerStoppedError)
	keyless := temporal.NewApplicationError("The key is missing.", "PayloadUnreadable")
	back := temporal.NewApplicationError("The tenant runs as many tasks here as it may.", activities.QuotaError, 0)
	lost := temporal.NewApplicationError("The tenant runs as many tasks here as it may.", activities.QuotaError, 1)
	locked := temporal.NewApplicationError("The key is missing.", "PayloadUnreadable", 0)
	awayLater := temporal.NewApplicationError("The journal cannot be reached.", activities.JournalError, 2)
	awayEarlier := temporal.NewApplicationError("The journal cannot be reached.", activities.JournalError)
	tooOften := temporal.NewApplicationError("The tenant runs as many tasks here as it may.", activities.QuotaError, 20)
	lockedLater := temporal.NewApplicationError("The key is missing.", "PayloadUnreadable", 1)
	for name, tt := range map[string]struct {
		errors []error // of the runs, before the one that completes
		try    int     // that completes, 0 if the task fails
		atMost time.Duration
	}{
		"once":                                   {[]error{back}, 1, 5 * time.Second},
		"often":                                  {slices.Repeat([]error{back}, 100), 1, 100 * 10 * time.Minute},
		"and one worker lost":                    {slices.Concat(slices.Repeat([]error{back}, 30), []error{stopped}), 2, 30 * 10 * time.Minute},
		"after a lost worker":                    {[]error{stopped, stopped, lost, back}, 3, time.Minute},
		"many workers lost":                      {slices.Concat([]error{stopped, stopped, lost}, slices.Repeat([]error{back}, 9), slices.Repeat([]error{stopped}, 18)), 0, 100 * time.Minute},
		"more workers lost than may be":          {[]error{tooOften, stopped}, 0, time.Hour},
		"without a key, often":                   {slices.Repeat([]error{locked}, 100), 1, 100 * time.Minute},
		"without a key, many workers lost":       {slices.Concat(slices.Repeat([]error{locked}, 19), slices.Repeat([]error{stopped}, 19)), 20, time.Hour},
		"without a key after a lost worker":      {[]error{stopped, stopped, lockedLater, locked, stopped}, 4, time.Hour},
		"without the journal, often":             {slices.Concat([]error{back}, slices.Repeat([]error{journalAway}, 100)), 101, 100 * time.Minute},
		"without the journal, workers lost":      {slices.Concat([]error{back, stopped, stopped, awayLater}, slices.Repeat([]error{journalAway}, 50), slices.Repeat([]error{stopped}, 17)), 71, time.Hour},
		"without the journal, many workers lost": {slices.Concat([]error{back, stopped, stopped, awayLater}, slices.Repeat([]error{journalAway}, 50), slices.Repeat([]error{stopped}, 18)), 0, time.Hour},
		"no journal, by a program of earlier":    {[]error{back, awayEarlier}, 21, time.Hour},
		"without a key, by a program of earlier": {slices.Concat([]error{back, stopped}, slices.Repeat([]error{keyless}, 19)), 2, time.Hour},
	} {
		t.Run(name, func(t *testing.T) {
			env, log := newPlanEnv(t)
			runs, try := 0, 0
			env.OnActivity("Run", anyArg, anyArg).Return(func(ctx context.Context, in activities.RunInput) (activities.Outcome, error) {
				if runs++; runs <= len(tt.errors) {
					return activities.Outcome{}, tt.errors[runs-1]
				}
				try = in.Tries + int(activity.GetInfo(ctx).Attempt)
				return rideAndComplete(ctx, log, in)
			})
			env.ExecuteWorkflow(workflows.Plan, planInput(t, planOf("x")))
			took := env.Now().Sub(began)
			report := result(t, env, log)
			if try != tt.try || (report.Reason == "worker-lost") != (tt.try == 0) || took < 5*time.Second || took > tt.atMost {
				t.Errorf("try %d of %d runs has completed it after %v; the report is %+v", try, runs, took, report)
			}
		})
	}
}

// While no worker can read the payloads of a task, it waits: with pauses that become longer, up to
// a minute, and not as a failure. Operators see why, and it can be canceled.
func TestPlan_waitsForAReadableWorker(t *testing.T) {
	locked := temporal.NewApplicationError("The key k is missing.", "PayloadUnreadable", 0)
	env, log := newPlanEnv(t)
	var runs []time.Duration
	env.OnActivity("Run", anyArg, anyArg).Return(func(context.Context, activities.RunInput) (activities.Outcome, error) {
		runs = append(runs, env.Now().Sub(began))
		return activities.Outcome{}, locked
	})
	at(env, time.Hour, func() {
		if got := detailsOf(t, env); !strings.Contains(got, "**1 activities wait for a worker that can read their payloads.**") || !strings.Contains(got, "The key k is missing.") {
			t.Errorf("the details are %s", got)
		}
		if got := log.unreadable.Load(); got != int64(len(runs)) || got < 60 {
			t.Errorf("%d payloads count as unreadable after %d runs", got, len(runs))
		}
	})
	direct(env, time.Hour+time.Second, machine.Directive{N: 2, Start: true, Leaf: true, Stop: "canceled"})
	env.ExecuteWorkflow(workflows.Plan, planInput(t, planOf("x")))
	if report := result(t, env, log); report.Reason != "canceled" || env.Now().Sub(began) > time.Hour+2*time.Minute {
		t.Errorf("after %v the report is %+v", env.Now().Sub(began), report)
	}
	pause := time.Duration(0)
	for i := range runs[1:] {
		next := runs[i+1] - runs[i]
		if next < pause || next < 5*time.Second || next > time.Minute {
			t.Fatalf("run %d came after a pause of %v, and the one before after %v", i+2, next, pause)
		}
		pause = next
	}
	test.Is(t, "the longest pause", time.Minute, pause)
}

// While the journal is away, tasks begin again and make the history longer. A run that is too long
// for Temporal begins none until the journal answers; then the next run does.
func TestPlan_tooLongWithoutTheJournal(t *testing.T) {
	env, log := newPlanEnv(t)
	away, runs := true, 0
	log.fail = func(opt.Batch) error {
		if away {
			return errors.New("the journal is away")
		}
		return nil
	}
	env.OnActivity("Run", anyArg, anyArg).Return(func(context.Context, activities.RunInput) (activities.Outcome, error) {
		runs++
		return activities.Outcome{}, journalAway
	})
	before := 0
	at(env, time.Hour, func() {
		before = runs
		env.SetContinueAsNewSuggested(true)
		env.SetCurrentHistoryLength(50_000)
		env.SignalWorkflow(workflows.LetterSignal, note("n1"))
	})
	at(env, 2*time.Hour, func() {
		if before < 60 || runs > before+1 {
			t.Errorf("the task began %d times in the first hour, and %d times in the second, when the run was too long", before, runs-before)
		}
		away = false
	})
	env.ExecuteWorkflow(workflows.Plan, planInput(t, planOf("x")))
	next := continued[workflows.PlanInput](t, env)
	if got := next.Tries[slices.Collect(maps.Keys(next.Tries))[0]]; got.Begun != runs || got.Lost != 0 {
		t.Errorf("the next run knows %+v tries of %d", got, runs)
	}
}

// A task that waits to begin again does not keep a long run from continuing as new, and the next
// run knows how many tries may have begun.
func TestPlan_continuesAsNewWhileSentBack(t *testing.T) {
	env, log := newPlanEnv(t)
	failures := []error{
		temporal.NewApplicationError("The worker stops.", activities.WorkerStoppedError),
		temporal.NewApplicationError("The key is missing.", "PayloadUnreadable", 0),
	}
	runs := 0
	env.OnActivity("Run", anyArg, anyArg).Return(func(context.Context, activities.RunInput) (activities.Outcome, error) {
		runs++
		return activities.Outcome{}, failures[min(runs, len(failures))-1]
	})
	at(env, 3*time.Second, func() {
		env.SetContinueAsNewSuggested(true)
		env.SignalWorkflow(workflows.LetterSignal, note("n1"))
	})
	env.ExecuteWorkflow(workflows.Plan, planInput(t, planOf("x")))
	next := continued[workflows.PlanInput](t, env)

	env, after := newPlanEnv(t)
	after.numbers = log.numbers
	try := 0
	env.OnActivity("Run", anyArg, anyArg).Return(func(ctx context.Context, in activities.RunInput) (activities.Outcome, error) {
		try = in.Tries + int(activity.GetInfo(ctx).Attempt)
		return rideAndComplete(ctx, after, in)
	})
	env.ExecuteWorkflow(workflows.Plan, next)
	if report := result(t, env, after); report.Status != opt.PlanCompleted || try != 2 || runs != 2 {
		t.Errorf("try %d, after %d runs, has ended it: %+v", try, runs, report)
	}
}

// Temporal does not repeat an attempt that timed out; the plan begins the next
// attempt.
func TestPlan_timesOut(t *testing.T) {
	env, log := newPlanEnv(t)
	spec := planOf("x")
	spec.Tasks[0].Attempts, spec.Tasks[0].Retry = 2, opt.Retry{Except: []string{"timeout"}}
	env.OnActivity("Run", anyArg, anyArg).Return(activities.Outcome{}, timeout(startToClose))
	env.ExecuteWorkflow(workflows.Plan, planInput(t, spec))
	if report := result(t, env, log); report.Reason != "timeout" || report.Failure != "The task took longer than it may." {
		t.Errorf("the report is %+v", report)
	}
}
