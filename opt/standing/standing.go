// Package standing has standing decisions: rules by which people have decided beforehand about gates of
// a playbook, with a condition, an end and a number of uses. It is pure.
package standing

import (
	"fmt"
	"slices"

	"longhaul/a2a"
	"longhaul/opt"
)

// A Decision decides at gates, at which no one is asked then. It counts once enough people are behind
// it, until it is revoked, has expired or was used as often as it may.
type Decision struct {
	ID       string     `json:"id"`
	Gates    string     `json:"gates"`              // that it is about, as in [opt.Gate.Standing]
	Action   opt.Action `json:"action"`             // accept or reject
	Holds    string     `json:"holds"`              // the condition on the object
	Feedback string     `json:"feedback,omitempty"` // the reason, for those who made the object
	MadeAt   string     `json:"interruptId"`        // id of the gate whose rules say who may be behind it
	Most     int        `json:"most"`               // uses
	Need     int        `json:"need"`               // how many people must be behind it

	CreatedAt a2a.Time `json:"createdAt"`
	ExpiresAt a2a.Time `json:"expiresAt"`
	RevokedAt a2a.Time `json:"revokedAt,omitzero"`
	RevokedBy string   `json:"revokedBy,omitempty"`

	By   []opt.Vote `json:"by"` // the people behind it, the first of whom has made it
	Used int        `json:"used"`
}

// MostOpen is how many decisions about gates with one name there may be that can still count: all of them
// may have to be tried at each of these gates.
const MostOpen = 20

// A State says whether a decision counts.
type State string

// The states.
const (
	Proposed State = "proposed" // more people must be behind it
	Active   State = "active"
	UsedUp   State = "used-up"
	Expired  State = "expired"
	Revoked  State = "revoked"
)

// State returns the state of d at a time.
func (d Decision) State(now a2a.Time) State {
	switch {
	case !d.RevokedAt.IsZero():
		return Revoked
	case now.Millis() >= d.ExpiresAt.Millis():
		return Expired
	case d.Used >= d.Most:
		return UsedUp
	case len(d.By) < d.Need:
		return Proposed
	}
	return Active
}

// Limits of a decision.
const (
	MaxUses     = 1000
	MaxSeconds  = 31 * 24 * 3600
	maxHolds    = 4 << 10 // bytes
	maxFeedback = 2 << 10
)

// Valid returns why there can be no decision like d, as it was made, for a gate; nil if there can. The
// error is a [*opt.SpecError].
func (d Decision) Valid(g *opt.Gate) error {
	seconds := (d.ExpiresAt.Millis() - d.CreatedAt.Millis()) / 1000
	wrong := func(field, text string, a ...any) error {
		return &opt.SpecError{Field: field, Problem: fmt.Sprintf(text, a...)}
	}
	switch {
	case g.Standing == "" || g.Kind != opt.Approval:
		return wrong("interruptId", "the playbook does not allow standing decisions about this gate")
	case d.Action != opt.Accept && d.Action != opt.Reject || !g.Allows(d.Action):
		return wrong("action", "must be %s or %s, as the gate offers it", opt.Accept, opt.Reject)
	case seconds < 1 || seconds > MaxSeconds:
		return wrong("for", "must be between one second and 31 days")
	case d.Most < 1 || d.Most > MaxUses:
		return wrong("most", "must be from 1 to %d", MaxUses)
	case d.Holds == "" || len(d.Holds) > maxHolds:
		return wrong("holds", "must have 1 to %d bytes; true holds for each object", maxHolds)
	case len(d.Feedback) > maxFeedback:
		return wrong("feedback", "must have at most %d bytes", maxFeedback)
	}
	return nil
}

// Needs returns how many people must be behind a decision with an action about g.
func Needs(g *opt.Gate, a opt.Action) int {
	alone := opt.Gate{Responders: g.Responders}
	if alone.Decides(a) {
		return 1
	}
	return g.Responders.Accepts
}

// Has reports whether a principal is behind d.
func (d Decision) Has(principal string) bool {
	return slices.ContainsFunc(d.By, func(v opt.Vote) bool { return v.DecidedBy == principal })
}

// Use returns what d says about the object with a digest, at one of its uses.
func (d Decision) Use(n int, digest string) opt.StandingUse {
	return opt.StandingUse{ID: d.ID, Use: n, Rule: d.Digest(), Action: d.Action, Feedback: d.Feedback, By: d.By, ObjectDigest: digest}
}

// Digest returns the digest of what the people behind d have agreed to: "sha256:" and the SHA-256, in
// hexadecimal, of its members from id to need and expiresAt as JSON in the canonical form of RFC 8785.
func (d Decision) Digest() string {
	return opt.PartsDigest([]a2a.Part{a2a.DataPart(map[string]any{
		"id": d.ID, "gates": d.Gates, "action": d.Action, "holds": d.Holds, "feedback": d.Feedback, "interruptId": d.MadeAt,
		"most": d.Most, "need": d.Need, "expiresAt": d.ExpiresAt,
	})})
}

// A UseAt is one use of a decision.
type UseAt struct {
	N      int      `json:"n"`
	GateID string   `json:"interruptId"`
	At     a2a.Time `json:"at"`
}

// An Answer is a decision of a principal at a gate.
type Answer struct {
	Gates  string
	Action opt.Action
	GateID string
}
