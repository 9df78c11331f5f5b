package witness

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Refused is the result of a call that the server has refused: it did nothing.
type Refused struct{ Why string }

func (r Refused) String() string { return "refused: " + r.Why }

// thing is the state of a subject of [Once].
type thing struct {
	id  string // "" before it is made, unnamed until a client has seen its id
	end string // its result, "" while it is open
}

// unnamed is the id of a thing that a call with an unknown result has made.
const unnamed = "?"

// named returns t with an id, and whether t may have it.
func (t thing) named(id string) (any, bool) {
	may := t.id == id || t.id == unnamed
	t.id = id
	return t, may
}

// Make makes the thing of a key: the task of a message, the objective of a time. The
// result is a [Made] or [Refused].
type Make struct{ Key string }

// Made is the thing that a [Make] has made, or an earlier one of the same key.
type Made struct{ ID string }

// On implements [Ask].
func (m Make) On() Subject { return Subject{Once, m.Key} }

func (m Make) String() string { return "make" }

func (m Make) step(before, result any) (any, bool) {
	t, _ := before.(thing)
	switch r := result.(type) {
	case nil:
		t.id = cmp.Or(t.id, unnamed)
		return t, true
	case Made:
		if t.id == "" {
			t.id = r.ID
			return t, true
		}
		return t.named(r.ID)
	}
	return t, t.id == "" // a repeat is not refused
}

// Look reads the thing of a key. The result is a [Seen].
type Look struct{ Key string }

// Seen is what a [Look] shows. The zero value says that there is no such thing.
type Seen struct {
	ID  string
	End string // what became of it, "" while it is open
}

func (s Seen) String() string {
	switch {
	case s.ID == "":
		return "not there"
	case s.End == "":
		return s.ID + ", open"
	}
	return s.ID + ", " + firstLine(s.End)
}

func firstLine(text string) string {
	line, rest, _ := strings.Cut(text, "\n")
	if rest != "" {
		line += " …"
	}
	return line
}

// On implements [Ask].
func (l Look) On() Subject { return Subject{Once, l.Key} }

func (l Look) String() string { return "look" }

func (l Look) step(before, result any) (any, bool) {
	t, _ := before.(thing)
	s, known := result.(Seen)
	switch {
	case !known:
		return t, true
	case s.ID == "":
		return t, t.id == ""
	case t.id == "" || t.end != "" && t.end != s.End:
		return t, false
	}
	t.end = s.End
	return t.named(s.ID)
}

// Find lists all things of a key. The result is a [Found].
type Find struct{ Key string }

// Found are the ids of the things that a [Find] lists.
type Found []string

func (f Found) String() string { return fmt.Sprintf("%d: %s", len(f), strings.Join(f, ", ")) }

// On implements [Ask].
func (f Find) On() Subject { return Subject{Once, f.Key} }

func (f Find) String() string { return "list" }

func (f Find) step(before, result any) (any, bool) {
	t, _ := before.(thing)
	ids, known := result.(Found)
	switch {
	case !known:
		return t, true
	case len(ids) != 1:
		return t, len(ids) == 0 && t.id == ""
	case t.id == "":
		return t, false
	}
	return t.named(slices.Max(ids))
}
