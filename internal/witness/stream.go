package witness

import (
	"fmt"
	"math"
	"slices"
	"time"
)

// A Kind is the kind of a mistake in a stream.
type Kind string

// The kinds.
const (
	Lost       Kind = "lost"
	Repeated   Kind = "repeated"
	OutOfOrder Kind = "out of order"
	Altered    Kind = "altered"
)

// An Event is one event of a stream. Numbers grow in a sequence, not always by one.
type Event struct {
	Number  int64
	Content string
}

// String describes the event.
func (e Event) String() string { return fmt.Sprintf("event %d, %s", e.Number, shortened(e.Content)) }

func shortened(text string) string {
	text = firstLine(text)
	if r := []rune(text); len(r) > 60 {
		return string(r[:60]) + "…"
	}
	return text
}

// A Stream is what one subscriber got of a subject, in the order of arrival, over all of
// its connections.
type Stream struct {
	Subscriber string
	Subject    string
	After      int64 // the number after which it began
	Ended      bool  // it got the end of the stream; else events after its last may be missing
	Repeats    bool  // an event may come again: delivery is at least once
	Events     []Event
}

// compare returns the first anomaly of s, nil if it shows exactly the whole sequence.
func (s Stream) compare(whole []Event) *Anomaly {
	last, got := s.After, map[int64]bool{}
	for i, e := range s.Events {
		switch {
		case got[e.Number] && !s.Repeats:
			return s.anomaly(Repeated, e, i, whole)
		case !slices.Contains(whole, e):
			return s.anomaly(Altered, e, i, whole)
		case got[e.Number]:
			continue
		case e.Number <= last:
			return s.anomaly(OutOfOrder, e, i, whole)
		}
		if missed := missing(whole, last, e.Number); missed != nil {
			return s.anomaly(Lost, *missed, i, whole)
		}
		last, got[e.Number] = e.Number, true
	}
	if missed := missing(whole, last, math.MaxInt64); missed != nil && s.Ended {
		return s.anomaly(Lost, *missed, len(s.Events), whole)
	}
	return nil
}

// missing returns the first event between two numbers.
func missing(whole []Event, after, before int64) *Event {
	for _, e := range whole {
		if e.Number > after && e.Number < before {
			return &e
		}
	}
	return nil
}

// anomaly describes an event that is wrong in s, with the events around it: those that s
// got before its i-th one, and those of the whole sequence near it.
func (s Stream) anomaly(kind Kind, e Event, i int, whole []Event) *Anomaly {
	const around = 2
	a := &Anomaly{Subject: Subject{Whole, s.Subject}, Kind: kind, Seen: fmt.Sprintf("%s of %s: %s", kind, s.Subscriber, e)}
	for j, got := range s.Events[max(0, i-around):min(len(s.Events), i+around)] {
		a.Calls = append(a.Calls, receipt(s.Subscriber, s.Subject, got, j))
	}
	at, _ := slices.BinarySearchFunc(whole, e.Number, func(w Event, n int64) int { return int(w.Number - n) })
	for j, w := range whole[max(0, at-around):min(len(whole), at+around)] {
		a.Calls = append(a.Calls, receipt("the whole", s.Subject, w, j))
	}
	return a
}

// receipt shows an event in a picture, at a place.
func receipt(client, subject string, e Event, place int) Call {
	at := time.Duration(place)
	return Call{Client: client, Ask: receive{subject}, Begin: at, End: at, Result: e}
}

type receive struct{ subject string }

// On implements [Ask].
func (r receive) On() Subject { return Subject{Whole, r.subject} }

func (receive) String() string { return "got" }

func (receive) step(before, _ any) (any, bool) { return before, true }
