package human_test

import (
	"testing"

	"longhaul/activities/executortest"
	"longhaul/activities/human"
	"longhaul/internal/test"
	"longhaul/opt"
)

func TestForm_Gate(t *testing.T) {
	for _, tt := range []struct {
		name string
		form human.Form
		want *opt.Gate
		err  string
	}{
		{"approval", human.Form{Approve: "Ship it?", Description: "To all."},
			&opt.Gate{Kind: opt.Approval, Title: "Ship it?", Description: "To all.", Actions: []opt.Action{opt.Accept, opt.Reject}}, ""},
		{"by two others", human.Form{Approve: "Ship it?", Responders: &opt.Responders{NotRequester: true, Accepts: 2}},
			&opt.Gate{Kind: opt.Approval, Title: "Ship it?", Actions: []opt.Action{opt.Accept, opt.Reject}, Responders: &opt.Responders{NotRequester: true, Accepts: 2}}, ""},
		{"with an object", human.Form{Approve: "Good?", Results: opt.GateForm{Object: []string{"task-0"}}},
			&opt.Gate{Kind: opt.Approval, Title: "Good?", Actions: []opt.Action{opt.Accept, opt.Reject, opt.Refine, opt.EditAccept}, Form: &opt.GateForm{Object: []string{"task-0"}}}, ""},
		{"with an object, by two", human.Form{Approve: "Good?", Results: opt.GateForm{Object: []string{"task-0"}}, Responders: &opt.Responders{Accepts: 2}},
			&opt.Gate{Kind: opt.Approval, Title: "Good?", Actions: []opt.Action{opt.Accept, opt.Reject, opt.Refine, opt.EditAccept}, Form: &opt.GateForm{Object: []string{"task-0"}}, Responders: &opt.Responders{Accepts: 2}}, ""},
		{"edited by one of two", human.Form{Approve: "Good?", Actions: []opt.Action{opt.Accept, opt.EditAccept}, Results: opt.GateForm{Object: []string{"task-0"}}, Responders: &opt.Responders{Accepts: 2}},
			nil, "the action edit-accept is not possible where several must accept: each of them must accept the same object"},
		{"with a ladder", human.Form{Approve: "Ship it?", Ladder: []opt.Step{{Kind: opt.Expire, After: 60, Action: opt.Accept}}},
			&opt.Gate{Kind: opt.Approval, Title: "Ship it?", Actions: []opt.Action{opt.Accept, opt.Reject}, Ladder: []opt.Step{{Kind: opt.Expire, After: 60, Action: opt.Accept}}}, ""},
		{"questions that expire into accept", human.Form{Questions: []human.QuestionForm{{Question: "Who?"}}, Ladder: []opt.Step{{Kind: opt.Remind, After: 1}, {Kind: opt.Expire, After: 60, Action: opt.Accept}}},
			nil, "step 2: only the expiry of an approval has an action"},
		{"questions", human.Form{Description: "We need two things.", Questions: []human.QuestionForm{{Question: "Who?"}, {ID: "when", Question: "When?"}}},
			&opt.Gate{Kind: opt.Clarification, Description: "We need two things.", Questions: []opt.Question{{ID: "q1", Question: "Who?"}, {ID: "when", Question: "When?"}}}, ""},
		{"nothing", human.Form{Description: "Well?"}, nil, `a human task needs "approve" or "questions"`},
		{"both", human.Form{Approve: "Ship it?", Questions: []human.QuestionForm{{Question: "Who?"}}}, nil, "a human task either approves or asks questions, not both"},
		{"no text", human.Form{Questions: []human.QuestionForm{{Question: "Who?"}, {ID: "b"}}}, nil, "question 2 needs a text and an id of its own"},
		{"same id", human.Form{Questions: []human.QuestionForm{{ID: "a", Question: "Who?"}, {ID: "a", Question: "When?"}}}, nil, "question 2 needs a text and an id of its own"},
		{"id like a given one", human.Form{Questions: []human.QuestionForm{{ID: "q2", Question: "Who?"}, {Question: "When?"}}}, nil, "question 2 needs a text and an id of its own"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := tt.form.Gate()
			test.Equal(t, "gate", tt.want, got)
			switch {
			case err == nil && tt.err == "":
				test.OK(t, executortest.CheckGate(*got))
			case err == nil || err.Error() != tt.err:
				t.Errorf("error: got %v, want %q", err, tt.err)
			}
		})
	}
}
