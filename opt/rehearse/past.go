package rehearse

import (
	"time"

	"longhaul/a2a"
	"longhaul/opt"
)

// A PastRun is an objective that was completed: its tasks by [PlaceOf].
type PastRun struct {
	Began, Ended a2a.Time
	Tasks        map[string]PastTask
}

// A PastTask is a task of it.
type PastTask struct {
	Ended a2a.Time
	Used  opt.Usage
}

// PastOf returns how the tasks of r went in those past runs that had the same tasks, for [Assumptions]. A task has
// taken the time since the last of those that it waits for, with all its attempts and its wait for a free place.
func (r *Report) PastOf(runs []PastRun) (past []map[string]Work) {
	for _, run := range runs {
		if !r.like(run) {
			continue
		}
		works, last := map[string]Work{}, int64(0)
		for _, t := range r.Tasks {
			place := PlaceOf(t.ID)
			is := run.Tasks[place]
			works[place] = Work{Takes: SpreadOf(run.since(t)), Tokens: SpreadOf(is.Used.Input + is.Used.Output), Cost: SpreadOf(is.Used.Cost), whole: true}
			last = max(last, is.Ended.Millis())
		}
		works[""] = Work{Takes: SpreadOf(time.Duration(max(0, run.Ended.Millis()-last)) * time.Millisecond)}
		past = append(past, works)
	}
	return past
}

// together returns what all of some past runs have.
func together(past []map[string]Work) map[string]Work {
	all := map[string]Work{}
	for _, run := range past {
		for place, w := range run {
			sum := all[place]
			sum.Takes, sum.whole = SpreadOf(append(sum.Takes, w.Takes...)...), w.whole
			sum.Tokens, sum.Cost = SpreadOf(append(sum.Tokens, w.Tokens...)...), SpreadOf(append(sum.Cost, w.Cost...)...)
			all[place] = sum
		}
	}
	return all
}

// like reports whether a run has had the tasks of r.
func (r *Report) like(run PastRun) bool {
	places := map[string]bool{}
	for _, t := range r.Tasks {
		places[PlaceOf(t.ID)] = true
		if run.Tasks[PlaceOf(t.ID)].Ended.IsZero() {
			return false
		}
	}
	return len(places) == len(run.Tasks)
}

// since returns how long t has taken.
func (run PastRun) since(t Task) time.Duration {
	began := run.Began.Time()
	for _, id := range t.before {
		if at := run.Tasks[PlaceOf(id)].Ended.Time(); at.After(began) {
			began = at
		}
	}
	return max(0, run.Tasks[PlaceOf(t.ID)].Ended.Time().Sub(began))
}
