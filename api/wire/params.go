package wire

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"longhaul/a2a"
	"longhaul/a2a/codec"
	"longhaul/api/call"
	"longhaul/api/message"
	"longhaul/api/read"
	"longhaul/opt"
)

// ReadSend reads the params of a send.
func ReadSend(r *Reader) message.SendParams {
	o := r.params()
	o.Metadata("metadata")
	p := message.SendParams{History: defaultHistory, After: afterOf(o)}
	if m, ok := o.Child("message"); ok {
		p.Message = codec.ReadMessage(m)
		r.sent, p.Hints = &p.Message, readHints(m, "metadata")
		p.Scope = historyScope(o, &p.Message)
		if p.Message.TaskID != "" || p.Hints.TaskID != "" {
			p.Decision, p.BadDecision = readDecision(p.Message)
		} else if onlyBlank(p.Message) && !p.Hints.BringsPlans() {
			m.Wrong("parts", "must contain more than blank text")
		}
		checkBudget(m, p.Message.TaskID)
		if in, ok := m.Child("metadata"); ok && p.Message.Metadata.Has(opt.KeyAccept) && (p.Message.TaskID != "" || p.Hints.TaskID != "") {
			in.Wrong(opt.KeyAccept, "must be in the message that begins the work")
		}
	} else {
		o.Missing("message")
	}
	r.answer = p.Answers()
	if c, ok := o.Child("configuration"); ok {
		readConfiguration(r, c, &p)
	}
	return p
}

func readConfiguration(r *Reader, c codec.Object, p *message.SendParams) {
	p.History = readHistory(defaultHistory)(c, "historyLength")
	c.Texts("acceptedOutputModes") // optional, so a wrong value is not refused
	if r.in.Version == V03 {
		p.ReturnAtOnce = !c.Flag("blocking", true)
		p.Push = inlinePush(r, c, "pushNotificationConfig", p.Message.TaskID)
	} else {
		p.ReturnAtOnce = c.Flag("returnImmediately", false)
		p.Push = inlinePush(r, c, "taskPushNotificationConfig", p.Message.TaskID)
	}
}

// mentions returns the extensions that a message names or uses.
func mentions(m *a2a.Message) []string {
	if m == nil {
		return nil
	}
	out := slices.Clone(m.Extensions)
	for key := range m.Metadata {
		if strings.HasPrefix(key, "opt/v1/") {
			out = append(out, a2a.ExtensionOPT)
			break
		}
	}
	if m.Metadata.Has(a2a.ExtensionBudget) { // else a limit would be ignored that its sender relies on
		out = append(out, a2a.ExtensionBudget)
	}
	return out
}

// checkBudget checks the budget in a message, which only one that begins work may have.
func checkBudget(m codec.Object, taskID string) {
	in, _ := m.Child("metadata")
	b, ok := in.Child(a2a.ExtensionBudget)
	if !ok {
		return
	}
	if taskID != "" {
		in.Wrong(a2a.ExtensionBudget, "must be in the message that begins the work")
	}
	checkLimits(b)
	if b.Find("most") != nil {
		b.Wrong("most", "is the operator's, in a playbook")
	}
	if limits := []string{"tokens", "cost", "time", "questions", "calls"}; !slices.ContainsFunc(limits, func(kind string) bool { return b.Find(kind) != nil }) {
		b.Missing("tokens")
	}
	if does := b.Text("onExceeded"); does != "" && !slices.Contains(opt.OnExceeded, does) {
		b.Wrong("onExceeded", codec.MustBeOneOf(opt.OnExceeded))
	}
}

// checkLimits checks the limits in a budget.
func checkLimits(b codec.Object) {
	checkWhole(b, "tokens", "must be a whole number above 0, in digits alone")
	var cost opt.Money
	if raw := b.Find("cost"); raw != nil && (raw[0] == '"' || json.Unmarshal(raw, &cost) != nil || cost <= 0) {
		b.Wrong("cost", "must be a number above 0")
	}
	checkWhole(b, "time", "must be a whole number of seconds above 0")
	for _, kind := range []string{"questions", "calls"} {
		if raw := b.Find(kind); raw != nil && json.Unmarshal(raw, new(opt.Cap)) != nil {
			b.Wrong(kind, "must be a whole number, 0 or more")
		}
	}
}

// checkWhole reads a number as executors read it, so that no limit is lost later.
func checkWhole(b codec.Object, name, problem string) {
	var n int64
	if raw := b.Find(name); raw != nil && (json.Unmarshal(raw, &n) != nil || n <= 0) {
		b.Wrong(name, problem)
	}
}

// onlyBlank reports whether all parts of m are text without visible characters.
func onlyBlank(m a2a.Message) bool {
	for _, p := range m.Parts {
		if p.Text == nil || *p.Text != "" && !codec.IsBlank(*p.Text) {
			return false
		}
	}
	return len(m.Parts) > 0
}

// ReadCancel reads the params of a cancellation.
func ReadCancel(r *Reader) read.TaskParams {
	p := Read[read.TaskParams](r)
	p.RequestID = r.RequestID()
	m, _ := r.params().Child("metadata")
	why, _ := m.Child(a2a.ExtensionCancel)
	if p.Reason = why.Text("reason"); len(p.Reason) > opt.MaxReason {
		why.Wrong("reason", fmt.Sprintf("must have at most %d bytes", opt.MaxReason))
	}
	return p
}

// Params reads the params of a call. It notes in c which gate a message answers, calls
// activate with the extensions that a message names, and returns its error before
// those of the params.
func Params[P any](c *call.Call, r *Reader, read func(*Reader) P, activate func(mentioned []string) error) (P, error) {
	p := read(r)
	if r.answer != nil {
		c.Answer = r.answer
	}
	if err := activate(mentions(r.sent)); err != nil {
		return p, err
	}
	if fault := r.Fault(); fault != nil {
		return p, fault
	}
	if r.noID {
		return p, errNoID
	}
	return p, nil
}
