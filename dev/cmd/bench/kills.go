package main

import (
	"context"
	"fmt"
	"time"

	"longhaul/activities"
	"longhaul/dev/e2e/harness"
)

const (
	silentFor = time.Minute            // at most between two events after a kill
	leftovers = 200 * time.Millisecond // for which events of a killed worker may still come
)

// measureKills kills the worker and the API in the middle of work and measures the time
// to the next event at a subscriber.
func measureKills(ctx context.Context, s settings, r *report) error {
	p, err := startSplit(ctx, s, "kills")
	if err != nil {
		return err
	}
	defer p.stop()
	worker, err := p.kills(ctx, s.kills, "worker", &p.worker)
	if err != nil {
		return err
	}
	api, err := p.kills(ctx, s.kills, "api", &p.api)
	if err != nil {
		return err
	}
	const never = "official Go server: its tasks are gone"
	f := r.add(measured{part: "f", name: "kill -9 of the worker, started again at once, to the next event", unit: "s", ours: worker, baseline: never})
	f.setAim("p50 < 3 s", f.Value < 3)
	f = r.add(measured{part: "f", name: "kill -9 of the API, started again at once, to the next event of a stream resumed", unit: "s", ours: api, baseline: never})
	f.setAim("p50 < 3 s", f.Value < 3)
	return nil
}

// kills kills one of the processes n times and returns the seconds to the next event.
func (p *splitSite) kills(ctx context.Context, n int, command string, which **server) (took []float64, err error) {
	for i := range n {
		seconds, err := p.killOne(ctx, fmt.Sprintf("kill-%s-%d", command, i), command, which)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", command, err)
		}
		took = append(took, seconds)
	}
	return took, nil
}

func (p *splitSite) killOne(ctx context.Context, id, command string, which **server) (float64, error) {
	ctx, cancel := context.WithTimeout(ctx, 2*silentFor)
	defer cancel()
	c := p.client()
	task, err := c.Send(ctx, harness.Message{ID: id, Text: "stream 1000 50ms"})
	if err != nil {
		return 0, err
	}
	stream, err := c.Subscribe(ctx, task.ID, harness.Fresh)
	if err != nil {
		return 0, err
	}
	defer func() { stream.Close() }()
	last := int64(0)
	for range 5 { // the work has begun
		e, err := stream.Next()
		if err != nil {
			return 0, err
		}
		last = max(last, e.ID)
	}
	began := time.Now()
	(*which).Kill()
	started := make(chan error, 1)
	go func() {
		restarted, err := p.start(ctx, command)
		if err == nil {
			*which = restarted
		}
		started <- err
	}()
	if command == "worker" {
		err = nextAfter(stream, began.Add(leftovers))
	} else {
		err = resume(ctx, c, task.ID, last)
	}
	if err != nil {
		return 0, err
	}
	took := time.Since(began).Seconds()
	if err := <-started; err != nil {
		return 0, err
	}
	_, _ = c.Cancel(ctx, task.ID) // so that it works no longer
	return took, nil
}

// nextAfter reads events until one comes after a time.
func nextAfter(stream *harness.Stream, after time.Time) error {
	for {
		if _, err := stream.Next(); err != nil || time.Now().After(after) {
			return err
		}
	}
}

// resume subscribes until the next event comes.
func resume(ctx context.Context, c *harness.Client, id string, last int64) error {
	for {
		stream, err := c.Subscribe(ctx, id, last)
		if err == nil {
			_, err = stream.Next()
			stream.Close()
		}
		if err == nil || ctx.Err() != nil {
			return err
		}
		_ = activities.Sleep(ctx, 10*time.Millisecond)
	}
}
