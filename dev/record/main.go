// Record records the histories in workflows/testdata: one set for each shape of
// work. Code that is released must go on replaying them, so they are recorded
// once for a shape and never again; a changed workflow gets new ones beside
// them. Run it from the root of the repository:
//
//	go run ./dev/record              records shapes that have no history yet
//	go run ./dev/record gate dag     records these shapes again
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/history/v1"
	"go.temporal.io/api/temporalproto"
	"go.temporal.io/sdk/client"

	"longhaul/activities"
	"longhaul/activities/echo"
	"longhaul/activities/planner"
	"longhaul/dev/temporald"
	"longhaul/internal/journal"
	"longhaul/opt"
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

func run(ctx context.Context, dir string, again []string) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Minute)
	defer cancel()
	s, err := temporald.Start(ctx, temporald.Config{SearchAttributes: workflows.SearchAttributes()})
	if err != nil {
		return err
	}
	defer func() { _ = s.Stop() }()
	temporal, err := workflows.Dial(workflows.DialConfig{Addr: s.Addr(), Namespace: "default", Local: true, Log: quiet{}, Adjust: anonymous})
	if err != nil {
		return err
	}
	defer temporal.Close()
	rec, stop, err := startWorker(ctx, temporal)
	if err != nil {
		return err
	}
	defer stop()
	for _, sh := range shapes {
		if !wanted(dir, sh.name, again) {
			continue
		}
		if err := rec.shape(ctx, dir, sh); err != nil {
			return fmt.Errorf("shape %s: %w", sh.name, err)
		}
	}
	if !wanted(dir, purgeShape, again) {
		return nil
	}
	return rec.purge(ctx, dir)
}

// wanted reports whether a shape is to be recorded: one of those that were named,
// else one that has no history yet.
func wanted(dir, name string, again []string) bool {
	if len(again) > 0 {
		return slices.Contains(again, name)
	}
	found, _ := filepath.Glob(filepath.Join(dir, name+".*.json"))
	return len(found) == 0
}

// A recorder runs shapes of work and keeps their histories.
type recorder struct {
	temporal client.Client
	engine   *workflows.Client
	long     *workflows.Client // continues as new after a hundred events
	hasty    *workflows.Client // cancels what nobody starts within seconds
	journal  *journal.Journal
}

func startWorker(ctx context.Context, temporal client.Client) (*recorder, func(), error) {
	j, err := journal.Open(ctx, journal.Config{})
	if err != nil {
		return nil, nil, err
	}
	w := worker.New(worker.Config{Temporal: temporal, Activities: activities.Config{
		Executors: map[string]activities.Executor{"echo": echo.Executor{}}, Default: "echo", Planner: &planner.Playbooks{}, Recorder: j, Purger: j,
	}})
	if err := w.Start(); err != nil {
		return nil, nil, err
	}
	r := &recorder{
		temporal: temporal, journal: j,
		engine: workflows.NewClient(workflows.ClientConfig{Temporal: temporal}),
		long:   workflows.NewClient(workflows.ClientConfig{Temporal: temporal, MaxEvents: 100}),
		hasty:  workflows.NewClient(workflows.ClientConfig{Temporal: temporal, IdleFor: 3 * time.Second}),
	}
	return r, func() { w.Stop(); _ = j.Close() }, nil
}

// shape runs one shape to its end and writes the histories of its workflows.
func (r *recorder) shape(ctx context.Context, dir string, sh shape) error {
	engine := r.engine
	switch {
	case sh.long:
		engine = r.long
	case sh.hasty:
		engine = r.hasty
	}
	o := opening(sh)
	if _, err := engine.Start(ctx, o); err != nil {
		return err
	}
	id := o.Objective.ID
	for _, step := range sh.steps {
		if err := step(ctx, r, engine, id); err != nil {
			return err
		}
	}
	if err := r.until(ctx, id, func(v opt.TaskView) bool { return v.State.Ended() }); err != nil {
		return err
	}
	ids := []string{id}
	for n := range sh.plans() {
		ids = append(ids, opt.PlanID(id, n+1))
	}
	for i, workflowID := range ids {
		if err := r.save(ctx, filepath.Join(dir, fmt.Sprintf("%s.%d", sh.name, i)), workflowID); err != nil {
			return err
		}
	}
	fmt.Println("recorded", sh.name)
	return nil
}

// purgeShape names the history of a Purge workflow, which belongs to no objective.
const purgeShape = "purge"

// purge removes from the journal what the shapes have left there.
func (r *recorder) purge(ctx context.Context, dir string) error {
	options := client.StartWorkflowOptions{ID: purgeShape, TaskQueue: workflows.TaskQueue}
	run, err := r.temporal.ExecuteWorkflow(ctx, options, workflows.Purge, workflows.PurgeInput{TTL: 1})
	if err != nil {
		return err
	}
	if err := run.Get(ctx, nil); err != nil {
		return err
	}
	fmt.Println("recorded", purgeShape)
	return r.save(ctx, filepath.Join(dir, purgeShape+".0"), purgeShape)
}

// save writes the history of each run of a workflow.
func (r *recorder) save(ctx context.Context, path, workflowID string) error {
	runID := ""
	for n := 0; ; n++ {
		h, err := r.history(ctx, workflowID, runID)
		if err != nil {
			return err
		}
		data, err := temporalproto.CustomJSONMarshalOptions{Indent: " "}.Marshal(h)
		if err != nil {
			return err
		}
		if err := os.WriteFile(fmt.Sprintf("%s.%d.json", path, n), append(data, '\n'), 0o644); err != nil {
			return err
		}
		before := h.Events[0].GetWorkflowExecutionStartedEventAttributes().GetContinuedExecutionRunId()
		if before == "" {
			return nil
		}
		runID = before
	}
}

// history waits for the end of a run and returns all of it.
func (r *recorder) history(ctx context.Context, workflowID, runID string) (*history.History, error) {
	if err := r.temporal.GetWorkflow(ctx, workflowID, runID).Get(ctx, nil); ctx.Err() != nil {
		return nil, err
	}
	var h history.History
	events := r.temporal.GetWorkflowHistory(ctx, workflowID, runID, false, enums.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	for events.HasNext() {
		e, err := events.Next()
		if err != nil {
			return nil, err
		}
		h.Events = append(h.Events, e)
	}
	return &h, nil
}

// until waits until the journal shows a task in a wanted state.
func (r *recorder) until(ctx context.Context, id string, is func(opt.TaskView) bool) error {
	ref, _ := opt.ParseID(id)
	watch := r.journal.Watch(ref.ObjectiveID)
	defer watch.Close()
	for {
		if v, err := r.journal.Task(ctx, tenant, id, opt.TaskWant{}); err == nil && is(v) {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-watch.C():
		}
	}
}

// anonymous keeps the name of this machine out of the histories.
func anonymous(o *client.Options) { o.Identity = "recorder" }

type quiet struct{}

func (quiet) Debug(string, ...any) {}
func (quiet) Info(string, ...any)  {}
func (quiet) Warn(string, ...any)  {}
func (quiet) Error(string, ...any) {}
