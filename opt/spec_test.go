package opt_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"longhaul/a2a"
	"longhaul/opt"
)

const objectiveID = "obj-" + u

func TestNewPlan(t *testing.T) {
	at := a2a.AtMillis(1)
	metadata := a2a.Metadata{}.With("k", 1)
	got, err := opt.NewPlan(objectiveID, 3, opt.PlanSpec{
		Name: "p", Description: "d", Metadata: metadata, Dependencies: []string{"plan-0"},
		Tasks: []opt.TaskSpec{
			{Name: "a", Description: "x", Executor: "e", Attempts: 2, Timeout: 9, Metadata: metadata},
			{Name: "b", Dependencies: []string{"task-0"}, Ask: &opt.Gate{Kind: opt.Approval}},
		},
	}, []*opt.Plan{{ID: plan(1)}}, []string{plan(1), plan(2), plan(3)}, at)
	if err != nil {
		t.Fatal(err)
	}
	want := &opt.Plan{
		ID: plan(3), ObjectiveID: objectiveID, Name: "p", Description: "d", Metadata: metadata, Dependencies: []string{plan(1)},
		Status: opt.PlanPending, CreatedAt: at, UpdatedAt: at,
		Tasks: []*opt.Task{
			{ID: task(3, 0), Name: "a", Description: "x", State: opt.TaskPending, Executor: "e", Attempts: 2, Timeout: 9, Metadata: metadata},
			{ID: task(3, 1), Index: 1, Name: "b", State: opt.TaskPending, Dependencies: []string{task(3, 0)}, Ask: &opt.Gate{Kind: opt.Approval}},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("plan (-want +got):\n%s", diff)
	}
}

func TestNewPlan_taskReferences(t *testing.T) {
	tests := []struct {
		name  string
		refs  []string // each the dependencies of one task
		want  string   // the same, as indexes; "" if it is refused
		field string
	}{
		{"none", []string{"", "", ""}, "||", ""},
		{"backward", []string{"", "task-0", "task-0 task-1"}, "|0|0 1", ""},
		{"forward", []string{"task-2 task-1", "", ""}, "2 1||", ""},
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
		{"circle of two", []string{"task-1", "task-0"}, "", "tasks"},
		{"circle of four", []string{"task-3", "task-0", "task-1", "task-2", ""}, "", "tasks"},
		{"circle behind others", []string{"", "task-0 task-3", "task-1", "task-2"}, "", "tasks"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p, err := newPlan(tt.refs...)
			if tt.field != "" {
				wantSpecError(t, err, tt.field)
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, task := range p.Tasks {
				var on []string
				for _, id := range task.Dependencies {
					on = append(on, fmt.Sprint(p.Task(id).Index))
				}
				got = append(got, strings.Join(on, " "))
			}
			if got := strings.Join(got, "|"); got != tt.want {
				t.Errorf("dependencies %q, want %q", got, tt.want)
			}
		})
	}
}

func TestNewPlan_planReferences(t *testing.T) {
	tests := []struct {
		name string
		refs []string // each the dependencies of one plan of a request
		ok   bool
	}{
		{"none", []string{"", ""}, true},
		{"backward and forward", []string{"plan-2", "plan-0", ""}, true},
		{"by id", []string{"", plan(1)}, true},
		{"past the end", []string{"", "plan-2"}, false},
		{"self", []string{"plan-0"}, false},
		{"a task", []string{"", "task-0"}, false},
		{"unknown id", []string{plan(7)}, false},
		{"circle of two", []string{"plan-1", "plan-0"}, false},
		{"circle of three", []string{"plan-1", "plan-2", "plan-0"}, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := newPlans(tt.refs...)
			if tt.ok && err != nil {
				t.Error(err)
			} else if !tt.ok {
				wantSpecError(t, err, "dependencies")
			}
		})
	}
}

func TestNewPlan_limits(t *testing.T) {
	tasks := func(n int) []opt.TaskSpec { return slices.Repeat([]opt.TaskSpec{{Name: "t"}}, n) }
	tests := []struct {
		name  string
		spec  opt.PlanSpec
		field string
	}{
		{"fifty tasks", opt.PlanSpec{Name: "p", Tasks: tasks(50)}, ""},
		{"fifty-one tasks", opt.PlanSpec{Name: "p", Tasks: tasks(51)}, "tasks"},
		{"no name", opt.PlanSpec{}, "name"},
		{"long name", opt.PlanSpec{Name: strings.Repeat("ä", 256)}, ""},
		{"too long a name", opt.PlanSpec{Name: strings.Repeat("ä", 257)}, "name"},
		{"long description", opt.PlanSpec{Name: "p", Description: strings.Repeat("x", 16<<10)}, ""},
		{"too long a description", opt.PlanSpec{Name: "p", Description: strings.Repeat("x", 16<<10+1)}, "description"},
		{"task without a name", opt.PlanSpec{Name: "p", Tasks: []opt.TaskSpec{{Name: "t"}, {}}}, "tasks[1].name"},
		{"task with too long a name", opt.PlanSpec{Name: "p", Tasks: []opt.TaskSpec{{Name: strings.Repeat("x", 257)}}}, "tasks[0].name"},
		{"task with too long a description", opt.PlanSpec{Name: "p", Tasks: []opt.TaskSpec{{Name: "t", Description: strings.Repeat("x", 16<<10+1)}}}, "tasks[0].description"},
	}
	for _, tt := range tests {
		_, err := opt.NewPlan(objectiveID, 1, tt.spec, nil, nil, a2a.Time{})
		if tt.field != "" {
			wantSpecError(t, err, tt.field)
		} else if err != nil {
			t.Errorf("%s: %v", tt.name, err)
		}
	}
}

// A circle would leave its tasks waiting for each other for ever.
func TestNewPlan_refusesExactlyCircles(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	circles := 0
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
		want := circular(reach)
		if want {
			circles++
		}
		if _, err := newPlan(refs...); (err != nil) != want {
			t.Fatalf("dependencies %q: %v, want a circle: %v", refs, err, want)
		}
		for i := range refs {
			refs[i] = strings.ReplaceAll(refs[i], "task", "plan")
		}
		if _, err := newPlans(refs...); (err != nil) != want {
			t.Fatalf("plan dependencies %q: %v, want a circle: %v", refs, err, want)
		}
	}
	if circles < 500 || circles > 2500 {
		t.Errorf("%d of 3000 had a circle, which tests little", circles)
	}
}

// circular closes reach (Warshall) and reports whether anything reaches itself.
func circular(reach [][]bool) bool {
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
// dependencies, parted by blanks.
func newPlan(refs ...string) (*opt.Plan, error) {
	spec := opt.PlanSpec{Name: "p"}
	for i, r := range refs {
		spec.Tasks = append(spec.Tasks, opt.TaskSpec{Name: fmt.Sprintf("t%d", i), Dependencies: strings.Fields(r)})
	}
	return opt.NewPlan(objectiveID, 1, spec, nil, nil, a2a.Time{})
}

// newPlans makes plans from 1 on, with the dependencies in refs.
func newPlans(refs ...string) (plans []*opt.Plan, err error) {
	var batch []string
	for i := range refs {
		batch = append(batch, plan(i+1))
	}
	for i, r := range refs {
		spec := opt.PlanSpec{Name: fmt.Sprintf("p%d", i), Dependencies: strings.Fields(r)}
		p, err := opt.NewPlan(objectiveID, i+1, spec, plans, batch, a2a.Time{})
		if err != nil {
			return nil, err
		}
		plans = append(plans, p)
	}
	return plans, nil
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

// snapshot returns all there is of v.
func snapshot(t *testing.T, v any) string {
	t.Helper()
	b, err := json.MarshalIndent(v, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
