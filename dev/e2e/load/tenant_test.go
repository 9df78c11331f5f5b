package load_test

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"

	"longhaul/dev/e2e/harness"
	"longhaul/internal/test"
	"longhaul/opt"
	"longhaul/workflows"
)

var (
	queued = flag.Int("queued", 200, "tasks of the large tenant in TestTenants")
	each   = flag.Int("each", 1, "tasks of each of its objectives")
)

const (
	tenantSlots = 4               // tasks at a time
	tenantJob   = 1000            // milliseconds that a task of the large tenant waits, on average
	tenantFew   = 5               // tasks of the small tenant
	tenantWaits = 6 * tenantSlots // tasks that one of the small tenant may wait for; a worker takes up to 80
)

// A tenant with a few tasks does not wait for the many tasks of another one, if the
// worker has no free slot and if the executor has reached its limit. Processes have time
// to spare here: only tasks wait. None of the large tenant ends before all of them wait, which
// takes a minute on a busy machine.
func TestTenants(t *testing.T) {
	for name, flags := range map[string][]string{
		"slots": {"--max-tasks", fmt.Sprint(tenantSlots)},
		"limit": {"--limit", fmt.Sprint("echo=", tenantSlots), "--max-tasks", fmt.Sprint(10 * tenantSlots)},
	} {
		t.Run(name, func(t *testing.T) {
			h := newTenants(t, flags...)
			alone, _ := h.few("alone")
			h.many(*queued)
			beside, most := h.few("beside")
			t.Logf("the small tenant waits %v beside %d tasks of another (median of %d), and %v alone: %.1f times as long; at most %d other tasks began before one of its own",
				beside, *queued, tenantFew, alone, beside.Seconds()/alone.Seconds(), most)
			if left := h.left(); most > tenantWaits || left < tenantWaits {
				t.Errorf("%d tasks of the large tenant began before one of the small tenant, and %d are left; want at most %d, and no fewer left",
					most, left, tenantWaits)
			}
		})
	}
}

// tenants are two tenants of one service.
type tenants struct {
	t            *testing.T
	ctx          context.Context
	site         *harness.Site
	control      *harness.Control
	temporal     client.Client
	tally        string
	large, small *harness.Client
	own          map[string]bool // objectives of the small tenant
}

func newTenants(t *testing.T, flags ...string) *tenants {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Minute)
	t.Cleanup(cancel)
	site := harness.NewSite(t, harness.Crashable, slices.Concat(patience, flags)...)
	h := &tenants{t: t, ctx: ctx, site: site, control: harness.NewControl(t), tally: filepath.Join(t.TempDir(), "tally"), own: map[string]bool{}}
	site.Env = []string{h.control.Env(), "CRASHABLE_TALLY=" + h.tally, "LONGHAUL_AUTH=keys", "LONGHAUL_RATE_LIMIT=0", "LONGHAUL_MAX_CALLS=0", "LONGHAUL_MAX_STREAMS=0"}
	site.Start(harness.AllInOne)
	h.temporal = site.Temporal(t)
	t.Cleanup(h.temporal.Close)
	of := func(tenant string) *harness.Client {
		return site.Client().With("Authorization", "Bearer "+site.Key(tenant, "--tenant", tenant, "--scopes", "all"))
	}
	h.large, h.small = of("large"), of("small")
	return h
}

// many has the large tenant begin tasks, and returns when nothing but these tasks waits.
func (h *tenants) many(n int) {
	h.t.Helper()
	var all sync.WaitGroup
	ids := make(chan int)
	for range 8 {
		all.Go(func() {
			for i := range ids {
				tasks := make([]string, *each)
				for k := range tasks {
					tasks[k] = fmt.Sprintf("await all; work %dms; say done", tenantJob/2+rand.IntN(tenantJob))
				}
				if _, err := h.large.SendUntil(h.ctx, harness.Message{ID: fmt.Sprint("many-", i), Text: "many", Plan: harness.NewPlan("many", tasks...).Unordered()}); err != nil {
					h.t.Error(err)
				}
			}
		})
	}
	objectives := n / *each
	for i := range objectives {
		ids <- i
	}
	close(ids)
	all.Wait()
	harness.Eventually(h.t, 5*time.Minute, "all plans of the large tenant have begun", func() error {
		begun, err := h.temporal.CountWorkflow(h.ctx, &workflowservice.CountWorkflowExecutionsRequest{
			Query: fmt.Sprintf("WorkflowType = %q AND LonghaulTenant = 'large'", workflows.PlanWorkflow),
		})
		if err == nil && begun.GetCount() < int64(objectives) {
			err = fmt.Errorf("%d of %d have", begun.GetCount(), objectives)
		}
		return err
	})
	h.control.Open("all", "")
}

// few has the small tenant do tasks one after another. It returns the median of the times
// from the message to the beginning of the task, and how many tasks of others began at most
// while one waited in the queue.
func (h *tenants) few(name string) (median time.Duration, most int) {
	h.t.Helper()
	var waits []time.Duration
	for i := range tenantFew {
		sent := time.Now()
		task := h.small.MustSendUntil(h.ctx, h.t, harness.Message{ID: fmt.Sprint(name, "-", i), Text: "work 1ms; say done"})
		h.own[objective(h.t, task.ID)] = true
		test.OK(h.t, test.Err(h.small.Follow(h.ctx, task.ID, 0).UntilState(h.ctx, "COMPLETED")))
		others, since := 0, h.queued(objective(h.t, task.ID))
		for _, l := range h.begins() {
			switch {
			case l.At.Before(since):
			case objective(h.t, l.Key) == objective(h.t, task.ID):
				waits, most = append(waits, l.At.Sub(sent)), max(most, others)
			case len(waits) == i:
				others++
			}
		}
	}
	if len(waits) != tenantFew {
		h.t.Fatalf("%d tasks of the small tenant began, want %d", len(waits), tenantFew)
	}
	slices.Sort(waits)
	return waits[len(waits)/2], most
}

// queued returns when the task of an objective came into the queue.
func (h *tenants) queued(objectiveID string) time.Time {
	h.t.Helper()
	history := h.temporal.GetWorkflowHistory(h.ctx, opt.PlanID(objectiveID, 1), "", false, enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	for history.HasNext() {
		e := test.Value(history.Next())(h.t)
		if e.GetActivityTaskScheduledEventAttributes().GetActivityType().GetName() == "Run" {
			return e.GetEventTime().AsTime()
		}
	}
	h.t.Fatalf("no task of %s came into a queue", objectiveID)
	return time.Time{}
}

// left returns how many tasks of the large tenant have not begun.
func (h *tenants) left() int {
	begun := 0
	for _, l := range h.begins() {
		if !h.own[objective(h.t, l.Key)] {
			begun++
		}
	}
	return *queued - begun
}

// begins lists the beginnings of tasks in order.
func (h *tenants) begins() []harness.TallyLine {
	h.t.Helper()
	list := slices.DeleteFunc(harness.Tally(h.t, h.tally), func(l harness.TallyLine) bool { return l.What != "begin" })
	slices.SortStableFunc(list, func(a, b harness.TallyLine) int { return a.At.Compare(b.At) })
	return list
}

// objective returns the objective of a task, or of the key of a round.
func objective(t *testing.T, id string) string {
	t.Helper()
	id, _, _ = strings.Cut(id, ":")
	ref, ok := opt.ParseID(id)
	if !ok {
		t.Fatalf("%q is no id of ours", id)
	}
	return ref.ObjectiveID
}
