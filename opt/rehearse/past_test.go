package rehearse_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"longhaul/a2a"
	"longhaul/internal/test"
	"longhaul/opt"
	"longhaul/opt/rehearse"
)

// Runs with other tasks are left out, and the time of a task has all its attempts. After the last the end is still to come.
func TestPastOf(t *testing.T) {
	begin := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	likely := rehearsed(t, book, rehearse.Assumptions{})
	at := func(n int) rehearse.PastTask {
		return rehearse.PastTask{Ended: a2a.At(begin.Add(time.Duration(n) * time.Hour))}
	}
	tasks := map[string]rehearse.PastTask{"1-0": at(1), "1-1": at(2), "1-2": at(4), "1-3": at(7), "1-4": at(8)}
	other := map[string]rehearse.PastTask{"1-0": at(1)}
	past := likely.PastOf([]rehearse.PastRun{{Began: a2a.At(begin), Ended: a2a.At(begin.Add(9 * time.Hour)), Tasks: tasks}, {Tasks: other}})
	if len(past) != 1 {
		t.Fatalf("%d runs were used, want 1", len(past))
	}
	got := rehearsed(t, book, rehearse.Assumptions{Past: past})
	if took := 9 * time.Hour; got.Took.Likely != took || got.Status != opt.ObjectiveCompleted || got.Past != 1 {
		t.Errorf("got\n%s", lines(got))
	}
}

// A busy is a machine on which all tasks of a run are slow together, and cost more.
type busy struct{ *rand.Rand }

func (b busy) around(d time.Duration, by float64) time.Duration {
	return time.Duration(float64(d) * math.Exp(by*b.NormFloat64()))
}

// run returns a run of book, with what it took and cost.
func (b busy) run() (run rehearse.PastRun, took time.Duration, cost opt.Money) {
	begin := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	load := b.around(time.Minute, 0.5)
	task := func(place string, after time.Duration) time.Duration {
		takes := b.around(load, 0.2)
		is := rehearse.PastTask{Ended: a2a.At(begin.Add(after + takes))}
		if place != "1-3" { // people cost nothing
			is.Used.Cost = opt.Money(takes)
		}
		cost += is.Used.Cost
		run.Tasks[place] = is
		return after + takes
	}
	run = rehearse.PastRun{Began: a2a.At(begin), Tasks: map[string]rehearse.PastTask{}}
	build := task("1-0", 0)
	release := task("1-3", max(task("1-1", build), task("1-2", build)))
	took = task("1-4", release) + b.around(5*time.Second, 0.5)
	run.Ended = a2a.At(begin.Add(took))
	return run, took, cost
}

// holds returns for which share of the next runs the ranges of reports hold, of the time and of the costs.
func (b busy) holds(reports int, report func() *rehearse.Report) (took, cost float64) {
	const next = 25
	in := func(yes bool) float64 {
		if yes {
			return 1 / float64(next*reports)
		}
		return 0
	}
	for range reports {
		r := report()
		for range next {
			_, d, c := b.run()
			took += in(d >= r.Took.Low && d <= r.Took.High)
			cost += in(c >= r.Cost.Low && c <= r.Cost.High)
		}
	}
	return took, cost
}

// Ranges from past runs hold for as many of the next ones as they say, though all tasks of a run are slow together: a
// rehearsal takes all of a run. With tasks that are drawn alone they hold for less.
func TestRun_coverage(t *testing.T) {
	near := func(got, want float64) bool { return math.Abs(got-want) < 0.07 }
	b := busy{rand.New(rand.NewPCG(1, 1))}
	likely := rehearsed(t, book, rehearse.Assumptions{})
	past := func(n int) []map[string]rehearse.Work {
		var runs []rehearse.PastRun
		for range n {
			run, _, _ := b.run()
			runs = append(runs, run)
		}
		return likely.PastOf(runs)
	}
	for i, want := range []float64{0.6, 0.8} {
		n, share := 4+5*i, 0.0
		took, cost := b.holds(30, func() *rehearse.Report {
			r := rehearsed(t, book, rehearse.Assumptions{Past: past(n)})
			share = r.Took.Share
			return r
		})
		if share != want || !near(took, want) || !near(cost, want) {
			t.Errorf("from %d runs, the ranges hold for %.2f of the times and %.2f of the costs, and say %.2f; want %.2f", n, took, cost, share, want)
		}
	}
	alone := func() *rehearse.Report {
		tasks := map[string]rehearse.Work{}
		for _, run := range past(20) {
			for _, task := range likely.Tasks {
				w := tasks[task.Name]
				w.Takes = rehearse.SpreadOf(append(w.Takes, run[rehearse.PlaceOf(task.ID)].Takes...)...)
				w.Cost = rehearse.SpreadOf(append(w.Cost, run[rehearse.PlaceOf(task.ID)].Cost...)...)
				tasks[task.Name] = w
			}
		}
		return rehearsed(t, book, rehearse.Assumptions{Tasks: tasks, Samples: 40})
	}
	took, cost := b.holds(12, alone)
	if t.Logf("with tasks drawn alone, they hold for %.2f and %.2f", took, cost); max(took, cost) > 0.65 {
		t.Error("that is as good")
	}
}

// Where people are not as in past runs, these are taken equally often; from one run, no share of others follows.
func TestRun_pastWithOthers(t *testing.T) {
	b, likely := busy{rand.New(rand.NewPCG(1, 1))}, rehearsed(t, book, rehearse.Assumptions{})
	ann := rehearse.Person{Name: "ann", Groups: []string{"release"}, After: rehearse.SpreadOf(time.Hour, 3*time.Hour)}
	run, _, _ := b.run()
	for runs, want := range map[int]string{1: "2h (1h to 3h)", 3: "2h (1h to 3h in 50% of runs)", 9: "2h (1h to 3h in 80% of runs)"} {
		past := likely.PastOf(slices.Repeat([]rehearse.PastRun{run}, runs))
		got := rehearsed(t, book, rehearse.Assumptions{Past: past, Samples: 60, People: []rehearse.Person{ann, {Name: "bob", Groups: ann.Groups, After: ann.After}}})
		hours := func(d time.Duration) string { return fmt.Sprintf("%.0fh", d.Hours()) }
		test.Is(t, fmt.Sprintf("from %d runs", runs), want, got.Took.Text(hours))
	}
}
