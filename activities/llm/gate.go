package llm

import (
	"encoding/json"
	"fmt"
	"strings"

	"longhaul/a2a"
	"longhaul/activities"
	"longhaul/opt"
)

// gates is the part of a task that asks people.
type gates struct{ *task }

// open returns the outcome of a leg that asks a person. about is its subject.
func (t gates) open(about string, g opt.Gate) *activities.Outcome {
	t.memo.Asked = &asked{About: about, Digest: g.Digest(), Before: len(t.work.Replies)}
	o := withMemo(activities.WaitFor(g), t.memo)
	return &o
}

// A shown call is the object of the gate for a call: the part that a person decides on.
type shownCall struct {
	Server    string          `json:"server"`
	Tool      string          `json:"tool"`
	Arguments json.RawMessage `json:"arguments"`
}

func show(t tool, args string) a2a.Part {
	return a2a.DataPart(shownCall{t.Server, t.Function, json.RawMessage(args)})
}

// digest returns the digest of a call, which is the digest of the object of its gate.
func digest(t tool, args string) string { return opt.PartsDigest([]a2a.Part{show(t, args)}) }

// askApproval asks a person whether a call may be made, or uses the decision. nil means that
// the next call has a result, or may be made.
func (t gates) askApproval(of tool, by *opt.Responders) *activities.Outcome {
	next := &t.memo.Open[0]
	now := digest(of, next.Args)
	why := ""
	if reply := t.memo.reply(t.work); reply != nil && t.memo.Asked.About == aboutCall {
		was := t.memo.Asked.Digest
		t.memo.Asked = nil
		switch {
		case was != now, reply.ObjectDigest != "" && reply.ObjectDigest != was:
			why = "The decision before was about another call."
		case reply.Action == opt.Accept:
			t.memo.Accepted = now
			return nil
		case reply.Action == opt.EditAccept:
			if args, ok := editedArgs(of, reply.Edited); ok {
				next.Args, t.memo.Accepted, t.memo.Edited = args, digest(of, args), true
				return nil
			}
			why = "Only the arguments can be changed, and they must be an object."
		case reply.DecidedBy == opt.ByTimer:
			t.memo.answer("No person has decided about the call in time. It was not made.", true)
			return nil
		default:
			t.memo.answer(strings.TrimSpace("A person has rejected the call. It was not made. "+reply.Remark()), true)
			return nil
		}
	}
	actions := []opt.Action{opt.Accept, opt.Reject, opt.EditAccept}
	if by == byOthers {
		why += " Who asked for the work may not decide, unless the policy of the tool says so."
	}
	if by.Several() {
		actions = actions[:2] // each of them must accept the same call
	}
	return t.open(aboutCall, opt.Gate{
		Kind: opt.Approval, Title: fmt.Sprintf("Call the tool %s?", of.title()),
		Description: strings.TrimSpace("A model wants to call this tool with these arguments. " + why),
		Actions:     actions,
		Object:      []a2a.Part{show(of, next.Args)},
		Responders:  by,
	})
}

// editedArgs returns the arguments with which a person has replaced the arguments of a call.
func editedArgs(of tool, parts []a2a.Part) (args string, ok bool) {
	if len(parts) != 1 || parts[0].Data == nil {
		return "", false
	}
	var c shownCall
	if json.Unmarshal(parts[0].Data, &c) != nil || c.Server != of.Server || c.Tool != of.Function || !isObject(c.Arguments) {
		return "", false
	}
	return string(c.Arguments), true
}

// The answers to the question about a call with an unknown result.
const (
	runAgain = "run again"
	skip     = "skip"
	stop     = "stop"
)

// askUnknown asks one of by what to do about a call that may have been made, or uses the
// answer. nil means that the next call has a result, or may be made again.
func (t gates) askUnknown(of tool, by *opt.Responders) *activities.Outcome {
	if reply := t.memo.reply(t.work); reply != nil && t.memo.Asked.About == aboutUnknown {
		t.memo.Asked = nil
		switch answered := onlyAnswer(reply); answered {
		case runAgain:
			t.memo.Calling = nil
			return nil
		case skip:
			t.memo.answer("It is not known whether the call was made, and it is not repeated. Continue without its result.", true)
			return nil
		case stop:
			o := activities.Failed(CodeUncertain, fmt.Sprintf("The task was stopped: the result of a call of %s is unknown.", of.title()))
			return &o
		}
	}
	choices, _ := json.Marshal(map[string]any{"type": "string", "enum": []string{runAgain, skip, stop}}) // cannot fail
	return t.open(aboutUnknown, opt.Gate{
		Kind: opt.Clarification, Responders: by,
		Description: fmt.Sprintf("A call of the tool %s was begun, and its result was lost, for example with a worker. The arguments: %s",
			of.title(), shortened(t.memo.Open[0].Args)),
		Questions: []opt.Question{{
			ID: "unknown", Schema: choices,
			Question: fmt.Sprintf("It is not known whether the call of %s was made: run again, skip or stop?", of.title()),
		}},
	})
}

// onlyAnswer returns the one answer of a reply.
func onlyAnswer(r *opt.Reply) (out string) {
	if len(r.Answers) == 1 {
		_ = json.Unmarshal(r.Answers[0].Answer, &out) // "" if it is not a text
	}
	return out
}

// askBudget asks a person whether more than over may be spent, or uses the decision. nil
// means that it may.
func (t gates) askBudget(over Budgets) *activities.Outcome {
	why, shown := "", []a2a.Part{a2a.DataPart(over.doubled())}
	if reply := t.memo.reply(t.work); reply != nil && t.memo.Asked.About == aboutBudget {
		was := t.memo.Asked.Digest
		t.memo.Asked = nil
		switch {
		case reply.Action == opt.Accept && (was != opt.PartsDigest(shown) || reply.ObjectDigest != "" && reply.ObjectDigest != was):
			why = " The budget has changed since it was shown."
		case reply.Action == opt.Accept:
			t.memo.setBudgets(over.doubled())
		case reply.Action == opt.EditAccept:
			var to Budgets
			if len(reply.Edited) != 1 || json.Unmarshal(reply.Edited[0].Data, &to) != nil {
				why = " The new budget could not be read."
				break
			}
			t.memo.setBudgets(to)
		default:
			o := activities.Failed(CodeBudget, strings.TrimSpace("The budget is spent. "+reply.Remark()))
			return &o
		}
		if budgets := t.budgets(); budgets.Task.exceeded(t.work.SpentHere) == (Budget{}) && budgets.Objective.exceeded(t.work.Spent) == (Budget{}) {
			return nil
		}
	}
	return t.open(aboutBudget, opt.Gate{
		Kind: opt.Approval, Title: "Raise the budget?",
		Description: fmt.Sprintf("The budget is spent: %d tokens%s by this task, %d%s by its objective so far. Accept to raise it as shown, edit the numbers, or reject to stop the task.%s",
			t.work.SpentHere.Input+t.work.SpentHere.Output, costText(t.work.SpentHere), t.work.Spent.Input+t.work.Spent.Output, costText(t.work.Spent), why),
		Actions: []opt.Action{opt.Accept, opt.Reject, opt.EditAccept},
		Object:  shown,
	})
}

func costText(u opt.Usage) string {
	if u.Cost == 0 {
		return ""
	}
	return fmt.Sprintf(" (cost %.2f)", u.Cost)
}

// doubled returns the budgets that are proposed once b is spent.
func (b Budgets) doubled() Budgets {
	return Budgets{b.Task.doubled(), b.Objective.doubled()}
}

func (b Budget) doubled() Budget { return Budget{2 * b.Tokens, 2 * b.Cost} }

// setBudgets stores the limits that a person has set.
func (m *memo) setBudgets(to Budgets) {
	for into, from := range map[*Budget]Budget{&m.Budget.Task: to.Task, &m.Budget.Objective: to.Objective} {
		if from.Tokens > 0 {
			into.Tokens = from.Tokens
		}
		if from.Cost > 0 {
			into.Cost = from.Cost
		}
	}
}
