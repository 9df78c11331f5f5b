package a2a_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"longhaul/a2a"
	"longhaul/internal/test"
)

func TestPart_presence(t *testing.T) {
	empty, url := "", "https://example.com/a"
	tests := []struct {
		name    string
		part    a2a.Part
		json    string
		members int
	}{
		{"nothing", a2a.Part{}, `{}`, 0},
		{"only a name", a2a.Part{Filename: "a.txt", MediaType: "text/plain"}, `{"filename":"a.txt","mediaType":"text/plain"}`, 0},
		{"text", a2a.TextPart("hello"), `{"text":"hello"}`, 1},
		{"empty text", a2a.TextPart(""), `{"text":""}`, 1},
		{"text of another script", a2a.TextPart("grüße 🚚"), `{"text":"grüße 🚚"}`, 1},
		{"raw", a2a.Part{Raw: []byte{0, 255}}, `{"raw":"AP8="}`, 1},
		{"empty raw", a2a.Part{Raw: []byte{}}, `{"raw":""}`, 1},
		{"url", a2a.Part{URL: &url}, `{"url":"https://example.com/a"}`, 1},
		{"empty url", a2a.Part{URL: &empty}, `{"url":""}`, 1},
		{"null data", a2a.DataPart(nil), `{"data":null}`, 1},
		{"false data", a2a.DataPart(false), `{"data":false}`, 1},
		{"zero data", a2a.DataPart(0), `{"data":0}`, 1},
		{"empty string data", a2a.DataPart(""), `{"data":""}`, 1},
		{"empty list data", a2a.DataPart([]int{}), `{"data":[]}`, 1},
		{"large number data", a2a.Part{Data: json.RawMessage(`12345678901234567890.10`)}, `{"data":12345678901234567890.10}`, 1},
		{"text and data", a2a.Part{Text: &empty, Data: json.RawMessage(`{}`)}, `{"text":"","data":{}}`, 2},
		{"all four", a2a.Part{Text: &empty, Raw: []byte{}, URL: &empty, Data: json.RawMessage(`0`)}, `{"text":"","raw":"","url":"","data":0}`, 4},
		{"metadata", a2a.Part{Text: &empty, Metadata: a2a.Metadata{"n": json.RawMessage(`1e3`)}}, `{"text":"","metadata":{"n":1e3}}`, 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			test.Is(t, "Members()", tt.members, tt.part.Members())
			test.Is(t, "JSON", tt.json, encode(t, tt.part))
			got := decode[a2a.Part](t, tt.json)
			test.Equal(t, "part after a round trip", tt.part, got)
			test.Is(t, "Members() after a round trip", tt.members, got.Members())
		})
	}
}

func TestPart_nullMembersAreAbsent(t *testing.T) {
	got := decode[a2a.Part](t, `{"text":null,"raw":null,"url":null}`)
	test.Equal(t, "part", a2a.Part{}, got)
}

// Pieces of plain text become one text part. Parts with more than text stay
// separate.
func TestAppendParts(t *testing.T) {
	bold := "<b>"
	html := a2a.Part{Text: &bold, MediaType: "text/html"}
	steps := []struct {
		piece []a2a.Part
		want  []a2a.Part
	}{
		{nil, nil},
		{[]a2a.Part{a2a.TextPart("")}, []a2a.Part{a2a.TextPart("")}},
		{[]a2a.Part{a2a.TextPart("Dear ")}, []a2a.Part{a2a.TextPart("Dear ")}},
		{[]a2a.Part{a2a.TextPart("Ada"), a2a.TextPart(",")}, []a2a.Part{a2a.TextPart("Dear Ada,")}},
		{[]a2a.Part{html, html}, []a2a.Part{a2a.TextPart("Dear Ada,"), html, html}},
		{[]a2a.Part{a2a.TextPart("B"), a2a.DataPart(1), a2a.DataPart(1)}, []a2a.Part{a2a.TextPart("Dear Ada,"), html, html, a2a.TextPart("B"), a2a.DataPart(1), a2a.DataPart(1)}},
	}
	var parts []a2a.Part
	for _, s := range steps {
		parts = a2a.AppendParts(parts, s.piece...)
		test.Equal(t, fmt.Sprintf("after %s", encode(t, s.piece)), s.want, parts)
	}
}

func TestDataText(t *testing.T) {
	for _, tt := range []struct{ data, want string }{
		{`"a \"text\"\n<b>"`, "a \"text\"\n<b>"},
		{`{"a":1}`, "{\n  \"a\": 1\n}"},
		{"null", "null"},
		{"12.50", "12.50"},
		{`"cut o`, `"cut o`},
		{"", ""},
	} {
		test.Is(t, fmt.Sprintf("DataText(%s)", tt.data), tt.want, a2a.DataText([]byte(tt.data)))
	}
}

func TestMessage_Text(t *testing.T) {
	url := "https://example.com"
	parts := []a2a.Part{a2a.TextPart("one"), a2a.DataPart("no text"), a2a.TextPart(""), {URL: &url}, a2a.TextPart("two")}
	test.Is(t, "Message.Text()", "one\n\ntwo", (a2a.Message{Parts: parts}).Text())
	test.Is(t, "Artifact.Text()", "one\n\ntwo", (a2a.Artifact{Parts: parts}).Text())
	test.Is(t, "Text() of nothing", "", (a2a.Message{}).Text())
}

// A task goes through JSON into histories and the journal and has to come back
// as it was.
func TestTask_roundTrip(t *testing.T) {
	at := decode[a2a.Time](t, `"2026-02-15T12:00:00.250Z"`)
	question := a2a.Message{
		MessageID: "m-1", ContextID: "c", TaskID: "t", Role: a2a.RoleAgent, Parts: []a2a.Part{a2a.TextPart(""), a2a.DataPart(nil)},
		Metadata: a2a.Metadata{"n": json.RawMessage(`1.50`)}, Extensions: []string{a2a.ExtensionOPT}, ReferenceTaskIDs: []string{"t0"},
	}
	want := a2a.Task{
		ID: "t", ContextID: "c",
		Status:    a2a.TaskStatus{State: a2a.InputRequired, Message: &question, At: at},
		Artifacts: []a2a.Artifact{{ArtifactID: "a", Name: "n", Description: "d", Parts: []a2a.Part{{Raw: []byte{}}}, Extensions: []string{"x"}}},
		History:   []a2a.Message{{MessageID: "m-0", Role: a2a.RoleUser, Parts: []a2a.Part{a2a.TextPart("go")}}},
		Metadata:  a2a.Metadata{}.With("k", true),
	}
	test.Equal(t, "task after a round trip", want, decode[a2a.Task](t, encode(t, want)))
}

func encode(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatalf("Marshal: %v", err)
	}
	return string(b)
}

func decode[T any](t *testing.T, text string) T {
	t.Helper()
	var v T
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatalf("Unmarshal %s: %v", text, err)
	}
	return v
}
