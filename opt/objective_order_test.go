package opt_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"longhaul/a2a"
	"longhaul/internal/test"
	"longhaul/opt"
)

// The dependencies of a plan that has not begun may be set to any other plans,
// without a cycle.
func TestObjective_Reordered(t *testing.T) {
	for _, tt := range []struct {
		name, plans string
		of          int
		on          []string
		want        []string
		field       string // of the error, or "move"
	}{
		{"another", "pending pending:", 0, []string{plan(2)}, []string{plan(2)}, ""},
		{"one that follows it in the list", "pending pending pending", 0, []string{plan(3)}, nil, "dependencies"},
		{"each once", "pending pending pending", 2, []string{plan(2), plan(1), plan(2)}, []string{plan(2), plan(1)}, ""},
		{"none", "pending pending:0", 1, nil, []string{}, ""},
		{"held", "working! blocked/dependencies:0 pending:", 1, []string{plan(3)}, []string{plan(3)}, ""},
		{"what has ended", "completed! pending", 1, []string{plan(1)}, []string{plan(1)}, ""},
		{"itself", "pending pending", 1, []string{plan(1), plan(2)}, nil, "dependencies[1]"},
		{"nothing there", "pending pending", 1, []string{plan(9)}, nil, "dependencies[0]"},
		{"an index", "pending pending", 1, []string{"plan-0"}, nil, "dependencies[0]"},
		{"cycle of two", "pending pending:0", 0, []string{plan(2)}, nil, "dependencies"},
		{"cycle of three", "pending pending:0 pending:1", 0, []string{plan(3)}, nil, "dependencies"},
		{"outside a cycle", "pending:1 pending: pending:1", 1, []string{}, []string{}, ""},
		{"begun", "working! pending", 0, []string{plan(2)}, nil, "move"},
		{"begun by hand", "working/by-hand pending", 0, []string{plan(2)}, nil, "move"},
		{"told to begin", "pending! pending", 0, []string{plan(2)}, nil, "move"},
		{"at a gate", "blocked!/input pending", 0, []string{plan(2)}, nil, "move"},
		{"ended", "failed?! pending", 0, []string{plan(2)}, nil, "move"},
	} {
		o := objectiveOf(t, tt.plans)
		before := snapshot(t, o)
		got, err := o.Reordered(o.Plans[tt.of], tt.on)
		switch {
		case tt.field == "move":
			test.Error(t, tt.name, opt.ErrMove, err)
		case tt.field != "":
			wantSpecError(t, err, tt.field)
		default:
			test.OK(t, err)
			test.Equal(t, tt.name+": dependencies", tt.want, got)
		}
		test.Equal(t, tt.name+": the objective has changed", before, snapshot(t, o))
	}
}

// What comes before a plan in which people are asked stays so, and what comes before those after it.
func TestObjective_Reordered_people(t *testing.T) {
	for _, tt := range []struct {
		name, plans string
		asks, of    int
		on          []string
		refused     bool
	}{
		{"at once, after it", "blocked! pending:0", 0, 1, nil, true},
		{"at once, after it in the list", "working! pending", 0, 1, nil, true},
		{"at once, far behind it", "working! pending:0 pending:1", 0, 2, nil, true},
		{"between it and those after it", "working! pending:0 pending:1", 0, 1, nil, true},
		{"after another plan, too", "working! pending:0 pending:", 0, 1, []string{plan(1), plan(3)}, true},
		{"in other words", "working! pending:0 pending:1", 0, 2, []string{plan(1), plan(2)}, false},
		{"after it, which it did not come", "working! pending:", 0, 1, []string{plan(1)}, false},
		{"no question near", "pending: pending: pending:1", 0, 2, nil, false},
		{"it asks at once", "working! pending:0", 1, 1, nil, true},
		{"what it is about begins later", "pending: pending:0 pending:", 1, 0, []string{plan(3)}, true},
		{"after it alone", "working! pending:0 pending:1", 0, 2, []string{plan(1)}, false},
		{"after another plan that comes after it, too", "working! pending:0 pending:0", 0, 2, []string{plan(1), plan(2)}, false},
		{"after another plan in its place", "working! pending:0 pending:", 0, 1, []string{plan(3)}, true},
		{"after what was answered", "completed! pending pending", 0, 2, []string{plan(1)}, false},
		{"at once, what was answered", "completed! pending pending", 0, 2, nil, false},
		{"at once, what was replaced", "skipped/replanned pending pending", 0, 2, nil, false},
		{"at once, what may be asked again", "failed?!/timeout pending pending", 0, 2, nil, true},
	} {
		o := objectiveOf(t, tt.plans)
		o.Plans[tt.asks].Tasks = asking()
		if _, err := o.Reordered(o.Plans[tt.of], tt.on); tt.refused {
			wantSpecError(t, err, "dependencies")
		} else if err != nil {
			t.Errorf("%s: %v", tt.name, err)
		}
	}
}

// People have to answer before a plan as long as one before it that asks them is not done.
func TestAwaitsPeople(t *testing.T) {
	for plans, want := range map[string]bool{
		"working! pending": true, "working! pending pending": true, "working! pending:": false, "completed! pending": false,
		"skipped pending": false, "skipped/replanned pending": false,
	} {
		o := objectiveOf(t, plans)
		o.Plans[0].Tasks = asking()
		test.Is(t, plans, want, opt.AwaitsPeople(o, o.Plans[len(o.Plans)-1]))
	}
}

// A question is lost for a plan after it that a client had ended when it was replaced.
func TestLostQuestion(t *testing.T) {
	for _, tt := range []struct {
		plans   string
		endedAt int64
		want    bool
	}{
		{"skipped/replanned skipped", 0, true}, {"skipped/replanned skipped skipped", 0, true}, {"skipped/replanned failed?", 0, true},
		{"skipped/replanned skipped", 2, false}, // the plan is one of those that replaced it
		{"skipped/replanned skipped:", 0, false}, {"skipped/replanned skipped/replanned skipped/canceled", 0, false},
		{"skipped/replanned pending", 0, false}, {"skipped/replanned failed/failed", 0, false}, {"skipped skipped", 0, false}, {"working! skipped", 0, false},
	} {
		o := objectiveOf(t, tt.plans)
		p := o.Plans[len(o.Plans)-1]
		o.Plans[0].Tasks, o.Plans[0].UpdatedAt, p.UpdatedAt = asking(), a2a.AtMillis(1), a2a.AtMillis(tt.endedAt)
		test.Is(t, tt.plans, tt.want, opt.LostQuestion(o, p))
	}
}

func asking() []*opt.Task { return []*opt.Task{{Name: "Approve", Ask: &opt.Gate{Kind: opt.Approval}}} }

// Startable follows the new dependencies.
func TestObjective_Apply_reorder(t *testing.T) {
	for _, tt := range []struct {
		plans     string
		of        int
		on        []string
		startable string
	}{
		{"pending pending: pending:", 0, []string{plan(3)}, "1 2"},
		{"pending pending: pending", 0, []string{plan(3)}, "1"},
		{"working! pending pending:", 1, []string{plan(3)}, "2"},
		{"working! pending pending", 1, []string{}, "1"},
		{"working! pending pending:0", 2, []string{}, "2"},
		{"completed! pending pending", 2, []string{plan(1)}, "1 2"},
		{"working! blocked/dependencies:0 pending", 1, []string{}, "1"},
		{"working! blocked/dependencies:0 pending:0", 1, []string{}, "1"},
	} {
		o := objectiveOf(t, tt.plans)
		for i, e := range []opt.Event{
			{Kind: opt.PlanChanged, PlanID: plan(tt.of + 1), Change: &opt.Change{Dependencies: tt.on}},
			{Kind: opt.PlanChanged, PlanID: plan(tt.of + 1), Change: &opt.Change{}}, // changes no order
		} {
			test.OK(t, o.Apply(e))
			if got := places(o, o.Startable()); got != tt.startable {
				t.Errorf("%s, plan %d on %v: startable are %s after change %d", tt.plans, tt.of, tt.on, got, i)
			}
		}
	}
	o := objectiveOf(t, "pending")
	test.Error(t, "no plan", opt.ErrUnknown, o.Apply(opt.Event{Kind: opt.PlanChanged, PlanID: plan(9), Change: &opt.Change{}}))
	p := planOf(t, "pending")
	for _, on := range [][]string{{plan(2)}, nil, {}} {
		test.OK(t, p.Apply(opt.Event{Kind: opt.PlanChanged, Change: &opt.Change{Dependencies: on}}))
	}
	if p.Dependencies == nil || len(p.Dependencies) != 0 {
		t.Errorf("the plan depends on %v", p.Dependencies)
	}
}

func TestPlan_DependsOn(t *testing.T) {
	p := &opt.Plan{Dependencies: []string{plan(1), plan(2)}}
	for _, tt := range []struct {
		on   []string
		want bool
	}{{[]string{plan(2), plan(1)}, true}, {[]string{plan(1)}, false}, {[]string{plan(1), plan(3)}, false}, {nil, false}, {[]string{plan(1), plan(2), plan(3)}, false}} {
		test.Is(t, fmt.Sprintf("depends on %v", tt.on), tt.want, p.DependsOn(tt.on))
	}
}

// An empty list frees a plan that follows the list, as long as it has not begun.
func TestPlan_DependsOn_none(t *testing.T) {
	o := objectiveOf(t, "working! pending pending:")
	for i, want := range []bool{true, false, true} {
		test.Is(t, fmt.Sprintf("plan %d depends on nothing", i), want, o.Plans[i].DependsOn([]string{}))
	}
}

// Of a list in which some declare dependencies, each of the others follows the one before
// it. By rules before version 3 it follows none.
func TestObjective_Before(t *testing.T) {
	for _, tt := range []struct{ row, list, loose string }{
		{"pending pending pending", "|0|1", "|0|1"},
		{"pending pending pending pending:1", "|0|1|1", "|||1"},
		{"pending pending: pending", "||1", "|0|1"},
		{"pending pending:0,2 pending: pending", "|0,2||2", "|0,2||"},
	} {
		for _, loose := range []bool{false, true} {
			o, p := objectiveOf(t, tt.row), planOf(t, tt.row)
			o.Loose, p.Loose = loose, loose
			var plans, tasks []string
			for i := range o.Plans {
				plans = append(plans, strings.ReplaceAll(places(o, o.Before(o.Plans[i])), " ", ","))
				tasks = append(tasks, strings.ReplaceAll(indexes(p.Before(p.Tasks[i])), " ", ","))
			}
			want := map[bool]string{false: tt.list, true: tt.loose}[loose]
			if p, q := strings.Join(plans, "|"), strings.Join(tasks, "|"); p != want || q != want {
				t.Errorf("%s, loose %v: plans follow %s, tasks %s, want %s", tt.row, loose, p, q, want)
			}
		}
	}
}

// Stored and sent as JSON, an empty list of dependencies stays one, and none stays none.
func TestTask_dependenciesInJSON(t *testing.T) {
	p := planOf(t, "pending pending: pending:1")
	p.Dependencies = []string{}
	data := test.Value(json.Marshal(p))(t)
	var again opt.Plan
	test.OK(t, json.Unmarshal(data, &again))
	test.Equal(t, "the plan after JSON", p, &again)
}
