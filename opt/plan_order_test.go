package opt_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"longhaul/internal/test"
	"longhaul/opt"
)

// orderOf reads an order such as "2:0,1 3:": task 2 waits for 0 and 1, task 3 for none.
func orderOf(t *testing.T, p *opt.Plan, text string) (out []opt.TaskOrder) {
	t.Helper()
	for word := range strings.FieldsSeq(text) {
		of, on, _ := strings.Cut(word, ":")
		o := opt.TaskOrder{ID: p.Tasks[number(t, of)].ID, Dependencies: []string{}}
		for ref := range strings.SplitSeq(on, ",") {
			if ref != "" {
				o.Dependencies = append(o.Dependencies, p.Tasks[number(t, ref)].ID)
			}
		}
		out = append(out, o)
	}
	return out
}

// waits lists what each task of p waits for, by their places.
func waits(p *opt.Plan) string {
	var out []string
	for _, t := range p.Tasks {
		var on []string
		for _, b := range p.Before(t) {
			on = append(on, fmt.Sprint(b.Index))
		}
		out = append(out, strings.Join(on, ","))
	}
	return strings.Join(out, " ")
}

func TestReordered(t *testing.T) {
	for _, tt := range []struct {
		name, plan, order string
		want              string // what all wait for then, or the field of the error
	}{
		{"two of a list change places", "completed pending pending pending", "2:0 1:2 3:1", " 2 0 1"},
		{"the first of a list", "pending pending", "1: 0:1", "1 "},
		{"to the side", "working pending pending", "2:", " 0 "},
		{"after what was completed", "completed pending: pending:1", "2:0", "  0"},
		{"twice the same", "completed pending pending", "2:0,1,0", " 0 0,1"},
		{"what follows in the list", "pending pending pending", "1:2", "tasks"},
		{"a cycle", "pending: pending:0", "0:1", "tasks"},
		{"itself", "pending: pending:0", "1:1", "tasks[0].dependencies[0]"},
		{"what has begun", "pending: working:", "1:0", "tasks[0].id"},
		{"what waits for people", "pending: input-required:", "1:0", "tasks[0].id"},
		{"what has ended", "pending: failed?:", "1:0", "tasks[0].id"},
		{"one twice", "pending: pending:", "1:0 1:", "tasks[1].id"},
	} {
		p := planOf(t, tt.plan)
		before := snapshot(t, p)
		order := orderOf(t, p, tt.order)
		changed, err := opt.Reordered(p, order)
		if strings.HasPrefix(tt.want, "tasks") {
			wantSpecError(t, err, tt.want)
		} else if err != nil {
			t.Errorf("%s: %v", tt.name, err)
		}
		test.Is(t, tt.name+": the plan has changed", before, snapshot(t, p))
		if err != nil {
			continue
		}
		test.OK(t, p.Apply(opt.Event{Kind: opt.TasksOrdered, Order: changed}))
		test.Is(t, tt.name+": they wait for", tt.want, waits(p))
		if again, err := opt.Reordered(p, order); len(again) > 0 || err != nil {
			t.Errorf("%s: again, it changes %v, %v", tt.name, again, err)
		}
	}
	p := planOf(t, "pending")
	test.Error(t, "no task", opt.ErrUnknown, p.Apply(opt.Event{Kind: opt.TasksOrdered, Order: []opt.TaskOrder{{ID: "task-9"}}}))
	for order, field := range map[string][]opt.TaskOrder{"tasks[0].id": {{ID: "task-9"}}, "tasks[0].dependencies[0]": {{ID: p.Tasks[0].ID, Dependencies: []string{"task-9"}}}} {
		_, err := opt.Reordered(p, field)
		wantSpecError(t, err, order)
	}
}

// A new attempt at a plan has the order of the one before it, also of tasks that were added later.
func TestReordered_retried(t *testing.T) {
	p := planOf(t, "completed failed pending pending")
	order := test.Value(opt.Reordered(p, orderOf(t, p, "2:0 3:2")))(t)
	for _, e := range []opt.Event{{Kind: opt.TasksOrdered, Order: order}, {Kind: opt.PlanRetried, Attempt: 2}} {
		test.OK(t, p.Apply(e))
		p.Status = opt.PlanFailed
	}
	if got := waits(p); got != " 0 0 2" || p.Tasks[1].Run != 2 || p.Tasks[3].Run != 2 || p.Tasks[0].State != opt.TaskCompleted {
		t.Errorf("in the new attempt they wait for %q: %v", got, p.Tasks)
	}
	if again, err := opt.Reordered(p, orderOf(t, p, "1:3")); err != nil || len(again) != 1 || again[0].ID != p.Tasks[1].A2AID() {
		t.Errorf("the failed task gets another order: %v, %v", again, err)
	}
}

// What waits for people stays behind them, they are asked after the same as before, and what they have accepted is
// all that the next task gets. The plan: Draft, Other beside it, Approve after Draft, Pay and Note after that, Mail
// after Pay, whose input names the result of Draft.
func TestReordered_people(t *testing.T) {
	const draft, other, approve, pay, note, mail = "0", "1", "2", "3", "4", "5"
	plan := func(t *testing.T) *opt.Plan {
		p := planOf(t, "completed: pending: pending:0 pending:2 pending:2 pending:3")
		p.Tasks[2].Ask = &opt.Gate{Kind: opt.Approval}
		p.Tasks[5].Uses = []string{p.Tasks[0].ID}
		return p
	}
	all := func(p *opt.Plan) { p.Tasks[2].Ask.Form = &opt.GateForm{Object: []string{opt.AllResults}} }
	asks := func(p *opt.Plan) { p.Tasks[2].Ask.Kind = opt.Clarification }
	open := func(p *opt.Plan) {
		p.Tasks[2].Ask, p.Tasks[2].State, p.Tasks[2].Gate = nil, opt.TaskInputRequired, &opt.Gate{}
	}
	passed := func(p *opt.Plan) { p.Tasks[2].State = opt.TaskCompleted }
	for _, tt := range []struct {
		name  string
		set   func(*opt.Plan)
		order string
		want  string // the problem, "" for none
	}{
		{"before the approval", nil, pay + ":" + draft, "has to stay after"},
		{"at once", nil, pay + ":", "has to stay after"},
		{"at once, behind a question", asks, pay + ":", "has to stay after"},
		{"at once, behind an open question", open, pay + ":", "has to stay after"},
		{"at once, behind what was approved", passed, pay + ":", "has to stay after"},
		{"around it", nil, mail + ":" + draft, "has to stay after"},
		{"before it, and that after another", nil, pay + ":" + draft + " " + approve + ":" + pay, "right"},
		{"the approval at once", nil, approve + ":", "asks people, and has to stay after"},
		{"the approval of something else, too", nil, approve + ":" + draft + "," + other, "does not show the results of"},
		{"the approval of all that comes before", all, approve + ":" + draft + "," + other, ""},
		{"the question after another", asks, approve + ":" + draft + "," + other, ""},
		{"another result past the approval", nil, pay + ":" + approve + "," + other, "which is not about the results of"},
		{"another result past the question", asks, pay + ":" + approve + "," + other, ""},
		{"what comes after the same, right behind it", nil, pay + ":" + approve + "," + note, "which is not about the results of"},
		{"what comes after the same, later", nil, mail + ":" + pay + "," + note, ""},
		{"another result, later", nil, mail + ":" + pay + "," + other, "which is not about the results of"},
		{"the approval by name", nil, mail + ":" + pay + "," + approve, ""},
		{"before what its input names", asks, mail + ":" + approve + " ", ""},
		{"later than others", nil, other + ":" + mail, ""},
		{"a result from before the approval, right behind it", nil, pay + ":" + approve + "," + draft, "which is not about the results of"},
		{"another result before the approval, and past it", all, approve + ":" + other + " " + other + ":" + draft, "has to show the results of"},
		{"another result before the approval", func(p *opt.Plan) { all(p); p.Tasks[5].Uses = nil }, approve + ":" + other + " " + other + ":" + draft, ""},
		{"no longer right behind the approval", func(p *opt.Plan) { p.Tasks[3].Dependencies = append(p.Tasks[3].Dependencies, p.Tasks[4].ID) }, pay + ":" + note, "has to stay right after"},
		{"a check of something else", func(p *opt.Plan) { p.Tasks[1].Check = true }, other + ":" + draft, "keeps its order"},
	} {
		p := plan(t)
		if tt.set != nil {
			tt.set(p)
		}
		_, err := opt.Reordered(p, orderOf(t, p, tt.order))
		problem := ""
		if err != nil {
			problem = err.Error()
		}
		switch {
		case tt.want == "right" && err == nil, tt.want == "" && err != nil, tt.want != "right" && !strings.Contains(problem, tt.want):
			t.Errorf("%s: %v, want %q", tt.name, err, tt.want)
		}
	}
	// A task that was put before an approval does not pass its result on behind that in a second change.
	p := planOf(t, "pending: pending: pending:0 pending:2")
	p.Tasks[2].Ask = &opt.Gate{Kind: opt.Approval, Form: &opt.GateForm{Object: []string{opt.AllResults}}}
	first, err := opt.Reordered(p, orderOf(t, p, "0:1"))
	if err = errors.Join(err, p.Apply(opt.Event{Kind: opt.TasksOrdered, Order: first})); err != nil {
		t.Fatal(err)
	}
	_, err = opt.Reordered(p, orderOf(t, p, "3:2,1"))
	wantSpecError(t, err, "tasks[0].dependencies")
	p = planOf(t, "completed: pending: pending:0,1")
	p.Tasks[2].Uses = []string{p.Tasks[0].ID}
	_, err = opt.Reordered(p, orderOf(t, p, "2:1"))
	if wantSpecError(t, err, "tasks[0].dependencies"); err != nil && !strings.Contains(err.Error(), "whose result its input names") {
		t.Error(err)
	}
}
