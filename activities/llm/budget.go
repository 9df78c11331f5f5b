package llm

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"longhaul/a2a"
	"longhaul/activities"
	"longhaul/opt"
)

// A Budget limits tokens and costs, by the prices of the models. 0 is no limit.
type Budget = opt.SpendLimit

// turnNeeds is what a turn of a model needs of a budget: it is not known how much.
var turnNeeds = opt.Usage{Output: 1, Cost: 1}

// Budgets are the budgets of one task and of all tasks of its objective.
type Budgets struct {
	Task      Budget `yaml:"task" json:"task,omitzero"`
	Objective Budget `yaml:"objective" json:"objective,omitzero"`
	Request   Budget `yaml:"-" json:"request,omitzero"` // of the objective, too: in the message that began it
}

// check refuses limits that are no limits of models.
func check(b Budget) error {
	switch {
	case b.Tokens < 0 || b.Cost < 0:
		return errors.New("a limit must not be below 0")
	case b != Budget{Tokens: b.Tokens, Cost: b.Cost}:
		return errors.New("only tokens and cost can be limited here")
	}
	return nil
}

// checkBudget returns the outcome of a leg that would spend more than it may, nil if it
// would not. limits are those of the file and of the input.
func (m *memo) checkBudget(w activities.Work, limits Budgets) *activities.Outcome {
	over := m.budgets(limits).exceeded(w)
	switch {
	case over == (Budgets{}):
		return nil
	case over.Request != (Budget{}) && w.Limits != nil: // the plan asks, and begins the next leg after the answer
		return new(m.nextLeg())
	case over.Request != (Budget{}) && w.Budget().OnExceeded == opt.FailBudget:
		return new(activities.Failed(CodeBudget, "The budget of the request is spent: "+spentText(w)+"."))
	case over != (Budgets{Request: over.Request}): // others decide about these
		over.Request = Budget{}
	}
	return m.askBudget(w, limits, over)
}

// budgets returns the budgets of a task with this input and work; b has those of the file.
func (in Input) budgets(w activities.Work, b Budgets) Budgets {
	b.Task, b.Request = in.Budget.Or(b.Task), w.Budget().SpendLimit
	return b
}

// budgets returns limits as people have raised them.
func (m *memo) budgets(limits Budgets) Budgets {
	return Budgets{m.Budget.Task.Or(limits.Task), m.Budget.Objective.Or(limits.Objective), m.Budget.Request.Or(limits.Request)}
}

// exceeded returns the budgets of which w has spent all.
func (b Budgets) exceeded(w activities.Work) Budgets {
	return Budgets{b.Task.Over(w.SpentHere, turnNeeds), b.Objective.Over(w.Spent, turnNeeds), b.Request.Over(w.Counted(), turnNeeds)}
}

// askBudget asks a person whether more than over may be spent, or uses the decision. nil
// means that it may.
func (m *memo) askBudget(w activities.Work, limits, over Budgets) *activities.Outcome {
	why, shown := "", []a2a.Part{a2a.DataPart(over.next(w))}
	if reply := m.reply(w); reply != nil && m.Asked.About == aboutBudget {
		was := m.Asked.Digest
		m.Asked = nil
		switch {
		case reply.Action == opt.Accept && (was != opt.PartsDigest(shown) || cmp.Or(reply.ObjectDigest, was) != was):
			why = " The budget has changed since it was shown."
		case reply.Action == opt.Accept:
			m.setBudgets(over.next(w))
		case reply.Action == opt.EditAccept:
			if to, ok := over.edited(reply.Edited); ok {
				m.setBudgets(to)
			} else {
				why = " The new budget could not be read."
			}
		default:
			return new(activities.Failed(CodeBudget, strings.TrimSpace("The budget is spent. "+reply.Remark())))
		}
		if why == "" {
			return m.checkBudget(w, limits)
		}
	}
	return m.ask(w, aboutBudget, opt.Gate{
		Kind: opt.Approval, Title: "Raise the budget?",
		Description: fmt.Sprintf("The budget is spent: %s. Accept to raise it as shown, edit the numbers, or reject to stop the task.%s", spentText(w), why),
		Actions:     []opt.Action{opt.Accept, opt.Reject, opt.EditAccept},
		Object:      shown,
		Responders:  over.responders(w),
	})
}

// edited returns the budgets with which a person has replaced b, if it could be read: either that of the request, or
// the others.
func (b Budgets) edited(parts []a2a.Part) (to Budgets, ok bool) {
	if len(parts) != 1 || json.Unmarshal(parts[0].Data, &to) != nil {
		return to, false
	}
	if b.Request != (Budget{}) {
		return Budgets{Request: to.Request}, true
	}
	to.Request = Budget{}
	return to, true
}

// responders returns who may raise b: only those who asked for the work raise its budget.
func (b Budgets) responders(w activities.Work) *opt.Responders {
	if authors := w.Authors(); b.Request != (Budget{}) && len(authors) > 0 {
		return &opt.Responders{Principals: authors}
	}
	return nil
}

func spentText(w activities.Work) string {
	return fmt.Sprintf("%d tokens%s by this task, %d%s by its objective so far",
		w.SpentHere.Input+w.SpentHere.Output, costText(w.SpentHere), w.Spent.Input+w.Spent.Output, costText(w.Spent))
}

func costText(u opt.Usage) string {
	if u.Cost == 0 {
		return ""
	}
	return fmt.Sprintf(" (cost %s)", u.Cost)
}

// shown returns b for people, nil for no limits.
func (b Budgets) shown() *opt.Budgets {
	if b == (Budgets{}) {
		return nil
	}
	return &opt.Budgets{Task: b.Task, Objective: b.Objective.Within(b.Request)}
}

// next returns the budgets that are proposed once b is spent.
func (b Budgets) next(w activities.Work) Budgets {
	return Budgets{b.Task.Next(w.SpentHere), b.Objective.Next(w.Spent), b.Request.Next(w.Spent)}
}

// setBudgets stores the limits that a person has set.
func (m *memo) setBudgets(to Budgets) {
	m.Budget = Budgets{to.Task.Or(m.Budget.Task), to.Objective.Or(m.Budget.Objective), to.Request.Or(m.Budget.Request)}
}
