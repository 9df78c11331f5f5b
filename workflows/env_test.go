package workflows_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/log"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/workflow"

	"longhaul/a2a"
	"longhaul/activities"
	"longhaul/activities/echo"
	"longhaul/opt"
	"longhaul/workflows"
)

var began = time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)

const (
	objectiveID = "obj-aaaaaaaaaaaaaaaaaaaaaaaaaa"
	planID      = "plan-aaaaaaaaaaaaaaaaaaaaaaaaaa-1"
)

// newEnv returns Temporal's test environment, in which hours cost nothing, with
// the real workflows, the echo executor, and a log in place of the journal.
func newEnv(t *testing.T) (*testsuite.TestWorkflowEnvironment, *recording) {
	t.Helper()
	var suite testsuite.WorkflowTestSuite
	suite.SetLogger(discard)
	env := suite.NewTestWorkflowEnvironment()
	env.SetStartWorkflowOptions(startOptions(objectiveID))
	env.SetTestTimeout(20 * time.Second)
	env.SetStartTime(began)
	journal := &recording{numbers: map[string]int64{}, sources: map[string][]string{}}
	journal.more = sync.NewCond(&journal.mu)
	env.RegisterWorkflowWithOptions(workflows.Objective, workflow.RegisterOptions{Name: workflows.ObjectiveWorkflow})
	env.RegisterWorkflowWithOptions(workflows.Plan, workflow.RegisterOptions{Name: workflows.PlanWorkflow})
	env.RegisterActivity(activities.New(activities.Config{
		Executors: map[string]activities.Executor{"echo": echo.Executor{}, "proud": proud{}}, Default: "echo", Planner: onePlan{}, Recorder: journal,
	}))
	return env, journal
}

// opening returns the request for an objective with plans of one task each a
// script; tasks of a plan are separated by "|".
func opening(plans ...string) opt.Opening {
	at := a2a.At(began)
	request := message("m1", "please")
	o := opt.Opening{
		Objective: opt.Objective{
			ID: objectiveID, ContextID: objectiveID, Tenant: "t", Principal: "p", Name: "Test", Status: opt.ObjectiveSubmitted,
			Root: opt.TaskSubmitted, CreatedAt: at, UpdatedAt: at, Attempt: 1, Revision: 1, MessageID: "m1",
		},
		Message: &request,
	}
	for i, p := range plans {
		spec := opt.PlanSpec{Name: fmt.Sprintf("Plan %d", i+1)}
		for j, script := range strings.Split(p, "|") {
			spec.Tasks = append(spec.Tasks, opt.TaskSpec{Name: fmt.Sprintf("Task %d", j+1), Description: script})
		}
		o.Plans = append(o.Plans, spec)
	}
	return o
}

// A proud executor does nothing for anybody.
type proud struct{}

func (proud) Execute(context.Context, activities.Work, activities.Stream) (activities.Outcome, error) {
	return activities.Rejected("beneath-me", "Ask somebody else."), nil
}

// onePlan plans one task that echoes the message.
type onePlan struct{}

func (onePlan) Plan(_ context.Context, r activities.Request) (activities.Planned, error) {
	text := r.Message.Text()
	if text == "impossible" {
		return activities.Planned{}, fmt.Errorf("that cannot be done: %w", activities.ErrNoPlan)
	}
	plan := opt.PlanSpec{Name: "Planned", Tasks: []opt.TaskSpec{{Name: "Answer", Description: "say " + text}}}
	return activities.Planned{Plans: []opt.PlanSpec{plan}, Planner: "one plan"}, nil
}

// A recording keeps what the journal would have, as lines.
type recording struct {
	mu      sync.Mutex
	lines   []string
	sources map[string][]string // the lines of each source; between two there is no order
	numbers map[string]int64    // last number of each source
	events  []opt.Event
	fail    func(b opt.Batch) error
	more    *sync.Cond // lines were recorded
}

func (r *recording) Record(_ context.Context, batches ...opt.Batch) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	defer r.more.Broadcast()
	for _, b := range batches {
		if err := r.record(b); err != nil {
			return err
		}
	}
	return nil
}

func (r *recording) record(b opt.Batch) error {
	if r.fail != nil {
		if err := r.fail(b); err != nil {
			return err
		}
	}
	for _, e := range b.Events {
		if e.N <= r.numbers[b.Source] {
			continue
		}
		if e.N != r.numbers[b.Source]+1 {
			return fmt.Errorf("gap before event %d of %s", e.N, b.Source)
		}
		r.numbers[b.Source] = e.N
		r.events = append(r.events, e)
		r.lines = append(r.lines, line(e))
		r.sources[b.Source] = append(r.sources[b.Source], line(e))
	}
	return nil
}

// line writes an event the way a person would note it down.
func line(e opt.Event) string {
	short := func(id string) string {
		id = strings.ReplaceAll(id, "aaaaaaaaaaaaaaaaaaaaaaaaaa", "a")
		return id
	}
	switch e.Kind {
	case opt.ObjectiveOpened:
		return "opened"
	case opt.ObjectiveMoved:
		return strings.TrimSpace("objective " + e.To + " " + e.Reason)
	case opt.ObjectiveStopping, opt.PlanStopping:
		return strings.TrimSpace(strings.TrimSpace(string(e.Kind)+" "+short(e.PlanID)) + " " + e.Reason)
	case opt.PlanAdded:
		return "added " + short(e.PlanID)
	case opt.PlanMoved:
		return strings.TrimSpace(short(e.PlanID) + " " + e.To + " " + e.Reason)
	case opt.TaskMoved:
		return strings.TrimSpace(short(e.TaskID) + " " + e.To + " " + e.Reason)
	case opt.ArtifactAdded:
		return short(e.TaskID) + " made " + e.Chunk.Artifact.ArtifactID
	case opt.MessageAdded:
		return short(e.TaskID) + " " + e.Message.MessageID + " " + string(e.Verdict)
	}
	return string(e.Kind)
}

// want compares what a workflow has recorded.
func (r *recording) want(t *testing.T, source string, want ...string) {
	t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	if diff := cmp.Diff(want, r.sources[source]); diff != "" {
		t.Errorf("events of "+source+" mismatch (-want +got):\n%s", diff)
	}
}

func finished(t *testing.T, env *testsuite.TestWorkflowEnvironment) {
	t.Helper()
	if !env.IsWorkflowCompleted() {
		t.Fatal("the workflow did not end")
	}
	if err := env.GetWorkflowError(); err != nil {
		t.Fatalf("the workflow failed: %v", err)
	}
}

func message(id, text string) a2a.Message {
	return a2a.Message{MessageID: id, Role: a2a.RoleUser, Parts: []a2a.Part{a2a.TextPart(text)}}
}

func startOptions(workflowID string) client.StartWorkflowOptions {
	return client.StartWorkflowOptions{ID: workflowID, TaskQueue: workflows.TaskQueue}
}

var discard = log.NewStructuredLogger(slog.New(slog.DiscardHandler))

const anyArg = "mock.Anything" // how the environment spells any argument

// has reports whether a line was recorded.
func (r *recording) has(line string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Contains(r.lines, line)
}

// await waits until a line was recorded.
func (r *recording) await(line string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for !slices.Contains(r.lines, line) {
		r.more.Wait()
	}
}

// continued returns the input with which the workflow goes on as a new run.
func continued[T any](t *testing.T, env *testsuite.TestWorkflowEnvironment) T {
	t.Helper()
	var again *workflow.ContinueAsNewError
	if !errors.As(env.GetWorkflowError(), &again) {
		t.Fatalf("the workflow did not continue as new: %v", env.GetWorkflowError())
	}
	var in T
	if err := converter.GetDefaultDataConverter().FromPayloads(again.Input, &in); err != nil {
		t.Fatal(err)
	}
	return in
}
