// Record records the histories in workflows/testdata: one set for each shape of
// work. Released code must always replay them, so each shape is recorded once;
// a changed workflow gets new shapes. Run it from the root of the repository:
//
//	go run ./dev/cmd/record              records shapes that have no history yet
//	go run ./dev/cmd/record gate dag     records these alone, if they have none
//
// An existing history is never overwritten. To record a shape again that was
// never released, remove its files first.
package main

import (
	"context"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/log"

	"longhaul/activities"
	"longhaul/activities/echo"
	"longhaul/activities/planner"
	"longhaul/dev/temporald"
	"longhaul/internal/journal"
	"longhaul/opt"
	"longhaul/opt/access"
	"longhaul/worker"
	"longhaul/workflows"
)

func main() {
	dir := flag.String("dir", filepath.Join("workflows", "testdata"), "directory of the histories")
	flag.Parse()
	if err := run(context.Background(), *dir, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "record:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, dir string, names []string) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Minute)
	defer cancel()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	s, err := temporald.Start(ctx, temporald.Config{SearchAttributes: workflows.SearchAttributes()})
	if err != nil {
		return err
	}
	defer func() { _ = s.Stop() }()
	var j store
	if j, err = journal.Open(ctx, journal.Config{}); err != nil {
		return err
	}
	defer j.Close()
	temporal, err := workflows.Dial(workflows.DialConfig{Last: j.Record, Addr: s.Addr(), Namespace: "default", Local: true, Log: log.NewStructuredLogger(slog.New(slog.DiscardHandler)), Adjust: hideIdentity})
	if err != nil {
		return err
	}
	defer temporal.Close()
	rec, stop, err := startWorkers(temporal, j)
	if err != nil {
		return err
	}
	defer stop()
	for _, c := range courses() {
		if !wanted(dir, c.name, names) {
			continue
		}
		if err := rec.record(ctx, dir, c); err != nil {
			return fmt.Errorf("shape %s: %w", c.name, err)
		}
		fmt.Println("recorded", c.name)
	}
	return nil
}

// courses returns all of them. The last one removes what the others have made.
func courses() (all []course) {
	for _, s := range slices.Concat(shapes, changed, inLegs) {
		all = append(all, course{s.name, s.run})
	}
	all = append(all, course{queueShape, runQueue})
	for _, s := range pushShapes {
		all = append(all, course{s.name, s.run})
	}
	for _, s := range scheduleShapes {
		all = append(all, course{s.name, s.run})
	}
	return append(all, course{"purge", runPurge})
}

// wanted reports whether to record a shape: it has no history yet, and is one of
// names unless that is empty.
func wanted(dir, name string, names []string) bool {
	found, _ := filepath.Glob(filepath.Join(dir, name+".*.json"))
	return len(found) == 0 && (len(names) == 0 || slices.Contains(names, name))
}

// planning plans slowly if a message asks for it.
type planning struct{ activities.Planner }

func (p planning) Plan(ctx context.Context, r activities.Request) (activities.Planned, error) {
	if r.Message != nil && r.Message.Text() == "slow" {
		if err := activities.Sleep(ctx, 2*time.Second); err != nil {
			return activities.Planned{}, err
		}
	}
	return p.Planner.Plan(ctx, r)
}

// hideIdentity keeps the name of this machine out of the histories.
func hideIdentity(o *client.Options) { o.Identity = "recorder" }

// A store is the journal for the activities of all courses, and for the recorder.
type store interface {
	activities.Recorder
	activities.KeptReader
	activities.Purger
	activities.TaskReader
	reads
	Close() error
}

// startWorkers starts the workers of all courses.
func startWorkers(temporal client.Client, j store) (*recorder, func(), error) {
	newClient := func(cfg workflows.ClientConfig) *workflows.Client {
		cfg.Temporal = temporal
		return workflows.NewClient(cfg)
	}
	r := &recorder{
		temporal: temporal, journal: j, ended: map[string][]string{},
		usual: newClient(workflows.ClientConfig{}), long: newClient(workflows.ClientConfig{MaxEvents: 100}), hasty: newClient(workflows.ClientConfig{IdleFor: 3 * time.Second}),
	}
	quotas, err := access.Quotas{}.With("context-questions-in-all=1", "context-calls-in-all=1")
	if err != nil {
		return nil, nil, err
	}
	work := worker.New(worker.Config{Temporal: temporal, Activities: activities.Config{
		Executors: map[string]activities.Executor{"echo": echo.Executor{}, "legs": legs{}}, Heartbeats: r.usual, Reporter: r.usual, Default: "echo", Planner: planning{&planner.Playbooks{}}, Recorder: j, Kept: j, Purger: j, Standing: decided{},
		Quotas: quotas, Usage: &fullAtFirst{seen: map[access.Quota]bool{}},
		Tasks: j, Watch: func(id string) activities.Watch { return j.Watch(id) },
		Push: newReceivers().push(),
	}})
	workers := []interface {
		Start() error
		Stop()
	}{work, newScheduler(temporal), newElsewhere(temporal)}
	for _, w := range workers {
		if err := w.Start(); err != nil {
			return nil, nil, err
		}
	}
	return r, func() {
		for _, w := range workers {
			w.Stop()
		}
	}, nil
}

// heldShape is the name of work that quotas hold back.
const heldShape = "held"

// fullAtFirst has quotas of that work that are used up when they are read first.
type fullAtFirst struct {
	mu   sync.Mutex
	seen map[access.Quota]bool
}

func (f *fullAtFirst) Usage(_ context.Context, _, contextID string, q access.Quota) (int64, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.seen[q] || contextID != opening(shape{name: heldShape}).Objective.ContextID {
		return 0, nil
	}
	f.seen[q] = true
	return 1, nil
}

// decided has a standing decision about the gates with this name.
type decided struct{}

func (decided) Decide(_ context.Context, q opt.StandingQuestion) (opt.StandingUse, error) {
	if q.Gate.Standing != "decided" {
		return opt.StandingUse{}, nil
	}
	return opt.StandingUse{ID: "sd-1", Use: 1, Action: opt.Accept, By: []opt.Vote{{Action: opt.Accept, DecidedBy: "bob"}}, ObjectDigest: q.Gate.ObjectDigest}, nil
}
