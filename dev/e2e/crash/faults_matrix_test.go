package crash_test

import (
	"context"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"go.temporal.io/server/common/config"
	"go.uber.org/zap"

	"longhaul/dev/e2e/harness"
	"longhaul/dev/temporald"
	"longhaul/workflows"
)

var (
	faultsDone = flag.String("faults", "", "a directory; all cells of the matrix run, but for those that have ended well and have a file there")
	faultsFor  = flag.Duration("faults-for", 5*time.Second, "how long each fault lasts")
	faultsWork = flag.Int("faults-objectives", 21, "objectives that begin meanwhile")
)

// A cell is a method of a store whose calls fail in some ways.
type cell struct {
	store  config.DataStoreName
	method string
	kinds  []string
}

var (
	reads  = []string{timeout, refusing, exhausted, slow, down}
	writes = []string{timeout, refusing, exhausted, disowned, slow, lost, down}
)

// cells are all that is tried.
var cells = []cell{
	{config.ExecutionStoreName, "CreateWorkflowExecution", writes},
	{config.ExecutionStoreName, "UpdateWorkflowExecution", writes},
	{config.ExecutionStoreName, "RangeCompleteHistoryTasks", []string{timeout, slow, lost, down}},
	{config.ExecutionStoreName, "GetWorkflowExecution", reads},
	{config.ExecutionStoreName, "GetCurrentExecution", reads},
	{config.ExecutionStoreName, "ReadHistoryBranch", reads},
	{config.ExecutionStoreName, "GetHistoryTasks", reads},
	{config.ShardStoreName, "UpdateShard", writes},
	{config.TaskStoreName, "CreateTaskQueue", []string{timeout, slow, lost, down}},
	{config.TaskStoreName, "CreateTasks", []string{timeout, refusing, exhausted, slow, lost, down}},
	{config.TaskStoreName, "GetTaskQueue", []string{timeout, slow, down}},
	{config.TaskStoreName, "GetTasks", reads},
	{config.TaskStoreName, "GetTaskQueueUserData", []string{timeout, slow, down}},
	{config.MetadataStoreName, "", []string{timeout, slow, down}},
	{visibility, "INSERT", []string{timeout, slow, lost, down}},
	{visibility, "SELECT", []string{timeout, slow, down}},
	{"", "", []string{timeout, refusing, exhausted, disowned, slow, mixed}},
}

// share returns how many of the calls fail: more of those that are rare.
func (c cell) share(kind string) float64 {
	switch {
	case kind == down:
		return 1
	case c.store == "" && kind != slow:
		return 0.05
	case c.method == "SELECT", c.method == "RangeCompleteHistoryTasks", c.store == config.MetadataStoreName:
		return 0.6
	}
	return 0.2
}

// sample are the cells that run without -faults.
var sample = []string{
	"ExecutionStore.UpdateWorkflowExecution.lost", "ExecutionStore.CreateWorkflowExecution.disowned", "Visibility.INSERT.down", "any.any.mixed",
}

// Calls of the database of Temporal fail, one method in one way after the other, while work of
// all kinds runs. When the faults are over, all that was acknowledged ends as it should.
func TestFaults(t *testing.T) {
	for _, c := range cells {
		for _, kind := range c.kinds {
			f := &fault{store: c.store, method: c.method, kind: kind, share: c.share(kind), seed: time.Now().UnixNano()}
			if *faultsDone == "" && !slices.Contains(sample, f.String()) {
				continue
			}
			t.Run(f.String(), func(t *testing.T) {
				t.Parallel()
				f.try(t)
			})
		}
	}
}

// try lets f strike while objectives of all kinds begin, and checks what became of them.
func (f *fault) try(t *testing.T) {
	done := filepath.Join(*faultsDone, f.String())
	if _, err := os.Stat(done); *faultsDone != "" && err == nil {
		t.Skip("it has ended well: ", done)
	}
	w, server := newFaulty(t, f)
	w.start(harness.API, "")
	f.turn(true)
	w.work(t, *faultsFor, *faultsWork, func() { f.kill(w) }, func() { server.mend(f) })
	all := w.settle()
	w.push.check(t, all)
	report := f.report(w)
	t.Log(report)
	stopAll(w, server)
	w.checkStopped(all)
	if f.injected == 0 {
		t.Errorf("%v: it did not strike", f)
	}
	if *faultsDone != "" && !t.Failed() {
		harness.WriteFile(t, *faultsDone, filepath.Base(done), report+"\n")
	}
}

// stopAll stops the processes, and then Temporal.
func stopAll(w *world, server *faulty) {
	for _, p := range slices.Backward(w.site.Started()) {
		if p.Running() {
			p.Stop()
		}
	}
	server.stop()
}

// kill kills the worker and the API beside faults of any kind, and starts them again.
func (f *fault) kill(w *world) {
	if f.kind != mixed {
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

// A faulty is a Temporal in the process of the test, whose database has faults.
type faulty struct {
	t      *testing.T
	cfg    temporald.Config
	server *temporald.Server
}

// newFaulty returns a world whose Temporal has a fault.
func newFaulty(t *testing.T, f *fault) (*world, *faulty) {
	w := newWorld(t, "--max-events", "100")
	w.push = newDesk(t)
	w.site.Env = []string{
		"LONGHAUL_ALLOW_PRIVATE_EGRESS=true", "LONGHAUL_PUSH_TRANSITIONS=all", "LONGHAUL_SYNC=normal",
		"LONGHAUL_REPLY_WAIT=1s", "LONGHAUL_CANCEL_WAIT=1s", "LONGHAUL_CALL_TIMEOUT=5s",
	}
	log := zap.NewProductionConfig()
	log.OutputPaths = []string{filepath.Join(filepath.Dir(w.site.Dir), "temporal.log")}
	logger, err := log.Build()
	if err != nil {
		t.Fatal(err)
	}
	s := &faulty{t: t, cfg: temporald.Config{Sync: "normal", Dir: w.site.Dir, Addr: w.site.TemporalAddr, SearchAttributes: workflows.SearchAttributes(), Log: logger, Faults: f.faults()}}
	f.turn(f.kind == lost)
	s.start()
	t.Cleanup(s.stop)
	return w, s
}

func (s *faulty) start() {
	var err error
	if s.server, err = temporald.Start(s.t.Context(), s.cfg); err != nil {
		s.t.Fatal(err)
	}
}

func (s *faulty) stop() {
	if err := s.server.Stop(); err != nil {
		s.t.Error(err)
	}
}

// mend ends a fault, when it has struck some times, with a start, which finds all acknowledged work in the files.
func (s *faulty) mend(f *fault) {
	struck := time.Now().Add(30 * time.Second)
	for f.enough() != nil && time.Now().Before(struck) {
		time.Sleep(100 * time.Millisecond)
	}
	f.turn(false)
	s.stop()
	s.cfg.Faults.Stores.Targets = config.FaultInjectionTargets{}
	s.start()
}
