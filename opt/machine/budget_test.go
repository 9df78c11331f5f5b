package machine_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"longhaul/a2a"
	"longhaul/internal/test"
	"longhaul/opt"
	"longhaul/opt/machine"
)

// A budgeted plan is one whose request has a budget.
type budgeted struct {
	*testing.T
	m      *machine.Plan
	now    int64
	events []opt.Event
}

// newBudgeted begins a plan with tasks that follow none.
func newBudgeted(t *testing.T, budget string, tasks ...*opt.Task) *budgeted {
	t.Helper()
	for i, of := range tasks {
		of.ID, of.Index, of.State, of.Dependencies = task(1, i), i, opt.TaskPending, []string{}
	}
	request := a2a.Message{MessageID: "m", Metadata: a2a.Metadata{a2a.ExtensionBudget: json.RawMessage(budget)}.With(opt.KeyAuthor, "ann")}
	m := &machine.Plan{State: machine.PlanState{
		Rules: machine.Rules, Plan: opt.Plan{ID: plan(1), ObjectiveID: objectiveID, Status: opt.PlanPending, Tasks: tasks}, ContextID: "c", RootID: objectiveID,
		Request: &request, First: &machine.Directed{Directive: machine.Directive{N: 1, Start: true, Since: 1000}},
	}}
	b := &budgeted{T: t, m: m, now: 1000}
	b.handle(machine.Opened{})
	b.handle(machine.Begin{})
	return b
}

func (b *budgeted) handle(in machine.Input) {
	b.events = append(b.events, b.m.Handle(a2a.AtMillis(b.now), in)...)
}

// end ends the leg of the first activity, and begins what may begin.
func (b *budgeted) end(out opt.Outcome) {
	b.Helper()
	running := b.m.Wants().Activities
	if len(running) == 0 {
		b.Fatal("nothing is running")
	}
	b.handle(machine.Ended{Key: running[0].Key, Outcome: out})
	b.handle(machine.Begin{})
}

// answer has ann answer the gate of a task.
func (b *budgeted) answer(i int, r opt.Reply) {
	b.Helper()
	r.GateID = b.gate(i).ID
	b.handle(machine.Letter{Letter: opt.Letter{TaskID: task(1, i), Message: a2a.Message{MessageID: "to " + r.GateID}, Principal: "ann", Reply: &r}})
	b.handle(machine.Begin{})
}

// gate returns the gate of a task.
func (b *budgeted) gate(i int) *opt.Gate {
	b.Helper()
	g := b.m.State.Plan.Tasks[i].Gate
	if g == nil {
		b.Fatalf("task %d waits for no one: %s", i, b.m.State.Plan.Tasks[i].State)
	}
	return g
}

// want compares the states of the tasks, and how many run.
func (b *budgeted) want(tasks string, running int) {
	b.Helper()
	var states []string
	for _, t := range b.m.State.Plan.Tasks {
		state := string(t.State)
		if t.Gate != nil && t.Gate.Budget {
			state = "budget"
		}
		states = append(states, state)
	}
	if got := strings.Join(states, " "); got != tasks || len(b.m.Wants().Activities) != running {
		b.Fatalf("%s, running %v, want %s, %d", got, b.m.Wants().Activities, tasks, running)
	}
}

func next(used, needs opt.Usage) opt.Outcome {
	return opt.Outcome{State: opt.TaskWorking, Park: &opt.Park{Needs: needs}, Memo: json.RawMessage(`1`), Usage: &used}
}

var turn = opt.Usage{Output: 1, Cost: 1}

// At a limit the next step waits for those who have set it. The answer continues the round, of every task
// that waits for the same, and no executor gets it.
func TestPlan_budget(t *testing.T) {
	b := newBudgeted(t, `{"tokens":10}`, &opt.Task{}, &opt.Task{})
	b.m.State.Plan.Limits.Parallel = 2
	b.handle(machine.Begin{})
	b.end(next(opt.Usage{Output: 10}, turn))
	b.want("budget working", 1)
	b.end(next(opt.Usage{Output: 5}, turn))
	b.want("budget working", 0)
	g := b.gate(0)
	if string(g.Object[0].Data) != `{"tokens":20}` || g.Responders.Principals[0] != "ann" || !strings.Contains(g.Description, "10 of 10 tokens") {
		t.Errorf("gate %+v", g)
	}
	b.answer(0, opt.Reply{Action: opt.EditAccept, Edited: []a2a.Part{a2a.TextPart("more")}})
	b.want("budget working", 0)
	b.answer(0, opt.Reply{Action: opt.Accept})
	b.want("working working", 2)
	w := b.m.State.WorkOf(b.m.Wants().Activities[0])
	if w.Round != 1 || w.Leg != 1 || len(w.Replies) != 0 || string(w.Memo) != "1" || w.Limits.Tokens != 20 {
		t.Errorf("work %+v", w)
	}
	if r := b.m.State.Report; r.Raised.Tokens != 20 || r.Spent.Output != 15 || !r.Limited {
		t.Errorf("report %+v", r)
	}
}

// One gate asks for all tasks that are held. After a raise as many begin as there is room for, and one gate asks for
// the rest, which a rejection ends.
func TestPlan_budgetHeldTogether(t *testing.T) {
	b := newBudgeted(t, `{"calls":0}`, &opt.Task{}, &opt.Task{}, &opt.Task{}, &opt.Task{})
	b.m.State.Plan.Limits.Parallel = 4
	b.handle(machine.Begin{})
	for range 4 {
		b.end(next(opt.Usage{}, opt.Usage{Calls: 1}))
	}
	b.want("budget working working working", 0)
	if got := string(b.gate(0).Object[0].Data); got != `{"calls":1}` { // no other was held when it opened
		t.Errorf("the gate proposes %s", got)
	}
	b.answer(0, opt.Reply{Action: opt.EditAccept, Edited: []a2a.Part{a2a.DataPart(opt.SpendLimit{Calls: 3})}})
	b.want("working working budget working", 2)
	for _, e := range b.events {
		if e.Status != nil && strings.Contains(e.Status.Text(), "was raised") && e.TaskID != task(1, 1) {
			t.Errorf("%s is released, and there is no room for it", e.TaskID)
		}
	}
	if got := b.gate(2); string(got.Object[0].Data) != `{"calls":4}` || !strings.Contains(got.Description, "2 of 2 calls") {
		t.Errorf("the gate for the rest: %s %s", got.Description, got.Object[0].Data)
	}
	b.answer(2, opt.Reply{Action: opt.Reject, Feedback: "Enough."})
	b.want("working working failed failed", 2)
	if said := b.m.State.Plan.Tasks[3].Failure; !strings.Contains(said, "Enough.") {
		t.Errorf("said %q", said)
	}
}

// The next one asks when the task that asks for all is ended.
func TestPlan_budgetHeldAsksAgain(t *testing.T) {
	optional := a2a.Metadata{}.With(opt.KeyOptional, true)
	b := newBudgeted(t, `{"calls":0}`, &opt.Task{Metadata: optional}, &opt.Task{Metadata: optional})
	b.m.State.Plan.Limits.Parallel = 2
	b.handle(machine.Begin{})
	b.end(next(opt.Usage{}, opt.Usage{Calls: 1}))
	b.end(next(opt.Usage{}, opt.Usage{Calls: 1}))
	b.want("budget working", 0)
	b.handle(machine.Directed{Directive: machine.Directive{N: 2, Start: true, Since: 1000, Command: "c"}, Command: &opt.Command{
		ID: "c", Kind: opt.CancelTask, PlanID: plan(1), TaskID: task(1, 0),
	}})
	b.handle(machine.Begin{})
	b.want("canceled budget", 0)
}

// What people have raised for other plans does not take a plan above what its playbook allows.
func TestPlan_budgetRaisedElsewhere(t *testing.T) {
	b := newBudgeted(t, `{}`, &opt.Task{})
	b.m.State.Plan.Budget = &opt.Budget{SpendLimit: opt.SpendLimit{Tokens: 10}, Most: opt.SpendLimit{Tokens: 15}}
	b.m.State.Raised = opt.SpendLimit{Tokens: 100}
	b.end(next(opt.Usage{Output: 10}, turn))
	b.want("working", 1)
	b.end(next(opt.Usage{Output: 5}, turn))
	b.want("failed", 0)
}

// A plan that a client adds has the budget of the playbook, whose plans the objective has.
func TestObjective_budgetOfAddedPlan(t *testing.T) {
	for rules, want := range map[int]*opt.Budget{machine.Rules: {SpendLimit: opt.SpendLimit{Tokens: 10}, Most: opt.SpendLimit{Tokens: 15}}, 20: nil} {
		budget := opt.Budget{SpendLimit: opt.SpendLimit{Tokens: 10}, Most: opt.SpendLimit{Tokens: 15}}
		kept := opt.Kept{Objective: opt.Objective{ID: objectiveID, Status: opt.ObjectiveWorking, Root: opt.TaskWorking, Plans: []*opt.Plan{{
			ID: plan(1), ObjectiveID: objectiveID, Status: opt.PlanWorking, Budget: &budget, Tasks: []*opt.Task{{ID: task(1, 0), State: opt.TaskWorking}},
		}}}}
		m := machine.RestoreObjective(kept, 0, rules)
		m.Handle(a2a.AtMillis(1), machine.Command{Command: opt.Command{ID: "c", Kind: opt.CreatePlan, Plan: &opt.PlanSpec{Name: "q", Tasks: []opt.TaskSpec{{Name: "t"}}}}})
		added := m.State.Objective.Plan(plan(2))
		if added == nil {
			t.Fatal("no plan was added")
		}
		test.Equal(t, fmt.Sprintf("rules %d: budget", rules), want, added.Budget)
	}
}

// The budget of a playbook is that of a message without one, and no one raises any above what the operator allows.
func TestPlan_budgetOfPlaybook(t *testing.T) {
	for _, message := range []string{`{}`, `{"tokens":1000}`} {
		b := newBudgeted(t, message, &opt.Task{})
		b.m.State.Plan.Budget = &opt.Budget{SpendLimit: opt.SpendLimit{Tokens: 10}, Most: opt.SpendLimit{Tokens: 15}}
		b.end(next(opt.Usage{Output: 10}, turn))
		if message == `{}` {
			b.want("budget", 0)
			if g := b.gate(0); string(g.Object[0].Data) != `{"tokens":15}` || !strings.Contains(g.Description, "10 of 15") {
				t.Errorf("gate: %s %s", g.Description, g.Object[0].Data)
			}
			b.answer(0, opt.Reply{Action: opt.EditAccept, Edited: []a2a.Part{a2a.DataPart(opt.SpendLimit{Tokens: 100})}})
		}
		b.want("working", 1)
		b.end(next(opt.Usage{Output: 5}, turn))
		if b.want("failed", 0); b.m.State.Plan.Tasks[0].Reason != opt.CodeBudget || b.m.State.Raised.Tokens > 15 {
			t.Errorf("%s: %+v, raised to %d", message, b.m.State.Plan.Tasks[0], b.m.State.Raised.Tokens)
		}
	}
}

// A plan counts the use of others in its directives, and continues when the budget is raised there.
func TestPlan_budgetBeside(t *testing.T) {
	b := newBudgeted(t, `{"tokens":10}`, &opt.Task{})
	told := machine.Directive{N: 2, Start: true, Since: 1000, Spent: opt.Usage{Input: 9}}
	b.handle(machine.Directed{Directive: told})
	b.end(next(opt.Usage{Output: 1}, turn))
	b.want("budget", 0)
	told.N, told.Raised = 3, opt.SpendLimit{Tokens: 20}
	b.handle(machine.Directed{Directive: told})
	b.handle(machine.Begin{})
	b.want("working", 1)
}

// Rejected, or with fail, the task fails, after the work that it has begun elsewhere was canceled.
func TestPlan_budgetEnds(t *testing.T) {
	for _, elsewhere := range []bool{false, true} {
		for _, budget := range []string{`{"calls":0,"onExceeded":"fail"}`, `{"calls":0}`} {
			b := newBudgeted(t, budget, &opt.Task{})
			out := next(opt.Usage{}, opt.Usage{Calls: 1})
			out.OnCancel = elsewhere
			b.end(out)
			if !strings.Contains(budget, "fail") {
				b.answer(0, opt.Reply{Action: opt.Reject})
			}
			if elsewhere {
				b.want("working", 1)
				b.end(opt.Outcome{State: opt.TaskFailed})
			}
			if b.want("failed", 0); b.m.State.Plan.Tasks[0].Reason != opt.CodeBudget {
				t.Errorf("%s: %+v", budget, b.m.State.Plan.Tasks[0])
			}
		}
	}
}

// A call counts when its leg begins, and other legs need none.
func TestPlan_budgetCalls(t *testing.T) {
	b := newBudgeted(t, `{"calls":1}`, &opt.Task{})
	b.end(next(opt.Usage{}, opt.Usage{Calls: 1}))
	b.want("working", 1)
	b.end(next(opt.Usage{}, opt.Usage{}))
	b.want("working", 1)
	b.end(next(opt.Usage{}, opt.Usage{Calls: 1}))
	b.want("budget", 0)
	if b.m.State.Report.Spent.Calls != 1 {
		t.Errorf("report %+v", b.m.State.Report)
	}
}

// A question that the budget does not have opens after it was raised, with the number that its executor expects.
func TestPlan_budgetQuestions(t *testing.T) {
	b := newBudgeted(t, `{"questions":0}`, &opt.Task{})
	asks := &opt.Gate{Kind: opt.Approval, Title: "Go on?", Actions: []opt.Action{opt.Accept, opt.Reject}}
	b.end(opt.Outcome{State: opt.TaskInputRequired, Gate: asks})
	b.want("budget", 0)
	b.answer(0, opt.Reply{Action: opt.Accept})
	b.want("input-required", 0)
	if g := b.gate(0); g.Title != "Go on?" || g.ID != opt.GateID(task(1, 0), 1) {
		t.Errorf("gate %+v", g)
	}
	if b.answer(0, opt.Reply{Action: opt.Accept}); b.m.State.Spent[task(1, 0)].Questions != 1 {
		t.Errorf("used %+v", b.m.State.Spent)
	}
	b.want("working", 1)
}

// An authorization for work elsewhere is asked for without questions, too, and that work is watched meanwhile.
func TestPlan_budgetAuthorization(t *testing.T) {
	b := newBudgeted(t, `{"questions":0}`, &opt.Task{})
	asks := &opt.Gate{Kind: opt.Credential, Title: "Sign in", Actions: []opt.Action{opt.Accept, opt.Reject}}
	b.end(opt.Outcome{State: opt.TaskAuthRequired, Gate: asks, Park: &opt.Park{}})
	b.want("auth-required", 1)
	if g := b.gate(0); g == nil || g.Title != "Sign in" || b.m.State.Spent[task(1, 0)].Questions != 1 {
		t.Errorf("gate %+v, used %+v", g, b.m.State.Spent)
	}
	b.end(opt.Outcome{State: opt.TaskCompleted})
	b.want("completed", 0)
}

// After the time no step begins. The wait for more is none of it.
func TestPlan_budgetTime(t *testing.T) {
	b := newBudgeted(t, `{"time":60}`, &opt.Task{})
	b.now += 59_999
	b.end(next(opt.Usage{}, opt.Usage{}))
	b.want("working", 1)
	b.now++
	b.end(next(opt.Usage{}, opt.Usage{}))
	b.want("budget", 0)
	b.now += 3_600_000
	b.answer(0, opt.Reply{Action: opt.Accept})
	b.want("working", 1)
	if got := b.m.State.Raised.Time; got != 120+3600 {
		t.Errorf("raised to %d s", got)
	}
}

// Where an executor has a budget for the objective, plans hear what others use while they run.
func TestPlan_budgetOfExecutor(t *testing.T) {
	b := newBudgeted(t, `{}`, &opt.Task{})
	b.end(next(opt.Usage{Input: 1}, turn))
	if b.m.State.Report.Spent.Input != 0 {
		t.Error("without a budget the use of one leg is reported alone")
	}
	out := next(opt.Usage{Input: 1}, turn)
	out.Budgets = &opt.Budgets{Objective: opt.SpendLimit{Tokens: 9}}
	b.end(out)
	if r := b.m.State.Report; !r.Limited || r.Spent.Input != 2 {
		t.Errorf("report %+v", r)
	}
}

// Each event with the use of something says what the request may use, as people have raised it; not under earlier rules.
func TestPlan_budgetShown(t *testing.T) {
	asks := &opt.Gate{Kind: opt.Approval, Title: "Go on?", Actions: []opt.Action{opt.Accept, opt.Reject}}
	for rules, want := range map[int][]int64{machine.Rules: {9, 9, 9, 20}, 21: {0, 0, 0, 0}} {
		b := newBudgeted(t, `{"tokens":9}`, &opt.Task{})
		b.m.State.Rules = rules
		b.end(next(opt.Usage{Input: 1}, opt.Usage{Calls: 1}))
		b.end(opt.Outcome{State: opt.TaskInputRequired, Gate: asks})
		b.answer(0, opt.Reply{Action: opt.Accept})
		b.m.State.Raised = opt.SpendLimit{Tokens: 20}
		b.end(next(opt.Usage{Input: 1}, opt.Usage{}))
		var got []int64
		for _, e := range b.events {
			if e.Usage != nil && e.Budgets == nil {
				got = append(got, 0)
			} else if e.Usage != nil {
				got = append(got, e.Budgets.Objective.Tokens)
			}
		}
		test.Equal(t, fmt.Sprintf("rules %d: the limits are", rules), want, got)
	}
}
