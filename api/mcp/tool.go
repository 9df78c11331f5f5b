package mcp

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"longhaul/a2a"
	"longhaul/api/call"
	"longhaul/api/card"
	"longhaul/api/gate"
	"longhaul/api/gateform"
	"longhaul/api/message"
	"longhaul/api/read"
	"longhaul/api/stream"
	"longhaul/api/wire"
	"longhaul/opt"
	"longhaul/opt/shown"
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

// follow waits until a task has ended, or waits at a gate, or ctx ends, and shows the host its
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
		status, _ := e.TaskStatus()
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
			text, _ := p.Content()
			out = append(out, cmp.Or(text, p.String()))
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

// mostObject is the size in bytes up to which a question shows the object of a gate. Larger ones, and
// files, are looked at in the console.
const mostObject = 4000

// question returns what a gate asks, for people and models.
func (v *visit) question(i shown.Interrupt) string {
	g, lines := &i.Gate, []string{}
	add := func(format string, values ...any) { lines = append(lines, fmt.Sprintf(format, values...)) }
	add("%s", cmp.Or(a2a.Visible(g.Title), "A task waits for an answer")+g.Again())
	if about := g.About(); about != "" {
		add("%s", a2a.Visible(about))
	}
	add("For: %s, requested by %s.", a2a.VisibleLine(cmp.Or(i.Objective, i.ObjectiveID)), a2a.VisibleLine(i.Principal))
	text, whole := objectOf(g)
	if text != "" {
		add("To be decided on:\n%s", text)
	}
	if !whole {
		add("There is more, which is not shown here. %s", v.link(v.cfg.Gates, g.ID))
	}
	for _, q := range g.Questions {
		add("%s: %s", q.ID, a2a.Visible(q.Question))
	}
	if len(g.Actions) > 0 {
		add("Actions: %v. objectDigest: %s", g.Actions, cmp.Or(g.ObjectDigest, "none"))
	}
	for _, e := range g.Exchanges {
		add("%s: %s", a2a.VisibleLine(e.AskedBy), a2a.Visible(e.Question))
	}
	for _, next := range gateform.Unanswered(g) {
		add("Without an answer: %s.", next)
	}
	return strings.Join(lines, "\n")
}

// objectOf returns the object of a gate as text; whole is false if the text has not all of it, or not
// all messages that an accept covers.
func objectOf(g *opt.Gate) (text string, whole bool) {
	parts, whole := g.Object, g.Unshown() == 0
	if len(parts) == 0 && g.ArtifactData != nil {
		parts = []a2a.Part{opt.EditedPart(g.ArtifactData)}
	}
	for _, p := range parts {
		one, ok := p.Content()
		if !ok || len(text)+len(one) > mostObject {
			whole = false
			continue
		}
		text += a2a.Visible(one) + "\n"
	}
	return strings.TrimRight(text, "\n"), whole
}

// link returns the page of something in the console, "" for none.
func (v *visit) link(path, id string) string {
	if path == "" || id == "" {
		return ""
	}
	return v.cfg.URL + path + url.PathEscape(id)
}

// keyOf returns the key of the question of a gate to a host. It names what the person has seen, so an
// answer to it is about nothing else.
func keyOf(g *opt.Gate) string {
	return strings.Join([]string{g.ID, string(g.Kind), strconv.Itoa(len(g.Exchanges) + g.Omitted), g.ObjectDigest}, "|")
}

// questions returns what the host asks the person: the gates of the objective of a task that wait for
// the caller, but not those with the given keys.
func (v *visit) questions(ctx context.Context, h host, taskID string, asked []string) (sdk.InputRequestMap, error) {
	if !h.forms && !h.urls {
		return nil, nil
	}
	page, err := v.interrupts(ctx, taskID, true)
	if call.Is(err, call.Forbidden) {
		return nil, nil // the caller may start work, but not read it
	}
	out := sdk.InputRequestMap{}
	for _, i := range page.Interrupts {
		if p := v.elicitation(i, h); p != nil && !slices.Contains(asked, keyOf(&i.Gate)) {
			out[keyOf(&i.Gate)] = p
		}
	}
	return out, err
}

// askFor returns the result that has the host ask the person about one gate, or nil if the host cannot.
func (v *visit) askFor(ctx context.Context, h host, gateID string) (*sdk.CallToolResult, error) {
	taskID, _ := opt.TaskOfGate(gateID)
	ref, _ := opt.ParseID(taskID)
	questions, err := v.questions(ctx, h, taskID, nil)
	maps.DeleteFunc(questions, func(key string, _ sdk.InputRequest) bool { return !strings.HasPrefix(key, gateID+"|") })
	if err != nil || len(questions) == 0 {
		return nil, err
	}
	return &sdk.CallToolResult{InputRequests: questions, RequestState: rounds{Task: opt.RootID(ref.ObjectiveID, ref.Attempt)}.text()}, nil
}

// elicitation returns how a host asks the person about a gate: with a form, or with the page of the gate
// if a form does not show all. It is nil if the host has neither.
func (v *visit) elicitation(i shown.Interrupt, h host) *sdk.ElicitParams {
	g, form := &i.Gate, gateform.New(&i.Gate, nil)
	_, whole := objectOf(g)
	byForm := h.forms && (len(form.Questions) > 0 || g.Kind == opt.Approval)
	if link := v.link(v.cfg.Gates, g.ID); link != "" && h.urls && (!byForm || !whole) {
		return &sdk.ElicitParams{Mode: "url", Message: v.question(i), URL: link, ElicitationID: keyOf(g)}
	}
	if !byForm {
		return nil
	}
	return &sdk.ElicitParams{Mode: "form", Message: v.question(i), RequestedSchema: formSchema(g, form, whole)}
}

func formSchema(g *opt.Gate, form gateform.Form, whole bool) object {
	properties, required := object{}, []string(nil)
	for n, q := range form.Questions {
		properties[g.Questions[n].ID] = inputOf(q)
		required = append(required, g.Questions[n].ID)
	}
	if len(required) == 0 {
		actions := slices.DeleteFunc(slices.Clone(g.Actions), func(a opt.Action) bool { return a == opt.EditAccept || a == opt.Accept && !whole })
		properties["action"] = object{"type": "string", "title": "Decision", "enum": actions}
		properties["feedback"] = object{"type": "string", "title": "Why, what should be better, or your question"}
		required = []string{"action"}
	}
	return object{"type": "object", "properties": properties, "required": required}
}

// inputOf returns a question as a property of a form. Forms have no arrays and objects: these are
// written as JSON.
func inputOf(q shown.Question) object {
	out := object{"type": "string", "title": q.Text}
	if q.Hint != "" {
		out["description"] = q.Hint
	}
	switch {
	case len(q.Options) > 0:
		out["enum"] = q.Options
	case q.Boolean:
		out["type"] = "boolean"
	case q.Number:
		if out["type"] = "number"; q.Step == "1" {
			out["type"] = "integer"
		}
		for name, bound := range map[string]string{"minimum": q.Min, "maximum": q.Max} {
			if bound != "" {
				out[name] = json.Number(bound)
			}
		}
	}
	return out
}

// rounds are the state of a call in which the person is asked. The host sends it back, so it is not
// trusted: it names a task, which is read as the caller.
type rounds struct {
	Task  string   `json:"task"`
	Asked []string `json:"asked,omitempty"` // keys of questions that were answered or declined
}

func (r rounds) text() string {
	raw, _ := json.Marshal(r) // texts alone
	return string(raw)
}

// asked delivers the answers of the person at the host, and waits again.
func (v *visit) asked(ctx context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
	var r rounds
	if json.Unmarshal([]byte(req.Params.RequestState), &r) != nil {
		return nil, errors.New("the requestState is not the one of the question")
	}
	refused := v.respond(ctx, r.Task, req.Params.InputResponses)
	for key := range req.Params.InputResponses {
		r.Asked = append(r.Asked, key)
	}
	out, err := v.settle(ctx, req, r)
	if err == nil && refused != nil && len(out.InputRequests) == 0 {
		out.Content = append([]sdk.Content{&sdk.TextContent{Text: "The answer was not used: " + refused.Error()}}, out.Content...)
	}
	return out, err
}

// respond answers the gates of the objective of a task with what the person at the host has filled in.
// A declined question decides nothing, and neither does an opened page.
func (v *visit) respond(ctx context.Context, taskID string, responses sdk.InputResponseMap) (refused error) {
	open, err := v.interrupts(ctx, taskID, false)
	if err != nil {
		return err
	}
	for key, response := range responses {
		said, ok := response.(*sdk.ElicitResult)
		names := strings.Split(key, "|")
		if !ok || said.Action != "accept" || len(said.Content) == 0 || len(names) != 4 {
			continue
		}
		body := object{"id": names[0]}
		if opt.GateKind(names[1]) == opt.Clarification {
			var g opt.Gate // stays empty if it is not open any more: the operation refuses the answers
			if i := slices.IndexFunc(open.Interrupts, func(i shown.Interrupt) bool { return i.Gate.ID == names[0] }); i >= 0 {
				g = open.Interrupts[i].Gate
			}
			body["answers"] = gateform.Answers(&g, said.Content)
		} else {
			body["action"], body["objectDigest"] = said.Content["action"], names[3]
			if words, _ := said.Content["feedback"].(string); words != "" {
				body["feedback"], body["question"] = words, words // of ask is the question
			}
		}
		_, err := v.run(ctx, "AnswerInterrupt", body)
		refused = errors.Join(refused, err)
	}
	return refused
}

// answer delivers the answer in the arguments. Without one, the host asks the person.
func (v *visit) answer(ctx context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
	if req.Params.RequestState != "" {
		return v.asked(ctx, req)
	}
	body := object{}
	if err := arguments(req, &body); err != nil {
		return nil, err
	}
	id, _ := body["interruptId"].(string)
	body["id"] = id
	delete(body, "interruptId")
	if body["action"] == nil && body["answers"] == nil && body["text"] == nil {
		if asks, err := v.askFor(ctx, hostOf(req.Params.Meta), id); asks != nil || err != nil {
			return asks, err
		}
	}
	result, err := v.run(ctx, "AnswerInterrupt", body)
	if err != nil {
		return nil, err
	}
	out := result.(gate.Answered)
	text := fmt.Sprintf("The answer was recorded. The task is %s.", out.State)
	switch {
	case out.Pending:
		text = "The answer is stored. It counts as soon as the work continues, unless another answer was first."
	case out.Note != "":
		text = out.Note
	}
	return textResult(text, out), nil
}
