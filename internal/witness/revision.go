package witness

import (
	"fmt"
	"strings"
)

// A Change sets the value of a subject that has revisions. A repeat has the same Key. The
// result is [Changed], [Stale], or [Refused].
type Change struct {
	Of     string
	Key    string
	Expect int    // the revision that it applies to; 0 for any
	Value  string // another one in each change
}

// Changed says that a change was applied, now or when it came first.
type Changed struct{}

func (Changed) String() string { return "changed" }

// Stale says that a change was not applied, since there is another revision.
type Stale struct{ Revision int }

func (s Stale) String() string { return fmt.Sprintf("stale, it is at %d", s.Revision) }

// document is the state of a subject of [Revised], which begins at revision 1 with the
// value "".
type document struct {
	changes int
	value   string
	applied string // keys of the changes, each with a line end
}

func (d document) revision() int { return 1 + d.changes }

// On implements [Ask].
func (c Change) On() Subject { return Subject{Revised, c.Of} }

func (c Change) String() string {
	return fmt.Sprintf("change %d to %q as %s", c.Expect, c.Value, c.Key)
}

func (c Change) step(before, result any) (any, bool) {
	d, _ := before.(document)
	applied := strings.Contains("\n"+d.applied, "\n"+c.Key+"\n")
	fits := c.Expect == 0 || d.revision() == c.Expect
	switch r := result.(type) {
	case Stale:
		return d, !applied && !fits && r.Revision <= d.revision() && r.Revision != c.Expect // a repeat shows the earlier one
	case Refused:
		return d, !applied
	}
	if applied || !fits {
		return d, applied || result == nil // a repeat gets the first answer
	}
	return document{d.changes + 1, c.Value, d.applied + c.Key + "\n"}, true
}

// Read reads the value and the revision. The result is a [Revision].
type Read struct{ Of string }

// A Revision is a value with its number.
type Revision struct {
	N     int
	Value string
}

func (r Revision) String() string { return fmt.Sprintf("%q at %d", r.Value, r.N) }

// On implements [Ask].
func (r Read) On() Subject { return Subject{Revised, r.Of} }

func (r Read) String() string { return "read" }

func (r Read) step(before, result any) (any, bool) {
	d, _ := before.(document)
	now, known := result.(Revision)
	return d, !known || now == Revision{d.revision(), d.value}
}
