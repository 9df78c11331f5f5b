package opt_test

import (
	"reflect"
	"testing"

	"longhaul/a2a"
	"longhaul/internal/test"
	"longhaul/opt"
)

// A task may use the results of tasks before it: in list order those above it,
// otherwise any, since it then waits for them.
func TestObjective_NewPlan_uses(t *testing.T) {
	for _, tt := range []struct {
		name  string
		tasks []opt.TaskSpec
		want  []string // ids that tasks use, one after the other
		field string
	}{
		{"list", []opt.TaskSpec{{Name: "a"}, {Name: "b"}, {Name: "c", Uses: []string{"task-0", task(1, 1), "task-0"}}}, []string{task(1, 0), task(1, 1)}, ""},
		{"later in the list", []opt.TaskSpec{{Name: "a", Uses: []string{"task-1"}}, {Name: "b"}}, nil, "tasks[0].uses[0]"},
		{"itself", []opt.TaskSpec{{Name: "a"}, {Name: "b", Uses: []string{"task-0", "task-1"}}}, nil, "tasks[1].uses[1]"},
		{"nothing there", []opt.TaskSpec{{Name: "a"}, {Name: "b", Uses: []string{"task-2"}}}, nil, "tasks[1].uses[0]"},
		{"graph", []opt.TaskSpec{{Name: "a", Dependencies: []string{"task-1"}}, {Name: "b", Dependencies: []string{}}, {Name: "c", Uses: []string{"task-0"}}}, []string{task(1, 0)}, ""},
		{"later in a graph", []opt.TaskSpec{{Name: "a", Uses: []string{"task-1"}}, {Name: "b", Dependencies: []string{}}, {Name: "c", Dependencies: []string{"task-1"}}}, []string{task(1, 1)}, ""},
		{"cycle", []opt.TaskSpec{{Name: "a", Dependencies: []string{"task-1"}}, {Name: "b", Uses: []string{"task-0"}}}, nil, "tasks"},
	} {
		p, err := planFrom(opt.PlanSpec{Name: "p", Tasks: tt.tasks})
		if tt.field != "" {
			wantSpecError(t, err, tt.field)
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		var got []string
		for _, task := range p.Tasks {
			got = append(got, task.Uses...)
		}
		test.Equal(t, tt.name+": uses", tt.want, got)
	}
}

// A task waits for the tasks that it uses also where others declare dependencies.
func TestPlan_Ready_waitsForWhatItUses(t *testing.T) {
	p := test.Value(planFrom(opt.PlanSpec{Name: "p", Tasks: []opt.TaskSpec{{Name: "a"}, {Name: "b", Dependencies: []string{}}, {Name: "c", Uses: []string{"task-0"}}}}))(t)
	more := test.Value(p.NewTasks([]opt.TaskSpec{{Name: "d", Dependencies: []string{"task-1"}}}))(t)
	p.Tasks, p.Started = append(p.Tasks, more...), true
	test.Is(t, "ready", "0 1", indexes(p.Ready()))
	p.Tasks[1].State = opt.TaskCompleted
	test.Is(t, "ready before what it uses is there", "0 3", indexes(p.Ready()))
	p.Tasks[0].State = opt.TaskCompleted
	test.Is(t, "ready once what it uses is there", "2 3", indexes(p.Ready()))
}

// The request of a task is the same in every attempt.
func TestPlan_Apply_retryAsksTheSame(t *testing.T) {
	spec := opt.TaskSpec{
		Name: "t", Description: "d", Dependencies: []string{"task-0"}, Metadata: a2a.Metadata{}.With("k", 1), Executor: "e", Input: []byte(`1`),
		Ask: &opt.Gate{Kind: opt.Approval}, Attempts: 2, Timeout: 3, Retry: opt.Retry{Wait: 4, Except: []string{"x"}}, Uses: []string{"task-0"}, Check: true,
		Notes: []a2a.Message{{MessageID: "n"}}, Standing: "g", Earlier: []opt.Original{{DecidedBy: "bob"}},
	}
	p := test.Value(planFrom(opt.PlanSpec{Name: "p", Tasks: []opt.TaskSpec{{Name: "first"}, spec}}))(t)
	asked := *p.Tasks[1]
	p.Status, p.Tasks[1].State = opt.PlanFailed, opt.TaskFailed
	test.OK(t, p.Apply(opt.Event{Kind: opt.PlanRetried, PlanID: p.ID, Attempt: 2}))
	before, after := reflect.ValueOf(asked), reflect.ValueOf(*p.Tasks[1])
	for _, f := range reflect.VisibleFields(reflect.TypeFor[opt.TaskSpec]()) {
		if f.Name == "Taken" { // a task that is taken over has ended
			continue
		}
		if reflect.ValueOf(spec).FieldByIndex(f.Index).IsZero() {
			t.Errorf("the test gives no %s", f.Name)
		}
		test.Equal(t, f.Name, before.FieldByName(f.Name).Interface(), after.FieldByName(f.Name).Interface())
	}
}
