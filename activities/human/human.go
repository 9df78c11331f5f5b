// Package human makes tasks for people: an approval, or answers to questions.
// Such a task is only a gate. It runs no activity and uses no slot of a worker,
// so it may wait for weeks.
//
// A rejected approval fails its task. Answers become the task's artifact, for
// the tasks after it.
package human

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"longhaul/internal/schema"
	"longhaul/opt"
	"longhaul/opt/worktime"
)

// Executor is the name of the executor in plans that marks a human task.
const Executor = "human"

// Form is how a plan describes a human task.
type Form struct {
	Approve     string             // the title of an approval
	Description string             // more about it
	Actions     []opt.Action       // that an approval offers; nil for the usual ones
	Results     opt.GateForm       // what of an approval is made from results of tasks before it
	Responders  *opt.Responders    // who may answer; nil for everyone
	Questions   []QuestionForm     // of a clarification
	Ladder      []opt.Step         // what happens while it waits
	Calendar    *worktime.Calendar // of working time in Ladder; nil for none
	Keep        bool               // forks keep a decision to accept the object
}

// Actions of an approval that does not name them.
var (
	withoutObject = []opt.Action{opt.Accept, opt.Reject}
	withObject    = []opt.Action{opt.Accept, opt.Reject, opt.Refine, opt.EditAccept}
)

// QuestionForm is one question of a Form.
type QuestionForm struct {
	ID       string
	Question string
	Schema   json.RawMessage // of the answer; nil for any
}

// Gate returns the gate that f describes. A form is either an approval or a
// list of questions. A mistake in the ladder is an [opt.StepError].
func (f Form) Gate() (*opt.Gate, error) {
	g, err := f.gate()
	if err != nil {
		return nil, err
	}
	g.Ladder, g.Calendar, g.Keep = f.Ladder, f.Calendar, f.Keep
	if err := g.CheckLadder(); err != nil {
		return nil, err
	}
	return g, nil
}

func (f Form) gate() (*opt.Gate, error) {
	switch r := f.Responders; {
	case r.Several() && len(f.Questions) > 0:
		return nil, fmt.Errorf("only an approval takes several responders")
	case r.CheckAccepts() != nil:
		return nil, r.CheckAccepts()
	case f.Keep && len(f.Results.Object) == 0:
		return nil, errors.New("keep-decision is about the object of an approval")
	case f.Approve != "" && len(f.Questions) > 0:
		return nil, fmt.Errorf("a human task either approves or asks questions, not both")
	case f.Approve != "" || len(f.Results.Title) > 0:
		return f.approval()
	case len(f.Actions) > 0:
		return nil, fmt.Errorf("only an approval has actions")
	case len(f.Questions) == 0:
		return nil, fmt.Errorf("a human task needs \"approve\" or \"questions\"")
	}
	return f.clarification()
}

// clarification returns the gate of questions.
func (f Form) clarification() (*opt.Gate, error) {
	g := &opt.Gate{Kind: opt.Clarification, Description: f.Description, Responders: f.Responders, Form: f.form()}
	seen := map[string]bool{}
	for i, q := range f.Questions {
		q.ID = QuestionID(q.ID, i)
		if q.Question == "" || seen[q.ID] {
			return nil, fmt.Errorf("question %d needs a text and an id of its own", i+1)
		}
		if !opt.IsPlainID(q.ID) {
			return nil, fmt.Errorf("question %d: an id has 1 to 64 letters, digits, dots, hyphens and underscores", i+1)
		}
		if q.Schema != nil {
			if _, err := schema.Parse(q.Schema); err != nil {
				return nil, fmt.Errorf("question %d: %w", i+1, err)
			}
		}
		seen[q.ID] = true
		g.Questions = append(g.Questions, opt.Question{ID: q.ID, Question: q.Question, Schema: q.Schema})
	}
	return g, nil
}

// QuestionID returns the id of the question with an index: its own, or one by its place.
func QuestionID(own string, index int) string { return cmp.Or(own, fmt.Sprintf("q%d", index+1)) }

// approval returns the gate of an approval.
func (f Form) approval() (*opt.Gate, error) {
	g := &opt.Gate{Kind: opt.Approval, Title: f.Approve, Description: f.Description, Actions: f.Actions, Responders: f.Responders}
	shows := len(f.Results.Object) > 0
	switch {
	case len(g.Actions) == 0 && shows:
		g.Actions = slices.Clone(withObject)
	case len(g.Actions) == 0:
		g.Actions = slices.Clone(withoutObject)
	}
	for _, a := range g.Actions {
		if err := f.checkAction(a, shows); err != nil {
			return nil, err
		}
	}
	if !slices.Contains(g.Actions, opt.Accept) {
		return nil, fmt.Errorf("an approval must offer accept")
	}
	g.Form = f.form()
	return g, f.checkChecks(g)
}

// checkAction checks an action of an approval, which shows an object or none.
func (f Form) checkAction(a opt.Action, shows bool) error {
	switch {
	case !a.Valid():
		return fmt.Errorf("there is no action %q: an approval offers some of %s", a, opt.Actions())
	case !shows && (a == opt.Refine || a == opt.EditAccept):
		return fmt.Errorf("the action %s needs an object", a)
	case a == opt.EditAccept && len(f.Actions) > 0 && f.Responders.Several():
		return fmt.Errorf("the action %s is not possible where several must accept: each of them must accept the same object", a)
	}
	return nil
}

// checkChecks returns why g cannot have the checks of f.
func (f Form) checkChecks(g *opt.Gate) error {
	switch checks := f.Results.Checks; {
	case checks == nil:
		return nil
	case len(f.Results.Object) == 0:
		return errors.New("checks need an object")
	case checks.Rounds > 0 && !g.Allows(opt.Refine):
		return errors.New("rounds send the object back: the approval must offer refine")
	default:
		return checks.Valid()
	}
}

// form returns the templates of f that use results, nil if there are none.
func (f Form) form() *opt.GateForm {
	if len(f.Results.Title)+len(f.Results.Description)+len(f.Results.Object) == 0 {
		return nil
	}
	return &f.Results
}
