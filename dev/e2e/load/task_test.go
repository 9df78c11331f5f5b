package load_test

import (
	"context"
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.temporal.io/sdk/client"

	"longhaul/dev/e2e/harness"
	"longhaul/dev/temporald"
	"longhaul/internal/cli"
	"longhaul/internal/serve"
)

var rounds = flag.Int("rounds", 1, "how many rounds TestWorkflowTasks runs, each with large messages and with small ones")

// TestWorkflowTasks prints how long workflow tasks take in the worker while
// messages of 15 MiB arrive beside small objectives, and while small messages
// take their place. The service runs in this process, where the SDK's timers can
// be read.
func TestWorkflowTasks(t *testing.T) {
	const largeSize = 15 << 20
	var times taskTimes
	c := startHere(t, &times)
	for round := range *rounds {
		for _, size := range []int{largeSize, 16} {
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
			prefix := fmt.Sprintf("r%d-%d", round, size)
			stop, small := keepBusy(ctx, c, *beside, prefix)
			times.reset()
			for i := range *large {
				id := fmt.Sprintf("%s-%04d", prefix, i)
				task, err := c.Send(ctx, harness.Message{ID: id, Wait: true, Text: "x", Plan: harness.NewPlan("p", "say a"), Data: strings.Repeat(id, size/len(id)+1)})
				if err != nil || task.State != "COMPLETED" {
					t.Fatalf("message %s: %+v, %v", id, task, err)
				}
			}
			stop()
			others, err := small()
			cancel()
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("messages of %d bytes, %d small objectives: %s", size, len(others), times.summary())
		}
	}
}

// startHere starts the service in this process, with times of its workflow tasks.
func startHere(t *testing.T, times *taskTimes) *harness.Client {
	t.Helper()
	addr := harness.FreeAddr(t)
	build := serve.Build{Embed: temporald.Embed, Temporal: func(o *client.Options) { o.MetricsHandler = times }}
	args := append([]string{"dev", "--addr", addr, "--temporal-addr", harness.FreeAddr(t), "--temporal-ui-addr", "", "--data-dir", t.TempDir(), "--log-level", "error"}, patience...)
	ctx, cancel := context.WithCancel(t.Context())
	var ended sync.WaitGroup
	ended.Go(func() { cli.Run(ctx, args, io.Discard, t.Output(), build) })
	t.Cleanup(func() { cancel(); ended.Wait() })
	c := harness.NewClient("http://" + addr)
	first, stop := context.WithTimeout(ctx, time.Minute)
	defer stop()
	err := harness.Repeat(first, func(ctx context.Context) error {
		_, err := c.Send(ctx, harness.Message{ID: "first", Wait: true, Text: "x", Plan: harness.NewPlan("p", "say a")})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// taskTimes holds how long workflow tasks took in the worker. It implements
// [client.MetricsHandler].
type taskTimes struct {
	mu   sync.Mutex
	took []time.Duration
}

func (m *taskTimes) WithTags(map[string]string) client.MetricsHandler { return m }
func (m *taskTimes) Counter(string) client.MetricsCounter             { return none{} }
func (m *taskTimes) Gauge(string) client.MetricsGauge                 { return none{} }

func (m *taskTimes) Timer(name string) client.MetricsTimer {
	if name != "temporal_workflow_task_execution_latency" {
		return none{}
	}
	return m
}

func (m *taskTimes) Record(took time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.took = append(m.took, took)
}

func (m *taskTimes) reset() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.took = nil
}

func (m *taskTimes) summary() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.took) == 0 {
		return "no workflow task"
	}
	slices.Sort(m.took)
	over, _ := slices.BinarySearch(m.took, 100*time.Millisecond)
	return fmt.Sprintf("%d workflow tasks, median %v, 99 of 100 below %v, %d over 100 ms, longest %v",
		len(m.took), m.took[len(m.took)/2], m.took[len(m.took)*99/100], len(m.took)-over, m.took[len(m.took)-1])
}

// none ignores other metrics.
type none struct{}

func (none) Inc(int64)            {}
func (none) Update(float64)       {}
func (none) Record(time.Duration) {}
