package witness

import (
	"fmt"
	"slices"
	"strings"
)

// A Vote is one answer of a voter to a gate, under the id of a message. The result is
// [Counted] or [Refused].
type Vote struct {
	Gate    string
	Voter   string
	Message string
	Accept  bool
	Needed  int // accepts that close the gate; one reject closes it
}

// Counted says that a vote counts: it is recorded, and may have closed the gate.
type Counted struct{}

func (Counted) String() string { return "counted" }

// On implements [Ask].
func (v Vote) On() Subject { return Subject{Decided, v.Gate} }

func (v Vote) String() string { return fmt.Sprintf("%s by %s as %s", v.action(), v.Voter, v.Message) }

func (v Vote) action() string {
	if v.Accept {
		return "accept"
	}
	return "reject"
}

// record is the vote as [Decisions] lists it.
func (v Vote) record() string { return v.Voter + " " + v.action() + " " + v.Message }

// ballot is the state of a gate.
type ballot struct {
	votes  string // records of the votes that counted, one on each line
	closed bool
}

func (b ballot) records() []string {
	return strings.FieldsFunc(b.votes, func(r rune) bool { return r == '\n' })
}

func (v Vote) step(before, result any) (any, bool) {
	b, _ := before.(ballot)
	counted := slices.Contains(b.records(), v.record())
	takes := !b.closed && !slices.ContainsFunc(b.records(), func(r string) bool { return strings.HasPrefix(r, v.Voter+" ") })
	if _, refused := result.(Refused); refused {
		return b, !takes && !counted // a repeat gets the first answer
	}
	if counted || !takes {
		return b, counted || result == nil
	}
	b.votes += v.record() + "\n"
	b.closed = !v.Accept || strings.Count(b.votes, " accept ") >= v.Needed
	return b, true
}

// Decisions reads the votes of a gate that counted. The result is a [Decision].
type Decisions struct{ Gate string }

// A Decision has the votes at a gate: those that counted, in their order, and those that the
// gate has refused. Each vote is judged once, also if it comes again.
type Decision struct {
	Votes  []Vote
	Void   []Vote
	Closed bool
}

func (d Decision) String() string {
	text := fmt.Sprintf("%d votes (%s), closed %t", len(d.Votes), listed(d.Votes), d.Closed)
	if len(d.Void) > 0 {
		text += fmt.Sprintf(", %d refused (%s)", len(d.Void), listed(d.Void))
	}
	return text
}

func listed(votes []Vote) string {
	var all []string
	for _, v := range votes {
		all = append(all, v.String())
	}
	return strings.Join(all, "; ")
}

// On implements [Ask].
func (d Decisions) On() Subject { return Subject{Decided, d.Gate} }

func (d Decisions) String() string { return "read decisions" }

func (d Decisions) step(before, result any) (any, bool) {
	b, _ := before.(ballot)
	r, known := result.(Decision)
	if !known {
		return b, true
	}
	votes := records(r.Votes)
	all := slices.Sorted(slices.Values(slices.Concat(votes, records(r.Void))))
	once := len(slices.Compact(all)) == len(all)
	return b, once && r.Closed == b.closed && slices.Equal(votes, b.records())
}

func records(votes []Vote) (all []string) {
	for _, v := range votes {
		all = append(all, v.record())
	}
	return all
}
