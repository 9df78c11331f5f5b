package llm

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"longhaul/a2a"
	"longhaul/activities"
	"longhaul/opt"
)

// A Budget limits tokens and costs. 0 is no limit.
type Budget struct {
	Tokens int64     `yaml:"tokens" json:"tokens,omitempty"` // of input and output together
	Cost   opt.Money `yaml:"cost" json:"cost,omitempty"`     // by the prices of the models
}

// Budgets are the budgets of one task and of all tasks of its objective.
type Budgets struct {
	Task      Budget `yaml:"task" json:"task,omitzero"`
	Objective Budget `yaml:"objective" json:"objective,omitzero"`
	Request   Budget `yaml:"-" json:"request,omitzero"` // of the objective, too: in the message that began it
}

func (b Budget) check() error {
	if b.Tokens < 0 || b.Cost < 0 {
		return errors.New("a limit must not be below 0")
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
	case over.Request != (Budget{}) && w.Budget().OnExceeded == opt.FailBudget:
		return new(activities.Failed(CodeBudget, "The budget of the request is spent: "+spentText(w)+"."))
	case over != (Budgets{Request: over.Request}): // others decide about these
		over.Request = Budget{}
	}
	return m.askBudget(w, limits, over)
}

// budgets returns the budgets of a task with this input and work; b has those of the file.
func (in Input) budgets(w activities.Work, b Budgets) Budgets {
	b.Task.set(in.Budget)
	request := w.Budget()
	b.Request = Budget{request.Tokens, request.Cost}
	return b
}

// budgets returns limits as people have raised them.
func (m *memo) budgets(limits Budgets) Budgets {
	return Budgets{limits.Task.override(m.Budget.Task), limits.Objective.override(m.Budget.Objective), limits.Request.override(m.Budget.Request)}
}

// set replaces the limits of b by those that are set in to.
func (b *Budget) set(to Budget) {
	if to.Tokens > 0 {
		b.Tokens = to.Tokens
	}
	if to.Cost > 0 {
		b.Cost = to.Cost
	}
}

// within returns the lower of the limits of b and to.
func (b Budget) within(to Budget) Budget {
	if b.Tokens == 0 || to.Tokens > 0 && to.Tokens < b.Tokens {
		b.Tokens = to.Tokens
	}
	if b.Cost == 0 || to.Cost > 0 && to.Cost < b.Cost {
		b.Cost = to.Cost
	}
	return b
}

// override returns b with its limits replaced by those that are set in to.
func (b Budget) override(to Budget) Budget {
	if b.Tokens > 0 && to.Tokens > 0 {
		b.Tokens = to.Tokens
	}
	if b.Cost > 0 && to.Cost > 0 {
		b.Cost = to.Cost
	}
	return b
}

// exceeded returns the budgets of which w has spent all.
func (b Budgets) exceeded(w activities.Work) Budgets {
	return Budgets{b.Task.exceeded(w.SpentHere), b.Objective.exceeded(w.Spent), b.Request.exceeded(w.Spent)}
}

// exceeded returns the limits in b that spent has reached.
func (b Budget) exceeded(spent opt.Usage) (out Budget) {
	if b.Tokens > 0 && spent.Input+spent.Output >= b.Tokens {
		out.Tokens = b.Tokens
	}
	if b.Cost > 0 && spent.Cost >= b.Cost {
		out.Cost = b.Cost
	}
	return out
}

// askBudget asks a person whether more than over may be spent, or uses the decision. nil
// means that it may.
func (m *memo) askBudget(w activities.Work, limits, over Budgets) *activities.Outcome {
	why, shown := "", []a2a.Part{a2a.DataPart(over.doubled())}
	if reply := m.reply(w); reply != nil && m.Asked.About == aboutBudget {
		was := m.Asked.Digest
		m.Asked = nil
		switch {
		case reply.Action == opt.Accept && (was != opt.PartsDigest(shown) || reply.ObjectDigest != "" && reply.ObjectDigest != was):
			why = " The budget has changed since it was shown."
		case reply.Action == opt.Accept:
			m.setBudgets(over.doubled())
		case reply.Action == opt.EditAccept:
			var to Budgets
			if len(reply.Edited) != 1 || json.Unmarshal(reply.Edited[0].Data, &to) != nil {
				why = " The new budget could not be read."
				break
			}
			if over.Request != (Budget{}) {
				to = Budgets{Request: to.Request}
			} else {
				to.Request = Budget{}
			}
			m.setBudgets(to)
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
	return &opt.Budgets{Task: opt.SpendLimit(b.Task), Objective: opt.SpendLimit(b.Objective.within(b.Request))}
}

// doubled returns the budgets that are proposed once b is spent.
func (b Budgets) doubled() Budgets {
	return Budgets{b.Task.doubled(), b.Objective.doubled(), b.Request.doubled()}
}

func (b Budget) doubled() Budget { return Budget{2 * b.Tokens, 2 * b.Cost} }

// setBudgets stores the limits that a person has set.
func (m *memo) setBudgets(to Budgets) {
	m.Budget.Task.set(to.Task)
	m.Budget.Objective.set(to.Objective)
	m.Budget.Request.set(to.Request)
}
