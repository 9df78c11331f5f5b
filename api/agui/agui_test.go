package agui_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"longhaul/a2a"
	"longhaul/api/agui"
	"longhaul/internal/test"
	"longhaul/opt"
)

// Messages of the client that the thread does not have stay where they were.
func TestJoined(t *testing.T) {
	own := `[{"id":"hello","role":"x"},{"id":"u1","role":"x"},{"id":"local","role":"x"},{"id":"u2","role":"x"}]`
	raw := test.Value(agui.Joined([]byte(own), "u1", "a1", "u2", "a2"))(t)
	var list []struct{ ID, Role string }
	test.OK(t, json.Unmarshal(raw, &list))
	var got []string
	for _, m := range list {
		got = append(got, m.ID+" "+m.Role)
	}
	want := []string{"hello x", "u1 x", "a1 assistant", "local x", "u2 x", "a2 assistant"}
	test.Equal(t, "messages", want, got)
}

// A client that continues at any event gets the others, and nothing twice.
func TestFeed_continues(t *testing.T) {
	play := func(f *agui.Feed, after int64, whole bool) {
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
	frames := func(f *agui.Feed) []string {
		text := test.Value(f.Take())(t)
		return strings.SplitAfter(strings.TrimSuffix(text, "\n\n"), "\n\n")
	}
	whole, _ := agui.NewFeed("")
	play(whole, 0, true)
	all := frames(whole)
	if len(all) != 10 {
		t.Fatalf("%d events:\n%s", len(all), strings.Join(all, ""))
	}
	for n := range all {
		id := strings.TrimPrefix(strings.SplitN(all[n], "\n", 2)[0], "id: ")
		f, ok := agui.NewFeed(id)
		if !ok {
			t.Fatalf("%q is no position", id)
		}
		play(f, f.Seq(), false)
		events := append(slices.Clone(all[:n+1]), frames(f)...)
		check(t, events)
		text := strings.Join(events, "")
		for _, delta := range []string{`"delta":"a"`, `"delta":"b"`} {
			test.Is(t, fmt.Sprintf("continued after event %d: %s is times", n, delta), 1, strings.Count(text, delta))
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
		test.OK(t, json.Unmarshal([]byte(data), &e))
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
func TestFeed_foreign(t *testing.T) {
	for _, id := range []string{"", "x", "12", "bnVsbA==", "eyJuIjotMn0"} {
		if _, ok := agui.NewFeed(id); ok {
			t.Errorf("%q is a position", id)
		}
	}
}

// Answers keep the digits of numbers, and null is an answer where it is given.
func TestReply_answer(t *testing.T) {
	one := &opt.Gate{Kind: opt.Clarification, ID: "task-x:1", Questions: []opt.Question{{ID: "n", Question: "How many?", Schema: json.RawMessage(`{"enum":[9007199254740993,null]}`)}}}
	edits := &opt.Gate{Kind: opt.Approval, ID: "task-x:1", Actions: []opt.Action{opt.EditAccept}}
	edits.Object = []a2a.Part{{Data: json.RawMessage(`{"server":"s","tool":"t","arguments":{},"call":9007199254740993}`)}}
	for _, tt := range []struct {
		gate         *opt.Gate
		resume, want string
	}{
		{one, `"payload":9007199254740993`, `"answer":9007199254740993`},
		{one, `"payload":{"n":9007199254740993}`, `"answer":9007199254740993`},
		{one, `"payload":null`, `"answer":null`},
		{one, `"payload":{"n":null}`, `"answer":null`},
		{edits, `"payload":{"approved":true,"editedArgs":{"of":9007199254740993}}`, `"editedArtifactData":{"arguments":{"of":9007199254740993},"call":9007199254740993`},
	} {
		p, err := agui.Answer(tt.gate, `{"interruptId":"task-x:1","status":"resolved",`+tt.resume+`}`)
		if err != nil || len(p.Message.Message.Parts) != 1 || !strings.Contains(string(p.Message.Message.Parts[0].Data), tt.want) {
			t.Errorf("%s: %+v, %v", tt.resume, p.Message.Message.Parts, err)
		}
	}
	test.Fails(t, "nothing is an answer", "", test.Err(agui.Answer(one, `{"interruptId":"task-x:1","status":"resolved"}`)))
	if schema, err := agui.Schema(one); err != nil || !strings.Contains(string(schema), `[9007199254740993,null]`) {
		t.Errorf("the schema: %s, %v", schema, err)
	}
}
