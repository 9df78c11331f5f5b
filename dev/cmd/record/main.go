// Record records the histories in workflows/testdata: one set for each shape of
// work. Released code must always replay them, so each shape is recorded once;
// a changed workflow gets new shapes, with names that no history has. Most of those that have
// histories are not here any more: the ones that are left show how each kind of step is written.
// Run it from the root of the repository:
//
//	go run ./dev/cmd/record              records shapes that have no history yet
//	go run ./dev/cmd/record gate edited  records these alone, if they have none
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
	"time"

	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/log"

	"longhaul/activities"
	"longhaul/activities/echo"
	"longhaul/activities/planner"
	"longhaul/dev/temporald"
	"longhaul/internal/journal"
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
	rec, stop, err := startWorker(temporal, j)
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

// courses returns all of them.
func courses() (all []course) {
	for _, s := range shapes {
		all = append(all, course{s.name, s.run})
	}
	return append(all, queues...)
}

// wanted reports whether to record a shape: it has no history yet, and is one of
// names unless that is empty.
func wanted(dir, name string, names []string) bool {
	found, _ := filepath.Glob(filepath.Join(dir, name+".*.json"))
	return len(found) == 0 && (len(names) == 0 || slices.Contains(names, name))
}

// hideIdentity keeps the name of this machine out of the histories.
func hideIdentity(o *client.Options) { o.Identity = "recorder" }

// A store is the journal for the activities of all courses, and for the recorder.
type store interface {
	activities.Recorder
	activities.KeptReader
	activities.TaskReader
	reads
	Close() error
}

// startWorker starts the worker of all courses.
func startWorker(temporal client.Client, j store) (*recorder, func(), error) {
	newClient := func(cfg workflows.ClientConfig) *workflows.Client {
		cfg.Temporal = temporal
		return workflows.NewClient(cfg)
	}
	r := &recorder{
		temporal: temporal, journal: j, ended: map[string][]string{},
		usual: newClient(workflows.ClientConfig{}), long: newClient(workflows.ClientConfig{MaxEvents: 100}),
	}
	work := worker.New(worker.Config{Temporal: temporal, Activities: activities.Config{
		Executors: map[string]activities.Executor{"echo": echo.Executor{}}, Heartbeats: r.usual, Reporter: r.usual, Floors: r, Default: "echo",
		Planner: &planner.Playbooks{}, Recorder: j, Kept: j, Tasks: j, Watch: func(id string) activities.Watch { return j.Watch(id) },
	}})
	return r, work.Stop, work.Start()
}
