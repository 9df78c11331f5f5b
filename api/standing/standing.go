// Package standing makes, approves, revokes and lists standing decisions. It never makes one by itself.
package standing

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"longhaul/a2a"
	"longhaul/api/call"
	"longhaul/api/read"
	"longhaul/internal/condition"
	"longhaul/opt"
	"longhaul/opt/shown"
	"longhaul/opt/standing"
	"longhaul/opt/wire"
)

// A Keeper keeps standing decisions.
type Keeper interface {
	// AddStanding adds a decision. It reports false if there are as many about its gates as may be.
	AddStanding(ctx context.Context, tenant string, d standing.Decision) (bool, error)
	BackStanding(ctx context.Context, tenant string, seen standing.Decision, by opt.Vote) (ok bool, err error)
	RevokeStanding(ctx context.Context, tenant, id, principal string) error
}

// A Reader reads standing decisions, and what they were used for.
type Reader interface {
	Standing(ctx context.Context, tenant, id string) (standing.Decision, error)
	Standings(ctx context.Context, tenant string) ([]standing.Decision, error)
	StandingUses(ctx context.Context, tenant, id string) ([]standing.UseAt, error)
	AnswersTo(ctx context.Context, tenant, principal string) ([]standing.Answer, error)
}

// A Store has standing decisions.
type Store interface {
	Keeper
	Reader
}

// A GateReader returns a gate, open or closed, as it was shown last.
type GateReader interface {
	Gate(ctx context.Context, tenant, gateID string) (shown.GateRecord, error)
}

// Decisions has the operations on standing decisions.
type Decisions struct {
	Store Store // nil: there are none
	Gates GateReader
	IDs   call.IDs
	Now   func() time.Time
}

// MakeParams are the params of a new decision.
type MakeParams struct {
	GateID   string `param:"interruptId,needed"` // whose rules say who may be behind it
	Action   string `param:"action"`             // "" for accept
	Holds    string `param:"holds,needed"`
	For      int64  `param:"for,span"` // seconds
	Most     int    `param:"most,uses"`
	Feedback string `param:"feedback"`
}

// Make makes a decision with the caller as the first person behind it: one who may decide at the gate,
// and who has not shaped its work. It counts when as many are behind it as the gate asks for. A repeat with the same key
// returns the first one, if that is the same.
func (s Decisions) Make(ctx context.Context, c *call.Call, p MakeParams) (wire.Standing, error) {
	r, err := s.mayBack(ctx, c, p.GateID)
	if err != nil {
		return wire.Standing{}, err
	}
	id, err := s.IDs.Made(c, "standing")
	if err != nil {
		return wire.Standing{}, err
	}
	action := opt.Accept
	if p.Action != "" {
		action = opt.Action(p.Action)
	}
	now, lasts := s.Now().Truncate(time.Millisecond), time.Duration(p.For)*time.Second
	d := standing.Decision{
		ID: "sd-" + strings.TrimPrefix(id, "obj-"), Gates: r.Gate.Standing, Action: action, Holds: p.Holds, Feedback: p.Feedback,
		MadeAt: p.GateID, Most: p.Most, Need: standing.Needs(&r.Gate, action), CreatedAt: a2a.At(now), ExpiresAt: a2a.At(now.Add(lasts)),
		By: []opt.Vote{s.vote(c, r, action)},
	}
	if wrong, ok := errors.AsType[*opt.SpecError](d.Valid(&r.Gate)); ok {
		return wire.Standing{}, call.InvalidField(wrong.Field, wrong.Problem)
	}
	if err := condition.Valid(p.Holds); err != nil {
		return wire.Standing{}, call.InvalidField("holds", err.Error())
	}
	if ok, err := s.Store.AddStanding(ctx, c.Tenant, d); err != nil || !ok {
		return wire.Standing{}, cmp.Or(err, error(call.InvalidField("interruptId", fmt.Sprintf("has %d standing decisions already that can still count: revoke one", standing.MostOpen))))
	}
	made, err := s.Get(ctx, c, read.IDParams{ID: d.ID})
	if d.ExpiresAt = a2a.At(made.CreatedAt.Time().Add(lasts)); err == nil && made.Digest() != d.Digest() {
		err = call.ReusedKey(c)
	}
	return made, err
}

// mayBack returns a gate, if the caller may be behind decisions about those like it.
func (s Decisions) mayBack(ctx context.Context, c *call.Call, gateID string) (*shown.GateRecord, error) {
	r, err := s.Gates.Gate(ctx, c.Tenant, gateID)
	switch {
	case errors.Is(err, opt.ErrUnknown):
		return nil, call.Missing("INTERRUPT_NOT_FOUND", "Interrupt", gateID)
	case err != nil:
		return nil, err
	case !r.MayStand(c.Principal, c.Groups):
		return nil, call.ErrNotYours
	}
	return &r, nil
}

func (s Decisions) vote(c *call.Call, r *shown.GateRecord, action opt.Action) opt.Vote {
	return opt.Vote{Action: action, DecidedBy: c.Principal, Groups: r.Gate.Responders.Among(c.Groups)}
}

// errOver is the fault of an approval of a decision that will never count.
var errOver = &call.Fault{Kind: call.Unsupported, Message: "This operation is not supported: the standing decision was revoked or has expired"}

// Approve puts the caller behind a decision, by the same rules. A repeat changes nothing.
func (s Decisions) Approve(ctx context.Context, c *call.Call, p read.IDParams) (wire.Standing, error) {
	for {
		d, err := s.one(ctx, c, p.ID)
		if err != nil {
			return d, err
		}
		if d.State == standing.Revoked || d.State == standing.Expired {
			return d, errOver
		}
		r, err := s.mayBack(ctx, c, d.MadeAt)
		if err != nil || d.Has(c.Principal) {
			return d, err
		}
		ok, err := s.Store.BackStanding(ctx, c.Tenant, d.Decision, s.vote(c, r, d.Action))
		if err != nil {
			return d, err
		}
		if ok {
			return s.Get(ctx, c, p)
		}
	} // another one was faster
}

// Revoke revokes a decision at once. Everyone may who may decide at gates.
func (s Decisions) Revoke(ctx context.Context, c *call.Call, p read.IDParams) (wire.Standing, error) {
	if err := s.Store.RevokeStanding(ctx, c.Tenant, p.ID, c.Principal); err != nil {
		return wire.Standing{}, fault(p.ID, err)
	}
	return s.Get(ctx, c, p)
}

// Get returns a decision with its uses.
func (s Decisions) Get(ctx context.Context, c *call.Call, p read.IDParams) (wire.Standing, error) {
	d, err := s.one(ctx, c, p.ID)
	if err == nil {
		d.Uses, err = s.Store.StandingUses(ctx, c.Tenant, p.ID)
	}
	return d, err
}

func (s Decisions) one(ctx context.Context, c *call.Call, id string) (wire.Standing, error) {
	d, err := s.Store.Standing(ctx, c.Tenant, id)
	return s.shown(d), fault(id, err)
}

func (s Decisions) shown(d standing.Decision) wire.Standing {
	return wire.Standing{Decision: d, State: d.State(a2a.At(s.Now()))}
}

func fault(id string, err error) error {
	if errors.Is(err, opt.ErrUnknown) {
		return call.Missing("STANDING_NOT_FOUND", "Standing decision", id)
	}
	return err
}

// List returns the decisions of the tenant, and those that answers of the caller propose.
func (s Decisions) List(ctx context.Context, c *call.Call, _ struct{}) (wire.StandingList, error) {
	out := wire.StandingList{Standing: []wire.Standing{}, Proposals: []standing.Proposal{}}
	if s.Store == nil {
		return out, nil
	}
	list, err := s.Store.Standings(ctx, c.Tenant)
	active := map[string]bool{}
	for _, d := range list {
		one := s.shown(d)
		out.Standing = append(out.Standing, one)
		active[d.Gates] = active[d.Gates] || one.State == standing.Active || one.State == standing.Proposed
	}
	if err != nil {
		return out, err
	}
	answers, err := s.Store.AnswersTo(ctx, c.Tenant, c.Principal)
	for _, alike := range standing.Propose(answers) {
		if active[alike[0].Gates] || err != nil {
			continue
		}
		var p *standing.Proposal
		if p, err = s.propose(ctx, c, alike); p != nil {
			out.Proposals = append(out.Proposals, *p)
		}
	}
	return out, err
}

// propose returns what equal answers propose; nil if the caller may not make it, or if their objects
// have nothing that a condition could name.
func (s Decisions) propose(ctx context.Context, c *call.Call, alike []standing.Answer) (*standing.Proposal, error) {
	var objects []json.RawMessage
	for _, a := range alike {
		r, err := s.mayBack(ctx, c, a.GateID)
		if _, refused := errors.AsType[*call.Fault](err); refused {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		data, _, _ := opt.Contents(r.Gate.Object)
		objects = append(objects, data)
	}
	holds := standing.Condition(objects)
	if holds == "" {
		return nil, nil
	}
	return &standing.Proposal{Gates: alike[0].Gates, Action: alike[0].Action, Alike: len(alike), MadeAt: alike[0].GateID, Holds: holds}, nil
}
