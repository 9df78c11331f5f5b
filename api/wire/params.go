package wire

import (
	"slices"
	"strings"

	"longhaul/a2a"
	"longhaul/a2a/codec"
	"longhaul/api/call"
	"longhaul/api/message"
	"longhaul/api/read"
	"longhaul/opt"
)

// The limits of pages, and their default sizes.
const (
	maxPage        = 100
	taskPage       = 50
	objectivePage  = 10
	defaultHistory = 100 // default number of messages of one task
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
	} else {
		o.Missing("message")
	}
	r.answer = p.Answers()
	c, ok := o.Child("configuration")
	if !ok {
		return p
	}
	p.History = historyOf(c, defaultHistory)
	c.Texts("acceptedOutputModes") // optional, so a wrong value is not refused
	if r.in.Version == V03 {
		p.ReturnAtOnce = !c.Flag("blocking", true)
		p.Push = inlinePush(r, c, "pushNotificationConfig", p.Message.TaskID)
	} else {
		p.ReturnAtOnce = c.Flag("returnImmediately", false)
		p.Push = inlinePush(r, c, "taskPushNotificationConfig", p.Message.TaskID)
	}
	return p
}

// mentions returns the extensions that a message names or uses.
func mentions(m *a2a.Message) []string {
	if m == nil {
		return nil
	}
	out := slices.Clone(m.Extensions)
	for key := range m.Metadata {
		if strings.HasPrefix(key, optPrefix) {
			out = append(out, a2a.ExtensionOPT)
			break
		}
	}
	return out
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

// historyOf reads how many messages to return.
func historyOf(o codec.Object, missing int) int {
	n := o.Int32("historyLength")
	switch {
	case n == nil:
		return missing
	case *n < 0:
		o.Wrong("historyLength", "must not be negative")
		return 0
	}
	return *n
}

// historyScope reads the history scope from the metadata of the request or of its
// message. The message's takes precedence and is stored with it for later
// requests. If the message has none, the request's is stored with it. An invalid
// scope of the request is ignored.
func historyScope(o codec.Object, m *a2a.Message) opt.HistoryScope {
	if m != nil && m.Metadata.Has(opt.KeyHistoryScope) {
		s, _ := m.Metadata.String(opt.KeyHistoryScope)
		return opt.HistoryScope(s)
	}
	s, _ := o.Metadata("metadata").String(opt.KeyHistoryScope)
	scope := opt.HistoryScope(s)
	if !scope.Valid() {
		return ""
	}
	if m != nil {
		m.Metadata = m.Metadata.With(opt.KeyHistoryScope, scope)
	}
	return scope
}

// afterOf reads the number of the event after which to resume a stream.
func afterOf(o codec.Object) *int64 {
	m, ok := o.Child("metadata")
	if !ok {
		return nil
	}
	n := m.Integer(opt.KeyAfter)
	if n == nil {
		return nil
	}
	if *n < 0 {
		m.Wrong(opt.KeyAfter, "must not be negative")
	}
	seq := int64(*n)
	return &seq
}

// ReadTask reads the params of a method about one task.
func ReadTask(r *Reader) read.TaskParams {
	o := r.params()
	o.Metadata("metadata")
	return read.TaskParams{ID: o.NeedText("id"), History: historyOf(o, defaultHistory), Scope: historyScope(o, nil), After: afterOf(o)}
}

// ReadCancel reads the params of a cancellation.
func ReadCancel(r *Reader) read.TaskParams {
	p := ReadTask(r)
	p.RequestID = r.RequestID()
	return p
}

func pageSize(o codec.Object, missing int) int {
	n := o.Int32("pageSize")
	switch {
	case n == nil:
		return missing
	case *n < 1 || *n > maxPage:
		o.Wrong("pageSize", "must be from 1 to 100")
		return missing
	}
	return *n
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
