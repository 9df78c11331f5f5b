// Bench measures what Longhaul costs. It runs objectives of one plan with three
// tasks that do nothing, over HTTP, and beside them bare Temporal workflows of
// the same shape on the same embedded server in the same process. It prints a
// table for docs/performance.md.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"time"
)

func main() {
	alone := flag.Int("alone", 200, "runs one after another")
	together := flag.Int("together", 1000, "runs in parallel, in all")
	parallel := flag.Int("parallel", 50, "how many of those at a time")
	rounds := flag.Int("rounds", 3, "rounds; the table has the median")
	sync := flag.String("sync", "full", "full or normal: what the databases wait for")
	flag.Parse()

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	ctx, cancel := context.WithTimeout(ctx, 15*time.Minute)
	defer cancel()
	if err := run(ctx, *sync, plan{*alone, *together, *parallel, *rounds}); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// A plan says how much to run.
type plan struct{ alone, together, parallel, rounds int }

func run(ctx context.Context, sync string, p plan) error {
	dir, err := os.MkdirTemp("", "longhaul-bench-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	s, err := startService(ctx, dir, sync)
	if err != nil {
		return err
	}
	defer s.stop()
	b, err := startBare(s.temporalAddr)
	if err != nil {
		return err
	}
	defer b.stop()

	sides := []*side{{name: "bare Temporal", once: b.once}, {name: "Longhaul", once: s.once}}
	for _, side := range sides { // warm up
		if err := repeat(ctx, 30, 10, side.once); err != nil {
			return fmt.Errorf("%s: %w", side.name, err)
		}
	}
	counted, err := s.count(ctx, b)
	if err != nil {
		return err
	}
	for range p.rounds {
		for _, side := range sides {
			if err := side.round(ctx, p); err != nil {
				return fmt.Errorf("%s: %w", side.name, err)
			}
		}
	}
	report(os.Stdout, p, sides, counted)
	return nil
}
