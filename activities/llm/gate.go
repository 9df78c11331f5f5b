package llm

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

	"longhaul/a2a"
	"longhaul/activities"
	"longhaul/opt"
)

// ask returns the outcome of a leg that asks a person. about is its subject.
func (m *memo) ask(w activities.Work, about string, g opt.Gate) *activities.Outcome {
	m.Asked = &asked{About: about, Digest: g.Digest(), Before: len(w.Replies)}
	return new(withMemo(activities.WaitFor(g), m))
}

func show(t tool, args string) a2a.Part {
	return a2a.DataPart(opt.ToolCall{Server: t.Server, Tool: t.Function, Arguments: json.RawMessage(args)})
}

// digest returns the digest of a call, which is the digest of the object of its gate.
func digest(t tool, args string) string { return opt.PartsDigest([]a2a.Part{show(t, args)}) }

// askApproval asks a person whether a call may be made, or uses the decision. nil means that
// the next call has a result, or may be made.
func (m *memo) askApproval(w activities.Work, of tool, by *opt.Responders) *activities.Outcome {
	next := &m.Open[0]
	now := digest(of, next.Args)
	why := ""
	if reply := m.reply(w); reply != nil && m.Asked.About == aboutCall {
		was := m.Asked.Digest
		m.Asked = nil
		switch {
		case was != now, cmp.Or(reply.ObjectDigest, was) != was:
			why = "The decision before was about another call."
		case reply.Action == opt.Accept:
			m.Accepted = now
			return nil
		case reply.Action == opt.EditAccept:
			if args, ok := editedArgs(of, reply.Edited); ok {
				next.Args, m.Accepted, m.Edited = args, digest(of, args), true
				return nil
			}
			why = "Only the arguments can be changed, and they must be an object."
		case reply.DecidedBy == opt.ByTimer:
			m.answer("No person has decided about the call in time. It was not made.", true)
			return nil
		default:
			m.answer(strings.TrimSpace("A person has rejected the call. It was not made. "+reply.Remark()), true)
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
	return m.ask(w, aboutCall, opt.Gate{
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
	var c opt.ToolCall
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
func (m *memo) askUnknown(w activities.Work, of tool, by *opt.Responders) *activities.Outcome {
	if reply := m.reply(w); reply != nil && m.Asked.About == aboutUnknown {
		m.Asked = nil
		switch answered := onlyAnswer(reply); answered {
		case runAgain:
			m.Calling = nil
			return nil
		case skip:
			m.answer("It is not known whether the call was made, and it is not repeated. Continue without its result.", true)
			return nil
		case stop:
			return new(activities.Failed(CodeUncertain, fmt.Sprintf("The task was stopped: the result of a call of %s is unknown.", of.title())))
		}
	}
	choices, _ := json.Marshal(map[string]any{"type": "string", "enum": []string{runAgain, skip, stop}}) // cannot fail
	return m.ask(w, aboutUnknown, opt.Gate{
		Kind: opt.Clarification, Responders: by,
		Description: fmt.Sprintf("A call of the tool %s was begun, and its result was lost, for example with a worker. The arguments: %s",
			of.title(), shortened(m.Open[0].Args)),
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
