package letter_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"longhaul/a2a"
	"longhaul/api/letter"
	"longhaul/opt"
)

const task = "task-a-1-0"

func said(texts ...string) (m a2a.Message) {
	for _, text := range texts {
		m.Parts = append(m.Parts, a2a.TextPart(text))
	}
	m.MessageID = "m"
	return m
}

func gate(kind opt.GateKind, actions ...opt.Action) opt.Gate {
	return opt.Gate{ID: task + ":1", TaskID: task, Kind: kind, Actions: actions}
}

// asks returns a clarification with questions q0, q1 and so on, by their schemas; "" for none.
func asks(schemas ...string) opt.Gate {
	g := gate(opt.Clarification)
	for i, s := range schemas {
		g.Questions = append(g.Questions, opt.Question{ID: "q" + string(rune('0'+i)), Schema: json.RawMessage(s)})
		if s == "" {
			g.Questions[i].Schema = nil
		}
	}
	return g
}

// with adds a part to a message.
func with(m a2a.Message, p a2a.Part) a2a.Message {
	m.Parts = append(m.Parts, p)
	return m
}

func answers(values ...string) (list []opt.Answer) {
	for i, v := range values {
		list = append(list, opt.Answer{ID: "q" + string(rune('0'+i)), Answer: json.RawMessage(v)})
	}
	return list
}

// What messages decide at a gate, by its kind. Messages that decide nothing are notes, or comments
// at the gate.
func TestAnswer(t *testing.T) {
	approval := gate(opt.Approval, opt.Accept, opt.Reject)
	review := gate(opt.Approval, opt.Accept, opt.Reject, opt.Refine, opt.EditAccept, opt.Ask)
	login, visa := gate(opt.Credential), gate(opt.Credential, opt.Reject)
	number := asks(`{"type":"integer","minimum":1}`)
	file := a2a.Part{Raw: []byte("x"), Filename: "a.txt"}
	type decision = letter.GateDecision
	for name, tc := range map[string]struct {
		at   opt.Gate
		m    a2a.Message
		d    *decision
		want any // a reply, "note", "comment", or what the fault says
	}{
		"accept":                         {approval, said("x"), &decision{Action: opt.Accept, Feedback: "F", ObjectDigest: "D"}, opt.Reply{Action: opt.Accept, Feedback: "F", ObjectDigest: "D"}},
		"a word":                         {approval, said("  ACCEPT\n"), nil, opt.Reply{Action: opt.Accept}},
		"a word beside its decision":     {approval, said("accept"), &decision{Action: opt.Accept}, opt.Reply{Action: opt.Accept}},
		"another word beside a decision": {approval, said("x", "Reject "), &decision{Action: opt.Accept}, "message.parts[1]: is a second decision"},
		"a word as one of two parts":     {approval, said("accept", "x"), nil, "message.parts: the action must be one of: accept, reject."},
		"other text":                     {approval, said("I would accept it"), nil, "comment"},
		"an unknown action":              {approval, said("x"), &decision{Action: "approve"}, "action: the action must be one of: accept, reject."},
		"an action that is not offered":  {approval, said("x"), &decision{Action: opt.Ask, Question: "Why?"}, "action: the action must be one of: accept, reject."},
		"answers to an approval":         {approval, said("x"), &decision{Answers: answers("1")}, "answers: the action must be one of: accept, reject."},
		"texts to an approval":           {approval, said("x"), &decision{Texts: [][]string{{"a"}}}, "answers: the action must be one of: accept, reject."},
		"another gate":                   {approval, said("x"), &decision{GateID: "other:1", Action: opt.Accept}, "does not wait"},
		"edit":                           {review, said("x"), &decision{Action: opt.EditAccept, Edited: json.RawMessage(`{"a":1}`)}, opt.Reply{Action: opt.EditAccept, Edited: []a2a.Part{opt.EditedPart(json.RawMessage(`{"a":1}`))}}},
		"edit without data":              {review, said("x"), &decision{Action: opt.EditAccept}, "editedArtifactData: is required"},
		"edit to null":                   {review, said("x"), &decision{Action: opt.EditAccept, Edited: json.RawMessage(`null`)}, "editedArtifactData: is required"},
		"edit to an empty text":          {review, said("x"), &decision{Action: opt.EditAccept, Edited: json.RawMessage(`""`)}, "editedArtifactData: is required"},
		"edit to white space":            {review, said("x"), &decision{Action: opt.EditAccept, Edited: json.RawMessage(`" \n"`)}, "editedArtifactData: is required"},
		"refine by feedback":             {review, said("x"), &decision{Action: opt.Refine, Feedback: "shorter"}, opt.Reply{Action: opt.Refine, Feedback: "shorter"}},
		"refine without feedback":        {review, said("x"), &decision{Action: opt.Refine}, "refineFeedback: is required"},
		"ask":                            {review, said("x"), &decision{Action: opt.Ask, Question: "Why?"}, opt.Reply{Action: opt.Ask, Question: "Why?"}},
		"ask without a question":         {review, said("x"), &decision{Action: opt.Ask, Question: " "}, "question: is required"},
		"talk about a login":             {login, said("accept"), nil, "note"},
		"a decision about a login":       {login, said("x"), &decision{Action: opt.Accept}, "action: no action is possible"},
		"text about an authorization":    {visa, said("Where?"), nil, opt.Reply{Feedback: "Where?"}},
		"a word about an authorization":  {visa, said("reject"), nil, opt.Reply{Action: opt.Reject}},
		"nothing about an authorization": {visa, said(" "), nil, "message.parts: must hold text, or a data part with an action: reject"},
		"text as the answer":             {asks(""), said(" Engineers "), nil, opt.Reply{Answers: answers(`"Engineers"`)}},
		"a file beside the answer":       {asks(""), with(said("See"), file), nil, opt.Reply{Answers: answers(`"See"`), Attached: []a2a.Part{file}}},
		"a file without words":           {asks(""), with(said(""), file), nil, "message.parts: must hold text"},
		"no text":                        {asks(""), said(""), nil, "message.parts: must hold text, or a data part with answers"},
		"text to two questions":          {asks("", ""), said("x"), nil, "message.parts: must hold a data part with answers to: q0, q1"},
		"text as JSON":                   {number, said("3"), nil, opt.Reply{Answers: answers("3")}},
		"text of another type":           {number, said("three"), nil, "message.parts: the answer to q0 is not valid: it must be a whole number"},
		"text below the minimum":         {number, said("0"), nil, "message.parts: the answer to q0 is not valid: it must be at least 1"},
		"an answer":                      {number, said("x"), &decision{Answers: answers("3"), Feedback: "F"}, opt.Reply{Answers: answers("3"), Feedback: "F"}},
		"an answer of null":              {asks(""), said("x"), &decision{Answers: answers("null")}, opt.Reply{Answers: answers("null")}},
		"an answer of another type":      {number, said("x"), &decision{Answers: answers(`"3"`)}, "answers[0].answer: the answer to q0 is not valid: it must be a whole number"},
		"two answers that do not fit":    {asks(`{"type":"integer"}`, `{"minLength":2}`), said("x"), &decision{Answers: answers(`"3"`, `"a"`)}, "the answer to q0 is not valid: it must be a whole number; the answer to q1 is not valid: it must have at least 2"},
		"two texts that do not fit":      {asks(`{"type":"integer"}`, `{"type":"boolean"}`), said("x"), &decision{Texts: [][]string{{"a"}, {"b"}}}, "it must be a whole number; the answer to q1 is not valid: it must be true or false"},
		"an answer to nothing":           {number, said("x"), &decision{Answers: []opt.Answer{{ID: "x"}}}, "answers[0].id: must name, once, one of q0"},
		"an answer twice":                {asks("", ""), said("x"), &decision{Answers: append(answers("1"), answers("2")...)}, "answers[1].id: must name, once, one of q0, q1"},
		"one of two answers":             {asks("", ""), said("x"), &decision{Answers: answers("1")}, "answers: must answer all of q0, q1"},
		"an action for a question":       {number, said("x"), &decision{Action: opt.Accept}, "answers: is required: the task waits for answers to q0"},
		"texts":                          {asks("", ""), said("x"), &decision{Texts: [][]string{{"A"}, {"A", "B"}}}, opt.Reply{Answers: answers(`"A"`, `["A","B"]`)}},
		"texts by schemas":               {asks(`{"type":"integer"}`, `{"type":"array"}`, `{"type":"string"}`), said("x"), &decision{Texts: [][]string{{"3"}, {"A"}, {"true"}}}, opt.Reply{Answers: answers(`3`, `["A"]`, `"true"`)}},
		"too many texts":                 {asks(""), said("x"), &decision{Texts: [][]string{{"a"}, {"b"}}}, "answers: must answer, in this order, q0"},
		"a text below the minimum":       {number, said("x"), &decision{Texts: [][]string{{"0"}}}, "answers[0].answer: the answer to q0 is not valid"},
		"several texts of another type":  {number, said("x"), &decision{Texts: [][]string{{"1", "2"}}}, "answers[0].answer: the answer to q0 is not valid"},
	} {
		at, got, err := letter.Answer([]*opt.Gate{&tc.at}, tc.m, tc.d, "")
		switch want := tc.want.(type) {
		case opt.Reply:
			want.GateID, want.MessageID = tc.at.ID, "m"
			if diff := cmp.Diff(&want, got, cmp.AllowUnexported(a2a.Time{})); err != nil || at == nil || diff != "" {
				t.Errorf("%s: %v, reply (-want +got):\n%s", name, err, diff)
			}
		case string:
			comment, fault := at != nil, ""
			if err != nil {
				fault = err.Error() + "."
			}
			if decides := got != nil && err == nil; decides || want == "note" && (comment || err != nil) || want == "comment" && (!comment || err != nil) ||
				want != "note" && want != "comment" && !strings.Contains(fault, want) {
				t.Errorf("%s: comment %t, reply %v, %q, want %q", name, comment, got, fault, want)
			}
		}
	}
}
