// Package served runs agents that were written for the server of the official Go SDK of A2A, as
// they are. Use it for an agent that is Go code of yours: the work is then done in the worker,
// without a second server (package agent hands tasks over to one).
//
// The events of the agent become progress, pieces of artifacts, gates and outcomes of its task.
// After a lost worker the agent begins again, with what it has sent before as the stored task.
package served

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	sdk "github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2asrv"

	"longhaul/a2a"
	"longhaul/a2a/codec"
	"longhaul/activities"
	"longhaul/opt"
	"longhaul/opt/shown"
)

// Kind is the kind of tasks that the executor runs.
const Kind = "served"

// Codes of failures and rejections.
const (
	CodeInput    = "bad-input"          // the input does not fit
	CodeFailed   = "agent-failed"       // the agent says so
	CodeRejected = "rejected_by_agent"  // the agent says so
	CodeCanceled = "agent-canceled"     // the agent has canceled its task by itself
	CodeNoEnd    = "no-final-state"     // the agent has ended without a final state
	CodeNoAnswer = "no-answer"          // the authorization that the agent needs was refused
	CodeStopped  = "canceled-confirmed" // after a cancellation, that the agent confirms
	CodeUnknown  = "canceled-unknown"   // after a cancellation, that the agent does not confirm
)

// An Executor runs an agent. It may be used from any goroutine if the agent may, as on its server.
type Executor struct {
	Agent   a2asrv.AgentExecutor
	Journal Journal // has what the agent has sent
}

// A Journal reads tasks as clients see them, and their large contents.
type Journal interface {
	Task(ctx context.Context, tenant, id string, want shown.TaskWant) (shown.TaskView, error)
	ReadBlob(ctx context.Context, objectiveID, id string) ([]byte, error)
}

// input is the input of a task.
type input struct {
	Message string `json:"message,omitempty"` // for the agent; "" for that of the client
}

// A memo is stored in histories: add fields, never rename one.
type memo struct {
	Begun bool `json:"begun"`           // a cancellation has to reach the agent
	Asked int  `json:"asked,omitempty"` // the round in which it has asked
}

// gateFor is how long a task waits at a gate before it is looked at again, which changes nothing.
const gateFor = 365 * 24 * time.Hour

// cancelFor is how long the agent has to confirm a cancellation.
const cancelFor = 20 * time.Second

// Execute implements [activities.Executor]. A second run gives the agent what it has sent.
func (e Executor) Execute(ctx context.Context, w activities.Work, out activities.Stream) (activities.Outcome, error) {
	var in input
	if len(w.Input) > 0 && activities.ReadInput(w, &in) != nil {
		return activities.Rejected(CodeInput, "The input of the task may have a message for the agent, and nothing else."), nil
	}
	var m memo
	if err := activities.ReadMemo(w, &m); err != nil {
		return activities.Outcome{}, err
	}
	switch {
	case w.Cancel:
		return e.cancel(ctx, w, in), nil
	case !m.Begun: // from now on a cancellation calls the agent
		return m.park(0), nil
	case m.Asked == w.Round:
		return m.waits(opt.TaskInputRequired, nil), nil
	}
	if reply := answer(w); reply != nil && reply.Action == opt.Reject {
		return activities.Failed(CodeNoAnswer, "The authorization that the agent needs was refused. "+reply.Feedback), nil
	}
	return e.run(ctx, w, in, out)
}

// park returns the outcome of a leg that keeps m.
func (m memo) park(d time.Duration) activities.Outcome {
	m.Begun = true
	o := activities.ParkFor(d, m, "")
	o.OnCancel = true
	return o
}

// waits returns the outcome of a task that waits at a gate, which it opens if it is not nil. It is
// parked there, since the artifacts of a leg are kept only if the leg parks.
func (m memo) waits(state opt.TaskState, gate *opt.Gate) activities.Outcome {
	o := m.park(gateFor)
	o.State, o.Gate = state, gate
	return o
}

// answer returns the reply with which the round of w has begun, nil for the first round.
func answer(w activities.Work) *opt.Reply {
	if w.Round < 2 || len(w.Replies) == 0 {
		return nil
	}
	return &w.Replies[len(w.Replies)-1]
}

// run has the agent do the work of a round.
func (e Executor) run(ctx context.Context, w activities.Work, in input, out activities.Stream) (o activities.Outcome, err error) {
	c, earlier, err := e.request(ctx, w, in)
	if err != nil {
		return o, err
	}
	r := &run{work: w, out: out, earlier: earlier, made: map[string]bool{}}
	called, call := a2asrv.NewCallContext(ctx, c.ServiceParams)
	call.User = c.User
	defer func() { e.cleanUp(called, c, r, err) }()
	for event, failed := range e.Agent.Execute(called, c) {
		if err = failed; err == nil {
			err = r.take(ctx, event)
		}
		if err != nil || r.done || ctx.Err() != nil {
			break
		}
	}
	switch {
	case ctx.Err() != nil:
		return o, ctx.Err()
	case err != nil:
		return o, fmt.Errorf("the agent: %w", err)
	}
	return r.outcome(), nil
}

// cleanUp calls the agent after a run, if it has a method for that.
func (e Executor) cleanUp(ctx context.Context, c *a2asrv.ExecutorContext, r *run, err error) {
	if cleaner, ok := e.Agent.(a2asrv.AgentExecutionCleaner); ok {
		result, _ := r.latest.(sdk.SendMessageResult)
		if update, ok := r.latest.(*sdk.TaskStatusUpdateEvent); ok {
			result = &sdk.Task{ID: c.TaskID, ContextID: c.ContextID, Status: update.Status}
		}
		cleaner.Cleanup(ctx, c, result, cmp.Or(err, ctx.Err()))
	}
}

// cancel has the agent cancel its work, and returns whether it has confirmed that.
func (e Executor) cancel(ctx context.Context, w activities.Work, in input) activities.Outcome {
	ctx, stop := context.WithTimeout(ctx, cancelFor)
	defer stop()
	r := &run{work: w, out: nothing{}, made: map[string]bool{}}
	w.Try = max(w.Try, 2) // it has begun, so there is a stored task
	c, _, err := e.request(ctx, w, in)
	if err == nil {
		c.Message = nil
		for event, failed := range e.Agent.Cancel(ctx, c) {
			if failed != nil || r.take(ctx, event) != nil || r.done {
				break
			}
		}
	}
	switch {
	case r.state == a2a.Canceled:
		return activities.Failed(CodeStopped, cmp.Or(r.words.Text(), "The agent has canceled the task."))
	case r.done:
		return r.outcome()
	}
	return activities.Failed(CodeUnknown, "The agent was asked to cancel the task, but has not confirmed it: its state is unknown.")
}

// nothing is a stream that shows nothing.
type nothing struct{}

func (nothing) Chunk(context.Context, a2a.Artifact, bool) error   { return nil }
func (nothing) Replace(context.Context, a2a.Artifact, bool) error { return nil }
func (nothing) Progress(string, float64)                          {}

// A run is one run of the agent.
type run struct {
	work    activities.Work
	out     activities.Stream
	earlier []a2a.Artifact  // of runs before, which this one has not changed
	made    map[string]bool // ids of artifacts of this run
	latest  sdk.Event
	state   a2a.TaskState // the latest
	words   a2a.Message   // the message that came with it, or in place of a task
	done    bool          // no event follows
}

// take handles an event of the agent.
func (r *run) take(ctx context.Context, event sdk.Event) error {
	raw, err := json.Marshal(sdk.StreamResponse{Event: event})
	if err != nil {
		return err
	}
	e, err := codec.Foreign.Event(raw)
	if err != nil {
		return err
	}
	r.latest = event
	switch {
	case e.Message != nil:
		r.state, r.words, r.done = a2a.Completed, *e.Message, true
	case e.Artifact != nil:
		return r.show(ctx, e.Artifact.Artifact, e.Artifact.Append, e.Artifact.LastChunk)
	case e.Status != nil:
		r.move(e.Status.Status)
	case e.Task != nil:
		for _, a := range e.Task.Artifacts {
			if err := r.show(ctx, a, false, true); err != nil {
				return err
			}
		}
		r.move(e.Task.Status)
	}
	return nil
}

// move handles a status of the agent. Those after which its server reads no more end the run.
func (r *run) move(s a2a.TaskStatus) {
	r.state, r.words = s.State, *cmp.Or(s.Message, &a2a.Message{})
	r.done = s.State.Terminal() || s.State == a2a.InputRequired
	if text := r.words.Text(); !r.done && text != "" {
		r.out.Progress(text, 0)
	}
}

// show shows an artifact or a piece of one. A piece for an artifact of an earlier run continues that.
func (r *run) show(ctx context.Context, a a2a.Artifact, appends, last bool) error {
	a.ArtifactID = localID(a.ArtifactID)
	begun := r.made[a.ArtifactID]
	r.made[a.ArtifactID] = true
	i := slices.IndexFunc(r.earlier, func(before a2a.Artifact) bool { return before.ArtifactID == a.ArtifactID })
	if i >= 0 {
		if appends {
			before := r.earlier[i]
			before.Parts = append(slices.Clone(before.Parts), a.Parts...)
			a = before
		}
		r.earlier = slices.Delete(r.earlier, i, i+1)
	}
	if i >= 0 || begun && !appends {
		return r.out.Replace(ctx, a, last)
	}
	return r.out.Chunk(ctx, a, last)
}

// outcome returns the outcome of the run.
func (r *run) outcome() (o activities.Outcome) {
	switch r.state {
	case a2a.Completed:
		o = activities.Completed()
		if len(r.words.Parts) > 0 {
			o.Artifacts = append(o.Artifacts, a2a.Artifact{ArtifactID: r.freeID("answer"), Name: "Answer", Parts: r.words.Parts})
		}
	case a2a.InputRequired:
		gate := opt.Gate{Kind: opt.Clarification, Questions: []opt.Question{{ID: "answer", Question: cmp.Or(r.words.Text(), "The agent needs an answer.")}}}
		gate.Object = a2a.BesideText(r.words.Parts)
		o = memo{Asked: r.work.Round}.waits(opt.TaskInputRequired, &gate)
	case a2a.AuthRequired:
		o = memo{Asked: r.work.Round}.waits(opt.TaskAuthRequired, &opt.Gate{
			Kind: opt.Credential, Title: "The agent needs an authorization", Description: r.words.Text(), Actions: []opt.Action{opt.Accept, opt.Reject},
		})
	case a2a.Failed:
		return activities.Failed(CodeFailed, cmp.Or(r.words.Text(), "The agent has failed."))
	case a2a.Rejected:
		return activities.Rejected(CodeRejected, cmp.Or(r.words.Text(), "The agent has rejected the task."))
	case a2a.Canceled:
		return activities.Failed(CodeCanceled, cmp.Or(r.words.Text(), "The agent has canceled its task."))
	default:
		return activities.Failed(CodeNoEnd, "The agent has ended its work without a final state.")
	}
	if repeated(r.work) { // what a run has shown that did not end is in no outcome yet
		o.Artifacts = append(o.Artifacts, r.earlier...)
	}
	return o
}

// freeID returns id, or a longer one if an artifact has it.
func (r *run) freeID(id string) string {
	for r.made[id] || slices.ContainsFunc(r.earlier, func(a a2a.Artifact) bool { return a.ArtifactID == id }) {
		id += "-"
	}
	return id
}
