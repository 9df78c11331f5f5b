package served_test

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"slices"
	"strings"
	"testing"

	sdk "github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2asrv"
	"github.com/google/go-cmp/cmp"

	"longhaul/a2a"
	"longhaul/activities"
	"longhaul/activities/executortest"
	"longhaul/activities/served"
	"longhaul/internal/test"
	"longhaul/opt"
	"longhaul/opt/shown"
)

// script is an agent that sends events, and keeps what it was asked and how its last run has ended.
type script struct {
	send   func(c *a2asrv.ExecutorContext) []sdk.Event
	fails  error
	long   bool // it waits until it is stopped
	asked  *[]*a2asrv.ExecutorContext
	result *sdk.SendMessageResult
}

func (s script) Execute(ctx context.Context, c *a2asrv.ExecutorContext) iter.Seq2[sdk.Event, error] {
	return func(yield func(sdk.Event, error) bool) {
		if s.asked != nil {
			*s.asked = append(*s.asked, c)
		}
		if s.long {
			<-ctx.Done()
		}
		for _, e := range s.send(c) {
			if !yield(e, nil) {
				return
			}
		}
		if s.fails != nil {
			yield(nil, s.fails)
		}
	}
}

func (s script) Cancel(_ context.Context, c *a2asrv.ExecutorContext) iter.Seq2[sdk.Event, error] {
	return func(yield func(sdk.Event, error) bool) {
		if c.StoredTask != nil && c.Message == nil {
			yield(status(c, sdk.TaskStateCanceled, "Stopped."), nil)
		}
	}
}

func (s script) Cleanup(_ context.Context, _ *a2asrv.ExecutorContext, result sdk.SendMessageResult, _ error) {
	if s.result != nil {
		*s.result = result
	}
}

func status(c *a2asrv.ExecutorContext, state sdk.TaskState, text string) sdk.Event {
	if text == "" {
		return sdk.NewStatusUpdateEvent(c, state, nil)
	}
	return sdk.NewStatusUpdateEvent(c, state, sdk.NewMessageForTask(sdk.MessageRoleAgent, c, sdk.NewTextPart(text)))
}

func piece(c *a2asrv.ExecutorContext, id, text string, appends bool) sdk.Event {
	return &sdk.TaskArtifactUpdateEvent{
		TaskID: c.TaskID, ContextID: c.ContextID, Append: appends, LastChunk: true,
		Artifact: &sdk.Artifact{ID: sdk.ArtifactID(id), Parts: sdk.ContentParts{sdk.NewTextPart(text)}},
	}
}

// sends returns an executor whose agent sends what a function says; sent is the task as clients see it.
func sends(s script, sent a2a.Task) served.Executor {
	return served.Executor{Agent: s, Journal: journal(sent)}
}

// journal has one task, with a large content.
type journal a2a.Task

func (j journal) Task(context.Context, string, string, shown.TaskWant) (shown.TaskView, error) {
	return shown.TaskView{Task: a2a.Task(j)}, nil
}

func (j journal) ReadBlob(context.Context, string, string) ([]byte, error) {
	return []byte("kept"), nil
}

func TestExecutor(t *testing.T) {
	does := func(c *a2asrv.ExecutorContext) []sdk.Event {
		switch text := c.Message.Parts[0].Text(); {
		case text == "fail":
			return []sdk.Event{status(c, sdk.TaskStateFailed, "It cannot be done.")}
		case text == "ask":
			return []sdk.Event{piece(c, "draft", "A draft", false), status(c, sdk.TaskStateInputRequired, "Good?")}
		default:
			return []sdk.Event{status(c, sdk.TaskStateWorking, "Busy"), piece(c, "a", text, false), status(c, sdk.TaskStateCompleted, "")}
		}
	}
	executor := sends(script{send: does}, a2a.Task{})
	erring := executor
	erring.Agent = script{send: func(*a2asrv.ExecutorContext) []sdk.Event { return nil }, fails: errors.New("out of luck")}
	waiting := executor
	waiting.Agent = script{send: does, long: true}
	message := func(text string) activities.Work {
		return activities.Work{Memo: json.RawMessage(`{"begun":true}`), Input: json.RawMessage(`{"message":"` + text + `"}`)}
	}
	executortest.Run(t, executortest.Config{
		Executor: either{executor, waiting}, Completes: message("hello"), Fails: message("fail"), Long: message("long"), Waits: new(message("ask")),
		Untrusted: new(hostile()),
	})
	test.Fails(t, "the error", "out of luck", test.Err(erring.Execute(t.Context(), work(message("x")), &executortest.Stream{})))
}

func hostile() activities.Work {
	text, _ := json.Marshal(executortest.Hostile)
	return activities.Work{Memo: json.RawMessage(`{"begun":true}`), Input: json.RawMessage(`{"message":` + string(text) + `}`)}
}

// either waits for long work.
type either struct{ usual, long served.Executor }

func (e either) Execute(ctx context.Context, w activities.Work, out activities.Stream) (activities.Outcome, error) {
	if strings.Contains(string(w.Input), `"long"`) {
		return e.long.Execute(ctx, w, out)
	}
	return e.usual.Execute(ctx, w, out)
}

// work returns w with what the plan would set.
func work(w activities.Work) activities.Work {
	objective := opt.NewObjectiveID([16]byte{})
	w.TaskID, w.Tenant, w.ContextID, w.Round, w.Attempt, w.Try = opt.TaskID(opt.PlanID(objective, 1), 0), opt.DefaultTenant, "talk", max(w.Round, 1), max(w.Attempt, 1), max(w.Try, 1)
	return w
}

// request is the work for a message of a client.
func request() activities.Work {
	return work(activities.Work{
		RootID: "task-root", Memo: json.RawMessage(`{"begun":true}`), Messages: []a2a.Message{{
			MessageID: "m1", Role: a2a.RoleUser, Parts: []a2a.Part{a2a.TextPart("Write")}, Metadata: a2a.Metadata{}.With(opt.KeyAuthor, "ann").With("x", 1),
		}},
	})
}

// What the agent says becomes the outcome of the task.
func TestExecutor_outcomes(t *testing.T) {
	for name, tt := range map[string]struct {
		send  func(c *a2asrv.ExecutorContext) []sdk.Event
		state opt.TaskState
		says  string // of the outcome, its gate or its artifacts
	}{
		"a message": {func(*a2asrv.ExecutorContext) []sdk.Event {
			return []sdk.Event{sdk.NewMessage(sdk.MessageRoleAgent, sdk.NewTextPart("Hi"))}
		}, opt.TaskCompleted, "answer=Hi"},
		"a task": {func(c *a2asrv.ExecutorContext) []sdk.Event {
			return []sdk.Event{&sdk.Task{ID: c.TaskID, ContextID: c.ContextID, Status: sdk.TaskStatus{State: sdk.TaskStateCompleted},
				Artifacts: []*sdk.Artifact{{ID: "a", Parts: sdk.ContentParts{sdk.NewTextPart("all")}}}}}
		}, opt.TaskCompleted, "a=all"},
		"last words": {func(c *a2asrv.ExecutorContext) []sdk.Event {
			return []sdk.Event{piece(c, "answer", "A", false), status(c, sdk.TaskStateCompleted, "Done"), piece(c, "late", "L", false)}
		}, opt.TaskCompleted, "answer=A answer-=Done"},
		"replaced": {func(c *a2asrv.ExecutorContext) []sdk.Event {
			return []sdk.Event{piece(c, "a", "1", false), piece(c, "a", "2", true), piece(c, "a", "3", false), piece(c, "a", "4", true), status(c, sdk.TaskStateCompleted, "")}
		}, opt.TaskCompleted, "a=3\n4"},
		"rejected": {func(c *a2asrv.ExecutorContext) []sdk.Event {
			return []sdk.Event{status(c, sdk.TaskStateRejected, "Not me.")}
		}, opt.TaskRejected, "rejected_by_agent Not me."},
		"canceled": {func(c *a2asrv.ExecutorContext) []sdk.Event {
			return []sdk.Event{status(c, sdk.TaskStateCanceled, "")}
		}, opt.TaskFailed, "agent-canceled The agent has canceled its task."},
		"no end": {func(c *a2asrv.ExecutorContext) []sdk.Event {
			return []sdk.Event{status(c, sdk.TaskStateWorking, "Busy")}
		}, opt.TaskFailed, "no-final-state The agent has ended its work without a final state."},
		"asks": {func(c *a2asrv.ExecutorContext) []sdk.Event {
			return []sdk.Event{status(c, sdk.TaskStateInputRequired, "Which color?"), piece(c, "late", "L", false)}
		}, opt.TaskInputRequired, "Which color?"},
		"authorization": {func(c *a2asrv.ExecutorContext) []sdk.Event {
			return []sdk.Event{status(c, sdk.TaskStateAuthRequired, "Sign in at https://id.example.com")}
		}, opt.TaskAuthRequired, "The agent needs an authorization\nSign in at https://id.example.com"},
		"authorization by itself": {func(c *a2asrv.ExecutorContext) []sdk.Event {
			return []sdk.Event{status(c, sdk.TaskStateAuthRequired, "Sign in"), status(c, sdk.TaskStateCompleted, "Thanks")}
		}, opt.TaskCompleted, "answer=Thanks"},
	} {
		t.Run(name, func(t *testing.T) {
			out := &executortest.Stream{}
			var result sdk.SendMessageResult
			o, err := sends(script{send: tt.send, result: &result}, a2a.Task{}).Execute(t.Context(), request(), out)
			if err != nil || o.State != tt.state || result == nil && tt.says != "a=all" {
				t.Fatalf("the outcome is %+v, for the cleaner %v, error %v", o, result, err)
			}
			says := strings.TrimSpace(o.Code + " " + o.Message)
			if o.Gate != nil {
				if says = o.Gate.Prompt(); o.Park == nil || !o.OnCancel || activities.CheckGate(o.Gate) != nil {
					t.Errorf("the outcome is %+v", o)
				}
			} else if o.State == opt.TaskCompleted {
				says = list(append(out.Artifacts(), o.Artifacts...))
			}
			test.Is(t, "it says", tt.says, says)
		})
	}
}

func list(artifacts []a2a.Artifact) string {
	var all []string
	for _, a := range artifacts {
		all = append(all, a.ArtifactID+"="+a.Text())
	}
	return strings.Join(all, " ")
}

// The agent gets the conversation as its server would have it: the message alone at first, then a
// task that has asked, or one that works after a crash. What a run before has made stays.
func TestExecutor_conversation(t *testing.T) {
	var asked []*a2asrv.ExecutorContext
	w := request()
	gate := opt.Gate{Kind: opt.Clarification, ID: "g1", TaskID: w.TaskID, Questions: []opt.Question{{ID: "answer", Question: "Good?"}}}
	sent := a2a.Task{
		Status: a2a.TaskStatus{State: a2a.Working, Message: a2a.AgentMessage("", w.TaskID, ":p2", "Half")},
		Artifacts: []a2a.Artifact{
			{ArtifactID: opt.ArtifactID(w.TaskID, "draft"), Parts: []a2a.Part{a2a.TextPart("one ")}},
			{ArtifactID: opt.ArtifactID(w.TaskID, "other"), Parts: []a2a.Part{{Ref: &a2a.Ref{ID: "b", Member: "text", Size: 4}}}},
		},
		History: []a2a.Message{*a2a.AgentMessage("", w.TaskID, ":p1", "Begun"), *gate.Message("", w.TaskID)},
	}
	executor := sends(script{asked: &asked, send: func(c *a2asrv.ExecutorContext) []sdk.Event {
		return []sdk.Event{piece(c, "draft", "two", true), status(c, sdk.TaskStateCompleted, "")}
	}}, sent)
	play := func(w activities.Work) (made string, c *a2asrv.ExecutorContext) {
		t.Helper()
		out := &executortest.Stream{}
		o := test.Value(executor.Execute(t.Context(), w, out))(t)
		return list(append(out.Artifacts(), o.Artifacts...)), asked[len(asked)-1]
	}
	shape := func(c *a2asrv.ExecutorContext) (all []string) {
		all = append(all, string(c.TaskID)+" in "+c.ContextID+" by "+c.User.Name+" with "+c.Message.ID+" "+c.Message.Parts[0].Text())
		if s := c.StoredTask; s != nil {
			all = append(all, string(s.Status.State)+" "+s.Status.Message.Parts[0].Text())
			for _, m := range s.History {
				all = append(all, string(m.Role)+" "+m.Parts[0].Text())
			}
			for _, a := range s.Artifacts {
				all = append(all, string(a.ID))
			}
		}
		return all
	}
	answered := w
	answered.Round, answered.Replies = 2, []opt.Reply{{GateID: "g1", MessageID: "m2", DecidedBy: opt.Anonymous, Answers: []opt.Answer{{ID: "answer", Answer: json.RawMessage(`"yes"`)}}}}
	history := []string{"ROLE_USER Write", "ROLE_AGENT Begun", "ROLE_AGENT Good?"}
	for name, tt := range map[string]struct {
		work activities.Work
		made string
		want []string
	}{
		"first":           {work: w, made: "draft=two", want: []string{"task-root in talk by ann with m1 Write"}},
		"answer":          {work: answered, made: "draft=one two", want: slices.Concat([]string{"task-root in talk by  with m2 yes", "TASK_STATE_INPUT_REQUIRED Good?"}, history, []string{"ROLE_USER yes", "draft", "other"})},
		"crash":           {work: again(w), made: "draft=one two other=kept", want: slices.Concat([]string{"task-root in talk by ann with m1 Write", "TASK_STATE_WORKING Half"}, history, []string{"draft", "other"})},
		"crash at answer": {work: again(answered), made: "draft=one two other=kept", want: slices.Concat([]string{"task-root in talk by  with m2 yes", "TASK_STATE_WORKING Half"}, history, []string{"ROLE_USER yes", "draft", "other"})},
	} {
		made, c := play(tt.work)
		if diff := cmp.Diff(tt.want, shape(c)); diff != "" || strings.ReplaceAll(made, "\n", "") != tt.made {
			t.Errorf("%s: it made %q, want %q; the agent got (-want +got):\n%s", name, made, tt.made, diff)
		}
	}
	if _, c := play(w); len(c.Message.Metadata) != 1 || c.Message.Metadata["x"] != 1.0 {
		t.Errorf("the metadata of the message are %v", c.Message.Metadata)
	}
}

func again(w activities.Work) activities.Work {
	w.Try = 2
	return w
}

// Before the agent begins, the task keeps that a cancellation has to reach it.
func TestExecutor_cancels(t *testing.T) {
	executor := sends(script{send: func(*a2asrv.ExecutorContext) []sdk.Event { return nil }}, a2a.Task{Status: a2a.TaskStatus{State: a2a.Working}})
	w := request()
	w.Memo = nil
	o, err := executor.Execute(t.Context(), w, &executortest.Stream{})
	if err != nil || o.Park == nil || o.Park.Wait != 0 || !o.OnCancel {
		t.Fatalf("the first leg ends with %+v, error %v", o, err)
	}
	w.Memo, w.Cancel = o.Memo, true
	if o, err = executor.Execute(t.Context(), w, &executortest.Stream{}); err != nil || o.Code != served.CodeStopped || o.Message != "Stopped." {
		t.Errorf("canceled: %+v, error %v", o, err)
	}
	w.Cancel, w.Round, w.Replies = false, 2, []opt.Reply{{Action: opt.Reject, Feedback: "No."}}
	if o, err = executor.Execute(t.Context(), w, &executortest.Stream{}); err != nil || o.Code != served.CodeNoAnswer {
		t.Errorf("without an authorization: %+v, error %v", o, err)
	}
}
