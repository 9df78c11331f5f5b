package shown_test

import (
	"testing"

	"longhaul/a2a"
	"longhaul/internal/test"
	"longhaul/opt"
	"longhaul/opt/shown"
)

// Each state has a word of its kind, and Paused, Queued and Stopping precede its status
// until it has ended.
func TestStage_Look(t *testing.T) {
	for _, tt := range []struct {
		stage shown.Stage
		word  string
		kind  shown.Kind
	}{
		{shown.Stage{Status: "submitted"}, "submitted", shown.LooksPending},
		{shown.Stage{Status: "submitted", Queued: true}, "queued", shown.LooksPending},
		{shown.Stage{Status: "planning"}, "planning", shown.LooksWorking},
		{shown.Stage{Status: "working", Paused: true}, "paused", shown.LooksPending},
		{shown.Stage{Status: "working", Paused: true, Stopping: true}, "stopping", shown.LooksCanceled},
		{shown.Stage{Status: "blocked"}, "blocked", shown.LooksWaiting},
		{shown.Stage{Status: "blocked", Reason: opt.NothingToDo}, "blocked", shown.LooksWaiting},
		{shown.Stage{Status: "blocked", Reason: opt.BlockedByInput}, "waiting", shown.LooksWaiting},
		{shown.Stage{Status: "blocked", Reason: opt.BlockedByAuth}, "waiting", shown.LooksWaiting},
		{shown.Stage{Status: "blocked", Reason: opt.BlockedByOperator}, "paused", shown.LooksPending},
		{shown.Stage{Status: "blocked", Reason: opt.BlockedByPlan}, "paused", shown.LooksPending},
		{shown.Stage{Status: "blocked", Reason: opt.BlockedByDependencies}, "blocked", shown.LooksPending},
		{shown.Stage{Status: "blocked", Reason: opt.BlockedByInput, Paused: true}, "paused", shown.LooksPending},
		{shown.Stage{Status: "input-required"}, "waiting", shown.LooksWaiting},
		{shown.Stage{Status: "auth-required"}, "waiting", shown.LooksWaiting},
		{shown.Stage{Status: "rejected"}, "rejected", shown.LooksFailed},
		{shown.Stage{Status: "skipped"}, "skipped", shown.LooksCanceled},
		{shown.Stage{Status: "failed", Reason: "canceled"}, "canceled", shown.LooksCanceled},
		{shown.Stage{Status: "completed", Paused: true, Queued: true, Stopping: true}, "completed", shown.LooksCompleted},
		{shown.Stage{Status: "unheard-of"}, "unheard-of", shown.LooksPending},
	} {
		if got := tt.stage.Look(); got != (shown.Look{Word: tt.word, Kind: tt.kind}) {
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
	signs := map[string]shown.Kind{}
	for _, k := range shown.Kinds {
		if other, ok := signs[k.Sign()]; ok || k.Sign() == "" {
			t.Errorf("%s has the sign of %s", k, other)
		}
		signs[k.Sign()] = k
	}
	for _, s := range all {
		if look := (shown.Stage{Status: s}).Look(); look.Word == "" || look.Kind.Sign() == "" || look == (shown.Look{Word: s, Kind: shown.LooksPending}) && s != "pending" && s != "submitted" {
			t.Errorf("%s looks like %+v", s, look)
		}
	}
	test.Is(t, "an objective in a queue", "queued", shown.LookOf(&opt.Objective{Status: opt.ObjectiveSubmitted, QueuedAt: a2a.AtMillis(1)}).Word)
	test.Is(t, "a plan that is being stopped", "stopping", shown.LookOfPlan(&opt.Plan{Status: opt.PlanWorking, Stopping: opt.Replanned, Paused: true}).Word)
}
