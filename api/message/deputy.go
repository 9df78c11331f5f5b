package message

import (
	"context"

	"longhaul/api/call"
	"longhaul/opt"
)

// Seats have the places of absent principals in which others may decide.
type Seats interface {
	// Seats lists those of a deputy now.
	Seats(ctx context.Context, tenant, deputy string) ([]opt.Seat, error)
}

// Deputies finds out in whose places callers may answer.
type Deputies struct {
	Seats Seats // nil: no one has a deputy
}

// AllSeats lists the seats that the caller has now as a deputy. A deputy of a deputy has none of the
// first one: each person names its own.
func (d Deputies) AllSeats(ctx context.Context, c *call.Call) ([]opt.Seat, error) {
	if d.Seats == nil {
		return nil, nil
	}
	return d.Seats.Seats(ctx, c.Tenant, c.Principal)
}

// SeatsAt is AllSeats for an answer to a gate, which needs none if the gate does not say who may answer,
// or names the caller.
func (d Deputies) SeatsAt(ctx context.Context, c *call.Call, g *opt.Gate) ([]opt.Seat, error) {
	if !g.Responders.NamesOthers(c.Principal, c.Groups) {
		return nil, nil
	}
	return d.AllSeats(ctx, c)
}
