package planner_test

import (
	"fmt"
	"testing"

	"longhaul/a2a"
	"longhaul/activities/planner"
	"longhaul/internal/test"
	"longhaul/opt"
)

func TestRules_Answer(t *testing.T) {
	for said, want := range map[string]string{
		"2+2":                        "2+2 = 4",
		"What is 2 + 2?":             "2 + 2 = 4",
		"calculate (1 + 2) * 3":      "(1 + 2) * 3 = 9",
		"7 / 2 =":                    "7 / 2 = 3.5",
		"-1 + 0.5":                   "-1 + 0.5 = -0.5",
		"1/0":                        "",
		"42":                         "",
		"2 + x":                      "",
		"1 << 2":                     "",
		"Hello!":                     "",
		"Hello, write an article":    "",
		"What is the capital of it?": "",
		"":                           "",
	} {
		got, ok := planner.Rules{}.Answer(message(said))
		if got != want || ok != (want != "") {
			t.Errorf("%q: %q, %v; want %q", said, got, ok, want)
		}
	}
	preferring := message("2+2")
	preferring.Metadata = a2a.Metadata{}.With(opt.KeyPreferObjective, true)
	if got, ok := (planner.Rules{}).Answer(preferring); ok {
		t.Errorf("a sender who prefers an objective got %q", got)
	}
}

func TestRules_Steps(t *testing.T) {
	for request, want := range map[string][]string{
		"1. Find sources\n2) Read them\n":                      {"Find sources", "Read them"},
		"Please do this:\n- wash\n- dry\n* fold":               {"wash", "dry", "fold"},
		"First find sources, then read them. Finally write it": {"find sources", "read them", "write it"},
		"Find sources and then read them":                      {"Find sources", "read them"},
		"Wash, then dry, then fold":                            {"Wash", "dry", "fold"},
		"- only one":                                           nil,
		"work 2s; approve Ship it?; say done":                  nil,
		"work 2s\nsay done":                                    nil,
		"Write an article":                                     nil,
	} {
		test.Equal(t, fmt.Sprintf("%q", request), want, planner.Rules{}.Steps(request))
	}
}
