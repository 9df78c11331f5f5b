package api

import (
	"context"

	"longhaul/api/wire"
)

// extendedCard makes the method that shows Config.Extended. Without one it fails
// with missing.
func (s *Server) extendedCard(missing *wire.Fault) run {
	if s.cfg.Extended == nil {
		return refused(s, missing)
	}
	return reply(s, wire.Nothing, func(_ context.Context, c *call, _ struct{}) (wire.Card, error) {
		if c.Anonymous {
			return wire.Card{}, errUnauthenticated
		}
		info := *s.cfg.Extended
		if len(info.Skills) == 0 {
			info.Skills = s.cards.Load().skills
		}
		return s.card(info), nil
	}, wire.Version.PureCard)
}
