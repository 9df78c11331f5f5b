package client

import (
	"longhaul/a2a"
	"longhaul/opt"
	"longhaul/opt/wire"
)

// Gate returns the gate that a waiting task shows, given its metadata or that of
// its update; ok is false if it shows none.
func Gate(m a2a.Metadata) (g *opt.Gate, ok bool) {
	var inner struct {
		Interrupt *opt.Gate `json:"interrupt"`
	}
	if m.Decode(opt.KeyInterrupt, &inner) != nil || inner.Interrupt == nil || inner.Interrupt.ID == "" {
		return nil, false
	}
	return inner.Interrupt, true
}

// Decided returns how the latest gate at a task was closed, or below a root task; ok is
// false if none was.
func Decided(m a2a.Metadata) (d *opt.Decided, ok bool) {
	var inner struct {
		Decision *opt.Decided `json:"decision"`
	}
	if m.Decode(opt.KeyInterrupt, &inner) != nil || inner.Decision == nil || inner.Decision.GateID == "" {
		return nil, false
	}
	return inner.Decision, true
}

// UsageIn returns what an objective, a plan or a plan task has used of models in words, given its
// metadata; "" for nothing.
func UsageIn(m a2a.Metadata) string { return wire.UsageIn(m) }

// Used returns what a plan task has used, given its metadata; the zero value for nothing.
func Used(m a2a.Metadata) opt.Usage { return wire.Used(m) }

// ReplyPending reports whether a reply to the task is stored and not judged yet,
// because no worker was available.
func ReplyPending(m a2a.Metadata) bool {
	return m.Has(opt.KeyReplyPending) && string(m[opt.KeyReplyPending]) != "false"
}

// A Change is a move of an objective, a plan or a task. It is in the metadata of
// the root task's updates.
type Change struct {
	Kind     string `json:"kind"` // objective, plan or task
	ID       string `json:"id"`
	From     string `json:"from"`
	To       string `json:"to"`
	Revision int64  `json:"revision"`
}

// ChangeOf returns the change in an update's metadata; ok is false if there is
// none.
func ChangeOf(m a2a.Metadata) (c Change, ok bool) {
	if !m.Has(opt.KeyEvent) || m.Decode(opt.KeyEvent, &c) != nil || c.ID == "" {
		return Change{}, false
	}
	return c, true
}

// ObjectiveOf returns the objective in the metadata of a task or a message; ok
// is false if there is none.
func ObjectiveOf(m a2a.Metadata) (o *Objective, ok bool) {
	if m.Decode(opt.KeyObjective, &o) != nil || o == nil {
		return nil, false
	}
	return o, true
}
