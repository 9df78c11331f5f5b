// Bench measures the cost of Longhaul. It runs objectives of one plan with three
// tasks that do nothing, over HTTP, and bare Temporal workflows of the same
// shape, on the same embedded server in the same process. Short rounds of both
// alternate, so that noise affects both equally. It prints tables for
// docs/performance.md.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"time"

	"longhaul/dev/e2e/cost"
)

// settings say what to run.
type settings struct {
	rounds, parallel int
	alone, together  time.Duration
	dir, sync        string
}

func main() {
	var s settings
	flag.IntVar(&s.rounds, "rounds", 6, "number of rounds; each runs both sides, one at a time and in parallel")
	flag.DurationVar(&s.alone, "alone", time.Second, "how long a side runs one objective at a time, in each round")
	flag.DurationVar(&s.together, "together", 2*time.Second, "how long a side runs objectives in parallel, in each round")
	flag.IntVar(&s.parallel, "parallel", 50, "number of objectives in parallel")
	flag.StringVar(&s.dir, "dir", os.TempDir(), "directory for both databases, for example /dev/shm to leave out the disk")
	flag.StringVar(&s.sync, "sync", "full", "what the databases wait for: full or normal")
	flag.Parse()

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, s); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, s settings) error {
	dir, err := os.MkdirTemp(s.dir, "longhaul-bench-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	service, err := cost.StartService(ctx, dir, s.sync)
	if err != nil {
		return err
	}
	defer service.Stop()
	bare, err := cost.StartBare(service.TemporalAddr)
	if err != nil {
		return err
	}
	defer bare.Stop()

	sides := [2]*side{
		{name: "bare Temporal", once: bare.Once, log: &bare.Log},
		{name: "Longhaul", once: service.Once, log: &service.Log},
	}
	for _, side := range sides {
		if err := side.prepare(ctx, s.parallel); err != nil {
			return fmt.Errorf("%s: %w", side.name, err)
		}
	}
	fmt.Printf("One objective of 1 plan × 3 no-op tasks, databases in %s, sync %s.\n\n", s.dir, s.sync)
	loads := []load{{parallel: 1, lasts: s.alone}, {parallel: s.parallel, lasts: s.together}}
	for _, l := range loads {
		fmt.Printf("%d at a time, for %v in each round:\n\n", l.parallel, l.lasts)
		pairs, err := l.measure(ctx, sides, s.rounds)
		if err != nil {
			return err
		}
		reportRatios(pairs)
	}
	reportCounts(sides)
	return nil
}
