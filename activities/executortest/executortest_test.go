package executortest_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"longhaul/a2a"
	"longhaul/activities"
	"longhaul/activities/echo"
	"longhaul/activities/executortest"
	"longhaul/internal/test"
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
		}), []string{"isUsedByMany", "repeats", "survivesCrashes"}},
		"secret in an artifact": {onCompleted(func(o *activities.Outcome) {
			o.Artifacts[0].Name = `hunter"2`
		}), []string{"completes", "isUsedByMany", "repeats", "survivesCrashes"}},
		"streams in legs":  {streamsInLegs, []string{"keepsPieces"}},
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
			test.Equal(t, fmt.Sprintf("broken promises\n%v", broken), tt.want, got)
		})
	}
}

// An executor without long work needs no Long, but must not be slow.
func TestRun_quick(t *testing.T) {
	cfg := config(echo.Executor{})
	cfg.Long, cfg.Quick = activities.Work{}, true
	if broken := executortest.Broken(t.Context(), cfg); len(broken) > 0 {
		t.Errorf("broken promises: %v", broken)
	}
	until := make(chan struct{})
	defer close(until)
	cfg.Soon = 10 * time.Millisecond
	cfg.Executor = executor(func(ctx context.Context, w activities.Work, out activities.Stream) (activities.Outcome, error) {
		if _, limited := ctx.Deadline(); limited {
			<-until
		}
		return echo.Executor{}.Execute(ctx, w, out)
	})
	if got := slices.Sorted(maps.Keys(executortest.Broken(t.Context(), cfg))); !slices.Equal(got, []string{"stopsAtDeadline"}) {
		t.Errorf("a slow executor breaks %q", got)
	}
}

// TestRun_findsBrokenLegs runs the suite on an executor that works in legs, with one
// mistake each.
func TestRun_findsBrokenLegs(t *testing.T) {
	for name, tt := range map[string]struct {
		broken func(*legs)
		want   []string
	}{
		"good":                     {func(*legs) {}, nil},
		"effect without a key":     {func(l *legs) { l.keyless = true }, []string{"survivesCrashes"}},
		"no memo":                  {func(l *legs) { l.forgets = true }, []string{"completes", "isUsedByMany", "keepsHostileText", "makesLargeResults", "repeats", "survivesCrashes", "waits"}},
		"goes on when canceled":    {func(l *legs) { l.ignoresCancel = true }, []string{"isCanceled"}},
		"cuts large results":       {func(l *legs) { l.most = 1000 }, []string{"makesLargeResults"}},
		"changes text of others":   {func(l *legs) { l.trusts = true }, []string{"keepsHostileText"}},
		"control in a parked text": {func(l *legs) { l.parkText = "\x1b[2J" }, []string{"completes", "isCanceled", "isUsedByMany", "keepsHostileText", "makesLargeResults", "repeats", "stopsAtDeadline", "survivesCrashes", "waits"}},
		"secret in a parked text":  {func(l *legs) { l.parkText = `hunter"2` }, []string{"completes", "isUsedByMany", "keepsHostileText", "makesLargeResults", "repeats", "survivesCrashes", "waits"}},
	} {
		t.Run(name, func(t *testing.T) {
			l := &legs{seen: map[string]bool{}}
			tt.broken(l)
			large, hostile, waits, forever := activities.Work{Description: "large"}, activities.Work{Description: "hostile"}, activities.Work{Description: "wait"}, activities.Work{Description: "for ever"}
			broken := executortest.Broken(t.Context(), executortest.Config{
				Executor: l, Completes: activities.Work{Description: "small"}, Fails: activities.Work{Description: "fail"}, Long: forever,
				Waits: &waits, Large: &large, Untrusted: &hostile, Parks: &forever, Effects: l.count, Secrets: []string{`hunter"2`},
			})
			got := slices.Sorted(maps.Keys(broken))
			test.Equal(t, fmt.Sprintf("broken promises\n%v", broken), tt.want, got)
		})
	}
}

// legs is an executor that orders something in a first leg and gets it in a third.
type legs struct {
	keyless, forgets, ignoresCancel, trusts bool
	most                                    int // bytes of a result; 0 for all
	parkText                                string

	mu      sync.Mutex
	seen    map[string]bool // keys of orders
	effects int
}

func (l *legs) count() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.effects
}

func (l *legs) order(key string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.keyless || !l.seen[key] {
		l.effects++
	}
	l.seen[key] = true
}

func (l *legs) Execute(_ context.Context, w activities.Work, _ activities.Stream) (activities.Outcome, error) {
	var step int
	if w.Memo != nil && !l.forgets {
		if err := json.Unmarshal(w.Memo, &step); err != nil {
			return activities.Outcome{}, err
		}
	}
	switch {
	case w.Cancel && !l.ignoresCancel:
		return activities.Failed("canceled", "It was canceled."), nil
	case w.Description == "fail":
		return activities.Failed("no", "No."), nil
	case w.Description == "wait" && step == 2 && w.Replies == nil:
		return activities.Keeping(approval, step), nil
	case step < 2 || w.Description == "for ever":
		if step == 0 {
			l.order(w.Key)
		}
		out := activities.ParkFor(time.Hour, step+1, l.parkText)
		out.OnCancel = true
		return out, nil
	}
	text := map[string]string{"large": strings.Repeat("x", executortest.LargeResult), "hostile": executortest.Hostile}[w.Description]
	if l.trusts {
		text = strings.ReplaceAll(text, "<", "")
	}
	if l.most > 0 && len(text) > l.most {
		text = text[:l.most]
	}
	return activities.Completed(a2a.Artifact{ArtifactID: "a", Parts: []a2a.Part{a2a.TextPart(text)}}), nil
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
		{"failed with a control character", activities.Failed("x", "\x1b[2J"), nil, `the message of a failure has a control character: "\x1b[2J"`},
		{"parked", activities.ParkFor(time.Hour, 1, "Soon."), pieces("a", false), ""},
		{"working", activities.Outcome{State: opt.TaskWorking}, nil, `no outcome has the state "working"`},
		{"parked and failed", activities.Outcome{State: opt.TaskFailed, Code: "x", Message: "X.", Park: &opt.Park{}}, nil, `an outcome in state "failed" parks`},
		{"parked with a message", activities.Outcome{State: opt.TaskWorking, Message: "x", Park: &opt.Park{}}, nil, "a parked outcome has a failure"},
		{"parked backwards", activities.ParkFor(-time.Hour, 1, ""), nil, "a task parks for less than nothing"},
		{"parked elsewhere", activities.Outcome{State: opt.TaskWorking, Park: &opt.Park{Elsewhere: &opt.Elsewhere{}}}, nil, "an activity elsewhere needs a queue, a type and its input as JSON"},
		{"parked with a wrong artifact", activities.Outcome{State: opt.TaskWorking, Park: &opt.Park{}, Artifacts: make([]a2a.Artifact, 1)}, nil, "an artifact has no id"},
		{"bad memo", activities.Outcome{State: opt.TaskWorking, Park: &opt.Park{}, Memo: json.RawMessage("{")}, nil, "the memo is not JSON"},
		{"approval", approval, nil, ""},
		{"waiting without a gate", activities.Outcome{State: opt.TaskInputRequired}, nil, `an outcome in state "input-required" needs a gate`},
		{"wrong state", activities.Outcome{State: opt.TaskAuthRequired, Gate: approval.Gate}, nil, `a task at a gate of kind "approval" is "input-required", not "auth-required"`},
		{"waiting with artifacts", activities.Outcome{State: opt.TaskInputRequired, Gate: approval.Gate, Code: "x"}, nil, "a waiting outcome has a failure or artifacts"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := &executortest.Stream{}
			for _, p := range tt.pieces {
				test.OK(t, s.Chunk(t.Context(), p.Artifact, p.Last))
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
		{"kind", opt.Gate{Kind: "tea"}, `there is no gate of kind "tea": the kinds are approval, clarification and credential`},
		{"id", opt.Gate{ID: "x", Kind: opt.Approval, Actions: []opt.Action{opt.Accept}}, "an executor must not set the id, the times or the taken steps of a gate"},
		{"ladder", opt.Gate{Kind: opt.Credential, Title: "Log in", Ladder: []opt.Step{{Kind: opt.Expire, After: 60}}}, ""},
		{"wrong ladder", opt.Gate{Kind: opt.Credential, Title: "Log in", Ladder: []opt.Step{{Kind: opt.Escalate, After: 60}}}, "step 1: escalate needs the principals or groups that may answer then"},
		{"data", opt.Gate{Kind: opt.Approval, Actions: []opt.Action{opt.Accept}, ArtifactData: json.RawMessage("{")}, "the artifact data of a gate is not JSON"},
		{"two objects", opt.Gate{Kind: opt.Approval, ArtifactData: json.RawMessage("1"), Object: make([]a2a.Part, 1)}, "it has an object and artifact data, which are two things to decide on: give one of them"},
		{"approval", opt.Gate{Kind: opt.Approval, Title: "x", Actions: []opt.Action{opt.Accept, opt.Refine}}, ""},
		{"no title", opt.Gate{Kind: opt.Approval, Actions: []opt.Action{opt.Accept}}, "an approval needs a title"},
		{"no action", opt.Gate{Kind: opt.Approval, Title: "x"}, "an approval needs actions"},
		{"unknown action", opt.Gate{Kind: opt.Approval, Title: "x", Actions: []opt.Action{"wink"}}, `there is no action "wink"`},
		{"action twice", opt.Gate{Kind: opt.Approval, Title: "x", Actions: []opt.Action{opt.Ask, opt.Ask}}, `a gate offers "ask" twice`},
		{"questions", opt.Gate{Kind: opt.Approval, Title: "x", Actions: []opt.Action{opt.Ask}, Questions: []opt.Question{{ID: "a", Question: "A?"}}}, "an approval has questions"},
		{"clarification", opt.Gate{Kind: opt.Clarification, Questions: []opt.Question{{ID: "a", Question: "A?"}}}, ""},
		{"no questions", opt.Gate{Kind: opt.Clarification}, "a clarification needs questions"},
		{"actions", opt.Gate{Kind: opt.Clarification, Questions: []opt.Question{{ID: "a", Question: "A?"}}, Actions: []opt.Action{opt.Ask}}, "a clarification has actions"},
		{"question without id", opt.Gate{Kind: opt.Clarification, Questions: []opt.Question{{Question: "A?"}}}, `the question "A?" needs an id of its own: 1 to 64 letters, digits, dots, hyphens and underscores`},
		{"question twice", opt.Gate{Kind: opt.Clarification, Questions: []opt.Question{{ID: "a", Question: "A?"}, {ID: "a", Question: "B?"}}}, `the question "B?" needs an id of its own: 1 to 64 letters, digits, dots, hyphens and underscores`},
		{"question without text", opt.Gate{Kind: opt.Clarification, Questions: []opt.Question{{ID: "a"}}}, "question 0 has no text"},
		{"schema", opt.Gate{Kind: opt.Clarification, Questions: []opt.Question{{ID: "a", Question: "A?", Schema: json.RawMessage("{")}}}, "question a: read schema: unexpected EOF"},
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
	test.Equal(t, "error", want, got)
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

// streamsInLegs streams one artifact in two legs.
func streamsInLegs(ctx context.Context, w activities.Work, out activities.Stream) (activities.Outcome, error) {
	if w.Description != "stream 3 1ms; say done" {
		return echo.Executor{}.Execute(ctx, w, out)
	}
	if err := out.Chunk(ctx, a2a.Artifact{ArtifactID: "lines", Parts: []a2a.Part{a2a.TextPart("line\n")}}, w.Leg > 0); err != nil || w.Leg > 0 {
		return activities.Completed(), err
	}
	return activities.Continue(1), nil
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
