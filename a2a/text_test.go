package a2a_test

import (
	"fmt"
	"strings"
	"testing"

	"longhaul/a2a"
	"longhaul/internal/test"
)

func TestTypes_printReadably(t *testing.T) {
	url := "https://example.com/report.pdf"
	said := &a2a.Message{Role: a2a.RoleAgent, Parts: []a2a.Part{a2a.TextPart("Writing,\ntask 2 of 4")}}
	task := &a2a.Task{ID: "t1", Status: a2a.TaskStatus{State: a2a.Working, Message: said}}
	tests := []struct {
		value any
		want  string
	}{
		{task, "task t1: working, Writing, task 2 of 4"},
		{a2a.Task{ID: "t1", Status: a2a.TaskStatus{State: a2a.Failed}}, "task t1: failed"},
		{said, "agent: Writing, task 2 of 4"},
		{a2a.Event{Task: task}, "task t1: working, Writing, task 2 of 4"},
		{a2a.Event{Status: &a2a.StatusUpdate{TaskID: "t1", Status: a2a.TaskStatus{State: a2a.Canceled}}}, "task t1: canceled"},
		{a2a.Event{Artifact: &a2a.ArtifactUpdate{TaskID: "t1", Artifact: a2a.Artifact{ArtifactID: "a1", Parts: []a2a.Part{a2a.DataPart(7)}}}}, "task t1: artifact a1: 7"},
		{a2a.Event{}, "no event"},
		{a2a.Part{URL: &url}, url},
		{a2a.Part{Raw: []byte("abc"), MediaType: "image/png"}, "3 bytes of image/png"},
		{a2a.Part{}, "nothing"},
		{a2a.TextPart(strings.Repeat("é", 300)), strings.Repeat("é", 200) + "…"},
	}
	for _, tt := range tests {
		if got := fmt.Sprint(tt.value); got != tt.want {
			t.Errorf("%q, want %q", got, tt.want)
		}
	}
}

// No text of others controls a terminal, changes the direction of what follows or hides.
func TestVisible(t *testing.T) {
	for text, want := range map[string]string{
		"plain, ä 茶\tand\nlines":       "plain, ä 茶\tand\nlines",
		"lines\r\nof forms":            "lines\nof forms",
		"\x1b]0;title\x07":             "‹U+001B›]0;title‹U+0007›",
		"\u009b2J\rx":                  "‹U+009B›2J‹U+000D›x",
		"a\u202egnp.exe \u2066x\u200f": "a‹U+202E›gnp.exe ‹U+2066›x‹U+200F›",
		"zero\u200bwidth\ufeff":        "zero‹U+200B›width‹U+FEFF›",
		"tags \U000e0041":              "tags ‹U+E0041›",
		"a\u2028b":                     "a‹U+2028›b",
		"\xffx":                        "\uFFFDx",
		"👩\u200d👧 می\u200cخواهم soft\u00ad": "👩\u200d👧 می\u200cخواهم soft\u00ad",
	} {
		test.Is(t, fmt.Sprintf("%q", text), want, a2a.Visible(text))
	}
	test.Is(t, "on one line", "a b‹U+001B›", a2a.VisibleLine(" a\r\nb\x1b "))
}
