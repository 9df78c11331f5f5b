// Package human makes tasks for people: an approval, or answers to questions.
// Such a task is only a gate. It runs no activity and uses no slot of a worker,
// so it may wait for weeks.
//
// A rejected approval fails its task. Answers become the task's artifact, for
// the tasks after it.
package human

import (
	"fmt"

	"longhaul/opt"
)

// Executor is the name of the executor in plans that marks a human task.
const Executor = "human"

// Form is how a plan describes a human task.
type Form struct {
	Approve     string         `json:"approve,omitempty" yaml:"approve"`         // the title of an approval
	Description string         `json:"description,omitempty" yaml:"description"` // more about it
	Questions   []QuestionForm `json:"questions,omitempty" yaml:"questions"`     // of a clarification
}

// QuestionForm is one question of a Form.
type QuestionForm struct {
	ID       string `json:"id" yaml:"id"`
	Question string `json:"question" yaml:"question"`
}

// Gate returns the gate that f describes. A form is either an approval or a
// list of questions.
func (f Form) Gate() (*opt.Gate, error) {
	switch {
	case f.Approve != "" && len(f.Questions) > 0:
		return nil, fmt.Errorf("a human task either approves or asks questions, not both")
	case f.Approve != "":
		return &opt.Gate{Kind: opt.Approval, Title: f.Approve, Description: f.Description, Actions: []opt.Action{opt.Accept, opt.Reject}}, nil
	case len(f.Questions) == 0:
		return nil, fmt.Errorf("a human task needs \"approve\" or \"questions\"")
	}
	g := &opt.Gate{Kind: opt.Clarification, Description: f.Description}
	seen := map[string]bool{}
	for i, q := range f.Questions {
		if q.ID == "" {
			q.ID = fmt.Sprintf("q%d", i+1)
		}
		if q.Question == "" || seen[q.ID] {
			return nil, fmt.Errorf("question %d needs a text and an id of its own", i+1)
		}
		seen[q.ID] = true
		g.Questions = append(g.Questions, opt.Question{ID: q.ID, Question: q.Question})
	}
	return g, nil
}
