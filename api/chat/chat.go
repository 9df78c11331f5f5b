// Package chat takes what people press at chat platforms, on the cards that package notice
// posts: it verifies that a request is from the platform, finds the principal that presses, and
// answers by the operations of gates. It has no rules about gates of its own.
package chat

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"go.uber.org/zap"

	"longhaul/api/call"
	"longhaul/api/gate"
	"longhaul/api/gateform"
	"longhaul/api/operation"
	"longhaul/internal/chatapp"
	"longhaul/opt"
)

// Gates shows and answers gates. [gate.Gates] does.
type Gates interface {
	ShowInterrupt(ctx context.Context, c *call.Call, id string) (gate.OpenInterrupt, error)
	AnswerInterrupt(ctx context.Context, c *call.Call, p gate.AnswerParams) (gate.Answered, error)
}

// A Config has the parts and settings of a Page.
type Config struct {
	Calls     *call.Calls
	Gates     Gates
	Apps      []chatapp.App
	Keys      gateform.Keys // what principals may do still; nil: all that the apps say
	Sender    chatapp.Sender
	PublicURL string           // of this server, without a slash at the end; needed by dialogs that name it
	Wrong     call.Quota       // of addresses that send requests which are not signed; nil: no limits
	Now       func() time.Time // nil: time.Now
	Log       *zap.Logger      // nil discards logs
}

// A Page takes what people press. It is safe for concurrent use.
type Page struct {
	cfg  Config
	apps atomic.Pointer[[]chatapp.App]
	seen replays
}

// New returns a page.
func New(cfg Config) *Page {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Log == nil {
		cfg.Log = zap.NewNop()
	}
	p := &Page{cfg: cfg, seen: replays{since: map[[sha256.Size]byte]time.Time{}}}
	p.Replace(cfg.Apps)
	return p
}

// Replace replaces the apps.
func (p *Page) Replace(list []chatapp.App) { p.apps.Store(&list) }

// of returns the apps of a kind.
func (p *Page) of(kind chatapp.Kind) []chatapp.App {
	return slices.DeleteFunc(slices.Clone(*p.apps.Load()), func(a chatapp.App) bool { return a.Kind != kind })
}

const answerFor = 2500 * time.Millisecond // platforms wait for three seconds and more

var errNotSigned = errors.New("the request of a chat platform is not signed, or is too old")

// refuseRequest answers a request that no platform has sent.
func (p *Page) refuseRequest(c *call.Call, w http.ResponseWriter, r *http.Request) {
	fault := p.cfg.Calls.Serve(c, call.Steps{Authenticate: c.Refusal(p.cfg.Wrong, errNotSigned)})
	status := http.StatusUnauthorized
	if fault.Kind == call.RateLimited {
		status = http.StatusTooManyRequests
	}
	w.WriteHeader(status)
}

// A pressed is a button that a person has pressed, or a dialog that a person has sent.
type pressed struct {
	chatapp.Press
	app  chatapp.App
	by   string     // the account
	form url.Values // of an answer, as [gateform.Read] reads it
}

var errStranger = errors.New("the account is no principal here")

// caller returns who has pressed.
func (p *Page) caller(ctx context.Context, b pressed) (call.Caller, error) {
	account, err := b.app.Account(ctx, p.cfg.Sender, b.by)
	if err != nil {
		return call.Caller{}, fmt.Errorf("%w: ask the platform for an account: %w", opt.ErrUnavailable, err)
	}
	who, ok := b.app.Find(account)
	if !ok {
		return call.Caller{}, errStranger
	}
	return gateform.Caller(ctx, p.cfg.Keys, call.Caller{Tenant: b.app.Tenant, Principal: who.Principal, Groups: who.Groups}, p.cfg.Now())
}

// The rights that a button needs.
var (
	mayShow   = operation.Right("ShowInterrupt")
	mayAnswer = operation.Right("AnswerInterrupt")
)

// An outcome is the result of a press.
type outcome struct {
	fault   *call.Fault // nil if it was done
	open    gate.OpenInterrupt
	pending bool
}

// show reads the gate of a button that opens a dialog.
func (p *Page) show(ctx context.Context, c *call.Call, b pressed) (out outcome) {
	out.fault = p.cfg.Calls.Serve(c, call.Steps{
		Authenticate: func() (call.Caller, error) { return p.caller(ctx, b) },
		Read:         func() (call.Right, error) { c.Method = mayShow.Operation; return mayShow, nil },
		Handle: func() (err error) {
			out.open, err = p.cfg.Gates.ShowInterrupt(ctx, c, b.Gate)
			if err == nil && out.open.Gate.ObjectDigest != b.Digest {
				return call.ErrOtherObject
			}
			return err
		},
	})
	return out
}

// open returns the dialog of a button, or a text for the person if there is none.
func (p *Page) open(ctx context.Context, c *call.Call, b pressed) (d dialog, refused string) {
	out := p.show(ctx, c, b)
	if out.fault == nil {
		var err error
		if d, err = newDialog(b.Press, &out.open.Gate); err == nil {
			return d, ""
		}
		out.fault = call.ErrNotWaiting
	}
	return d, out.text()
}

// answer delivers an answer.
func (p *Page) answer(ctx context.Context, c *call.Call, b pressed) (out outcome) {
	var params gate.AnswerParams
	out.fault = p.cfg.Calls.Serve(c, call.Steps{
		Authenticate: func() (call.Caller, error) { return p.caller(ctx, b) },
		Read: func() (_ call.Right, err error) {
			c.Method = mayAnswer.Operation
			params, err = gateform.Read(b.form, b.Gate, b.Digest)
			return mayAnswer, err
		},
		Handle: func() error {
			taskID, _ := opt.TaskOfGate(b.Gate)
			c.Answer = &call.Answering{TaskID: taskID, GateID: b.Gate}
			result, err := p.cfg.Gates.AnswerInterrupt(ctx, c, params)
			out.pending = result.Pending
			return err
		},
	})
	return out
}

// wrongInput returns the input of a dialog in which a mistake is: the first one if the fault does not
// say. It is "" if the answer was not refused for a mistake.
func (o outcome) wrongInput(form url.Values) string {
	f := o.fault
	if f == nil || f.Kind != call.InvalidParams || f.Reason != "" || len(form) < 2 {
		return ""
	}
	field := f.Violations[0].Field
	var n int
	if _, err := fmt.Sscanf(field, "answers[%d]", &n); err == nil {
		field = answerName(n)
	}
	if form.Has(field) {
		return field
	}
	names := slices.Sorted(maps.Keys(form))
	return slices.DeleteFunc(names, func(name string) bool { return name == "action" })[0]
}

// text returns the outcome for the person who has pressed.
func (o outcome) text() string {
	if o.fault == nil {
		if o.pending {
			return "Your answer is stored. It counts as soon as the work continues, unless another answer was first."
		}
		return "Your answer was recorded."
	}
	switch o.fault.Kind {
	case call.InvalidParams:
		if o.fault.Reason == call.ErrOtherObject.Reason {
			return "This card shows an earlier state: look at it again, and answer then."
		}
		return "The answer cannot be used: " + o.fault.Violations[0].Description + "."
	case call.Unsupported:
		return gateform.Closed(o.fault)
	}
	return cmp.Or(refusals[o.fault.Kind], "Something went wrong. Try again later.")
}

const gone = "There is nothing to answer here any more: the work was removed, or it is not yours."

// refusals are what a person reads about faults that say nothing of the answer.
var refusals = map[call.Kind]string{
	call.Unauthenticated: "Your account is not known here as one that may answer. Ask the operator to add it.",
	call.Forbidden:       "Others decide here. Your answer was not accepted.",
	call.NotFound:        gone,
	call.TaskNotFound:    gone,
	call.RateLimited:     "Too many requests. Try again in a moment.",
	call.Unavailable:     "It is not known whether your answer was recorded. The card changes if it was; if not, try again.",
}

// replayFor is how long a request is known, which is longer than signatures are valid.
const replayFor = 11 * time.Minute

// replays are the requests that were served.
type replays struct {
	mu    sync.Mutex
	since map[[sha256.Size]byte]time.Time
}

// begin reports whether a request with a key is the first one.
func (r *replays) begin(now time.Time, key string) bool {
	sum := sha256.Sum256([]byte(key))
	r.mu.Lock()
	defer r.mu.Unlock()
	for k, at := range r.since {
		if now.Sub(at) > replayFor {
			delete(r.since, k)
		}
	}
	if _, known := r.since[sum]; known {
		return false
	}
	r.since[sum] = now
	return true
}

// forget lets a request with a key be sent again.
func (r *replays) forget(key string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.since, sha256.Sum256([]byte(key)))
}

// fields returns the fields of a form that names an action, and those that it has besides.
func fields(action string, more map[string]string) url.Values {
	form := url.Values{}
	for name, value := range more {
		form.Set(name, value)
	}
	form.Set("action", action)
	return form
}

// writeJSON writes an answer of 200, which is made of texts.
func writeJSON(w http.ResponseWriter, answer any) {
	raw, _ := json.Marshal(answer)
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	_, _ = io.Copy(w, bytes.NewReader(raw)) // fails only if the platform has disconnected
}
