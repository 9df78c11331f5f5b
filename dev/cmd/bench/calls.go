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
	callsAtOnce = 16
	sendWithin  = time.Minute
)

// measureCalls compares single calls with the official server.
func measureCalls(ctx context.Context, s settings, r *report, both []*contender) error {
	ids := map[*contender]string{}
	for _, side := range both {
		var err error
		for i := range s.stored {
			if ids[side], err = sendOne(ctx, side.client, fmt.Sprintf("stored-%d", i)); err != nil {
				return err
			}
		}
		if err := untilEnded(ctx, side.client, ids[side]); err != nil {
			return err
		}
	}
	for _, read := range []struct {
		name string
		call func(context.Context, *contender) error
	}{
		{"tasks/get", func(ctx context.Context, side *contender) error {
			_, err := side.client.Get(ctx, ids[side])
			return err
		}},
		{"tasks/list, a page of 50", func(ctx context.Context, side *contender) error {
			_, err := side.client.List(ctx, map[string]any{"pageSize": 50})
			return err
		}},
	} {
		found, err := alternate(ctx, s.rounds, both, func(ctx context.Context, side *contender, _ int) (map[string]float64, error) {
			return closedLoop(ctx, callsAtOnce, s.together, func(ctx context.Context) error { return read.call(ctx, side) })
		})
		if err != nil {
			return err
		}
		f := r.compare("b", read.name+", 16 at a time: rate", "per s", found, "rate")
		f.setAim("ratio ≥ 1.0", f.Ratio >= 1)
		r.compare("b", read.name+", 16 at a time: p95", "ms", found, "p95")
	}
	found, err := alternate(ctx, s.rounds, both, func(ctx context.Context, side *contender, round int) (map[string]float64, error) {
		return measureSends(ctx, side.client, s.stored/4, fmt.Sprintf("round-%d", round))
	})
	if err != nil {
		return err
	}
	f := r.compare("b", "a send that returns at once, one at a time: rate while it is answered", "per s", found, "rate")
	f.setAim("ratio ≥ 1.0", f.Ratio >= 1)
	r.compare("b", "a send that returns at once: p50", "ms", found, "p50")
	return nil
}

// send sends a message until it is accepted or refused: a server that has much to do may not take it
// for the moment.
func send(ctx context.Context, c *harness.Client, m harness.Message) (*harness.Task, error) {
	ctx, cancel := context.WithTimeout(ctx, sendWithin)
	defer cancel()
	return c.SendUntil(ctx, m)
}

// sendOne sends a message whose work is done at once, and returns its task.
func sendOne(ctx context.Context, c *harness.Client, id string) (string, error) {
	task, err := send(ctx, c, harness.Message{ID: id, Text: "say done"})
	if err != nil {
		return "", err
	}
	return task.ID, nil
}

// untilEnded waits for the end of a task.
func untilEnded(ctx context.Context, c *harness.Client, id string) error {
	return untilState(ctx, c, id, "")
}

// endWithin is for thousands of gates that are answered at once.
const endWithin = 20 * time.Minute

// untilState waits until a task is in a state, "" for any in which it has ended.
func untilState(ctx context.Context, c *harness.Client, id, state string) error {
	ctx, cancel := context.WithTimeout(ctx, endWithin)
	defer cancel()
	for {
		var task *harness.Task
		err := harness.Repeat(ctx, func(ctx context.Context) (err error) {
			task, err = c.Get(ctx, id)
			return err
		})
		if err != nil || task.State == state || state == "" && task.Ended() {
			return err
		}
		if task.Ended() {
			return fmt.Errorf("task %s is %s, want %s", id, task.State, state)
		}
		_ = activities.Sleep(ctx, 20*time.Millisecond)
	}
}

// measureSends sends n messages one at a time, and then waits until their work is done, so that
// it does not run in the round of the other side.
func measureSends(ctx context.Context, c *harness.Client, n int, prefix string) (map[string]float64, error) {
	var sent []string
	took, err := timed(n, func(i int) error {
		id, err := sendOne(ctx, c, fmt.Sprintf("%s-%d", prefix, i))
		sent = append(sent, id)
		return err
	})
	if err != nil {
		return nil, err
	}
	total := 0.0
	for i, id := range sent {
		if err := untilEnded(ctx, c, id); err != nil {
			return nil, err
		}
		total += took[i]
	}
	found := percentiles(took)
	found["rate"] = 1000 * float64(len(took)) / total
	return found, nil
}

// timed calls something n times, and returns how long each took, in milliseconds.
func timed(n int, call func(i int) error) (took []float64, err error) {
	for i := range n {
		began := time.Now()
		if err := call(i); err != nil {
			return nil, err
		}
		took = append(took, milliseconds(time.Since(began)))
	}
	return took, nil
}

// closedLoop calls something, several at a time, until the time is over.
func closedLoop(ctx context.Context, parallel int, lasts time.Duration, call func(context.Context) error) (map[string]float64, error) {
	var mu sync.Mutex
	var took []float64
	group, ctx := errgroup.WithContext(ctx)
	began := time.Now()
	for range parallel {
		group.Go(func() error {
			for time.Since(began) < lasts {
				one, err := timed(1, func(int) error { return call(ctx) })
				if err != nil {
					return err
				}
				mu.Lock()
				took = append(took, one...)
				mu.Unlock()
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	found := percentiles(took)
	found["calls"], found["rate"] = float64(len(took)), float64(len(took))/time.Since(began).Seconds()
	return found, nil
}
