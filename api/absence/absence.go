// Package absence makes, ends and lists absences, in which deputies decide at gates.
package absence

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"longhaul/a2a"
	"longhaul/api/call"
	"longhaul/api/read"
	"longhaul/opt"
	"longhaul/opt/wire"
)

// A Store keeps absences.
type Store interface {
	// AddAbsence adds an absence. It reports false if its principal has as many as it may.
	AddAbsence(ctx context.Context, tenant string, a opt.Absence) (bool, error)
	EndAbsence(ctx context.Context, tenant, id, principal string) error
	Absence(ctx context.Context, tenant, id string) (opt.Absence, error)
	Absences(ctx context.Context, tenant string) ([]opt.Absence, error)
}

// Absences has the operations on absences.
type Absences struct {
	Store Store // nil: there are none
	IDs   call.IDs
	Now   func() time.Time
}

// AddParams are the params of a new absence.
type AddParams struct {
	Principal string   `param:"principal"` // "" for the caller
	Groups    []string `param:"groups"`    // of another principal than the caller
	Deputy    string   `param:"deputy,needed"`
	From      a2a.Time `param:"from"` // zero for now
	Until     a2a.Time `param:"until,needed"`
}

// Add adds an absence of the caller, who has its present groups in it. One of another principal needs a
// scope, and another deputy than the caller: no one gets the place of others by itself. A repeat with the same key returns
// the first one, if that is the same.
func (s Absences) Add(ctx context.Context, c *call.Call, p AddParams) (wire.Absence, error) {
	now := a2a.At(s.Now().Truncate(time.Millisecond))
	a := opt.Absence{Principal: p.Principal, Groups: p.Groups, Deputy: p.Deputy, From: p.From, Until: p.Until, MadeBy: c.Principal}
	if a.From.IsZero() {
		a.From = now
	}
	needs := call.ManageAbsences
	if a.Principal == "" || a.Principal == c.Principal {
		a.Principal, a.Groups = c.Principal, c.Groups
		needs = call.RespondApprovals // a deputy decides what the caller may
	}
	if err := c.RequireScopes(needs); err != nil {
		return wire.Absence{}, err
	}
	if c.Anonymous {
		return wire.Absence{}, call.InvalidField("deputy", "is none of callers that are not authenticated")
	}
	if err := wrong(a, p, now); err != nil {
		return wire.Absence{}, err
	}
	id, err := s.IDs.Made(c, "absence")
	if err != nil {
		return wire.Absence{}, err
	}
	a.ID = "abs-" + strings.TrimPrefix(id, "obj-")
	if ok, err := s.Store.AddAbsence(ctx, c.Tenant, a); err != nil || !ok {
		return wire.Absence{}, cmp.Or(err, error(call.InvalidField("principal", "has 20 absences already that have not ended")))
	}
	made, err := s.get(ctx, c, a.ID)
	if err == nil && !same(made.Absence, a, p) {
		err = call.ReusedKey(c)
	}
	return made, err
}

// same reports whether an absence that was made is like a, for which p asks. If p has no beginning, that was made before.
func same(made, a opt.Absence, p AddParams) bool {
	began := made.From.Equal(a.From) || p.From.IsZero() && made.From.Millis() <= a.From.Millis()
	grouped := made.Principal == made.MadeBy || slices.Equal(made.Groups, a.Groups)
	return began && grouped && made.Principal == a.Principal && made.Deputy == a.Deputy && made.Until.Equal(a.Until)
}

// Limits of an absence.
const (
	maxName   = 256 // bytes of the name of a principal
	maxGroups = 64
)

// wrong returns why there can be no absence like a, which is made at a time; nil if there can.
func wrong(a opt.Absence, p AddParams, now a2a.Time) error {
	own := a.MadeBy == a.Principal
	switch length := a.Until.Millis() - a.From.Millis(); {
	case len(a.Principal) > maxName || strings.HasPrefix(a.Principal, opt.OwnNames):
		return call.InvalidField("principal", "is the name of no principal")
	case len(p.Groups) > maxGroups:
		return call.InvalidField("groups", fmt.Sprintf("must be at most %d", maxGroups))
	case own && len(p.Groups) > 0:
		return call.InvalidField("groups", "are those of the caller: leave them out")
	case a.Deputy == a.Principal || len(a.Deputy) > maxName || strings.HasPrefix(a.Deputy, opt.OwnNames):
		return call.InvalidField("deputy", "must be another principal")
	case !own && a.Deputy == a.MadeBy:
		return call.InvalidField("deputy", "must not be the caller, for another principal")
	case length <= 0 || a.Until.Millis() <= now.Millis():
		return call.InvalidField("until", "must be later than from, and than now")
	case a.From.Millis()-now.Millis() > opt.MaxAbsence*1000:
		return call.InvalidField("from", fmt.Sprintf("must be at most %d days from now", opt.MaxAbsence/24/3600))
	case length > opt.MaxAbsence*1000:
		return call.InvalidField("until", fmt.Sprintf("must be at most %d days after from", opt.MaxAbsence/24/3600))
	}
	return nil
}

// End ends an absence, at once: its principal, its deputy or one with the scope may.
func (s Absences) End(ctx context.Context, c *call.Call, p read.IDParams) (wire.Absence, error) {
	a, err := s.get(ctx, c, p.ID)
	if err == nil && c.Principal != a.Principal && c.Principal != a.Deputy {
		err = c.RequireScopes(call.ManageAbsences)
	}
	if err == nil {
		err = s.Store.EndAbsence(ctx, c.Tenant, p.ID, c.Principal)
	}
	if err != nil {
		return wire.Absence{}, err
	}
	return s.get(ctx, c, p.ID)
}

func (s Absences) get(ctx context.Context, c *call.Call, id string) (wire.Absence, error) {
	a, err := s.Store.Absence(ctx, c.Tenant, id)
	if errors.Is(err, opt.ErrUnknown) {
		err = call.Missing("ABSENCE_NOT_FOUND", "Absence", id)
	}
	return s.shown(a), err
}

func (s Absences) shown(a opt.Absence) wire.Absence {
	return wire.Absence{Absence: a, Active: a.Active(a2a.At(s.Now()))}
}

// List returns the absences of the tenant that end last.
func (s Absences) List(ctx context.Context, c *call.Call, _ struct{}) (wire.AbsenceList, error) {
	out := wire.AbsenceList{Absences: []wire.Absence{}}
	if s.Store == nil {
		return out, nil
	}
	list, err := s.Store.Absences(ctx, c.Tenant)
	for _, a := range list {
		out.Absences = append(out.Absences, s.shown(a))
	}
	return out, err
}
