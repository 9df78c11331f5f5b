// Package hook takes events of other systems at /hooks/NAME, each of which starts an objective:
// the [Trigger] with that name verifies the sender and makes the message. A [Page] then delivers it
// as the principal of the trigger, by the operation that all doors use, once per id of an event.
package hook

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"text/template"
	"time"

	"go.uber.org/zap"

	"longhaul/a2a"
	"longhaul/api/call"
	"longhaul/api/message"
	"longhaul/api/operation"
	"longhaul/api/wire"
	"longhaul/opt"
)

// Messages delivers messages. [message.Messages] does.
type Messages interface {
	Deliver(ctx context.Context, c *call.Call, p message.SendParams) (*message.Receipt, error)
}

// A Config has the parts and settings of a Page.
type Config struct {
	Calls    *call.Calls
	Messages Messages
	Triggers []Trigger
	Wrong    call.Quota       // of addresses that send requests which are not signed; nil: no limits
	Now      func() time.Time // nil: time.Now
	Log      *zap.Logger      // nil discards logs
}

// A Page takes events. It is safe for concurrent use.
type Page struct {
	cfg      Config
	triggers atomic.Pointer[[]Trigger]
}

// New returns a page.
func New(cfg Config) *Page {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Log == nil {
		cfg.Log = zap.NewNop()
	}
	p := &Page{cfg: cfg}
	p.Replace(cfg.Triggers)
	return p
}

// Replace replaces the triggers.
func (p *Page) Replace(list []Trigger) { p.triggers.Store(&list) }

// named returns the trigger with a name, nil if there is none.
func (p *Page) named(name string) *Trigger {
	for _, t := range *p.triggers.Load() {
		if t.Name == name {
			return &t
		}
	}
	return nil
}

// maxBody is the largest size of an event in bytes.
const maxBody = 4 << 20

// mayStart is the right that a trigger needs.
var mayStart = operation.Right("SendMessage")

// Serve serves a POST request for the trigger with a name. The answer is 202 with the id of the
// task once that is durable, also for a repeat, and 200 for an event that starts nothing.
func (p *Page) Serve(c *call.Call, w http.ResponseWriter, r *http.Request, name string) {
	w.Header().Set("Cache-Control", "no-store")
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if _, large := errors.AsType[*http.MaxBytesError](err); large {
		w.WriteHeader(http.StatusRequestEntityTooLarge)
		return
	}
	if busy, ok := errors.AsType[*call.Fault](err); ok {
		p.refuse(w, nil, busy)
		return
	}
	t := p.named(name)
	if err != nil || t == nil || !t.sentBy(r.Header, body, p.cfg.Now()) {
		p.refuseSender(c, w, r, name)
		return
	}
	var m *a2a.Message
	var taskID string
	fault := p.cfg.Calls.Serve(c, call.Steps{
		Authenticate: func() (call.Caller, error) {
			return call.Caller{Tenant: t.Tenant, Principal: t.Principal, Scopes: []call.Scope{call.CreateRuns}}, nil
		},
		Read: func() (_ call.Right, err error) {
			c.Method = mayStart.Operation
			m, err = t.message(r.Header, body)
			return mayStart, err
		},
		Handle: func() (err error) {
			if m != nil {
				taskID, err = p.deliver(r.Context(), c, *m)
			}
			return err
		},
	})
	switch {
	case fault != nil:
		p.refuse(w, t, fault)
	case m == nil:
		wire.Respond(w, http.StatusOK, map[string]bool{"skipped": true})
	default:
		wire.Respond(w, http.StatusAccepted, map[string]string{"taskId": taskID})
	}
}

// deliver delivers the message of an event, and returns the id of the task that it began. The
// first event with an id counts: senders repeat one with later contents, or after its template
// has changed.
func (p *Page) deliver(ctx context.Context, c *call.Call, m a2a.Message) (taskID string, err error) {
	d, err := p.cfg.Messages.Deliver(ctx, c, message.SendParams{Message: m, Once: true, ReturnAtOnce: true})
	switch {
	case errors.Is(err, opt.ErrConflict):
		id := opt.DerivedObjectiveID(c.Tenant, c.Principal, m.MessageID)
		c.SetIDs(id, id)
		return id, nil
	case err != nil:
		return "", err
	case d.Answer != nil:
		return "", call.InvalidField("message", "was answered by the agent at once: it started no work")
	}
	d.Watch.Close()
	return d.TaskID, nil
}

var errNotSigned = errors.New("is not signed, or is too old")

// refuseSender answers a request that the sender of no trigger has sent, without a reason.
func (p *Page) refuseSender(c *call.Call, w http.ResponseWriter, r *http.Request, name string) {
	cause := fmt.Errorf("a request for the trigger %q %w", name, errNotSigned)
	fault := p.cfg.Calls.Serve(c, call.Steps{Authenticate: c.Refusal(p.cfg.Wrong, cause)})
	status, _ := wire.Status(fault)
	w.WriteHeader(status)
}

// refuse answers an event that cannot be carried out. Senders repeat an event after a status of
// 5xx, but not all of them do so after 429.
func (p *Page) refuse(w http.ResponseWriter, t *Trigger, f *call.Fault) {
	if f.Kind == call.InvalidParams {
		p.cfg.Log.Warn("Refused an event of a trigger", zap.String("trigger", t.Name), zap.Error(f), zap.Any("violations", f.Violations))
	}
	status, _ := wire.Status(f)
	if status == http.StatusTooManyRequests {
		status = http.StatusServiceUnavailable
		f.SetRetryAfter(w.Header())
	}
	wire.Respond(w, status, wire.Flat(f, status))
}

// message returns the message that an event starts work with, nil if it starts none.
func (t *Trigger) message(h http.Header, body []byte) (*a2a.Message, error) {
	e, id, err := t.event(h, body)
	if err != nil {
		return nil, call.InvalidField("body", "must be JSON: "+err.Error())
	}
	if t.when != nil {
		switch begins, err := e.fill(t.when); {
		case err != nil:
			return nil, call.InvalidField("when", err.Error())
		case begins != "true":
			return nil, nil
		}
	}
	m := a2a.Message{MessageID: usable("trigger:" + t.Name + ":" + id), Role: a2a.RoleUser}
	text, err := e.fill(t.text)
	switch {
	case err != nil:
		return nil, call.InvalidField("message", err.Error())
	case text == "":
		return nil, call.InvalidField("message", "is empty")
	}
	if t.context != nil {
		if m.ContextID, err = e.fill(t.context); err != nil {
			return nil, call.InvalidField("context", err.Error())
		}
		m.ContextID = usable(m.ContextID)
	}
	m.Parts = []a2a.Part{a2a.TextPart(text)}
	m.Metadata = m.Metadata.WithIf(t.Skill != "", opt.KeySkill, t.Skill)
	return &m, nil
}

// usable returns an id that others have chosen, or its digest if it is too long.
func usable(id string) string {
	if call.IsValidID(id) {
		return id
	}
	return digest([]byte(id))
}

// fill returns the text that a template makes of e. Members that the body does not have are empty.
func (e Event) fill(t *template.Template) (string, error) {
	var b strings.Builder
	err := t.Execute(&b, e)
	return strings.TrimSpace(strings.ReplaceAll(b.String(), "<no value>", "")), err
}
