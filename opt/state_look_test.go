package opt_test

import (
	"testing"

	"longhaul/a2a"
	"longhaul/opt"
)

// Each state has a word of its kind, and Paused, Queued and Stopping precede its status
// until it has ended.
func TestStage_Look(t *testing.T) {
	for _, tt := range []struct {
		stage opt.Stage
		word  string
		kind  opt.Kind
	}{
		{opt.Stage{Status: "submitted"}, "submitted", opt.LooksPending},
		{opt.Stage{Status: "submitted", Queued: true}, "queued", opt.LooksPending},
		{opt.Stage{Status: "planning"}, "planning", opt.LooksWorking},
		{opt.Stage{Status: "working", Paused: true}, "paused", opt.LooksPending},
		{opt.Stage{Status: "working", Paused: true, Stopping: true}, "stopping", opt.LooksCanceled},
		{opt.Stage{Status: "blocked"}, "blocked", opt.LooksWaiting},
		{opt.Stage{Status: "blocked", Reason: opt.NothingToDo}, "blocked", opt.LooksWaiting},
		{opt.Stage{Status: "blocked", Reason: opt.BlockedByInput}, "waiting", opt.LooksWaiting},
		{opt.Stage{Status: "blocked", Reason: opt.BlockedByAuth}, "waiting", opt.LooksWaiting},
		{opt.Stage{Status: "blocked", Reason: opt.BlockedByOperator}, "paused", opt.LooksPending},
		{opt.Stage{Status: "blocked", Reason: opt.BlockedByPlan}, "paused", opt.LooksPending},
		{opt.Stage{Status: "blocked", Reason: opt.BlockedByDependencies}, "blocked", opt.LooksPending},
		{opt.Stage{Status: "blocked", Reason: opt.BlockedByInput, Paused: true}, "paused", opt.LooksPending},
		{opt.Stage{Status: "input-required"}, "waiting", opt.LooksWaiting},
		{opt.Stage{Status: "auth-required"}, "waiting", opt.LooksWaiting},
		{opt.Stage{Status: "rejected"}, "rejected", opt.LooksFailed},
		{opt.Stage{Status: "skipped"}, "skipped", opt.LooksCanceled},
		{opt.Stage{Status: "failed", Reason: "canceled"}, "canceled", opt.LooksCanceled},
		{opt.Stage{Status: "completed", Paused: true, Queued: true, Stopping: true}, "completed", opt.LooksCompleted},
		{opt.Stage{Status: "unheard-of"}, "unheard-of", opt.LooksPending},
	} {
		if got := tt.stage.Look(); got != (opt.Look{Word: tt.word, Kind: tt.kind}) {
			t.Errorf("%+v looks like %+v, want %s of %s", tt.stage, got, tt.word, tt.kind)
		}
	}
	var all []string
	for _, s := range opt.ObjectiveStatuses {
		all = append(all, string(s))
	}
	for _, s := range opt.PlanStatuses {
		all = append(all, string(s))
	}
	for _, s := range opt.TaskStates {
		all = append(all, string(s))
	}
	signs := map[string]opt.Kind{}
	for _, k := range opt.Kinds {
		if other, ok := signs[k.Sign()]; ok || k.Sign() == "" {
			t.Errorf("%s has the sign of %s", k, other)
		}
		signs[k.Sign()] = k
	}
	for _, s := range all {
		if look := (opt.Stage{Status: s}).Look(); look.Word == "" || look.Kind.Sign() == "" || look == (opt.Look{Word: s, Kind: opt.LooksPending}) && s != "pending" && s != "submitted" {
			t.Errorf("%s looks like %+v", s, look)
		}
	}
	if got := opt.LookOf(&opt.Objective{Status: opt.ObjectiveSubmitted, QueuedAt: a2a.AtMillis(1)}).Word; got != "queued" {
		t.Errorf("an objective in a queue is %s", got)
	}
	if got := opt.LookOfPlan(&opt.Plan{Status: opt.PlanWorking, Stopping: opt.Replanned, Paused: true}).Word; got != "stopping" {
		t.Errorf("a plan that is being stopped is %s", got)
	}
}
