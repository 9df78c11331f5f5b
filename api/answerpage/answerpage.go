// Package answerpage serves the pages of answer links: a page for each link, on which
// its bearer answers one gate, without scripts and without other credentials. Reading
// a page decides nothing; sending its form does, by the rules of the API.
package answerpage

import (
	"bytes"
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"errors"
	"html/template"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"go.uber.org/zap"

	"longhaul/a2a"
	"longhaul/api/call"
	"longhaul/api/gate"
	"longhaul/api/gateform"
	"longhaul/api/letter"
	"longhaul/api/operation"
	"longhaul/opt"
	"longhaul/opt/outbox"
)

// Gates shows and answers gates. [gate.Gates] does.
type Gates interface {
	ShowInterrupt(ctx context.Context, c *call.Call, id string) (gate.OpenInterrupt, error)
	AnswerInterrupt(ctx context.Context, c *call.Call, p gate.AnswerParams) (gate.Answered, error)
}

// A Verifier reads the tokens of answer links.
type Verifier interface {
	Verify(token string) (outbox.AnswerLink, error)
}

// A Config has the parts and settings of a Page.
type Config struct {
	Calls   *call.Calls
	Gates   Gates
	Links   Verifier
	Console string           // path of the gates in the console, before an id; "" without a console
	Expired error            // that Links returns about a link that has expired
	Keys    gateform.Keys    // what the principals of links may do still; nil: all that their links say
	Wrong   call.Quota       // of addresses that send links which are not valid; nil: no limits
	Now     func() time.Time // nil: time.Now
	Log     *zap.Logger      // nil discards logs
}

// A Page serves answer links. It is safe for concurrent use.
type Page struct {
	cfg    Config
	layout *template.Template
	style  template.CSS
	policy string // Content-Security-Policy
}

//go:embed page.html
var layout string

//go:embed style.css
var style string

// New returns a page.
func New(cfg Config) *Page {
	if cfg.Log == nil {
		cfg.Log = zap.NewNop()
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	sum := sha256.Sum256([]byte(style))
	return &Page{
		cfg: cfg, layout: template.Must(template.New("page").Funcs(template.FuncMap{"visible": a2a.Visible}).Parse(layout)), style: template.CSS(style), // our own file
		policy: "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) +
			"'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
	}
}

// maxForm is the size of an answer in bytes, as forms encode it.
const maxForm = 4 * gateform.MostEdited

// The rights that a link needs.
var (
	mayShow   = operation.Right("ShowInterrupt")
	mayAnswer = operation.Right("AnswerInterrupt")
)

// Serve serves a request for the link with a token: GET, HEAD or POST.
func (p *Page) Serve(c *call.Call, w http.ResponseWriter, r *http.Request, token string) {
	gateform.SetHeaders(w.Header(), p.policy, "no-referrer")
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	link, err := p.cfg.Links.Verify(token)
	if err != nil {
		p.refuseLink(c, w, r, err)
		return
	}
	if r.Method == http.MethodPost && !sameOrigin(r) {
		p.write(w, http.StatusForbidden, content{Title: "Not sent from this page", Text: "Open the link again and answer there."})
		return
	}
	authenticate := func() (call.Caller, error) {
		return gateform.Caller(r.Context(), p.cfg.Keys, call.Caller{Tenant: link.Tenant, Principal: link.Principal, Groups: link.Groups}, p.cfg.Now())
	}
	if r.Method == http.MethodPost {
		p.answer(c, w, r, link, authenticate)
	} else {
		p.show(c, w, r, link, authenticate)
	}
}

// refuseLink answers a request with a token that is not valid. An address that sends many
// of them has to wait.
func (p *Page) refuseLink(c *call.Call, w http.ResponseWriter, r *http.Request, cause error) {
	fault := p.cfg.Calls.Serve(c, call.Steps{Authenticate: c.Refusal(p.cfg.Wrong, cause)})
	switch {
	case fault.Kind == call.RateLimited:
		p.refuse(w, fault)
	case errors.Is(cause, p.cfg.Expired):
		p.write(w, http.StatusGone, content{Title: "This link has expired", Text: "Answer in another way, or wait for the next notice."})
	default:
		p.write(w, http.StatusNotFound, content{Title: "This link is not valid", Text: "Check that the whole link was copied."})
	}
}

// sameOrigin reports whether a form was sent by the page itself. Only that page has the
// token in its path; other pages that know it are refused. The origin is "null" where
// browsers do not say Sec-Fetch-Site, since the page has no referrer.
func sameOrigin(r *http.Request) bool {
	if site := r.Header.Get("Sec-Fetch-Site"); site != "" {
		return site == "same-origin"
	}
	origin := r.Header.Get("Origin")
	u, err := url.Parse(origin)
	return origin == "" || origin == "null" || err == nil && u.Host == r.Host
}

// show writes the page with the gate of a link.
func (p *Page) show(c *call.Call, w http.ResponseWriter, r *http.Request, link outbox.AnswerLink, authenticate func() (call.Caller, error)) {
	var open gate.OpenInterrupt
	fault := p.cfg.Calls.Serve(c, call.Steps{
		Authenticate: authenticate,
		Read:         func() (call.Right, error) { c.Method = mayShow.Operation; return mayShow, nil },
		Handle: func() (err error) {
			open, err = p.cfg.Gates.ShowInterrupt(r.Context(), c, link.GateID)
			return err
		},
	})
	switch {
	case fault != nil:
		p.refuse(w, fault)
	default:
		p.write(w, http.StatusOK, newContent(open, link, p.cfg.Console))
	}
}

// answer delivers an answer.
func (p *Page) answer(c *call.Call, w http.ResponseWriter, r *http.Request, link outbox.AnswerLink, authenticate func() (call.Caller, error)) {
	var params gate.AnswerParams
	var result gate.Answered
	fault := p.cfg.Calls.Serve(c, call.Steps{
		Authenticate: authenticate,
		Read: func() (call.Right, error) {
			c.Method = mayAnswer.Operation
			r.Body = http.MaxBytesReader(w, r.Body, maxForm)
			if err := r.ParseForm(); err != nil {
				return mayAnswer, call.Unread(err, "cannot be read, or is too large")
			}
			var err error
			params, err = read(r.PostForm, link)
			return mayAnswer, err
		},
		Handle: func() (err error) {
			taskID, _ := opt.TaskOfGate(link.GateID)
			c.Answer = &call.Answering{TaskID: taskID, GateID: link.GateID}
			if err := p.checkShown(r.Context(), c, link, params.Message.Decision); err != nil {
				return err
			}
			result, err = p.cfg.Gates.AnswerInterrupt(r.Context(), c, params)
			return err
		},
	})
	switch {
	case fault != nil:
		p.refuse(w, fault)
	case asks(params.Message.Decision):
		p.write(w, http.StatusOK, content{Title: "Your question was added", Text: "Nothing is decided yet. Open the link again to answer."})
	case result.Pending:
		p.write(w, http.StatusAccepted, content{Title: "Your answer is on its way", Text: "It is stored and counts as soon as the work continues, unless another answer was first."})
	default:
		p.write(w, http.StatusOK, content{Title: "Thank you, your answer was recorded", Text: "This link cannot be used again."})
	}
}

// checkShown refuses to accept a gate of which the page does not show all, and words alone
// where it has no form for them, whichever form was sent. A gate that has an answer is left to
// AnswerInterrupt, since this one may be a repeat.
func (p *Page) checkShown(ctx context.Context, c *call.Call, link outbox.AnswerLink, d *letter.GateDecision) error {
	if d != nil && d.Action != opt.Accept && d.Action != opt.EditAccept {
		return nil
	}
	open, err := p.cfg.Gates.ShowInterrupt(ctx, c, link.GateID)
	if fault, ok := errors.AsType[*call.Fault](err); ok && fault.Kind == call.Unsupported {
		return nil
	}
	if err != nil {
		return err
	}
	problem := ""
	switch shown := newContent(open, link, p.cfg.Console).Gate; {
	case d == nil && !shown.Authorizes:
		problem = "the form names no decision"
	case d != nil && shown.Hidden:
		problem = "the page does not show all that is to be decided on, so it cannot be accepted here"
	default:
		return nil
	}
	return call.Invalid(call.Violation{Field: "action", Description: problem})
}

// refuse writes the page that says why a request was refused, without details of the work.
func (p *Page) refuse(w http.ResponseWriter, f *call.Fault) {
	if f.Retry > 0 {
		f.SetRetryAfter(w.Header())
	}
	switch f.Kind {
	case call.InvalidParams:
		if f.Violations[0].Field == reusedIDField {
			p.write(w, http.StatusConflict, content{Title: "This link was used before", Text: "Its first answer counts."})
			return
		}
		p.write(w, http.StatusBadRequest, content{Title: "The answer cannot be used", Text: "Something is missing or wrong: " + f.Violations[0].Description + ". Go back and try again."})
	case call.Unsupported:
		p.write(w, http.StatusConflict, content{Title: "Nothing to answer here any more", Text: gateform.Closed(f)})
	case call.Forbidden, call.Unauthenticated:
		p.write(w, http.StatusForbidden, content{Title: "Others answer here now", Text: "The answer was not accepted."})
	case call.NotFound, call.TaskNotFound:
		p.write(w, http.StatusNotFound, content{Title: "Nothing to answer here any more", Text: "The work was removed."})
	case call.RateLimited:
		p.write(w, http.StatusTooManyRequests, content{Title: "Too many requests", Text: "Try again in a moment."})
	case call.Unavailable:
		p.write(w, http.StatusServiceUnavailable, content{Title: "Not available", Text: "Try again in a moment. If you sent an answer, it may have been recorded."})
	default:
		p.write(w, http.StatusInternalServerError, content{Title: "Something went wrong", Text: "Try again later."})
	}
}

func (p *Page) write(w http.ResponseWriter, status int, c content) {
	c.Style = p.style
	var b bytes.Buffer
	if err := p.layout.Execute(&b, c); err != nil {
		p.cfg.Log.Error("A page has no HTML", zap.Error(err))
		b.Reset()
		status = http.StatusInternalServerError
	}
	w.Header().Set("Content-Length", strconv.Itoa(b.Len()))
	w.WriteHeader(status)
	_, _ = w.Write(b.Bytes()) // fails only if the client has disconnected
}
