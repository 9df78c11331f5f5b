package opt_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"testing"

	"longhaul/a2a"
	"longhaul/internal/test"
	"longhaul/opt"
	"longhaul/opt/worktime"
)

const hour = 3600

var leads = &opt.Responders{Groups: []string{"leads"}}

// Clients see when a gate expires and what happens next.
func TestGate_showsTheNextStep(t *testing.T) {
	g := (&opt.Gate{Kind: opt.Approval, Title: "Go?", Ladder: []opt.Step{
		{Kind: opt.Remind, After: hour}, {Kind: opt.Escalate, After: 2 * hour, To: leads}, {Kind: opt.Expire, After: 3 * hour},
	}}).Opened(a2a.AtMillis(0), 0)
	var got []string
	for {
		next := test.Value(json.Marshal(g.Shown().Next))(t)
		got = append(got, string(next))
		step, _ := g.NextStep()
		if step.Kind == opt.Expire {
			break
		}
		g = g.Stepped(step.At, nil)
	}
	want := []string{
		`{"kind":"remind","at":"1970-01-01T01:00:00.000Z"}`, `{"kind":"escalate","at":"1970-01-01T02:00:00.000Z"}`,
		`{"kind":"expire","at":"1970-01-01T03:00:00.000Z","action":"reject"}`,
	}
	test.Equal(t, "next steps", want, got)
	if g.Shown().ExpiresAt != a2a.AtMillis(3*hour*1000) {
		t.Errorf("it expires at %v", g.ExpiresAt)
	}
	if none := (&opt.Gate{Kind: opt.Approval}).Shown(); none.Next != nil || !none.ExpiresAt.IsZero() {
		t.Errorf("a gate without a ladder shows %v and %v", none.Next, none.ExpiresAt)
	}
}

// A timeout gives an expiry to gates that have no ladder.
func TestGate_Opened(t *testing.T) {
	reminded := []opt.Step{{Kind: opt.Remind, After: hour}}
	for _, tt := range []struct {
		ladder  []opt.Step
		timeout int
		want    int64 // when it expires
	}{{nil, 0, 0}, {nil, hour, hour}, {reminded, hour, 0}, {[]opt.Step{{Kind: opt.Expire, After: 2 * hour}}, hour, 2 * hour}} {
		g := (&opt.Gate{
			Ladder: tt.ladder, Taken: 7, Votes: []opt.Vote{{}}, Exchanges: []opt.Exchange{{}}, Next: &opt.NextStep{},
		}).Opened(a2a.AtMillis(5000), tt.timeout)
		want := a2a.Time{}
		if tt.want > 0 {
			want = a2a.AtMillis(5000 + tt.want*1000)
		}
		if g.ExpiresAt != want || g.Taken != 0 || len(g.Votes)+len(g.Exchanges) != 0 || g.Next != nil || g.RequestedAt != a2a.AtMillis(5000) {
			t.Errorf("with %v and %d: %+v", tt.ladder, tt.timeout, g)
		}
	}
}

// Rules about who may answer outlast every step.
func TestGate_Stepped(t *testing.T) {
	who := &opt.Responders{Principals: []string{"ann"}, Groups: []string{"editors"}, NotRequester: true, Accepts: 2, NoVeto: true}
	votes := []opt.Vote{{Action: opt.Accept, DecidedBy: "ann"}, {Action: opt.Accept, DecidedBy: "bob", Groups: []string{"editors"}}, {Action: opt.Reject, DecidedBy: "eve", Groups: []string{"editors"}}}
	to := &opt.Responders{Principals: []string{"ann", "carol"}, Groups: []string{"editors", "leads"}}
	names := func(principals, groups []string) *opt.Responders {
		return &opt.Responders{Principals: principals, Groups: groups, NotRequester: true, Accepts: 2, NoVeto: true}
	}
	for _, tt := range []struct {
		step  opt.Step
		want  *opt.Responders
		votes []opt.Vote
	}{
		{opt.Step{Kind: opt.Remind}, who, votes},
		{opt.Step{Kind: opt.Escalate, To: to}, names([]string{"ann", "carol"}, []string{"editors", "leads"}), votes},
		{opt.Step{Kind: opt.Reassign, To: &opt.Responders{Principals: []string{"eve"}}}, names([]string{"eve"}, nil), votes[2:]},
		{opt.Step{Kind: opt.Reassign, To: leads}, names(nil, []string{"leads"}), []opt.Vote{}},
		{opt.Step{Kind: opt.Reassign, To: to}, names([]string{"ann", "carol"}, []string{"editors", "leads"}), votes},
	} {
		before := opt.Gate{Responders: who, Votes: votes, Ladder: []opt.Step{tt.step}}
		got := before.Stepped(a2a.Time{}, nil)
		test.Equal(t, fmt.Sprintf("%s: responders", tt.step.Kind), tt.want, got.Responders)
		test.Equal(t, fmt.Sprintf("%s: votes", tt.step.Kind), tt.votes, got.Votes)
		if len(who.Principals) != 1 || len(votes) != 3 || before.Taken != 0 || got.Taken != 1 {
			t.Fatalf("%s changed the gate before it", tt.step.Kind)
		}
	}
	for _, everyone := range []*opt.Responders{nil, {NotRequester: true}} {
		g := (&opt.Gate{Responders: everyone, Ladder: []opt.Step{{Kind: opt.Escalate, To: leads}}}).Stepped(a2a.Time{}, nil)
		test.Equal(t, "an escalation where everyone may answer", everyone, g.Responders)
	}
}

// After a step that is late, people have as much time until the next one as the
// ladder gives them.
func TestGate_Stepped_late(t *testing.T) {
	g := (&opt.Gate{Kind: opt.Approval, Ladder: []opt.Step{
		{Kind: opt.Remind, After: hour}, {Kind: opt.Escalate, After: 3 * hour, To: leads}, {Kind: opt.Expire, After: 7 * hour},
	}}).Opened(a2a.AtMillis(0), 0)
	at := func(hours int64) a2a.Time { return a2a.AtMillis(hours * hour * 1000) }
	for _, tt := range []struct{ now, next, expires int64 }{{10, 12, 16}, {13, 17, 17}} {
		g = g.Stepped(at(tt.now), nil)
		if next, _ := g.NextStep(); next.At != at(tt.next) || g.Shown().ExpiresAt != at(tt.expires) {
			t.Errorf("after a step at %v the next one is at %v, and it expires at %v, want %v and %v", at(tt.now), next.At, g.ExpiresAt, at(tt.next), at(tt.expires))
		}
	}
	again := g.Opened(at(20), 0)
	if next, _ := again.NextStep(); next.At != at(21) || again.ExpiresAt != at(27) {
		t.Errorf("opened again, it steps at %v and expires at %v", next.At, again.ExpiresAt)
	}
}

// Steps that were late before working time counted after them move those that come later once, not with each step.
func TestGate_Stepped_lateBefore(t *testing.T) {
	always := &worktime.Calendar{Name: "always", Offsets: []worktime.Offset{{}}}
	for day := range 7 {
		always.Week = append(always.Week, worktime.Interval{Day: day, To: 24 * 60})
	}
	asked := &opt.Gate{Kind: opt.Approval, Calendar: always, Ladder: []opt.Step{
		{Kind: opt.Remind, After: hour, Works: true}, {Kind: opt.Remind, After: 2 * hour, Works: true}, {Kind: opt.Expire, After: 4 * hour, Works: true},
	}}
	g := asked.Clocked(a2a.AtMillis(0), true)
	g = g.Opened(a2a.AtMillis(0), 0)
	g = g.Stepped(a2a.AtMillis(6*hour*1000), nil)
	g = g.Stepped(a2a.AtMillis(7*hour*1000), asked)
	test.Is(t, "it expires at", a2a.AtMillis(9*hour*1000), g.ExpiresAt)
}

func TestGate_CheckLadder(t *testing.T) {
	approval := opt.Gate{Kind: opt.Approval, Actions: []opt.Action{opt.Accept, opt.Reject}, Responders: &opt.Responders{Principals: []string{"a", "b"}, Accepts: 2}}
	remind, expire := opt.Step{Kind: opt.Remind, After: hour}, opt.Step{Kind: opt.Expire, After: 2 * hour}
	ok := []opt.Step{remind, {Kind: opt.Reassign, After: hour + 1, To: leads}, expire}
	many := make([]opt.Step, opt.MaxSteps+1)
	for i := range many {
		many[i] = opt.Step{Kind: opt.Remind, After: int64(i + 1)}
	}
	for _, tt := range []struct {
		kind   opt.GateKind
		ladder []opt.Step
		want   string
		n      int
	}{
		{opt.Approval, nil, "", 0},
		{opt.Approval, ok, "", 0},
		{opt.Approval, many, "a gate has at most 20 steps", 0},
		{opt.Approval, []opt.Step{remind, {Kind: "wake", After: 2 * hour}}, `step 2: there is no step "wake": a step is one of remind, escalate, reassign, expire`, 2},
		{opt.Approval, []opt.Step{{Kind: opt.Remind}}, "step 1: must be between one second and 366 days after the gate opens", 1},
		{opt.Approval, []opt.Step{{Kind: opt.Remind, After: 367 * 24 * hour}}, "step 1: must be between one second and 366 days after the gate opens", 1},
		{opt.Approval, []opt.Step{remind, remind}, "step 2: must be later than the step before", 2},
		{opt.Approval, []opt.Step{{Kind: opt.Expire, After: 1}, remind}, "step 1: only the last step may be an expiry", 1},
		{opt.Approval, []opt.Step{{Kind: opt.Escalate, After: 1}}, "step 1: escalate needs the principals or groups that may answer then", 1},
		{opt.Approval, []opt.Step{{Kind: opt.Escalate, After: 1, To: &opt.Responders{Groups: []string{"x"}, Accepts: 1}}}, "step 1: escalate changes only who may answer: principals and groups", 1},
		{opt.Approval, []opt.Step{{Kind: opt.Remind, After: 1, To: leads}}, "step 1: remind names no responders", 1},
		{opt.Approval, []opt.Step{{Kind: opt.Reassign, After: 1, To: &opt.Responders{Principals: []string{"c"}}}}, "step 1: 1 principals cannot accept 2 times", 1},
		{opt.Approval, []opt.Step{{Kind: opt.Expire, After: 1, Action: opt.Accept}}, "", 0},
		{opt.Approval, []opt.Step{{Kind: opt.Expire, After: 1, Action: opt.Refine}}, `step 1: an approval expires with accept or reject, not "refine"`, 1},
		{opt.Approval, []opt.Step{{Kind: opt.Remind, After: 1, Action: opt.Reject}}, "step 1: only the expiry of an approval has an action", 1},
		{opt.Clarification, []opt.Step{{Kind: opt.Expire, After: 1, Action: opt.Reject}}, "step 1: only the expiry of an approval has an action", 1},
		{opt.Clarification, []opt.Step{{Kind: opt.Expire, After: 1}}, "", 0},
	} {
		g := approval
		g.Kind, g.Ladder = tt.kind, tt.ladder
		err := g.CheckLadder()
		got := ""
		if err != nil {
			got = err.Error()
		}
		test.Is(t, fmt.Sprintf("%v", tt.ladder), tt.want, got)
		var step *opt.StepError
		if n := 0; errors.As(err, &step) && step.N != tt.n || step == nil && n != tt.n {
			t.Errorf("%v: the error is about %+v, want %d", tt.ladder, step, tt.n)
		}
	}
	g := opt.Gate{Kind: opt.Approval, Actions: []opt.Action{opt.Reject}, Ladder: []opt.Step{{Kind: opt.Expire, After: 1, Action: opt.Accept}}}
	if g.CheckLadder() == nil {
		t.Error("a gate expires with an action that it does not offer")
	}
}
