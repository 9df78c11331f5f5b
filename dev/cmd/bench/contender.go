package main

import (
	"context"
	"fmt"
	"slices"
	"time"

	"longhaul/dev/e2e/harness"
)

// A contender is one of two servers that are compared.
type contender struct {
	name   string
	client *harness.Client
	server *server // nil for a Longhaul of several processes
	stop   func()
}

func (c *contender) String() string { return c.name }

const (
	longhaulName = "Longhaul"
	officialName = "official Go server"
)

// besideOfficial measures Longhaul, all in one process unless it is on PostgreSQL, and the
// official server.
func besideOfficial(measure func(ctx context.Context, s settings, r *report, both []*contender) error) func(context.Context, settings, *report) error {
	return func(ctx context.Context, s settings, r *report) error {
		var both []*contender
		defer func() {
			for _, c := range slices.Backward(both) {
				c.stop()
			}
		}()
		if s.postgres {
			p, err := startSplit(ctx, s, fmt.Sprintf("rival-%d", time.Now().UnixNano()))
			if err != nil {
				return err
			}
			both = append(both, &contender{longhaulName, p.client(), nil, p.stop})
		}
		for i, c := range []struct{ name, command string }{{longhaulName, "dev"}, {officialName, serveOfficial}}[len(both):] {
			at, err := newSite(s, fmt.Sprintf("rival-%d-%d", i, time.Now().UnixNano()))
			if err != nil {
				return err
			}
			p, err := at.start(ctx, c.command)
			if err != nil {
				return err
			}
			both = append(both, &contender{c.name, at.client(), p, p.stop})
		}
		return measure(ctx, s, r, both)
	}
}

// values are those of the rounds of one side, by name.
type values map[string][]float64

// alternate measures n rounds of all sides, each round beginning with another one.
func alternate[S fmt.Stringer](ctx context.Context, n int, sides []S, round func(context.Context, S, int) (map[string]float64, error)) ([]values, error) {
	all := make([]values, len(sides))
	for i := range n {
		for j := range sides {
			k := (i + j) % len(sides)
			found, err := round(ctx, sides[k], i)
			if err != nil {
				return nil, fmt.Errorf("%v: %w", sides[k], err)
			}
			if all[k] == nil {
				all[k] = values{}
			}
			for name, v := range found {
				all[k][name] = append(all[k][name], v)
			}
		}
	}
	return all, nil
}
