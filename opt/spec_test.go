package opt_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"longhaul/a2a"
	"longhaul/internal/test"
	"longhaul/opt"
)

const objectiveID = "obj-" + u

func TestObjective_NewPlans(t *testing.T) {
	at := a2a.AtMillis(1)
	metadata := a2a.Metadata{}.With("k", 1)
	o := &opt.Objective{ID: objectiveID, Plans: []*opt.Plan{{ID: plan(1)}}, Limits: opt.Limits{Plans: 3, Timeout: 7}}
	plans, err := o.NewPlans([]opt.PlanSpec{{Name: "before"}, {
		Name: "p", Description: "d", Metadata: metadata, Dependencies: []string{"plan-0"},
		Tasks: []opt.TaskSpec{
			{Name: "a", Description: "x", Executor: "e", Attempts: 2, Timeout: 9, Metadata: metadata},
			{Name: "b", Dependencies: []string{"task-0"}, Ask: &opt.Gate{Kind: opt.Approval}},
		},
	}}, at)
	if err != nil || len(plans) != 2 || len(o.Plans) != 1 {
		t.Fatalf("%d plans were made, the objective has %d: %v", len(plans), len(o.Plans), err)
	}
	want := &opt.Plan{
		ID: plan(3), ObjectiveID: objectiveID, Name: "p", Description: "d", Metadata: metadata, Dependencies: []string{plan(2)},
		Status: opt.PlanPending, CreatedAt: at, UpdatedAt: at, Limits: o.Limits,
		Tasks: []*opt.Task{
			{ID: task(3, 0), Name: "a", Description: "x", State: opt.TaskPending, Executor: "e", Attempts: 2, Timeout: 9, Metadata: metadata},
			{ID: task(3, 1), Index: 1, Name: "b", State: opt.TaskPending, Dependencies: []string{task(3, 0)}, Ask: &opt.Gate{Kind: opt.Approval}},
		},
	}
	test.Equal(t, "plan", want, plans[1])
}

func TestObjective_NewPlans_taskReferences(t *testing.T) {
	tests := []struct {
		name  string
		refs  []string // each the dependencies of one task
		want  string   // the same, as indexes; "" if it is refused
		field string
	}{
		{"none", []string{"", "", ""}, "||", ""},
		{"backward", []string{"", "task-0", "task-0 task-1"}, "|0|0 1", ""},
		{"forward", []string{"task-2 task-1", "-", "-"}, "2 1||", ""},
		{"forward in the list", []string{"task-1", ""}, "", "tasks"},
		{"forward to the end of the list", []string{"", "task-3", "", ""}, "", "tasks"},
		{"by id", []string{"", task(1, 0)}, "|0", ""},
		{"twice", []string{"", "task-0 task-0"}, "|0", ""},
		{"by index and id", []string{"", "task-0 " + task(1, 0)}, "|0", ""},
		{"leading zero", []string{"", "task-00"}, "|0", ""},
		{"diamond", []string{"", "task-0", "task-0", "task-1 task-2"}, "|0|0|1 2", ""},
		{"one past the end", []string{"", "task-2"}, "", "tasks[1].dependencies[0]"},
		{"too large to count", []string{"", "task-0 task-99999999999999999999"}, "", "tasks[1].dependencies[1]"},
		{"self", []string{"", "task-1"}, "", "tasks[1].dependencies[0]"},
		{"self by id", []string{task(1, 0)}, "", "tasks[0].dependencies[0]"},
		{"unknown id", []string{"", task(1, 7)}, "", "tasks[1].dependencies[0]"},
		{"task of another plan", []string{"", task(2, 0)}, "", "tasks[1].dependencies[0]"},
		{"a plan", []string{"", "plan-0"}, "", "tasks[1].dependencies[0]"},
		{"a name", []string{"", "t0"}, "", "tasks[1].dependencies[0]"},
		{"cycle of two", []string{"task-1", "task-0"}, "", "tasks"},
		{"cycle of four", []string{"task-3", "task-0", "task-1", "task-2", ""}, "", "tasks"},
		{"cycle behind others", []string{"", "task-0 task-3", "task-1", "task-2"}, "", "tasks"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p, err := newPlan(tt.refs...)
			if tt.field != "" {
				wantSpecError(t, err, tt.field)
				return
			}
			test.OK(t, err)
			var got []string
			for _, task := range p.Tasks {
				var on []string
				for _, id := range task.Dependencies {
					on = append(on, fmt.Sprint(p.Task(id).Index))
				}
				got = append(got, strings.Join(on, " "))
			}
			test.Is(t, "dependencies", tt.want, strings.Join(got, "|"))
		})
	}
}

func TestObjective_NewPlans_planReferences(t *testing.T) {
	tests := []struct {
		name string
		refs []string // each the dependencies of one plan of a request
		ok   bool
	}{
		{"none", []string{"", ""}, true},
		{"backward and forward", []string{"plan-2", "plan-0", "-"}, true},
		{"forward in the list", []string{"plan-2", "", ""}, false},
		{"by id", []string{"", plan(1)}, true},
		{"past the end", []string{"", "plan-2"}, false},
		{"self", []string{"plan-0"}, false},
		{"a task", []string{"", "task-0"}, false},
		{"unknown id", []string{plan(7)}, false},
		{"cycle of two", []string{"plan-1", "plan-0"}, false},
		{"cycle of three", []string{"plan-1", "plan-2", "plan-0"}, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := newPlans(tt.refs...)
			if tt.ok && err != nil {
				t.Error(err)
			} else if !tt.ok {
				wantSpecError(t, err, "plans")
			}
		})
	}
}

func TestObjective_NewPlans_limits(t *testing.T) {
	tasks := func(n int) []opt.TaskSpec { return slices.Repeat([]opt.TaskSpec{{Name: "t"}}, n) }
	tests := []struct {
		name  string
		spec  opt.PlanSpec
		field string
	}{
		{"fifty tasks", opt.PlanSpec{Name: "p", Tasks: tasks(50)}, ""},
		{"fifty-one tasks", opt.PlanSpec{Name: "p", Tasks: tasks(51)}, "tasks"},
		{"no name", opt.PlanSpec{}, "name"},
		{"blank name", opt.PlanSpec{Name: " \t\n\u00a0"}, "name"},
		{"name between blanks", opt.PlanSpec{Name: " p "}, ""},
		{"NUL in the name", opt.PlanSpec{Name: "a\x00b"}, "name"},
		{"NUL in the description", opt.PlanSpec{Name: "p", Description: "\x00"}, "description"},
		{"task with a blank name", opt.PlanSpec{Name: "p", Tasks: []opt.TaskSpec{{Name: " "}}}, "tasks[0].name"},
		{"task with NUL in its name", opt.PlanSpec{Name: "p", Tasks: []opt.TaskSpec{{Name: "\x00"}}}, "tasks[0].name"},
		{"task with NUL in its description", opt.PlanSpec{Name: "p", Tasks: []opt.TaskSpec{{Name: "t", Description: "a\x00"}}}, "tasks[0].description"},
		{"long name", opt.PlanSpec{Name: strings.Repeat("ä", 256)}, ""},
		{"too long a name", opt.PlanSpec{Name: strings.Repeat("ä", 257)}, "name"},
		{"long description", opt.PlanSpec{Name: "p", Description: strings.Repeat("x", 16<<10)}, ""},
		{"too long a description", opt.PlanSpec{Name: "p", Description: strings.Repeat("x", 16<<10+1)}, "description"},
		{"task without a name", opt.PlanSpec{Name: "p", Tasks: []opt.TaskSpec{{Name: "t"}, {}}}, "tasks[1].name"},
		{"task with too long a name", opt.PlanSpec{Name: "p", Tasks: []opt.TaskSpec{{Name: strings.Repeat("x", 257)}}}, "tasks[0].name"},
		{"task with too long a description", opt.PlanSpec{Name: "p", Tasks: []opt.TaskSpec{{Name: "t", Description: strings.Repeat("x", 16<<10+1)}}}, "tasks[0].description"},
	}
	for _, tt := range tests {
		p, err := planFrom(tt.spec)
		if err == nil && (p.Name != tt.spec.Name || p.Description != tt.spec.Description) {
			t.Errorf("%s: the plan is called %q, %q", tt.name, p.Name, p.Description)
		}
		if tt.field != "" {
			wantSpecError(t, err, tt.field)
		} else if err != nil {
			t.Errorf("%s: %v", tt.name, err)
		}
	}
}

// Tasks of a cycle would wait for each other forever.
func TestObjective_NewPlans_refusesExactlyCycles(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	cycles := 0
	for range 3000 {
		n := 1 + r.IntN(7)
		refs := make([]string, n)
		reach := make([][]bool, n) // reach[i][j]: i depends on j, directly or not
		for i := range n {
			reach[i] = make([]bool, n)
			for j := range n {
				if i != j && r.Float64() < 1.2/float64(n) {
					refs[i] += fmt.Sprintf("task-%d ", j)
					reach[i][j] = true
				}
			}
		}
		for i := range n {
			switch {
			case refs[i] != "":
			case r.IntN(2) == 0:
				refs[i] = "-"
			case i > 0: // it follows the list
				reach[i][i-1] = true
			}
		}
		want := cyclic(reach)
		if want {
			cycles++
		}
		if _, err := newPlan(refs...); (err != nil) != want {
			t.Fatalf("dependencies %q: %v, want a cycle: %v", refs, err, want)
		}
		for i := range refs {
			refs[i] = strings.ReplaceAll(refs[i], "task", "plan")
		}
		if _, err := newPlans(refs...); (err != nil) != want {
			t.Fatalf("plan dependencies %q: %v, want a cycle: %v", refs, err, want)
		}
	}
	const want = `plans: the dependencies form a cycle: "p1" waits for "p3", "p3" follows "p2" in the list, "p2" follows "p1" in the list; to follow the list no longer, declare dependencies, [] for none`
	if _, err := newPlans("", "plan-3", "", ""); err == nil || err.Error() != want {
		t.Errorf("the error is %v", err)
	}
	if cycles < 500 || cycles > 2500 {
		t.Errorf("%d of 3000 had a cycle, which tests little", cycles)
	}
}

// cyclic closes reach (Warshall) and reports whether anything reaches itself.
func cyclic(reach [][]bool) bool {
	for k := range reach {
		for i := range reach {
			for j := range reach {
				reach[i][j] = reach[i][j] || reach[i][k] && reach[k][j]
			}
		}
	}
	for i := range reach {
		if reach[i][i] {
			return true
		}
	}
	return false
}

// newPlan makes plan 1 with a task for each of refs, which holds the task's
// dependencies, parted by blanks: "-" for an empty list, "" if it declares none.
func newPlan(refs ...string) (*opt.Plan, error) {
	spec := opt.PlanSpec{Name: "p"}
	for i, r := range refs {
		spec.Tasks = append(spec.Tasks, opt.TaskSpec{Name: fmt.Sprintf("t%d", i), Dependencies: refsOf(r)})
	}
	return planFrom(spec)
}

func refsOf(text string) []string {
	if text == "" {
		return nil
	}
	return slices.DeleteFunc(strings.Fields(text), func(ref string) bool { return ref == "-" })
}

// planFrom makes plan 1 from spec.
func planFrom(spec opt.PlanSpec) (*opt.Plan, error) {
	return (&opt.Objective{ID: objectiveID}).NewPlan(spec, a2a.Time{})
}

// newPlans makes plans from 1 on, with the dependencies in refs.
func newPlans(refs ...string) ([]*opt.Plan, error) {
	var specs []opt.PlanSpec
	for i, r := range refs {
		specs = append(specs, opt.PlanSpec{Name: fmt.Sprintf("p%d", i), Dependencies: refsOf(r)})
	}
	return (&opt.Objective{ID: objectiveID}).NewPlans(specs, a2a.Time{})
}

func plan(n int) string    { return opt.PlanID(objectiveID, n) }
func task(n, m int) string { return opt.TaskID(plan(n), m) }

func wantSpecError(t *testing.T, err error, field string) {
	t.Helper()
	var spec *opt.SpecError
	if !errors.As(err, &spec) || !strings.HasPrefix(spec.Field, field) {
		t.Errorf("error %v, want a SpecError of %s", err, field)
	} else if !strings.HasPrefix(err.Error(), spec.Field+": ") {
		t.Errorf("error %q does not begin with its field", err)
	}
}

// snapshot returns all of v.
func snapshot(t *testing.T, v any) string {
	t.Helper()
	b := test.Value(json.MarshalIndent(v, "", " "))(t)
	return string(b)
}
