// Package compose_test starts what docker-compose.yml describes, as plain processes,
// and uses it the way clients and operators do.
package compose_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"longhaul/dev/e2e/harness"
	"longhaul/dev/topology"
	"longhaul/internal/test"
)

// limit bounds everything.
const limit = 10 * time.Minute

// start starts the topology, whose processes end with the test. Messages are scripts
// for the executor echo.
func start(ctx context.Context, t *testing.T) *topology.Topology {
	t.Helper()
	top := topology.Run(ctx, t, topology.Options{Env: map[string][]string{topology.Longhaul: {"LONGHAUL_ECHO=true", "LONGHAUL_FALLBACK=echo"}}})
	t.Cleanup(func() {
		if t.Failed() {
			show(t, top)
		}
	})
	return top
}

// show shows the ends of all logs.
func show(t *testing.T, top *topology.Topology) {
	for _, p := range top.Processes("") {
		log, err := os.ReadFile(p.LogPath) // not there any more if the test has stopped everything
		t.Logf("end of the log of %s, which was started again %d times: %v\n%s", p.Name, p.Restarts(), err, log[max(0, len(log)-2000):])
	}
}

func TestTopology(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	top := start(ctx, t)
	proxy := harness.NewClient("http://" + top.Addr("proxy", 7420))
	a, b := harness.NewClient("http://"+top.Addr("api-a", 7420)), harness.NewClient("http://"+top.Addr("api-b", 7420))

	works(ctx, t, proxy, b, "first")
	overGRPC(ctx, t, top.Addr("proxy", 7421))
	readsWhole(ctx, t, proxy, "first")

	test.OK(t, top.Scale(ctx, "worker", 2))
	top.Process("worker-1").Kill()
	works(ctx, t, proxy, a, "other-worker")

	// A process that ends by itself is started again, as Docker does.
	survivor := top.Process("worker-2")
	test.OK(t, survivor.Signal(syscall.SIGKILL))
	harness.Eventually(t, time.Minute, "worker-2 runs again", func() error {
		if survivor.Restarts() != 1 {
			return fmt.Errorf("it was started again %d times", survivor.Restarts())
		}
		return survivor.Healthy(ctx)
	})

	// The proxy uses the process that is left.
	top.Process("api-a-1").Kill()
	works(ctx, t, proxy, proxy, "one-api")
	test.OK(t, top.Process("api-a-1").Start(ctx))

	for _, name := range []string{"postgres-1", "temporal-1"} {
		top.Process(name).Kill()
		if name == "temporal-1" {
			reads(ctx, t, proxy)
		}
		test.OK(t, top.Process(name).Start(ctx))
		works(ctx, t, proxy, a, "after-"+name)
	}
	ends(t, top)
}

// works runs an objective with an approval: it is sent and followed by one client,
// and answered by another.
func works(ctx context.Context, t *testing.T, sender, answerer *harness.Client, id string) {
	t.Helper()
	began := time.Now()
	defer func() { t.Logf("%s took %v", id, time.Since(began)) }()
	task := sender.MustSendUntil(ctx, t, harness.Message{ID: id, Text: "x", Plan: harness.NewPlan("plan", "say one", "approve Go on?; say two")})
	follower := sender.Follow(ctx, task.ID, 0)
	if _, err := follower.UntilState(ctx, "INPUT_REQUIRED"); err != nil {
		t.Fatalf("%s: %v", id, err)
	}
	var waiting *harness.Task
	err := harness.Repeat(ctx, func(ctx context.Context) (err error) {
		waiting, err = answerer.Get(ctx, task.ID)
		return err
	})
	if err != nil || waiting.Gate == nil {
		t.Fatalf("%s: the other API has %+v, %v", id, waiting, err)
	}
	if _, err := answerer.SendUntil(ctx, harness.Reply(id+"-reply", task.ID, waiting.Gate.ID, "accept")); err != nil {
		t.Fatalf("%s: %v", id, err)
	}
	if _, err := follower.UntilState(ctx, "COMPLETED"); err != nil {
		t.Fatalf("%s: %v", id, err)
	}
}

// reads reads through the proxy for longer than its health checks take: a process that they
// find not ready would get no calls.
func reads(ctx context.Context, t *testing.T, proxy *harness.Client) {
	t.Helper()
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for end := time.After(8 * time.Second); ; {
		if _, err := proxy.List(ctx, map[string]any{"pageSize": 1}); err != nil {
			t.Fatalf("a list while Temporal is down: %v", err)
		}
		select {
		case <-end:
			return
		case <-tick.C:
		}
	}
}

// readsWhole reads one stream thousands of times through the proxy. None ends early: a proxy
// that sends a request on before it has read the end of it cuts one in a thousand off.
func readsWhole(ctx context.Context, t *testing.T, proxy *harness.Client, id string) {
	t.Helper()
	task, err := proxy.SendUntil(ctx, harness.Message{ID: id, Text: "x", Plan: harness.NewPlan("plan", "say one", "approve Go on?; say two")})
	test.OK(t, err)
	var readers sync.WaitGroup
	for range 4 {
		readers.Go(func() {
			for range 1000 {
				test.Error(t, "the call", nil, test.Err(proxy.All(ctx, task.ID, 0)))
			}
		})
	}
	readers.Wait()
}

// ends stops everything, and nothing is left.
func ends(t *testing.T, top *topology.Topology) {
	t.Helper()
	var pids []int
	for _, p := range top.Processes("") {
		if p.Running() {
			pids = append(pids, p.PID())
		}
	}
	if want := 6; len(pids) != want { // one worker was killed, and the others are one of each service
		t.Errorf("%d processes run, want %d", len(pids), want)
	}
	test.OK(t, top.Stop())
	for _, pid := range pids {
		if err := syscall.Kill(pid, 0); !errors.Is(err, syscall.ESRCH) {
			t.Errorf("process %d is left: %v", pid, err)
		}
	}
	if _, err := os.Stat(top.Dir()); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%s is left: %v", top.Dir(), err)
	}
	links, err := filepath.Glob("/proc/[0-9]*/cwd") // children of processes, too
	test.OK(t, err)
	for _, link := range links {
		if at, err := os.Readlink(link); err == nil && strings.HasPrefix(at, top.Dir()) {
			t.Errorf("a process is left in %s: %s", at, link)
		}
	}
}
