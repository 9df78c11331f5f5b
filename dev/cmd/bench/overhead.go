package main

import (
	"context"
	"fmt"
	"path/filepath"
	"runtime"
	"syscall"
	"time"

	"longhaul/dev/e2e/cost"
)

// measureOverhead runs objectives of one plan with three tasks that do nothing, over
// HTTP, and bare Temporal workflows of the same shape, on the same embedded server.
func measureOverhead(ctx context.Context, s settings, r *report) error {
	if s.postgres {
		return measureOverheadOnPostgres(ctx, s, r)
	}
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
	sides := []*side{
		{name: bareName, once: bare.Once, log: &bare.Log},
		{name: longhaulName, once: service.Once, log: &service.Log},
	}
	peer, err := startRestate(ctx, s)
	if err != nil {
		return err
	}
	defer peer.stop()
	if peer != nil {
		sides = append(sides, &side{name: restateName, once: peer.once, cpuTime: peer.cpuTime})
	}
	for _, side := range sides {
		if err := side.prepare(ctx, s.parallel); err != nil {
			return fmt.Errorf("%v: %w", side, err)
		}
	}
	for _, l := range []load{{parallel: 1, lasts: s.alone}, {parallel: s.parallel, lasts: s.together}} {
		found, err := alternate(ctx, s.rounds, sides, l.round)
		if err != nil {
			return err
		}
		for i, side := range sides {
			if side.name != longhaulName {
				l.report(r, found[1], found[i], side.name)
			}
		}
	}
	if err := measureEveryday(ctx, s, r, []*side{sides[0], {name: longhaulName, once: service.Everyday}}); err != nil {
		return err
	}
	for unit, kind := range map[string]cost.Kind{"requests to Temporal": cost.Request, "batches to the journal": cost.Batch} {
		count := func(k int) []float64 { return []float64{float64(sides[k].median.Count(kind))} }
		r.add(measured{"a", "one objective: " + unit, "count", count(1), count(0), sides[0].name})
	}
	return nil
}

// measureEveryday compares the CPU time of an objective as clients send them: its three tasks
// return texts, a send waits for it, and a stream follows it. That of the clients is a part of it.
func measureEveryday(ctx context.Context, s settings, r *report, sides []*side) error {
	for _, l := range []load{{parallel: 1, lasts: s.alone}, {parallel: s.parallel, lasts: s.together}} {
		found, err := alternate(ctx, s.rounds, sides, l.round)
		if err != nil {
			return err
		}
		name := fmt.Sprintf("three texts, a send that waits and a stream, %d at a time: CPU for each", l.parallel)
		f := r.add(measured{"a", name, "ms", found[1]["cpu"], found[0]["cpu"], sides[0].name})
		f.setAim("ratio ≤ 1.35", f.Ratio <= 1.35)
		name = fmt.Sprintf("the same, %d at a time: objects allocated for each", l.parallel)
		r.add(measured{"a", name, "thousands", found[1]["objects"], found[0]["objects"], sides[0].name})
	}
	return nil
}

// report adds the figures of one load. The aims are about bare Temporal.
func (l load) report(r *report, ours, base values, baseline string) {
	figure := func(name, unit, value, aim string, met func(ratio float64) bool) {
		f := r.add(measured{"a", fmt.Sprintf("%d at a time: %s", l.parallel, name), unit, ours[value], base[value], baseline})
		if aim != "" && baseline == bareName {
			f.setAim(aim, met(f.Ratio))
		}
	}
	figure("rate", "per s", "rate", "ratio ≥ 0.85", func(ratio float64) bool { return ratio >= 0.85 })
	figure("p50", "ms", "p50", "ratio ≤ 1.3", func(ratio float64) bool { return ratio <= 1.3 })
	figure("p95", "ms", "p95", "", nil)
	figure("CPU of all processes for each", "ms", "cpu", "", nil)
	if baseline == bareName { // others allocate in processes of their own
		figure("objects allocated for each", "thousands", "objects", "", nil)
	}
}

// bareName is that of the baseline.
const bareName = "bare Temporal"

// A side is one of those that are compared.
type side struct {
	name    string
	once    func(ctx context.Context) error // one objective, from request to end
	log     *cost.Log                       // nil if nothing is counted
	median  cost.Cost
	cpuTime func() time.Duration // of processes of its own; nil without
}

func (s *side) String() string { return s.name }

// prepare counts what single objectives of a side cost, and fills its caches.
func (s *side) prepare(ctx context.Context, parallel int) error {
	if s.log != nil {
		costs, err := s.log.Runs(ctx, 11, s.once)
		if err != nil {
			return err
		}
		s.median = cost.Median(costs)
	}
	_, err := load{parallel, time.Second}.round(ctx, s, 0)
	return err
}

// A load says how many objectives run at a time, and how long a round lasts.
type load struct {
	parallel int
	lasts    time.Duration
}

// round runs objectives of one side until the time is over and those that began
// have ended. The objects are those that this process has allocated: on a machine with
// other work their number repeats within a few percent, and CPU time does not.
func (l load) round(ctx context.Context, s *side, _ int) (map[string]float64, error) {
	runtime.GC() // the garbage of the other side
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	cpu := s.cpu()
	found, err := closedLoop(ctx, l.parallel, l.lasts, s.once)
	if err == nil {
		found["cpu"] = milliseconds(s.cpu()-cpu) / found["calls"]
		runtime.ReadMemStats(&after)
		found["objects"] = float64(after.Mallocs-before.Mallocs) / found["calls"] / 1000
	}
	return found, err
}

// cpu returns the CPU time of this process, which has the clients and most servers, and of those of
// the side.
func (s *side) cpu() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		panic(err) // only for arguments that do not exist
	}
	own := time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
	if s.cpuTime != nil {
		own += s.cpuTime()
	}
	return own
}
