package executortest_test

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"longhaul/a2a"
	"longhaul/activities"
	"longhaul/activities/echo"
	"longhaul/activities/executortest"
	"longhaul/opt"
)

// config is for executors that understand echo's scripts.
func config(e activities.Executor) executortest.Config {
	return executortest.Config{
		Executor:  e,
		Completes: activities.Work{Description: "stream 3 1ms; say done"},
		Fails:     activities.Work{Description: "fail"},
		Errs:      &activities.Work{Description: "fail 1"},
		Waits:     &activities.Work{Description: "approve Ship it?; ask What color?; say done"},
		Long:      activities.Work{Description: "work 1h"},
		Secrets:   []string{`hunter"2`},
	}
}

// TestRun_findsBrokenPromises runs the suite on executors with one mistake each.
func TestRun_findsBrokenPromises(t *testing.T) {
	var count atomic.Int64
	until := make(chan struct{})
	defer close(until)
	for name, tt := range map[string]struct {
		executor executor
		want     []string
	}{
		"good":            {echo.Executor{}.Execute, nil},
		"always fails":    {always(activities.Failed("no", "No.")), []string{"completes", "errs", "stopsAtDeadline", "waits"}},
		"always waits":    {always(approval), []string{"completes", "errs", "fails", "stopsAtDeadline", "waits"}},
		"stack in error":  {onError(errors.New("boom\ngoroutine 1")), []string{"errs"}},
		"secret in error": {onError(errors.New(`password hunter"2`)), []string{"errs"}},
		"other each time": {onCompleted(func(o *activities.Outcome) {
			o.Artifacts[0].Parts = []a2a.Part{a2a.DataPart(count.Add(1))}
		}), []string{"isUsedByMany", "repeats"}},
		"secret in an artifact": {onCompleted(func(o *activities.Outcome) {
			o.Artifacts[0].Name = `hunter"2`
		}), []string{"completes", "isUsedByMany", "repeats"}},
		"changes its work": {changesWork, []string{"leavesItsWorkAlone"}},
		"deaf":             {deaf(until), []string{"stopsAtDeadline", "stopsWhenCanceled"}},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := config(tt.executor)
			if name == "deaf" {
				cfg.Soon = 10 * time.Millisecond
			}
			broken := executortest.Broken(t.Context(), cfg)
			got := slices.Sorted(maps.Keys(broken))
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("broken promises (-want +got):\n%s\n%v", diff, broken)
			}
		})
	}
}

func TestCheckOutcome(t *testing.T) {
	text := []a2a.Part{a2a.TextPart("x")}
	for _, tt := range []struct {
		name    string
		outcome activities.Outcome
		pieces  []executortest.Piece
		want    string
	}{
		{"nothing", activities.Outcome{}, nil, `no outcome has the state ""`},
		{"canceled", activities.Outcome{State: opt.TaskCanceled}, nil, `no outcome has the state "canceled"`},
		{"completed", activities.Completed(a2a.Artifact{ArtifactID: "a", Parts: text}), nil, ""},
		{"artifact without id", activities.Completed(a2a.Artifact{Parts: text}), nil, "an artifact has no id"},
		{"artifact without parts", activities.Completed(a2a.Artifact{ArtifactID: "a"}), nil, `artifact "a" has no parts`},
		{"empty part", activities.Completed(a2a.Artifact{ArtifactID: "a", Parts: []a2a.Part{{}}}), nil, `part 0 of artifact "a" has 0 contents, not one`},
		{"bad data", activities.Completed(a2a.Artifact{ArtifactID: "a", Parts: []a2a.Part{{Data: json.RawMessage("{")}}}), nil, `part 0 of artifact "a" is not JSON`},
		{"same id", activities.Completed(a2a.Artifact{ArtifactID: "a", Parts: text}, a2a.Artifact{ArtifactID: "a", Parts: text}), nil, `two artifacts have the id "a"`},
		{"id of a streamed one", activities.Completed(a2a.Artifact{ArtifactID: "a", Parts: text}), pieces("a", true), `two artifacts have the id "a"`},
		{"completed with a code", activities.Outcome{State: opt.TaskCompleted, Code: "x"}, nil, "a completed outcome has a failure"},
		{"streamed", activities.Completed(), pieces("a", false, true), ""},
		{"no last piece", activities.Completed(), pieces("a", false, false), `artifact "a" was streamed without a last piece`},
		{"no last piece of a failure", activities.Failed("x", "X."), pieces("a", false), ""},
		{"piece after the last", activities.Completed(), pieces("a", true, false), `piece 1 of artifact "a" comes after its last`},
		{"two last pieces", activities.Completed(), pieces("a", true, true), `piece 1 of artifact "a" comes after its last`},
		{"failed", activities.Failed("told-to", "It failed."), nil, ""},
		{"rejected", activities.Rejected("too-hard", "It is too hard."), nil, ""},
		{"rejected without a code", activities.Rejected("", "It is too hard."), nil, `the code of a failure must be a word, not ""`},
		{"failed without a code", activities.Failed("", "It failed."), nil, `the code of a failure must be a word, not ""`},
		{"code of two words", activities.Failed("told to", "It failed."), nil, `the code of a failure must be a word, not "told to"`},
		{"failed without a message", activities.Failed("x", " "), nil, "a failure needs a message"},
		{"failed with a stack", activities.Failed("x", "main.go:12"), nil, `a message for clients must be one line without a stack trace, not "main.go:12"`},
		{"failed on two lines", activities.Failed("x", "a\nb"), nil, `a message for clients must be one line without a stack trace, not "a\nb"`},
		{"failed with a gate", activities.Outcome{State: opt.TaskFailed, Gate: &opt.Gate{}}, nil, `an outcome in state "failed" has a gate`},
		{"approval", approval, nil, ""},
		{"waiting without a gate", activities.Outcome{State: opt.TaskInputRequired}, nil, `an outcome in state "input-required" needs a gate`},
		{"wrong state", activities.Outcome{State: opt.TaskAuthRequired, Gate: approval.Gate}, nil, `a task at a gate of kind "approval" is "input-required", not "auth-required"`},
		{"waiting with artifacts", activities.Outcome{State: opt.TaskInputRequired, Gate: approval.Gate, Code: "x"}, nil, "a waiting outcome has a failure or artifacts"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := &executortest.Stream{}
			for _, p := range tt.pieces {
				if err := s.Chunk(t.Context(), p.Artifact, p.Last); err != nil {
					t.Fatal(err)
				}
			}
			check(t, executortest.CheckOutcome(tt.outcome, s), tt.want)
		})
	}
}

func TestCheckGate(t *testing.T) {
	for _, tt := range []struct {
		name string
		gate opt.Gate
		want string
	}{
		{"kind", opt.Gate{Kind: "tea"}, `there is no gate of kind "tea"`},
		{"id", opt.Gate{ID: "x", Kind: opt.Approval}, "an executor must not set the id, the times or the taken steps of a gate"},
		{"ladder", opt.Gate{Kind: opt.Credential, Title: "Log in", Ladder: []opt.Step{{Kind: opt.Expire, After: 60}}}, ""},
		{"wrong ladder", opt.Gate{Kind: opt.Credential, Title: "Log in", Ladder: []opt.Step{{Kind: opt.Escalate, After: 60}}}, "step 1: escalate needs the principals or groups that may answer then"},
		{"data", opt.Gate{Kind: opt.Approval, ArtifactData: json.RawMessage("{")}, "the artifact data of a gate is not JSON"},
		{"approval", opt.Gate{Kind: opt.Approval, Title: "x", Actions: []opt.Action{opt.Accept, opt.Refine}}, ""},
		{"no title", opt.Gate{Kind: opt.Approval, Actions: []opt.Action{opt.Accept}}, "an approval needs a title"},
		{"no action", opt.Gate{Kind: opt.Approval, Title: "x"}, "an approval offers no action"},
		{"unknown action", opt.Gate{Kind: opt.Approval, Title: "x", Actions: []opt.Action{"wink"}}, `an approval cannot offer "wink"`},
		{"action twice", opt.Gate{Kind: opt.Approval, Title: "x", Actions: []opt.Action{opt.Ask, opt.Ask}}, `an approval cannot offer "ask"`},
		{"questions", opt.Gate{Kind: opt.Approval, Title: "x", Actions: []opt.Action{opt.Ask}, Questions: make([]opt.Question, 1)}, "an approval has questions"},
		{"clarification", opt.Gate{Kind: opt.Clarification, Questions: []opt.Question{{ID: "a", Question: "A?"}}}, ""},
		{"no questions", opt.Gate{Kind: opt.Clarification}, "a clarification has no questions"},
		{"actions", opt.Gate{Kind: opt.Clarification, Questions: make([]opt.Question, 1), Actions: []opt.Action{opt.Ask}}, "a clarification has actions"},
		{"question without id", opt.Gate{Kind: opt.Clarification, Questions: []opt.Question{{Question: "A?"}}}, "question 0 needs an id of its own"},
		{"question twice", opt.Gate{Kind: opt.Clarification, Questions: []opt.Question{{ID: "a", Question: "A?"}, {ID: "a", Question: "B?"}}}, "question 1 needs an id of its own"},
		{"question without text", opt.Gate{Kind: opt.Clarification, Questions: []opt.Question{{ID: "a"}}}, "question 0 has no text"},
		{"schema", opt.Gate{Kind: opt.Clarification, Questions: []opt.Question{{ID: "a", Question: "A?", Schema: json.RawMessage("{")}}}, "the schema of question 0 is not JSON"},
		{"credential", opt.Gate{Kind: opt.Credential, Title: "Log in"}, ""},
		{"mute credential", opt.Gate{Kind: opt.Credential}, "a credential gate does not say which credential it needs"},
	} {
		t.Run(tt.name, func(t *testing.T) { check(t, executortest.CheckGate(tt.gate), tt.want) })
	}
}

func check(t *testing.T, err error, want string) {
	t.Helper()
	got := ""
	if err != nil {
		got = err.Error()
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("error mismatch (-want +got):\n%s", diff)
	}
}

var approval = activities.WaitFor(opt.Gate{Kind: opt.Approval, Title: "Ship it?", Actions: []opt.Action{opt.Accept}})

// pieces returns pieces of one artifact, given which are flagged as the last.
func pieces(id string, last ...bool) []executortest.Piece {
	var out []executortest.Piece
	for _, l := range last {
		out = append(out, executortest.Piece{Artifact: a2a.Artifact{ArtifactID: id, Parts: []a2a.Part{a2a.TextPart("x")}}, Last: l})
	}
	return out
}

type executor func(context.Context, activities.Work, activities.Stream) (activities.Outcome, error)

func (f executor) Execute(ctx context.Context, w activities.Work, out activities.Stream) (activities.Outcome, error) {
	return f(ctx, w, out)
}

func always(o activities.Outcome) executor {
	return func(context.Context, activities.Work, activities.Stream) (activities.Outcome, error) { return o, nil }
}

// onError is echo with another error.
func onError(other error) executor {
	return func(ctx context.Context, w activities.Work, out activities.Stream) (activities.Outcome, error) {
		o, err := echo.Executor{}.Execute(ctx, w, out)
		if err != nil {
			err = other
		}
		return o, err
	}
}

// onCompleted is echo with other completed outcomes.
func onCompleted(change func(*activities.Outcome)) executor {
	return func(ctx context.Context, w activities.Work, out activities.Stream) (activities.Outcome, error) {
		o, err := echo.Executor{}.Execute(ctx, w, out)
		if o.State == opt.TaskCompleted && w.Replies == nil {
			change(&o)
		}
		return o, err
	}
}

func changesWork(ctx context.Context, w activities.Work, out activities.Stream) (activities.Outcome, error) {
	o, err := echo.Executor{}.Execute(ctx, w, out)
	if len(w.Messages) > 0 {
		w.Messages[0].MessageID = "changed"
	}
	return o, err
}

// deaf ignores a cancellation.
func deaf(until <-chan struct{}) executor {
	return func(ctx context.Context, w activities.Work, out activities.Stream) (activities.Outcome, error) {
		if w.Description == "work 1h" {
			<-until
		}
		return echo.Executor{}.Execute(ctx, w, out)
	}
}
