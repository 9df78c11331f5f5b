package workflows_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/log"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"longhaul/a2a"
	"longhaul/activities"
	"longhaul/activities/echo"
	"longhaul/activities/elsewhere"
	"longhaul/internal/test"
	"longhaul/opt"
	"longhaul/opt/machine"
	"longhaul/workflows"
)

var began = time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)

const (
	objectiveID = "obj-aaaaaaaaaaaaaaaaaaaaaaaaaa"
	planID      = "plan-aaaaaaaaaaaaaaaaaaaaaaaaaa-1"
)

// newEnv returns Temporal's test environment, in which time is simulated, with
// the real workflows, the echo executor, and a log in place of the journal.
func newEnv(t *testing.T) (*testsuite.TestWorkflowEnvironment, *recording) {
	t.Helper()
	return newEnvWith(t, workflows.Plan)
}

// newEnvWith is newEnv with another workflow for plans.
func newEnvWith(t *testing.T, plan any) (*testsuite.TestWorkflowEnvironment, *recording) {
	t.Helper()
	var suite testsuite.WorkflowTestSuite
	suite.SetLogger(discard)
	journal := &recording{numbers: map[string]int64{}, sources: map[string][]string{}}
	suite.SetMetricsHandler(meter{client.MetricsNopHandler, journal})
	env := suite.NewTestWorkflowEnvironment()
	patient(env)
	env.SetStartWorkflowOptions(startOptions(objectiveID))
	env.SetStartTime(began)
	env.RegisterWorkflowWithOptions(workflows.Objective, workflow.RegisterOptions{Name: workflows.ObjectiveWorkflow})
	env.RegisterWorkflowWithOptions(plan, workflow.RegisterOptions{Name: workflows.PlanWorkflow})
	env.RegisterWorkflowWithOptions(workflows.Context, workflow.RegisterOptions{Name: workflows.ContextWorkflow})
	env.RegisterActivity(activities.New(activities.Config{
		Executors: map[string]activities.Executor{"echo": echo.Executor{}, "counter": counter{}, elsewhere.Kind: elsewhere.Executor{}}, Default: "echo", Planner: onePlan{},
		Recorder: journal, Kept: journal, Reporter: journal, Floors: journal,
	}))
	journal.outside = func(id, signal string, arg any) error {
		if id != objectiveID {
			return errNotThere
		}
		env.SignalWorkflow(signal, arg)
		return nil
	}
	env.OnSignalExternalWorkflow(anyArg, anyArg, anyArg, anyArg, anyArg).Return(func(_, id, _, signal string, arg any) error {
		return journal.outside(id, signal, arg)
	}).Maybe()
	return env, journal
}

// meter counts the signals that were skipped, and the payloads that workers could not read.
type meter struct {
	client.MetricsHandler
	*recording
}

func (c meter) WithTags(map[string]string) client.MetricsHandler { return c }

func (c meter) Counter(name string) client.MetricsCounter {
	switch name {
	case "longhaul_skipped_signals":
		return counted{&c.skipped}
	case "longhaul_unreadable_payloads":
		return counted{&c.unreadable}
	}
	return c.MetricsHandler.Counter(name)
}

type counted struct{ n *atomic.Int64 }

func (c counted) Inc(n int64) { c.n.Add(n) }

var errNotThere error = &temporal.UnknownExternalWorkflowExecutionError{}

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

// onePlan plans one task that echoes the message.
type onePlan struct{}

func (onePlan) Plan(_ context.Context, r activities.Request) (activities.Planned, error) {
	if r.Keep {
		return activities.Planned{}, nil
	}
	text := r.Message.Text()
	if text == "impossible" {
		return activities.Planned{Usage: &opt.Usage{Input: 7}}, fmt.Errorf("that cannot be done: %w", activities.ErrNoPlan)
	}
	plan := opt.PlanSpec{Name: "Planned", Tasks: []opt.TaskSpec{{Name: "Answer", Description: "say " + text}}}
	return activities.Planned{Plans: []opt.PlanSpec{plan}, Planner: "one plan"}, nil
}

// A recording keeps what the journal would have, as lines.
type recording struct {
	mu         sync.Mutex
	lines      []string
	sources    map[string][]string // the lines of each source; between two there is no order
	numbers    map[string]int64    // last number of each source
	events     []opt.Event
	fail       func(b opt.Batch) error
	kept       *opt.Kept                              // of the former attempt
	gone       map[string]bool                        // plans whose workflows an operator has ended
	outside    func(id, signal string, arg any) error // receives signals to workflows that are not children
	skipped    atomic.Int64                           // signals, by the metric
	unreadable atomic.Int64                           // payloads, by the metric
}

// Kept implements activities.KeptReader.
func (r *recording) Kept(context.Context, string, string) (opt.Kept, error) {
	if r.kept == nil {
		return opt.Kept{}, opt.ErrUnknown
	}
	return *r.kept, nil
}

func (r *recording) Record(_ context.Context, batches ...opt.Batch) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, b := range batches {
		if err := r.record(b); err != nil {
			return err
		}
	}
	return nil
}

// Report implements activities.Reporter.
func (r *recording) Report(_ context.Context, objectiveID, planID string, report opt.Report) error {
	err := r.outside(objectiveID, workflows.ReportSignal, machine.Reported{PlanID: planID, Report: report})
	if errors.Is(err, errNotThere) {
		return opt.ErrEnded
	}
	return err
}

// Gone implements activities.Reporter.
func (r *recording) Gone(_ context.Context, planID string) (bool, error) { return r.gone[planID], nil }

// Ask implements activities.Reporter.
func (r *recording) Ask(_ context.Context, a activities.Asking) error {
	var in machine.TurnRequest
	if err := json.Unmarshal(a.Request, &in); err != nil {
		return err
	}
	return r.outside(a.ContextID, workflows.RequestSignal, in)
}

// Floor implements activities.FloorReader: there are no others.
func (r *recording) Floor(context.Context, string, string) (begun, waiting []string, err error) {
	return nil, nil, nil
}

func (r *recording) record(b opt.Batch) error {
	if r.fail != nil {
		if err := r.fail(b); err != nil {
			return err
		}
	}
	for _, e := range b.Events {
		if _, known := r.numbers[b.Source]; !known && e.Kind == opt.SourceRewound {
			r.numbers[b.Source] = e.N - 1
		}
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

// line writes an event as a short line.
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
	case opt.CommandAnswered:
		out := "answered " + e.Answer.CommandID
		switch {
		case e.Answer.Refusal != nil:
			out += " refused " + string(e.Answer.Refusal.Code)
		case e.Answer.Unchanged:
			out += " unchanged"
		case len(e.Answer.Waiting) > 0:
			out += " waiting"
		}
		return out
	case opt.PlanStarted, opt.PlanPaused, opt.PlanResumed, opt.PlanRetried:
		return strings.TrimSpace(string(e.Kind) + " " + e.Reason)
	case opt.TaskTried:
		return fmt.Sprintf("%s tried %d.%d", short(e.TaskID), e.Round, e.Attempt)
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

const anyArg = "mock.Anything" // how the environment names any argument

// has reports whether a line was recorded.
func (r *recording) has(line string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Contains(r.lines, line)
}

// continued returns the input with which the workflow continues as new.
func continued[T any](t *testing.T, env *testsuite.TestWorkflowEnvironment) T {
	t.Helper()
	var again *workflow.ContinueAsNewError
	if !errors.As(env.GetWorkflowError(), &again) {
		t.Fatalf("the workflow did not continue as new: %v", env.GetWorkflowError())
	}
	var in T
	test.OK(t, converter.GetDefaultDataConverter().FromPayloads(again.Input, &in))
	return in
}

// at calls f when the workflow has run for a time.
func at(env *testsuite.TestWorkflowEnvironment, after time.Duration, f func()) {
	env.RegisterDelayedCallback(f, after)
}

// command sends the objective a command when it has run for a time. Its id is
// name.
func command(env *testsuite.TestWorkflowEnvironment, after time.Duration, name string, c opt.Command) {
	c.ID, c.ObjectiveID, c.Principal, c.Digest = name, objectiveID, "p", name
	at(env, after, func() { env.SignalWorkflow(workflows.CommandSignal, c) })
}

func statusCommand(to opt.ObjectiveStatus) opt.Command {
	return opt.Command{Kind: opt.UpdateObjective, Status: string(to)}
}

func moveCommand(taskID string, to opt.TaskState) opt.Command {
	ref, _ := opt.ParseID(taskID)
	return opt.Command{Kind: opt.MoveTask, PlanID: ref.PlanID, TaskID: taskID, Status: string(to)}
}

// letter answers a gate of the first plan.
func letter(messageID string, reply opt.Reply) opt.Letter {
	return opt.Letter{
		ObjectiveID: objectiveID, PlanID: planID, TaskID: objectiveID, ForTask: reply.GateID[:len(reply.GateID)-2], Principal: "p",
		Message: message(messageID, "here"), Reply: &reply,
	}
}

// note says something to the root task.
func note(messageID string) opt.Letter {
	return opt.Letter{ObjectiveID: objectiveID, TaskID: objectiveID, Message: message(messageID, "by the way"), Principal: "p"}
}

// unplanned returns the request for an objective that waits for plans and a start.
func unplanned() opt.Opening {
	o := opening()
	o.Idle, o.Message = true, nil
	return o
}

func planOf(scripts ...string) opt.PlanSpec {
	spec := opt.PlanSpec{Name: "Plan"}
	for i, script := range scripts {
		spec.Tasks = append(spec.Tasks, opt.TaskSpec{Name: fmt.Sprintf("Task %d", i+1), Description: script})
	}
	return spec
}

// newPlanEnv returns an environment for one plan, whose objective accepts all
// reports.
func newPlanEnv(t *testing.T) (*testsuite.TestWorkflowEnvironment, *recording) {
	t.Helper()
	env, log := newEnv(t)
	env.SetStartWorkflowOptions(startOptions(planID))
	log.outside = func(string, string, any) error { return nil }
	return env, log
}

// planInput returns the input of a plan that is started.
func planInput(t *testing.T, spec opt.PlanSpec) workflows.PlanInput {
	t.Helper()
	o := &opt.Objective{ID: objectiveID, Attempt: 1}
	plan := test.Value(o.NewPlan(spec, a2a.At(began)))(t)
	return workflows.PlanInput{State: machine.PlanState{
		Rules: machine.Rules, Plan: *plan, Tenant: "t", ContextID: objectiveID, RootID: objectiveID, Objective: "Test",
		First: &machine.Directed{Directive: machine.Directive{N: 1, Start: true, Leaf: true}},
	}}
}

// result returns what a plan ended with, and records what rides in it, as its
// objective would.
func result(t *testing.T, env *testsuite.TestWorkflowEnvironment, log *recording) opt.Report {
	t.Helper()
	var out workflows.PlanResult
	if err := env.GetWorkflowError(); err != nil {
		var ok bool
		if out, ok = workflows.ResultOf(err); !ok {
			t.Fatalf("the plan has no result: %v", err)
		}
	} else if err := env.GetWorkflowResult(&out); err != nil {
		t.Fatal(err)
	}
	test.OK(t, log.Record(t.Context(), out.Ride...))
	return out.Report
}

// onActivity calls f when an activity of a name begins for the first time.
func onActivity(env *testsuite.TestWorkflowEnvironment, name string, f func()) {
	env.SetOnActivityStartedListener(func(info *activity.Info, _ context.Context, _ converter.EncodedValues) {
		if info.ActivityType.Name == name && f != nil {
			f()
			f = nil
		}
	})
}

// wantHas checks that lines were recorded, in this order among others.
func (r *recording) wantHas(t *testing.T, lines ...string) {
	t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	rest := r.lines
	for _, want := range lines {
		i := slices.Index(rest, want)
		if i < 0 {
			t.Errorf("%q is missing, or comes too early, in\n%s", want, strings.Join(r.lines, "\n"))
			return
		}
		rest = rest[i+1:]
	}
}

// moves returns the moves of a task, in order.
func (r *recording) moves(taskID string) []opt.Event {
	r.mu.Lock()
	defer r.mu.Unlock()
	var out []opt.Event
	for _, e := range r.events {
		if e.Kind == opt.TaskMoved && e.TaskID == taskID {
			out = append(out, e)
		}
	}
	return out
}

const (
	day      = 24 * time.Hour
	taskID   = "task-aaaaaaaaaaaaaaaaaaaaaaaaaa-1-0"
	taskGate = taskID + ":1"
)

// patient has a test wait as long as a busy machine needs: Temporal's own limits are seconds of the
// machine's time, not of the workflow's.
func patient(env *testsuite.TestWorkflowEnvironment) {
	env.SetTestTimeout(time.Minute)
	env.SetWorkerOptions(worker.Options{DeadlockDetectionTimeout: time.Minute})
}
