package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"longhaul/a2a"
	"longhaul/a2a/codec"
)

type taskParams struct {
	ID            string `json:"id"`
	HistoryLength *int   `json:"historyLength,omitempty"`
}

// Get returns a task with at most history messages of its history; negative: the
// agent's default.
func (c *Client) Get(ctx context.Context, taskID string, history int) (*a2a.Task, error) {
	return c.task(ctx, "GetTask", taskParams{taskID, historyLength(history)})
}

// Cancel cancels a task and returns its current state, which may be before the
// task has stopped. Canceling it again changes nothing.
func (c *Client) Cancel(ctx context.Context, taskID string) (*a2a.Task, error) {
	t, err := c.task(ctx, "CancelTask", taskParams{ID: taskID})
	var refused *Error
	if errors.As(err, &refused) && refused.Code == CodeTaskNotCancelable && refused.Info["state"] == string(a2a.Canceled) {
		return c.Get(ctx, taskID, 0) // perhaps an earlier try of this call has canceled it, and its answer was lost
	}
	return t, err
}

func (c *Client) task(ctx context.Context, method string, params any) (*a2a.Task, error) {
	var raw json.RawMessage
	if err := c.repeat(ctx, method, params, &raw); err != nil {
		return nil, err
	}
	return readTask(method, raw)
}

func readTask(method string, raw json.RawMessage) (*a2a.Task, error) {
	t, err := codec.Peer.Task(raw)
	if err != nil {
		return nil, fmt.Errorf("read the result of %s: %w", method, err)
	}
	return &t.Task, nil
}

// Wait waits until a task has ended or waits for a person, and returns it. Restarts of the
// agent do not disturb it, as with [Client.Subscribe]. A gate to which this client has sent
// an answer that is not judged yet is not waited at: Wait returns after the verdict, with
// the same gate if the answer was refused. To wait for less than ctx allows, give ctx a
// deadline: the task is not affected.
func (c *Client) Wait(ctx context.Context, taskID string) (*a2a.Task, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	for e, err := range c.Subscribe(ctx, taskID, "") {
		if err != nil {
			return nil, err
		}
		s, ok := e.TaskStatus()
		if !ok || !s.State.Terminal() && !s.State.Interrupted() {
			continue
		}
		t, err := c.Get(ctx, taskID, -1)
		if err == nil {
			t, err = c.afterAnswer(ctx, t)
		}
		switch {
		case err != nil:
			return nil, err
		case t.Status.State.Terminal(), waitsForPerson(t):
			return t, nil
		}
	}
	return c.Get(ctx, taskID, -1)
}

// afterAnswer returns t, or if it waits at a gate to which c has sent an answer that is not
// judged yet, the task once it is judged or the task does not wait there any more. The
// list of decisions has every verdict, whereas a stream says nothing about a refusal.
func (c *Client) afterAnswer(ctx context.Context, t *a2a.Task) (*a2a.Task, error) {
	for attempt := 1; waitsForPerson(t); attempt++ {
		gateID := gateOf(t)
		messageID := c.answers.pendingMessage(gateID)
		if messageID == "" {
			return t, nil
		}
		judged, err := c.hasDecision(ctx, gateID, messageID)
		if err != nil {
			return nil, err
		}
		if judged {
			c.answers.forget(gateID, messageID)
		} else {
			select {
			case <-time.After(c.cfg.Backoff(attempt)):
			case <-ctx.Done():
				return nil, context.Cause(ctx)
			}
		}
		if t, err = c.Get(ctx, t.ID, -1); err != nil {
			return nil, err
		}
	}
	return t, nil
}

// waitsForPerson reports whether t waits for a person. A root task shows its former state for a
// moment after its gate was closed.
func waitsForPerson(t *a2a.Task) bool {
	_, open := Gate(t.Metadata)
	_, closed := Decided(t.Metadata)
	return t.Status.State.Interrupted() && (open || !closed)
}

// ListOptions select tasks. Zero members select everything.
type ListOptions struct {
	ContextID string
	State     a2a.TaskState
	Since     a2a.Time // status not older than this
	PageSize  int      // zero: the agent's default
	PageToken string   // of a TaskPage
	History   int      // messages of each task; negative: the agent's default
	Artifacts bool
}

type listParams struct {
	ContextID        string   `json:"contextId,omitempty"`
	Status           string   `json:"status,omitempty"`
	Since            a2a.Time `json:"statusTimestampAfter,omitzero"`
	PageSize         int      `json:"pageSize,omitzero"`
	PageToken        string   `json:"pageToken,omitempty"`
	HistoryLength    *int     `json:"historyLength,omitempty"`
	IncludeArtifacts bool     `json:"includeArtifacts,omitempty"`
}

// A TaskPage is a page of a list of tasks.
type TaskPage struct {
	Tasks         []a2a.Task
	Raw           []json.RawMessage // the tasks as they came
	NextPageToken string            // "" on the last page
	TotalSize     int               // on all pages
}

// List returns a page of tasks, latest status change first.
func (c *Client) List(ctx context.Context, o ListOptions) (*TaskPage, error) {
	var page struct {
		Tasks         []json.RawMessage `json:"tasks"`
		NextPageToken string            `json:"nextPageToken"`
		TotalSize     int               `json:"totalSize"`
	}
	state := ""
	if o.State != "" {
		state = codec.V10.State(o.State)
	}
	params := listParams{o.ContextID, state, o.Since, o.PageSize, o.PageToken, historyLength(o.History), o.Artifacts}
	if err := c.repeat(ctx, "ListTasks", params, &page); err != nil {
		return nil, err
	}
	out := &TaskPage{NextPageToken: page.NextPageToken, TotalSize: page.TotalSize, Raw: page.Tasks}
	for _, raw := range page.Tasks {
		t, err := readTask("ListTasks", raw)
		if err != nil {
			return nil, err
		}
		out.Tasks = append(out.Tasks, *t)
	}
	return out, nil
}

// Call calls any method and returns its result as it came. It is repeated while
// the agent cannot be reached, so use it for idempotent methods.
func (c *Client) Call(ctx context.Context, method string, params any) (json.RawMessage, error) {
	var raw json.RawMessage
	err := c.repeat(ctx, method, params, &raw)
	return raw, err
}
