package journal_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"longhaul/a2a"
	"longhaul/internal/journal"
	"longhaul/opt"
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
	j := openBench(b, level)
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

func openBench(b *testing.B, level string) *journal.Journal {
	j, err := journal.Open(b.Context(), journal.Config{Path: filepath.Join(b.TempDir(), "journal.db"), Sync: level})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { j.Close() })
	return j
}

// BenchmarkRead reads from a journal of 2,000 objectives with 9 tasks.
func BenchmarkRead(b *testing.B) {
	j := openBench(b, "normal")
	scribes := make([]*scribe, 2000)
	for i := range scribes {
		s := begin(b, j, newObjective())
		scribes[i] = s
		var events []opt.Event
		for p := range 2 {
			events = append(events, planAdded(s.objective, p, 4))
		}
		events = append(events,
			opt.Event{Kind: opt.TaskMoved, TaskID: s.objective.ID, To: string(opt.TaskWorking)},
			opt.Event{Kind: opt.TaskMoved, PlanID: s.plan(0), TaskID: s.task(0, 0), To: string(opt.TaskWorking)})
		s.record(events...)
	}
	run := func(name string, read func(i int) error) {
		b.Run(name, func(b *testing.B) {
			for i := range b.N {
				if err := read(i * 7 % len(scribes)); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	ctx := b.Context()
	all := opt.TaskWant{History: -1, Artifacts: true}
	run("Task/root", func(i int) error { _, err := j.Task(ctx, tenant, scribes[i].objective.ID, all); return err })
	run("Task/plan", func(i int) error { _, err := j.Task(ctx, tenant, scribes[i].task(0, 0), all); return err })
	run("Peek", func(i int) error { _, _, err := j.Peek(ctx, tenant, scribes[i].objective.ID); return err })
	run("Events", func(i int) error { _, err := j.Events(ctx, scribes[i].objective.ID, 3, 100); return err })
	run("Objective", func(i int) error { _, err := j.Objective(ctx, tenant, scribes[i].objective.ID); return err })
	run("Tasks/context", func(i int) error {
		_, _, err := j.Tasks(ctx, tenant, opt.TaskFilter{ContextID: scribes[i].objective.ContextID, Limit: 50})
		return err
	})
	run("Tasks/all", func(int) error { _, _, err := j.Tasks(ctx, tenant, opt.TaskFilter{Limit: 50}); return err })
	run("Tasks/state", func(int) error {
		_, _, err := j.Tasks(ctx, tenant, opt.TaskFilter{Limit: 50, State: a2a.Submitted})
		return err
	})
	run("Objectives", func(int) error {
		_, _, err := j.Objectives(ctx, tenant, opt.ObjectiveFilter{Limit: 50})
		return err
	})
}

// BenchmarkRecordAll records objectives of two tasks from beginning to end, in a batch each.
func BenchmarkRecordAll(b *testing.B) {
	for name, open := range map[string]func(*testing.B) *journal.Journal{
		"sqlite":   func(b *testing.B) *journal.Journal { return openBench(b, "normal") },
		"postgres": func(b *testing.B) *journal.Journal { return openURL(b, database(b)) },
	} {
		b.Run(name, func(b *testing.B) {
			j := open(b)
			b.ReportAllocs()
			for i := int64(0); b.Loop(); i++ {
				brief(b, j, i)
			}
		})
	}
}

// BenchmarkLists reads the first pages of lists from journals with more and more tasks,
// all of which have ended but a few.
func BenchmarkLists(b *testing.B) {
	for _, stored := range []int{1_000, 100_000, 1_000_000} {
		for _, database := range []struct {
			name string
			open func(*testing.B) *journal.Journal
		}{
			{"sqlite", func(b *testing.B) *journal.Journal { return openBench(b, "normal") }},
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
	if err := j.Fill(ctx, s.objective.ID, stored/tasks, time.Millisecond); err != nil {
		b.Fatal(err)
	}
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
	for name, f := range map[string]opt.TaskFilter{
		"all": {}, "completed": {State: a2a.Completed}, "context": {ContextID: s.objective.ContextID}, "submitted": {State: a2a.Submitted},
	} {
		f.Limit = 50
		list("Tasks/"+name, func() (int, int, error) {
			views, total, err := j.Tasks(ctx, tenant, f)
			return len(views), total, err
		})
	}
	for name, f := range map[string]opt.ObjectiveFilter{"all": {}, "completed": {Status: opt.ObjectiveCompleted}} {
		f.Limit = 50
		list("Objectives/"+name, func() (int, int, error) {
			found, total, err := j.Objectives(ctx, tenant, f)
			return len(found), total, err
		})
	}
}
