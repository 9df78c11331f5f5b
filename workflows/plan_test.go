package workflows_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/testsuite"

	"longhaul/activities"
	"longhaul/internal/test"
	"longhaul/opt"
	"longhaul/opt/machine"
	"longhaul/workflows"
)

// direct sends the plan a directive after a time.
func direct(env *testsuite.TestWorkflowEnvironment, after time.Duration, d machine.Directive) {
	d.Leaf, d.Start = true, true
	at(env, after, func() { env.SignalWorkflow(workflows.DirectiveSignal, machine.Directed{Directive: d}) })
}

// The last events of a plan ride in its result, for which the objective waits.
func TestPlan_endsWithWhatIsNotRecorded(t *testing.T) {
	env, log := newPlanEnv(t)
	env.ExecuteWorkflow(workflows.Plan, planInput(t, planOf("say one")))
	finished(t, env)
	if log.has("plan-a-1 completed") {
		t.Error("the end was recorded before the objective did it")
	}
	report := result(t, env, log)
	log.want(t, planID, "plan-started", "plan-a-1 working", "task-a-1-0 working", "task-a-1-0 made 1-0-echo", "task-a-1-0 completed", "plan-a-1 completed")
	if report.Status != opt.PlanCompleted || len(report.Results) != 1 {
		t.Errorf("the report is %+v", report)
	}
}

// A plan records all its events if no workflow waits for its result: if it
// reports its end by signal, or if its objective has ended.
func TestPlan_recordsItsEndItself(t *testing.T) {
	for name, tt := range map[string]struct {
		tellEnd bool
		told    error
	}{"by signal": {true, nil}, "alone": {true, errNotThere}} {
		t.Run(name, func(t *testing.T) {
			env, log := newPlanEnv(t)
			told := 0
			log.outside = func(_, _ string, arg any) error {
				if !arg.(machine.Reported).Report.Status.Ended() {
					return tt.told
				}
				if told++; !log.has("plan-a-1 completed") {
					t.Error("the objective gets an end that the journal does not have")
				}
				env.SignalWorkflowSkippingWorkflowTask(workflows.LetterSignal, opt.Letter{ObjectiveID: objectiveID, PlanID: planID, TaskID: taskID, Message: message("late", "x"), Principal: "p"})
				return tt.told
			}
			in := planInput(t, planOf("say one"))
			in.State.First.Directive.ReportEnd = tt.tellEnd
			env.ExecuteWorkflow(workflows.Plan, in)
			finished(t, env)
			var out workflows.PlanResult
			if err := env.GetWorkflowResult(&out); err != nil || len(out.Ride) > 0 || told != 1 {
				t.Errorf("%d batches ride, the end was reported %d times, error %v", len(out.Ride), told, err)
			}
			log.wantHas(t, "plan-a-1 completed", "task-a-1-0 late too-late")
		})
	}
}

// Moves and artifacts of tasks ride in the next activity, which records them before
// its executor is called: they cost no separate request.
func TestPlan_ridesInActivities(t *testing.T) {
	env, log := newPlanEnv(t)
	var names []string
	var rides []int
	env.SetOnActivityStartedListener(func(info *activity.Info, _ context.Context, args converter.EncodedValues) {
		names = append(names, info.ActivityType.Name)
		var in activities.RunInput
		if info.ActivityType.Name == "Run" && args.Get(&in) == nil {
			events := 0
			for _, b := range in.Ride {
				events += len(b.Events)
			}
			rides = append(rides, events)
		}
	})
	env.OnActivity("Run", anyArg, anyArg).Return(func(ctx context.Context, in activities.RunInput) (activities.Outcome, error) {
		return rideAndComplete(ctx, log, in)
	})
	env.ExecuteWorkflow(workflows.Plan, planInput(t, planOf("one", "two", "three")))
	result(t, env, log)
	test.Equal(t, "activities", []string{"Run", "Run", "Run"}, names)
	if diff := cmp.Diff([]int{3, 2, 2}, rides); diff != "" { // first the plan starts, and works
		t.Errorf("events that ride (-want +got):\n%s", diff)
	}
	log.wantHas(t, "task-a-1-0 completed", "task-a-1-1 working", "task-a-1-1 completed", "task-a-1-2 working", "task-a-1-2 completed", "plan-a-1 completed")
}

// rideAndComplete does what Run does, without an executor.
func rideAndComplete(ctx context.Context, log *recording, in activities.RunInput) (activities.Outcome, error) {
	if err := log.Record(ctx, in.Ride...); err != nil {
		return activities.Outcome{}, err
	}
	return activities.Completed(), nil
}

// If no worker takes an activity in which events ride, the worker is lost, or the
// journal refuses them, they are recorded separately and the activity begins again
// without them, as the same attempt. It counts the try that may have begun.
func TestPlan_beginsWithoutWhatRides(t *testing.T) {
	for name, tt := range map[string]struct {
		err   error
		tries int
	}{
		"no worker":   {timeout(scheduleToStart), 0},
		"lost worker": {timeout(heartbeat), 1},
		"no journal":  {journalAway, 1},
	} {
		t.Run(name, func(t *testing.T) {
			env, log := newPlanEnv(t)
			var without []int
			env.OnActivity("Run", anyArg, anyArg).Return(func(ctx context.Context, in activities.RunInput) (activities.Outcome, error) {
				if len(in.Ride) > 0 {
					return activities.Outcome{}, tt.err
				}
				without = append(without, in.Work.Attempt)
				if first := in.Work.TaskID == opt.TaskID(planID, 0); first && in.Tries != tt.tries {
					t.Errorf("%d tries may have begun, want %d", in.Tries, tt.tries)
				}
				return activities.Completed(), nil
			})
			env.ExecuteWorkflow(workflows.Plan, planInput(t, planOf("one", "two")))
			result(t, env, log)
			test.Equal(t, "attempts without what rides", []int{1, 1}, without)
			log.want(t, planID, "plan-started", "plan-a-1 working", "task-a-1-0 working", "task-a-1-0 completed", "task-a-1-1 working", "task-a-1-1 completed", "plan-a-1 completed")
		})
	}
}

// Only an outcome proves that the events that rode are in the journal: after an
// error they are written again, and no number is missing.
func TestPlan_recordsAgainWhatRode(t *testing.T) {
	env, log := newPlanEnv(t)
	env.OnActivity("Run", anyArg, anyArg).Return(func(ctx context.Context, in activities.RunInput) (activities.Outcome, error) {
		if in.Work.TaskID == opt.TaskID(planID, 1) {
			return activities.Outcome{}, failed("busy") // before it recorded anything
		}
		return rideAndComplete(ctx, log, in)
	})
	spec := planOf("one", "two")
	spec.Tasks[1].Attempts, spec.Tasks[1].Retry.Wait = 2, 60
	at(env, 30*time.Second, func() { log.wantHas(t, "task-a-1-0 completed", "task-a-1-1 working") })
	env.ExecuteWorkflow(workflows.Plan, planInput(t, spec))
	if report := result(t, env, log); report.Reason != "busy" {
		t.Errorf("the report is %+v", report)
	}
	log.want(t, planID, "plan-started", "plan-a-1 working", "task-a-1-0 working", "task-a-1-0 completed", "task-a-1-1 working", "task-a-1-1 tried 1.2", "task-a-1-1 failed busy", "plan-a-1 failed busy")
}

// Running activities are canceled, and the plan waits for their end. Tasks that
// have not begun end at once.
func TestPlan_stops(t *testing.T) {
	env, log := newPlanEnv(t)
	onActivity(env, "Run", func() {
		env.SignalWorkflow(workflows.DirectiveSignal, machine.Directed{Directive: machine.Directive{N: 2, Start: true, Stop: opt.Replanned, Leaf: true}})
	})
	env.ExecuteWorkflow(workflows.Plan, planInput(t, planOf("work 1h", "say never")))
	if report := result(t, env, log); report.Status != opt.PlanFailed && report.Status != opt.PlanSkipped {
		t.Errorf("the report is %+v", report)
	}
	log.wantHas(t, "plan-stopping plan-a-1 replanned", "task-a-1-0 canceled canceled")
	if log.has("task-a-1-1 working") {
		t.Error("a task began after the stop")
	}
}

// A plan workflow that an operator cancels stops like one that its objective stops, and has
// failed.
func TestPlan_isCanceled(t *testing.T) {
	env, log := newPlanEnv(t)
	onActivity(env, "Run", env.CancelWorkflow)
	env.ExecuteWorkflow(workflows.Plan, planInput(t, planOf("work 1h", "say never")))
	result(t, env, log)
	log.wantHas(t, "plan-stopping plan-a-1 plan-canceled", "task-a-1-0 canceled canceled", "plan-a-1 failed canceled")
}

// A run waits for the end of its activities before it continues as new, and
// begins no other; the next run does.
func TestPlan_continuesAsNewBetweenTasks(t *testing.T) {
	env, log := newPlanEnv(t)
	onActivity(env, "Run", func() { env.SetContinueAsNewSuggested(true) })
	env.ExecuteWorkflow(workflows.Plan, planInput(t, planOf("say one", "say two", "say three")))
	next := continued[workflows.PlanInput](t, env)
	log.wantHas(t, "task-a-1-0 completed", "task-a-1-1 completed")
	if log.has("task-a-1-2 working") || log.numbers[planID] != next.State.N {
		t.Errorf("%d events were decided, of which these are recorded:\n%v", next.State.N, log.lines)
	}

	env, after := newPlanEnv(t)
	after.numbers = log.numbers
	env.ExecuteWorkflow(workflows.Plan, next)
	result(t, env, after)
	after.want(t, planID, "task-a-1-2 working", "task-a-1-2 made 1-2-echo", "task-a-1-2 completed", "plan-a-1 completed")
}

// A task gets the results of its dependencies, and of the other tasks that it
// names.
func TestPlan_handsResultsOn(t *testing.T) {
	env, log := newPlanEnv(t)
	text := func(pieces ...activities.Piece) []byte {
		data := test.Value(activities.Text(pieces).MarshalJSON())(t)
		return data
	}
	spec := planOf("say Tea is old.", "say Tea is hot.", "pass", "", "")
	tasks := spec.Tasks
	tasks[3].Uses, tasks[3].Input = []string{"task-0"}, text(activities.Piece{Literal: "Known: "}, activities.Piece{Results: "task-0"}, activities.Piece{Literal: ` {"longhaul/v1/text":[]}`})
	tasks[4].Uses, tasks[4].Input = []string{"task-3", "task-1", "task-2"}, text(activities.Piece{Results: activities.AllResults})
	env.ExecuteWorkflow(workflows.Plan, planInput(t, spec))
	result(t, env, log)
	made := map[string]string{}
	for _, e := range log.events {
		if e.Kind == opt.ArtifactAdded {
			made[e.TaskID[len(e.TaskID)-3:]] = e.Chunk.Artifact.Text()
		}
	}
	want := map[string]string{"1-0": "Tea is old.", "1-1": "Tea is hot."}
	want["1-3"] = "Task 4\nKnown: Tea is old. {\"longhaul/v1/text\":[]}\n· Task 2\n· Task 1"
	want["1-4"] = "Task 5\n" + want["1-3"] + "\nTea is hot.\n· Task 4\n· Task 2"
	test.Equal(t, "artifacts", want, made)
}

// While the journal cannot be reached, a plan continues with its tasks and loses
// no event.
func TestPlan_waitsForTheJournal(t *testing.T) {
	env, log := newPlanEnv(t)
	failures := 60
	log.fail = func(opt.Batch) error {
		if failures--; failures >= 0 {
			return errors.New("the journal is down")
		}
		return nil
	}
	env.ExecuteWorkflow(workflows.Plan, planInput(t, planOf("say one", "say two", "say three")))
	if report := result(t, env, log); report.Status != opt.PlanCompleted {
		t.Errorf("the report is %+v", report)
	}
	log.wantHas(t, "task-a-1-0 completed", "task-a-1-1 completed", "task-a-1-2 completed", "plan-a-1 completed")
}
