package main

import (
	"context"
	"fmt"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"longhaul/activities"
	"longhaul/dev/e2e/harness"
)

const (
	storedTasks  = 100 // in each server before reads are measured
	callsAtOnce  = 16
	sendsInRound = 25
)

// measureCalls compares single calls with the official server.
func measureCalls(ctx context.Context, s settings, r *report) error {
	both, stop, err := startBoth(ctx, s)
	if err != nil {
		return err
	}
	defer stop()
	ids := map[*contender]string{}
	for _, side := range both {
		for i := range storedTasks {
			if ids[side], err = sendOne(ctx, side.client, fmt.Sprintf("stored-%d", i)); err != nil {
				return err
			}
		}
		if err := untilEnded(ctx, side.client, ids[side]); err != nil {
			return err
		}
	}
	reads := map[string]func(context.Context, *contender) error{
		"tasks/get": func(ctx context.Context, side *contender) error {
			_, err := side.client.Get(ctx, ids[side])
			return err
		},
		"tasks/list, a page of 50": func(ctx context.Context, side *contender) error {
			_, err := side.client.List(ctx, map[string]any{"pageSize": 50})
			return err
		},
	}
	for _, name := range []string{"tasks/get", "tasks/list, a page of 50"} {
		values, err := alternate(ctx, s.rounds, both, func(ctx context.Context, side *contender, _ int) (map[string]float64, error) {
			return closedLoop(ctx, s.together, func(ctx context.Context) error { return reads[name](ctx, side) })
		})
		if err != nil {
			return err
		}
		f := r.add(measured{"b", name + ", 16 at a time: rate", "per s", values[0]["rate"], values[1]["rate"], officialName})
		f.setAim("ratio ≥ 1.0", f.Ratio >= 1)
		r.add(measured{"b", name + ", 16 at a time: p95", "ms", values[0]["p95"], values[1]["p95"], officialName})
	}
	values, err := alternate(ctx, s.rounds, both, func(ctx context.Context, side *contender, round int) (map[string]float64, error) {
		return measureSends(ctx, side.client, fmt.Sprintf("round-%d", round))
	})
	if err != nil {
		return err
	}
	f := r.add(measured{"b", "a send that returns at once, one at a time: rate while it is answered", "per s", values[0]["rate"], values[1]["rate"], officialName})
	f.setAim("ratio ≥ 1.0", f.Ratio >= 1)
	r.add(measured{"b", "a send that returns at once: p50", "ms", values[0]["p50"], values[1]["p50"], officialName})
	return nil
}

// sendOne sends a message whose work is done at once, and returns its task.
func sendOne(ctx context.Context, c *harness.Client, id string) (string, error) {
	task, err := c.Send(ctx, harness.Message{ID: id, Text: "say done"})
	if err != nil {
		return "", err
	}
	return task.ID, nil
}

// untilEnded waits for the end of a task.
func untilEnded(ctx context.Context, c *harness.Client, id string) error {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	for {
		task, err := c.Get(ctx, id)
		if err != nil || task.Ended() {
			return err
		}
		_ = activities.Sleep(ctx, 20*time.Millisecond)
	}
}

// measureSends sends messages one at a time, and then waits until their work is done, so that
// it does not run in the round of the other side.
func measureSends(ctx context.Context, c *harness.Client, prefix string) (map[string]float64, error) {
	var took []float64
	var last []string
	for i := range sendsInRound {
		began := time.Now()
		id, err := sendOne(ctx, c, fmt.Sprintf("%s-%d", prefix, i))
		if err != nil {
			return nil, err
		}
		took, last = append(took, milliseconds(time.Since(began))), append(last, id)
	}
	for _, id := range last {
		if err := untilEnded(ctx, c, id); err != nil {
			return nil, err
		}
	}
	total := 0.0
	for _, t := range took {
		total += t
	}
	return map[string]float64{"rate": 1000 * float64(len(took)) / total, "p50": quantile(took, 0.5), "p95": quantile(took, 0.95)}, nil
}

// closedLoop calls something, several at a time, until the time is over.
func closedLoop(ctx context.Context, lasts time.Duration, call func(context.Context) error) (map[string]float64, error) {
	took, elapsed, err := repeatParallel(ctx, callsAtOnce, lasts, call)
	if err != nil {
		return nil, err
	}
	return map[string]float64{"rate": float64(len(took)) / elapsed.Seconds(), "p50": quantile(took, 0.5), "p95": quantile(took, 0.95)}, nil
}

// repeatParallel repeats a call for a time, several at once, and returns how long each took, in
// milliseconds, and all together.
func repeatParallel(ctx context.Context, parallel int, lasts time.Duration, call func(context.Context) error) (took []float64, elapsed time.Duration, err error) {
	var mu sync.Mutex
	group, ctx := errgroup.WithContext(ctx)
	began := time.Now()
	for range parallel {
		group.Go(func() error {
			for time.Since(began) < lasts {
				start := time.Now()
				if err := call(ctx); err != nil {
					return err
				}
				mu.Lock()
				took = append(took, milliseconds(time.Since(start)))
				mu.Unlock()
			}
			return nil
		})
	}
	err = group.Wait()
	return took, time.Since(began), err
}
