package shown

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"longhaul/opt"
)

// maxSaid is the maximum length of Said, in characters.
const maxSaid = 200

// A Progress says how much of an objective is done, for clients that know no
// plans.
type Progress struct {
	Text    string // such as "Writing, task 2 of 4"; "" while no task has begun
	Said    string // the progress text of a task of that plan, cut to a line, after the name of the task if several have begun; "" for none
	Percent int    // of tasks that have ended, with the parts of those that run
	Steps   int    // tasks that have begun and tasks that have ended, together
}

// ProgressOf returns the progress of the work by plans, nil while they have no
// tasks. It names the first plan that has a running or waiting task, or else the
// last one that has begun, and counts the tasks of that plan that have begun.
// Skipped plans do not count.
func ProgressOf(plans []*opt.Plan) *Progress {
	var p Progress
	ended, done, all, runs := 0, 0, 0, false
	for _, plan := range plans {
		if plan.Status == opt.PlanSkipped {
			continue
		}
		begun, active := 0, false
		for _, t := range plan.Tasks {
			all++
			done += doneOf(plan, t)
			if t.State.Ended() || plan.Status.Ended() {
				ended++
			}
			if t.State != opt.TaskPending && t.State != opt.TaskCanceled { // it may be canceled before it begins
				begun++
				p.Steps++
			}
			active = active || t.State != opt.TaskPending && !t.State.Ended()
		}
		if begun > 0 && !runs {
			p.Text, runs = fmt.Sprintf("%s, task %d of %d", plan.Name, begun, len(plan.Tasks)), active
			p.Said = inLine(saidIn(plan, begun > 1), maxSaid)
		}
	}
	if all == 0 {
		return nil
	}
	p.Percent, p.Steps = done/all, p.Steps+ended
	return &p
}

var count = regexp.MustCompile(`, task \d+ of \d+$`)

// OnlyCounts reports whether text is the Text of a progress, without what a task has said.
func OnlyCounts(text string) bool { return count.MatchString(text) }

// saidIn returns the progress text of the last task of a plan that runs and has one, after its name if
// that is wanted.
func saidIn(plan *opt.Plan, named bool) string {
	for _, t := range slices.Backward(plan.Tasks) {
		switch {
		case t.State != opt.TaskWorking || t.Said == "":
		case named:
			return t.Name + ": " + t.Said
		default:
			return t.Said
		}
	}
	return ""
}

// doneOf returns how much of a task is done, in percent.
func doneOf(p *opt.Plan, t *opt.Task) int {
	switch {
	case t.State.Ended() || p.Status.Ended():
		return 100
	case t.State == opt.TaskWorking:
		return min(max(t.Percent, 0), 100)
	}
	return 0
}

// inLine returns text on one line, cut to a number of characters.
func inLine(text string, most int) string {
	line := []rune(strings.Join(strings.Fields(text), " "))
	if len(line) > most {
		line = append(line[:most-1], '…')
	}
	return string(line)
}
