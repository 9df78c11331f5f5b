package shown

import (
	"cmp"
	"fmt"
	"slices"

	"longhaul/a2a"
	"longhaul/opt"
)

// A Why says in one sentence why an objective is where it is, and who can end a wait. Its middle is the name of a
// gate, a task or another objective.
type Why struct {
	Before, Name, After string
	Of                  string   // the id of what the name is of
	Did                 string   // what began then, a constant below
	Since               a2a.Time // zero if it does not matter
}

// What began when an objective is where it is.
const (
	DidBegin = "begun"  // the work
	DidAsk   = "asked"  // a question
	DidQueue = "queued" // the wait for the turn
)

// WhyOf returns why o waits, works or has ended; position is its place in the queue of its context.
func WhyOf(o *opt.Objective, c *Course, position int) Why {
	switch {
	case o.Status == opt.ObjectiveFailed:
		return whyFailed(o)
	case o.Status.Ended():
		return Why{}
	case o.Stopping != "":
		return Why{Before: "It is being stopped, and will be " + o.Stopping + " once its running tasks have ended."}
	case o.Paused:
		return Why{Before: "It is paused. People who may change it can resume it."}
	case !o.QueuedAt.IsZero():
		return Why{Before: fmt.Sprintf("Waits for its turn in its context, at place %d. It begins when those before it have ended:", position), Did: DidQueue, Since: o.QueuedAt}
	}
	return whyOpen(o, c)
}

// whyOpen says which tasks of o wait for people, work or are held back.
func whyOpen(o *opt.Objective, c *Course) Why {
	var asked, works, held []*opt.Task
	for _, p := range o.Plans {
		asked = append(asked, p.Waiting()...)
		for _, t := range p.Running() {
			switch {
			case t.Reason == opt.HeldByQuota:
				held = append(held, t)
			case len(c.Tasks[t.ID]) > 0:
				works = append(works, t)
			}
		}
	}
	switch {
	case len(asked) > 0:
		return whyAsked(asked)
	case len(works) > 0:
		begun := func(t *opt.Task) a2a.Time { return c.Tasks[t.ID][0].From }
		t := slices.MinFunc(works, func(a, b *opt.Task) int { return begun(a).Time().Compare(begun(b).Time()) })
		return Why{Before: "Works on", After: others(len(works), "other task"), Did: DidBegin, Since: begun(t)}.of(t)
	case len(held) > 0:
		text := "A quota is used up."
		if spans := c.Tasks[held[0].ID]; len(spans) > 0 {
			text = cmp.Or(spans[len(spans)-1].Text, text)
		}
		return Why{Before: inLine(a2a.Visible(text), maxFailure) + " This holds back", After: others(len(held), "other task")}.of(held[0])
	}
	return Why{Before: idleText(o)}
}

// maxFailure is the maximum length of the text of a failure in a sentence, in characters.
const maxFailure = 300

// idleText says why nothing of o works, waits for people or has ended.
func idleText(o *opt.Objective) string {
	switch {
	case o.Status == opt.ObjectivePlanning:
		return "A planner makes its plans."
	case !o.Started:
		return "It was not started. People who may change it can start it."
	case o.Reason == opt.NothingToDo:
		return "It has no open plan. People who may change it can add one."
	}
	return ReasonText(o.Reason)
}

// whyAsked returns the oldest question of some tasks that wait for people.
func whyAsked(all []*opt.Task) Why {
	first := slices.MinFunc(all, func(a, b *opt.Task) int { return a.Gate.RequestedAt.Time().Compare(b.Gate.RequestedAt.Time()) }).Gate
	return Why{
		Before: "Waits for " + People(first) + ":", Name: Name(Title(first)), Of: first.ID,
		After: others(len(all), "more question"), Did: DidAsk, Since: first.RequestedAt,
	}
}

// whyFailed returns the failure of o.
func whyFailed(o *opt.Objective) Why {
	for _, p := range o.Plans {
		for _, t := range p.Tasks {
			if t.Broken() && t.Failure != "" {
				return Why{Before: "It failed at", After: inLine(a2a.Visible(t.Failure), maxFailure)}.of(t)
			}
		}
	}
	return Why{Before: inLine(a2a.Visible(o.Failure), maxFailure)}
}

func (w Why) of(t *opt.Task) Why {
	w.Name, w.Of = Name(t.Name), t.ID
	return w
}

// others says how many there are beside the one of several that a sentence is about.
func others(n int, what string) string { return When(n > 1, "and "+opt.Count(n-1, what)) }
