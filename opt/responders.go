package opt

import (
	"fmt"
	"slices"
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
