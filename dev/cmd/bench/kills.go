package main

import (
	"context"
	"errors"
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
	peer, err := startRestate(ctx, s)
	if err != nil {
		return err
	}
	defer peer.stop()
	where, within := "", 1.0 // in seconds
	if s.postgres {
		where, within = ", a Temporal with its defaults on PostgreSQL", 2
	}
	for _, k := range []struct{ command, name string }{
		{"worker", "kill -9 of the worker, started again at once, to the next event"},
		{"api", "kill -9 of the API, started again at once, to the next event of a stream resumed"},
	} {
		m := measured{part: "f", name: k.name + where, unit: "s", baseline: "official Go server: its tasks are gone"}
		for i := range s.kills {
			seconds, err := p.killOne(ctx, fmt.Sprintf("kill-%s-%d", k.command, i), k.command)
			if err != nil {
				return fmt.Errorf("%s: %w", k.command, err)
			}
			m.ours = append(m.ours, seconds)
			if peer == nil || k.command != "worker" {
				continue
			}
			if seconds, err = peer.killOne(ctx); err != nil {
				return fmt.Errorf("%s: %w", restateName, err)
			}
			m.baseline, m.base = restateName+", its handler", append(m.base, seconds)
		}
		f := r.add(m)
		f.setAim(fmt.Sprintf("p50 < %g s", within), f.Value < within)
	}
	return nil
}

// killOne kills one of the processes and returns the seconds to the next event.
func (p *splitSite) killOne(ctx context.Context, id, command string) (float64, error) {
	ctx, cancel := context.WithTimeout(ctx, 2*silentFor)
	defer cancel()
	c := p.client()
	task, err := send(ctx, c, harness.Message{ID: id, Text: "stream 1000 50ms"})
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
	p.processes[command].Kill()
	var restarted *server
	started := make(chan error, 1)
	go func() {
		var err error
		restarted, err = p.start(ctx, command)
		started <- err
	}()
	if command == "worker" {
		err = nextAfter(stream, began.Add(leftovers))
	} else {
		err = resume(ctx, c, task.ID, last)
	}
	took := time.Since(began).Seconds()
	if err := errors.Join(err, <-started); err != nil {
		return 0, err
	}
	p.processes[command] = restarted
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
