package opt_test

import (
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"

	"longhaul/a2a"
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
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s: uses (-want +got):\n%s", tt.name, diff)
		}
	}
}

// A task waits for the tasks that it uses also where others declare dependencies.
func TestPlan_Ready_waitsForWhatItUses(t *testing.T) {
	p, err := planFrom(opt.PlanSpec{Name: "p", Tasks: []opt.TaskSpec{{Name: "a"}, {Name: "b", Dependencies: []string{}}, {Name: "c", Uses: []string{"task-0"}}}})
	if err != nil {
		t.Fatal(err)
	}
	more, err := p.NewTasks([]opt.TaskSpec{{Name: "d", Dependencies: []string{"task-1"}}})
	if err != nil {
		t.Fatal(err)
	}
	p.Tasks, p.Started = append(p.Tasks, more...), true
	if got := indexes(p.Ready()); got != "0 1" {
		t.Errorf("ready %q, want the two that need nothing", got)
	}
	p.Tasks[1].State = opt.TaskCompleted
	if got := indexes(p.Ready()); got != "0 3" {
		t.Errorf("ready %q before what it uses is there", got)
	}
	p.Tasks[0].State = opt.TaskCompleted
	if got := indexes(p.Ready()); got != "2 3" {
		t.Errorf("ready %q once what it uses is there, want it too", got)
	}
}

// The request of a task is the same in every attempt.
func TestPlan_Apply_retryAsksTheSame(t *testing.T) {
	spec := opt.TaskSpec{
		Name: "t", Description: "d", Dependencies: []string{"task-0"}, Metadata: a2a.Metadata{}.With("k", 1), Executor: "e", Input: []byte(`1`),
		Ask: &opt.Gate{Kind: opt.Approval}, Attempts: 2, Timeout: 3, Retry: opt.Retry{Wait: 4, Except: []string{"x"}}, Uses: []string{"task-0"}, Check: true,
		Notes: []a2a.Message{{MessageID: "n"}}, Standing: "g", Earlier: []opt.Original{{DecidedBy: "bob"}},
	}
	p, err := planFrom(opt.PlanSpec{Name: "p", Tasks: []opt.TaskSpec{{Name: "first"}, spec}})
	if err != nil {
		t.Fatal(err)
	}
	asked := *p.Tasks[1]
	p.Status, p.Tasks[1].State = opt.PlanFailed, opt.TaskFailed
	if err := p.Apply(opt.Event{Kind: opt.PlanRetried, PlanID: p.ID, Attempt: 2}); err != nil {
		t.Fatal(err)
	}
	before, after := reflect.ValueOf(asked), reflect.ValueOf(*p.Tasks[1])
	for _, f := range reflect.VisibleFields(reflect.TypeFor[opt.TaskSpec]()) {
		if f.Name == "Taken" { // a task that is taken over has ended
			continue
		}
		if reflect.ValueOf(spec).FieldByIndex(f.Index).IsZero() {
			t.Errorf("the test gives no %s", f.Name)
		}
		if diff := cmp.Diff(before.FieldByName(f.Name).Interface(), after.FieldByName(f.Name).Interface()); diff != "" {
			t.Errorf("%s (-before +after):\n%s", f.Name, diff)
		}
	}
}
