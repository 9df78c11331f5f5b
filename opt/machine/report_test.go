package machine_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"longhaul/a2a"
	"longhaul/internal/test"
	"longhaul/opt"
	"longhaul/opt/machine"
)

// Reports are signals. The report with the largest number counts, not the last to
// arrive.
func TestObjective_Handle_reports(t *testing.T) {
	opening := opt.Opening{
		Objective: opt.Objective{ID: objectiveID, ContextID: "c", Status: opt.ObjectiveSubmitted, Root: opt.TaskSubmitted, Attempt: 1},
		Plans:     []opt.PlanSpec{{Name: "p", Tasks: []opt.TaskSpec{{Name: "t"}}}},
	}
	m := machine.NewObjective(opening, 0, machine.Rules)
	now := a2a.AtMillis(1)
	m.Handle(now, machine.Opened{})
	p := m.State.Objective.Plan(plan(1))
	if p == nil {
		t.Fatal("the given plan was not added")
	}
	m.Handle(now, machine.ChildStarted{PlanID: p.ID, N: 1})
	gate := &opt.Gate{ID: "g", Kind: opt.Approval}
	for _, s := range []struct {
		name   string
		report opt.Report
		late   bool
		want   opt.PlanStatus
	}{
		{"the first", opt.Report{N: 2, Directive: 1, Status: opt.PlanBlocked, Reason: opt.BlockedByInput, Started: true, Open: []*opt.Gate{gate}}, false, opt.PlanBlocked},
		{"an earlier one", opt.Report{N: 1, Directive: 1, Status: opt.PlanWorking, Started: true}, true, opt.PlanBlocked},
		{"the same", opt.Report{N: 2, Directive: 1, Status: opt.PlanWorking, Started: true}, true, opt.PlanBlocked},
		{"a later one", opt.Report{N: 4, Directive: 1, Status: opt.PlanWorking, Started: true}, false, opt.PlanWorking},
		{"an end that was overtaken", opt.Report{N: 3, Directive: 1, Status: opt.PlanFailed, Started: true}, true, opt.PlanWorking},
		{"the end", opt.Report{N: 7, Directive: 1, Status: opt.PlanCompleted, Started: true}, false, opt.PlanCompleted},
		{"after the end", opt.Report{N: 8, Directive: 1, Status: opt.PlanWorking, Started: true}, true, opt.PlanCompleted},
	} {
		before := snapshot(t, m.State)
		events := m.Handle(now, machine.Reported{PlanID: p.ID, Report: s.report})
		if s.late {
			if diff := cmp.Diff(before, snapshot(t, m.State)); len(events) > 0 || diff != "" {
				t.Errorf("%s: events %+v, state (-before +after):\n%s", s.name, events, diff)
			}
		}
		test.Is(t, fmt.Sprintf("%s: the plan", s.name), s.want, p.Status)
	}
	test.Is(t, "the objective", opt.ObjectiveCompleted, m.State.Objective.Status)
}

// retried returns an objective in its second attempt, and its plan, which failed in
// the first.
func retried() (*machine.Objective, *opt.Plan) { return retriedIn(1) }

// retriedIn returns the same in an epoch.
func retriedIn(epoch int) (*machine.Objective, *opt.Plan) {
	kept := opt.Kept{Objective: *objective("failed"), Epochs: map[string]int{objectiveID: epoch}}
	kept.Objective.Status, kept.Objective.Root = opt.ObjectiveFailed, opt.TaskFailed
	m := machine.RestoreObjective(kept, 0, machine.Rules)
	m.Handle(a2a.AtMillis(5000), machine.Command{Command: opt.Command{ID: "c", Kind: opt.UpdateObjective, Status: "submitted"}})
	return m, m.State.Objective.Plan(plan(1))
}

// A report of an earlier attempt at a plan comes too late.
func TestObjective_Handle_reportOfEarlierAttempt(t *testing.T) {
	m, p := retried()
	now := a2a.AtMillis(2)
	if p.Run != 2 || p.Status != opt.PlanPending {
		t.Fatalf("the plan is %s in attempt %d, want pending in the second", p.Status, p.Run)
	}
	m.Handle(now, machine.ChildStarted{PlanID: p.ID, Attempt: 2, N: 1})
	m.Handle(now, machine.Reported{PlanID: p.ID, Report: opt.Report{N: 99, Attempt: 1, Status: opt.PlanCompleted}})
	test.Is(t, "the plan after a report of the first attempt", opt.PlanPending, p.Status)
	m.Handle(now, machine.Reported{PlanID: p.ID, Report: opt.Report{N: 1, Attempt: 2, Status: opt.PlanSkipped, ByHand: true}})
	test.Is(t, "the plan after a report of the second attempt", opt.PlanSkipped, p.Status)
}

// That a signal to an earlier attempt at a plan found no workflow says nothing about the
// present one.
func TestObjective_Handle_signalToEarlierAttempt(t *testing.T) {
	m, p := retried()
	now := a2a.AtMillis(2)
	m.Handle(now, machine.Delivered{To: p.ID, N: 5, Gone: true})
	if p.Status != opt.PlanPending || m.State.Objective.Status != opt.ObjectiveSubmitted {
		t.Errorf("the plan is %s (%s), the objective %s", p.Status, p.Reason, m.State.Objective.Status)
	}
}

// A plan whose former run has not ended yet cannot begin. That run hears of it. The plan is wanted again a while
// after it has reported, until it begins or was tried often enough.
func TestObjective_Handle_refusedStart(t *testing.T) {
	m, p := retried()
	now := a2a.AtMillis(2)
	tries := 0
	for !p.Over() {
		w := m.Wants()
		if len(w.Children) != 1 || w.Children[0].Try != tries {
			t.Fatalf("try %d: children %+v", tries, w.Children)
		}
		m.Handle(now, machine.ChildRefused{PlanID: p.ID, Attempt: p.Run})
		tries++
		w = m.Wants()
		if len(w.Children) != 0 {
			t.Fatalf("try %d: begins again at once", tries)
		}
		for _, s := range w.Signals {
			m.Handle(now, machine.Delivered{To: p.ID, N: s.N})
			m.Handle(now, machine.Reported{PlanID: p.ID, Report: opt.Report{N: 9, Attempt: -1, Status: opt.PlanWorking}})
			w = m.Wants()
		}
		for _, timer := range w.Timers {
			now = timer.At
			m.Handle(now, machine.Elapsed{Key: timer.Key})
		}
	}
	if tries < 2 || p.Status != opt.PlanFailed || p.Reason != opt.Terminated {
		t.Errorf("after %d tries the plan is %s (%s)", tries, p.Status, p.Reason)
	}
}

// openObjective returns the machine of an objective that is open.
func openObjective(kept opt.Kept) *machine.Objective {
	m := machine.RestoreObjective(kept, 0, machine.Rules)
	m.State.Forgotten = false
	return m
}

// A directive brings the notes that were not delivered with one before. A plan that was set
// back in Temporal may have lost some: it gets all that it does not report.
func TestObjective_Message_notes(t *testing.T) {
	m := openObjective(opt.Kept{Objective: *objective("working")})
	now, p := a2a.AtMillis(1), m.State.Objective.Plan(plan(1))
	m.State.Objective.Started, m.State.Links[0].Begun = true, true
	note := func(n int) machine.Signal {
		m.Handle(now, machine.Letter{Letter: opt.Letter{TaskID: objectiveID, Message: a2a.Message{MessageID: fmt.Sprint("note-", n), Role: a2a.RoleUser, Parts: []a2a.Part{a2a.TextPart("x")}}}})
		w := m.Wants()
		if len(w.Signals) != 1 {
			t.Fatalf("signals after note %d: %+v", n, w.Signals)
		}
		return w.Signals[0]
	}
	for _, s := range []struct {
		delivered bool
		report    opt.Report
		from, n   int // of the notes in the directive
	}{
		{true, opt.Report{}, 0, 1},
		{true, opt.Report{}, 1, 1},
		{false, opt.Report{}, 2, 1},
		{true, opt.Report{}, 2, 2}, // the last and the one before it, which was not delivered
		{true, opt.Report{N: 1, Notes: 1}, 4, 1},
		{true, opt.Report{N: 2, Epoch: 2, Notes: 2}, 2, 4},
		{true, opt.Report{}, 6, 1},
	} {
		if s.report.N > 0 {
			s.report.Directive, s.report.Status, s.report.Started = 1, opt.PlanWorking, true
			m.Handle(now, machine.Reported{PlanID: p.ID, Report: s.report})
		}
		signal := note(len(m.State.Notes))
		if d := m.State.Message(p.ID); d.NotesFrom != s.from || len(d.Notes) != s.n {
			t.Errorf("the directive brings %d notes from %d, want %d from %d", len(d.Notes), d.NotesFrom, s.n, s.from)
		}
		if s.delivered {
			m.Handle(now, machine.Delivered{To: signal.To, N: signal.N, Notes: signal.Notes})
		}
	}
}

// A directive that was delivered to a run that a reset has ended brought its notes to no one:
// once the plan reports a later directive without them, it gets them again.
func TestObjective_Message_lostNotes(t *testing.T) {
	m := openObjective(opt.Kept{Objective: *objective("working")})
	now, p := a2a.AtMillis(1), m.State.Objective.Plan(plan(1))
	m.State.Objective.Started, m.State.Links[0].Begun = true, true
	note := func() machine.Signal {
		m.Handle(now, machine.Letter{Letter: opt.Letter{TaskID: objectiveID, Message: a2a.Message{MessageID: fmt.Sprint("note-", len(m.State.Notes)), Role: a2a.RoleUser, Parts: []a2a.Part{a2a.TextPart("x")}}}})
		return m.Wants().Signals[0]
	}
	delivered := func(s machine.Signal) {
		m.Handle(now, machine.Delivered{To: s.To, N: s.N, Notes: s.Notes})
	}
	lost := note()
	m.Handle(now, machine.Reported{PlanID: p.ID, Report: opt.Report{N: 1, Epoch: 2, Directive: lost.N - 1, Status: opt.PlanWorking, Started: true}})
	delivered(lost) // to the run before
	later := note()
	delivered(later)
	m.Handle(now, machine.Reported{PlanID: p.ID, Report: opt.Report{N: 2, Epoch: 2, Directive: later.N, Status: opt.PlanWorking, Started: true}})
	note()
	if d := m.State.Message(p.ID); d.NotesFrom != 0 || len(d.Notes) != 3 {
		t.Errorf("the directive brings %d notes from %d, want all 3", len(d.Notes), d.NotesFrom)
	}
}

// A plan that a client starts gets the results of the plan before it, as one that is
// started in its turn does.
func TestObjective_Message_inputsOfACommand(t *testing.T) {
	result := a2a.Artifact{ArtifactID: "a", Parts: []a2a.Part{a2a.TextPart("x")}}
	m := openObjective(opt.Kept{Objective: *objective("completed", "pending")})
	m.State.Objective.Started, m.State.Objective.Paused = true, true // so that the plan does not start in its turn
	m.State.Objective.Plan(plan(1)).Report.Results = []a2a.Artifact{result}
	m.Handle(a2a.AtMillis(1), machine.Command{Command: opt.Command{ID: "c", Kind: opt.UpdatePlan, PlanID: plan(2), Status: "working"}})
	d := m.State.Message(plan(2))
	if d.Command == nil || d.Directive.Start || !cmp.Equal(d.Inputs, []a2a.Artifact{result}) {
		t.Errorf("the directive is %+v", d)
	}
}

// The root task counts an artifact as shown if the stream showed it there: if the
// plan was the last one when the work began.
func TestPlan_Handle_streamedForTheRoot(t *testing.T) {
	now := a2a.AtMillis(1)
	for _, leaf := range []bool{false, true} {
		m := &machine.Plan{State: machine.PlanState{
			Plan:   opt.Plan{ID: plan(1), ObjectiveID: objectiveID, Name: "p", Status: opt.PlanPending, Tasks: []*opt.Task{{ID: task(1, 0), Name: "t", State: opt.TaskPending}}},
			RootID: objectiveID, First: &machine.Directed{Directive: machine.Directive{N: 1, Start: true, Leaf: leaf}},
		}}
		m.Handle(now, machine.Opened{})
		m.Handle(now, machine.Begin{})
		work := m.Wants().Activities
		if len(work) != 1 || (m.State.WorkOf(work[0]).RootID != "") != leaf {
			t.Fatalf("leaf %v: the work is %+v", leaf, work)
		}
		m.Handle(now, machine.Directed{Directive: machine.Directive{N: 2, Start: true, Leaf: !leaf}})
		m.Handle(now, machine.Ended{Key: work[0].Key, Outcome: opt.Outcome{
			State: opt.TaskCompleted, Artifacts: []a2a.Artifact{{ArtifactID: "a"}}, Streamed: []string{"a"},
		}})
		if shown := len(m.State.Shown) > 0; shown != leaf {
			t.Errorf("leaf %v: the root task shows %v", leaf, m.State.Shown)
		}
	}
}

// The event of the message that starts an objective says so, and names who has started it. Those
// of commands name who has sent them.
func TestObjective_Handle_principals(t *testing.T) {
	m := machine.NewObjective(opt.Opening{
		Objective: opt.Objective{ID: objectiveID, ContextID: "c", Principal: "alice", Status: opt.ObjectiveSubmitted, Root: opt.TaskSubmitted, Attempt: 1},
		Plans:     []opt.PlanSpec{{Name: "p", Tasks: []opt.TaskSpec{{Name: "t"}}}}, Idle: true,
	}, 0, machine.Rules)
	now := a2a.AtMillis(1)
	m.Handle(now, machine.Opened{})
	begin := machine.Letter{Letter: opt.Letter{ObjectiveID: objectiveID, TaskID: opt.RootID(objectiveID, 1), Principal: "bob", Begins: true, Shapers: []string{"alice", "carol"}, Message: a2a.Message{MessageID: "m"}}}
	e := m.Handle(now, begin)[0]
	if e.Kind != opt.MessageAdded || e.Reason != opt.Begins || e.Principal != "bob" || e.Head == nil || !cmp.Equal(e.Head.Shapers, []string{"bob", "carol"}) {
		t.Errorf("a start is recorded as %+v", e)
	}
	name := "new"
	for i, c := range []opt.Command{
		{Kind: opt.UpdateObjective, Change: &opt.Change{Name: &name}},
		{Kind: opt.CreatePlan, Plan: &opt.PlanSpec{Name: "q", Tasks: []opt.TaskSpec{{Name: "t"}}}},
		{Kind: opt.UpdateObjective, Status: string(opt.ObjectiveCanceled)},
	} {
		c.ID, c.ObjectiveID, c.Principal = string(rune('a'+i)), objectiveID, "carol"
		answered := false
		for _, e := range m.Handle(now, machine.Command{Command: c}) {
			answered = answered || e.Kind == opt.CommandAnswered && e.Principal == "carol" && e.Reason == string(c.Kind)
		}
		if !answered {
			t.Errorf("%s: no event says who", c)
		}
	}
}

// A list of plans that is in order under earlier rules, and has a cycle under later ones, stays under
// the rules with which its objective began when the run continues as new.
func TestObjective_Successor_rules(t *testing.T) {
	m := machine.NewObjective(opt.Opening{
		Objective: opt.Objective{ID: objectiveID, ContextID: "c", Status: opt.ObjectiveSubmitted, Root: opt.TaskSubmitted, Attempt: 1},
		Plans: []opt.PlanSpec{
			{Name: "a", Tasks: []opt.TaskSpec{{Name: "t"}}, Dependencies: []string{"plan-1"}}, {Name: "b", Tasks: []opt.TaskSpec{{Name: "u"}}},
		},
	}, 0, 2)
	m.Handle(a2a.AtMillis(1), machine.Opened{})
	next := &machine.Objective{State: m.State.Successor()}
	next.Handle(a2a.AtMillis(2), machine.ChildStarted{PlanID: plan(2), N: 1})
	next.Handle(a2a.AtMillis(3), machine.Reported{PlanID: plan(2), Report: opt.Report{N: 1, Directive: 1, Status: opt.PlanCompleted, Started: true}})
	if !next.State.Objective.Plan(plan(1)).Started {
		t.Errorf("under rules %d the plan that waits for another never starts", next.State.Rules)
	}
}

// A report with others who have shaped the work is recorded at once if it says nothing else, and
// a repeat of them is no news. Runs that began under earlier rules decide as before.
func TestObjective_Handle_shapersOfAReport(t *testing.T) {
	for rules, want := range map[int]int{3: 0, machine.Rules: 1} {
		m := machine.NewObjective(opt.Opening{
			Objective: opt.Objective{ID: objectiveID, ContextID: "c", Principal: "alice", Status: opt.ObjectiveSubmitted, Root: opt.TaskSubmitted, Attempt: 1},
			Plans:     []opt.PlanSpec{{Name: "p", Tasks: []opt.TaskSpec{{Name: "t"}}}},
		}, 0, rules)
		now := a2a.AtMillis(1)
		m.Handle(now, machine.Opened{})
		m.Handle(now, machine.ChildStarted{PlanID: plan(1), N: 1})
		report := opt.Report{N: 1, Directive: 1, Status: opt.PlanWorking, Started: true}
		m.Handle(now, machine.Reported{PlanID: plan(1), Report: report})
		report.N, report.Shapers = 2, []string{"alice", "bob"}
		events := m.Handle(now, machine.Reported{PlanID: plan(1), Report: report})
		if len(events) != want || want == 1 && (events[0].Kind != opt.ObjectiveChanged || !cmp.Equal(events[0].Head.Shapers, []string{"bob"})) {
			t.Errorf("rules %d: the events are %+v, want %d", rules, events, want)
		}
		report.N = 3
		test.Is(t, fmt.Sprintf("rules %d: a repeat has the events", rules), 0, len(m.Handle(now, machine.Reported{PlanID: plan(1), Report: report})))
	}
}

// The result of a plan goes to the run of its objective that began it. The next run takes a plan that is
// not there any more for ended by an operator, and waits for no result.
func TestObjective_Handle_goneAfterARun(t *testing.T) {
	m, _ := working(t)
	now := a2a.AtMillis(2)
	m.Handle(now, machine.ChildStarted{PlanID: plan(1), N: 1})
	m.Handle(now, machine.Leaving{})
	next := &machine.Objective{State: m.State.Successor()}
	next.Handle(now, machine.Canceled{Principal: "ann"})
	signals := next.Wants().Signals
	if len(signals) != 1 || signals[0].To != plan(1) {
		t.Fatalf("signals %+v, want a directive for the plan", signals)
	}
	next.Handle(now, machine.Delivered{To: plan(1), N: signals[0].N, Gone: true})
	if p := next.State.Objective.Plan(plan(1)); p.Status != opt.PlanFailed || p.Reason != opt.Terminated {
		t.Errorf("the plan is %s (%s)", p.Status, p.Reason)
	}
}

// A retry knows the message that has started the objective, and who has sent it.
func TestRestoreObjective_request(t *testing.T) {
	request := a2a.Message{MessageID: "m", Role: a2a.RoleUser, Parts: []a2a.Part{a2a.TextPart("x")}}
	m := machine.RestoreObjective(opt.Kept{Objective: opt.Objective{ID: objectiveID, Principal: "ann", Status: opt.ObjectiveFailed}, Request: &request, Starter: "bob"}, 0, machine.Rules)
	author, _ := m.State.Asked().Metadata.String(opt.KeyAuthor)
	test.Is(t, "the author of the request", "bob", author)
}

// The run of a retry that reads an open attempt, which it has begun itself before it was reset, ends. One that is to
// end an objective without a workflow does that.
func TestRestoreObjective_open(t *testing.T) {
	for _, lost := range []bool{false, true} {
		m := machine.RestoreObjective(opt.Kept{Objective: *objective("working")}, 0, machine.Rules)
		if lost {
			m.Handle(a2a.AtMillis(1), machine.ObjectiveLost{})
		}
		if w := m.Wants(); w.Forget == lost {
			t.Errorf("lost %t: it forgets its events: %t", lost, w.Forget)
		}
	}
}
