package mcp

import (
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"longhaul/a2a"
	"longhaul/api/call"
	"longhaul/api/card"
	"longhaul/api/gate"
	"longhaul/api/message"
	"longhaul/api/read"
	"longhaul/api/stream"
	"longhaul/api/wire"
	"longhaul/opt"
)

// begin sends the message of a tool call for a skill. The work is durable when it returns.
func (v *visit) begin(ctx context.Context, req *sdk.CallToolRequest, k card.Skill) (message.Sent, error) {
	var args struct {
		Message, ContextID, Key string
		Data                    object
	}
	if err := arguments(req, &args); err != nil {
		return message.Sent{}, err
	}
	parts := []object{{"text": args.Message}}
	if args.Data != nil {
		parts = append(parts, object{"data": args.Data})
	}
	m := object{"messageId": cmp.Or(args.Key, "mcp-"+strings.ToLower(rand.Text())), "role": "ROLE_USER", "parts": parts, "metadata": object{opt.KeySkill: k.ID}}
	if args.ContextID != "" {
		m["contextId"] = args.ContextID
	}
	result, err := v.run(ctx, "SendMessage", object{"message": m, "configuration": object{"returnImmediately": true, "historyLength": 0}})
	if err != nil {
		return message.Sent{}, err
	}
	return result.(message.Sent), nil
}

// work starts the work of a skill, or continues to wait for it after the person at the host was asked.
func (v *visit) work(ctx context.Context, req *sdk.CallToolRequest, k card.Skill) (*sdk.CallToolResult, error) {
	if req.Params.RequestState != "" {
		return v.asked(ctx, req)
	}
	sent, err := v.begin(ctx, req, k)
	switch {
	case err != nil:
		return nil, err
	case sent.Message != nil:
		return textResult(sent.Message.Text(), nil), nil
	}
	return v.settle(ctx, req, rounds{Task: sent.Task.ID})
}

func (v *visit) get(ctx context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
	var args struct {
		TaskID string
		Wait   bool
	}
	if err := arguments(req, &args); err != nil {
		return nil, err
	}
	switch {
	case req.Params.RequestState != "":
		return v.asked(ctx, req)
	case args.Wait:
		return v.settle(ctx, req, rounds{Task: args.TaskID})
	}
	t, err := v.task(ctx, args.TaskID)
	if err != nil {
		return nil, err
	}
	return v.shown(ctx, t)
}

func (v *visit) cancel(ctx context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
	var args struct{ TaskID string }
	if err := arguments(req, &args); err != nil {
		return nil, err
	}
	result, err := v.run(ctx, "CancelTask", object{"id": args.TaskID})
	if err != nil {
		return nil, err
	}
	return v.shown(ctx, result.(read.Task).Task)
}

// task reads a task, with its artifacts and without its history.
func (v *visit) task(ctx context.Context, id string) (a2a.Task, error) {
	result, err := v.run(ctx, "GetTask", object{"id": id, "historyLength": 0})
	if err != nil {
		return a2a.Task{}, err
	}
	return result.(read.Task).Task, nil
}

// settle waits for a task, and returns what came of it: questions for the person at the host, or a
// handle with which the host can continue.
func (v *visit) settle(ctx context.Context, req *sdk.CallToolRequest, r rounds) (*sdk.CallToolResult, error) {
	waiting, cancel := context.WithTimeout(ctx, v.cfg.Wait)
	v.follow(waiting, req, r.Task)
	cancel()
	t, err := v.task(ctx, r.Task)
	if err != nil {
		return nil, err
	}
	if t.Status.State.Interrupted() {
		questions, err := v.questions(ctx, hostOf(req.Params.Meta), t.ID, r.Asked)
		if err != nil || len(questions) > 0 {
			return &sdk.CallToolResult{InputRequests: questions, RequestState: r.text()}, err
		}
	}
	return v.shown(ctx, t)
}

// follow waits until a task has ended, or waits at a gate, or ctx ends, and tells the host about its
// progress. It has no error: the task is read after it.
func (v *visit) follow(ctx context.Context, req *sdk.CallToolRequest, id string) {
	result, err := v.run(ctx, "SubscribeToTask", object{"id": id})
	if err != nil {
		return
	}
	events := result.(*stream.Stream)
	defer events.Close()
	for n := 1; ; n++ {
		e, err := events.Next(ctx, nil)
		if err != nil {
			return
		}
		var status a2a.TaskStatus
		switch {
		case e.Task != nil:
			status = e.Task.Status
		case e.Status != nil:
			status = e.Status.Status
		}
		if status.State.Interrupted() {
			// A root task shows a gate for a moment after it was closed.
			if open, err := v.interrupts(ctx, id, false); err != nil || len(open.Interrupts) > 0 {
				return
			}
		}
		if token := req.Params.GetProgressToken(); token != nil && status.State != "" {
			p := &sdk.ProgressNotificationParams{ProgressToken: token, Progress: float64(n), Message: statusText(status)}
			_ = req.Session.NotifyProgress(ctx, p) // fails only if the host has disconnected
		}
	}
}

func statusText(s a2a.TaskStatus) string {
	text := string(s.State)
	if s.Message != nil {
		text += ": " + s.Message.Text()
	}
	return text
}

// textResult returns a text for the model, and the same for programs; nil for nothing.
func textResult(text string, structured any) *sdk.CallToolResult {
	return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: text}}, StructuredContent: structured}
}

// shown returns a task for the model: its results, or a handle and what it waits with.
func (v *visit) shown(ctx context.Context, t a2a.Task) (*sdk.CallToolResult, error) {
	ref, _ := opt.ParseID(t.ID)
	state, link := t.Status.State, v.link(v.cfg.Objectives, ref.ObjectiveID)
	h := object{"taskId": t.ID, "contextId": t.ContextID, "state": state, "final": state.Terminal(), "link": link}
	var text []string
	switch {
	case state == a2a.Completed:
		text = append(text, results(t)...)
	case state.Terminal():
		text = append(text, statusText(t.Status))
	case state.Interrupted():
		open, err := v.interrupts(ctx, t.ID, false)
		if err != nil && !call.Is(err, call.Forbidden) {
			return nil, err
		}
		h["interrupts"] = wire.InterruptPage(wire.V10, open)
		for _, i := range open.Interrupts {
			text = append(text, v.question(i), "To answer: the tool answer, with interruptId "+i.Gate.ID+".")
		}
		text = append(text, fmt.Sprintf("The task %s waits for a person.", t.ID))
	default:
		text = append(text, fmt.Sprintf("The work continues (%s). To look at it again: the tool get, with taskId %s.", statusText(t.Status), t.ID))
	}
	if link != "" && state != a2a.Completed {
		text = append(text, "In a browser: "+link)
	}
	out := textResult(strings.Join(text, "\n"), h)
	out.IsError = state.Terminal() && state != a2a.Completed && state != a2a.Canceled
	return out, nil
}

// results returns the artifacts of a task as text.
func results(t a2a.Task) (out []string) {
	for _, a := range t.Artifacts {
		for _, p := range a.Parts {
			out = append(out, cmp.Or(textOf(p), p.String()))
		}
	}
	if len(out) == 0 {
		out = []string{statusText(t.Status)}
	}
	return out
}

// interrupts returns the open gates of the objective of a task; mine are only those that wait for
// the caller.
func (v *visit) interrupts(ctx context.Context, taskID string, mine bool) (gate.InterruptPage, error) {
	ref, ok := opt.ParseID(taskID)
	if !ok {
		return gate.InterruptPage{}, nil
	}
	return v.list(ctx, object{"objectiveId": ref.ObjectiveID, "mine": mine})
}

func (v *visit) list(ctx context.Context, params object) (page gate.InterruptPage, err error) {
	result, err := v.run(ctx, "ListInterrupts", params)
	if err == nil {
		page = result.(gate.InterruptPage)
	}
	return page, err
}

func (v *visit) inbox(ctx context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
	params := object{"mine": true}
	if err := arguments(req, &params); err != nil {
		return nil, err
	}
	page, err := v.list(ctx, params)
	if err != nil {
		return nil, err
	}
	text := []string{fmt.Sprintf("%d open.", page.Total)}
	for _, i := range page.Interrupts {
		text = append(text, v.question(i), "interruptId: "+i.Gate.ID, "")
	}
	return textResult(strings.Join(text, "\n"), wire.InterruptPage(wire.V10, page)), nil
}
