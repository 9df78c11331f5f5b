package opt_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"longhaul/a2a"
	"longhaul/internal/test"
	"longhaul/opt"
)

// In a table, a plan is a row of its tasks' states, each with "?" if it is
// optional and ":" before the indexes of the tasks it depends on, if any.
func TestPlan_Ready(t *testing.T) {
	tests := []struct{ name, tasks, ready string }{
		{"first of a list", "pending pending pending", "0"},
		{"next of a list", "completed pending pending", "1"},
		{"one at a time", "working pending", ""},
		{"a submitted task counts", "submitted pending", ""},
		{"a list waits at a gate", "input-required pending", ""},
		{"past an optional task that failed", "failed? pending", "1"},
		{"past an optional task that was canceled", "canceled? pending", "1"},
		{"nothing after a failure", "failed pending", ""},
		{"nothing after a refusal", "rejected pending", ""},
		{"all ended", "completed completed", ""},
		{"no tasks", "", ""},

		{"the others of a list with dependencies keep their place", "working pending pending pending:1", ""},
		{"next of a list with dependencies", "completed pending pending pending:1", "1"},
		{"beside what follows it", "completed completed pending pending:1", "2 3"},
		{"at once, and what follows that", "working pending: pending", "1"},
		{"behind what was completed by hand", "working pending completed pending pending:0", ""},
		{"behind one by hand that declares its own", "working pending:0 completed: pending", "3"},
		{"roots together", "pending pending: pending:0", "0 1"},
		{"at most four", "pending pending: pending: pending: pending: pending:0", "0 1 2 3"},
		{"four with those that run", "working working: working: pending: pending: pending:0", "3"},
		{"none while more work, since a task continues after a gate at once", "working working: working: working: working: pending: pending:0", ""},
		{"tasks at gates hold no slot", "input-required auth-required: pending: pending: pending: pending: pending:0", "2 3 4 5"},
		{"join waits for both", "completed working: pending:0,1", ""},
		{"join of both", "completed completed: pending:0,1", "2"},
		{"forward", "pending:1 completed:", "0"},
		{"a failure stops the others", "failed pending: pending:1", ""},
		{"past an optional failure", "failed? pending:0 pending:", "1 2"},
	}
	for _, tt := range tests {
		p := planOf(t, tt.tasks)
		test.Is(t, tt.name+": ready before the plan has started", "", indexes(p.Ready()))
		p.Started = true
		test.Is(t, tt.name+": ready", tt.ready, indexes(p.Ready()))
		for _, by := range []string{opt.PausedByClient, opt.PausedByObjective} {
			for _, kind := range []opt.EventKind{opt.PlanPaused, opt.PlanResumed} {
				test.OK(t, p.Apply(opt.Event{Kind: kind, Reason: by}))
				if got := indexes(p.Ready()); p.OnHold() && got != "" || !p.OnHold() && got != tt.ready {
					t.Errorf("%s: ready after %s by %s: %s", tt.name, kind, by, got)
				}
			}
		}
		p.Stopping = "canceled"
		test.Is(t, tt.name+": ready while the plan stops", "", indexes(p.Ready()))
	}
}

func TestPlan_Inputs(t *testing.T) {
	tests := []struct {
		name, tasks string
		made        string // indexes of the tasks that made something
		inputs      string // of each task
		leaves      string
		results     string // indexes of the tasks whose artifacts are the plan's
	}{
		{"nothing", "", "", "", "", ""},
		{"one task", "completed", "0", "", "0", "0"},
		{"list", "completed completed completed", "0,1,2", "|0|1", "2", "2"},
		{"research, approve, write, review", "completed completed completed completed", "0,2", "|0|0|2", "3", "2"},
		{"two approvals in a row", "completed completed completed completed", "0,3", "|0|0|0", "3", "3"},
		{"nothing made at all", "completed completed completed", "", "||", "2", ""},
		{"only the first made something", "completed completed completed", "0", "|0|0", "2", "0"},
		{"diamond", "completed completed:0 completed:0 completed:1,2", "0,1,2,3", "|0|0|1 2", "3", "3"},
		{"diamond of approvals", "completed completed:0 completed:0 completed:1,2", "0,3", "|0|0|0", "3", "3"},
		{"diamond with one approval", "completed completed:0 completed:0 completed:1,2", "0,2,3", "|0|0|0 2", "3", "3"},
		{"two ends", "completed completed:0 completed:0", "0,1,2", "|0|0", "1 2", "1 2"},
		{"two ends that made nothing", "completed completed:0 completed:0", "0", "|0|0", "1 2", "0"},
		{"an end that is also passed through", "completed completed:0 completed:1 completed:1", "1,2", "||1|1", "2 3", "2 1"},
		{"roots alone", "completed completed: completed:1", "0,1,2", "||1", "0 2", "0 2"},
		{"forward", "completed:1 completed:2 completed:", "2", "2|2|", "0", "2"},
		{"optional failure", "completed failed? completed", "0,2", "|0|0", "2", "2"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := planOf(t, tt.tasks)
			for i := range strings.SplitSeq(tt.made, ",") {
				if i != "" {
					p.Tasks[number(t, i)].Artifacts = []a2a.Artifact{{ArtifactID: i}}
				}
			}
			var inputs, results []string
			for _, task := range p.Tasks {
				inputs = append(inputs, indexes(p.Inputs(task)))
			}
			test.Is(t, "inputs", tt.inputs, strings.Join(inputs, "|"))
			var leaves []*opt.Task
			for _, task := range p.Tasks {
				if p.Leaf(task) {
					leaves = append(leaves, task)
				}
			}
			test.Is(t, "leaves", tt.leaves, indexes(leaves))
			for _, a := range p.Results() {
				results = append(results, a.ArtifactID)
			}
			test.Is(t, "results", tt.results, strings.Join(results, " "))
		})
	}
}

// maxTasks is the default limit of tasks in one plan.
const maxTasks = 50

// There are 2^25 paths through this plan, and a workflow task has only a second
// or two.
func TestPlan_Inputs_manyWays(t *testing.T) {
	var refs []string
	for i := range maxTasks {
		on := ""
		if layer := i / 2 * 2; layer > 0 {
			on = fmt.Sprintf("task-%d task-%d", layer-2, layer-1)
		}
		refs = append(refs, on)
	}
	p := test.Value(newPlan(refs...))(t)
	if got := p.Inputs(p.Tasks[maxTasks-1]); got != nil {
		t.Errorf("inputs %q of tasks that made nothing", indexes(got))
	}
	p.Tasks[0].Artifacts = []a2a.Artifact{{ArtifactID: "a"}}
	test.Is(t, "inputs", "0", indexes(p.Inputs(p.Tasks[maxTasks-1])))
	if got := p.Results(); len(got) != 1 || got[0].ArtifactID != "a" {
		t.Errorf("results %v, want the one artifact there is", got)
	}
}

func TestPlan_Apply_artifacts(t *testing.T) {
	p := planOf(t, "working")
	steps := []struct {
		id, text string
		more     bool
		want     string
	}{
		{"a", "1", false, "a=1"},
		{"b", "1", true, "a=1 b=1"},
		{"a", "2", true, "a=12 b=1"},
		{"a", "3", true, "a=123 b=1"},
		{"a", "4", false, "a=4 b=1"}, // a later round replaces it
	}
	for _, s := range steps {
		chunk := &opt.Chunk{Artifact: a2a.Artifact{ArtifactID: s.id, Parts: []a2a.Part{a2a.TextPart(s.text)}}, Append: s.more}
		test.OK(t, p.Apply(opt.Event{Kind: opt.ArtifactAdded, TaskID: task(1, 0), Chunk: chunk}))
		var got []string
		for _, a := range p.Tasks[0].Artifacts {
			got = append(got, a.ArtifactID+"="+a.Text())
		}
		test.Is(t, "artifacts", s.want, strings.Join(got, " "))
	}
}

func TestPlan_Apply_messages(t *testing.T) {
	p := planOf(t, "input-required")
	reply := opt.Reply{GateID: "g", Action: opt.Accept}
	for _, v := range []opt.Verdict{opt.Accepted, opt.Noted, opt.NotWaiting, opt.NotOffered} {
		e := opt.Event{Kind: opt.MessageAdded, TaskID: task(1, 0), Message: &a2a.Message{MessageID: string(v)}, Principal: "ann", Reply: &reply, Verdict: v}
		test.OK(t, p.Apply(e))
		test.Is(t, fmt.Sprintf("%s kept", v), v == opt.Accepted || v == opt.Noted, v.Kept())
	}
	test.Equal(t, "replies", []opt.Reply{reply}, p.Tasks[0].Replies)
	test.Equal(t, "notes", []a2a.Message{{MessageID: "noted", Metadata: a2a.Metadata{opt.KeyAuthor: json.RawMessage(`"ann"`)}}}, p.Tasks[0].Notes)
}

// An event is recorded after later changes, so the tasks in it must not change
// with the plan's.
func TestPlan_Apply_tasksAdded(t *testing.T) {
	p := planOf(t, "completed")
	tasks := test.Value(p.NewTasks([]opt.TaskSpec{{Name: "more"}}))(t)
	e := opt.Event{Kind: opt.TasksAdded, Tasks: tasks}
	test.OK(t, p.Apply(e))
	test.OK(t, p.Apply(opt.Event{Kind: opt.TaskMoved, TaskID: p.Tasks[1].ID, To: "working"}))
	if e.Tasks[0].State != opt.TaskPending || p.Tasks[1].State != opt.TaskWorking {
		t.Errorf("the event has a task that is %s, the plan has one that is %s", e.Tasks[0].State, p.Tasks[1].State)
	}
}

func TestPlan_Apply_refuses(t *testing.T) {
	p := planOf(t, "pending")
	before := snapshot(t, p)
	for _, e := range []opt.Event{{Kind: opt.TaskMoved, TaskID: "x", To: "working"}, {Kind: opt.ArtifactAdded, TaskID: ""}, {Kind: opt.MessageAdded, TaskID: "x"}} {
		if err := p.Apply(e); !errors.Is(err, opt.ErrUnknown) {
			t.Errorf("Apply %s to an unknown task: %v", e.Kind, err)
		}
	}
	for _, kind := range []opt.EventKind{"", "x", opt.ObjectiveMoved, opt.ObjectivePaused, opt.PlanAdded, opt.CommandAnswered} {
		if err := p.Apply(opt.Event{Kind: kind}); err == nil {
			t.Errorf("a plan applied %q", kind)
		}
	}
	test.Equal(t, "refused events changed the plan", before, snapshot(t, p))
}

// The status of a plan after all its events.
func TestPlan_Next(t *testing.T) {
	tests := []struct {
		name, tasks string
		set         func(*opt.Plan)
		status      string // with its reason, if any
		states      string
	}{
		{"not started", "pending pending", func(p *opt.Plan) { p.Started = false }, "pending", "pending pending"},
		{"without tasks", "", nil, "working", ""},
		{"about to begin", "pending pending", nil, "working", "pending pending"},
		{"completed", "completed completed", nil, "completed", "completed completed"},
		{"completed past a gate", "completed", blocked("input"), "completed", "completed"},
		{"completed without an optional task", "failed? completed canceled?", nil, "completed", "failed completed canceled"},
		{"failed", "failed pending pending?", nil, "failed failed", "failed canceled canceled"},
		{"rejected", "rejected pending", reasons("too-hard"), "failed rejected", "rejected canceled"},
		{"rejected without an optional task", "rejected? completed", nil, "completed", "rejected completed"},
		{"only a rejection is the reason of one", "failed", reasons("rejected"), "failed failed", "failed"},
		{"failed with others at gates", "failed input-required: auth-required: pending:0", nil, "failed failed", "failed canceled canceled canceled"},
		{"failing while others work", "failed working: pending:0", nil, "working", "failed working canceled"},
		{"the reason is that of the cause", "canceled failed", func(p *opt.Plan) { p.Tasks[0].Reason, p.Tasks[1].Reason = "canceled", "timeout" }, "failed timeout", "canceled failed"},
		{"canceled by a client", "canceled pending", nil, "failed canceled", "canceled canceled"},
		{"at a gate", "input-required pending", nil, "blocked input", "input-required pending"},
		{"at a credential", "auth-required pending", nil, "blocked auth", "auth-required pending"},
		{"at both", "auth-required input-required: pending:0", nil, "blocked input", "auth-required input-required pending"},
		{"at a gate while others work", "input-required working: pending:0", nil, "working", "input-required working pending"},
		{"at a gate while others can", "input-required pending: pending:0", nil, "working", "input-required pending pending"},
		{"back from a gate", "working pending", blocked("input"), "working", "working pending"},
		{"stopped before it started", "pending pending", func(p *opt.Plan) { p.Started, p.Stopping = false, "canceled" }, "skipped canceled", "canceled canceled"},
		{"stopped without tasks", "", stopping(opt.PlanWorking), "failed canceled", ""},
		{"stopped between tasks", "completed pending", stopping(opt.PlanWorking), "failed canceled", "completed canceled"},
		{"stopped at a gate", "input-required pending", stopping(opt.PlanBlocked), "skipped canceled", "canceled canceled"},
		{"its workflow was canceled at a gate: skipped, it would leave its objective with nothing to do", "input-required pending",
			func(p *opt.Plan) { p.Status, p.Stopping = opt.PlanBlocked, opt.PlanCanceled }, "failed canceled", "canceled canceled"},
		{"stopping while it works", "working pending", stopping(opt.PlanWorking), "working", "working canceled"},
		{"replaced while it worked", "completed pending", func(p *opt.Plan) { p.Status, p.Stopping = opt.PlanWorking, opt.Replanned }, "skipped replanned", "completed canceled"},
		{"replaced while it waited", "input-required", func(p *opt.Plan) { p.Status, p.Stopping = opt.PlanBlocked, opt.Replanned }, "skipped replanned", "canceled"},
		{"stopped since a client completed the objective", "completed pending", func(p *opt.Plan) { p.Status, p.Stopping = opt.PlanWorking, "completed" }, "failed objective-ended", "completed canceled"},
		{"stopped while it failed", "failed pending", stopping(opt.PlanWorking), "failed canceled", "failed canceled"},
		{"paused", "working pending", pausedPlan, "blocked operator", "working pending"},
		{"paused without tasks", "", pausedPlan, "blocked operator", ""},
		{"paused at its end", "completed", pausedPlan, "completed", "completed"},
		{"paused at a gate", "input-required pending", pausedPlan, "blocked input", "input-required pending"},
		{"paused at a credential", "auth-required", pausedPlan, "blocked auth", "auth-required"},
		{"paused at a gate while others work", "input-required working: pending:0", pausedPlan, "blocked operator", "input-required working pending"},
		{"paused before it began", "pending", func(p *opt.Plan) { p.Paused = true }, "blocked operator", "pending"},
		{"paused before it was started", "pending", func(p *opt.Plan) { p.Started, p.Paused = false, true }, "pending", "pending"},
		{"paused with its objective", "working pending", func(p *opt.Plan) { status(opt.PlanWorking)(p); p.ObjectivePaused = true }, "blocked operator", "working pending"},
		{"resumed", "working pending", blocked("operator"), "working", "working pending"},
		{"resumed at a gate", "input-required", blocked("operator"), "blocked input", "input-required"},
		{"paused and failed", "failed pending", pausedPlan, "failed failed", "failed canceled"},
		{"ended by a client", "completed working input-required pending", status(opt.PlanCompleted), "completed", "completed working canceled canceled"},
		{"skipped by a client", "pending pending", status(opt.PlanSkipped), "skipped", "canceled canceled"},
		{"a wait without a gate ends, too", "failed input-required", func(p *opt.Plan) { p.Tasks[1].Gate = nil }, "failed failed", "failed canceled"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := planOf(t, tt.tasks)
			p.Started = true
			if tt.set != nil {
				tt.set(p)
			}
			for range 5 {
				for _, e := range p.Next(a2a.Time{}) {
					test.OK(t, p.Apply(e))
				}
			}
			if next := p.Next(a2a.Time{}); next != nil {
				t.Errorf("Next does not come to an end: %+v", next)
			}
			var states []string
			for _, task := range p.Tasks {
				states = append(states, string(task.State))
			}
			test.Is(t, "plan", tt.status, strings.TrimSpace(string(p.Status)+" "+p.Reason))
			test.Is(t, "tasks", tt.states, strings.Join(states, " "))
			open := slices.ContainsFunc(p.Tasks, func(t *opt.Task) bool { return !t.State.Ended() })
			test.Is(t, "Settled()", p.Status.Ended() && !open, p.Settled())
		})
	}
}

func blocked(reason string) func(*opt.Plan) {
	return func(p *opt.Plan) { p.Status, p.Reason = opt.PlanBlocked, reason }
}

func pausedPlan(p *opt.Plan) {
	p.Status, p.Reason, p.Paused = opt.PlanBlocked, opt.BlockedByOperator, true
}

// reasons gives each task its reason.
func reasons(of ...string) func(*opt.Plan) {
	return func(p *opt.Plan) {
		for i, reason := range of {
			p.Tasks[i].Reason = reason
		}
	}
}

func stopping(s opt.PlanStatus) func(*opt.Plan) {
	return func(p *opt.Plan) { p.Status, p.Stopping = s, "canceled" }
}

func status(s opt.PlanStatus) func(*opt.Plan) { return func(p *opt.Plan) { p.Status = s } }

// planOf makes a plan from a row of a table.
func planOf(t *testing.T, row string) *opt.Plan {
	t.Helper()
	words := strings.Fields(row)
	refs := make([]string, len(words))
	for i, word := range words {
		_, on, declares := strings.Cut(word, ":")
		if declares && on == "" {
			refs[i] = "-"
		}
		for on := range strings.SplitSeq(on, ",") {
			if on != "" {
				refs[i] += "task-" + on + " "
			}
		}
	}
	p := test.Value(newPlan(refs...))(t)
	for i, word := range words {
		word, _, _ = strings.Cut(word, ":")
		state, optional := strings.CutSuffix(word, "?")
		task := p.Tasks[i]
		task.State = opt.TaskState(state)
		if optional {
			task.Metadata = task.Metadata.With(opt.KeyOptional, true)
		}
		if task.State.Waiting() {
			task.Gate = &opt.Gate{ID: opt.GateID(task.ID, 1), TaskID: task.ID}
		}
	}
	return p
}

func indexes(tasks []*opt.Task) string {
	var out []string
	for _, t := range tasks {
		out = append(out, fmt.Sprint(t.Index))
	}
	return strings.Join(out, " ")
}

func number(t *testing.T, text string) (n int) {
	t.Helper()
	test.OK(t, test.Err(fmt.Sscan(text, &n)))
	return n
}

// A link stays in later attempts, until the task is linked to another.
func TestPlan_Apply_link(t *testing.T) {
	p := planOf(t, "pending completed")
	link := func(i int, to string, follow bool) error {
		return p.Apply(opt.Event{Kind: opt.TaskLinked, TaskID: p.Tasks[i].A2AID(), Link: to, Follow: follow})
	}
	if err := link(0, "elsewhere", false); err != nil || p.Tasks[0].Link != "elsewhere" || p.Tasks[0].Follow {
		t.Errorf("%+v: %v", p.Tasks[0], err)
	}
	if err := link(0, "ours", true); err != nil || p.Tasks[0].Link != "ours" || !p.Tasks[0].Follow {
		t.Errorf("%+v: %v", p.Tasks[0], err)
	}
	if err := link(1, "ours", true); !errors.Is(err, opt.ErrMove) || p.Tasks[1].Link != "" {
		t.Errorf("a task that has ended was linked: %v", err)
	}
	p.Status = opt.PlanSkipped
	if err := p.Apply(opt.Event{Kind: opt.PlanRetried, Attempt: 2}); err != nil || p.Tasks[0].Link != "ours" || !p.Tasks[0].Follow {
		t.Errorf("in the next attempt: %+v, %v", p.Tasks[0], err)
	}
}

// Who adds to the tasks before another one leaves the plan as it is.
func TestPlan_Before_addedTo(t *testing.T) {
	p := opt.Plan{Tasks: []*opt.Task{{ID: "a"}, {ID: "b", Index: 1}}}
	for _, task := range p.Tasks {
		_ = append(p.Before(task), &opt.Task{ID: "x"})
	}
	if p.Tasks[0].ID != "a" || p.Tasks[1].ID != "b" {
		t.Errorf("the plan has the tasks %v", p.Tasks)
	}
}
