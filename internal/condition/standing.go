package condition

import (
	"context"

	"longhaul/opt"
	"longhaul/opt/standing"
)

// Rules are the standing decisions of a journal.
type Rules interface {
	// ActiveStanding lists those that count now about gates with a name, the oldest first.
	ActiveStanding(ctx context.Context, tenant, gates string) ([]standing.Decision, error)
	// UseStanding counts a use of one for a gate, if it still counts then. A repeat for the same gate
	// counts nothing and returns the same number. ok is false if it does not decide about the gate.
	UseStanding(ctx context.Context, q opt.StandingQuestion, id string) (n int, ok bool, err error)
}

// Standing decides about gates by standing decisions.
type Standing struct{ Rules Rules }

// Decide returns what the oldest standing decision says whose condition holds, and counts its use; the
// zero value for none. Objects that no condition sees are for people. So are gates about which one of
// the people behind a decision may not decide: it is not used there.
func (s Standing) Decide(ctx context.Context, q opt.StandingQuestion) (opt.StandingUse, error) {
	g := &q.Gate
	data, text, whole := opt.Contents(g.Object)
	if !whole || g.Standing == "" {
		return opt.StandingUse{}, nil
	}
	list, err := s.Rules.ActiveStanding(ctx, q.Tenant, g.Standing)
	for _, d := range list {
		holds, wrong := Holds(d.Holds, data, text)
		if wrong != nil || !holds || !g.DecidedBy(d.Use(0, g.ObjectDigest), q.Requesters...) {
			continue
		}
		if n, ok, err := s.Rules.UseStanding(ctx, q, d.ID); err != nil || ok {
			return d.Use(n, g.ObjectDigest), err
		}
	}
	return opt.StandingUse{}, err
}
