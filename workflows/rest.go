package workflows

import (
	"slices"

	"longhaul/opt"
)

// A plan of an objective whose context others want rests when none of its tasks
// can go on. It gives up its leave to begin tasks then, and says so; whatever
// makes it able to go on, it first asks its objective, which may have given the
// turn to others.

// mayWork reports whether the plan may begin tasks.
func (r *planRun) mayWork() bool { return !r.state.Shared || r.state.Leave }

// share makes the plan ask from now on.
func (r *planRun) share() {
	if !r.state.Shared {
		r.state.Shared, r.state.Leave = true, r.plan.Started
	}
}

// rest gives up the leave of a plan that cannot go on.
func (r *planRun) rest() {
	if r.state.Shared && r.plan.Started && r.plan.Status == opt.PlanBlocked {
		r.state.Leave = false
	}
}

// rests reports whether nothing happens in the plan before it is told to go on.
func (r *planRun) rests() bool {
	return !r.mayWork() && r.plan.Started && r.plan.Status == opt.PlanBlocked && len(r.working) == 0
}

// asks reports whether the plan waits to be told to go on.
func (r *planRun) asks() bool {
	return !r.mayWork() && r.plan.Started && r.plan.Status == opt.PlanWorking
}

// resume performs the next round of t as soon as the plan may.
func (r *planRun) resume(t *opt.Task) {
	if !r.mayWork() {
		r.state.Owed = append(r.state.Owed, t.ID)
		return
	}
	r.perform(t)
}

// goOn performs what is owed, and lets tasks begin.
func (r *planRun) goOn() {
	r.state.Leave = true
	owed := r.state.Owed
	r.state.Owed = nil
	for _, id := range owed {
		if t := r.plan.Task(id); t.State == opt.TaskWorking && !t.ByHand {
			r.perform(t)
		}
	}
}

// forget drops the next round of t if that waits for leave, and reports whether
// it did.
func (r *planRun) forget(t *opt.Task) bool {
	i := slices.Index(r.state.Owed, t.ID)
	if i >= 0 {
		r.state.Owed = slices.Delete(r.state.Owed, i, i+1)
	}
	return i >= 0
}
