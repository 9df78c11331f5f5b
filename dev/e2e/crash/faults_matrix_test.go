package crash_test

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"longhaul/dev/e2e/faulty"
	"longhaul/dev/e2e/harness"
)

var (
	faultsDone = flag.String("faults", "", "a directory; all cells of the matrix run, but for those that have ended well and have a file there")
	faultsFor  = flag.Duration("faults-for", 5*time.Second, "how long each fault lasts")
	faultsWork = flag.Int("faults-objectives", 21, "objectives that begin meanwhile")
)

// A cell is a method of a store whose calls fail in some ways.
type cell struct {
	store  string
	method string
	kinds  []string
}

var (
	reads  = []string{faulty.Timeout, faulty.Refusing, faulty.Exhausted, faulty.Slow, faulty.Down}
	writes = []string{faulty.Timeout, faulty.Refusing, faulty.Exhausted, faulty.Disowned, faulty.Slow, faulty.Lost, faulty.Down}
)

// cells are all that is tried.
var cells = []cell{
	{faulty.Execution, "CreateWorkflowExecution", writes},
	{faulty.Execution, "UpdateWorkflowExecution", writes},
	{faulty.Execution, "RangeCompleteHistoryTasks", []string{faulty.Timeout, faulty.Slow, faulty.Lost, faulty.Down}},
	{faulty.Execution, "GetWorkflowExecution", reads},
	{faulty.Execution, "GetCurrentExecution", reads},
	{faulty.Execution, "ReadHistoryBranch", reads},
	{faulty.Execution, "GetHistoryTasks", reads},
	{faulty.Shard, "UpdateShard", writes},
	{faulty.Task, "CreateTaskQueue", []string{faulty.Timeout, faulty.Slow, faulty.Lost, faulty.Down}},
	{faulty.Task, "CreateTasks", []string{faulty.Timeout, faulty.Refusing, faulty.Exhausted, faulty.Slow, faulty.Lost, faulty.Down}},
	{faulty.Task, "GetTaskQueue", []string{faulty.Timeout, faulty.Slow, faulty.Down}},
	{faulty.Task, "GetTasks", reads},
	{faulty.Task, "GetTaskQueueUserData", []string{faulty.Timeout, faulty.Slow, faulty.Down}},
	{faulty.Metadata, "", []string{faulty.Timeout, faulty.Slow, faulty.Down}},
	{faulty.Visibility, "INSERT", []string{faulty.Timeout, faulty.Slow, faulty.Lost, faulty.Down}},
	{faulty.Visibility, "SELECT", []string{faulty.Timeout, faulty.Slow, faulty.Down}},
	{"", "", []string{faulty.Timeout, faulty.Refusing, faulty.Exhausted, faulty.Disowned, faulty.Slow, faulty.Mixed}},
}

// share returns how many of the calls fail: more of those that are rare.
func (c cell) share(kind string) float64 {
	switch {
	case kind == faulty.Down:
		return 1
	case c.store == "" && kind != faulty.Slow:
		return 0.05
	case c.method == "SELECT", c.method == "RangeCompleteHistoryTasks", c.store == faulty.Metadata, c.store == faulty.Task:
		return 0.6
	}
	return 0.2
}

// sample are the cells that run without -faults.
var sample = []string{"ExecutionStore.UpdateWorkflowExecution.lost", "any.any.mixed"}

// Calls of the database of Temporal fail, one method in one way after the other, while work of
// all kinds runs. When the faults are over, all that was acknowledged ends as it should.
func TestFaults(t *testing.T) {
	t.Parallel()
	if *faultsDone != "" { // in the short form the test that it names does the same
		t.Run("outage", outage)
	}
	for _, c := range cells {
		for _, kind := range c.kinds {
			f := &faulty.Fault{Store: c.store, Method: c.method, Kind: kind, Share: c.share(kind), Seed: time.Now().UnixNano()}
			if *faultsDone == "" && !slices.Contains(sample, f.String()) {
				continue
			}
			if endedWell(f) {
				t.Logf("%v has ended well: see %s", f, *faultsDone)
				continue
			}
			t.Run(f.String(), func(t *testing.T) {
				t.Parallel()
				try(t, f)
			})
		}
	}
}

// endedWell reports whether a run before, with the same directory, has passed with f.
func endedWell(f *faulty.Fault) bool {
	_, err := os.Stat(filepath.Join(*faultsDone, f.String()))
	return *faultsDone != "" && err == nil
}

// try lets f strike while objectives of all kinds begin, and checks what became of them.
func try(t *testing.T, f *faulty.Fault) {
	w, server := newFaulty(t, f)
	w.start(harness.API, "")
	f.Turn(true)
	w.work(t, *faultsFor, *faultsWork, func() { w.kill(f) }, server.Mend)
	all := w.settle()
	report := w.report(f)
	t.Log(report)
	stopAll(w, server)
	w.checkStopped(all)
	if n, _ := f.Injected(); n == 0 {
		t.Errorf("%v: it did not strike", f)
	}
	if *faultsDone != "" && !t.Failed() {
		harness.WriteFile(t, *faultsDone, f.String(), report+"\n")
	}
}

// stopAll stops the processes, and then Temporal.
func stopAll(w *world, server *faulty.Server) {
	for _, p := range slices.Backward(w.site.Started()) {
		if p.Running() {
			p.Stop()
		}
	}
	server.Stop()
}

// kill kills the worker and the API beside faults of any kind, and starts them again.
func (w *world) kill(f *faulty.Fault) {
	if f.Kind != faulty.Mixed {
		return
	}
	for _, p := range w.site.Started() {
		p.Kill()
		w.launch(p.Command, "")
	}
}

// work begins objectives of all kinds for a time, calls kill among them and mend then, and waits
// until all have been driven to their ends.
func (w *world) work(t *testing.T, d time.Duration, objectives int, kill, mend func()) {
	ctx, cancel := context.WithTimeout(t.Context(), d+3*within)
	defer cancel()
	kinds := slices.Concat(scenarios, []scenario{{"pushed", (*world).pushed}, {"edited", (*world).edited}, {"begun again", (*world).begunAgain}, {"contested", (*world).contested}})
	var group sync.WaitGroup
	group.Go(func() {
		if err := w.ticking(ctx); err != nil {
			t.Errorf("schedule: %v", err)
		}
	})
	for n := range objectives {
		group.Go(func() {
			s := kinds[n%len(kinds)]
			if err := s.run(w, ctx, n); err != nil {
				t.Errorf("objective %d, %s: %v", n, s.name, err)
			}
		})
		select {
		case <-time.After(d / time.Duration(objectives)):
		case <-ctx.Done():
		}
		if n%6 == 0 {
			w.nextRound(false)
		}
		switch n {
		case objectives / 3: // by now there is a backlog
			w.launch(harness.Worker, "")
		case objectives * 2 / 3:
			kill()
		}
	}
	mend()
	w.nextRound(true)
	group.Wait()
}

// newFaulty returns a world whose Temporal has a fault.
func newFaulty(t *testing.T, f *faulty.Fault) (*world, *faulty.Server) {
	w := newWorld(t, "--max-events", "100")
	w.push = newDesk(t)
	w.site.Env = []string{
		"LONGHAUL_ALLOW_PRIVATE_EGRESS=true", "LONGHAUL_PUSH_TRANSITIONS=all", "LONGHAUL_SYNC=normal",
		"LONGHAUL_REPLY_WAIT=1s", "LONGHAUL_CANCEL_WAIT=1s",
	}
	return w, faulty.Start(t, w.site, f)
}

// report says what a fault did, and to which work.
func (w *world) report(f *faulty.Fault) string {
	faults, calls := f.Injected()
	return fmt.Sprintf("%v: %d faults in %d calls of all methods; %d objectives, %d streams, opened again %d times",
		f, faults, calls, len(w.tasks), len(w.followers), w.resumes())
}
