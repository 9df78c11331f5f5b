package rehearse_test

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"longhaul/a2a"
	"longhaul/api/service/servicetest"
	"longhaul/opt"
	"longhaul/opt/rehearse"
)

// The ranges that come from half of some runs hold for about 80% of the other half.
func TestRun_pastRunsCoverOthers(t *testing.T) {
	plan, r := planOf(t, book), rand.New(rand.NewPCG(3, 4))
	likely, err := rehearse.Run(plan, message("go"), rehearse.Assumptions{})
	if err != nil {
		t.Fatal(err)
	}
	var inTime, inCost, n float64
	for range 2 {
		runs := make([]rehearse.PastRun, 100)
		for i := range runs {
			runs[i] = randomRun(t, plan, r)
		}
		past, used := likely.PastOf(runs[:50])
		if used != 50 {
			t.Fatalf("%d runs were used, want 50", used)
		}
		got, err := rehearse.Run(plan, message("go"), rehearse.Assumptions{Past: past, Runs: used})
		if err != nil {
			t.Fatal(err)
		}
		for _, run := range runs[50:] {
			took, cost := all(run)
			n++
			if took >= got.Took.Low && took <= got.Took.High {
				inTime++
			}
			if cost >= got.Cost.Low && cost <= got.Cost.High {
				inCost++
			}
		}
	}
	t.Logf("of %.0f runs that were held out, the ranges hold for %.0f%% of the times and %.0f%% of the costs", n, 100*inTime/n, 100*inCost/n)
	if least := min(inTime, inCost) / n; least < 0.65 || max(inTime, inCost)/n > 0.95 {
		t.Errorf("the ranges hold for %.2f of the times and %.2f of the costs, want about 0.8", inTime/n, inCost/n)
	}
}

// Runs with other tasks are left out, and the time of a task has all its attempts.
func TestPastOf(t *testing.T) {
	likely := rehearsed(t, book, rehearse.Assumptions{})
	at := func(n int) rehearse.PastTask {
		return rehearse.PastTask{Ended: a2a.At(servicetest.Start.Add(time.Duration(n) * time.Hour))}
	}
	tasks := map[string]rehearse.PastTask{"1-0": at(1), "1-1": at(2), "1-2": at(4), "1-3": at(7), "1-4": at(8)}
	other := map[string]rehearse.PastTask{"1-0": at(1)}
	past, used := likely.PastOf([]rehearse.PastRun{{Began: a2a.At(servicetest.Start), Tasks: tasks}, {Tasks: other}})
	if used != 1 {
		t.Fatalf("%d runs were used, want 1", used)
	}
	got := rehearsed(t, book, rehearse.Assumptions{Past: past, Runs: used})
	if took := 8 * time.Hour; got.Took.Likely != took || got.Status != opt.ObjectiveCompleted || got.Past != 1 {
		t.Errorf("got\n%s", lines(got))
	}
}

// randomRun runs the playbook with random figures.
func randomRun(t *testing.T, plan rehearse.Planner, r *rand.Rand) (run rehearse.PastRun) {
	about := func(d time.Duration) rehearse.Spread[time.Duration] {
		return rehearse.SpreadOf(time.Duration(float64(d) * math.Exp(r.NormFloat64()/2)).Round(time.Millisecond))
	}
	a := rehearse.Assumptions{Requester: "carol", At: servicetest.Start, Tasks: map[string]rehearse.Work{}}
	for i, name := range []string{"Build", "Test", "Scan", "Publish"} {
		a.Tasks[name] = rehearse.Work{Takes: about(time.Duration(10+i) * time.Minute), Cost: rehearse.SpreadOf(opt.Money(1 + r.IntN(1_000_000)))}
	}
	for _, name := range []string{"ann", "bob"} {
		a.People = append(a.People, rehearse.Person{Name: name, Groups: []string{"release"}, After: about(time.Hour)})
	}
	real := newReality(t, plan, a)
	real.play()
	run = rehearse.PastRun{Began: a2a.At(a.At), Tasks: map[string]rehearse.PastTask{}}
	for _, e := range real.world.Events(real.id) {
		e := e.Event
		place := rehearse.PlaceOf(e.TaskID)
		task := run.Tasks[place]
		switch {
		case e.PlanID == "":
			continue
		case e.Kind == opt.UsageAdded:
			task.Used = task.Used.Plus(*e.Usage)
		case e.Kind == opt.TaskMoved:
			task.Ended = e.At
		default:
			continue
		}
		run.Tasks[place] = task
	}
	return run
}

// all returns the time and the costs of a run.
func all(run rehearse.PastRun) (took time.Duration, cost opt.Money) {
	for _, t := range run.Tasks {
		took, cost = max(took, t.Ended.Time().Sub(run.Began.Time())), cost+t.Used.Cost
	}
	return took, cost
}
