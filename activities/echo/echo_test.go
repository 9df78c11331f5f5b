package echo_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"longhaul/a2a"
	"longhaul/activities"
	"longhaul/activities/echo"
	"longhaul/activities/executortest"
	"longhaul/internal/test"
	"longhaul/opt"
)

func TestExecutor(t *testing.T) {
	executortest.Run(t, executortest.Config{
		Executor:  echo.Executor{},
		Completes: activities.Work{Description: "work 1ms; stream 3 1ms; say Done"},
		Fails:     activities.Work{Description: "fail"},
		Errs:      &activities.Work{Description: "fail 1"},
		Waits:     &activities.Work{Description: "approve Ship it?; ask What color?; say Done"},
		Long:      activities.Work{Description: "work 1h"},
		Large:     &activities.Work{Description: "say " + strings.Repeat("x", executortest.LargeResult)},
		Untrusted: &activities.Work{Description: "say " + executortest.Hostile},
	})
}

func TestExecutor_Execute(t *testing.T) {
	accept := opt.Reply{Action: opt.Accept}
	approval := activities.WaitFor(opt.Gate{Kind: opt.Approval, Title: "Ship it?", Actions: []opt.Action{opt.Accept, opt.Reject}})
	question := activities.WaitFor(opt.Gate{Kind: opt.Clarification, Questions: []opt.Question{{ID: "q1", Question: "What color?"}}})
	for _, tt := range []struct {
		script  string
		attempt int // 1 if 0
		replies []opt.Reply
		want    activities.Outcome
		err     string
	}{
		{script: "say Hello", want: said("Hello")},
		{script: "SAY  Hello ; say again", want: said("Hello\nagain")},
		{script: "pass", want: activities.Completed()},
		{script: "pass; say Hello", want: said("Hello")},
		{script: "Tell me a story", want: said("Tell me a story")},
		{script: "work 5m\nsay Done", want: said("Done")},
		{script: "work hard", want: said("work hard")},
		{script: "work 2h", want: said("work 2h")},
		{script: "work -1s", want: said("work -1s")},
		{script: "say", want: said("say")},
		{script: "fail", want: activities.Failed("told-to", "The task was told to fail.")},
		{script: "fail 2; say Done", err: "told to fail on attempt 1 of 2"},
		{script: "fail 2; say Done", attempt: 2, err: "told to fail on attempt 2 of 2"},
		{script: "fail 2; say Done", attempt: 3, want: said("Done")},
		{script: "fail 0", want: said("fail 0")},
		{script: "fail twice", want: said("fail twice")},
		{script: "fail 1 busy; say Done", attempt: 2, want: said("Done")},
		{script: "fail 1 busy", err: "busy: told to fail on attempt 1 of 1"},
		{script: "fail 1 for good", want: said("fail 1 for good")},
		{script: "fail 10001", want: said("fail 10001")},
		{script: "panic at the disco", want: said("panic at the disco")},
		{script: "stream 0", want: said("stream 0")},
		{script: "stream 2 1s 1s", want: said("stream 2 1s 1s")},
		{script: "stream 61 1m", want: said("stream 61 1m")},
		{script: "stream 2", want: activities.Completed()},
		{script: "stream 2; say Done", want: said("Done")},
		{script: "approve Ship it?", want: approval},
		{script: "approve Ship it?; say Done", replies: []opt.Reply{accept}, want: said("Done")},
		{script: "approve Ship it?", replies: []opt.Reply{{Action: opt.Reject}}, want: activities.Failed("approval_rejected", "The approval was rejected.")},
		{script: "approve Ship it?", replies: []opt.Reply{{Action: opt.Reject, DecidedBy: opt.ByTimer, Feedback: opt.ReasonTimeout}}, want: activities.Failed(opt.ReasonTimeout, "No answer came in time.")},
		{script: "approve Ship it?", replies: []opt.Reply{{Action: opt.Reject, Feedback: "Too red."}}, want: activities.Failed("approval_rejected", "The approval was rejected. Too red.")},
		{script: "ask What color?", want: question},
		{script: "ask What color?", replies: []opt.Reply{answer(`"red \"and\" blue"`)}, want: said(`What color? red "and" blue`)},
		{script: "ask What color?", replies: []opt.Reply{answer(`7`)}, want: said("What color? 7")},
		{script: "approve Ship it?; ask What color?", replies: []opt.Reply{accept}, want: question},
		{script: "approve Ship it?; ask What color?", replies: []opt.Reply{accept, answer(`"red"`)}, want: said("What color? red")},
		{script: "fail 1; approve Ship it?", attempt: 2, want: approval},
	} {
		t.Run(tt.script, func(t *testing.T) {
			got, _, err := execute(t, activities.Work{Name: "Task", Description: tt.script, Attempt: max(tt.attempt, 1), Replies: tt.replies})
			test.Equal(t, "outcome", tt.want, got)
			if tt.err != "" && (err == nil || err.Error() != tt.err) || tt.err == "" && err != nil {
				t.Errorf("error: got %v, want %q", err, tt.err)
			}
		})
	}
}

func TestExecutor_Execute_echoesWhatCameBefore(t *testing.T) {
	got, _, _ := execute(t, activities.Work{Name: "Sum up", Results: []activities.Result{
		{Name: "Search"},
		{Artifacts: []a2a.Artifact{{Name: "Notes"}, {Name: "Sources"}}}, // of an earlier plan
	}})
	test.Is(t, "the text", "Sum up\n· Search\n· Notes\n· Sources", got.Artifacts[0].Text())
}

// A failure with a code is an activities.Error.
func TestExecutor_Execute_failsWithCode(t *testing.T) {
	_, _, err := execute(t, activities.Work{Description: "fail 1 busy", Attempt: 1})
	var coded *activities.Error
	if !errors.As(err, &coded) || coded.Code != "busy" || coded.Message != "told to fail on attempt 1 of 1" {
		t.Errorf("got %#v", err)
	}
}

func TestExecutor_Execute_echoesItsInput(t *testing.T) {
	for input, want := range map[string]string{
		``:              "Sum up",
		`"say\nthis"`:   "Sum up\nsay\nthis",
		`{"a":["<b>"]}`: "Sum up\n{\"a\":[\"<b>\"]}",
	} {
		got, _, err := execute(t, activities.Work{Name: "Sum up", Input: json.RawMessage(input)})
		if err != nil || got.Artifacts[0].Text() != want {
			t.Errorf("%s: got %+v, error %v", input, got, err)
		}
	}
}

func TestExecutor_Execute_takesItsTime(t *testing.T) {
	for script, want := range map[string]time.Duration{
		"work 2s":              2 * time.Second,
		"stream 12 250ms":      11 * 250 * time.Millisecond,
		"stream 3":             20 * time.Millisecond,
		"work 1s; work 2s":     3 * time.Second,
		"work 1s\nstream 1 1m": time.Second,
	} {
		if _, took, err := execute(t, activities.Work{Description: script}); took != want || err != nil {
			t.Errorf("%q took %v, want %v; error %v", script, took, want, err)
		}
	}
}

func TestExecutor_Execute_streams(t *testing.T) {
	s := &executortest.Stream{}
	test.Value((echo.Executor{}).Execute(t.Context(), activities.Work{Description: "stream 2 1ms"}, s))(t)
	var got []string
	for _, p := range s.Pieces() {
		got = append(got, strings.TrimSpace(p.Artifact.Text()))
	}
	test.Equal(t, "pieces", []string{"piece 1 of 2", "piece 2 of 2"}, got)
}

func TestExecutor_Execute_panicsWhenTold(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("no panic")
		}
	}()
	_, _ = echo.Executor{}.Execute(t.Context(), activities.Work{Description: "panic"}, &executortest.Stream{})
}

// execute runs w in a synctest bubble, and returns how much simulated time it
// took.
func execute(t *testing.T, w activities.Work) (out activities.Outcome, took time.Duration, err error) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		out, err = echo.Executor{}.Execute(t.Context(), w, &executortest.Stream{})
		took = time.Since(begin)
	})
	return out, took, err
}

func said(text string) activities.Outcome {
	return activities.Completed(a2a.Artifact{ArtifactID: "echo", Name: "Task", Parts: []a2a.Part{a2a.TextPart(text)}})
}

func answer(raw string) opt.Reply {
	return opt.Reply{Answers: []opt.Answer{{ID: "q1", Answer: json.RawMessage(raw)}}}
}

func TestIsScript(t *testing.T) {
	for text, want := range map[string]bool{
		"say hello": true, " work 5s; ask Which color?": true, "approve Ship it?\nsay x": true, "fail": true,
		"": false, "Say": false, "work hard": false, "Write an article; say done": false, "Hello\nsay x": false,
	} {
		test.Is(t, fmt.Sprintf("%q", text), want, echo.IsScript(text))
	}
}

// The table in docs/executors.md has each command, with examples that are ones.
func TestCommands_documented(t *testing.T) {
	raw := test.Value(os.ReadFile("../../docs/executors.md"))(t)
	_, table, _ := strings.Cut(string(raw), "## `echo`")
	_, table, _ = strings.Cut(table, "```\n")
	table, _, _ = strings.Cut(table, "```")
	var verbs []string
	for row := range strings.Lines(table) {
		example, _, _ := strings.Cut(row, "  ")
		if !echo.IsScript(example) {
			t.Errorf("%q is no command", example)
		}
		verb, _, _ := strings.Cut(example, " ")
		verbs = append(verbs, verb)
	}
	slices.Sort(verbs)
	test.Equal(t, "commands", echo.Verbs, slices.Compact(verbs))
}

// Text that is like a command and none says so; other text does not.
func TestExecutor_Execute_hint(t *testing.T) {
	for text, want := range map[string]string{
		"sleep 2s":          "sleep 2s\n(\"sleep 2s\" is no command of echo. Did you mean work?)",
		"say hi; sya there": "hi\n(\"sya there\" is no command of echo. Did you mean say?)",
		"write a notice":    "write a notice",
		"Wait for tea":      "Wait for tea",
		"task 3":            "task 3",
	} {
		got := test.Value(echo.Executor{}.Execute(t.Context(), activities.Work{Name: "Task", Description: text}, nil))(t)
		test.Equal(t, fmt.Sprintf("%q", text), said(want), got)
	}
}

// An article has the points of its outline.
func TestExecutor_Execute_write(t *testing.T) {
	for _, tt := range []struct{ outline, want string }{
		{`"Outline for \"Tea\"\n1. Where it comes from\n2) How it works\nIt also covers cups\n"`,
			"# Tea\n\n## Where it comes from\n\nThe encyclopedia gives it a chapter of its own. It has more dates than a reader needs, and all that matter.\n" +
				"\n## How it works\n\nThe survey asked two hundred people about it. Most knew less than they had thought, and said so.\n\nIt also covers cups\n"},
		{`"Lamps\nKeepers"`, "## Lamps\n\nThe encyclopedia gives it a chapter of its own. It has more dates than a reader needs, and all that matter.\n" +
			"\n## Keepers\n\nThe survey asked two hundred people about it. Most knew less than they had thought, and said so.\n"},
		{`""`, "There is no outline to write along.\n"},
	} {
		s := &executortest.Stream{}
		_, err := echo.Executor{}.Execute(t.Context(), activities.Work{Description: "write 0s", Input: json.RawMessage(tt.outline)}, s)
		got := ""
		for _, p := range s.Pieces() {
			got += p.Artifact.Text()
		}
		if err != nil || got != tt.want {
			t.Errorf("%s: error %v\n%s\nwant\n%s", tt.outline, err, got, tt.want)
		}
	}
}
