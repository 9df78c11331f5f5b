package main

import (
	"context"
	"fmt"
	"sync/atomic"

	"longhaul/dev/e2e/cost"
	"longhaul/dev/e2e/harness"
)

// measureOverheadOnPostgres runs the objectives of part a with an API and 1, 2 and 4 workers
// as processes, and the bare workflows in one worker of this process, which has Temporal too.
func measureOverheadOnPostgres(ctx context.Context, s settings, r *report) error {
	p, err := startSplit(ctx, s, "overhead")
	if err != nil {
		return err
	}
	defer p.stop()
	bare, err := cost.StartBare(p.temporal)
	if err != nil {
		return err
	}
	defer bare.Stop()
	var n atomic.Int64
	sides := []*side{
		{name: bareName, once: bare.Once},
		{name: longhaulName, once: func(ctx context.Context) error { return completeOne(ctx, p.client(), n.Add(1)) }},
	}
	running := 1
	for _, workers := range []int{1, 2, 4} {
		for ; running < workers; running++ {
			more, err := p.start(ctx, "worker")
			if err != nil {
				return err
			}
			defer more.stop()
		}
		if err := measureWorkers(ctx, s, r, sides, workers); err != nil {
			return err
		}
	}
	return nil
}

// measureWorkers measures with a number of workers.
func measureWorkers(ctx context.Context, s settings, r *report, sides []*side, workers int) error {
	for _, side := range sides { // caches, and the new workers
		if _, err := (load{s.parallel, s.together}).round(ctx, side, 0); err != nil {
			return fmt.Errorf("%v: %w", side, err)
		}
	}
	for _, l := range []load{{parallel: 1, lasts: s.alone}, {parallel: s.parallel, lasts: s.together}} {
		found, err := alternate(ctx, s.rounds, sides, l.round)
		if err != nil {
			return err
		}
		for _, value := range []struct{ name, unit string }{{"rate", "per s"}, {"p50", "ms"}} {
			name := fmt.Sprintf("workers: %d, %d at a time: %s", workers, l.parallel, value.name)
			r.add(measured{"a", name, value.unit, found[1][value.name], found[0][value.name], sides[0].name})
		}
	}
	return nil
}

// completeOne sends an objective of one plan with three tasks that do nothing, and waits
// until it has completed.
func completeOne(ctx context.Context, c *harness.Client, n int64) error {
	task, err := send(ctx, c, harness.Message{ID: fmt.Sprintf("cost-%d", n), Text: "go", Wait: true, Plan: harness.NewPlan("Three", "One", "Two", "Three")})
	if err == nil && task.State != "COMPLETED" {
		err = fmt.Errorf("objective is %s, want COMPLETED: %s", task.State, task.Message)
	}
	return err
}
