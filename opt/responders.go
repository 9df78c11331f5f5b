package opt

import (
	"fmt"
	"slices"

	"longhaul/a2a"
)

// Responders says who may decide at a gate. The zero value, and nil, let everyone
// decide who has the scope, alone.
type Responders struct {
	Principals   []string `json:"principals,omitempty"`
	Groups       []string `json:"groups,omitempty"`
	NotRequester bool     `json:"notRequester,omitempty"` // those who shaped the work may not
	AnonymousMay bool     `json:"anonymousMay,omitempty"` // with NotRequester: it does not hold where callers are not authenticated
	Accepts      int      `json:"accepts,omitempty"`      // how many principals must accept; 0 for one
	NoVeto       bool     `json:"noVeto,omitempty"`       // it takes as many rejections as Accepts to reject; else one is enough
}

// Anonymous is the principal of all callers of a server that does not authenticate them. No
// other caller may have this name.
const Anonymous = "local"

// DefaultTenant is the tenant of callers and of schedules that name none.
const DefaultTenant = "default"

// others are all but those who shaped the work, where callers are known.
var others = &Responders{NotRequester: true, AnonymousMay: true}

// MayStand reports whether a principal may be behind a standing decision about gates with these
// responders: one who may decide there, and who has not shaped the work, even if r allows that.
func (r *Responders) MayStand(principal string, groups []string, requesters ...string) bool {
	return r.Allow(principal, groups, requesters...) && others.Allow(principal, nil, requesters...)
}

// A Vote is a decision that did not decide alone.
type Vote struct {
	Action    Action   `json:"action"`
	DecidedBy string   `json:"decidedBy"`
	Groups    []string `json:"groups,omitempty"` // of DecidedBy, that may decide

	ObjectDigest string `json:"objectDigest,omitempty"` // that DecidedBy has seen, if the reply had it
	For          *Seat  `json:"for,omitempty"`          // in whose place DecidedBy has decided; nil for its own
}

// seat returns who has this vote: DecidedBy, or the one that it is a deputy for.
func (v Vote) seat() string {
	if v.For != nil {
		return v.For.Principal
	}
	return v.DecidedBy
}

// An Absence is a time in which a deputy may decide in the place of a principal, who may so, too.
type Absence struct {
	ID        string   `json:"id"`
	Principal string   `json:"principal"`
	Groups    []string `json:"groups,omitempty"` // of Principal, as it was made
	Deputy    string   `json:"deputy"`
	From      a2a.Time `json:"from"`
	Until     a2a.Time `json:"until"`
	MadeBy    string   `json:"madeBy"`
	EndedAt   a2a.Time `json:"endedAt,omitzero"` // before Until
	EndedBy   string   `json:"endedBy,omitempty"`
}

// MaxAbsence is the length of an absence at most, in seconds.
const MaxAbsence = 366 * 24 * 3600

// Active reports whether the deputy of a may decide at a time.
func (a Absence) Active(at a2a.Time) bool {
	return a.EndedAt.IsZero() && a.From.Millis() <= at.Millis() && at.Millis() < a.Until.Millis()
}

// Seat returns the place of the absent principal.
func (a Absence) Seat() Seat {
	s := Seat{AbsenceID: a.ID, Principal: a.Principal, Groups: a.Groups}
	if a.MadeBy != a.Principal {
		s.MadeBy = a.MadeBy
	}
	return s
}

// A Seat is the place of an absent principal, in which its deputy decides.
type Seat struct {
	AbsenceID string   `json:"absenceId"`
	Principal string   `json:"principal"`        // who is absent
	Groups    []string `json:"groups,omitempty"` // of Principal; in records they stand beside the seat
	MadeBy    string   `json:"madeBy,omitempty"` // who has named the deputy, if it was not Principal
}

// By returns who has decided in s, for people; nil is the own seat of a principal.
func (s *Seat) By(principal string) string {
	if s == nil {
		return a2a.Visible(principal)
	}
	return a2a.Visible(principal) + " for " + a2a.Visible(s.Principal)
}

// mayTake reports whether a deputy may take s: it and who has named it have no part in the work, even
// where the gate allows that.
func (s Seat) mayTake(deputy string, requesters []string) bool {
	return others.Allow(deputy, nil, requesters...) && (s.MadeBy == "" || others.Allow(s.MadeBy, nil, requesters...))
}

// Allow reports whether a principal may decide. requesters are those who shaped the work: who
// asked for it, started or retried it, wrote notes to it, or changed its plans, also by a move or
// a link of a task by hand. A comment at a gate does not count, nor does a stop, a pause or their
// end. If one of them is not known, no principal may decide where requesters may not.
func (r *Responders) Allow(principal string, groups []string, requesters ...string) bool {
	switch {
	case r == nil:
		return true
	case r.NotRequester && r.AnonymousMay && (principal == Anonymous || !slices.Contains(requesters, principal)):
	case r.NotRequester && (len(requesters) == 0 || slices.Contains(requesters, principal) || slices.Contains(requesters, "")):
		return false
	}
	if len(r.Principals)+len(r.Groups) == 0 {
		return true
	}
	return r.names(principal, groups)
}

// names reports whether r names a principal or one of its groups.
func (r *Responders) names(principal string, groups []string) bool {
	return slices.Contains(r.Principals, principal) || len(r.Among(groups)) > 0
}

// NamesOthers reports whether r says who may decide, and names neither a principal nor one of its groups.
func (r *Responders) NamesOthers(principal string, groups []string) bool {
	return r != nil && len(r.Principals)+len(r.Groups) > 0 && !r.names(principal, groups)
}

// Joined returns r with the principals and groups of to. Where everyone may decide,
// everyone still may.
func (r *Responders) Joined(to *Responders) *Responders {
	if r == nil || len(r.Principals)+len(r.Groups) == 0 {
		return r
	}
	out := *r
	out.Principals, out.Groups = union(r.Principals, to.Principals), union(r.Groups, to.Groups)
	return &out
}

// Replaced returns r with the principals and groups of to instead.
func (r *Responders) Replaced(to *Responders) *Responders {
	var out Responders
	if r != nil {
		out = *r
	}
	out.Principals, out.Groups = to.Principals, to.Groups
	return &out
}

func union(a, b []string) []string {
	out := slices.Clone(a)
	for _, s := range b {
		if !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out
}

// Among returns the groups of a list that may decide.
func (r *Responders) Among(groups []string) []string {
	if r == nil {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(groups), func(g string) bool { return !slices.Contains(r.Groups, g) })
}

// CheckAccepts returns an error if r names fewer principals than must accept.
func (r *Responders) CheckAccepts() error {
	if r.Several() && len(r.Groups) == 0 && len(r.Principals) > 0 && len(r.Principals) < r.Accepts {
		return fmt.Errorf("%d principals cannot accept %d times", len(r.Principals), r.Accepts)
	}
	return nil
}

// Several reports whether one principal cannot accept alone.
func (r *Responders) Several() bool { return r != nil && r.Accepts > 1 }
