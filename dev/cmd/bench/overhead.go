package main

import (
	"context"
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"syscall"
	"time"

	"longhaul/dev/e2e/cost"
)

// measureOverhead runs objectives of one plan with three tasks that do nothing, over
// HTTP, and bare Temporal workflows of the same shape, on the same embedded server.
func measureOverhead(ctx context.Context, s settings, r *report) error {
	service, err := cost.StartService(ctx, filepath.Join(s.dir, "overhead"), s.sync)
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
	for _, l := range []load{{parallel: 1, lasts: s.alone}, {parallel: s.parallel, lasts: s.together}} {
		pairs, err := l.measure(ctx, sides, s.rounds)
		if err != nil {
			return err
		}
		l.report(r, pairs)
	}
	for unit, kind := range map[string]cost.Kind{"requests to Temporal": cost.Request, "batches to the journal": cost.Batch} {
		count := func(k int) []float64 { return []float64{float64(sides[k].median.Count(kind))} }
		r.add(measured{"a", "one objective: " + unit, "count", count(1), count(0), sides[0].name})
	}
	return nil
}

// report adds the figures of one load.
func (l load) report(r *report, pairs []pair) {
	figure := func(name, unit string, value func(result) float64) *figure {
		m := measured{part: "a", name: fmt.Sprintf("%d at a time: %s", l.parallel, name), unit: unit, baseline: "bare Temporal"}
		for _, p := range pairs {
			m.base, m.ours = append(m.base, value(p[0])), append(m.ours, value(p[1]))
		}
		return r.add(m)
	}
	f := figure("rate", "per s", func(r result) float64 { return r.rate })
	f.setAim("ratio ≥ 0.85", f.Ratio >= 0.85)
	f = figure("p50", "ms", func(r result) float64 { return r.p50 })
	f.setAim("ratio ≤ 1.3", f.Ratio <= 1.3)
	figure("p95", "ms", func(r result) float64 { return r.p95 })
	figure("CPU of both sides' process for each", "ms", func(r result) float64 { return r.cpu })
}

// A side is one of the two that are compared.
type side struct {
	name   string
	once   func(ctx context.Context) error // one objective, from request to end
	log    *cost.Log
	median cost.Cost
}

// prepare counts what single objectives of a side cost, and fills its caches.
func (s *side) prepare(ctx context.Context, parallel int) error {
	costs, err := s.log.Runs(ctx, 11, s.once)
	if err != nil {
		return err
	}
	s.median = cost.Median(costs)
	_, err = load{parallel, time.Second}.round(ctx, s)
	return err
}

// A load says how many objectives run at a time, and how long a round lasts.
type load struct {
	parallel int
	lasts    time.Duration
}

// A result is what one round of one side measured.
type result struct {
	cpu      float64 // milliseconds of the process for each objective, user and system
	rate     float64 // objectives per second
	p50, p95 float64 // milliseconds from request to end
}

// A pair is the results of one round: bare Temporal, Longhaul.
type pair [2]result

// measure runs rounds of both sides. The side that begins alternates.
func (l load) measure(ctx context.Context, sides [2]*side, rounds int) ([]pair, error) {
	pairs := make([]pair, rounds)
	for i := range pairs {
		for j := range sides {
			k := (i + j) % 2
			var err error
			if pairs[i][k], err = l.round(ctx, sides[k]); err != nil {
				return nil, fmt.Errorf("%s: %w", sides[k].name, err)
			}
		}
	}
	return pairs, nil
}

// round runs objectives of one side until the time is over and those that began
// have ended.
func (l load) round(ctx context.Context, s *side) (result, error) {
	runtime.GC() // the garbage of the other side
	cpu := cpuTime()
	took, elapsed, err := repeatParallel(ctx, l.parallel, l.lasts, s.once)
	if err != nil {
		return result{}, err
	}
	n := float64(len(took))
	slices.Sort(took)
	return result{
		cpu: milliseconds(cpuTime()-cpu) / n, rate: n / elapsed.Seconds(),
		p50: took[len(took)/2], p95: took[len(took)*95/100],
	}, nil
}

// cpuTime returns the CPU time of this process: server, worker, API and clients.
func cpuTime() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		panic(err) // only for arguments that do not exist
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
