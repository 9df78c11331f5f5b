// Package writer is an agent for the server of the official Go SDK of A2A, which knows nothing of
// Longhaul: its draft repeats the words of a message, one after the other, and then it asks whether
// to publish the draft. Where a run before has stopped, it continues.
package writer

import (
	"context"
	"fmt"
	"iter"
	"strings"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2asrv"
)

// Agent is the agent.
type Agent struct{}

// between is the time from one word to the next.
const between = 150 * time.Millisecond

// Execute implements [a2asrv.AgentExecutor].
func (Agent) Execute(ctx context.Context, c *a2asrv.ExecutorContext) iter.Seq2[a2a.Event, error] {
	return func(yield func(a2a.Event, error) bool) {
		switch {
		case c.StoredTask == nil:
			if !yield(a2a.NewSubmittedTask(c, c.Message), nil) {
				return
			}
		case c.StoredTask.History[0].ID != c.Message.ID: // the answer
			letter := a2a.NewArtifactEvent(c, a2a.NewTextPart("Published after the answer "+text(c.Message.Parts)))
			letter.Artifact.Name = "letter"
			_ = yield(letter, nil) && yield(a2a.NewStatusUpdateEvent(c, a2a.TaskStateCompleted, nil), nil)
			return
		}
		words := strings.Fields(text(c.Message.Parts))
		for i := written(c.StoredTask); i < len(words); i++ {
			says := a2a.NewMessageForTask(a2a.MessageRoleAgent, c, a2a.NewTextPart(fmt.Sprintf("Word %d of %d", i+1, len(words))))
			if !yield(a2a.NewStatusUpdateEvent(c, a2a.TaskStateWorking, says), nil) || !yield(word(c, i, words[i]), nil) {
				return
			}
			select {
			case <-ctx.Done():
				return
			case <-time.After(between):
			}
		}
		asks := a2a.NewMessageForTask(a2a.MessageRoleAgent, c, a2a.NewTextPart("Publish it?"))
		yield(a2a.NewStatusUpdateEvent(c, a2a.TaskStateInputRequired, asks), nil)
	}
}

// word returns the event for the i-th word of the draft.
func word(c *a2asrv.ExecutorContext, i int, word string) *a2a.TaskArtifactUpdateEvent {
	return &a2a.TaskArtifactUpdateEvent{
		TaskID: c.TaskID, ContextID: c.ContextID, Append: i > 0,
		Artifact: &a2a.Artifact{ID: "draft", Name: "draft", Parts: a2a.ContentParts{a2a.NewTextPart(word + " ")}},
	}
}

// written returns how many words of the draft clients have.
func written(t *a2a.Task) int {
	if t == nil {
		return 0
	}
	for _, a := range t.Artifacts {
		if a.ID == "draft" {
			return len(strings.Fields(text(a.Parts)))
		}
	}
	return 0
}

func text(parts a2a.ContentParts) (out string) {
	for _, p := range parts {
		out += p.Text()
	}
	return out
}

// Cancel implements [a2asrv.AgentExecutor].
func (Agent) Cancel(_ context.Context, c *a2asrv.ExecutorContext) iter.Seq2[a2a.Event, error] {
	return func(yield func(a2a.Event, error) bool) {
		says := a2a.NewMessageForTask(a2a.MessageRoleAgent, c, a2a.NewTextPart("The draft is thrown away."))
		yield(a2a.NewStatusUpdateEvent(c, a2a.TaskStateCanceled, says), nil)
	}
}
