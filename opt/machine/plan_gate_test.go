package machine_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"longhaul/a2a"
	"longhaul/internal/test"
	"longhaul/opt"
	"longhaul/opt/machine"
)

// atGate returns a plan under some rules, whose only task waits at a gate that bob and
// carol have to accept and that expires after a second.
func atGate(t *testing.T, rules int) *machine.Plan {
	t.Helper()
	o := &opt.Objective{ID: objectiveID, Attempt: 1}
	gate := &opt.Gate{
		Kind: opt.Approval, Title: "Good?", ArtifactData: json.RawMessage(`"outline"`), Actions: []opt.Action{opt.Accept, opt.Reject, opt.Ask},
		Responders: &opt.Responders{Groups: []string{"editors"}, Accepts: 2}, Ladder: []opt.Step{{Kind: opt.Expire, After: 1}},
	}
	p := test.Value(o.NewPlan(opt.PlanSpec{Name: "p", Tasks: []opt.TaskSpec{{Name: "t", Ask: gate}}}, a2a.AtMillis(1)))(t)
	m := &machine.Plan{State: machine.PlanState{Rules: rules, Plan: *p, First: &machine.Directed{Directive: machine.Directive{N: 1, Start: true}}}}
	m.Handle(a2a.AtMillis(1), machine.Opened{})
	m.Handle(a2a.AtMillis(1), machine.Begin{})
	return m
}

// replied hands a reply to the gate of m to m, and returns the decisions that follow.
func replied(m *machine.Plan, who string, reply opt.Reply) []*opt.Decision {
	task := m.State.Plan.Tasks[0].ID
	if reply.GateID == "" {
		reply.GateID = task + ":1"
	}
	message := a2a.Message{MessageID: fmt.Sprintf("m-%d", m.State.N), Role: a2a.RoleUser, Parts: []a2a.Part{a2a.TextPart(string(reply.Action))}}
	return decided(m.Handle(a2a.AtMillis(7), machine.Letter{Letter: opt.Letter{
		TaskID: task, Message: message, Principal: who, Groups: []string{"editors", "cooks"}, Reply: &reply,
	}}))
}

func decided(events []opt.Event) (out []*opt.Decision) {
	for _, e := range events {
		if e.Decision != nil {
			out = append(out, e.Decision)
		}
	}
	return out
}

// Each reply gets one record, of any verdict. The chain continues in the next run of the
// workflow.
func TestPlan_Handle_decisions(t *testing.T) {
	m := atGate(t, machine.Rules)
	task := m.State.Plan.Tasks[0]
	digest := task.Gate.ObjectDigest
	var chains opt.Chains
	for i, step := range []struct {
		who   string
		reply opt.Reply
		want  opt.Decision
	}{
		{"bob", opt.Reply{Action: opt.Ask, Question: "Why?"}, opt.Decision{Action: opt.Ask, Verdict: opt.Accepted}},
		{"bob", opt.Reply{Action: opt.Refine}, opt.Decision{Action: opt.Refine, Verdict: opt.NotOffered}},
		{"bob", opt.Reply{Action: opt.Accept, ObjectDigest: "x"}, opt.Decision{Action: opt.Accept, Verdict: opt.OtherThing, SeenDigest: "x"}},
		{"bob", opt.Reply{Action: opt.Accept, ObjectDigest: digest}, opt.Decision{Action: opt.Accept, Verdict: opt.Accepted, SeenDigest: digest}},
		{"bob", opt.Reply{Action: opt.Accept}, opt.Decision{Action: opt.Accept, Verdict: opt.HasVoted}},
		{"carol", opt.Reply{Action: opt.Accept}, opt.Decision{Action: opt.Accept, Verdict: opt.Accepted, Closed: true}},
		{"carol", opt.Reply{Action: opt.Reject}, opt.Decision{Action: opt.Reject, Verdict: opt.NotWaiting}},
	} {
		got := replied(m, step.who, step.reply)
		if len(got) != 1 {
			t.Fatalf("step %d: %d decisions", i, len(got))
		}
		want := step.want
		want.N, want.ObjectiveID, want.PlanID, want.Attempt, want.TaskID, want.GateID = int64(i+1), objectiveID, plan(1), 1, task.ID, task.ID+":1"
		want.DecidedBy, want.DecidedAt = step.who, a2a.AtMillis(7)
		if want.Verdict != opt.NotWaiting { // then the gate is not known any more
			want.Kind, want.ObjectDigest, want.Groups = opt.Approval, digest, []string{"editors"}
		}
		test.Equal(t, fmt.Sprintf("step %d", i), want, *got[0], cmpopts.IgnoreFields(opt.Decision{}, "MessageID", "ReplyDigest", "Previous", "Hash"))
		if got[0].MessageID == "" || got[0].ReplyDigest == "" {
			t.Errorf("step %d: %+v", i, got[0])
		}
		if err := chains.Add(a2a.DataPart(got[0]).Data); err != nil {
			t.Errorf("step %d: %v", i, err)
		}
		var next machine.PlanState
		test.OK(t, json.Unmarshal(a2a.DataPart(m.State).Data, &next))
		m = &machine.Plan{State: next}
	}
}

// A gate that expires has a record, without a message.
func TestPlan_Handle_expired(t *testing.T) {
	m := atGate(t, machine.Rules)
	task := m.State.Plan.Tasks[0]
	replied(m, "bob", opt.Reply{Action: opt.Accept})
	got := decided(m.Handle(a2a.AtMillis(1001), machine.Elapsed{Key: m.Wants().Timers[0].Key}))
	want := []*opt.Decision{{
		N: 2, ObjectiveID: objectiveID, PlanID: plan(1), Attempt: 1, TaskID: task.ID, GateID: task.ID + ":1", Kind: opt.Approval,
		Action: opt.Reject, Verdict: opt.Accepted, Closed: true, DecidedBy: opt.ByTimer, DecidedAt: a2a.AtMillis(1001), ObjectDigest: got[0].ObjectDigest,
	}}
	test.Equal(t, "decisions", want, got, cmpopts.IgnoreFields(opt.Decision{}, "Previous", "Hash"))
}

// A gate that a client closes by moving its task is in the chain, with the name of the client.
func TestPlan_Handle_closedByHand(t *testing.T) {
	for to, action := range map[opt.TaskState]opt.Action{opt.TaskFailed: opt.Reject, opt.TaskCanceled: opt.Reject} {
		m := atGate(t, machine.Rules)
		task := m.State.Plan.Tasks[0]
		move := opt.Command{ID: "c1", Kind: opt.MoveTask, PlanID: plan(1), TaskID: task.ID, Status: string(to), Principal: "dan"}
		next := m.State.Directive
		next.N++
		got := decided(m.Handle(a2a.AtMillis(7), machine.Directed{Directive: next, Command: &move}))
		if len(got) != 1 || !got[0].ByHand || !got[0].Closed || got[0].DecidedBy != "dan" || got[0].Action != action || got[0].MessageID != "" {
			t.Errorf("moved to %s: %+v", to, got)
		}
	}
}

// A gate that a client closes by canceling its task is in the chain, too.
func TestPlan_Handle_canceledByHand(t *testing.T) {
	for rules, want := range map[int]int{4: 0, 5: 1} {
		m := atGate(t, rules)
		cancel := opt.Command{ID: "c1", Kind: opt.CancelTask, PlanID: plan(1), TaskID: m.State.Plan.Tasks[0].ID, Principal: "dan"}
		next := m.State.Directive
		next.N++
		got := decided(m.Handle(a2a.AtMillis(7), machine.Directed{Directive: next, Command: &cancel}))
		if len(got) != want || want == 1 && (!got[0].ByHand || !got[0].Closed || got[0].DecidedBy != "dan" || got[0].Action != "") {
			t.Errorf("rules %d: %+v", rules, got)
		}
	}
}

// A run that began under rules without chains makes none, however long it lasts.
func TestPlan_Handle_earlierRules(t *testing.T) {
	for rules, want := range map[int]int{0: 0, 1: 0, 2: 1} {
		m := atGate(t, rules)
		got := replied(m, "bob", opt.Reply{Action: opt.Accept})
		if len(got) != want || m.State.Chain.N != int64(want) {
			t.Errorf("rules %d: %d decisions, chain %+v", rules, len(got), m.State.Chain)
		}
	}
}

// Each note at a gate is recorded alone: an event does not repeat the gate, whose description
// and earlier exchanges may be long.
func TestPlan_Handle_notesAreRecordedAlone(t *testing.T) {
	const notes = 1000
	m := atGate(t, machine.Rules)
	task := m.State.Plan.Tasks[0]
	task.Gate.Description = strings.Repeat("d", 8<<10)
	gate, size := *task.Gate, 0
	for i := range notes {
		l := opt.Letter{TaskID: task.ID, Principal: "bob", Message: a2a.Message{MessageID: fmt.Sprint("note-", i), Role: a2a.RoleUser, Parts: []a2a.Part{a2a.TextPart("note")}}}
		events := m.Handle(a2a.AtMillis(7), machine.Letter{Letter: l})
		doc := test.Value(json.Marshal(events))(t)
		size += len(doc)
		for _, e := range events {
			if e.Kind == opt.ExchangeAdded {
				gate = *gate.Extended(*e.Gate)
			}
		}
	}
	t.Logf("%d bytes of events for a note", size/notes)
	if size > notes<<10 {
		t.Errorf("%d notes of 4 bytes make %d bytes of events", notes, size)
	}
	if diff := cmp.Diff(*task.Gate, gate); diff != "" || len(gate.Exchanges) != opt.MostExchanges {
		t.Errorf("a reader of the events has another gate (-want +got):\n%s", diff)
	}
}

// Gates open with the first events of a plan if nothing else begins, and then the report of the plan
// is made. Work begins when all that has arrived was handled.
func TestPlan_Handle_opensGates(t *testing.T) {
	gate := &opt.Gate{Kind: opt.Approval, Title: "Good?", Actions: []opt.Action{opt.Accept}}
	for name, tt := range map[string]struct {
		rules int
		first *opt.Gate
		hold  bool
		want  bool
	}{
		"a gate":        {machine.Rules, gate, false, true},
		"a task":        {machine.Rules, nil, false, false},
		"on hold":       {machine.Rules, gate, true, false},
		"earlier rules": {5, gate, false, false},
	} {
		p := test.Value(new(opt.Objective).NewPlan(opt.PlanSpec{Name: "p", Tasks: []opt.TaskSpec{{Name: "t", Ask: tt.first}, {Name: "u"}}}, a2a.AtMillis(1)))(t)
		m := &machine.Plan{State: machine.PlanState{Rules: tt.rules, Plan: *p, First: &machine.Directed{Directive: machine.Directive{N: 1, Start: true, Paused: tt.hold}}}}
		m.Handle(a2a.AtMillis(1), machine.Opened{})
		if opened := m.State.Plan.Tasks[0].Gate != nil; opened != tt.want || opened && m.State.Report.Status != opt.PlanBlocked {
			t.Errorf("%s: opened %v, reported as %q, want %v", name, opened, m.State.Report.Status, tt.want)
		}
	}
}

// An approval shows what people have answered before it.
func TestPlan_Handle_answers(t *testing.T) {
	ask := &opt.Gate{Kind: opt.Clarification, Questions: []opt.Question{{ID: "limit", Question: "Up to which number?"}}}
	approve := &opt.Gate{Kind: opt.Approval, Title: "?", Actions: []opt.Action{opt.Accept, opt.Reject},
		Form: &opt.GateForm{Title: []opt.Piece{{Literal: "Count to "}, {Results: "task-0", Answer: "limit"}, {Results: "task-0", Answer: "why"}, {Literal: "?"}}}}
	o := &opt.Objective{ID: objectiveID, Attempt: 1}
	p := test.Value(o.NewPlan(opt.PlanSpec{Name: "p", Tasks: []opt.TaskSpec{{Name: "ask", Ask: ask}, {Name: "approve", Ask: approve, Uses: []string{"task-0"}}}}, a2a.AtMillis(1)))(t)
	m := &machine.Plan{State: machine.PlanState{Rules: machine.Rules, Plan: *p, First: &machine.Directed{Directive: machine.Directive{N: 1, Start: true}}}}
	m.Handle(a2a.AtMillis(1), machine.Opened{})
	m.Handle(a2a.AtMillis(1), machine.Begin{})
	replied(m, "bob", opt.Reply{Answers: []opt.Answer{{ID: "limit", Answer: json.RawMessage("100")}}})
	m.Handle(a2a.AtMillis(8), machine.Begin{})
	if g := m.State.Plan.Tasks[1].Gate; g == nil || g.Title != "Count to 100?" {
		t.Errorf("the approval is %+v", g)
	}
}
