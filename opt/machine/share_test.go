package machine_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"longhaul/a2a"
	"longhaul/internal/test"
	"longhaul/opt"
	"longhaul/opt/machine"
)

// A sharing is an objective with a budget of 20 tokens and plans that do not wait for each other.
type sharing struct {
	*testing.T
	m *machine.Objective
}

func newSharing(t *testing.T, plans int) *sharing { return newSharingUnder(t, machine.Rules, plans) }

func newSharingUnder(t *testing.T, rules, plans int) *sharing {
	t.Helper()
	var given []opt.PlanSpec
	for i := range plans {
		given = append(given, opt.PlanSpec{Name: fmt.Sprint("p", i+1), Dependencies: []string{}, Metadata: a2a.Metadata{}.With(opt.KeyOptional, true), Tasks: []opt.TaskSpec{{Name: "t"}}})
	}
	s := &sharing{T: t, m: machine.NewObjective(opt.Opening{
		Objective: opt.Objective{ID: objectiveID, Status: opt.ObjectiveSubmitted, Root: opt.TaskSubmitted, Attempt: 1, Revision: 1},
		Message:   &a2a.Message{MessageID: "m", Metadata: a2a.Metadata{a2a.ExtensionBudget: json.RawMessage(`{"tokens":20}`)}}, Plans: given,
	}, 0, rules)}
	s.m.Handle(a2a.AtMillis(1000), machine.Opened{})
	for i := range plans {
		s.m.Handle(a2a.AtMillis(1000), machine.ChildStarted{PlanID: plan(i + 1), N: s.directive(i + 1).N})
	}
	return s
}

func (s *sharing) directive(n int) machine.Directive { return s.m.State.Links[n-1].Directive }

// report has a plan report that it has acted upon its latest directive, what it has used, and how many tokens it is short of.
func (s *sharing) report(n int, used, short int64, with ...func(*opt.Report)) {
	s.Helper()
	r := opt.Report{N: s.m.State.Objective.Plan(plan(n)).Report.N + 1, Directive: s.directive(n).N, Status: opt.PlanWorking, Started: true, Limited: true}
	r.Spent.Output, r.Short.Output = used, short
	for _, set := range with {
		set(&r)
	}
	s.m.Handle(a2a.AtMillis(2000), machine.Reported{PlanID: plan(n), Report: r})
}

// want compares what each open plan may use: "wait" after it if it must not ask for more, "?" while it has to confirm that.
func (s *sharing) want(want string) {
	s.Helper()
	var got []string
	for i, l := range s.m.State.Links {
		p := s.m.State.Objective.Plan(l.PlanID)
		if p.Over() {
			continue
		}
		limit := max(20, l.Directive.Raised.Tokens, p.Report.Raised.Tokens)
		d := s.directive(i + 1)
		text := fmt.Sprintf("%s %d", p.Name, limit-d.Spent.Output-d.Spent.Input-d.Reserved.Input)
		if d.Wait {
			text += " wait"
		}
		if p.Report.Directive < d.Echo {
			text += " ?"
		}
		got = append(got, text)
	}
	if all := strings.Join(got, ", "); all != want {
		s.Errorf("%s, want %s", all, want)
	}
}

func ends(r *opt.Report) { r.Status = opt.PlanCompleted }
func asks(r *opt.Report) { r.Open = []*opt.Gate{{ID: "g", Budget: true}} }
func raises(to int64) func(*opt.Report) {
	return func(r *opt.Report) { r.Raised.Tokens = to }
}

// Plans that begin together have a part each. One that is short gets half of the rest of the other, once that keeps to
// its half; the last that is open has all. Use within the parts changes no directive.
func TestObjective_sharesBudget(t *testing.T) {
	s := newSharing(t, 2)
	s.want("p1 10, p2 10 wait")
	before := s.directive(1)
	s.report(2, 2, 0)
	s.report(1, 4, 0)
	if s.want("p1 10, p2 10 wait"); s.directive(1) != before {
		t.Errorf("directive %+v, want %+v", s.directive(1), before)
	}
	s.report(2, 11, 1)
	s.want("p1 7 ?, p2 10 wait")
	s.report(2, 11, 2)
	s.want("p1 7 ?, p2 10 wait")
	s.report(1, 6, 0)
	s.want("p1 7, p2 13 wait ?")
	s.report(2, 12, 0)
	s.want("p1 7, p2 13 wait")
	s.report(1, 6, 0, ends)
	s.want("p2 14")
}

// A plan that runs alone gets as many directives as under the rules before, plans at the same time fewer.
func TestObjective_sharesCost(t *testing.T) {
	for plans, want := range map[int][]int64{1: {1, 1}, 2: {4, 1}} {
		var got []int64
		for _, rules := range []int{25, machine.Rules} {
			s := newSharingUnder(t, rules, plans)
			for used := range int64(3) {
				for n := range plans {
					s.report(n+1, used+1, 0)
				}
			}
			got = append(got, s.directive(1).N)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%d plans: %d directives, want %d", plans, got, want)
		}
	}
}

// One that begins beside another gets nothing until that has left it something.
func TestObjective_sharesLater(t *testing.T) {
	s := newSharing(t, 1)
	s.report(1, 4, 0)
	s.want("p1 20")
	s.m.Handle(a2a.AtMillis(2000), machine.Command{Command: opt.Command{ID: "c", Kind: opt.CreatePlan, Plan: &opt.PlanSpec{Name: "p2", Dependencies: []string{}, Tasks: []opt.TaskSpec{{Name: "t"}}}}})
	s.m.Handle(a2a.AtMillis(2000), machine.ChildStarted{PlanID: plan(2), N: s.directive(2).N})
	s.want("p1 20, p2 0 wait")
	s.report(2, 0, 1)
	s.want("p1 12 ?, p2 0 wait")
	s.report(1, 13, 0) // a step has ended meanwhile
	s.want("p1 12, p2 7 wait ?")
}

// When nothing is left, one plan at a time may ask, and has what it gets by that.
func TestObjective_sharesLeaveToAsk(t *testing.T) {
	s := newSharing(t, 2)
	s.report(1, 10, 0)
	s.report(2, 10, 1)
	s.want("p1 10 wait ?, p2 10 wait")
	s.report(1, 10, 0, asks) // it had asked before it heard
	s.want("p1 10 wait, p2 10 wait")
	s.report(1, 10, 0)
	s.want("p1 10 wait, p2 10 ?")
	s.report(2, 10, 0, asks)
	s.report(1, 10, 1)
	s.want("p1 10 wait, p2 10")
	s.report(2, 10, 0, raises(40))
	s.want("p1 10 wait, p2 20 ?")
	s.report(2, 11, 0, raises(40))
	s.want("p1 20 wait ?, p2 20")
}

// What helps no one does not go from plan to plan while one of them asks.
func TestObjective_sharesRest(t *testing.T) {
	s := newSharing(t, 2)
	call := opt.Usage{Output: 1, Calls: 1}
	needs := func(r *opt.Report) { r.Short = call }
	s.m.State.Request.Metadata[a2a.ExtensionBudget] = json.RawMessage(`{"tokens":20,"calls":1}`)
	for range 5 { // each has used its tokens, and one has the call
		s.report(1, 10, 0, needs)
		s.report(2, 10, 0, needs)
	}
	s.report(1, 10, 0, needs, asks)
	s.report(2, 10, 0, needs)
	before := []machine.Directive{s.directive(1), s.directive(2)}
	for range 5 {
		s.report(1, 10, 0, needs, asks)
		s.report(2, 10, 0, needs)
	}
	if got := []machine.Directive{s.directive(1), s.directive(2)}; !slices.Equal(got, before) {
		t.Errorf("directives %+v, want %+v", got, before)
	}
}

// A plan that is retried beside another one has only what that leaves it, after all that its attempt before has used.
func TestObjective_sharesRetry(t *testing.T) {
	s := newSharing(t, 2)
	s.report(1, 8, 0, func(r *opt.Report) { r.Status = opt.PlanFailed })
	s.want("p2 12")
	s.report(2, 2, 0)
	kept := opt.Kept{Objective: s.m.State.Objective}
	failed := *kept.Objective.Plan(plan(1))
	failed.Tasks = []*opt.Task{{ID: task(1, 0), State: opt.TaskFailed}}
	kept.Objective.Plans = []*opt.Plan{&failed, kept.Objective.Plan(plan(2))}
	s.m.Handle(a2a.AtMillis(3000), machine.Command{Command: opt.Command{ID: "c", Kind: opt.UpdatePlan, PlanID: plan(1), Status: string(opt.PlanWorking)}})
	for _, a := range s.m.Wants().Activities {
		s.m.Handle(a2a.AtMillis(3000), machine.Loaded{Key: a.Key, Kept: kept})
	}
	s.want("p1 0 wait ?, p2 12")
	test.Is(t, "the attempt before has used", 8, s.m.State.ChildState(plan(1)).Before.Output)
}

// The budget of a plan counts what its attempts have used also when its objective had ended.
func TestObjective_sharesRestored(t *testing.T) {
	failed := &opt.Plan{ID: plan(1), ObjectiveID: objectiveID, Status: opt.PlanFailed, Tasks: []*opt.Task{{ID: task(1, 0), State: opt.TaskFailed}}}
	kept := opt.Kept{UsedBy: map[string]opt.Usage{plan(1): {Output: 9}}, Objective: opt.Objective{
		ID: objectiveID, Status: opt.ObjectiveFailed, Root: opt.TaskFailed, Started: true, Attempt: 1, Plans: []*opt.Plan{failed},
	}}
	m := machine.RestoreObjective(kept, 0, machine.Rules)
	m.Handle(a2a.AtMillis(1), machine.Command{Command: opt.Command{ID: "c", Kind: opt.UpdateObjective, Status: string(opt.ObjectiveSubmitted)}})
	if l := m.State.Links[0]; l.Begun || l.Before.Output != 9 {
		t.Errorf("link %+v", l)
	}
}

// What planners use counts for the plans that have a rest, and those of an objective that was reset confirm what they
// have first.
func TestObjective_sharesLess(t *testing.T) {
	s := newSharing(t, 2)
	s.report(1, 0, 0)
	s.m.State.Used.Output = 5
	s.report(2, 0, 0)
	s.want("p1 5 ?, p2 10 wait")
	s.report(1, 0, 0)
	s.want("p1 5, p2 10 wait")
	s.m.Handle(a2a.AtMillis(3000), machine.Rewound{Epoch: 1})
	s.report(2, 10, 1)
	s.want("p1 5 ?, p2 10 wait")
	s.report(1, 0, 0, func(r *opt.Report) { r.Under, r.Epoch = 2, 2 })
	s.report(2, 10, 1, func(r *opt.Report) { r.Under, r.Epoch = 2, 2 })
	s.want("p1 2 ?, p2 10 wait")
}

// A plan counts what others have reserved, and neither asks nor fails while they may leave it more.
func TestPlan_budgetReserved(t *testing.T) {
	for _, budget := range []string{`{"tokens":10}`, `{"tokens":10,"onExceeded":"fail"}`} {
		b := newBudgeted(t, budget, &opt.Task{})
		told := machine.Directive{N: 2, Start: true, Since: 1000, Reserved: opt.Usage{Input: 9}}
		b.handle(machine.Directed{Directive: told})
		b.end(next(opt.Usage{Output: 1}, turn))
		b.want("working", 0)
		if r := b.m.State.Report; r.Short.Output != 1 || r.Short.Cost != 1 || !strings.Contains(b.said(), "other plans leave it some") {
			t.Errorf("report %+v, said %q", r, b.said())
		}
		told.N, told.Reserved.Input = 3, 8
		b.handle(machine.Directed{Directive: told})
		b.handle(machine.Begin{})
		if b.want("working", 1); b.m.State.Report.Short != (opt.Usage{}) || !strings.Contains(b.said(), "has room") || b.m.State.WorkOf(b.m.Wants().Activities[0]).Counted().Input != 8 {
			t.Errorf("report %+v", b.m.State.Report)
		}
		told.N, told.Spent, told.Reserved, told.Wait = 4, opt.Usage{Input: 8}, opt.Usage{}, true
		b.handle(machine.Directed{Directive: told})
		b.end(next(opt.Usage{Output: 1}, turn))
		b.want("working", 0)
		told.N, told.Wait = 5, false
		b.handle(machine.Directed{Directive: told})
		b.handle(machine.Begin{})
		b.want(map[bool]string{true: "failed", false: "budget"}[strings.Contains(budget, "fail")], 0)
	}
}

// The budget of a plan alone counts all its attempts, and no other plan. Its gate raises it alone, and steps that the
// other budget has no room for wait for that.
func TestPlan_budgetOfPlan(t *testing.T) {
	b := newBudgeted(t, `{"tokens":100}`, &opt.Task{}, &opt.Task{})
	b.m.State.Plan.Limits.Parallel = 2
	b.handle(machine.Begin{})
	b.m.State.Plan.Own, b.m.State.Before = &opt.Budget{SpendLimit: opt.SpendLimit{Tokens: 10}}, opt.Usage{Input: 4}
	b.handle(machine.Directed{Directive: machine.Directive{N: 2, Start: true, Since: 1000, Spent: opt.Usage{Input: 50}}})
	if got := b.m.State.WorkOf(b.m.Wants().Activities[0]); got.Limits.Tokens != 56 { // 50 and the 6 that are left
		t.Errorf("limits %+v of %+v", got.Limits, got.Counted())
	}
	out := next(opt.Usage{Output: 6}, turn)
	out.Budgets = &opt.Budgets{Task: opt.SpendLimit{Tokens: 7}}
	b.end(out)
	b.want("budget working", 1)
	shown := func(e opt.Event) bool {
		return e.Budgets != nil && e.Budgets.Task.Tokens == 7 && e.Budgets.Plan.Tokens == 10
	}
	if !slices.ContainsFunc(b.events, shown) {
		t.Error("no event shows the budget of the plan")
	}
	if g := b.gate(0); !g.OfPlan || string(g.Object[0].Data) != `{"tokens":20}` || !strings.Contains(g.Description, "budget of the plan is spent: 10 of 10 tokens") {
		t.Errorf("gate %+v, %s", g, g.Object[0].Data)
	}
	b.end(next(opt.Usage{Output: 30}, turn))
	b.want("budget working", 0)
	b.answer(0, opt.Reply{Action: opt.EditAccept, Edited: []a2a.Part{a2a.DataPart(opt.SpendLimit{Tokens: 200})}})
	b.want("working working", 2)
	if s := b.m.State; s.RaisedOwn.Tokens != 200 || s.Raised.Tokens != 0 || s.Report.Raised.Tokens != 0 {
		t.Errorf("raised %+v and %+v", s.RaisedOwn, s.Raised)
	}
	b.end(next(opt.Usage{Output: 10}, turn))
	b.end(next(opt.Usage{Output: 10}, turn))
	if b.want("budget working", 1); b.gate(0).OfPlan {
		t.Errorf("gate %+v", b.gate(0))
	}
}

// Steps that the budget of a plan holds do not ask other plans for more, and fail with those that wait for the same when
// no one raises it.
func TestPlan_budgetOfPlanEnds(t *testing.T) {
	optional := a2a.Metadata{}.With(opt.KeyOptional, true)
	for _, own := range []opt.Budget{{OnExceeded: opt.FailBudget}, {}, {Most: opt.SpendLimit{Tokens: 5}}} {
		b := newBudgeted(t, `{"tokens":100}`, &opt.Task{Metadata: optional}, &opt.Task{Metadata: optional})
		b.m.State.Plan.Limits.Parallel, own.Tokens = 2, 5
		b.handle(machine.Begin{})
		b.m.State.Plan.Own = &own
		b.handle(machine.Directed{Directive: machine.Directive{N: 2, Start: true, Since: 1000, Reserved: opt.Usage{Input: 50}, Wait: true}})
		b.end(next(opt.Usage{Output: 5}, turn))
		if b.m.State.Report.Short != (opt.Usage{}) {
			t.Errorf("report %+v", b.m.State.Report)
		}
		b.end(next(opt.Usage{Output: 5}, turn))
		if own == (opt.Budget{SpendLimit: own.SpendLimit}) {
			b.want("budget working", 0)
			b.answer(0, opt.Reply{Action: opt.Reject})
		}
		b.want("failed failed", 0)
	}
}

// said returns the latest text about a task.
func (b *budgeted) said() (text string) {
	for _, e := range b.events {
		if e.Status != nil {
			text = e.Status.Text()
		}
	}
	return text
}

// A message that starts an objective again takes the place of the request. Plans whose workflows have begun before keep
// the budget of that, and hear what others use.
func TestObjective_sharesReplaced(t *testing.T) {
	failed := func(n int) *opt.Plan {
		return &opt.Plan{ID: plan(n), ObjectiveID: objectiveID, Dependencies: []string{}, Status: opt.PlanFailed, Tasks: []*opt.Task{{ID: task(n, 0), State: opt.TaskFailed}}}
	}
	m := machine.RestoreObjective(opt.Kept{
		Objective: opt.Objective{ID: objectiveID, Status: opt.ObjectiveFailed, Root: opt.TaskFailed, Started: true, Attempt: 1, Plans: []*opt.Plan{failed(1), failed(2)}},
		Request:   &a2a.Message{MessageID: "m", Metadata: a2a.Metadata{a2a.ExtensionBudget: json.RawMessage(`{"tokens":20}`)}},
	}, 0, machine.Rules)
	s := &sharing{T: t, m: m}
	m.Handle(a2a.AtMillis(1000), machine.Command{Command: opt.Command{ID: "c", Kind: opt.UpdateObjective, Status: string(opt.ObjectiveSubmitted)}})
	for i := range 2 {
		m.Handle(a2a.AtMillis(1000), machine.ChildStarted{PlanID: plan(i + 1), Attempt: m.State.Links[i].Start.Run, N: s.directive(i + 1).N})
	}
	m.Handle(a2a.AtMillis(1000), machine.Letter{Letter: opt.Letter{
		ObjectiveID: objectiveID, TaskID: m.State.Objective.RootID(), Begins: true, Message: a2a.Message{MessageID: "again"},
	}})
	s.report(2, 9, 0, ends, func(r *opt.Report) { r.Attempt = m.State.Objective.Plan(plan(2)).Run })
	test.Is(t, "p1 has heard of tokens", 9, s.directive(1).Spent.Output)
}

// A plan that asks for a raise of its own budget lets another one ask for that of the request.
func TestObjective_sharesBusy(t *testing.T) {
	s := newSharing(t, 2)
	own := func(r *opt.Report) { r.Open = []*opt.Gate{{ID: "g", Budget: true, OfPlan: true}} }
	s.report(2, 10, 0)
	s.report(1, 10, 1, own)
	s.want("p1 10, p2 10 wait")
	s.report(2, 10, 1)
	s.want("p1 10 wait ?, p2 10 wait")
	s.report(1, 10, 1, own)
	s.want("p1 10 wait, p2 10 ?")
	s.report(2, 10, 1)
	s.report(1, 10, 1, own)
	s.want("p1 10 wait, p2 10")
	s.report(2, 10, 0)
	s.report(1, 10, 1)
	s.want("p1 10 wait, p2 10 wait ?")
	s.report(2, 10, 0)
	s.want("p1 10 ?, p2 10 wait")
}

// A plan that also needs what nothing limits may ask for the rest in the end.
func TestObjective_sharesUnlimited(t *testing.T) {
	s := newSharing(t, 2)
	calls := func(r *opt.Report) { r.Short.Calls = 1 }
	s.report(1, 10, 0)
	s.report(2, 10, 1, calls)
	s.want("p1 10 wait ?, p2 10 wait")
	s.report(1, 10, 0)
	s.want("p1 10 wait, p2 10 ?")
}
