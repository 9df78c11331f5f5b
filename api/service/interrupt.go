package service

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"slices"

	"longhaul/a2a"
	"longhaul/opt"
)

// InterruptListParams are the params of a list of open gates.
type InterruptListParams struct {
	Filter    opt.InterruptFilter // without its cursor
	PageToken string
}

// An InterruptPage is a page of open gates.
type InterruptPage struct {
	Interrupts []opt.Interrupt
	Next       string // token of the next page, "" for none
	Size       int    // that was asked for
	Total      int    // on all pages
}

// AnswerParams are the params of an answer to a gate.
type AnswerParams struct {
	ID      string     // of the gate
	Message SendParams // the answer; without a message id, a repeat of it is the same message
}

// An Answered is the result of an answer.
type Answered struct {
	ID      string
	TaskID  string
	State   a2a.TaskState // of the task, after the answer
	Pending bool          // the workflow has not judged it yet
}

// interrupts lists the gates that are open, and takes answers to them.
type interrupts struct {
	pages    *pages
	messages *messages
}

// ListInterrupts returns a page of the open gates of the caller's tenant, the
// longest wait first.
func (s interrupts) ListInterrupts(ctx context.Context, c *Call, p InterruptListParams) (InterruptPage, error) {
	f := p.Filter
	page := InterruptPage{Size: f.Limit}
	list := pageOf{kind: "interrupts", tenant: c.Tenant, filter: []string{string(f.Kind), f.ObjectiveID, f.ContextID}}
	var err error
	if f.After, err = s.pages.cursor(ctx, list, p.PageToken); err != nil {
		return page, err
	}
	f.Limit++ // one more tells whether there is a next page
	if page.Interrupts, page.Total, err = s.pages.journal.Interrupts(ctx, c.Tenant, f); err != nil || len(page.Interrupts) < f.Limit {
		return page, err
	}
	page.Interrupts = page.Interrupts[:f.Limit-1]
	last := page.Interrupts[len(page.Interrupts)-1]
	page.Next, err = s.pages.token(ctx, list, opt.Cursor{At: last.Since, ID: last.TaskID})
	return page, err
}

// An OpenInterrupt is an open gate that the caller may answer.
type OpenInterrupt struct {
	opt.Interrupt            // without the name of its objective
	Object        []a2a.Part // the object of the gate, complete
}

// ShowInterrupt returns an open gate to a caller who may answer it.
func (s interrupts) ShowInterrupt(ctx context.Context, c *Call, id string) (OpenInterrupt, error) {
	taskID, ok := opt.TaskOfGate(id)
	if !ok {
		return OpenInterrupt{}, interruptUnknown(id)
	}
	v, err := s.messages.read.task(ctx, c, taskID, opt.TaskWant{})
	if isTaskUnknown(err) {
		return OpenInterrupt{}, interruptUnknown(id)
	}
	if err != nil {
		return OpenInterrupt{}, err
	}
	i := slices.IndexFunc(v.Gates, func(g *opt.Gate) bool { return g.ID == id })
	switch {
	case i < 0:
		return OpenInterrupt{}, errNotWaiting
	case !v.Gates[i].Responders.Allow(c.Principal, c.Groups, v.Principal):
		return OpenInterrupt{}, errNotYours
	case v.Gates[i].Voted(c.Principal):
		return OpenInterrupt{}, errHasVoted
	}
	out := OpenInterrupt{Interrupt: opt.Interrupt{
		Gate: *v.Gates[i], Since: v.Task.Status.At, TaskID: taskID, TaskName: v.Name, ObjectiveID: v.ObjectiveID, ContextID: v.Task.ContextID, Principal: v.Principal,
	}}
	out.Object, err = a2a.Attach(out.Gate.Object, s.messages.read.content(ctx, v.ObjectiveID))
	if len(out.Object) == 0 && out.Gate.ArtifactData != nil {
		out.Object = []a2a.Part{{Data: out.Gate.ArtifactData}}
	}
	return out, err
}

// AnswerInterrupt delivers an answer to a gate, by the rules of a reply to its task.
func (s interrupts) AnswerInterrupt(ctx context.Context, c *Call, p AnswerParams) (Answered, error) {
	taskID, ok := opt.TaskOfGate(p.ID)
	if !ok {
		return Answered{}, interruptUnknown(p.ID)
	}
	send := p.Message
	send.Message.TaskID, send.Gate, send.ReturnAtOnce = taskID, p.ID, true
	if send.Message.MessageID == "" {
		sum := sha256.Sum256([]byte(p.ID + send.Message.Digest()))
		send.Message.MessageID = "answer-" + hex.EncodeToString(sum[:16])
	}
	sent, err := s.messages.SendMessage(ctx, c, send)
	var fault *Fault
	switch {
	case errors.As(err, &fault) && fault.Kind == TaskNotFound:
		return Answered{}, interruptUnknown(p.ID)
	case err != nil:
		return Answered{}, err
	}
	return Answered{
		ID: p.ID, TaskID: taskID, State: sent.Task.Status.State, Pending: sent.Task.Metadata.Has(opt.KeyReplyPending),
	}, nil
}

func interruptUnknown(id string) *Fault { return optNotFound("INTERRUPT_NOT_FOUND", "Interrupt", id) }
