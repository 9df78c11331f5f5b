package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"
)

// A side is one of the two that are compared.
type side struct {
	name string
	once func(ctx context.Context) error // one objective, from request to end

	p50, p95, rate []float64 // milliseconds, milliseconds, per second; one of each a round
}

// round measures latency alone and throughput together.
func (s *side) round(ctx context.Context, p plan) error {
	var took []float64
	for range p.alone {
		began := time.Now()
		if err := s.once(ctx); err != nil {
			return err
		}
		took = append(took, float64(time.Since(began).Microseconds())/1000)
	}
	slices.Sort(took)
	s.p50 = append(s.p50, took[len(took)/2])
	s.p95 = append(s.p95, took[len(took)*95/100])

	began := time.Now()
	if err := repeat(ctx, p.together, p.parallel, s.once); err != nil {
		return err
	}
	s.rate = append(s.rate, float64(p.together)/time.Since(began).Seconds())
	return nil
}

// repeat runs once n times, at most parallel at a time.
func repeat(ctx context.Context, n, parallel int, once func(context.Context) error) error {
	var left atomic.Int64
	left.Store(int64(n))
	group, ctx := errgroup.WithContext(ctx)
	for range parallel {
		group.Go(func() error {
			for left.Add(-1) >= 0 {
				if err := once(ctx); err != nil {
					return err
				}
			}
			return nil
		})
	}
	return group.Wait()
}

// A count is what one objective costs.
type count struct {
	what           string
	bare, longhaul float64
}

func report(out io.Writer, p plan, sides []*side, counts []count) {
	bare, ours := sides[0], sides[1]
	fmt.Fprintf(out, "One objective of 1 plan × 3 no-op tasks; median of %d rounds of %d alone and %d with %d at once.\n\n", p.rounds, p.alone, p.together, p.parallel)
	fmt.Fprintln(out, "| | bare Temporal | Longhaul | Longhaul ÷ bare |\n| --- | ---: | ---: | ---: |")
	row := func(what string, a, b float64) { fmt.Fprintf(out, "| %s | %.1f | %.1f | %.2f |\n", what, a, b, b/a) }
	row("latency alone, p50 (ms)", median(bare.p50), median(ours.p50))
	row("latency alone, p95 (ms)", median(bare.p95), median(ours.p95))
	row(fmt.Sprintf("throughput at %d (per second)", p.parallel), median(bare.rate), median(ours.rate))
	for _, c := range counts {
		row(c.what, c.bare, c.longhaul)
	}
	fmt.Fprintf(out, "\nthroughput by round, Longhaul ÷ bare:")
	for i := range ours.rate {
		fmt.Fprintf(out, " %.2f", ours.rate[i]/bare.rate[i])
	}
	fmt.Fprintln(out)
}

func median(v []float64) float64 {
	s := slices.Sorted(slices.Values(v))
	return s[len(s)/2]
}
