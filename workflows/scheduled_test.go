package workflows_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/workflow"

	"longhaul/a2a"
	"longhaul/activities"
	"longhaul/internal/test"
	"longhaul/opt"
	"longhaul/opt/shown"
	"longhaul/opt/timetable"
	"longhaul/workflows"
)

// An office starts objectives for schedules, and knows whether they have ended.
type office struct {
	mu     sync.Mutex
	log    []string
	fail   []error // of the next calls of BeginScheduled; nil succeeds
	ended  bool
	awaits int // looks at the journal after which the objective ends by itself; 0 for never
}

func (o *office) note(format string, args ...any) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.log = append(o.log, fmt.Sprintf(format, args...))
}

func (o *office) BeginScheduled(_ context.Context, run timetable.ScheduledRun) (string, error) {
	o.note("begin %s for %s", run.Schedule.ID, run.At)
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.fail) > 0 {
		err := o.fail[0]
		o.fail = o.fail[1:]
		return "", err
	}
	return objectiveID, nil
}

func (o *office) CancelScheduled(_ context.Context, run timetable.ScheduledRun) error {
	o.note("cancel %s for %s", run.Schedule.ID, run.At)
	o.mu.Lock()
	defer o.mu.Unlock()
	o.ended = true
	return nil
}

func (o *office) Task(context.Context, string, string, shown.TaskWant) (shown.TaskView, error) {
	return shown.TaskView{}, errors.New("not asked for")
}

func (o *office) Peek(_ context.Context, tenant, id string) (opt.TaskState, int64, error) {
	o.note("look at %s of %s", id, tenant)
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.awaits--; o.ended || o.awaits == 0 {
		return opt.TaskCompleted, 1, nil
	}
	return opt.TaskWorking, 1, nil
}

// changes says at once that something has changed.
type changes chan struct{}

func (c changes) C() <-chan struct{} { return c }
func (changes) Close()               {}

func watchNothing(string) activities.Watch {
	c := make(changes)
	close(c)
	return c
}

// scheduled runs the workflow for a time of a schedule, and returns its result.
func scheduled(t *testing.T, o *office, change func(s *timetable.Schedule), while func(env *testsuite.TestWorkflowEnvironment)) (workflows.ScheduledResult, error) {
	t.Helper()
	var suite testsuite.WorkflowTestSuite
	suite.SetLogger(discard)
	env := suite.NewTestWorkflowEnvironment()
	patient(env)
	env.SetStartTime(began)
	env.SetStartWorkflowOptions(client.StartWorkflowOptions{ID: "longhaul/acme/nightly-2026-03-01T02:00:00Z", TaskQueue: workflows.TaskQueue})
	env.RegisterWorkflowWithOptions(workflows.Scheduled, workflow.RegisterOptions{Name: workflows.ScheduledWorkflow})
	env.RegisterActivity(activities.NewSchedules(activities.ScheduleConfig{Starter: o, Tasks: o, Watch: watchNothing}))
	s := timetable.Schedule{
		ID: "nightly", Tenant: "acme", Principal: "ann", Text: "Write", Overlap: timetable.OverlapSkip, CatchUp: timetable.DefaultCatchUp, CreatedAt: a2a.At(began),
	}
	change(&s)
	while(env)
	env.ExecuteWorkflow(workflows.Scheduled, workflows.ScheduledInput{Schedule: s})
	var out workflows.ScheduledResult
	if !env.IsWorkflowCompleted() {
		t.Fatal("the workflow has not ended")
	}
	return out, errors.Join(env.GetWorkflowError(), resultOf(env, &out))
}

func resultOf(env *testsuite.TestWorkflowEnvironment, out *workflows.ScheduledResult) error {
	if env.GetWorkflowError() != nil {
		return nil
	}
	return env.GetWorkflowResult(out)
}

const (
	beginLine = "begin nightly for 2026-03-01T02:00:00Z"
	lookLine  = "look at " + objectiveID + " of acme"
)

func nothing(*testsuite.TestWorkflowEnvironment) {}
func asItIs(*timetable.Schedule)                 {}

// The workflow starts the objective for the time in its id, and lasts until the
// objective has ended.
func TestScheduled(t *testing.T) {
	o := &office{awaits: 3}
	out, err := scheduled(t, o, asItIs, nothing)
	if err != nil || out.ObjectiveID != objectiveID {
		t.Errorf("result %+v, error %v", out, err)
	}
	test.Equal(t, "calls", []string{beginLine, lookLine, lookLine, lookLine}, o.log)
}

// A run of a schedule that allows overlaps waits as well: a backfill or a trigger with another
// policy may wait for its end. Since many may wait at a time, their heartbeats are rare.
func TestScheduled_allowsOverlaps(t *testing.T) {
	o := &office{awaits: 2}
	beats := map[string]time.Duration{}
	out, err := scheduled(t, o, func(s *timetable.Schedule) { s.Overlap = timetable.OverlapAllow }, func(env *testsuite.TestWorkflowEnvironment) {
		env.SetOnActivityStartedListener(func(info *activity.Info, _ context.Context, _ converter.EncodedValues) {
			beats[info.ActivityType.Name] = info.HeartbeatTimeout
		})
	})
	if err != nil || out.ObjectiveID != objectiveID {
		t.Errorf("result %+v, error %v", out, err)
	}
	test.Equal(t, "calls", []string{beginLine, lookLine, lookLine}, o.log)
	if beats["AwaitObjective"] < 10*beats["BeginObjective"] {
		t.Errorf("timeouts of heartbeats: %v", beats)
	}
}

// A failed start is repeated; one that is refused is not.
func TestScheduled_repeatsStart(t *testing.T) {
	o := &office{awaits: 1, fail: []error{opt.ErrUnavailable, errors.New("no luck")}}
	test.Error(t, "the call", nil, test.Err(scheduled(t, o, asItIs, nothing)))
	test.Equal(t, "calls", []string{beginLine, beginLine, beginLine, lookLine}, o.log)

	o = &office{fail: []error{fmt.Errorf("%w: no such context", activities.ErrRefused)}}
	_, err := scheduled(t, o, asItIs, nothing)
	var why *temporal.ApplicationError
	if !errors.As(err, &why) || why.Message() != "refused: no such context" {
		t.Errorf("error %v", err)
	}
	test.Equal(t, "calls", []string{beginLine}, o.log)
}

// A start that does not succeed within the catch-up of the schedule is not repeated any more.
func TestScheduled_givesUp(t *testing.T) {
	o := &office{}
	for range 100 {
		o.fail = append(o.fail, opt.ErrUnavailable)
	}
	_, err := scheduled(t, o, func(s *timetable.Schedule) { s.CatchUp = 60 }, nothing)
	if err == nil || len(o.log) < 3 || len(o.log) > 8 {
		t.Errorf("%d calls within a minute, error %v", len(o.log), err)
	}
}

// A canceled workflow cancels its objective, and lasts until that has ended.
func TestScheduled_cancels(t *testing.T) {
	o := &office{}
	_, err := scheduled(t, o, asItIs, func(env *testsuite.TestWorkflowEnvironment) {
		env.RegisterDelayedCallback(env.CancelWorkflow, 0)
	})
	if !temporal.IsCanceledError(err) {
		t.Errorf("error %v, want a cancellation", err)
	}
	if len(o.log) < 3 || o.log[0] != beginLine {
		t.Fatalf("calls: %q", o.log)
	}
	canceled := 0
	for _, line := range o.log {
		if line == "cancel nightly for 2026-03-01T02:00:00Z" {
			canceled++
		}
	}
	if canceled != 1 || o.log[len(o.log)-1] != lookLine {
		t.Errorf("calls: %q", o.log)
	}
}
