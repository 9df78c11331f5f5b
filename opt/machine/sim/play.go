package sim

import (
	"fmt"
	"runtime/debug"
	"strings"

	"longhaul/opt"
)

// A Result is the result of a schedule.
type Result struct {
	Problem string   // the broken invariant, and how; "" if all hold
	Script  []string // what happened, if it was requested
	Ends    map[opt.ObjectiveStatus]int
}

// A violation is a broken invariant.
type violation struct{ rule, text string }

// A Mirror gets each event that the journal of a world stores, in a batch of its own, so that
// another journal can record the same. kept returns what the world's has of the objective then,
// with the numbers of all sources, and false if it has lost events that it had.
type Mirror func(b opt.Batch, kept func() (opt.Kept, bool))

// Run plays a schedule. With script the result has a script.
func Run(s Schedule, script bool) Result { return play(newWorld(script), s) }

// RunMirrored is Run with a mirror.
func RunMirrored(s Schedule, m Mirror) Result {
	w := newWorld(false)
	w.journal.stored = func(b opt.Batch, e opt.Event) {
		if b.Events = []opt.Event{copied(e)}; !w.journal.again {
			m(b, func() (opt.Kept, bool) { return w.journal.kept(b.ObjectiveID), w.journal.whole() })
		}
	}
	return play(w, s)
}

func play(w *world, s Schedule) Result {
	return w.result(func() {
		if len(s) > 0 {
			w.histories, w.replays = s[0][7]%4 == 0, s[0][7]%16 == 0
			w.forks = s[0][4]%4 == 3
			w.rules -= []int{0, 1, 0, 2}[s[0][6]%4]
			w.skew = []int64{0, 0, -180_000, 180_000}[s[0][5]%4]
		}
		d := newDirector(w)
		for _, step := range s {
			d.step(&choice{step: step})
		}
		d.settle()
		d.finishAll(s)
	})
}

// result runs play and returns the result. A panic in a machine is a problem,
// too.
func (w *world) result(play func()) (result Result) {
	defer func() {
		result.Script = w.script
		switch p := recover().(type) {
		case nil:
		case violation:
			result.Problem = p.rule + ": " + p.text
		default:
			result.Problem = fmt.Sprintf("panic: %v\n%s", p, where(string(debug.Stack())))
		}
	}()
	play()
	result.Ends = map[opt.ObjectiveStatus]int{}
	for _, id := range w.journal.order {
		result.Ends[w.journal.rows[id].objective.Status]++
	}
	return result
}

// where returns the functions of the machines in a stack.
func where(stack string) string {
	var out []string
	for line := range strings.Lines(stack) {
		if strings.Contains(line, "opt/machine/") && strings.Contains(line, ".go:") && !strings.Contains(line, "script.go") {
			out = append(out, strings.TrimSpace(line))
		}
	}
	return strings.Join(out[:min(len(out), 12)], "\n")
}
