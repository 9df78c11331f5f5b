package main

import (
	"context"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"

	"longhaul/activities"
	"longhaul/dev/e2e/cost"
	"longhaul/dev/e2e/harness"
)

const (
	gatesAtOnce = 20
	gatesEnough = 2000        // for the memory of one to show beside the memory of the process
	gatesQuiet  = time.Minute // after which a worker keeps no workflows, and processes at rest have given memory back
)

// measureGates opens gates, measures the memory of a gate, and answers all: beside the official
// server, and beside workflows of the same Temporal that wait for signals.
func measureGates(ctx context.Context, s settings, r *report, both []*contender) error {
	p, err := startSplit(ctx, s, "gates")
	if err != nil {
		return err
	}
	defer p.stop()
	both[0].stop() // only the official one is needed
	kib, took := values{}, values{}
	for name, side := range map[string]struct {
		client    *harness.Client
		processes []*server
	}{longhaulName: {p.client(), []*server{p.processes["api"], p.processes["worker"]}}, officialName: {both[1].client, []*server{both[1].server}}} {
		before := memory(side.processes)
		ids, err := openGates(ctx, side.client, s.gates)
		if err != nil {
			return fmt.Errorf("%s: open gates: %w", name, err)
		}
		if s.gates >= gatesEnough {
			_ = activities.Sleep(ctx, gatesQuiet)
		}
		kib[name] = []float64{(memory(side.processes) - before) / float64(s.gates)}
		began := time.Now()
		if err := answerGates(ctx, side.client, ids); err != nil {
			return fmt.Errorf("%s: answer gates: %w", name, err)
		}
		took[name] = []float64{time.Since(began).Seconds()}
	}
	f := r.add(measured{"e", fmt.Sprintf("%d open gates, at rest: memory of API and worker for each", s.gates), "KiB", kib[longhaulName], kib[officialName], officialName})
	if s.gates >= gatesEnough {
		f.setAim("< 10 KiB", f.Value < 10)
	} else {
		f.Aim, f.Note = "< 10 KiB", fmt.Sprintf("not judged below %d gates: the process itself grows", gatesEnough)
	}
	if took[bareName], err = measureBareGates(ctx, s, p); err != nil {
		return fmt.Errorf("%s: %w", bareName, err)
	}
	for _, name := range []string{officialName, bareName} {
		r.add(measured{"e", fmt.Sprintf("%d open gates: all are answered and done after", s.gates), "s", took[longhaulName], took[name], name})
	}
	return nil
}

// measureBareGates returns for how many seconds the answers of bare workflows take.
func measureBareGates(ctx context.Context, s settings, p *splitSite) ([]float64, error) {
	bare, err := cost.StartBare(p.temporal)
	if err != nil {
		return nil, err
	}
	defer bare.Stop()
	gates := make([]*cost.BareWork, s.gates)
	for i := range gates {
		if gates[i], err = bare.Gate(ctx); err != nil {
			return nil, err
		}
	}
	if err := each(ctx, gates, func(ctx context.Context, g *cost.BareWork) error { return g.Asked(ctx) }); err != nil {
		return nil, err
	}
	began := time.Now()
	if err := each(ctx, gates, func(ctx context.Context, g *cost.BareWork) error { return g.Answer(ctx) }); err != nil {
		return nil, err
	}
	err = each(ctx, gates, func(ctx context.Context, g *cost.BareWork) error { return g.End(ctx) })
	return []float64{time.Since(began).Seconds()}, err
}

func memory(processes []*server) (kib float64) {
	for _, p := range processes {
		kib += p.memory()
	}
	return kib
}

// openGates opens gates and returns their tasks.
func openGates(ctx context.Context, c *harness.Client, n int) ([]string, error) {
	ids := make([]string, n)
	var group errgroup.Group
	group.SetLimit(gatesAtOnce)
	for i := range n {
		group.Go(func() error {
			task, err := c.SendUntil(ctx, harness.Message{ID: fmt.Sprintf("gate-%d", i), Text: "ask Which color?; say done"})
			if err == nil {
				ids[i] = task.ID
			}
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	return ids, untilAll(ctx, c, ids, "INPUT_REQUIRED")
}

// answerGates answers all and waits for the ends of their tasks.
func answerGates(ctx context.Context, c *harness.Client, ids []string) error {
	err := each(ctx, ids, func(ctx context.Context, id string) error {
		_, err := reply(ctx, c, id)
		return err
	})
	if err != nil {
		return err
	}
	return untilAll(ctx, c, ids, "COMPLETED")
}

// untilAll waits for one task after the other: twenty that asked at the same time would take a
// quarter of the processor, while bare workflows are waited for without asking.
func untilAll(ctx context.Context, c *harness.Client, ids []string, state string) error {
	for _, id := range ids {
		if err := untilState(ctx, c, id, state); err != nil {
			return err
		}
	}
	return nil
}

// each calls do for every gate, with a limit on parallel calls.
func each[G any](ctx context.Context, gates []G, do func(context.Context, G) error) error {
	var group errgroup.Group
	group.SetLimit(gatesAtOnce)
	for _, g := range gates {
		group.Go(func() error { return do(ctx, g) })
	}
	return group.Wait()
}
