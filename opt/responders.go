package opt

import "slices"

// Responders says who may decide at a gate. The zero value, and nil, let everyone
// decide who has the scope, alone.
type Responders struct {
	Principals   []string `json:"principals,omitempty"`
	Groups       []string `json:"groups,omitempty"`
	NotRequester bool     `json:"notRequester,omitempty"` // who asked for the objective may not
	Accepts      int      `json:"accepts,omitempty"`      // how many principals must accept; 0 for one
	NoVeto       bool     `json:"noVeto,omitempty"`       // it takes as many rejections as Accepts to reject; else one is enough
}

// A Vote is a decision that did not decide alone.
type Vote struct {
	Action    Action   `json:"action"`
	DecidedBy string   `json:"decidedBy"`
	Groups    []string `json:"groups,omitempty"` // of DecidedBy, that may decide
}

// Allow reports whether a principal may decide. requester is who asked for the
// objective.
func (r *Responders) Allow(principal string, groups []string, requester string) bool {
	switch {
	case r == nil:
		return true
	case r.NotRequester && (principal == requester || requester == ""):
		return false
	case len(r.Principals)+len(r.Groups) == 0:
		return true
	}
	return slices.Contains(r.Principals, principal) || len(r.Among(groups)) > 0
}

// Among returns those of groups that may decide.
func (r *Responders) Among(groups []string) []string {
	if r == nil {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(groups), func(g string) bool { return !slices.Contains(r.Groups, g) })
}

// Several reports whether one principal cannot accept alone.
func (r *Responders) Several() bool { return r != nil && r.Accepts > 1 }
