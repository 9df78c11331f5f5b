package standing_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"longhaul/a2a"
	"longhaul/internal/test"
	"longhaul/opt"
	"longhaul/opt/standing"
)

var gate = &opt.Gate{Kind: opt.Approval, Standing: "pay/Pay/Approve", Actions: []opt.Action{opt.Accept, opt.Reject}}

func decision(change func(*standing.Decision)) standing.Decision {
	d := standing.Decision{
		ID: "sd-1", Gates: gate.Standing, Action: opt.Accept, Holds: "object.amount < 50", Most: 2, Need: 1,
		CreatedAt: a2a.AtMillis(1000), ExpiresAt: a2a.AtMillis(61_000), By: []opt.Vote{{Action: opt.Accept, DecidedBy: "bob"}},
	}
	change(&d)
	return d
}

func TestDecision_State(t *testing.T) {
	for want, change := range map[standing.State]func(*standing.Decision){
		standing.Active:   func(*standing.Decision) {},
		standing.Proposed: func(d *standing.Decision) { d.Need = 2 },
		standing.UsedUp:   func(d *standing.Decision) { d.Used = 2 },
		standing.Expired:  func(d *standing.Decision) { d.ExpiresAt = a2a.AtMillis(2000) },
		standing.Revoked:  func(d *standing.Decision) { d.RevokedAt = a2a.AtMillis(1500) },
	} {
		if got := decision(change).State(a2a.AtMillis(2000)); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

func TestDecision_Valid(t *testing.T) {
	for field, change := range map[string]func(*standing.Decision){
		"":         func(*standing.Decision) {},
		"action":   func(d *standing.Decision) { d.Action = opt.Refine },
		"for":      func(d *standing.Decision) { d.ExpiresAt = a2a.AtMillis(1000 + 32*24*3_600_000) },
		"most":     func(d *standing.Decision) { d.Most = 0 },
		"holds":    func(d *standing.Decision) { d.Holds = "" },
		"feedback": func(d *standing.Decision) { d.Feedback = strings.Repeat("x", 1<<20) },
	} {
		wrong, ok := errors.AsType[*opt.SpecError](decision(change).Valid(gate))
		if ok != (field != "") || ok && wrong.Field != field {
			t.Errorf("%v, want the field %q", wrong, field)
		}
	}
	if decision(func(*standing.Decision) {}).Valid(&opt.Gate{Kind: opt.Approval, Actions: gate.Actions}) == nil {
		t.Error("there is one about a gate for people alone")
	}
}

// The digest covers what people have agreed to, and not who they are or how often it was used.
func TestDecision_Digest(t *testing.T) {
	was := decision(func(*standing.Decision) {})
	later := decision(func(d *standing.Decision) { d.Used, d.By = 1, nil })
	other := decision(func(d *standing.Decision) { d.Holds = "object.amount < 51" })
	if was.Digest() != later.Digest() || was.Digest() == other.Digest() {
		t.Errorf("digests %s, %s, %s", was.Digest(), later.Digest(), other.Digest())
	}
}

func TestCondition(t *testing.T) {
	for want, objects := range map[string][]string{
		`object.amount <= 40 && object.for == "tea"`:              {`{"amount": 12, "for": "tea"}`, `{"amount": 40, "for": "tea"}`},
		`object.arguments.amount <= 7.50 && object.tool == "pay"`: {`{"tool": "pay", "arguments": {"amount": 7.50, "to": "a"}}`, `{"tool": "pay", "arguments": {"amount": 3, "to": "b"}}`},
		`object["a b"] == "x"`:                                    {`{"a b": "x"}`, `{"a b": "x"}`},
		`object.for == "a\" || true || \""`:                       {`{"for": "a\" || true || \""}`, `{"for": "a\" || true || \""}`},
		``:                                                        {`{"amount": 12}`, `{"price": 12}`},
	} {
		var list []json.RawMessage
		for _, o := range objects {
			list = append(list, json.RawMessage(o))
		}
		if got := standing.Condition(list); got != want {
			t.Errorf("%s\nwant %s", got, want)
		}
	}
	test.Is(t, "an object that is no JSON has the condition", "", standing.Condition([]json.RawMessage{nil}))
}

// Only the latest answers count: one that differs ends the row.
func TestPropose(t *testing.T) {
	answers := func(actions ...opt.Action) (list []standing.Answer) {
		for _, a := range actions {
			list = append(list, standing.Answer{Gates: "pay", Action: a})
		}
		return list
	}
	for _, tt := range []struct {
		answers []standing.Answer
		want    bool
	}{
		{answers(opt.Accept, opt.Accept, opt.Accept, opt.Reject), true},
		{answers(opt.Accept, opt.Accept), false},
		{answers(opt.Accept, opt.Reject, opt.Accept, opt.Accept), false},
	} {
		if got := standing.Propose(tt.answers); len(got) > 0 != tt.want {
			t.Errorf("%v propose %v", tt.answers, got)
		}
	}
}
