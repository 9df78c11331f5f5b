package rehearse

import (
	"time"

	"longhaul/a2a"
	"longhaul/opt"
)

// A PastRun is an objective that was completed: its tasks by [PlaceOf].
type PastRun struct {
	Began a2a.Time
	Tasks map[string]PastTask
}

// A PastTask is a task of it.
type PastTask struct {
	Ended a2a.Time
	Used  opt.Usage
}

// PastOf returns how the tasks of r went in past runs with the same tasks, by [PlaceOf], and how many of
// the runs have these. A task has taken the time since the last of those that it waits for, with all its
// attempts and its wait for a free place.
func (r *Report) PastOf(runs []PastRun) (works map[string]Work, used int) {
	works = map[string]Work{}
	for _, run := range runs {
		if !r.like(run) {
			continue
		}
		used++
		seen := map[string]bool{}
		for _, t := range r.Tasks {
			if place := PlaceOf(t.ID); !seen[place] {
				seen[place] = true
				works[place] = works[place].with(run.Tasks[place], run.since(t))
			}
		}
	}
	return works, used
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

// with returns w with another value of each figure.
func (w Work) with(t PastTask, took time.Duration) Work {
	return Work{
		Takes:  SpreadOf(append(w.Takes, took)...),
		Tokens: SpreadOf(append(w.Tokens, t.Used.Input+t.Used.Output)...),
		Cost:   SpreadOf(append(w.Cost, t.Used.Cost)...),
		whole:  true,
	}
}
