package load_test

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"
	"go.temporal.io/sdk/client"
	"golang.org/x/sync/errgroup"
	"google.golang.org/protobuf/proto"

	"longhaul/dev/e2e/harness"
	"longhaul/internal/test"
)

var (
	large  = flag.Int("large", 3, "how many large messages TestLargeMessages sends")
	beside = flag.Int("beside", 10, "how many small objectives TestLargeMessages keeps going meanwhile")
)

// TestLargeMessages sends messages of 15 MiB while small objectives are carried
// out. Histories must not hold the contents, the journal must hold one copy, and
// no workflow task may take so long that the SDK reports a deadlock. With -v it
// prints the times; -large and -beside make the run longer.
func TestLargeMessages(t *testing.T) {
	const size = 15 << 20
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	site := harness.NewSite(t, harness.Dev, patience...)
	server := site.Start(harness.AllInOne)
	c := site.Client()
	stop, small := keepBusy(ctx, c, *beside, "small")

	var ids []string
	var took []time.Duration
	for i := range *large {
		id := fmt.Sprintf("large-%04d", i)
		began := time.Now()
		task, err := c.Send(ctx, harness.Message{ID: id, Wait: true, Text: "say done", Data: strings.Repeat(id, size/len(id))})
		if err != nil || task.State != "COMPLETED" {
			t.Fatalf("large message %d: %+v, %v", i, task, err)
		}
		took, ids = append(took, time.Since(began)), append(ids, task.ID)
	}
	stop()
	others := test.Value(small())(t)
	checkHistories(t, site, ids, others)
	slices.Sort(took)
	t.Logf("answers to large messages: median %v, longest %v", took[len(took)/2], took[len(took)-1])

	server.Stop()
	if server.Logged("TMPRL1101") == nil {
		t.Error("the SDK reported a deadlock")
	}
	journal := test.Value(os.Stat(filepath.Join(site.Dir, "journal.db")))(t)
	each := float64(journal.Size()) / float64(*large) / size
	t.Logf("the journal has %.2f times the size of the large messages, %d small objectives included", each, len(others))
	if each < 1 || each > 1.5 {
		t.Errorf("the journal has %.2f times the size of the large messages, want one copy", each)
	}
}

// keepBusy sends small objectives of three tasks, n at a time, until stop is
// called. Then ids waits for those under way and returns the ids of all.
func keepBusy(ctx context.Context, c *harness.Client, n int, prefix string) (stop func(), ids func() ([]string, error)) {
	done := make(chan struct{})
	var mu sync.Mutex
	var all []string
	var group errgroup.Group
	for i := range n {
		group.Go(func() error {
			for k := 0; ; k++ {
				select {
				case <-done:
					return nil
				default:
				}
				task, err := c.Send(ctx, harness.Message{ID: fmt.Sprintf("%s-%d-%d", prefix, i, k), Wait: true, Text: "x", Plan: harness.NewPlan("p", "say a", "say b", "say c")})
				if err != nil || task.State != "COMPLETED" {
					return fmt.Errorf("small objective: %+v, %w", task, err)
				}
				mu.Lock()
				all = append(all, task.ID)
				mu.Unlock()
			}
		})
	}
	return func() { close(done) }, func() ([]string, error) {
		err := group.Wait()
		return all, err
	}
}

// checkHistories fails the test if an event of a large objective's workflows has
// the size of a blob. It prints the longest workflow tasks.
func checkHistories(t *testing.T, site *harness.Site, large, small []string) {
	t.Helper()
	c := site.Temporal(t)
	defer c.Close()
	of := func(ids []string) (longest time.Duration, largest int) {
		for _, id := range ids {
			for _, workflow := range []string{id, "plan-" + strings.TrimPrefix(id, "obj-") + "-1"} {
				d, size, err := measure(t.Context(), c, workflow)
				if err != nil {
					t.Fatalf("history of %s: %v", workflow, err)
				}
				longest, largest = max(longest, d), max(largest, size)
			}
		}
		return longest, largest
	}
	longest, largest := of(large)
	if largest >= 64<<10 {
		t.Errorf("the largest event in a history of a large message has %d bytes", largest)
	}
	t.Logf("large messages: longest workflow task %v, largest event %d bytes", longest, largest)
	longest, largest = of(small[:min(len(small), 300)])
	t.Logf("small objectives: longest workflow task %v, largest event %d bytes", longest, largest)
}

// measure returns the duration of the longest workflow task of a workflow, from
// its start to its completion, and the size of its largest event.
func measure(ctx context.Context, c client.Client, workflowID string) (longest time.Duration, largest int, err error) {
	var started *historypb.HistoryEvent
	history := c.GetWorkflowHistory(ctx, workflowID, "", false, enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	for history.HasNext() {
		e, err := history.Next()
		if err != nil {
			return 0, 0, err
		}
		largest = max(largest, proto.Size(e))
		switch e.EventType {
		case enumspb.EVENT_TYPE_WORKFLOW_TASK_STARTED:
			started = e
		case enumspb.EVENT_TYPE_WORKFLOW_TASK_COMPLETED:
			longest = max(longest, e.EventTime.AsTime().Sub(started.EventTime.AsTime()))
		}
	}
	return longest, largest, nil
}
