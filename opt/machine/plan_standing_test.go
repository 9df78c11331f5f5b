package machine_test

import (
	"testing"

	"longhaul/a2a"
	"longhaul/internal/test"
	"longhaul/opt"
	"longhaul/opt/machine"
)

// lookedUp returns the activity that looks for a standing decision, nil for none.
func (c *checkedPlan) lookedUp() *machine.Activity {
	for _, a := range c.Wants().Activities {
		if a.Kind == machine.LookUp {
			return &a
		}
	}
	return nil
}

// newStanding returns a plan whose approval is about to open, about which standing decisions may decide.
func newStanding(t *testing.T, responders *opt.Responders, says string) *checkedPlan {
	t.Helper()
	c := newChecked(t, 0, "form")
	c.says["form-0"], c.State.Requester = says, "ann"
	a := c.approval()
	a.Standing, a.Ask.Responders = "pay/Pay/Approve", responders
	for range 10 {
		c.do(machine.Begin{})
		wanted := c.Wants().Activities
		if len(wanted) == 0 || wanted[0].Kind != machine.RunTask {
			break
		}
		c.do(machine.Ended{Key: wanted[0].Key, Outcome: c.outcome(c.State.Plan.Task(wanted[0].Of))})
	}
	return c
}

// by returns what a standing decision says about the gate that is about to open.
func (c *checkedPlan) by(action opt.Action, people ...string) opt.StandingUse {
	s := opt.StandingUse{ID: "sd-1", Use: 1, Action: action, Feedback: "since it is small", ObjectDigest: c.State.QuestionOf(*c.lookedUp(), a2a.AtMillis(1)).Gate.ObjectDigest}
	for _, p := range people {
		s.By = append(s.By, opt.Vote{Action: action, DecidedBy: p})
	}
	return s
}

// A standing decision decides in place of people, as many as the gate asks for, of whom none has shaped
// the work; otherwise the gate opens.
func TestPlan_standing(t *testing.T) {
	two := &opt.Responders{Principals: []string{"ann", "bob", "carol"}, Accepts: 2}
	for name, tt := range map[string]struct {
		responders *opt.Responders
		action     opt.Action
		by         []string
		want       opt.TaskState
	}{
		"accepted":                      {nil, opt.Accept, []string{"bob"}, opt.TaskCompleted},
		"rejected":                      {nil, opt.Reject, []string{"bob"}, opt.TaskFailed},
		"none":                          {nil, opt.Accept, nil, opt.TaskInputRequired},
		"by the requester":              {nil, opt.Accept, []string{"ann"}, opt.TaskInputRequired},
		"by the requester and another":  {two, opt.Accept, []string{"bob", "ann"}, opt.TaskInputRequired},
		"by one who may not decide":     {&opt.Responders{Principals: []string{"carol"}}, opt.Accept, []string{"bob"}, opt.TaskInputRequired},
		"by one of two":                 {two, opt.Accept, []string{"bob"}, opt.TaskInputRequired},
		"by two":                        {two, opt.Accept, []string{"bob", "carol"}, opt.TaskCompleted},
		"by one twice":                  {two, opt.Accept, []string{"bob", "bob"}, opt.TaskInputRequired},
		"with an action of people only": {nil, opt.Refine, []string{"bob"}, opt.TaskInputRequired},
	} {
		t.Run(name, func(t *testing.T) {
			c := newStanding(t, tt.responders, "ask")
			look := c.lookedUp()
			if look == nil || c.approval().Gate != nil {
				t.Fatal("nothing is looked up before the gate opens")
			}
			c.do(machine.Looked{Key: look.Key, By: c.by(tt.action, tt.by...)})
			a := c.approval()
			if a.State != tt.want || (a.Gate != nil) != (tt.want == opt.TaskInputRequired) {
				t.Fatalf("the approval is %s, with the gate %v", a.State, a.Gate)
			}
			records := decided(c.events)
			last := records[len(records)-1]
			if stands := tt.want != opt.TaskInputRequired; (last.Standing != nil) != stands || last.Closed != stands {
				t.Errorf("the last record is %+v", last)
			} else if stands && (last.DecidedBy != opt.ByStanding || last.GateID != opt.GateID(a.A2AID(), 1) || last.ObjectDigest == "" || len(last.Checks) != 1 || a.Gates != 1) {
				t.Errorf("the record is %+v, after %d gates", last, a.Gates)
			}
		})
	}
}

// What a check has rejected, what a client has a part in, and what another object would be are for people.
func TestPlan_standing_people(t *testing.T) {
	t.Run("rejected by a check", func(t *testing.T) {
		if c := newStanding(t, nil, "reject"); c.lookedUp() != nil || c.approval().Gate == nil {
			t.Error("the gate is not open")
		}
	})
	t.Run("a check that fails", func(t *testing.T) {
		if c := newStanding(t, nil, "fails"); c.lookedUp() != nil || c.approval().Gate == nil {
			t.Error("the gate is not open")
		}
	})
	for name, change := range map[string]func(c *checkedPlan, by *opt.StandingUse){
		"a note": func(c *checkedPlan, _ *opt.StandingUse) {
			c.do(machine.Letter{Letter: opt.Letter{TaskID: objectiveID, Principal: "mallory", Message: a2a.Message{MessageID: "n", Role: a2a.RoleUser, Parts: []a2a.Part{a2a.TextPart("To me.")}}}})
		},
		"a shaper is behind it": func(c *checkedPlan, _ *opt.StandingUse) { c.State.Shapers = append(c.State.Shapers, "bob") },
		"another object":        func(_ *checkedPlan, by *opt.StandingUse) { by.ObjectDigest = "sha256:00" },
		"an object by hand":     func(c *checkedPlan, _ *opt.StandingUse) { c.State.Plan.Tasks[0].ByHand = true },
	} {
		t.Run(name, func(t *testing.T) {
			c := newStanding(t, nil, "ask")
			look, by := c.lookedUp(), c.by(opt.Accept, "bob")
			change(c, &by)
			c.do(machine.Looked{Key: look.Key, By: by})
			if c.approval().Gate == nil {
				t.Errorf("the approval is %s, without a person", c.approval().State)
			}
		})
	}
}

// A run under earlier rules, and a gate for which its playbook does not say so, look nothing up.
func TestPlan_standing_not(t *testing.T) {
	for name, change := range map[string]func(*opt.Task, *machine.PlanState){
		"earlier rules":  func(_ *opt.Task, s *machine.PlanState) { s.Rules = 15 },
		"not allowed":    func(t *opt.Task, _ *machine.PlanState) { t.Standing = "" },
		"a later time":   func(t *opt.Task, _ *machine.PlanState) { t.Gates = 1 },
		"another order":  func(_ *opt.Task, s *machine.PlanState) { s.Reordered = true },
		"a second start": func(_ *opt.Task, s *machine.PlanState) { s.Plan.Run = 2 },
	} {
		t.Run(name, func(t *testing.T) {
			c := newChecked(t, 0, "form")
			c.says["form-0"] = "ask"
			c.approval().Standing = "pay/Pay/Approve"
			change(c.approval(), &c.State)
			c.work("after")
			if c.lookedUp() != nil || c.approval().Gate == nil {
				t.Errorf("the approval is %s", c.approval().State)
			}
		})
	}
}

// The gate of an executor is passed as well: the next round of its task gets the reply.
func TestPlan_standing_executor(t *testing.T) {
	c := newChecked(t, 0)
	first := c.State.Plan.Tasks[0]
	first.Standing = "pay/Pay/make"
	c.do(machine.Begin{})
	asked := &opt.Gate{Kind: opt.Approval, Title: "Call it?", Actions: []opt.Action{opt.Accept}, Object: []a2a.Part{a2a.DataPart(map[string]int{"amount": 12})}, Standing: "another", Checks: []opt.Finding{{Check: "forged", Verdict: opt.Reject}}}
	c.do(machine.Ended{Key: c.Wants().Activities[0].Key, Outcome: opt.Outcome{State: opt.TaskInputRequired, Gate: asked}})
	look := c.lookedUp()
	if look == nil {
		t.Fatalf("nothing is looked up: %+v", c.Wants().Activities)
	}
	test.Is(t, "it is looked up for", first.Standing, c.State.QuestionOf(*look, a2a.AtMillis(1)).Gate.Standing)
	c.do(machine.Looked{Key: look.Key, By: c.by(opt.Accept, "bob")})
	c.do(machine.Begin{})
	w := c.State.WorkOf(c.Wants().Activities[0])
	if w.Round != 2 || len(w.Replies) != 1 || w.Replies[0].Action != opt.Accept || w.Replies[0].DecidedBy != opt.ByStanding {
		t.Errorf("the next round is %d, with the replies %+v", w.Round, w.Replies)
	}
}

// A plan that is stopped meanwhile asks no one.
func TestPlan_standing_stopped(t *testing.T) {
	c := newStanding(t, nil, "ask")
	look, by := c.lookedUp(), c.by(opt.Accept, "bob")
	c.do(machine.Canceled{})
	if now := c.lookedUp(); now == nil || !now.Stop {
		t.Errorf("the activity is not stopped: %+v", now)
	}
	c.do(machine.Looked{Key: look.Key, By: by})
	if a := c.approval(); a.State != opt.TaskCanceled || a.Gates != 0 {
		t.Errorf("the approval is %s", a.State)
	}
}
