package api_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"longhaul/a2a"
	"longhaul/opt"
)

// objectiveID is that of the objective that have makes.
var objectiveID = opt.NewObjectiveID([16]byte{9})

var (
	planID = opt.PlanID(objectiveID, 1)
	taskID = opt.TaskID(planID, 0)
)

// have makes an objective as change leaves it: one that waits, with two plans of
// two tasks each.
func (s *fixture) have(t *testing.T, change func(*opt.Objective)) {
	t.Helper()
	o := opt.Objective{
		ID: objectiveID, ContextID: objectiveID, Tenant: "acme", Principal: "ann", Name: "Launch", Status: opt.ObjectiveSubmitted, Root: opt.TaskSubmitted,
		Metadata: a2a.Metadata{}.With("team", "x").With("longhaul/v1/reason", "kept"), CreatedAt: a2a.At(start), UpdatedAt: a2a.At(start), Attempt: 1, Revision: 1,
	}
	for n := range 2 {
		p, err := opt.NewPlan(o.ID, n+1, opt.PlanSpec{Name: fmt.Sprintf("Plan %d", n+1), Tasks: []opt.TaskSpec{{Name: "First"}, {Name: "Second"}}}, nil, nil, a2a.At(start))
		if err != nil {
			t.Fatal(err)
		}
		o.Plans = append(o.Plans, p)
	}
	if change != nil {
		change(&o)
	}
	plans := o.Plans
	o.Plans = nil
	s.journal.play(o.ID, opt.Event{Kind: opt.ObjectiveOpened, Objective: &o})
	for _, p := range plans {
		s.journal.play(o.ID, opt.Event{Kind: opt.PlanAdded, PlanID: p.ID, Plan: p})
	}
	s.journal.tasks[o.RootID()].State, s.journal.tasks[o.RootID()].Task.Status.State = o.Root, o.Root.A2A()
}

// unchanged runs f, which must leave everything as it was.
func (s *fixture) unchanged(t *testing.T, f func()) {
	t.Helper()
	events, changes := len(s.journal.log[objectiveID]), len(s.engine.changes)
	f()
	if n := len(s.journal.log[objectiveID]) - events; n != 0 {
		t.Errorf("%d events were recorded", n)
	}
	if len(s.engine.changes) != changes {
		t.Errorf("the engine was asked for %v", s.engine.changes[changes:])
	}
}

// wantRefusal checks the error of a move that is not allowed.
func wantRefusal(t *testing.T, n node, from, to string) {
	t.Helper()
	got := wantCode(t, n, "-32001")
	if want := "Invalid status transition: " + from + " → " + to; got != want {
		t.Errorf("message is %q, want %q", got, want)
	}
	info := n.at("error", "data", "0")
	if info.at("reason").String() != "INVALID_STATE_TRANSITION" || info.at("domain").String() != "github.com/zeroasterisk/a2a-opt" {
		t.Errorf("ErrorInfo is %v", info)
	}
}

// The tables as the extension has them.
var (
	objectiveTable = map[string]string{
		"submitted": "planning working canceled", "planning": "working blocked failed canceled",
		"working": "blocked completed failed canceled", "blocked": "planning working failed canceled",
		"completed": "", "failed": "submitted planning", "canceled": "submitted",
	}
	planTable = map[string]string{
		"pending": "working skipped", "working": "blocked completed failed", "blocked": "working failed skipped",
		"completed": "", "failed": "pending working", "skipped": "",
	}
	taskTable = map[string]string{
		"pending": "submitted working completed failed canceled rejected", "submitted": "working completed failed canceled rejected",
		"working":        "input-required auth-required completed failed canceled rejected",
		"input-required": "working completed failed canceled rejected", "auth-required": "working completed failed canceled rejected",
		"completed": "", "failed": "", "canceled": "", "rejected": "",
	}
)

// pairs runs a test for each two states of a table.
func pairs(t *testing.T, table map[string]string, test func(t *testing.T, from, to string, allowed bool)) {
	for from, next := range table {
		for to := range table {
			t.Run(from+" to "+to, func(t *testing.T) {
				test(t, from, to, from == to || slices.Contains(strings.Fields(next), to))
			})
		}
	}
}

func TestObjectiveUpdate_transitions(t *testing.T) {
	pairs(t, objectiveTable, func(t *testing.T, from, to string, allowed bool) {
		s := newService(t)
		s.have(t, func(o *opt.Objective) {
			o.Status, o.Started, o.Plans = opt.ObjectiveStatus(from), from != "submitted", nil
			switch {
			case from == "blocked":
				o.Root, o.Reason = opt.TaskWorking, opt.BlockedByOperator
			case o.Status.Ended():
				o.Root = opt.TaskState(from)
			case o.Started:
				o.Root = opt.TaskWorking
			}
		})
		update := func() node {
			return s.call(t, "objectives/update", fmt.Sprintf(`{"id":%q,"status":%q}`, objectiveID, to))
		}
		if !allowed {
			s.unchanged(t, func() { wantRefusal(t, update(), from, to) })
			return
		}
		n := update()
		if got := n.at("result", "objective", "status").String(); got != to {
			t.Fatalf("status is %q, want %q: %v", got, to, n)
		}
		root := s.call(t, "GetTask", fmt.Sprintf(`{"id":%q}`, objectiveID+"~2"))
		if again := from != to && opt.ObjectiveStatus(from).Ended(); again == root.has("error") {
			t.Errorf("the root task of the second attempt: %v", root)
		}
	})
}

func TestPlanUpdate_transitions(t *testing.T) {
	pairs(t, planTable, func(t *testing.T, from, to string, allowed bool) {
		s := newService(t)
		s.have(t, func(o *opt.Objective) {
			p := o.Plans[0]
			p.Status, p.Tasks, p.Metadata = opt.PlanStatus(from), nil, p.Metadata.With(opt.KeyOptional, true)
			o.Plans[1].Dependencies = []string{p.ID}
			if from == "pending" {
				return
			}
			p.Started, o.Started, o.Status, o.Root = true, true, opt.ObjectiveWorking, opt.TaskWorking
			if from == "blocked" {
				p.Reason, o.Status, o.Reason = opt.BlockedByOperator, opt.ObjectiveBlocked, opt.BlockedByPlan
			}
		})
		update := func() node {
			return s.call(t, "plans/update", fmt.Sprintf(`{"id":%q,"status":%q}`, planID, to))
		}
		if !allowed {
			s.unchanged(t, func() { wantRefusal(t, update(), from, to) })
			return
		}
		if n := update(); n.at("result", "plan", "status").String() != to {
			t.Errorf("want %s: %v", to, n)
		}
	})
}

func TestTaskUpdate_transitions(t *testing.T) {
	pairs(t, taskTable, func(t *testing.T, from, to string, allowed bool) {
		for _, word := range []string{to, "TASK_STATE_" + strings.ToUpper(strings.ReplaceAll(to, "-", "_"))} {
			s := newService(t)
			s.have(t, func(o *opt.Objective) {
				p, task := o.Plans[0], o.Plans[0].Tasks[0]
				task.State, task.ByHand = opt.TaskState(from), true
				if from != "pending" {
					p.Status, p.Reason, o.Status, o.Reason, o.Root = opt.PlanWorking, opt.ByHand, opt.ObjectiveWorking, opt.ByHand, opt.TaskWorking
				}
			})
			update := func() node {
				return s.call(t, "tasks/updateStatus", fmt.Sprintf(`{"id":%q,"status":%q,"message":"So it is."}`, taskID, word))
			}
			if !allowed {
				s.unchanged(t, func() { wantRefusal(t, update(), from, to) })
				continue
			}
			n := update().at("result")
			if n.at("task", "status").String() != to || n.at("plan", "id").String() != planID || n.at("objective", "id").String() != objectiveID || n.at("objective").has("plans") {
				t.Errorf("want %s: %v", to, n)
			}
			if from != to && len(s.engine.changes) != 1 {
				t.Errorf("the engine was asked for %v", s.engine.changes)
			}
		}
	})
}

// What cannot be is refused before anything is written, each with the code of its
// own and the name of what is wrong.
func TestChanges_refused(t *testing.T) {
	const id, plan, task = `"id":"OBJ"`, `"id":"PLAN"`, `"id":"TASK"`
	long := strings.Repeat("n", 257)
	many := `[` + strings.Repeat(`{"name":"x"},`, 48) + `{"name":"x"}]`
	for name, tc := range map[string]struct {
		method, params string
		code, at       string // at is the field, or the reason, of the error
	}{
		"objective, no id":             {"objectives/update", `{"status":"working"}`, "-32602", "id"},
		"objective, unknown":           {"objectives/update", `{"id":"obj-x"}`, "-32000", "OBJECTIVE_NOT_FOUND"},
		"objective, a plan's id":       {"objectives/update", `{` + plan + `}`, "-32000", "OBJECTIVE_NOT_FOUND"},
		"objective, unknown word":      {"objectives/update", `{` + id + `,"status":"done"}`, "-32602", "status"},
		"objective, a plan's word":     {"objectives/update", `{` + id + `,"status":"skipped"}`, "-32602", "status"},
		"objective, no name":           {"objectives/update", `{` + id + `,"name":""}`, "-32602", "name"},
		"objective, long name":         {"objectives/update", `{` + id + `,"name":"` + long + `"}`, "-32602", "name"},
		"objective, name of no type":   {"objectives/update", `{` + id + `,"name":5}`, "-32602", "name"},
		"objective, long description":  {"objectives/update", `{` + id + `,"description":"` + strings.Repeat("d", 16<<10+1) + `"}`, "-32602", "description"},
		"objective, metadata of text":  {"objectives/update", `{` + id + `,"metadata":"x"}`, "-32602", "metadata"},
		"objective, optional of text":  {"objectives/update", `{` + id + `,"metadata":{"opt/v1/optional":"yes"}}`, "-32602", "metadata.opt/v1/optional"},
		"objective, revision of text":  {"objectives/update", `{` + id + `,"metadata":{"longhaul/v1/revision":"3"}}`, "-32602", "metadata.longhaul/v1/revision"},
		"objective, revision 0":        {"objectives/update", `{` + id + `,"longhaul/v1/revision":0}`, "-32602", "longhaul/v1/revision"},
		"objective, stale":             {"objectives/update", `{` + id + `,"name":"New","metadata":{"longhaul/v1/revision":7}}`, "-32001", "STALE_REVISION"},
		"replan, stale":                {"objectives/replan", `{` + id + `,"longhaul/v1/revision":7}`, "-32001", "STALE_REVISION"},
		"replan, no id":                {"objectives/replan", `{}`, "-32602", "id"},
		"replan, unknown":              {"objectives/replan", `{"id":"obj-x"}`, "-32000", "OBJECTIVE_NOT_FOUND"},
		"replan, reason of no type":    {"objectives/replan", `{` + id + `,"reason":{}}`, "-32602", "reason"},
		"new plan, stale":              {"plans/create", `{"objectiveId":"OBJ","name":"x","metadata":{"longhaul/v1/revision":7}}`, "-32001", "STALE_REVISION"},
		"new plan, cycle":              {"plans/create", `{"objectiveId":"OBJ","name":"x","tasks":[{"name":"a","dependencies":["task-1"]},{"name":"b","dependencies":["task-0"]}]}`, "-32602", "tasks"},
		"new plan, on itself":          {"plans/create", `{"objectiveId":"OBJ","name":"x","tasks":[{"name":"a","dependencies":["task-0"]}]}`, "-32602", "tasks[0].dependencies[0]"},
		"new plan, on nothing":         {"plans/create", `{"objectiveId":"OBJ","name":"x","tasks":[{"name":"a","dependencies":["task-9"]}]}`, "-32602", "tasks[0].dependencies[0]"},
		"new plan, on no plan":         {"plans/create", `{"objectiveId":"OBJ","name":"x","dependencies":["plan-x"]}`, "-32602", "dependencies[0]"},
		"plan, no id":                  {"plans/update", `{}`, "-32602", "id"},
		"plan, unknown":                {"plans/update", `{"id":"PLAN9"}`, "-32000", "PLAN_NOT_FOUND"},
		"plan, an objective's id":      {"plans/update", `{` + id + `}`, "-32000", "PLAN_NOT_FOUND"},
		"plan, a task's id":            {"plans/update", `{` + task + `}`, "-32000", "PLAN_NOT_FOUND"},
		"plan, no id of ours":          {"plans/update", `{"id":"plan-xyz789","status":"completed"}`, "-32000", "PLAN_NOT_FOUND"},
		"plan, an objective's word":    {"plans/update", `{` + plan + `,"status":"canceled"}`, "-32602", "status"},
		"plan, stale":                  {"plans/update", `{` + plan + `,"name":"x","metadata":{"longhaul/v1/revision":7}}`, "-32001", "STALE_REVISION"},
		"plan, blocked by us alone":    {"plans/update", `{` + plan + `,"status":"blocked"}`, "-32001", "INVALID_STATE_TRANSITION"},
		"tasks, no plan":               {"plans/addTasks", `{"tasks":[{"name":"x"}]}`, "-32602", "id"},
		"tasks, unknown plan":          {"plans/addTasks", `{"planId":"PLAN9","tasks":[{"name":"x"}]}`, "-32000", "PLAN_NOT_FOUND"},
		"tasks, none":                  {"plans/addTasks", `{` + plan + `}`, "-32602", "tasks"},
		"tasks, empty":                 {"plans/addTasks", `{` + plan + `,"tasks":[]}`, "-32602", "tasks"},
		"tasks, of no type":            {"plans/addTasks", `{` + plan + `,"tasks":{}}`, "-32602", "tasks"},
		"tasks, without a name":        {"plans/addTasks", `{` + plan + `,"tasks":[{"name":"x"},{}]}`, "-32602", "tasks[1].name"},
		"tasks, long name":             {"plans/addTasks", `{` + plan + `,"tasks":[{"name":"` + long + `"}]}`, "-32602", "tasks[0].name"},
		"tasks, one too many":          {"plans/addTasks", `{` + plan + `,"tasks":` + many + `}`, "-32602", "tasks"},
		"tasks, cycle":                 {"plans/addTasks", `{` + plan + `,"tasks":[{"name":"a","dependencies":["task-3"]},{"name":"b","dependencies":["task-2"]}]}`, "-32602", "tasks"},
		"tasks, on itself":             {"plans/addTasks", `{` + plan + `,"tasks":[{"name":"a","dependencies":["task-2"]}]}`, "-32602", "tasks[0].dependencies[0]"},
		"tasks, on nothing":            {"plans/addTasks", `{` + plan + `,"tasks":[{"name":"a","dependencies":["task-4"]}]}`, "-32602", "tasks[0].dependencies[0]"},
		"tasks, on another plan's":     {"plans/addTasks", `{` + plan + `,"tasks":[{"name":"a","dependencies":["OTHER"]}]}`, "-32602", "tasks[0].dependencies[0]"},
		"tasks, stale":                 {"plans/addTasks", `{` + plan + `,"tasks":[{"name":"a"}],"metadata":{"longhaul/v1/revision":7}}`, "-32001", "STALE_REVISION"},
		"link, no id":                  {"tasks/link", `{"a2aTaskId":"t"}`, "-32602", "id"},
		"link, to nothing":             {"tasks/link", `{` + task + `}`, "-32602", "a2aTaskId"},
		"link, to itself":              {"tasks/link", `{` + task + `,"a2aTaskId":"TASK"}`, "-32602", "a2aTaskId"},
		"link, to its root task":       {"tasks/link", `{` + task + `,"a2aTaskId":"OBJ"}`, "-32602", "a2aTaskId"},
		"link, to a later attempt":     {"tasks/link", `{` + task + `,"a2aTaskId":"OBJ~2"}`, "-32602", "a2aTaskId"},
		"link, to its plan":            {"tasks/link", `{` + task + `,"a2aTaskId":"PLAN"}`, "-32602", "a2aTaskId"},
		"link, to one beside it":       {"tasks/link", `{` + task + `,"a2aTaskId":"OTHER"}`, "-32602", "a2aTaskId"},
		"link, control characters":     {"tasks/link", `{` + task + `,"a2aTaskId":"a\u0000"}`, "-32602", "a2aTaskId"},
		"link, unknown":                {"tasks/link", `{"id":"TASK9","a2aTaskId":"t"}`, "-32000", "PLAN_TASK_NOT_FOUND"},
		"link, the root task":          {"tasks/link", `{` + id + `,"a2aTaskId":"t"}`, "-32000", "PLAN_TASK_NOT_FOUND"},
		"link, stale":                  {"tasks/link", `{` + task + `,"a2aTaskId":"t","longhaul/v1/revision":7}`, "-32001", "STALE_REVISION"},
		"status, no id":                {"tasks/updateStatus", `{"status":"working"}`, "-32602", "id"},
		"status, none":                 {"tasks/updateStatus", `{` + task + `}`, "-32602", "status"},
		"status, unknown word":         {"tasks/updateStatus", `{` + task + `,"status":"done"}`, "-32602", "status"},
		"status, unspecified":          {"tasks/updateStatus", `{` + task + `,"status":"TASK_STATE_UNSPECIFIED"}`, "-32602", "status"},
		"status, small in the long":    {"tasks/updateStatus", `{` + task + `,"status":"TASK_STATE_working"}`, "-32602", "status"},
		"status, message of no type":   {"tasks/updateStatus", `{` + task + `,"status":"working","message":{}}`, "-32602", "message"},
		"status, unknown":              {"tasks/updateStatus", `{"id":"TASK9","status":"working"}`, "-32000", "PLAN_TASK_NOT_FOUND"},
		"status, a task of attempt 2":  {"tasks/updateStatus", `{"id":"TASK~2","status":"working"}`, "-32000", "PLAN_TASK_NOT_FOUND"},
		"status, waits before working": {"tasks/updateStatus", `{` + task + `,"status":"input-required"}`, "-32001", "INVALID_STATE_TRANSITION"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newService(t)
			s.have(t, nil)
			params := strings.NewReplacer("OBJ", objectiveID, "PLAN", planID, "TASK", taskID, "OTHER", opt.TaskID(opt.PlanID(objectiveID, 2), 0)).Replace(tc.params)
			s.unchanged(t, func() {
				n := s.call(t, tc.method, params)
				wantCode(t, n, tc.code)
				if got := field(n) + n.at("error", "data", "0", "reason").String(); got != tc.at {
					t.Errorf("%q is wrong, want %q", got, tc.at)
				}
			})
		})
	}
}

// What belongs to another is as unknown as what is not there.
func TestChanges_anothersObjective(t *testing.T) {
	for method, params := range map[string]string{
		"objectives/update":  `{"id":"` + objectiveID + `","status":"working"}`,
		"objectives/replan":  `{"id":"` + objectiveID + `"}`,
		"plans/create":       `{"objectiveId":"` + objectiveID + `","name":"x"}`,
		"plans/update":       `{"id":"` + planID + `","status":"working"}`,
		"plans/addTasks":     `{"id":"` + planID + `","tasks":[{"name":"x"}]}`,
		"tasks/link":         `{"id":"` + taskID + `","a2aTaskId":"t"}`,
		"tasks/updateStatus": `{"id":"` + taskID + `","status":"working"}`,
	} {
		s := newService(t)
		unknown := s.call(t, method, params)
		s.have(t, nil)
		s.unchanged(t, func() {
			anothers := s.call(t, method, params, "Authorization", "Bearer rival/bob")
			wantCode(t, anothers, "-32000")
			if anothers.String() != unknown.String() {
				t.Errorf("%s: another's gives %v, an unknown one %v", method, anothers, unknown)
			}
		})
	}
}

// Nothing of an objective that has ended, or of a plan that has, can be changed.
func TestChanges_ofWhatHasEnded(t *testing.T) {
	for method, params := range map[string]string{
		"objectives/update":  `{"id":"` + objectiveID + `","name":"New"}`,
		"objectives/replan":  `{"id":"` + objectiveID + `"}`,
		"plans/create":       `{"objectiveId":"` + objectiveID + `","name":"x"}`,
		"plans/update":       `{"id":"` + planID + `","name":"New"}`,
		"plans/addTasks":     `{"id":"` + planID + `","tasks":[{"name":"x"}]}`,
		"tasks/link":         `{"id":"` + taskID + `","a2aTaskId":"t"}`,
		"tasks/updateStatus": `{"id":"` + taskID + `","status":"working"}`,
	} {
		for what, end := range map[string]func(*opt.Objective){
			"ended": func(o *opt.Objective) { o.Status, o.Root = opt.ObjectiveFailed, opt.TaskFailed },
			"stopping": func(o *opt.Objective) {
				o.Status, o.Root, o.Stopping = opt.ObjectiveWorking, opt.TaskWorking, "canceled"
			},
			"plan": func(o *opt.Objective) { o.Plans[0].Status = opt.PlanSkipped },
		} {
			ofPlan := strings.Contains(params, planID) || strings.Contains(params, taskID)
			if what == "plan" && !ofPlan || what == "stopping" && method == "objectives/update" {
				continue // is allowed, or the engine knows better
			}
			s := newService(t)
			s.have(t, end)
			s.unchanged(t, func() {
				n := s.call(t, method, params)
				wantCode(t, n, "-32001")
				if got := n.at("error", "data", "0", "reason").String(); got != "INVALID_STATE_TRANSITION" {
					t.Errorf("%s, %s: reason is %q", method, what, got)
				}
			})
		}
	}
}

// The 11th plan is refused, whatever the engine would say.
func TestCreatePlan_limit(t *testing.T) {
	s := newService(t)
	s.have(t, nil)
	for range opt.MaxPlans - 2 {
		if n := s.call(t, "plans/create", `{"objectiveId":"`+objectiveID+`","name":"x"}`); n.has("error") {
			t.Fatal(n)
		}
	}
	s.unchanged(t, func() {
		n := s.call(t, "plans/create", `{"objectiveId":"`+objectiveID+`","name":"x"}`)
		if text := wantCode(t, n, "-32602"); !strings.Contains(text, "maxPlansPerObjective") {
			t.Errorf("the error does not name the limit: %q", text)
		}
	})
}

// A client that says what it has seen, and is right, may change it; the engine
// has the last word.
func TestChanges_revision(t *testing.T) {
	s := newService(t)
	s.have(t, nil)
	n := s.call(t, "objectives/update", `{"id":"`+objectiveID+`","name":"New","metadata":{"longhaul/v1/revision":1}}`)
	metadata := n.at("result", "objective", "metadata")
	if metadata.at("longhaul/v1/revision").String() != "2" || metadata.at("team").String() != "x" {
		t.Fatalf("metadata is %v", metadata)
	}
}

// Of two clients that have seen the same revision and are both right by the journal
// one is refused: the engine has the last word.
func TestChanges_race(t *testing.T) {
	for method, params := range map[string]string{
		"objectives/update":  `{"id":"` + objectiveID + `","name":"New","longhaul/v1/revision":1}`,
		"objectives/replan":  `{"id":"` + objectiveID + `","longhaul/v1/revision":1}`,
		"plans/create":       `{"objectiveId":"` + objectiveID + `","name":"New","longhaul/v1/revision":1}`,
		"plans/update":       `{"id":"` + planID + `","name":"New","longhaul/v1/revision":1}`,
		"plans/addTasks":     `{"id":"` + planID + `","tasks":[{"name":"New"}],"longhaul/v1/revision":1}`,
		"tasks/link":         `{"id":"` + taskID + `","a2aTaskId":"t","longhaul/v1/revision":1}`,
		"tasks/updateStatus": `{"id":"` + taskID + `","status":"working","longhaul/v1/revision":1}`,
	} {
		s := newService(t)
		s.have(t, nil)
		s.engine.troubles = append(s.engine.troubles, func(e *engine, o *opt.Objective) error {
			e.revise(o, nil)
			return fmt.Errorf("claim: %w", opt.ErrStale)
		})
		n := s.call(t, method, params)
		wantCode(t, n, "-32001")
		info := n.at("error", "data", "0")
		if info.at("reason").String() != "STALE_REVISION" || info.at("metadata", "revision").String() != "2" || info.at("metadata", "seen").String() != "1" {
			t.Errorf("%s: ErrorInfo is %v", method, info)
		}
		if !slices.Equal(s.engine.seen, []int64{1}) {
			t.Errorf("%s: the engine was told %v", method, s.engine.seen)
		}
		// Who says nothing takes what there is.
		if n := s.call(t, method, strings.Replace(params, `,"longhaul/v1/revision":1`, "", 1)); n.has("error") {
			t.Errorf("%s: %v", method, n)
		}
	}
}

// A claim that may or may not have been made is not made again.
func TestChanges_claimUnavailable(t *testing.T) {
	for method, params := range map[string]string{
		"plans/update":       `{"id":"` + planID + `","name":"New","longhaul/v1/revision":1}`,
		"tasks/link":         `{"id":"` + taskID + `","a2aTaskId":"t","longhaul/v1/revision":1}`,
		"tasks/updateStatus": `{"id":"` + taskID + `","status":"working","longhaul/v1/revision":1}`,
	} {
		s := newService(t)
		s.have(t, nil)
		s.engine.troubles = append(s.engine.troubles, func(*engine, *opt.Objective) error { return opt.ErrUnavailable })
		wantCode(t, s.call(t, method, params), "-32603")
		if !slices.Equal(s.engine.seen, []int64{1}) {
			t.Errorf("%s: the engine was told %v", method, s.engine.seen)
		}
	}
}

// A move by hand is progress, and no new revision unless it claims one.
func TestTaskUpdate_revision(t *testing.T) {
	s := newService(t)
	s.have(t, nil)
	for i, params := range []string{`"status":"working"`, `"status":"input-required","longhaul/v1/revision":1`, `"status":"working"`} {
		n := s.call(t, "tasks/updateStatus", `{"id":"`+taskID+`",`+params+`}`).at("result", "objective", "metadata", "longhaul/v1/revision")
		if want := []string{"1", "2", "2"}[i]; n.String() != want {
			t.Errorf("after move %d the revision is %s, want %s", i, n, want)
		}
	}
}

// Metadata is replaced, but for what is the server's.
func TestObjectiveUpdate_metadata(t *testing.T) {
	for name, tc := range map[string]struct{ metadata, want string }{
		"replaced":              {`{"a":1.0}`, `{"a":1.0,"longhaul/v1/reason":"kept","longhaul/v1/revision":2}`},
		"emptied":               {`{}`, `{"longhaul/v1/reason":"kept","longhaul/v1/revision":2}`},
		"null":                  {`null`, `{"longhaul/v1/reason":"kept","longhaul/v1/revision":1,"team":"x"}`},
		"nothing but ours":      {`{"longhaul/v1/reason":"forged","longhaul/v1/revision":1}`, `{"longhaul/v1/reason":"kept","longhaul/v1/revision":1,"team":"x"}`},
		"ours beside theirs":    {`{"longhaul/v1/reason":"forged","opt/v1/objectiveId":"x","openwop":{},"b":null}`, `{"b":null,"longhaul/v1/reason":"kept","longhaul/v1/revision":2}`},
		"what clients may wish": {`{"opt/v1/optional":true}`, `{"longhaul/v1/reason":"kept","longhaul/v1/revision":2,"opt/v1/optional":true}`},
	} {
		s := newService(t)
		s.have(t, nil)
		n := s.call(t, "objectives/update", `{"id":"`+objectiveID+`","metadata":`+tc.metadata+`}`)
		if got := n.at("result", "objective", "metadata").String(); got != tc.want {
			t.Errorf("%s: metadata is %s, want %s", name, got, tc.want)
		}
	}
}

// A plan whose dependencies are done is started whether or not it is its turn, and
// starts its objective; one whose are not is not.
func TestPlanUpdate_dependencies(t *testing.T) {
	second := opt.PlanID(objectiveID, 2)
	s := newService(t)
	s.have(t, func(o *opt.Objective) { o.Plans[1].Dependencies = []string{planID} })
	wantRefusal(t, s.call(t, "plans/update", `{"id":"`+second+`","status":"working"}`), "pending", "working")
	for _, task := range []string{taskID, opt.TaskID(planID, 1)} {
		s.call(t, "tasks/updateStatus", `{"id":"`+task+`","status":"completed"}`)
	}
	n := s.call(t, "plans/update", `{"id":"`+second+`","status":"working"}`)
	if got := n.at("result", "plan", "status").String(); got != "working" {
		t.Fatalf("status is %q: %v", got, n)
	}
	o := s.call(t, "objectives/get", `{"id":"`+objectiveID+`"}`).at("result", "objective")
	if o.at("status").String() != "working" || o.at("plans", "1", "tasks", "0", "status").String() != "working" {
		t.Errorf("the objective is %v", o)
	}
}

// To stay is always allowed, even where it would be to start what cannot be, or what
// is about to stop.
func TestChanges_stay(t *testing.T) {
	second := opt.PlanID(objectiveID, 2)
	s := newService(t)
	s.have(t, func(o *opt.Objective) { o.Plans[1].Dependencies = []string{planID} })
	s.call(t, "tasks/updateStatus", `{"id":"`+opt.TaskID(second, 0)+`","status":"working"}`)
	if n := s.call(t, "plans/update", `{"id":"`+second+`","status":"working"}`); n.at("result", "plan", "status").String() != "working" {
		t.Errorf("the plan is %v", n)
	}
	wantRefusal(t, s.call(t, "plans/update", `{"id":"`+second+`","status":"working","name":"New"}`), "working", "working")

	s = newService(t)
	s.have(t, func(o *opt.Objective) { o.Status, o.Root, o.Started = opt.ObjectiveWorking, opt.TaskWorking, true })
	s.engine.follow(objectiveID)
	s.engine.troubles = append(s.engine.troubles, func(*engine, *opt.Objective) error {
		return fmt.Errorf("update: %w", &opt.MoveError{From: "working", To: "working"})
	})
	if n := s.call(t, "objectives/update", `{"id":"`+objectiveID+`","status":"working"}`); n.at("result", "objective", "status").String() != "working" {
		t.Errorf("the objective is %v", n)
	}
}

// The last task completes its plan, and the last plan the objective.
func TestTaskUpdate_cascade(t *testing.T) {
	s := newService(t)
	s.have(t, nil)
	want := []string{"working working", "completed working", "working working", "completed completed"}
	for i, n := range []int{1, 1, 2, 2} {
		id := opt.TaskID(opt.PlanID(objectiveID, n), i%2)
		r := s.call(t, "tasks/updateStatus", `{"id":"`+id+`","status":"completed","message":"Done by hand."}`).at("result")
		if got := r.at("plan", "status").String() + " " + r.at("objective", "status").String(); got != want[i] {
			t.Errorf("after %s plan and objective are %s, want %s", id, got, want[i])
		}
	}
	task := s.call(t, "GetTask", `{"id":"`+taskID+`"}`).at("result", "status")
	if task.at("state").String() != "TASK_STATE_COMPLETED" || task.at("message", "parts", "0", "text").String() != "Done by hand." {
		t.Errorf("status of the task is %v", task)
	}
	if root := s.call(t, "GetTask", `{"id":"`+objectiveID+`"}`).at("result", "status", "state").String(); root != "TASK_STATE_COMPLETED" {
		t.Errorf("the root task is %s", root)
	}
}

// The answer waits for what follows, and not for ever.
func TestTaskUpdate_waits(t *testing.T) {
	s := newService(t)
	s.have(t, nil)
	s.engine.troubles = append(s.engine.troubles, func(e *engine, o *opt.Objective) error {
		e.moveTask(o.Plans[0], o.Plans[0].Tasks[0], opt.TaskCompleted, opt.ByHand, "")
		return nil // and its plan and objective do not follow
	})
	n := s.call(t, "tasks/updateStatus", `{"id":"`+taskID+`","status":"completed"}`).at("result")
	if n.at("task", "status").String() != "completed" || n.at("plan", "status").String() != "pending" {
		t.Errorf("result is %v", n)
	}
	if got := late(t, "tasks/updateStatus", `{"id":"`+taskID+`","status":"completed"}`, func(e *engine, o *opt.Objective) {
		e.moveTask(o.Plans[0], o.Plans[0].Tasks[0], opt.TaskCompleted, opt.ByHand, "")
		e.movePlan(o.Plans[0], opt.PlanWorking, opt.ByHand)
	}); got.at("plan", "status").String() != "working" || got.at("objective", "status").String() != "working" {
		t.Errorf("result is %v", got)
	}
}

func TestObjectiveUpdate_waitsForTheEnd(t *testing.T) {
	if got := late(t, "objectives/update", `{"id":"`+objectiveID+`","status":"canceled"}`, func(e *engine, o *opt.Objective) {
		e.journal.play(o.ID, opt.Event{Kind: opt.ObjectiveStopping, Reason: "canceled"})
	}); got.at("objective", "status").String() != "canceled" {
		t.Errorf("result is %v", got)
	}
}

// Nothing begins after a client was told that the objective is paused.
func TestObjectiveUpdate_waitsForThePause(t *testing.T) {
	s := newService(t)
	s.have(t, func(o *opt.Objective) { o.Status, o.Started, o.Root = opt.ObjectiveWorking, true, opt.TaskWorking })
	s.engine.follow(objectiveID)
	done := s.later(func(e *engine, o *opt.Objective) { e.pause(o) })
	s.engine.troubles = append(s.engine.troubles, func(e *engine, o *opt.Objective) error {
		e.moveObjective(o, opt.ObjectiveBlocked, opt.BlockedByOperator)
		return nil
	})
	o := s.call(t, "objectives/update", `{"id":"`+objectiveID+`","status":"blocked"}`).at("result", "objective")
	if got := o.at("status").String() + ", " + o.at("plans", "0", "status").String(); got != "blocked, blocked" {
		t.Errorf("objective and plan are %s", got)
	}
	<-done
}

// Who has an objective work that somebody pauses at the same time, or a plan of it, is
// told so, and waits for nothing.
func TestObjectiveUpdate_pausedSince(t *testing.T) {
	for what, pause := range map[string]func(*engine, *opt.Objective){
		"objective": func(e *engine, o *opt.Objective) {
			e.moveObjective(o, opt.ObjectiveBlocked, opt.BlockedByOperator)
		},
		"plan": func(e *engine, o *opt.Objective) {
			e.movePlan(o.Plans[0], opt.PlanWorking, "")
			e.movePlan(o.Plans[0], opt.PlanBlocked, opt.BlockedByOperator)
		},
	} {
		synctest.Test(t, func(t *testing.T) {
			s := newService(t, func(c *config) { c.ReplyWait = time.Hour })
			s.have(t, nil)
			s.engine.troubles = append(s.engine.troubles, func(e *engine, o *opt.Objective) error {
				e.moveObjective(o, opt.ObjectiveWorking, "")
				pause(e, o)
				e.follow(o.ID)
				return nil
			})
			began := time.Now()
			o := s.call(t, "objectives/update", `{"id":"`+objectiveID+`","status":"working"}`).at("result", "objective")
			if waited := time.Since(began); waited > 0 || o.at("status").String() != "blocked" {
				t.Errorf("%s: after %v the objective is %v", what, waited, o)
			}
		})
	}
}

// A plan that was started, and ended before its objective heard of it, starts nothing
// that an answer could wait for.
func TestPlanUpdate_startedAndOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newService(t, func(c *config) { c.ReplyWait = time.Hour })
		s.have(t, func(o *opt.Objective) {
			p := o.Plans[0]
			p.Status, p.Started, p.Metadata = opt.PlanFailed, true, a2a.Metadata{}.With(opt.KeyOptional, true)
			for _, task := range p.Tasks {
				task.State = opt.TaskCanceled
			}
			o.Status, o.Reason, o.Root = opt.ObjectiveWorking, opt.ByHand, opt.TaskWorking
		})
		began := time.Now()
		s.call(t, "plans/addTasks", `{"id":"`+opt.PlanID(objectiveID, 2)+`","tasks":[{"name":"x"}]}`)
		if waited := time.Since(began); waited > 0 {
			t.Errorf("the answer came after %v", waited)
		}
	})
}

// A plan that is asked to stay where it is has not been changed.
func TestPlanUpdate_stays(t *testing.T) {
	for _, status := range []opt.PlanStatus{opt.PlanPending, opt.PlanWorking, opt.PlanBlocked, opt.PlanFailed} {
		s := newService(t)
		s.have(t, func(o *opt.Objective) {
			p := o.Plans[0]
			if status == opt.PlanFailed {
				p.Reason = opt.ByHand // as its task did
			}
			if p.Status = status; status != opt.PlanPending {
				o.Status, o.Started, o.Root, p.Started = opt.ObjectiveWorking, true, opt.TaskWorking, true
			}
		})
		s.unchanged(t, func() {
			n := s.call(t, "plans/update", `{"id":"`+planID+`","status":"`+string(status)+`"}`)
			if n.at("result", "plan", "status").String() != string(status) {
				t.Errorf("asked to stay %s: %v", status, n)
			}
		})
	}
	s := newService(t)
	s.have(t, nil)
	s.call(t, "tasks/updateStatus", `{"id":"`+taskID+`","status":"working"}`)
	s.call(t, "plans/update", `{"id":"`+planID+`","status":"working"}`)
	if s.engine.changes[len(s.engine.changes)-1] != "plan" {
		t.Errorf("a plan that was begun by hand is not started: %v", s.engine.changes)
	}
}

func TestPlanUpdate_waitsForTheRevision(t *testing.T) {
	s := newService(t, func(c *config) { c.ReplyWait = 0 })
	s.have(t, nil)
	done := s.later(func(e *engine, o *opt.Objective) { e.revise(o, nil) })
	s.engine.troubles = append(s.engine.troubles, func(e *engine, o *opt.Objective) error {
		e.journal.play(o.ID, opt.Event{Kind: opt.PlanChanged, PlanID: planID, Change: &opt.Change{}})
		return nil
	})
	s.call(t, "plans/update", `{"id":"`+planID+`","name":"New"}`)
	select {
	case <-done:
	default:
		t.Error("the answer came before the objective knew")
	}
}

// late calls a method of which the engine does no more than begin at first; the
// rest follows when the answer could have come already.
func late(t *testing.T, method, params string, begin func(*engine, *opt.Objective)) node {
	t.Helper()
	s := newService(t, func(c *config) { c.ReplyWait, c.CancelWait = 0, 0 })
	s.have(t, nil)
	s.engine.troubles = append(s.engine.troubles, func(e *engine, o *opt.Objective) error {
		begin(e, o)
		return nil
	})
	s.later(func(e *engine, o *opt.Objective) { e.follow(o.ID) })
	return s.call(t, method, params).at("result")
}

// later has f called once an objective was read after the next change, and returns
// a channel that is closed when that is done.
func (s *fixture) later(f func(*engine, *opt.Objective)) chan struct{} {
	done, begun := make(chan struct{}), false
	s.journal.shown = func() {
		if begun || len(s.engine.changes) == 0 {
			return
		}
		begun = true
		go func() {
			f(s.engine, s.engine.read(objectiveID))
			close(done)
		}()
	}
	return done
}

// A linked task is known by the task that stands in for it.
func TestLinkTask(t *testing.T) {
	s := newService(t)
	s.have(t, nil)
	n := s.call(t, "tasks/link", `{"id":"`+taskID+`","a2aTaskId":"task-elsewhere"}`).at("result", "task")
	if n.at("id").String() != taskID || n.at("a2aTaskId").String() != "task-elsewhere" || n.at("status").String() != "pending" {
		t.Errorf("task is %v", n)
	}
	s.call(t, "tasks/updateStatus", `{"id":"`+taskID+`","status":"working"}`)
	wantRefusal(t, s.call(t, "tasks/link", `{"id":"`+taskID+`","a2aTaskId":"another"}`), "working", "linked")
	plan := s.call(t, "plans/get", `{"id":"`+planID+`"}`).at("result", "plan", "tasks")
	if got := plan.at("0", "a2aTaskId").String() + plan.at("1", "a2aTaskId").String(); got != "task-elsewhere" {
		t.Errorf("tasks are known by %q", got)
	}
}

// A task of ours stands in for another if the caller knows it: then it is followed.
func TestLinkTask_follows(t *testing.T) {
	s := newService(t)
	s.have(t, func(o *opt.Objective) { o.ContextID = "mine" })
	ours := s.send(t, "m-1", "slow work").at("id").String()
	anothers := s.call(t, "SendMessage", `{"message":`+message("m-2", "slow work", "")+`}`, "Authorization", "Bearer rival/bob").at("result", "task", "id").String()
	beside := s.call(t, "SendMessage", `{"message":`+message("m-3", "slow work", `,"contextId":"mine"`)+`}`).at("result", "task", "id").String()
	if n := s.call(t, "tasks/link", `{"id":"`+taskID+`","a2aTaskId":"`+beside+`"}`); wantCode(t, n, "-32602") == "" || field(n) != "a2aTaskId" {
		t.Errorf("to a task in the same context: %v", n)
	}
	s.journal.play(beside, opt.Event{Kind: opt.TaskMoved, TaskID: beside, To: "failed"})
	for i, tc := range []struct {
		id     string
		follow bool
	}{{ours, true}, {beside, true}, {"task-" + ours[4:] + "-0-0", true}, {anothers, false}, {opt.NewObjectiveID([16]byte{1}), false}, {"elsewhere", false}} {
		if n := s.call(t, "tasks/link", `{"id":"`+taskID+`","a2aTaskId":"`+tc.id+`"}`); n.at("result", "task", "a2aTaskId").String() != tc.id {
			t.Errorf("%d: %v", i, n)
		}
		if task := s.journal.objectives[objectiveID].Plan(planID).Task(taskID); task.Link != tc.id || task.Follow != tc.follow {
			t.Errorf("%d: linked to %q, followed is %v", i, task.Link, task.Follow)
		}
	}
}

// Tasks count on from those that are there.
func TestAddTasks(t *testing.T) {
	s := newService(t)
	s.have(t, nil)
	n := s.call(t, "plans/addTasks", `{"planId":"`+planID+`","tasks":[{"name":"Third","dependencies":["task-1"]},{"id":"task-0","name":"Fourth","dependencies":["task-2","`+taskID+`"]}]}`)
	tasks := n.at("result", "plan", "tasks")
	for i, want := range []string{`[]`, `[]`, `["` + opt.TaskID(planID, 1) + `"]`, `["` + opt.TaskID(planID, 2) + `","` + taskID + `"]`} {
		if got := tasks.at(fmt.Sprint(i), "dependencies").String(); got != want {
			t.Errorf("task %d depends on %s, want %s: %v", i, got, want, n)
		}
	}
}

// The answer shows planning, even if that is over by then.
func TestReplan(t *testing.T) {
	for _, reason := range []string{"slow", "quick"} {
		s := newService(t)
		s.have(t, nil)
		s.call(t, "objectives/update", `{"id":"`+objectiveID+`","status":"working"}`)
		o := s.call(t, "objectives/replan", `{"id":"`+objectiveID+`","reason":"`+reason+`"}`).at("result", "objective")
		if o.at("status").String() != "planning" {
			t.Errorf("%s: the objective is %v", reason, o)
		}
		p := o.at("plans", "0")
		if reason == "slow" && (p.at("status").String() != "blocked" || p.at("metadata", "opt/v1/blockedReason").String() != "operator") {
			t.Errorf("%s: the plan is %v", reason, p)
		}
	}
	s := newService(t)
	s.have(t, func(o *opt.Objective) {
		o.Status, o.Started, o.Root, o.Plans = opt.ObjectiveWorking, true, opt.TaskWorking, nil
	})
	s.unchanged(t, func() {
		wantRefusal(t, s.call(t, "objectives/replan", `{"id":"`+objectiveID+`"}`), "working", "planning")
	})
}

// While other plans are being made there is nothing more to ask for.
func TestReplan_twice(t *testing.T) {
	s := newService(t)
	s.have(t, nil)
	s.call(t, "objectives/update", `{"id":"`+objectiveID+`","status":"working"}`)
	s.call(t, "objectives/replan", `{"id":"`+objectiveID+`"}`)
	events := len(s.journal.log[objectiveID])
	s.engine.troubles = append(s.engine.troubles, func(*engine, *opt.Objective) error {
		return fmt.Errorf("replan: %w", &opt.MoveError{From: "planning", To: "planning"})
	})
	o := s.call(t, "objectives/replan", `{"id":"`+objectiveID+`"}`).at("result", "objective")
	if o.at("status").String() != "planning" || len(s.journal.log[objectiveID]) != events {
		t.Errorf("the objective is %v", o)
	}
}

// Who has an objective work while it is replanned goes on with the old plans.
func TestReplan_dropped(t *testing.T) {
	s := newService(t)
	s.have(t, nil)
	update := func() node {
		return s.call(t, "objectives/update", `{"id":"`+objectiveID+`","status":"working"}`).at("result", "objective")
	}
	update()
	s.call(t, "objectives/replan", `{"id":"`+objectiveID+`"}`)
	if o := update(); o.at("status").String() != "working" || o.at("plans", "0", "status").String() != "working" {
		t.Errorf("the objective is %v", o)
	}
}

// A new attempt has a root task of its own, and its tasks are other A2A tasks.
func TestObjectiveUpdate_again(t *testing.T) {
	s := newService(t)
	s.have(t, nil)
	update := func(status string) node {
		return s.call(t, "objectives/update", `{"id":"`+objectiveID+`","status":"`+status+`"}`).at("result", "objective")
	}
	update("working")
	if o := update("canceled"); o.at("status").String() != "canceled" || o.at("plans", "1", "status").String() != "skipped" {
		t.Fatalf("the objective is %v", o)
	}
	s.unchanged(t, func() {
		wantCode(t, s.call(t, "objectives/update", `{"id":"`+objectiveID+`","status":"submitted","name":"New"}`), "-32001")
	})
	// The attempt before takes a moment to leave.
	leaving := func(*engine, *opt.Objective) error { return &opt.MoveError{From: "submitted", To: "submitted"} }
	s.engine.troubles = append(s.engine.troubles, leaving, leaving)
	if o := update("submitted"); o.at("status").String() != "submitted" || o.at("plans", "0", "status").String() != "pending" {
		t.Fatalf("the objective is %v", o)
	}
	update("working")
	tasks := s.call(t, "plans/get", `{"id":"`+planID+`"}`).at("result", "plan", "tasks")
	if tasks.at("0", "a2aTaskId").String() != taskID+"~2" || tasks.at("0", "id").String() != taskID || tasks.at("1").has("a2aTaskId") {
		t.Errorf("tasks are %v", tasks)
	}
	first, second := s.call(t, "GetTask", `{"id":"`+objectiveID+`"}`), s.call(t, "GetTask", `{"id":"`+objectiveID+`~2"}`)
	if first.at("result", "status", "state").String() != "TASK_STATE_CANCELED" || second.at("result", "status", "state").String() != "TASK_STATE_WORKING" {
		t.Errorf("the root tasks are %v and %v", first, second)
	}
}

// What was completed before has begun, and still does not begin the new attempt:
// its answer waits for nothing.
func TestObjectiveUpdate_againAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newService(t, func(c *config) { c.ReplyWait = time.Hour })
		s.have(t, func(o *opt.Objective) {
			o.Status, o.Root, o.Started = opt.ObjectiveFailed, opt.TaskFailed, true
			for i, status := range []opt.PlanStatus{opt.PlanCompleted, opt.PlanFailed} {
				o.Plans[i].Status, o.Plans[i].Started = status, true
				for _, task := range o.Plans[i].Tasks {
					task.State = opt.TaskState(status)
				}
			}
		})
		began := time.Now()
		o := s.call(t, "objectives/update", `{"id":"`+objectiveID+`","status":"submitted"}`).at("result", "objective")
		if waited := time.Since(began); waited > 0 || o.at("plans", "0", "status").String() != "completed" || o.at("plans", "1", "status").String() != "pending" {
			t.Errorf("after %v the objective is %v", waited, o)
		}
	})
}

// Somebody else begins the new attempt first.
func TestObjectiveUpdate_againTwice(t *testing.T) {
	s := newService(t)
	s.have(t, func(o *opt.Objective) {
		o.Status, o.Root, o.Plans = opt.ObjectiveFailed, opt.TaskFailed, nil
	})
	s.engine.troubles = append(s.engine.troubles, func(e *engine, o *opt.Objective) error {
		e.journal.play(o.ID, opt.Event{Kind: opt.ObjectiveAgain, From: "failed", To: "submitted", Attempt: 2})
		return fmt.Errorf("begin again: %w", &opt.MoveError{From: "submitted", To: "submitted"})
	})
	n := s.call(t, "objectives/update", `{"id":"`+objectiveID+`","status":"submitted"}`)
	if got := n.at("result", "objective", "status").String(); got != "submitted" {
		t.Fatalf("status is %q: %v", got, n)
	}
	if o := s.journal.objectives[objectiveID]; o.Attempt != 2 {
		t.Errorf("it is attempt %d", o.Attempt)
	}
}

// What the engine does not have yet, or not any more, is looked for again.
func TestChanges_early(t *testing.T) {
	s := newService(t)
	s.have(t, nil)
	missing := func(*engine, *opt.Objective) error { return fmt.Errorf("update: %w", opt.ErrEnded) }
	s.engine.troubles = append(s.engine.troubles, missing, missing, missing)
	if n := s.call(t, "plans/update", `{"id":"`+planID+`","name":"New"}`); n.at("result", "plan", "name").String() != "New" {
		t.Errorf("a plan that has yet to begin: %v", n)
	}
	s.engine.troubles = append(s.engine.troubles, func(e *engine, o *opt.Objective) error {
		e.movePlan(o.Plan(planID), opt.PlanSkipped, "")
		return opt.ErrEnded
	})
	wantRefusal(t, s.call(t, "plans/update", `{"id":"`+planID+`","status":"working"}`), "skipped", "working")
	// A plan that has yet to begin, by a client that says what it has seen: the
	// objective has taken that, and is at the next revision.
	second := opt.PlanID(objectiveID, 2)
	s.engine.troubles = append(s.engine.troubles, func(e *engine, o *opt.Objective) error {
		e.revise(o, nil)
		return opt.ErrEnded
	})
	revision := s.journal.objectives[objectiveID].Revision
	if n := s.call(t, "plans/update", fmt.Sprintf(`{"id":%q,"name":"New","longhaul/v1/revision":%d}`, second, revision)); n.at("result", "plan", "name").String() != "New" {
		t.Errorf("a plan that has yet to begin: %v", n)
	}
	thrownBack := func(*engine, *opt.Objective) error { return fmt.Errorf("update: %w", opt.ErrUnavailable) }
	for method, params := range map[string]string{
		"objectives/update": `{"id":"` + objectiveID + `","name":"Newer"}`, "plans/update": `{"id":"` + second + `","name":"Newer"}`,
		"tasks/link": `{"id":"` + opt.TaskID(second, 0) + `","a2aTaskId":"t"}`, "tasks/updateStatus": `{"id":"` + opt.TaskID(second, 1) + `","status":"working"}`,
	} {
		s.engine.troubles = append(s.engine.troubles, thrownBack)
		if n := s.call(t, method, params); n.has("error") {
			t.Errorf("%s, thrown back: %v", method, n)
		}
	}
	for range 10 {
		s.engine.troubles = append(s.engine.troubles, missing)
	}
	if text := wantCode(t, s.call(t, "objectives/update", `{"id":"`+objectiveID+`","name":"New"}`), "-32001"); text != "The objective has ended" {
		t.Errorf("an objective that an operator has ended: %q", text)
	}
}

// A change that may or may not have been made is not lost in silence.
func TestChanges_unavailable(t *testing.T) {
	for name, trouble := range map[string]error{
		"no engine": fmt.Errorf("dial: %w", opt.ErrUnavailable),
		"too late":  fmt.Errorf("update: %w", context.DeadlineExceeded),
	} {
		for method, params := range map[string]string{
			"objectives/update":  `{"id":"` + objectiveID + `","status":"working"}`,
			"objectives/replan":  `{"id":"` + objectiveID + `"}`,
			"plans/create":       `{"objectiveId":"` + objectiveID + `","name":"x"}`,
			"plans/update":       `{"id":"` + planID + `","status":"working"}`,
			"plans/addTasks":     `{"id":"` + planID + `","tasks":[{"name":"x"}]}`,
			"tasks/link":         `{"id":"` + taskID + `","a2aTaskId":"t"}`,
			"tasks/updateStatus": `{"id":"` + taskID + `","status":"working"}`,
		} {
			s := newService(t)
			s.have(t, nil)
			s.engine.down = trouble
			n := s.call(t, method, params)
			wantCode(t, n, "-32603")
			if got := n.at("error", "data", "0", "reason").String(); got != "UNAVAILABLE" {
				t.Errorf("%s, %s: reason is %q", name, method, got)
			}
		}
	}
	s := newService(t, func(c *config) { c.CallTimeout = 1 })
	s.have(t, nil)
	s.engine.troubles = append(s.engine.troubles, func(*engine, *opt.Objective) error { return opt.ErrEnded })
	n := s.call(t, "plans/update", `{"id":"`+planID+`","name":"New"}`)
	wantCode(t, n, "-32603")
	s.engine.down = errors.New("a secret")
	if text := wantCode(t, s.call(t, "tasks/link", `{"id":"`+taskID+`","a2aTaskId":"t"}`), "-32603"); text == "a secret" {
		t.Error("the error is told")
	}
}

// Where an objective is blocked can be read from its metadata.
func TestObjective_blockedBy(t *testing.T) {
	s := newService(t)
	s.have(t, func(o *opt.Objective) {
		o.Status, o.Reason, o.Started, o.Root = opt.ObjectiveBlocked, opt.BlockedByInput, true, opt.TaskInputRequired
		p := o.Plans[0]
		p.Status, p.Reason, p.Started = opt.PlanBlocked, opt.BlockedByInput, true
		p.Tasks[1].State, p.Tasks[1].Gate = opt.TaskInputRequired, approval(p.Tasks[1].ID)
	})
	get := func() node {
		return s.call(t, "objectives/get", `{"id":"`+objectiveID+`"}`).at("result", "objective", "metadata")
	}
	task := opt.TaskID(planID, 1)
	want := fmt.Sprintf(`{"interruptId":"%s:1","planId":"%s","question":"Publish?","taskId":"%s"}`, task, planID, task)
	if got := get().at("longhaul/v1/blockedBy").String(); got != want {
		t.Errorf("blocked by %s, want %s", got, want)
	}
	s.call(t, "tasks/updateStatus", `{"id":"`+task+`","status":"working"}`)
	if m := get(); m.has("longhaul/v1/blockedBy") || m.has("opt/v1/blockedReason") {
		t.Errorf("metadata is %v", m)
	}
}

// In a later attempt the metadata of a reply names a plan task as before, which is
// another A2A task by then.
func TestReply_inALaterAttempt(t *testing.T) {
	s := newService(t)
	s.have(t, func(o *opt.Objective) { o.Status, o.Root = opt.ObjectiveCanceled, opt.TaskCanceled })
	for _, status := range []string{"submitted", "working"} {
		s.call(t, "objectives/update", `{"id":"`+objectiveID+`","status":"`+status+`"}`)
	}
	root, waits := objectiveID+"~2", taskID+"~2"
	s.journal.play(objectiveID, opt.Event{Kind: opt.TaskMoved, PlanID: planID, TaskID: waits, From: "working", To: "input-required", Gate: approval(waits)})
	s.engine.deaf = true
	for i, taskIDs := range []string{``, `,"taskId":"` + root + `"`} {
		n := s.call(t, "SendMessage", `{"message":`+message(fmt.Sprint("m", i), "accept", taskIDs+`,"metadata":{"opt/v1/taskId":"`+taskID+`"}`)+`}`)
		if n.has("error") {
			t.Fatal(n)
		}
		l := s.engine.letters[i]
		if l.PlanID != planID || l.Reply == nil || l.Reply.GateID != waits+":1" || l.TaskID != waits && l.ForTask != waits {
			t.Errorf("the letter is %+v", l)
		}
	}
	n := s.call(t, "SendMessage", `{"message":`+message("m", "accept", `,"taskId":"`+root+`","metadata":{"opt/v1/taskId":"`+opt.TaskID(planID, 1)+`"}`)+`}`)
	if len(s.engine.letters) != 3 || s.engine.letters[2].Reply != nil {
		t.Errorf("a note for a task that does not wait: %v", n)
	}
}
