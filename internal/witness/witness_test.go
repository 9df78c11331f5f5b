package witness_test

import (
	"bytes"
	"encoding/xml"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"longhaul/internal/test"
	"longhaul/internal/witness"
)

// A call from one time to another, which a table can have in one line.
type call struct {
	client   string
	from, to int
	ask      witness.Ask
	result   any
}

func judge(calls []call) witness.Verdict {
	h, began := witness.NewHistory(), time.Now()
	at := func(n int) time.Time { return began.Add(time.Duration(n) * time.Second) }
	for _, c := range calls {
		h.Note(c.client, c.ask, at(c.from), at(c.to), c.result)
	}
	return h.Judge()
}

func accept(voter, message string) witness.Vote {
	return witness.Vote{Gate: "g", Voter: voter, Message: message, Accept: true, Needed: 2}
}

func reject(voter, message string) witness.Vote {
	return witness.Vote{Gate: "g", Voter: voter, Message: message, Needed: 2}
}

func decision(closed bool, votes ...witness.Vote) witness.Decision {
	return witness.Decision{Votes: votes, Closed: closed}
}

func change(expect int, value string) witness.Change {
	return witness.Change{Of: "o", Key: "key-" + value, Expect: expect, Value: value}
}

var (
	counted = witness.Counted{}
	refused = witness.Refused{Why: "no"}
	changed = witness.Changed{}
	done    = witness.Done{}

	send = witness.Make{Key: "m"}
	look = witness.Look{Key: "m"}
	find = witness.Find{Key: "m"}

	decisions = witness.Decisions{Gate: "g"}
	read      = witness.Read{Of: "o"}
)

func arrive(work string) witness.Arrive { return witness.Arrive{Context: "c", Work: work} }
func run(work string) witness.Run       { return witness.Run{Context: "c", Work: work} }
func rest(work string) witness.Rest     { return witness.Rest{Context: "c", Work: work} }

// Histories with the calls that must remain of those that no server with the promises
// gives; nil for the others.
func TestHistory_Judge(t *testing.T) {
	for name, tt := range map[string]struct {
		calls []call
		want  []string
	}{
		"a message and its repeats": {calls: []call{
			{"a", 0, 3, send, witness.Made{ID: "1"}}, {"b", 1, 2, send, witness.Made{ID: "1"}},
			{"c", 4, 5, look, witness.Seen{ID: "1"}}, {"c", 6, 7, look, witness.Seen{ID: "1", End: "done"}}, {"c", 8, 9, find, witness.Found{"1"}},
		}},
		"two tasks of one message": {
			calls: []call{{"a", 0, 1, send, witness.Made{ID: "1"}}, {"a", 2, 3, send, witness.Made{ID: "1"}}, {"b", 4, 5, send, witness.Made{ID: "2"}}},
			want:  []string{"make: {1}", "make: {2}"},
		},
		"two tasks in the list": {
			calls: []call{{"a", 0, 1, send, witness.Made{ID: "1"}}, {"b", 4, 5, find, witness.Found{"1", "2"}}},
			want:  []string{"list: 2: 1, 2"},
		},
		"an unknown send that happened late": {calls: []call{
			{"a", 0, 1, send, nil}, {"b", 2, 3, look, witness.Seen{}}, {"b", 4, 5, find, witness.Found{}}, {"b", 6, 7, find, witness.Found{"1"}},
		}},
		"an unknown send that never happened": {calls: []call{{"a", 0, 1, send, nil}, {"b", 2, 3, find, witness.Found{}}}},
		"an unknown send made another task": {
			calls: []call{{"a", 0, 1, send, nil}, {"b", 2, 3, look, witness.Seen{ID: "1"}}, {"a", 4, 5, send, witness.Made{ID: "2"}}},
			want:  []string{"look: 1, open", "make: {2}"},
		},
		"a task that was acknowledged is gone": {
			calls: []call{{"a", 0, 1, send, witness.Made{ID: "1"}}, {"b", 2, 3, look, witness.Seen{ID: "1"}}, {"b", 4, 5, look, witness.Seen{}}},
			want:  []string{"make: {1}", "look: not there"},
		},
		"a result has changed": {
			calls: []call{{"a", 0, 1, send, witness.Made{ID: "1"}}, {"b", 2, 3, look, witness.Seen{ID: "1", End: "x"}}, {"b", 4, 5, look, witness.Seen{ID: "1", End: "y"}}},
			want:  []string{"look: 1, x", "look: 1, y"},
		},
		"an ended task is open again": {
			calls: []call{{"a", 0, 1, send, witness.Made{ID: "1"}}, {"b", 2, 3, look, witness.Seen{ID: "1", End: "x"}}, {"b", 4, 5, look, witness.Seen{ID: "1"}}},
			want:  []string{"look: 1, x", "look: 1, open"},
		},
		"a repeat is refused": {
			calls: []call{{"a", 0, 1, send, witness.Made{ID: "1"}}, {"a", 2, 3, send, refused}},
			want:  []string{"make: {1}", "make: refused: no"},
		},
		"a task of a list that nobody sent": {
			calls: []call{{"a", 2, 3, send, witness.Made{ID: "1"}}, {"b", 0, 1, find, witness.Found{"1"}}},
			want:  []string{"list: 1: 1"},
		},

		"votes until a quorum": {calls: []call{
			{"a", 0, 9, accept("a", "1"), counted}, {"b", 0, 9, accept("b", "2"), counted}, {"c", 0, 9, reject("c", "3"), refused},
			{"a", 10, 11, accept("a", "1"), counted}, {"c", 12, 13, decisions, decision(true, accept("b", "2"), accept("a", "1"))},
		}},
		"a vote after the gate was closed": {
			calls: []call{{"a", 0, 1, reject("a", "1"), counted}, {"b", 2, 3, accept("b", "2"), counted}},
			want:  []string{"reject by a as 1: counted", "accept by b as 2: counted"},
		},
		"a principal votes twice": {
			calls: []call{{"a", 0, 1, accept("a", "1"), counted}, {"a", 2, 3, accept("a", "2"), counted}},
			want:  []string{"accept by a as 1: counted", "accept by a as 2: counted"},
		},
		"a repeat counts again": {
			calls: []call{{"a", 0, 1, accept("a", "1"), counted}, {"a", 2, 3, accept("a", "1"), counted}, {"b", 4, 5, decisions, decision(true, accept("a", "1"), accept("a", "1"))}},
			want:  []string{"read decisions: 2 votes (accept by a as 1; accept by a as 1), closed true"},
		},
		"a vote counts, and a repeat of it is refused": {
			calls: []call{{"a", 0, 1, accept("a", "1"), counted}, {"b", 2, 3, decisions, witness.Decision{Votes: []witness.Vote{accept("a", "1")}, Void: []witness.Vote{accept("a", "1")}}}},
			want:  []string{"read decisions: 1 votes (accept by a as 1), closed false, 1 refused (accept by a as 1)"},
		},
		"a vote is refused twice": {
			calls: []call{{"a", 0, 1, accept("a", "1"), nil}, {"b", 2, 3, decisions, witness.Decision{Void: []witness.Vote{reject("c", "3"), reject("c", "3")}}}},
			want:  []string{"read decisions: 0 votes (), closed false, 2 refused (reject by c as 3; reject by c as 3)"},
		},
		"another vote of a principal is refused": {calls: []call{
			{"a", 0, 1, accept("a", "1"), counted}, {"b", 2, 3, decisions, witness.Decision{Votes: []witness.Vote{accept("a", "1")}, Void: []witness.Vote{reject("a", "2")}}},
		}},
		"one accept closes a gate that needs two": {
			calls: []call{{"a", 0, 1, accept("a", "1"), counted}, {"b", 2, 3, decisions, decision(true, accept("a", "1"))}},
			want:  []string{"read decisions: 1 votes (accept by a as 1), closed true"},
		},
		"a vote is lost": {
			calls: []call{{"a", 0, 1, accept("a", "1"), counted}, {"b", 2, 3, decisions, decision(false)}},
			want:  []string{"accept by a as 1: counted", "read decisions: 0 votes (), closed false"},
		},
		"a vote that is refused without a reason": {
			calls: []call{{"a", 0, 1, accept("a", "1"), counted}, {"b", 2, 3, accept("b", "2"), refused}},
			want:  []string{"accept by b as 2: refused: no"},
		},
		"an unknown vote closes the gate": {calls: []call{
			{"a", 0, 1, reject("a", "1"), nil}, {"b", 2, 3, decisions, decision(false)}, {"b", 4, 5, accept("b", "2"), refused},
		}},

		"changes one after another": {calls: []call{
			{"a", 0, 1, read, witness.Revision{N: 1}}, {"a", 2, 9, change(1, "y"), changed}, {"b", 2, 9, change(1, "z"), witness.Stale{Revision: 2}},
			{"a", 10, 11, change(1, "y"), changed}, {"b", 12, 13, read, witness.Revision{N: 2, Value: "y"}},
		}},
		"two changes of one revision": {
			calls: []call{{"a", 0, 1, read, witness.Revision{N: 1}}, {"a", 2, 9, change(1, "y"), changed}, {"b", 2, 9, change(1, "z"), changed}},
			want:  []string{"change 1 to \"y\" as key-y: changed", "change 1 to \"z\" as key-z: changed"},
		},
		"a change is lost": {
			calls: []call{{"a", 0, 1, read, witness.Revision{N: 1}}, {"a", 2, 3, change(1, "y"), changed}, {"b", 4, 5, read, witness.Revision{N: 1}}},
			want:  []string{"change 1 to \"y\" as key-y: changed", "read: \"\" at 1"},
		},
		"a repeat is applied again": {
			calls: []call{{"a", 0, 1, read, witness.Revision{N: 1}}, {"a", 2, 3, change(1, "y"), changed}, {"a", 4, 5, change(1, "y"), changed}, {"b", 6, 7, read, witness.Revision{N: 3, Value: "y"}}},
			want:  []string{"read: \"y\" at 3"},
		},
		"a repeat of a change of any revision is applied again": {
			calls: []call{{"a", 0, 9, change(0, "y"), changed}, {"b", 0, 9, change(0, "y"), changed}, {"b", 10, 11, read, witness.Revision{N: 3, Value: "y"}}},
			want:  []string{"read: \"y\" at 3"},
		},
		"changes of any revision": {calls: []call{
			{"a", 0, 9, change(0, "y"), changed}, {"b", 0, 9, change(0, "z"), changed}, {"a", 10, 11, change(0, "y"), changed}, {"b", 12, 13, read, witness.Revision{N: 3, Value: "z"}},
		}},
		"a refused change is applied": {
			calls: []call{{"a", 0, 1, read, witness.Revision{N: 1}}, {"a", 2, 3, change(1, "y"), refused}, {"b", 6, 7, read, witness.Revision{N: 2, Value: "y"}}},
			want:  []string{"change 1 to \"y\" as key-y: refused: no", "read: \"y\" at 2"},
		},
		"an unknown change is applied later": {calls: []call{
			{"a", 0, 1, read, witness.Revision{N: 1}}, {"a", 2, 3, change(1, "y"), nil}, {"b", 4, 5, read, witness.Revision{N: 1}}, {"b", 6, 7, read, witness.Revision{N: 2, Value: "y"}},
		}},

		"turns in order": {calls: []call{
			{"x", 0, 1, arrive("a"), done}, {"y", 2, 3, arrive("b"), done}, {"w", 4, 4, run("a"), done}, {"w", 5, 5, rest("a"), done},
			{"w", 6, 6, run("b"), done}, {"w", 7, 7, rest("b"), done}, {"w", 8, 8, run("a"), done},
		}},
		"two at a time": {
			calls: []call{{"x", 0, 1, arrive("a"), done}, {"y", 0, 1, arrive("b"), done}, {"w", 4, 4, run("a"), done}, {"w", 5, 5, run("b"), done}, {"w", 7, 7, rest("a"), done}},
			want:  []string{"a runs: done", "b runs: done"},
		},
		"the later one first": {
			calls: []call{{"x", 0, 1, arrive("a"), done}, {"y", 2, 3, arrive("b"), done}, {"w", 4, 4, run("b"), done}},
			want:  []string{"a arrives: done", "b arrives: done", "b runs: done"},
		},
		"a killed process rests at an unknown time": {calls: []call{
			{"x", 0, 1, arrive("a"), done}, {"y", 2, 3, arrive("b"), done}, {"w", 4, 4, run("a"), done}, {"w", 4, 4, rest("a"), nil}, {"w", 6, 6, run("b"), done},
		}},
	} {
		t.Run(name, func(t *testing.T) {
			v := judge(tt.calls)
			var got []string
			for _, a := range v.Anomalies {
				for _, c := range a.Calls {
					got = append(got, c.String())
				}
				checkForms(t, a)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" || len(v.Undecided) > 0 {
				t.Errorf("the calls that break a promise (-want +got):\n%s\n%v", diff, v)
			}
			if v.Clean() != (tt.want == nil) || v.Operations != len(tt.calls) {
				t.Errorf("%v, clean %t, of %d calls", v, v.Clean(), len(tt.calls))
			}
		})
	}
}

// checkForms checks that text and picture name the calls, and that the picture is XML.
func checkForms(t *testing.T, a witness.Anomaly) {
	t.Helper()
	var picture bytes.Buffer
	test.OK(t, a.WritePicture(&picture))
	for _, c := range a.Calls {
		if !strings.Contains(a.Text(), c.Client) || !strings.Contains(picture.String(), ">"+c.Client+"<") {
			t.Errorf("no call of %s:\n%s", c.Client, a.Text())
		}
	}
	for d := xml.NewDecoder(&picture); ; {
		if _, err := d.Token(); err != nil {
			test.Error(t, "the end of the picture", io.EOF, err)
			return
		}
	}
}

func TestAnomaly_Text(t *testing.T) {
	v := judge([]call{{"ann", 0, 2, send, witness.Made{ID: "1"}}, {"bo", 1, 3, send, witness.Made{ID: "2"}}})
	want := "m: \"it is made once and kept\" is broken: no order of 2 calls explains make: {2}\n" +
		"  ann |==  | make: {1}\n" +
		"  bo  | == | make: {2}\n"
	test.Equal(t, "the anomaly", want, v.Anomalies[0].Text())
}

func TestStream(t *testing.T) {
	whole := []witness.Event{{Number: 1, Content: "one"}, {Number: 3, Content: "three"}, {Number: 4, Content: "four"}}
	one, three, four := whole[0], whole[1], whole[2]
	for name, tt := range map[string]struct {
		stream witness.Stream
		want   witness.Kind
	}{
		"all":                      {witness.Stream{Events: whole, Ended: true}, ""},
		"resumed":                  {witness.Stream{After: 1, Events: whole[1:], Ended: true}, ""},
		"broken off":               {witness.Stream{Events: whole[:1]}, ""},
		"one was left out":         {witness.Stream{Events: []witness.Event{one, four}}, witness.Lost},
		"the first was left out":   {witness.Stream{Events: whole[1:]}, witness.Lost},
		"the end did not come":     {witness.Stream{Events: whole[:2], Ended: true}, witness.Lost},
		"none came":                {witness.Stream{Ended: true}, witness.Lost},
		"one came twice":           {witness.Stream{Events: []witness.Event{one, one, three, four}}, witness.Repeated},
		"one too early a resume":   {witness.Stream{After: 1, Events: whole}, witness.OutOfOrder},
		"other content":            {witness.Stream{Events: []witness.Event{{Number: 1, Content: "ONE"}}}, witness.Altered},
		"one that is not there":    {witness.Stream{Events: []witness.Event{{Number: 2, Content: "two"}}}, witness.Altered},
		"in another order":         {witness.Stream{After: 1, Events: []witness.Event{four, three}}, witness.Lost},
		"repeats that are allowed": {witness.Stream{Events: []witness.Event{one, one, three, one, four}, Repeats: true, Ended: true}, ""},
		"a repeat hides no gap":    {witness.Stream{Events: []witness.Event{one, one, four}, Repeats: true}, witness.Lost},
	} {
		t.Run(name, func(t *testing.T) {
			h := witness.NewHistory()
			tt.stream.Subject, tt.stream.Subscriber = "s", "reader"
			h.Has("s", whole)
			h.Saw(tt.stream)
			var got []witness.Kind
			v := h.Judge()
			for _, a := range v.Anomalies {
				got = append(got, a.Kind)
				checkForms(t, a)
			}
			if want := slices.DeleteFunc([]witness.Kind{tt.want}, func(k witness.Kind) bool { return k == "" }); !slices.Equal(got, want) {
				t.Errorf("%q, want %q: %v", got, want, v.Anomalies)
			}
		})
	}
}

// Many calls about one subject that overlap are decided quickly enough to be judged.
func TestHistory_Judge_manyAtOnce(t *testing.T) {
	var calls []call
	for i := range 12 {
		calls = append(calls, call{"c", 0, 100, change(1, strings.Repeat("x", i)), witness.Stale{Revision: 2}})
	}
	calls[5].result = nil
	calls = append(calls, call{"r", 101, 102, read, witness.Revision{N: 2, Value: "xxxxx"}}, call{"r", -2, -1, read, witness.Revision{N: 1}})
	if v := judge(calls); !v.Clean() {
		t.Error(v.Anomalies)
	}
	calls[6].result = changed
	if v := judge(calls); len(v.Anomalies) != 1 {
		t.Errorf("%v", v)
	}
	calls = nil
	for range 40 { // repeats to a server that is down
		calls = append(calls, call{"a", 0, 1, accept("a", "1"), nil}, call{"b", 0, 1, accept("b", "2"), nil}, call{"c", 0, 1, reject("c", "3"), nil}, call{"r", 0, 1, decisions, nil})
	}
	calls = append(calls, call{"a", 2, 3, accept("a", "1"), refused}, call{"r", 4, 5, decisions, decision(false, accept("a", "1"))})
	if v := judge(calls); len(v.Anomalies) != 1 || len(v.Undecided) > 0 {
		t.Errorf("%v", v)
	}
}
