package machine

import (
	"cmp"
	"fmt"
	"strings"

	"longhaul/opt"
)

// gateTimer begins the keys of timers of gates. The rest is the id of the gate and
// the number of the step, from 1.
const gateTimer = "gate:"

func stepKey(g *opt.Gate) string { return fmt.Sprintf("%s%s:%d", gateTimer, g.ID, g.Taken+1) }

// maxSummary bounds the title of a gate in the summary of a timer, in bytes.
const maxSummary = 100

// stepTimer returns the timer of the step that a gate takes next; ok is false if
// there is none, or no gate. A pause does not stop it: people may answer meanwhile.
func stepTimer(g *opt.Gate) (timer Timer, ok bool) {
	if g == nil {
		return Timer{}, false
	}
	next, ok := g.NextStep()
	if !ok {
		return Timer{}, false
	}
	return Timer{Key: stepKey(g), At: next.At, Summary: fmt.Sprintf("%s: %s, step %d of %d", briefly(g), next, g.Taken+1, len(g.Ladder))}, true
}

// briefly returns the title of g, or its first question, on one line.
func briefly(g *opt.Gate) string {
	text := cmp.Or(g.Title, g.Description)
	if g.Title == "" && len(g.Questions) > 0 {
		text = g.Questions[0].Question
	}
	return cut(strings.Join(strings.Fields(cut(text, 4*maxSummary)), " "), maxSummary)
}
