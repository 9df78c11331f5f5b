package workflows_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"longhaul/activities"
	"longhaul/opt"
	"longhaul/workflows"
)

// A task says how its attempts follow on each other, and after which errors there
// is none. The last error is the reason.
func TestPlan_retries(t *testing.T) {
	busy := func(attempt, times int) string {
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
		"as ever":                         {script: "fail 2; say Done", attempt: 3, took: 3 * time.Second},
		"used up":                         {script: "fail 3", reason: "failed", text: busy(3, 3), attempt: 3, took: 3 * time.Second},
		"used up by errors with a code":   {script: "fail 3 busy", reason: "busy", text: busy(3, 3), attempt: 3, took: 3 * time.Second},
		"attempts of its own":             {script: "fail 5 busy", attempts: 2, reason: "busy", text: busy(2, 5), attempt: 2, took: time.Second},
		"exception":                       {script: "fail 3 busy", retry: opt.Retry{Except: []string{"bad-input", "busy"}}, reason: "busy", text: busy(1, 3), attempt: 1},
		"other exception":                 {script: "fail 1 busy; say Done", retry: opt.Retry{Except: []string{"bus", "failed"}}, attempt: 2, took: time.Second},
		"no error without a code":         {script: "fail 1", retry: opt.Retry{Except: []string{"failed"}}, reason: "failed", text: busy(1, 1), attempt: 1},
		"no panic":                        {script: "panic", retry: opt.Retry{Except: []string{"failed"}}, reason: "failed", text: "The task stopped unexpectedly.", attempt: 1},
		"wait":                            {script: "fail 2", retry: opt.Retry{Wait: 10}, attempt: 3, took: 30 * time.Second},
		"a long wait":                     {script: "fail 3", attempts: 4, retry: opt.Retry{Wait: 120}, attempt: 4, took: 6 * time.Minute},
		"the default wait has an end":     {script: "fail 8", attempts: 9, attempt: 9, took: (1 + 2 + 4 + 8 + 16 + 32 + 60 + 60) * time.Second},
		"an outcome is no error":          {script: "fail", reason: "told-to", text: "The task was told to fail.", attempt: 1},
		"an outcome in a later attempt":   {script: "fail 1; fail", reason: "told-to", text: "The task was told to fail.", attempt: 2, took: time.Second},
		"a code that Temporal has itself": {script: "fail 1 timeout", retry: opt.Retry{Except: []string{"timeout"}}, reason: "timeout", text: busy(1, 1), attempt: 1},
	} {
		t.Run(name, func(t *testing.T) {
			env, log := newEnv(t)
			o := opening(tt.script)
			o.Plans[0].Tasks[0].Attempts, o.Plans[0].Tasks[0].Retry = tt.attempts, tt.retry
			env.ExecuteWorkflow(workflows.Objective, workflows.ObjectiveInput{Opening: o})
			if failed := env.GetWorkflowError() != nil; !env.IsWorkflowCompleted() || failed != (tt.reason != "") {
				t.Fatalf("the workflow came to %v", env.GetWorkflowError())
			}
			end := log.moves(opt.TaskID(planID, 0))
			last := end[len(end)-1]
			text := ""
			if last.Status != nil {
				text = last.Status.Text()
			}
			if last.Reason != tt.reason || text != tt.text || last.Attempt != tt.attempt || (last.To == "completed") != (tt.reason == "") {
				t.Errorf("%s for %q, %q, at attempt %d", last.To, last.Reason, text, last.Attempt)
			}
			if took := last.At.Time().Sub(end[0].At.Time()); took != tt.took {
				t.Errorf("it took %v, want %v", took, tt.took)
			}
		})
	}
}

// Whoever watches sees which attempt runs: the first of a round by the move that
// begins it, the others by an event of their own.
func TestPlan_showsAttempts(t *testing.T) {
	env, log := newEnv(t)
	env.RegisterDelayedCallback(func() {
		env.SignalWorkflowByID(planID, workflows.LetterSignal, letter("r1", opt.Reply{GateID: personGate, Action: opt.Accept}))
	}, time.Hour)
	o := opening("fail 1; approve Go on?; fail 4; say Done|approve Sure?")
	o.Plans[0].Tasks[0].Attempts = 5
	o.Plans[0].Tasks[1].Ask = &opt.Gate{Kind: opt.Approval, Title: "Sure?", Actions: []opt.Action{opt.Accept}}
	env.RegisterDelayedCallback(func() {
		env.SignalWorkflowByID(planID, workflows.LetterSignal, letter("r2", opt.Reply{GateID: opt.GateID(opt.TaskID(planID, 1), 1), Action: opt.Accept}))
	}, 2*time.Hour)
	env.ExecuteWorkflow(workflows.Objective, workflows.ObjectiveInput{Opening: o})
	finished(t, env)
	var got []string
	for _, e := range log.events {
		if (e.Kind == opt.TaskMoved || e.Kind == opt.TaskTried) && e.PlanID != "" {
			got = append(got, fmt.Sprintf("%s %s %d", e.TaskID[len(e.TaskID)-3:], e.To, e.Attempt))
		}
	}
	want := []string{
		"1-0 working 1", "1-0 working 2", "1-0 input-required 0", "1-0 working 3", "1-0 working 4", "1-0 working 5", "1-0 completed 5",
		"1-1 working 0", "1-1 input-required 0", "1-1 working 0", "1-1 completed 0",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("moves and attempts (-want +got):\n%s", diff)
	}
}

// A task gets what it builds on, and what it names beside that.
func TestPlan_inputHasEarlierResults(t *testing.T) {
	env, log := newEnv(t)
	o := opening("say Tea is old.|say Tea is hot.|pass|x|x")
	tasks := o.Plans[0].Tasks
	text := func(pieces ...activities.Piece) []byte {
		data, err := activities.Text(pieces).MarshalJSON()
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	tasks[3].Description, tasks[3].Uses = "", []string{"task-0"}
	tasks[3].Input = text(activities.Piece{Literal: "Known: "}, activities.Piece{Results: "task-0"}, activities.Piece{Literal: ` {"longhaul/v1/text":[]}`})
	tasks[4].Description, tasks[4].Uses = "", []string{"task-3", "task-1", "task-2"}
	tasks[4].Input = text(activities.Piece{Results: activities.AllResults})
	env.ExecuteWorkflow(workflows.Objective, workflows.ObjectiveInput{Opening: o})
	finished(t, env)
	made := map[string]string{}
	for _, e := range log.events {
		if e.Kind == opt.ArtifactAdded {
			made[e.TaskID[len(e.TaskID)-3:]] = e.Chunk.Artifact.Text()
		}
	}
	want := map[string]string{"1-0": "Tea is old.", "1-1": "Tea is hot."}
	want["1-3"] = "Task 4\nKnown: Tea is old. {\"longhaul/v1/text\":[]}\n· Task 2\n· Task 1"
	want["1-4"] = "Task 5\n" + want["1-3"] + "\nTea is hot.\n· Task 4\n· Task 2"
	if diff := cmp.Diff(want, made); diff != "" {
		t.Errorf("artifacts (-want +got):\n%s", diff)
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
