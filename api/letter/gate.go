package letter

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"longhaul/a2a"
	"longhaul/api/call"
	"longhaul/internal/schema"
	"longhaul/opt"
	"longhaul/opt/shown"
)

// A GateDecision is the decision in a data part of a message: an Action at an
// approval, Answers at a clarification.
type GateDecision struct {
	Field    string     // its path in the request
	Member   string     // the member with the action; "" for action
	GateID   string     // which gate it is for; "" if the message does not say
	Action   opt.Action // as the message says it: it may be unknown
	Feedback string
	Answers  []opt.Answer
	Texts    [][]string // answers in the order of the questions, instead of Answers
	Refine   *opt.Refinement
	Edited   json.RawMessage // of edit-accept
	Question string          // of ask

	ObjectDigest string // of the object that the sender has seen; "" if the message has none
}

// Answer returns the gate that m is for and the reply in m. The reply is nil if m
// decides nothing: then it is a note, to the task at the gate if there is one.
func Answer(open []*opt.Gate, m a2a.Message, d *GateDecision, forTask string) (*opt.Gate, *opt.Reply, error) {
	if forTask != "" {
		open = gatesOf(open, forTask)
	}
	switch {
	case d == nil && len(open) == 0:
		return nil, nil, nil
	case len(open) == 0:
		return nil, nil, call.ErrNotWaiting
	}
	gate, err := pickGate(open, d)
	if err != nil {
		return nil, nil, err
	}
	reply := &opt.Reply{GateID: gate.ID, MessageID: m.MessageID}
	if d == nil {
		return readWords(gate, reply, m)
	}
	reply.ObjectDigest = d.ObjectDigest
	if gate.Kind == opt.Clarification {
		return gate, reply, readAnswers(reply, gate, d)
	}
	return gate, reply, readAction(reply, gate, m, d)
}

// readWords reads a message without a decision, by the kind of the gate. An approval takes a word
// as a decision, and other text as a comment, which decides nothing. An authorization takes text
// to the one who waits for it, which authorizes nothing, if it takes anything from people.
func readWords(gate *opt.Gate, reply *opt.Reply, m a2a.Message) (*opt.Gate, *opt.Reply, error) {
	switch {
	case gate.Kind == opt.Clarification:
		return gate, reply, readTextAnswer(reply, gate, m)
	case gate.Kind == opt.Credential && len(gate.Actions) == 0:
		return nil, nil, nil
	}
	word, err := decisionWordAt(gate, m)
	switch reply.Action = word; {
	case err != nil || word != "":
		return gate, reply, err
	case gate.Kind == opt.Approval:
		return gate, nil, nil
	}
	if reply.Feedback = strings.TrimSpace(m.Text()); reply.Feedback == "" {
		err = call.InvalidField("message.parts", "must hold text, or a data part with an action: "+Offered(gate))
	}
	return gate, reply, err
}

// readAction reads a decision that is an action, with what the action needs.
func readAction(reply *opt.Reply, gate *opt.Gate, m a2a.Message, d *GateDecision) error {
	switch {
	case d.Answers != nil, d.Texts != nil:
		return notOffered(d.Field+"answers", gate)
	case !gate.Allows(d.Action):
		return notOffered(d.Field+cmp.Or(d.Member, "action"), gate)
	}
	if err := conflictingDecision(m, d.Action); err != nil {
		return err
	}
	if err := checkWords(d); err != nil {
		return err
	}
	if d.Action == opt.EditAccept {
		reply.Edited = []a2a.Part{opt.EditedPart(d.Edited)}
	}
	reply.Action, reply.Feedback, reply.Refine, reply.Question = d.Action, d.Feedback, d.Refine, d.Question
	return nil
}

// checkWords returns an error if an action lacks the words that it needs.
func checkWords(d *GateDecision) error {
	switch {
	case d.Action == opt.Ask && strings.TrimSpace(d.Question) == "":
		return call.InvalidField(d.Field+"question", "is required")
	case d.Action == opt.Refine && d.Refine == nil && d.Feedback == "":
		return call.InvalidField(d.Field+"refineFeedback", "is required, unless feedback says what should be better")
	case d.Action == opt.EditAccept && isBlank(d.Edited):
		return call.InvalidField(d.Field+"editedArtifactData", "is required: it replaces the object")
	}
	return nil
}

// isBlank reports whether JSON is missing, null or a text without visible characters.
func isBlank(raw json.RawMessage) bool {
	var text *string
	return len(raw) == 0 || json.Unmarshal(raw, &text) == nil && (text == nil || strings.TrimSpace(*text) == "")
}

func gatesOf(open []*opt.Gate, taskID string) []*opt.Gate {
	return slices.DeleteFunc(slices.Clone(open), func(g *opt.Gate) bool { return g.TaskID != taskID })
}

// pickGate returns the gate that a decision is for: the one it names, or the only one.
func pickGate(open []*opt.Gate, d *GateDecision) (*opt.Gate, error) {
	if d != nil && d.GateID != "" {
		for _, g := range open {
			if g.ID == d.GateID {
				return g, nil
			}
		}
		return nil, call.ErrNotWaiting
	}
	if len(open) == 1 {
		return open[0], nil
	}
	var ids []string
	for _, g := range open {
		ids = append(ids, g.ID)
	}
	return nil, call.InvalidField("message.parts", "must say in interruptId which of these it is for: "+strings.Join(ids, ", "))
}

// decisionWordAt returns the decision that is the whole text of m, "" for other text. A message
// with a decision that the gate does not offer, or as one of several parts, is refused, since its
// sender believes to have decided.
func decisionWordAt(gate *opt.Gate, m a2a.Message) (opt.Action, error) {
	word := DecisionWord(m)
	if word != "" && gate.Allows(word) {
		return word, nil
	}
	if slices.ContainsFunc(m.Parts, func(p a2a.Part) bool { return DecisionWord(a2a.Message{Parts: []a2a.Part{p}}) != "" }) {
		return "", notOffered("message.parts", gate)
	}
	return "", nil
}

// DecisionWord returns the decision that is the whole text of m, "" if there is none.
func DecisionWord(m a2a.Message) opt.Action {
	word := opt.Action(strings.ToLower(strings.TrimSpace(m.Text())))
	if len(m.Parts) == 1 && (word == opt.Accept || word == opt.Reject) {
		return word
	}
	return ""
}

// conflictingDecision returns the fault of a message with a decision whose text is another
// one.
func conflictingDecision(m a2a.Message, decided opt.Action) error {
	for i, p := range m.Parts {
		word := DecisionWord(a2a.Message{Parts: []a2a.Part{p}})
		if word != "" && word != decided {
			return call.InvalidField(fmt.Sprintf("message.parts[%d]", i), "is a second decision; send one")
		}
	}
	return nil
}

// WasOffered reports whether the conversation of v shows a gate that offered an action
// and is not open any more.
func WasOffered(v shown.TaskView, a opt.Action) bool {
	history := v.Task.History
	if v.Task.Status.Message != nil {
		history = append(slices.Clone(history), *v.Task.Status.Message)
	}
	return slices.ContainsFunc(history, func(m a2a.Message) bool {
		g := opt.GateIn(m)
		return g != nil && g.Allows(a) && !slices.ContainsFunc(v.Gates, func(open *opt.Gate) bool { return open.ID == g.ID })
	})
}

// readTextAnswer reads plain text as the answer to the only question, with the other parts beside
// it. Text that is JSON counts as that if the question takes no text.
func readTextAnswer(reply *opt.Reply, gate *opt.Gate, m a2a.Message) error {
	text := strings.TrimSpace(m.Text())
	reply.Attached = a2a.BesideText(m.Parts)
	switch {
	case text == "":
		return call.InvalidField("message.parts", "must hold text, or a data part with answers")
	case len(gate.Questions) != 1:
		return call.InvalidField("message.parts", "must hold a data part with answers to: "+questions(gate))
	}
	raw, err := schema.FromText(gate.Questions[0].Schema, text)
	if err != nil {
		return misfits([]call.Violation{misfit("message.parts", gate.Questions[0], err)})
	}
	reply.Answers = []opt.Answer{{ID: gate.Questions[0].ID, Answer: raw}}
	return nil
}

// readTextAnswers reads the answers to a clarification as texts, in the order of the
// questions. Several texts are an array; one is an array if only that is valid.
func readTextAnswers(reply *opt.Reply, gate *opt.Gate, d *GateDecision) error {
	if len(d.Texts) != len(gate.Questions) {
		return call.InvalidField(d.Field+"answers", "must answer, in this order, "+questions(gate))
	}
	var wrong []call.Violation
	for i, texts := range d.Texts {
		q := gate.Questions[i]
		list, err := json.Marshal(texts)
		if err == nil {
			err = checkAnswer(q, list)
		}
		if len(texts) == 1 {
			raw, problem := schema.FromText(q.Schema, texts[0])
			if problem == nil || err != nil {
				list, err = raw, problem
			}
		}
		if err != nil {
			wrong = append(wrong, misfit(fmt.Sprintf("%sanswers[%d].answer", d.Field, i), q, err))
		}
		reply.Answers = append(reply.Answers, opt.Answer{ID: q.ID, Answer: list})
	}
	return misfits(wrong)
}

// misfit says that an answer does not fit the schema of its question.
func misfit(field string, q opt.Question, err error) call.Violation {
	return call.Violation{Field: field, Description: fmt.Sprintf("the answer to %s is not valid: %v", q.ID, err)}
}

// misfits returns the fault of answers, nil if all fit. Its message names all that do not: most
// people see only that.
func misfits(wrong []call.Violation) error {
	if len(wrong) == 0 {
		return nil
	}
	f := call.Invalid(wrong...)
	for _, v := range wrong[1:] {
		f.Message += "; " + v.Description
	}
	return f
}

// checkAnswer returns the first defect of an answer to a question.
func checkAnswer(q opt.Question, answer json.RawMessage) error {
	if q.Schema == nil {
		return nil
	}
	s, err := schema.Parse(q.Schema)
	if err != nil {
		return fmt.Errorf("the question has an invalid schema: %w", err)
	}
	return s.Check(answer)
}

// readAnswers reads the answers to a clarification: one for each question.
func readAnswers(reply *opt.Reply, gate *opt.Gate, d *GateDecision) error {
	if d.Texts != nil {
		return readTextAnswers(reply, gate, d)
	}
	if d.Answers == nil {
		return call.InvalidField(d.Field+"answers", "is required: the task waits for answers to "+questions(gate))
	}
	given := map[string]bool{}
	var wrong []call.Violation
	for i, a := range d.Answers {
		at := slices.IndexFunc(gate.Questions, func(q opt.Question) bool { return q.ID == a.ID })
		if at < 0 || given[a.ID] {
			return call.InvalidField(fmt.Sprintf("%sanswers[%d].id", d.Field, i), "must name, once, one of "+questions(gate))
		}
		given[a.ID] = true
		if err := checkAnswer(gate.Questions[at], a.Answer); err != nil {
			wrong = append(wrong, misfit(fmt.Sprintf("%sanswers[%d].answer", d.Field, i), gate.Questions[at], err))
		}
	}
	if err := misfits(wrong); err != nil {
		return err
	}
	if len(given) < len(gate.Questions) {
		return call.InvalidField(d.Field+"answers", "must answer all of "+questions(gate))
	}
	reply.Answers, reply.Feedback = d.Answers, d.Feedback
	return nil
}

func questions(gate *opt.Gate) string {
	var ids []string
	for _, q := range gate.Questions {
		ids = append(ids, q.ID)
	}
	return strings.Join(ids, ", ")
}

// notOffered returns the fault of a decision that the gate does not offer.
func notOffered(field string, gate *opt.Gate) error {
	if len(gate.Actions) == 0 {
		return call.InvalidField(field, "no action is possible at this gate")
	}
	return call.InvalidField(field, "the action must be one of: "+Offered(gate))
}

// Offered returns the actions of a gate, separated by commas.
func Offered(gate *opt.Gate) string {
	var actions []string
	for _, a := range gate.Actions {
		actions = append(actions, string(a))
	}
	return strings.Join(actions, ", ")
}
