package mcp

import (
	"context"
	"encoding/json"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"longhaul/a2a"
	"longhaul/api/call"
	"longhaul/api/card"
	"longhaul/opt"
)

// tasksExtension is the identifier of the extension of revision 2026-07-28. Its tasks are A2A tasks,
// under the same ids.
const tasksExtension = "io.modelcontextprotocol/tasks"

// pollEvery is how often hosts should read a task, in milliseconds.
const pollEvery = 2000

// complete is the type of a result that is the whole one.
const complete = "complete"

// taskParams are the params of the methods of the extension.
type taskParams struct {
	sdk.ParamsBase
	TaskID         string               `json:"taskId"`
	InputResponses sdk.InputResponseMap `json:"inputResponses"`
}

// A taskResult is a task of the extension.
type taskResult struct {
	sdk.ResultBase
	ResultType    string                     `json:"resultType"`
	TaskID        string                     `json:"taskId"`
	Status        string                     `json:"status"`
	StatusMessage string                     `json:"statusMessage,omitempty"`
	CreatedAt     a2a.Time                   `json:"createdAt"`
	UpdatedAt     a2a.Time                   `json:"lastUpdatedAt"`
	TTL           *int                       `json:"ttlMs"` // nil: tasks stay as long as the operator keeps ended work
	PollEvery     int                        `json:"pollIntervalMs"`
	InputRequests sdk.InputRequestMap        `json:"inputRequests,omitempty"`
	Result        map[string]json.RawMessage `json:"result,omitempty"`
}

// An ack is the result of a method without one.
type ack struct {
	sdk.ResultBase
	ResultType string `json:"resultType"`
}

// addTasks adds the extension: a call for one of the skills returns a task to hosts that declare it.
func (v *visit) addTasks(s *sdk.Server, works map[string]card.Skill) {
	s.AddReceivingMiddleware(func(next sdk.MethodHandler) sdk.MethodHandler {
		return func(ctx context.Context, method string, req sdk.Request) (sdk.Result, error) {
			tool, ok := req.(*sdk.CallToolRequest)
			if !ok || !hostOf(tool.Params.Meta).tasks {
				return next(ctx, method, req)
			}
			k, ok := works[tool.Params.Name]
			if !ok {
				return next(ctx, method, req)
			}
			out, err := v.beginTask(ctx, tool, k)
			if err != nil {
				return failed(err), nil
			}
			return out, nil
		}
	})
	method(s, "tasks/get", v.getTask)
	method(s, "tasks/update", v.updateTask)
	method(s, "tasks/cancel", v.cancelTask)
}

// method adds a method of the extension, for hosts that declare it. Its errors are those of JSON-RPC.
func method[R sdk.Result](s *sdk.Server, name string, handle func(context.Context, *taskParams) (R, error)) {
	err := sdk.AddReceivingCustomMethod(s, name, func(ctx context.Context, _ *sdk.ServerSession, p *taskParams) (R, error) {
		if !hostOf(p.Meta).tasks {
			var none R
			return none, undeclared()
		}
		out, err := handle(ctx, p)
		if err != nil {
			err = &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: err.Error()}
		}
		return out, err
	})
	if err != nil {
		panic(err) // the SDK has a method of this name now
	}
}

// undeclared returns the error for a method of the extension from a host that does not declare it.
func undeclared() error {
	data, err := json.Marshal(object{"requiredCapabilities": object{"extensions": object{tasksExtension: object{}}}}) // the type of the SDK adds roots
	if err != nil {
		return err
	}
	return &jsonrpc.Error{Code: sdk.CodeMissingRequiredClientCapabilities, Message: "the request does not declare " + tasksExtension, Data: data}
}

// beginTask starts the work of a skill and returns a task, or the result if there is one already.
func (v *visit) beginTask(ctx context.Context, req *sdk.CallToolRequest, k card.Skill) (sdk.Result, error) {
	sent, err := v.begin(ctx, req, k)
	switch {
	case err != nil:
		return nil, err
	case sent.Message != nil:
		return textResult(sent.Message.Text(), nil), nil
	case sent.Task.Status.State.Terminal():
		return v.shown(ctx, sent.Task.Task)
	}
	out, err := v.taskOf(ctx, sent.Task.Task, host{})
	if err != nil {
		return nil, err
	}
	out.ResultType = "task"
	return out, nil
}

// taskOf returns an A2A task as one of the extension, for a host.
func (v *visit) taskOf(ctx context.Context, t a2a.Task, h host) (*taskResult, error) {
	out := &taskResult{
		ResultType: complete, TaskID: t.ID, Status: "working", StatusMessage: statusText(t.Status),
		CreatedAt: t.Status.At, UpdatedAt: t.Status.At, PollEvery: pollEvery,
	}
	if ref, ok := opt.ParseID(t.ID); ok {
		result, err := v.run(ctx, "objectives/get", object{"id": ref.ObjectiveID})
		if o, ok := result.(*opt.Objective); err == nil && ok {
			out.CreatedAt = o.CreatedAt
		}
	}
	var err error
	switch state := t.Status.State; {
	case state == a2a.Canceled:
		out.Status = "cancelled"
	case state.Terminal():
		out.Status = "completed"
		out.Result, err = v.final(ctx, t)
	case state.Interrupted():
		if out.InputRequests, err = v.questions(ctx, h, t.ID, nil); len(out.InputRequests) > 0 {
			out.Status = "input_required"
		}
	}
	return out, err
}

func (v *visit) getTask(ctx context.Context, p *taskParams) (*taskResult, error) {
	t, err := v.task(ctx, p.TaskID)
	if err != nil {
		return nil, err
	}
	return v.taskOf(ctx, t, hostOf(p.Meta))
}

// updateTask delivers answers. Those to a gate that was decided meanwhile are an error, which names who
// has decided: the person at the host must not believe that they counted.
func (v *visit) updateTask(ctx context.Context, p *taskParams) (*ack, error) {
	if _, err := v.task(ctx, p.TaskID); err != nil {
		return nil, err
	}
	return &ack{ResultType: complete}, v.respond(ctx, p.TaskID, p.InputResponses)
}

// cancelTask cancels a task. One that has ended stays as it is.
func (v *visit) cancelTask(ctx context.Context, p *taskParams) (*ack, error) {
	_, err := v.run(ctx, "CancelTask", object{"id": p.TaskID})
	if call.Is(err, call.NotCancelable) {
		err = nil
	}
	return &ack{ResultType: complete}, err
}

// final returns the result of a call in its task. The SDK names the type of results only outside of tasks.
func (v *visit) final(ctx context.Context, t a2a.Task) (out map[string]json.RawMessage, err error) {
	shown, err := v.shown(ctx, t)
	if err != nil {
		return nil, err
	}
	raw, err := json.Marshal(shown)
	if err == nil {
		err = json.Unmarshal(raw, &out)
	}
	if err == nil {
		out["resultType"], err = json.Marshal(complete)
	}
	return out, err
}
