package machine_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"longhaul/a2a"
	"longhaul/internal/test"
	"longhaul/opt"
	"longhaul/opt/machine"
)

const objectiveID = "obj-abcdefghijklmnopqrstuvwxyz"

func plan(n int) string    { return opt.PlanID(objectiveID, n) }
func task(n, m int) string { return opt.TaskID(plan(n), m) }

// matrix calls check for each pair of the statuses in a table of moves; staying
// is allowed. The tests of package opt check the tables.
func matrix[S ~string](moves map[S][]S, check func(from, to string, want bool)) {
	for from := range moves {
		for to := range moves {
			check(string(from), string(to), from == to || slices.Contains(moves[from], to))
		}
	}
}

func TestAdmit_objectiveMoves(t *testing.T) {
	matrix(opt.ObjectiveMoves, func(from, to string, want bool) {
		for _, paused := range []bool{false, true} {
			o := objective("failed")
			o.Status, o.Paused = opt.ObjectiveStatus(from), paused
			want := want
			if from == "blocked" && to == "working" {
				want = paused // a resume
			}
			err := machine.Admit(o, opt.Command{Kind: opt.UpdateObjective, Status: to})
			wantMove(t, fmt.Sprintf("paused %v", paused), err, from, to, want)
		}
		o := objective("working")
		o.Status, o.Paused, o.Stopping = opt.ObjectiveStatus(from), true, "failed"
		if o.Status.Ended() {
			return
		}
		err := machine.Admit(o, opt.Command{Kind: opt.UpdateObjective, Status: to})
		wantMove(t, "while it is stopped", err, from, to, from == to)
	})
	err := machine.Admit(objective(), opt.Command{Kind: opt.UpdateObjective, Status: "pending"})
	wantMove(t, "a status of plans", err, "working", "pending", false)
}

// One that has ended is not retried while a plan of it works, as one does whose workflow was reset.
func TestAdmit_objectiveRetry_openPlan(t *testing.T) {
	for status, want := range map[string]bool{"failed": true, "completed": true, "working": false, "blocked": false} {
		o := objective("failed", status)
		o.Status = opt.ObjectiveFailed
		err := machine.Admit(o, opt.Command{Kind: opt.UpdateObjective, Status: "submitted"})
		wantMove(t, "a plan is "+status, err, "failed", "submitted", want)
	}
}

// A failed or canceled objective can be retried although Stopping is set.
func TestAdmit_objectiveRetry(t *testing.T) {
	for _, tt := range []struct{ from, to string }{{"failed", "submitted"}, {"failed", "planning"}, {"canceled", "submitted"}} {
		o := objective("failed", "completed", "skipped")
		o.Status, o.Stopping = opt.ObjectiveStatus(tt.from), tt.from
		c := opt.Command{Kind: opt.UpdateObjective, Status: tt.to}
		if err := machine.Admit(o, c); err != nil {
			t.Errorf("%s → %s: %v", tt.from, tt.to, err)
		}
		c.Change = &opt.Change{Name: new(string)}
		*c.Change.Name = "other"
		wantRefused(t, "retry with a new name", machine.Admit(o, c), "ended")
	}
}

// The objective decides about a retry of an ended plan. An open plan decides by
// itself, after its objective has checked dependencies.
func TestAdmit_planMoves(t *testing.T) {
	matrix(opt.PlanMoves, func(from, to string, want bool) {
		o := objective(from, "working")
		p := o.Plans[0]
		p.Metadata = p.Metadata.With(opt.KeyOptional, true) // so that its failure does not fail the objective
		p.Paused = p.Status == opt.PlanBlocked
		c := opt.Command{Kind: opt.UpdatePlan, PlanID: p.ID, Status: to}
		wantMove(t, "an open objective", admit(o, c), from, to, want)
		if from != to {
			p.Stopping = "canceled"
			if !p.Status.Ended() {
				wantMove(t, "a plan that is stopped", admit(o, c), from, to, false)
			}
			p.Stopping, o.Stopping = "", "failed"
			wantMove(t, "an objective that is stopped", admit(o, c), from, to, false)
			o.Stopping, o.Status = "", opt.ObjectiveCompleted
			wantMove(t, "an objective that has ended", admit(o, c), from, to, false)
		}
	})
}

func TestAdmit_planWorks(t *testing.T) {
	for _, tt := range []struct {
		name, status, reason string
		set                  func(o *opt.Objective, p *opt.Plan)
		want                 bool
	}{
		{"not its turn", "pending", "", nil, true},
		{"not started yet", "pending", "", func(o *opt.Objective, _ *opt.Plan) { o.Started, o.Status = false, opt.ObjectiveSubmitted }, true},
		{"unmet dependencies", "pending", "", dependent, false},
		{"unmet dependencies show", "blocked", opt.BlockedByDependencies, dependent, false},
		{"met dependencies", "blocked", opt.BlockedByDependencies, func(o *opt.Objective, p *opt.Plan) { dependent(o, p); o.Plans[1].Status = opt.PlanCompleted }, true},
		{"a dependency was skipped", "pending", "", func(o *opt.Objective, p *opt.Plan) { dependent(o, p); o.Plans[1].Status = opt.PlanSkipped }, true},
		{"a dependency has tasks to stop", "pending", "", func(o *opt.Objective, p *opt.Plan) {
			dependent(o, p)
			o.Plans[1].Status, o.Plans[1].Report = opt.PlanCompleted, &opt.Report{Closing: true}
		}, false},
		{"works already, with unmet dependencies", "working", "", dependent, true},
		{"works by hand, with unmet dependencies", "working", opt.ByHand, dependent, false},
		{"works by hand", "working", opt.ByHand, nil, true},
		{"paused", "blocked", opt.BlockedByOperator, func(_ *opt.Objective, p *opt.Plan) { p.Paused = true }, true},
		{"paused with its objective", "blocked", opt.BlockedByOperator, func(o *opt.Objective, p *opt.Plan) { o.Paused, p.ObjectivePaused = true, true }, false},
		{"at a gate", "blocked", opt.BlockedByInput, nil, false},
		{"at a credential", "blocked", opt.BlockedByAuth, nil, false},
		{"paused at a gate", "blocked", opt.BlockedByInput, func(_ *opt.Objective, p *opt.Plan) { p.Paused = true }, true},
		{"failed", "failed", "timeout", nil, true},
		{"failed, and has unmet dependencies", "failed", "timeout", dependent, false},
	} {
		o := objective(tt.status, "pending")
		p := o.Plans[0]
		p.Reason, p.Metadata = tt.reason, p.Metadata.With(opt.KeyOptional, true)
		if tt.set != nil {
			tt.set(o, p)
		}
		err := admit(o, opt.Command{Kind: opt.UpdatePlan, PlanID: p.ID, Status: "working"})
		wantMove(t, tt.name, err, tt.status, "working", tt.want)
	}
}

// A plan after one that asks people begins when they have answered, or others took its place. It may be set to wait for
// them again, unless a client had ended it when the question was replaced.
func TestAdmit_planAfterQuestion(t *testing.T) {
	for _, tt := range []struct {
		asks, replaced, status, reason, to string
		want                               bool
	}{
		{"working", "", "pending", "", "working", false},
		{"skipped", opt.Replanned, "pending", "", "working", true},
		{"skipped", opt.Replanned, "failed", "failed", "working", true},
		{"skipped", opt.Replanned, "failed", "failed", "pending", true},
		{"skipped", opt.Replanned, "failed", "", "working", false},
		{"skipped", opt.Replanned, "failed", "", "pending", false},
		{"working", "", "failed", "failed", "working", false},
		{"working", "", "failed", "", "pending", true},
	} {
		o := objective(tt.asks, tt.status)
		o.Plans[0].Reason, o.Plans[0].Tasks = tt.replaced, []*opt.Task{{Ask: &opt.Gate{Kind: opt.Approval}}}
		p := o.Plans[1]
		p.Reason, p.Metadata = tt.reason, p.Metadata.With(opt.KeyOptional, true)
		err := admit(o, opt.Command{Kind: opt.UpdatePlan, PlanID: p.ID, Status: tt.to})
		wantMove(t, fmt.Sprintf("%+v", tt), err, tt.status, tt.to, tt.want)
	}
}

func dependent(o *opt.Objective, p *opt.Plan) { p.Dependencies = []string{o.Plans[1].ID} }

// An ended plan whose tasks are still stopping cannot be retried yet.
func TestAdmit_closingPlan(t *testing.T) {
	for _, to := range []string{"pending", "working"} {
		o := objective("failed", "working")
		p := o.Plans[0]
		p.Metadata = p.Metadata.With(opt.KeyOptional, true)
		c := opt.Command{Kind: opt.UpdatePlan, PlanID: p.ID, Status: to}
		p.Report = &opt.Report{Status: opt.PlanFailed, Closing: true}
		wantMove(t, "closing", machine.Admit(o, c), "failed", to, false)
		var refused *opt.Refusal
		if err := machine.AdmitToPlan(p, c); !errors.As(err, &refused) || refused.Code != opt.RefusedEnded {
			t.Errorf("asked the plan: %v, want it refused as ended", err)
		}
		p.Report.Closing = false
		wantMove(t, "closed", machine.Admit(o, c), "failed", to, true)
	}
}

func TestAdmit_changes(t *testing.T) {
	name := func(s string) *opt.Change { return &opt.Change{Name: &s} }
	order := func(ids ...string) *opt.Change { return &opt.Change{Dependencies: append([]string{}, ids...)} }
	stopping := func(o *opt.Objective) { o.Stopping = "canceled" }
	completed := func(o *opt.Objective) { o.Status = opt.ObjectiveCompleted }
	first := func(status opt.PlanStatus) func(*opt.Objective) {
		return func(o *opt.Objective) { o.Plans[0].Status = status }
	}
	for _, tt := range []struct {
		name    string
		set     func(*opt.Objective)
		command opt.Command
		want    string // code of the refusal, with the field of a SpecError; "" for none
	}{
		{"objective: name", nil, opt.Command{Kind: opt.UpdateObjective, Change: name("n")}, ""},
		{"objective: name and status", nil, opt.Command{Kind: opt.UpdateObjective, Change: name("n"), Status: "blocked"}, ""},
		{"objective: blank name", nil, opt.Command{Kind: opt.UpdateObjective, Change: name(" ")}, "spec name"},
		{"objective: nothing", nil, opt.Command{Kind: opt.UpdateObjective}, ""},
		{"objective: nothing while it stops", stopping, opt.Command{Kind: opt.UpdateObjective}, "ended"},
		{"objective: name while it stops", stopping, opt.Command{Kind: opt.UpdateObjective, Change: name("n")}, "ended"},
		{"objective: name after its end", completed, opt.Command{Kind: opt.UpdateObjective, Change: name("n")}, "ended"},
		{"objective: name after its end, to stay", completed, opt.Command{Kind: opt.UpdateObjective, Change: name("n"), Status: "completed"}, "ended"},
		{"objective: to stay after its end", completed, opt.Command{Kind: opt.UpdateObjective, Status: "completed"}, ""},

		{"plan: unknown", nil, opt.Command{Kind: opt.UpdatePlan, PlanID: plan(9)}, "unknown"},
		{"plan: name", nil, opt.Command{Kind: opt.UpdatePlan, PlanID: plan(1), Change: name("n")}, ""},
		{"plan: NUL in its name", nil, opt.Command{Kind: opt.UpdatePlan, PlanID: plan(1), Change: name("\x00")}, "spec name"},
		{"plan: name after its end", first(opt.PlanFailed), opt.Command{Kind: opt.UpdatePlan, PlanID: plan(1), Change: name("n")}, "ended"},
		{"plan: name with a retry", first(opt.PlanFailed), opt.Command{Kind: opt.UpdatePlan, PlanID: plan(1), Change: name("n"), Status: "pending"}, "ended"},
		{"plan: to stay after its end", first(opt.PlanSkipped), opt.Command{Kind: opt.UpdatePlan, PlanID: plan(1), Status: "skipped"}, ""},
		{"plan: name while the objective stops", stopping, opt.Command{Kind: opt.UpdatePlan, PlanID: plan(1), Change: name("n")}, "ended"},
		{"plan: order", nil, opt.Command{Kind: opt.UpdatePlan, PlanID: plan(2), Change: order(plan(1))}, ""},
		{"plan: order of itself", nil, opt.Command{Kind: opt.UpdatePlan, PlanID: plan(2), Change: order(plan(2))}, "spec dependencies[0]"},
		{"plan: order of what is not there", nil, opt.Command{Kind: opt.UpdatePlan, PlanID: plan(2), Change: order(plan(9))}, "spec dependencies[0]"},
		{"plan: order in a cycle", nil, opt.Command{Kind: opt.UpdatePlan, PlanID: plan(2), Change: order(plan(3))}, "spec dependencies"},
		{"plan: order once it works", nil, opt.Command{Kind: opt.UpdatePlan, PlanID: plan(1), Change: order(plan(2))}, "move"},
		{"plan: order with a status", nil, opt.Command{Kind: opt.UpdatePlan, PlanID: plan(2), Change: order(plan(1)), Status: "working"}, "spec dependencies"},
		{"plan: its own order with a status", nil, opt.Command{Kind: opt.UpdatePlan, PlanID: plan(1), Change: order(), Status: "blocked"}, ""},
		{"plan: its own order once it works", nil, opt.Command{Kind: opt.UpdatePlan, PlanID: plan(1), Change: order()}, ""},
		{"plan: its own order after its end", first(opt.PlanCompleted), opt.Command{Kind: opt.UpdatePlan, PlanID: plan(1), Change: order()}, ""},
		{"plan: order after its end", first(opt.PlanCompleted), opt.Command{Kind: opt.UpdatePlan, PlanID: plan(1), Change: order(plan(2))}, "ended"},

		{"create: fine", nil, opt.Command{Kind: opt.CreatePlan, Plan: &opt.PlanSpec{Name: "p", Dependencies: []string{plan(1)}}}, ""},
		{"create: no name", nil, opt.Command{Kind: opt.CreatePlan, Plan: &opt.PlanSpec{}}, "spec name"},
		{"create: on what is not there", nil, opt.Command{Kind: opt.CreatePlan, Plan: &opt.PlanSpec{Name: "p", Dependencies: []string{plan(9)}}}, "spec dependencies[0]"},
		{"create: while it stops", stopping, opt.Command{Kind: opt.CreatePlan, Plan: &opt.PlanSpec{Name: "p"}}, "ended"},
		{"create: after its end", completed, opt.Command{Kind: opt.CreatePlan, Plan: &opt.PlanSpec{Name: "p"}}, "ended"},
		{"create: no room", func(o *opt.Objective) { o.Limits.Plans = 3 }, opt.Command{Kind: opt.CreatePlan, Plan: &opt.PlanSpec{Name: "p"}}, "spec plans"},

		{"replan: fine", nil, opt.Command{Kind: opt.Replan}, ""},
		{"replan: before it was started", func(o *opt.Objective) { o.Status, o.Started = opt.ObjectiveSubmitted, false }, opt.Command{Kind: opt.Replan}, ""},
		{"replan: with nothing to do", func(o *opt.Objective) { o.Plans, o.Reason = nil, opt.NothingToDo }, opt.Command{Kind: opt.Replan}, ""},
		{"replan: while it stops", stopping, opt.Command{Kind: opt.Replan}, "move"},
		{"replan: after its end", completed, opt.Command{Kind: opt.Replan}, "move"},
		{"replan: all that is open is replaced", func(o *opt.Objective) { o.Limits.Plans = 3 }, opt.Command{Kind: opt.Replan}, ""},
		{"replan: no room beside what is completed", func(o *opt.Objective) { o.Limits.Plans = 1; first(opt.PlanCompleted)(o) }, opt.Command{Kind: opt.Replan}, "spec plans"},

		{"any: not the latest revision", nil, opt.Command{Kind: opt.Replan, Seen: 6}, "stale"},
		{"any: the latest revision", nil, opt.Command{Kind: opt.Replan, Seen: 7}, ""},
		{"any: no revision", nil, opt.Command{Kind: opt.Replan}, ""},
	} {
		o := objective("working", "pending", "pending")
		o.Plans[2].Dependencies, o.Revision = []string{plan(2)}, 7
		if tt.set != nil {
			tt.set(o)
		}
		before := snapshot(t, o)
		wantRefused(t, tt.name, machine.Admit(o, tt.command), tt.want)
		test.Equal(t, tt.name+": the objective has changed", before, snapshot(t, o))
	}
}

// Commands about tasks are admitted for plans that have not ended; the plan then
// decides about them.
func TestAdmit_tasks(t *testing.T) {
	kinds := []opt.CommandKind{opt.AddTasks, opt.LinkTask, opt.MoveTask, opt.CancelTask}
	for _, tt := range []struct {
		name string
		set  func(*opt.Objective)
		want string // the result for each of kinds
	}{
		{"open", nil, "- - - -"},
		{"unknown plan", func(o *opt.Objective) { o.Plans = nil }, "unknown unknown unknown unknown"},
		{"the plan has ended", func(o *opt.Objective) { o.Plans[0].Status = opt.PlanSkipped }, "ended ended - -"},
		{"the objective stops", func(o *opt.Objective) { o.Stopping = "canceled" }, "ended ended - -"},
		{"the objective has ended", func(o *opt.Objective) { o.Status = opt.ObjectiveFailed }, "ended ended - -"},
	} {
		want := strings.Fields(tt.want)
		for i, kind := range kinds {
			o := objective("working")
			if tt.set != nil {
				tt.set(o)
			}
			c := opt.Command{Kind: kind, PlanID: plan(1), TaskID: task(1, 0), Status: "completed", Tasks: []opt.TaskSpec{{Name: "t"}}, Link: "x"}
			wantRefused(t, tt.name+": "+string(kind), machine.Admit(o, c), strings.Trim(want[i], "-"))
		}
	}
}

func TestAdmitToPlan_tasks(t *testing.T) {
	add := func(specs ...opt.TaskSpec) opt.Command { return opt.Command{Kind: opt.AddTasks, Tasks: specs} }
	of := func(kind opt.CommandKind, status string) opt.Command {
		return opt.Command{Kind: kind, TaskID: task(1, 0), Status: status, Link: "x"}
	}
	ended := func(p *opt.Plan) { p.Status = opt.PlanCompleted }
	stopping := func(p *opt.Plan) { p.Stopping = "canceled" }
	for _, tt := range []struct {
		name, state string // of the task
		set         func(*opt.Plan)
		command     opt.Command
		want        string
	}{
		{"add", "pending", nil, add(opt.TaskSpec{Name: "t", Dependencies: []string{"task-0"}}), ""},
		{"add without a name", "pending", nil, add(opt.TaskSpec{Name: "t"}, opt.TaskSpec{}), "spec tasks[1].name"},
		{"add after what is not there", "pending", nil, add(opt.TaskSpec{Name: "t", Dependencies: []string{"task-2"}}), "spec tasks[0].dependencies[0]"},
		{"add too many", "pending", func(p *opt.Plan) { p.Limits.Tasks = 1 }, add(opt.TaskSpec{Name: "t"}), "spec tasks"},
		{"add to what has ended", "completed", ended, add(opt.TaskSpec{Name: "t"}), "ended"},
		{"add to what stops", "working", stopping, add(opt.TaskSpec{Name: "t"}), "ended"},

		{"link", "pending", nil, of(opt.LinkTask, ""), ""},
		{"link what works", "working", nil, of(opt.LinkTask, ""), "move"},
		{"link what has ended", "completed", nil, of(opt.LinkTask, ""), "move"},
		{"link in a plan that has ended", "pending", ended, of(opt.LinkTask, ""), "ended"},
		{"link in a plan that stops", "pending", stopping, of(opt.LinkTask, ""), "ended"},
		{"link what is not there", "pending", nil, opt.Command{Kind: opt.LinkTask, TaskID: task(1, 5), Link: "x"}, "unknown"},

		{"move to working", "pending", nil, of(opt.MoveTask, "working"), ""},
		{"move to a wait", "working", nil, of(opt.MoveTask, "input-required"), ""},
		{"move past a state", "pending", nil, of(opt.MoveTask, "input-required"), "move"},
		{"move back", "working", nil, of(opt.MoveTask, "pending"), "move"},
		{"move what has ended", "failed", nil, of(opt.MoveTask, "working"), "move"},
		{"stay where it ended", "failed", nil, of(opt.MoveTask, "failed"), ""},
		{"move in a plan that has ended", "working", ended, of(opt.MoveTask, "completed"), "move"},
		{"move in a plan that stops", "working", stopping, of(opt.MoveTask, "completed"), "move"},
		{"stay in a plan that has ended", "completed", ended, of(opt.MoveTask, "completed"), ""},
		{"move what is not there", "pending", nil, opt.Command{Kind: opt.MoveTask, TaskID: task(2, 0), Status: "working"}, "unknown"},

		{"cancel", "pending", nil, of(opt.CancelTask, ""), ""},
		{"cancel what works", "working", nil, of(opt.CancelTask, ""), ""},
		{"cancel what waits", "auth-required", nil, of(opt.CancelTask, ""), ""},
		{"cancel what was canceled", "canceled", nil, of(opt.CancelTask, ""), ""},
		{"cancel what was completed", "completed", nil, of(opt.CancelTask, ""), "move"},
		{"cancel what failed", "failed", nil, of(opt.CancelTask, ""), "move"},
		{"cancel what was rejected", "rejected", nil, of(opt.CancelTask, ""), "move"},
		{"cancel what is not there", "pending", nil, opt.Command{Kind: opt.CancelTask, TaskID: "x"}, "unknown"},
	} {
		p := objective("working").Plans[0]
		p.Tasks = []*opt.Task{{ID: task(1, 0), State: opt.TaskState(tt.state)}}
		if tt.set != nil {
			tt.set(p)
		}
		wantRefused(t, tt.name, machine.AdmitToPlan(p, tt.command), tt.want)
		if got := len(p.Tasks); got != 1 || string(p.Tasks[0].State) != tt.state {
			t.Errorf("%s: the plan has changed", tt.name)
		}
	}
}

// A task of a later attempt is known only by its later id.
func TestAdmitToPlan_attempts(t *testing.T) {
	p := objective("working").Plans[0]
	p.Tasks = []*opt.Task{{ID: task(1, 0), State: opt.TaskPending, Run: 3}}
	for id, want := range map[string]string{task(1, 0): "", task(1, 0) + "~3": "", task(1, 0) + "~2": "unknown", task(1, 0) + "~4": "unknown"} {
		wantRefused(t, id, machine.AdmitToPlan(p, opt.Command{Kind: opt.CancelTask, TaskID: id}), want)
	}
}

func TestUnchanged(t *testing.T) {
	for _, tt := range []struct {
		name    string
		set     func(o *opt.Objective, p *opt.Plan)
		command opt.Command
		want    bool
	}{
		{"no status", nil, opt.Command{Kind: opt.UpdateObjective}, true},
		{"works", nil, opt.Command{Kind: opt.UpdateObjective, Status: "working"}, true},
		{"works by hand", func(o *opt.Objective, _ *opt.Plan) { o.Reason = opt.ByHand }, opt.Command{Kind: opt.UpdateObjective, Status: "working"}, false},
		{"to be paused", nil, opt.Command{Kind: opt.UpdateObjective, Status: "blocked"}, false},
		{"waits, to be paused", func(o *opt.Objective, _ *opt.Plan) { o.Status = opt.ObjectiveBlocked }, opt.Command{Kind: opt.UpdateObjective, Status: "blocked"}, false},
		{"paused", func(o *opt.Objective, _ *opt.Plan) { o.Status, o.Paused = opt.ObjectiveBlocked, true }, opt.Command{Kind: opt.UpdateObjective, Status: "blocked"}, true},
		{"renamed", nil, opt.Command{Kind: opt.UpdateObjective, Status: "working", Change: &opt.Change{Metadata: a2a.Metadata{}}}, false},
		{"ended", func(o *opt.Objective, _ *opt.Plan) { o.Status = opt.ObjectiveFailed }, opt.Command{Kind: opt.UpdateObjective, Status: "failed"}, true},
		{"replan", nil, opt.Command{Kind: opt.Replan}, false},
		{"replan while plans are made", func(o *opt.Objective, _ *opt.Plan) { o.Planning = true }, opt.Command{Kind: opt.Replan}, true},
		{"plan works", nil, opt.Command{Kind: opt.UpdatePlan, Status: "working"}, true},
		{"plan works by hand", func(_ *opt.Objective, p *opt.Plan) { p.Reason = opt.ByHand }, opt.Command{Kind: opt.UpdatePlan, Status: "working"}, false},
		{"plan waits, to be paused", func(_ *opt.Objective, p *opt.Plan) { p.Status = opt.PlanBlocked }, opt.Command{Kind: opt.UpdatePlan, Status: "blocked"}, false},
		{"plan is paused", func(_ *opt.Objective, p *opt.Plan) { p.Status, p.Paused = opt.PlanBlocked, true }, opt.Command{Kind: opt.UpdatePlan, Status: "blocked"}, true},
		{"plan in its own order", nil, opt.Command{Kind: opt.UpdatePlan, Change: &opt.Change{Dependencies: []string{}}}, true},
		{"plan in another order", nil, opt.Command{Kind: opt.UpdatePlan, Change: &opt.Change{Dependencies: []string{plan(2)}}}, false},
		{"task is there", nil, opt.Command{Kind: opt.MoveTask, TaskID: task(1, 0), Status: "working"}, true},
		{"task is elsewhere", nil, opt.Command{Kind: opt.MoveTask, TaskID: task(1, 0), Status: "completed"}, false},
		{"task is to be canceled", nil, opt.Command{Kind: opt.CancelTask, TaskID: task(1, 0)}, false},
		{"task was canceled", func(_ *opt.Objective, p *opt.Plan) { p.Tasks[0].State = opt.TaskCanceled }, opt.Command{Kind: opt.CancelTask, TaskID: task(1, 0)}, true},
		{"task is unknown", nil, opt.Command{Kind: opt.CancelTask, TaskID: "x"}, false},
		{"a new plan", nil, opt.Command{Kind: opt.CreatePlan, Plan: &opt.PlanSpec{Name: "p"}}, false},
		{"new tasks", nil, opt.Command{Kind: opt.AddTasks, Tasks: []opt.TaskSpec{{Name: "t"}}}, false},
	} {
		o := objective("working", "pending")
		p := o.Plans[0]
		p.Tasks = []*opt.Task{{ID: task(1, 0), State: opt.TaskWorking}}
		if tt.set != nil {
			tt.set(o, p)
		}
		tt.command.PlanID = p.ID
		test.Is(t, tt.name+": unchanged", tt.want, machine.Unchanged(o, p, tt.command))
	}
}

// A command for another attempt than the next one to start is too late, at
// any revision.
func TestAdmit_attempt(t *testing.T) {
	for _, tt := range []struct {
		name    string
		status  opt.ObjectiveStatus
		command int // the attempt of the command
		code    opt.RefusalCode
	}{
		{"any attempt", opt.ObjectiveSubmitted, 0, ""},
		{"this attempt", opt.ObjectiveSubmitted, 2, ""},
		{"an earlier attempt", opt.ObjectiveSubmitted, 1, opt.RefusedLate},
		{"the next attempt, while this one goes on", opt.ObjectiveSubmitted, 3, opt.RefusedLate},
		{"the next attempt", opt.ObjectiveFailed, 3, ""},
		{"an attempt that has ended", opt.ObjectiveFailed, 2, opt.RefusedLate},
	} {
		o := &opt.Objective{ID: objectiveID, Attempt: 2, Revision: 7, Status: tt.status, Root: opt.TaskState(tt.status)}
		err := machine.Admit(o, opt.Command{Kind: opt.UpdateObjective, Status: "planning", Attempt: tt.command})
		var got opt.RefusalCode
		if err != nil {
			got = opt.RefusalOf(err).Code
		}
		test.Is(t, tt.name+": refused as", tt.code, got)
	}
}

// objective makes a started objective with a plan in each of statuses.
func objective(statuses ...string) *opt.Objective {
	o := &opt.Objective{ID: objectiveID, Attempt: 1, Status: opt.ObjectiveWorking, Started: true, Root: opt.TaskWorking}
	for i, s := range statuses {
		p := &opt.Plan{ID: plan(i + 1), ObjectiveID: o.ID, Name: "p", Status: opt.PlanStatus(s)}
		p.Started = !slices.Contains([]string{"pending", "skipped"}, s)
		p.Report = &opt.Report{Status: p.Status, Started: p.Started}
		o.Plans = append(o.Plans, p)
	}
	return o
}

// snapshot returns v as text with all its members.
func snapshot(t *testing.T, v any) string {
	t.Helper()
	b := test.Value(json.MarshalIndent(v, "", " "))(t)
	return string(b)
}

// admit checks a change of a plan with its objective and, unless the plan is
// over, with the plan.
func admit(o *opt.Objective, c opt.Command) error {
	err := machine.Admit(o, c)
	if p := o.Plan(c.PlanID); err == nil && !p.Over() {
		err = machine.AdmitToPlan(p, c)
	}
	return err
}

// wantMove checks that a move is allowed, or refused as a move that is not in the
// tables.
func wantMove(t *testing.T, name string, err error, from, to string, allowed bool) {
	t.Helper()
	if allowed {
		if err != nil {
			t.Errorf("%s: %s → %s: %v", name, from, to, err)
		}
		return
	}
	var move *opt.MoveError
	if !errors.As(err, &move) {
		t.Errorf("%s: %s → %s: %v, want a MoveError", name, from, to, err)
	} else if diff := cmp.Diff(&opt.MoveError{From: from, To: to}, move); diff != "" {
		t.Errorf("%s (-want +got):\n%s", name, diff)
	}
}

// wantRefused checks the code of a refusal and the field of a SpecError.
func wantRefused(t *testing.T, name string, err error, want string) {
	t.Helper()
	got := ""
	if err != nil {
		r := opt.RefusalOf(err)
		got = strings.TrimSpace(string(r.Code) + " " + r.Field)
	}
	if got != want {
		t.Errorf("%s: refused as %q (%v), want %q", name, got, err, want)
	}
}
