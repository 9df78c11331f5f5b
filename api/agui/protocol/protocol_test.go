package protocol_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"longhaul/api/agui/protocol"
)

// apply applies a JSON Patch, as RFC 6902 has it.
func apply(t *testing.T, doc any, raw []byte) any {
	t.Helper()
	var patch []struct {
		Op, Path string
		Value    any
	}
	if err := json.Unmarshal(raw, &patch); err != nil {
		t.Fatal(err)
	}
	for _, p := range patch {
		if p.Path == "" {
			doc = p.Value
			continue
		}
		tokens := strings.Split(p.Path, "/")[1:]
		for i, token := range tokens {
			tokens[i] = strings.NewReplacer("~1", "/", "~0", "~").Replace(token)
		}
		doc = change(t, doc, tokens, p.Op, p.Value)
	}
	return doc
}

func change(t *testing.T, doc any, tokens []string, op string, value any) any {
	t.Helper()
	token, last := tokens[0], len(tokens) == 1
	switch doc := doc.(type) {
	case map[string]any:
		_, found := doc[token]
		switch {
		case op != "add" && !found:
			t.Fatalf("%s of %q, which is not there", op, token)
		case !last:
			doc[token] = change(t, doc[token], tokens[1:], op, value)
		case op == "remove":
			delete(doc, token)
		default:
			doc[token] = value
		}
		return doc
	case []any:
		if token == "-" {
			return append(doc, value)
		}
		var i int
		if _, err := fmt.Sscan(token, &i); err != nil || i >= len(doc) {
			t.Fatalf("%s of %q in a list of %d", op, token, len(doc))
		}
		switch {
		case !last:
			doc[i] = change(t, doc[i], tokens[1:], op, value)
		case op == "remove":
			return slices.Delete(doc, i, i+1)
		default:
			doc[i] = value
		}
		return doc
	}
	t.Fatalf("%s of %q in %v", op, token, doc)
	return nil
}

// random returns a JSON value.
func random(r *rand.Rand, depth int) any {
	switch n := r.IntN(6); {
	case n == 0 || depth == 0:
		return []any{nil, true, "a", json.Number("1"), json.Number("2")}[r.IntN(5)]
	case n < 4:
		m := map[string]any{}
		for range r.IntN(4) {
			m[[]string{"a", "b/c", "d~e", ""}[r.IntN(4)]] = random(r, depth-1)
		}
		return m
	}
	list := []any{}
	for range r.IntN(4) {
		list = append(list, random(r, depth-1))
	}
	return list
}

// The patch from one value to another makes the other of the one.
func TestChanges(t *testing.T) {
	for seed := range uint64(2000) {
		r := rand.New(rand.NewPCG(seed, 1))
		before, after := random(r, 4), random(r, 4)
		patch, err := protocol.Changes(before, after)
		if err != nil {
			t.Fatal(err)
		}
		want, _ := json.Marshal(after)
		was, _ := json.Marshal(before)
		var doc any
		_ = json.Unmarshal(was, &doc)
		if string(patch) == "null" {
			patch = []byte("[]")
		}
		if got, _ := json.Marshal(apply(t, doc, patch)); string(got) != string(want) {
			t.Fatalf("seed %d: %s and %s makes %s, want %s", seed, was, patch, got, want)
		}
	}
}

// Messages of the client that the thread does not have stay where they were.
func TestJoined(t *testing.T) {
	own := `[{"id":"hello","role":"x"},{"id":"u1","role":"x"},{"id":"local","role":"x"},{"id":"u2","role":"x"}]`
	raw, err := protocol.Joined([]byte(own), "u1", "a1", "u2", "a2")
	if err != nil {
		t.Fatal(err)
	}
	var list []struct{ ID, Role string }
	if err := json.Unmarshal(raw, &list); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, m := range list {
		got = append(got, m.ID+" "+m.Role)
	}
	want := []string{"hello x", "u1 x", "a1 assistant", "local x", "u2 x", "a2 assistant"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("messages mismatch (-want +got):\n%s", diff)
	}
}

// A client that continues at any event gets the others, and nothing twice.
func TestFeed_continues(t *testing.T) {
	play := func(f *protocol.Feed, after int64, whole bool) {
		if whole {
			f.SetSteps("one", "two")
		}
		if after < 2 {
			f.Say("m", "a", false, 2)
		}
		f.SetSteps("two", "three")
		if after < 4 {
			f.Say("m", "b", true, 4)
		}
		f.Settle()
	}
	frames := func(f *protocol.Feed) []string {
		text, err := f.Take()
		if err != nil {
			t.Fatal(err)
		}
		return strings.SplitAfter(strings.TrimSuffix(text, "\n\n"), "\n\n")
	}
	whole := &protocol.Feed{}
	play(whole, 0, true)
	all := frames(whole)
	if len(all) != 10 {
		t.Fatalf("%d events:\n%s", len(all), strings.Join(all, ""))
	}
	for n := range all {
		id := strings.TrimPrefix(strings.SplitN(all[n], "\n", 2)[0], "id: ")
		at, ok := protocol.ParsePosition(id)
		if !ok {
			t.Fatalf("%q is no position", id)
		}
		f := &protocol.Feed{At: at}
		play(f, at.Seq, false)
		events := append(slices.Clone(all[:n+1]), frames(f)...)
		check(t, events)
		text := strings.Join(events, "")
		for _, delta := range []string{`"delta":"a"`, `"delta":"b"`} {
			if strings.Count(text, delta) != 1 {
				t.Errorf("continued after event %d: %s is there %d times", n, delta, strings.Count(text, delta))
			}
		}
	}
}

// check checks that all that starts ends, and does not start while it lasts.
func check(t *testing.T, frames []string) {
	t.Helper()
	open := map[string]bool{}
	for _, frame := range frames {
		_, data, found := strings.Cut(frame, "\ndata: ")
		if !found {
			continue
		}
		var e struct{ Type, MessageID, StepName string }
		if err := json.Unmarshal([]byte(data), &e); err != nil {
			t.Fatal(err)
		}
		kind, is, _ := strings.Cut(strings.TrimPrefix(e.Type, "TEXT_"), "_")
		key := kind + e.MessageID + e.StepName
		switch is {
		case "START", "STARTED":
			if open[key] {
				t.Errorf("%s starts twice", key)
			}
			open[key] = true
		default:
			if !open[key] {
				t.Errorf("%s of %s, which has not started", is, key)
			}
			if is != "CONTENT" {
				delete(open, key)
			}
		}
	}
	if len(open) > 0 {
		t.Errorf("still open: %v", open)
	}
}

// Ids of events that this server has not made are no positions.
func TestParsePosition_foreign(t *testing.T) {
	for _, id := range []string{"", "x", "12", "bnVsbA==", "eyJuIjotMn0"} {
		if _, ok := protocol.ParsePosition(id); ok {
			t.Errorf("%q is a position", id)
		}
	}
}
