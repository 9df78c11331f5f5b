package machine_test

import (
	"slices"
	"testing"

	"longhaul/a2a"
	"longhaul/internal/test"
	"longhaul/opt"
	"longhaul/opt/machine"
)

// held has the activity that runs be sent back for a quota, and returns how often that is shown.
func (b *budgeted) held(text string) (shown int) {
	b.Helper()
	b.handle(machine.Held{Key: b.m.Wants().Activities[0].Key, Text: text})
	for _, e := range b.events {
		if e.Reason == opt.HeldByQuota && e.To == string(opt.TaskWorking) && e.Status.Text() == text {
			shown++
		}
	}
	return shown
}

// What a quota holds back says so, once for each reason, and continues as the same activity.
func TestPlan_held(t *testing.T) {
	b := newBudgeted(t, "{}", &opt.Task{})
	key := b.m.Wants().Activities[0].Key
	for i, text := range []string{"5 of 5", "5 of 5", "6 of 5"} {
		if shown := b.held(text); shown != 1 || b.m.Wants().Activities[0].Key != key || !b.m.State.Work[b.m.State.Plan.Tasks[0].ID].Quota {
			t.Errorf("%d: shown %d times; %+v is wanted", i, shown, b.m.Wants())
		}
	}
	b.handle(machine.Callback{Callback: opt.Callback{ID: "c", TaskID: task(1, 0), Round: 1, Text: "Half"}})
	if now := b.m.State.Plan.Tasks[0]; now.Reason != "" || now.Said != "Half" {
		t.Errorf("after a text about its work it has the reason %q and says %q", now.Reason, now.Said)
	}
	b.end(opt.Outcome{State: opt.TaskWorking, Park: &opt.Park{}})
	test.Is(t, "the next leg shows the same reason times in all", 2, b.held("6 of 5"))
	b.m.State.Rules = 24
	if shown := b.held("7 of 5"); shown != 0 {
		t.Error("under earlier rules it is shown, too")
	}
	b.m.State.Rules = machine.Rules
	b.end(opt.Outcome{State: opt.TaskCompleted})
	b.want("completed", 0)
}

// A step that is held back after a client has ended its task changes nothing.
func TestPlan_heldTooLate(t *testing.T) {
	b := newBudgeted(t, "{}", &opt.Task{})
	ends := opt.Command{ID: "c1", Kind: opt.MoveTask, PlanID: b.m.State.Plan.ID, TaskID: task(1, 0), Status: string(opt.TaskCompleted)}
	b.handle(machine.Directed{Directive: machine.Directive{N: 2, Start: true, Since: 1000, Command: ends.ID}, Command: &ends})
	b.held("5 of 5")
	for _, e := range b.events {
		if e.Reason == opt.HeldByQuota {
			t.Errorf("a quota moves it from %s to %s", e.From, e.To)
		}
	}
	b.want("completed", 1)
}

// A leg that needs no more than the one before takes in work that was begun; another attempt begins it again.
func TestPlan_collects(t *testing.T) {
	b := newBudgeted(t, "{}", &opt.Task{})
	collects := func() bool { return b.m.State.Work[b.m.State.Plan.Tasks[0].ID].Collects }
	var got []bool
	for _, out := range []opt.Outcome{
		{Park: &opt.Park{}}, {Park: &opt.Park{Needs: opt.Usage{Calls: 1}}}, {Park: &opt.Park{}},
	} {
		out.State = opt.TaskWorking
		b.end(out)
		got = append(got, collects())
	}
	b.handle(machine.Ended{Key: b.m.Wants().Activities[0].Key, Failed: &machine.Failure{Code: "error"}})
	b.handle(machine.Elapsed{Key: b.m.Wants().Timers[0].Key})
	b.handle(machine.Begin{})
	if got = append(got, collects()); !slices.Equal(got, []bool{true, false, true, false}) {
		t.Errorf("legs collect: %v", got)
	}
}

// Where quotas count questions, a human task asks only after a look whether there is room, and so each time that it
// asks again. Its deadlines begin with the question. The gates of executors are asked by steps that were admitted.
func TestPlan_questions(t *testing.T) {
	ask := func() *opt.Gate {
		return &opt.Gate{Kind: opt.Clarification, Title: "Color?", Questions: []opt.Question{{ID: "q", Question: "Color?"}}, Ladder: []opt.Step{{Kind: opt.Expire, After: 60}}}
	}
	b := newBudgeted(t, "{}", &opt.Task{Ask: ask()}, &opt.Task{})
	if b.gate(0); len(b.m.Wants().Activities) != 1 {
		t.Fatalf("without quotas %+v is wanted", b.m.Wants())
	}
	b = &budgeted{T: t, m: &machine.Plan{State: b.m.State}, now: 1000}
	b.m.State = machine.PlanState{
		Rules: machine.Rules, ContextID: "c", RootID: objectiveID, First: &machine.Directed{Directive: machine.Directive{N: 1, Start: true, Since: 1000}},
		Plan: opt.Plan{ID: plan(1), ObjectiveID: objectiveID, Status: opt.PlanPending, Limits: opt.Limits{CountsQuestions: true}, Tasks: []*opt.Task{
			{ID: "task-0", State: opt.TaskPending, Ask: ask(), Dependencies: []string{}},
		}},
	}
	b.handle(machine.Opened{})
	look := b.m.Wants().Activities
	if len(look) != 1 || look[0].Kind != machine.LookUp {
		t.Fatalf("%+v is wanted", look)
	}
	if q := b.m.State.QuestionOf(look[0], a2a.AtMillis(b.now)); !q.Counts || q.ContextID != "c" || q.Gate.Standing != "" {
		t.Errorf("it asks %+v", q)
	}
	if shown := b.held("2 of 2"); shown != 1 || b.m.State.Plan.Tasks[0].State != opt.TaskWorking {
		t.Errorf("shown %d times, and is %s", shown, b.m.State.Plan.Tasks[0].State)
	}
	b.now += 3_600_000
	b.handle(machine.Looked{Key: look[0].Key})
	if g := b.gate(0); g.RequestedAt.Millis() != b.now || len(b.m.Wants().Timers) != 1 || b.m.Wants().Timers[0].At.Millis() != b.now+60_000 {
		t.Errorf("it asks at %v with the timers %+v", g.RequestedAt, b.m.Wants().Timers)
	}
}

// A question that has waited for a budget is looked at again: there may be no room in the quotas any more. Under earlier
// rules it was not.
func TestPlan_questionsHeld(t *testing.T) {
	for rules, looks := range map[int]int{31: 0, machine.Rules: 1} {
		b := newBudgeted(t, `{"questions":0}`, &opt.Task{})
		s := &b.m.State
		s.Rules, s.Plan.Limits.CountsQuestions = rules, true
		s.Plan.Tasks = append(s.Plan.Tasks, &opt.Task{
			ID: task(1, 1), Index: 1, State: opt.TaskPending, Dependencies: []string{task(1, 0)},
			Ask: &opt.Gate{Kind: opt.Clarification, Title: "Color?", Questions: []opt.Question{{ID: "q", Question: "Color?"}}},
		})
		b.end(opt.Outcome{State: opt.TaskCompleted})
		b.want("completed working", 1)
		first := b.m.Wants().Activities[0]
		b.handle(machine.Looked{Key: first.Key})
		b.handle(machine.Begin{})
		b.want("completed budget", 0)
		if b.answer(1, opt.Reply{Action: opt.Accept}); len(b.m.Wants().Activities) != looks {
			t.Fatalf("%d: %+v is wanted", rules, b.m.Wants())
		}
		for _, again := range b.m.Wants().Activities {
			if again.Kind != machine.LookUp || again.Key == first.Key || b.held("2 of 2") != 1 {
				t.Errorf("%d: %+v is wanted", rules, again)
			}
			b.handle(machine.Looked{Key: again.Key})
		}
		if b.gate(1).Budget {
			t.Errorf("%d: it asks %+v", rules, b.gate(1))
		}
	}
}

// A gate at which a leg watches the work elsewhere stays open, also if a quota holds that leg back: of use, which a run
// under earlier rules may have let do so, or of tasks that run.
func TestPlan_heldAtGate(t *testing.T) {
	for rules, collects := range map[int]bool{34: true, machine.Rules: false} {
		heldAtGate(t, rules, collects)
	}
}

func heldAtGate(t *testing.T, rules int, collects bool) {
	b := newBudgeted(t, "{}", &opt.Task{})
	b.m.State.Rules = rules
	b.end(opt.Outcome{State: opt.TaskAuthRequired, Gate: &opt.Gate{Kind: opt.Credential, Title: "Sign in?"}, Park: &opt.Park{}})
	before := b.gate(0).ID
	b.m.State.Work[b.m.State.Plan.Tasks[0].ID].Collects = false
	b.handle(machine.Held{Key: b.m.Wants().Activities[0].Key, Text: "5 of 5"})
	if g := b.gate(0); g.ID != before || b.m.State.Work[b.m.State.Plan.Tasks[0].ID].Collects != collects {
		t.Errorf("%d: the gate %s is open, want %s, and the leg is to take in work: %+v", rules, g.ID, before, b.m.State.Work)
	}
}
