package gate

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"longhaul/a2a"
	"longhaul/api/call"
	"longhaul/api/letter"
	"longhaul/api/message"
	"longhaul/api/read"
	"longhaul/opt"
	"longhaul/opt/shown"
	"longhaul/opt/wire"
)

// InterruptListParams are the params of a list of open gates.
type InterruptListParams struct {
	PageToken string                `param:"pageToken"`
	Mine      bool                  `param:"mine"` // only gates that wait for the caller
	Filter    shown.InterruptFilter // without its cursor and its responder
}

// An InterruptPage is a page of open gates.
type InterruptPage struct {
	Interrupts []shown.Interrupt
	Next       string // token of the next page, "" for none
	Size       int    // that was asked for
	Total      int    // on all pages
}

// AnswerParams are the params of an answer to a gate.
type AnswerParams struct {
	ID      string             // of the gate
	Message message.SendParams // the answer; without a message id, a repeat of it is the same message
}

// An Answered is the result of an answer.
type Answered struct {
	wire.Answered

	MessageID string `json:"-"` // of the answer, as it is recorded
}

// Gates lists the gates that are open, and takes answers to them.
type Gates struct {
	Journal  Journal
	Read     read.Reader
	Pages    *call.Pages
	Messages *message.Messages
}

// A Journal has gates and the verdicts on answers.
type Journal interface {
	// Interrupts returns a page of open gates in the order of the filter, and their
	// number on all pages.
	Interrupts(ctx context.Context, tenant string, f shown.InterruptFilter) ([]shown.Interrupt, int, error)
	// Gate returns a gate, open or closed, as it was shown last, with the replies to it.
	Gate(ctx context.Context, tenant, gateID string) (shown.GateRecord, error)
	Judgement(ctx context.Context, objectiveID, principal, key string) (j shown.Judgement, ok bool, err error)
}

// ListInterrupts returns a page of the open gates of the caller's tenant, in the order
// of the filter.
func (s Gates) ListInterrupts(ctx context.Context, c *call.Call, p InterruptListParams) (InterruptPage, error) {
	f := p.Filter
	page := InterruptPage{Size: f.Limit}
	list := call.PageOf{Kind: "interrupts", Tenant: c.Tenant, Filter: []string{string(f.Kind), f.ObjectiveID, f.ContextID}}
	if p.Mine {
		f.For = &shown.Responder{Principal: c.Principal, Groups: c.Groups}
		var err error
		if f.For.Seats, err = s.Messages.AllSeats(ctx, c); err != nil {
			return page, err
		}
		list.Filter = append(list.Filter, "mine", c.Principal)
	}
	if f.Text != "" || f.Urgent {
		list.Filter = append(list.Filter, "text", f.Text, strconv.FormatBool(f.Urgent))
	}
	if p.Mine && !slices.Contains(c.Scopes, call.RespondApprovals) {
		return page, nil // none waits for one who may not answer
	}
	var err error
	if f.After, err = s.Pages.Cursor(ctx, list, p.PageToken); err != nil {
		return page, err
	}
	f.Limit++ // one more shows whether there is a next page
	page.Interrupts, page.Total, err = s.Journal.Interrupts(ctx, c.Tenant, f)
	for i := range page.Interrupts {
		if one := &page.Interrupts[i]; f.For != nil {
			one.For = one.DeputyFor(*f.For)
		}
	}
	if err != nil || len(page.Interrupts) < f.Limit {
		return page, err
	}
	page.Interrupts = page.Interrupts[:f.Limit-1]
	last := page.Interrupts[len(page.Interrupts)-1]
	after := shown.Cursor{At: last.Since, ID: last.TaskID}
	if f.Urgent {
		after.Due = last.Gate.ExpiresAt
	}
	page.Next, err = s.Pages.Token(ctx, list, after)
	return page, err
}

// An OpenInterrupt is an open gate that the caller may answer.
type OpenInterrupt struct{ shown.Interrupt } // its object has its contents

// ShowInterrupt returns an open gate to a caller who may answer it.
func (s Gates) ShowInterrupt(ctx context.Context, c *call.Call, id string) (OpenInterrupt, error) {
	r, err := s.record(ctx, c, id)
	var reader shown.Responder
	if err == nil {
		reader, err = s.reader(ctx, c, r.Interrupt)
	}
	switch closed := r.Closed(); {
	case err != nil:
		return OpenInterrupt{}, err
	case !r.Open && closed != nil:
		return OpenInterrupt{}, call.ErrNotWaiting.Late(closed.Decision)
	case !r.Open:
		return OpenInterrupt{}, call.ErrNotWaiting
	case !r.Allows(reader):
		return OpenInterrupt{}, call.ErrNotYours
	case r.Gate.Voted(c.Principal):
		return OpenInterrupt{}, call.ErrHasVoted
	}
	c.SetIDs(r.ObjectiveID, r.TaskID)
	r.For = r.DeputyFor(reader)
	return OpenInterrupt{r.Interrupt}, nil
}

// reader returns the caller as one who may answer i, with its seats as a deputy.
func (s Gates) reader(ctx context.Context, c *call.Call, i shown.Interrupt) (out shown.Responder, err error) {
	out = shown.Responder{Principal: c.Principal, Groups: c.Groups}
	out.Seats, err = s.Messages.SeatsAt(ctx, c, &i.Gate)
	return out, err
}

// AnswerInterrupt delivers an answer to a gate, by the rules of a reply to its task.
func (s Gates) AnswerInterrupt(ctx context.Context, c *call.Call, p AnswerParams) (Answered, error) {
	out := Answered{Answered: wire.Answered{ID: p.ID}}
	taskID, ok := opt.TaskOfGate(p.ID)
	if !ok {
		return out, interruptUnknown(p.ID)
	}
	v, err := s.Read.Task(ctx, c, taskID, shown.TaskWant{})
	if call.Is(err, call.TaskNotFound) {
		return out, interruptUnknown(p.ID)
	}
	send := p.Message
	send.Message.TaskID, send.Gate, send.Known = taskID, p.ID, &v
	if err == nil && send.Message.MessageID == "" {
		send.Message.MessageID, err = s.answerID(ctx, c, p, send.Message, v)
	}
	if err != nil {
		return out, err
	}
	out.TaskID, out.MessageID = taskID, send.Message.MessageID
	d, err := s.Messages.Deliver(ctx, c, send)
	if call.Is(err, call.TaskNotFound) { // it was removed meanwhile
		return out, interruptUnknown(p.ID)
	}
	if err != nil {
		return out, err
	}
	d.Watch.Close()
	out.Pending, out.Note = d.Pending, commentNote(p, send.Message, v)
	if out.State, err = s.Messages.State(ctx, c, d); errors.Is(err, opt.ErrUnknown) {
		return out, interruptUnknown(p.ID)
	}
	return out, err
}

// commentNote returns the note that m was a comment, "" if it was none.
func commentNote(p AnswerParams, m a2a.Message, v shown.TaskView) string {
	i := slices.IndexFunc(v.Gates, func(g *opt.Gate) bool { return g.ID == p.ID })
	if p.Message.Decision != nil || letter.DecisionWord(m) != "" || i < 0 || v.Gates[i].Kind != opt.Approval {
		return ""
	}
	return "The text was added as a comment and decides nothing. To decide, send an action, one of: " + letter.Offered(v.Gates[i])
}

// answerID returns the id of m, an answer without one to a gate of v. A repeat of an answer that
// counts has the same id. An answer that does not count, because it was refused or its vote was
// dropped, may be given again after the next step of the gate, or as a deputy: then it has another id.
func (s Gates) answerID(ctx context.Context, c *call.Call, p AnswerParams, m a2a.Message, v shown.TaskView) (string, error) {
	place, err := s.placeOf(ctx, c, p.ID, v)
	if err != nil {
		return "", err
	}
	id := func(taken int, place string) string {
		about := p.ID + m.Digest() + place
		if taken > 0 {
			about += fmt.Sprint(" ", taken)
		}
		sum := sha256.Sum256([]byte(about))
		return "answer-" + hex.EncodeToString(sum[:16])
	}
	latest, closed, counts := 0, true, p.Message.Decision != nil && p.Message.Decision.Action == opt.Ask
	for _, g := range v.Gates {
		if g.ID == p.ID {
			latest, closed, counts = g.Taken, false, counts || g.Voted(c.Principal)
		}
	}
	steps := latest
	if closed {
		steps, counts = opt.MaxSteps, true
	}
	for n := 0; counts && n <= steps; n++ {
		for _, in := range slices.Compact([]string{place, ""}) {
			j, ok, err := s.Journal.Judgement(ctx, v.ObjectiveID, c.Principal, id(n, in))
			if err != nil || ok && j.Verdict == opt.Accepted {
				return id(n, in), err
			}
		}
	}
	return id(latest, place), nil
}

// placeOf names the places in which the caller may answer a gate of v as a deputy, "" if there are none.
func (s Gates) placeOf(ctx context.Context, c *call.Call, gateID string, v shown.TaskView) (string, error) {
	seatsAt := func() ([]opt.Seat, error) { return s.Messages.AllSeats(ctx, c) }
	if i := slices.IndexFunc(v.Gates, func(g *opt.Gate) bool { return g.ID == gateID }); i >= 0 {
		seatsAt = func() ([]opt.Seat, error) { return s.Messages.SeatsAt(ctx, c, v.Gates[i]) }
	}
	seats, err := seatsAt()
	if err != nil || len(seats) == 0 {
		return "", err
	}
	var names strings.Builder
	for _, seat := range seats {
		names.WriteString(" " + seat.AbsenceID)
	}
	return names.String(), nil
}

// gateUnknown is the reason of interruptUnknown.
const gateUnknown = "INTERRUPT_NOT_FOUND"

func interruptUnknown(id string) *call.Fault {
	return call.Missing(gateUnknown, "Interrupt", id)
}
