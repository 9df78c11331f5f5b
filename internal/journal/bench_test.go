package journal_test

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"longhaul/a2a"
	"longhaul/internal/journal"
	"longhaul/internal/test"
	"longhaul/opt"
	"longhaul/opt/access"
	"longhaul/opt/shown"
)

// BenchmarkRecord moves tasks of many objectives, one event at a time.
func BenchmarkRecord(b *testing.B) {
	for _, callers := range []int{1, 64} {
		for _, sync := range []string{"full", "normal"} {
			b.Run(fmt.Sprintf("callers=%d/sync=%s", callers, sync), func(b *testing.B) { benchRecord(b, callers, sync) })
		}
	}
}

func benchRecord(b *testing.B, callers int, level string) {
	j := openWith(b, journal.Config{Path: file(b), Sync: level})
	const objectives = 512
	scribes := make([]*scribe, objectives)
	for i := range scribes {
		scribes[i] = begin(b, j, newObjective())
		scribes[i].record(planAdded(scribes[i].objective, 0, 2))
	}
	var next atomic.Int64
	took := make([][]time.Duration, callers)
	var wg sync.WaitGroup
	b.ResetTimer()
	for c := range callers {
		wg.Go(func() {
			for i := next.Add(1); i <= int64(b.N); i = next.Add(1) {
				s := scribes[(c+int(i/int64(callers))*callers)%objectives]
				s.mu.Lock()
				start := time.Now()
				s.record(opt.Event{Kind: opt.TaskMoved, PlanID: s.plan(0), TaskID: s.task(0, 0), To: string(moves[i%2]), Status: agentMessage(fmt.Sprint("say-", i%2), "Still at it")})
				took[c] = append(took[c], time.Since(start))
				s.mu.Unlock()
			}
		})
	}
	wg.Wait()
	b.StopTimer()
	all := slices.Concat(took...)
	slices.Sort(all)
	b.ReportMetric(float64(all[len(all)/2].Microseconds()), "p50-µs")
	b.ReportMetric(float64(all[len(all)*99/100].Microseconds()), "p99-µs")
	b.ReportMetric(float64(len(all))/b.Elapsed().Seconds(), "events/s")
}

var moves = []opt.TaskState{opt.TaskWorking, opt.TaskInputRequired}

// BenchmarkLists reads the first pages of lists from journals with more and more tasks,
// all of which have ended but a few.
func BenchmarkLists(b *testing.B) {
	for _, stored := range []int{1_000, 100_000, 1_000_000} {
		for _, database := range []struct {
			name string
			open func(*testing.B) *journal.Journal
		}{
			{"sqlite", func(b *testing.B) *journal.Journal { return openFile(b, file(b)) }},
			{"postgres", func(b *testing.B) *journal.Journal { return openURL(b, database(b)) }},
		} {
			b.Run(fmt.Sprintf("%s/tasks=%d", database.name, stored), func(b *testing.B) {
				if testing.Short() && stored > 100_000 {
					b.Skip("takes a minute to fill")
				}
				benchLists(b, database.open(b), stored)
			})
		}
	}
}

func benchLists(b *testing.B, j *journal.Journal, stored int) {
	ctx := b.Context()
	s := brief(b, j, 1)
	const tasks = 3 // of an objective
	test.OK(b, j.Fill(ctx, s.objective.ID, stored/tasks, time.Millisecond))
	begin(b, j, newObjective())
	list := func(name string, read func() (listed, total int, err error)) {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if listed, total, err := read(); err != nil || listed == 0 || total == 0 {
					b.Fatal(listed, total, err)
				}
			}
		})
	}
	for name, f := range map[string]shown.TaskFilter{
		"all": {}, "completed": {State: a2a.Completed}, "context": {ContextID: s.objective.ContextID}, "submitted": {State: a2a.Submitted},
	} {
		f.Limit = 50
		list("Tasks/"+name, func() (int, int, error) {
			views, total, err := j.Tasks(ctx, tenant, f)
			return len(views), total, err
		})
	}
	for name, f := range map[string]shown.ObjectiveFilter{"all": {}, "completed": {Status: opt.ObjectiveCompleted}} {
		f.Limit = 50
		list("Objectives/"+name, func() (int, int, error) {
			found, total, err := j.Objectives(ctx, tenant, f)
			return len(found), total, err
		})
	}
}

// BenchmarkUsage reads what counts for a quota, as each step does, of work that has used something 300,000 times:
// whole, and with most of it added up before.
func BenchmarkUsage(b *testing.B) {
	now := time.Now()
	j := openWith(b, journal.Config{Path: file(b), Sync: "normal", Now: func() time.Time { return now }})
	o := newObjective()
	begin(b, j, o)
	err := j.Script(b.Context(), fmt.Sprintf(`INSERT INTO costs (objective_id, seq, tenant, context_id, plan_id, task_id, model, at, input_tokens, cached_tokens, output_tokens, cost, seconds)
		WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300000)
		SELECT '%s', -i, '%s', '%s', '', '', 'm', %d - i * 60000, 1, 0, 1, 1, 1 FROM n`, o.ID, tenant, o.ContextID, now.UnixMilli()))
	test.OK(b, err)
	for _, quota := range []access.Quota{"cost-in-all", "context-cost-in-all", "time-in-all", "context-time-in-all"} {
		for name, step := range map[string]time.Duration{"whole": time.Hour, "added-up": 0} {
			b.Run(string(quota)+"/"+name, func(b *testing.B) {
				for b.Loop() {
					now = now.Add(step)
					if n, err := j.Usage(b.Context(), tenant, o.ContextID, quota); n != 300_000 || err != nil {
						b.Fatal(n, err)
					}
				}
			})
		}
	}
}
