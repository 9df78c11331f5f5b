package wire

import (
	"longhaul/a2a"
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

// params are the params of a request.
type params struct{ object }

// ReadSend reads the params of a send.
func ReadSend(r *Reader) message.SendParams {
	o := r.params()
	o.tenant()
	o.metadata("metadata")
	p := message.SendParams{History: defaultHistory, After: o.after()}
	if m, ok := o.child("message"); ok {
		p.Message, p.Hints = m.message(), m.hints("metadata")
		p.Scope = o.scope(&p.Message)
		if p.Message.TaskID != "" || p.Hints.TaskID != "" {
			p.Decision, p.BadDecision = readDecision(p.Message)
		} else if onlyBlank(p.Message) && !p.Hints.BringsPlans() {
			m.wrong("parts", "must contain more than blank text")
		}
	} else {
		o.missing("message")
	}
	r.answer = p.Answers()
	c, ok := o.child("configuration")
	if !ok {
		return p
	}
	p.History = c.history(defaultHistory)
	c.texts("acceptedOutputModes") // optional, so a wrong value is not refused
	if r.Version == V03 {
		p.ReturnAtOnce = !c.flag("blocking", true)
		p.Push = inlinePush(c, "pushNotificationConfig", p.Message.TaskID)
	} else {
		p.ReturnAtOnce = c.flag("returnImmediately", false)
		p.Push = inlinePush(c, "taskPushNotificationConfig", p.Message.TaskID)
	}
	return p
}

// tenant checks the tenant of a 1.0 request. It must be that of the
// caller, which follows from the credentials.
func (o params) tenant() {
	if tenant := o.text("tenant"); o.r.Version == V10 && tenant != "" && tenant != o.r.Tenant {
		o.wrong("tenant", "is not one of this agent's")
	}
}

// history reads how many messages to return.
func (o fields) history(missing int) int {
	n := o.int32("historyLength")
	switch {
	case n == nil:
		return missing
	case *n < 0:
		o.wrong("historyLength", "must not be negative")
		return 0
	}
	return *n
}

// scope reads the history scope from the metadata of the request or of its
// message. The message's takes precedence and is stored with it for later
// requests. If the message has none, the request's is stored with it. An invalid
// scope of the request is ignored.
func (o params) scope(m *a2a.Message) opt.HistoryScope {
	if m != nil && m.Metadata.Has(opt.KeyHistoryScope) {
		s, _ := m.Metadata.String(opt.KeyHistoryScope)
		return opt.HistoryScope(s)
	}
	s, _ := o.metadata("metadata").String(opt.KeyHistoryScope)
	scope := opt.HistoryScope(s)
	if !scope.Valid() {
		return ""
	}
	if m != nil {
		m.Metadata = m.Metadata.With(opt.KeyHistoryScope, scope)
	}
	return scope
}

// after reads the number of the event after which to resume a stream.
func (o params) after() *int64 {
	m, ok := o.child("metadata")
	if !ok {
		return nil
	}
	n := m.integer(opt.KeyAfter)
	if n == nil {
		return nil
	}
	if *n < 0 {
		m.wrong(opt.KeyAfter, "must not be negative")
	}
	seq := int64(*n)
	return &seq
}

// ReadTask reads the params of a method about one task.
func ReadTask(r *Reader) read.TaskParams {
	o := r.params()
	o.tenant()
	o.metadata("metadata")
	return read.TaskParams{ID: o.needText("id"), History: o.history(defaultHistory), Scope: o.scope(nil), After: o.after()}
}

// ReadCancel reads the params of a cancellation.
func ReadCancel(r *Reader) read.TaskParams {
	p := ReadTask(r)
	p.RequestID = r.RequestID()
	return p
}

// ReadTaskList reads the params of a list of tasks.
func ReadTaskList(r *Reader) read.TaskListParams {
	o := r.params()
	o.tenant()
	return read.TaskListParams{
		PageToken: o.text("pageToken"),
		Filter: opt.TaskFilter{
			ContextID: o.contextID("contextId"),
			State:     o.state("status"),
			Since:     o.time("statusTimestampAfter"),
			Limit:     o.pageSize(taskPage),
			Want:      opt.TaskWant{History: o.history(0), Scope: opt.ScopeTask, Artifacts: o.flag("includeArtifacts", false)},
		},
	}
}

func (o params) pageSize(missing int) int {
	n := o.int32("pageSize")
	switch {
	case n == nil:
		return missing
	case *n < 1 || *n > maxPage:
		o.wrong("pageSize", "must be from 1 to 100")
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
	if err := activate(r.mentions); err != nil {
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

// RequestID returns the id that the client gave to a change in the metadata of the
// request, "" for none.
func (r *Reader) RequestID() string {
	if r.raw != nil && r.raw[0] != '{' {
		return "" // the error is reported when the params are read
	}
	m, _ := r.params().child("metadata")
	return m.id(opt.KeyRequestID)
}

// ReadExtendedCard reads the params of a request for the extended card.
func ReadExtendedCard(r *Reader) struct{} {
	r.params().tenant()
	return struct{}{}
}

// Nothing reads params without members.
func Nothing(r *Reader) struct{} {
	r.params()
	return struct{}{}
}
