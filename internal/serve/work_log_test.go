package serve

import (
	"fmt"
	"testing"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"longhaul/a2a"
	"longhaul/internal/journal"
	"longhaul/internal/test"
	"longhaul/opt"
)

// The log has a line for each objective that begins or ends, each gate that opens, each
// decision and each change of a client, and none for other events.
func TestWorkLog(t *testing.T) {
	core, logs := observer.New(zap.InfoLevel)
	gate := &opt.Gate{ID: "task-x:1", Kind: opt.Approval}
	decided := func(d opt.Decision) *opt.Decision {
		d.GateID = gate.ID
		return &d
	}
	began := time.UnixMilli(1_000)
	workLog{zap.New(core)}.logRecorded(journal.Recorded{ObjectiveID: "obj-x", CreatedAt: began.UnixMilli(), Events: []opt.Event{
		{Kind: opt.ObjectiveOpened, Objective: &opt.Objective{Principal: "ann", Name: "canary"}},
		{Kind: opt.ObjectiveMoved, From: "submitted", To: "working"},
		{Kind: opt.TaskMoved, TaskID: "task-x", PlanID: "plan-x", From: "pending", To: "working"},
		{Kind: opt.TaskMoved, TaskID: "task-x", PlanID: "plan-x", From: "working", To: "input-required", Gate: gate},
		{Kind: opt.TaskMoved, TaskID: "obj-x", From: "working", To: "input-required", Gate: gate},                                             // the root task shows it, too
		{Kind: opt.TaskMoved, TaskID: "task-x", PlanID: "plan-x", From: "input-required", To: "input-required", Gate: gate},                   // it has a vote
		{Kind: opt.TaskMoved, TaskID: "task-x", PlanID: "plan-x", From: "input-required", To: "input-required", Gate: gate, Step: opt.Remind}, // without an answer yet
		{Kind: opt.MessageAdded, Decision: decided(opt.Decision{DecidedBy: "bob", Action: opt.Accept, Verdict: opt.NotAllowed})},
		{Kind: opt.MessageAdded, Decision: decided(opt.Decision{DecidedBy: "cat", Action: opt.Accept, Verdict: opt.Accepted})},
		{Kind: opt.MessageAdded, Decision: decided(opt.Decision{DecidedBy: "ann", Action: opt.Accept, Verdict: opt.Accepted, Closed: true})},
		{Kind: opt.TaskMoved, TaskID: "task-x", PlanID: "plan-x", From: "input-required", To: "completed", Decision: decided(opt.Decision{DecidedBy: opt.ByTimer, Action: opt.Reject, Verdict: opt.Accepted, Closed: true})},
		{Kind: opt.ObjectiveRetried, Attempt: 2},
		{Kind: opt.CommandAnswered, Principal: "dan", Reason: string(opt.MoveTask), Answer: &opt.CommandAnswer{}},
		{Kind: opt.CommandAnswered, Principal: "dan", Reason: string(opt.AddTasks), Answer: &opt.CommandAnswer{Refusal: &opt.Refusal{Code: opt.RefusedEnded}}},
		{Kind: opt.MessageAdded, Principal: "eve", Verdict: opt.Noted},
		{Kind: opt.MessageAdded, Principal: "eve", Verdict: opt.Noted, Reason: opt.Begins},
		{Kind: opt.ObjectiveMoved, From: "working", To: "failed", Reason: "task-failed", At: a2a.At(began.Add(90 * time.Second))},
	}})
	var got []string
	for _, e := range logs.All() {
		got = append(got, fmt.Sprint(e.Level, " ", e.Message, " ", e.ContextMap()))
	}
	want := []string{
		"info Objective begun map[objective:obj-x principal:ann]",
		"info Gate opened map[gate:task-x:1 kind:approval]",
		"info Gate still open map[gate:task-x:1 step:remind]",
		"info Decision refused map[action:accept by:bob gate:task-x:1 verdict:not-allowed]",
		"info Decision counted, gate still open map[action:accept by:cat gate:task-x:1]",
		"info Gate closed map[action:accept by:ann gate:task-x:1]",
		"info Gate closed: its time is over map[action:reject by:longhaul:timer gate:task-x:1]",
		"info Objective retried map[attempt:2 objective:obj-x]",
		"info Change made map[change:move-task objective:obj-x principal:dan]",
		"info Change refused map[change:add-tasks code:ended objective:obj-x principal:dan]",
		"info Objective started map[objective:obj-x principal:eve]",
		"warn Objective ended map[objective:obj-x reason:task-failed state:failed took:1m30s]",
	}
	test.Equal(t, "log", want, got)
}
