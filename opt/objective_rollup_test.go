package opt_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"longhaul/a2a"
	"longhaul/internal/test"
	"longhaul/opt"
)

// The text of a failure says what failed, and why.
func TestObjective_Next_failureText(t *testing.T) {
	for _, tt := range []struct {
		name, plans string
		failure     string // of the first plan, as it reports
		reason      string
		text        string
	}{
		{"the plan explains", "failed!/timeout", "The task took too long.", "timeout", "The task took too long."},
		{"the plan has a reason", "failed!/terminated", "", "terminated", `The plan "Print" failed (terminated).`},
		{"a client has failed the plan", "failed!", "", "failed", `The plan "Print" failed.`},
		{"only optional plans", "failed?!/timeout", "The task took too long.", opt.NothingCompleted, "No plan was completed: only optional plans were left, and they failed."},
		{"only optional plans, some skipped", "failed?!/timeout skipped", "", opt.NothingCompleted, "No plan was completed: only optional plans were left, and they failed."},
	} {
		o := objectiveOf(t, tt.plans)
		o.Plans[0].Name = "Print"
		o.Plans[0].Report = &opt.Report{Status: o.Plans[0].Status, Reason: o.Plans[0].Reason, Failure: tt.failure}
		events := come(t, o)
		last := events[len(events)-1]
		if o.Status != opt.ObjectiveFailed || o.Reason != tt.reason || o.Failure != tt.text {
			t.Errorf("%s: objective is %s %q with %q, want %q with %q", tt.name, o.Status, o.Reason, o.Failure, tt.reason, tt.text)
		}
		if last.Kind != opt.TaskMoved || last.Status == nil || last.Status.Text() != tt.text {
			t.Errorf("%s: the root task ends with %+v", tt.name, last)
		}
	}
}

// A new attempt keeps completed plans. Each of the others has its own retry
// event, and does not change before it.
func TestObjective_Apply_retried(t *testing.T) {
	for _, tt := range []struct {
		from, to string
		refused  bool
	}{
		{"failed", "submitted", false}, {"failed", "planning", false}, {"canceled", "submitted", false},
		{"canceled", "planning", true}, {"completed", "submitted", true}, {"failed", "failed", true}, {"canceled", "canceled", true},
		{"submitted", "planning", true}, {"blocked", "planning", true}, {"working", "blocked", true},
	} {
		o := objectiveOf(t, "completed! failed! skipped")
		o.Status, o.Reason, o.Failure, o.Stopping, o.Cause = opt.ObjectiveStatus(tt.from), "why", "text", "failed", "cause"
		o.Paused, o.Root, o.RootGate, o.QueuedAt = true, opt.TaskFailed, "g", a2a.AtMillis(3)
		before := snapshot(t, o)
		err := o.Apply(opt.Event{Kind: opt.ObjectiveRetried, From: tt.from, To: tt.to, Attempt: 2, At: a2a.AtMillis(9)})
		if tt.refused {
			if diff := cmp.Diff(before, snapshot(t, o)); err == nil || diff != "" {
				t.Errorf("%s → %s: %v, (-before +after)\n%s", tt.from, tt.to, err, diff)
			}
			continue
		}
		want := &opt.ObjectiveHead{Status: opt.ObjectiveSubmitted, Attempt: 2}
		test.OK(t, err)
		test.Equal(t, fmt.Sprintf("%s → %s: head", tt.from, tt.to), want, o.Head())
		if o.Root != opt.TaskSubmitted || o.RootGate != "" || o.RootID() != objectiveID+"~2" || o.Cause != "" {
			t.Errorf("%s → %s: root task %s is %s at %q", tt.from, tt.to, o.RootID(), o.Root, o.RootGate)
		}
		p := o.Plans
		if !p[0].Kept || p[1].Kept || p[2].Kept || p[1].Status != opt.PlanFailed || p[2].Status != opt.PlanSkipped {
			t.Errorf("%s → %s: plans %s", tt.from, tt.to, snapshot(t, p))
		}
	}
}

// The head and the text in an event have all values of the objective or plan.
func TestHead(t *testing.T) {
	o := objectiveOf(t, "working!")
	o.Name, o.Description, o.Metadata = "n", "d", a2a.Metadata{}.With("k", 1)
	o.Status, o.Reason, o.Failure, o.Stopping = opt.ObjectiveBlocked, "r", "f", "failed"
	o.Paused, o.QueuedAt, o.Revision = true, a2a.AtMillis(4), 5
	want := &opt.ObjectiveHead{
		Status: opt.ObjectiveBlocked, Reason: "r", Failure: "f", Stopping: "failed", Started: true, Paused: true,
		QueuedAt: a2a.AtMillis(4), Attempt: 1, Revision: 5,
	}
	test.Equal(t, "objective", want, o.Head())
	test.Equal(t, "text of the objective", &opt.Text{Name: "n", Description: "d", Metadata: o.Metadata}, o.Text())
	p := o.Plans[0]
	p.Name, p.Dependencies, p.Reason, p.Stopping, p.Paused, p.Run = "p", []string{plan(2)}, "r", "s", true, 3
	test.Equal(t, "plan", &opt.PlanHead{Status: opt.PlanWorking, Reason: "r", Stopping: "s", Started: true, Paused: true, Run: 3}, p.Head())
	test.Equal(t, "text of the plan", &opt.Text{Name: "p", Dependencies: []string{plan(2)}}, p.Text())
}
