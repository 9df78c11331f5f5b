package agent

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"go.uber.org/zap"

	"longhaul/a2a"
	"longhaul/a2a/codec"
	"longhaul/activities"
	"longhaul/internal/egress"
)

// Limits of a call. Many agents answer a message only when they are done, so the head of
// an answer may take long.
const (
	AnswerFor = time.Minute // until the head of an answer has come, for the client that waits for it
	callFor   = AnswerFor + 30*time.Second
)

// A remote calls one interface of an agent.
type remote struct {
	http    activities.Sender
	agent   *Agent
	at      endpoint
	secrets []string // beside those of the agent
	log     *zap.Logger

	extensions []string // that a call activates, beside those of at
}

// A method is one operation, in each binding.
type method struct {
	v10, v03 string // of JSON-RPC; "" if the version does not have it
	verb     string // of plain HTTP
	path     string // %s is the id of a task
}

var (
	methodSend   = method{"SendMessage", "message/send", http.MethodPost, "/message:send"}
	methodGet    = method{"GetTask", "tasks/get", http.MethodGet, "/tasks/%s"}
	methodList   = method{"ListTasks", "", http.MethodGet, "/tasks"}
	methodCancel = method{"CancelTask", "tasks/cancel", http.MethodPost, "/tasks/%s:cancel"}
	methodWatch  = method{"SubscribeToTask", "tasks/resubscribe", http.MethodPost, "/tasks/%s:subscribe"}
	methodPush   = method{"CreateTaskPushNotificationConfig", "tasks/pushNotificationConfig/set", http.MethodPost, "/tasks/%s/pushNotificationConfigs"}
)

// A callError is the error of a call to the agent. Its text is for clients.
type callError struct {
	kind  callErrorKind
	code  int // of JSON-RPC; 0 if there is none
	text  string
	after time.Duration // of busy
}

type callErrorKind int

const (
	unreachable callErrorKind = iota // the agent cannot be reached, or its answer is not valid: a repeat may succeed
	busy                             // the agent asks for a later repeat
	denied                           // the credentials
	refused                          // for good
	tooLarge                         // the answer
	unproven                         // the card is not signed as the operator demands
)

// Error implements error.
func (t *callError) Error() string { return t.text }

// Codes of A2A errors.
const (
	codeInternal   = -32603
	codeParams     = -32602
	codeNotFound   = -32001
	codeNotCancel  = -32002
	codeNoVersion  = -32009
	codeNoMethod   = -32601
	codeNotAllowed = -32004
)

// send sends a message and returns the task or message that answers it.
func (r remote) send(ctx context.Context, m a2a.Message, accept []string) (codec.EventRead, error) {
	r.extensions = slices.DeleteFunc(slices.Clone(m.Extensions), func(uri string) bool { return !inHeader(uri) || slices.Contains(r.at.extensions(), uri) })
	raw, err := r.call(ctx, methodSend, "", r.at.Version.Send(codec.Send{Message: m, ReturnAtOnce: true, Accept: accept}))
	if err != nil {
		return codec.EventRead{}, err
	}
	out, err := codec.Foreign.Event(raw)
	if err != nil || out.Task == nil && out.Message == nil || out.Task != nil && out.Task.ID == "" {
		return out, errNotA2A
	}
	return out, nil
}

// inHeader reports whether a text of a client may be one of a list in a header.
func inHeader(text string) bool {
	return text != "" && !strings.ContainsFunc(text, func(c rune) bool { return c <= ' ' || c == ',' || c >= 127 })
}

// errNotA2A is the error for an answer that is not valid in A2A.
var errNotA2A = &callError{kind: unreachable, text: "The answer is not one of A2A."}

func (r remote) get(ctx context.Context, id string) (codec.TaskRead, error) {
	return r.task(ctx, methodGet, id, map[string]any{"id": id, "historyLength": 0})
}

// history is get with the messages of the task, as far as the agent shows them.
func (r remote) history(ctx context.Context, id string) (codec.TaskRead, error) {
	return r.task(ctx, methodGet, id, map[string]any{"id": id, "historyLength": 100})
}

// hasMessage reports whether the history of a task has a message.
func hasMessage(t codec.TaskRead, messageID string) bool {
	return slices.ContainsFunc(t.History, func(m a2a.Message) bool { return m.MessageID == messageID })
}

// cancel asks the agent to cancel a task, with the reason if there is one and it takes reasons.
func (r remote) cancel(ctx context.Context, id, reason string) (codec.TaskRead, error) {
	params := map[string]any{"id": id}
	if reason != "" && r.at.Reason {
		params["metadata"] = map[string]any{a2a.ExtensionCancel: map[string]string{"reason": reason}}
	}
	return r.task(ctx, methodCancel, id, params)
}

func (r remote) task(ctx context.Context, m method, id string, params map[string]any) (t codec.TaskRead, err error) {
	raw, err := r.call(ctx, m, id, params)
	if err != nil {
		return t, err
	}
	if t, err = codec.Foreign.Task(raw); err != nil || t.ID != id {
		return t, errNotA2A
	}
	return t, nil
}

// push registers a URL for the states of a task.
func (r remote) push(ctx context.Context, id, callback string) error {
	_, err := r.call(ctx, methodPush, id, r.at.Version.Push(codec.PushConfig{TaskID: id, URL: callback}))
	return err
}

// find looks for the task that a message has started in a context. The id is "" if there
// is none; known is false if the agent does not list its tasks, such as one of 0.3.
func (r remote) find(ctx context.Context, contextID, messageID string) (t codec.TaskRead, known bool, err error) {
	if r.at.Version != codec.V10 {
		return t, false, nil
	}
	raw, err := r.call(ctx, methodList, "", map[string]any{"contextId": contextID, "pageSize": 50, "historyLength": 100})
	if failed, ok := errors.AsType[*callError](err); ok && (failed.kind == refused || failed.kind == denied) {
		return t, false, nil // if the credentials are wrong, the next call says so
	}
	if err != nil {
		return t, false, err
	}
	list, err := codec.Foreign.Tasks(raw)
	if err != nil {
		return t, false, errNotA2A
	}
	for _, t := range list {
		if t.ID != "" && hasMessage(t, messageID) {
			return t, true, nil
		}
	}
	return t, true, nil
}

// call calls a method and returns its result. Every error is a [*callError], except that of
// ctx.
func (r remote) call(ctx context.Context, m method, id string, params any) (json.RawMessage, error) {
	ctx, cancel := context.WithTimeout(ctx, callFor)
	defer cancel()
	req, err := r.request(ctx, m, id, params)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept", "application/json")
	_, body, err := r.do(ctx, req)
	if err != nil {
		return nil, err
	}
	if r.at.Binding == httpJSON {
		return body, nil
	}
	return parseRPC(body)
}

// parseRPC returns the result in a response of JSON-RPC.
func parseRPC(body []byte) (json.RawMessage, error) {
	result, failed, err := codec.ReadResponse(body)
	switch {
	case err != nil:
		return nil, errNotA2A
	case failed != nil:
		return nil, newCallError(failed)
	}
	return result, nil
}

// request returns the request of a method.
func (r remote) request(ctx context.Context, m method, id string, params any) (*http.Request, error) {
	verb, at := http.MethodPost, r.at.URL
	members := codec.Members(mustJSON(params))
	if r.at.Tenant != "" {
		members["tenant"] = mustJSON(r.at.Tenant)
	}
	var body any = members
	if r.at.Binding == httpJSON {
		verb = m.verb
		if r.at.Tenant != "" {
			at += "/" + url.PathEscape(r.at.Tenant)
		}
		at += strings.Replace(m.path, "%s", url.PathEscape(id), 1)
		if verb == http.MethodGet {
			at, body = at+"?"+query(members), nil
		}
	} else {
		name := m.v10
		if r.at.Version == codec.V03 {
			name = m.v03
		}
		body = map[string]any{"jsonrpc": "2.0", "id": 1, "method": name, "params": members}
	}
	var content io.Reader
	if body != nil {
		content = bytes.NewReader(mustJSON(body))
	}
	req, err := http.NewRequestWithContext(ctx, verb, at, content)
	if err != nil {
		return nil, &callError{kind: refused, text: "The URL of the interface cannot be read."}
	}
	req.Header.Set("Content-Type", "application/json")
	activate := codec.HeaderExtensions3
	if r.at.Version == codec.V10 {
		activate = codec.HeaderExtensions
		req.Header.Set(codec.HeaderVersion, string(codec.V10))
	}
	if uris := append(r.at.extensions(), r.extensions...); len(uris) > 0 {
		req.Header.Set(activate, strings.Join(uris, ", "))
	}
	return req, nil
}

// query returns params other than those of the path as a query.
func query(params map[string]json.RawMessage) string {
	values := url.Values{}
	for key, raw := range params {
		text := string(raw)
		_ = json.Unmarshal(raw, &text) // a number stays as it is
		if key != "id" && key != "tenant" {
			values.Set(key, text)
		}
	}
	return values.Encode()
}

func mustJSON(v any) json.RawMessage {
	b, err := json.Marshal(v)
	if err != nil {
		panic("agent: value without a JSON form: " + err.Error())
	}
	return b
}

// do sends a request with the credentials of the agent and reads the answer, without the
// secrets in it.
func (r remote) do(ctx context.Context, req *http.Request) (*http.Response, []byte, error) {
	res, err := r.open(ctx, req)
	if err != nil {
		return nil, nil, err
	}
	defer func() { _ = res.Body.Close() }()
	body, err := io.ReadAll(res.Body)
	switch {
	case errors.Is(err, egress.ErrTooLarge):
		return nil, nil, &callError{kind: tooLarge, text: "The answer has too many bytes."}
	case err != nil:
		return nil, nil, r.requestError(ctx, err)
	}
	body = r.hide(body)
	if res.StatusCode < 200 || res.StatusCode > 299 {
		return nil, nil, statusError(res, body)
	}
	return res, body, nil
}

// hide returns data of the agent without the secrets that it may know.
func (r remote) hide(data []byte) []byte {
	return activities.Hide(data, slices.Concat(r.agent.secrets, r.secrets))
}

// open sends a request and returns the answer, whose body the caller closes.
func (r remote) open(ctx context.Context, req *http.Request) (*http.Response, error) {
	req.Header.Set("User-Agent", "Longhaul")
	for name, value := range r.agent.Headers {
		req.Header.Set(name, value)
	}
	res, err := r.http.Do(ctx, req)
	if err != nil {
		return nil, r.requestError(ctx, err)
	}
	return res, nil
}

// requestError returns the error of a request without an answer.
func (r remote) requestError(ctx context.Context, err error) error {
	if ctx.Err() != nil && !errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return ctx.Err()
	}
	class := egress.Class(err)
	activities.Log(ctx, r.log).Info("An agent could not be reached", zap.String("agent", r.agent.name), zap.String("class", class), zap.String("rule", egress.Rule(err)))
	if egress.Final(err) {
		return &callError{kind: denied, text: "This server does not send requests to that address."}
	}
	return &callError{kind: unreachable, text: "There was no answer: " + class + "."}
}

// newCallError returns the error for an error response.
func newCallError(e *codec.Error) *callError {
	kind := refused
	if e.Code == codeInternal {
		kind = unreachable
	}
	return &callError{kind: kind, code: e.Code, text: cleanLine(e.Message, maxLine)}
}

// reasons are the codes of errors over plain HTTP.
var reasons = map[string]int{
	"TASK_NOT_FOUND": codeNotFound, "TASK_NOT_CANCELABLE": codeNotCancel, "UNSUPPORTED_OPERATION": codeNotAllowed, "VERSION_NOT_SUPPORTED": codeNoVersion,
}

// statusError returns the error for an HTTP status other than 2xx.
func statusError(res *http.Response, body []byte) error {
	var answer struct {
		Error codec.Error `json:"error"`
	}
	_ = json.Unmarshal(body, &answer) // the status says enough
	t := newCallError(&answer.Error)
	if list := answer.Error.List(); len(list) > 0 {
		var first codec.Detail
		_ = json.Unmarshal(list[0], &first)
		t.code = reasons[first.Reason]
	}
	t.text = cmp.Or(t.text, fmt.Sprintf("The answer has HTTP status %d.", res.StatusCode))
	t.kind = refused
	switch res.StatusCode {
	case http.StatusTooManyRequests, http.StatusServiceUnavailable:
		t.kind, t.after = busy, pauseAfter(res.Header)
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusProxyAuthRequired:
		t.kind = denied
	case http.StatusRequestTimeout:
		t.kind = unreachable
	case http.StatusBadRequest:
		t.code = cmp.Or(t.code, codeParams)
	case http.StatusNotImplemented:
	default:
		if res.StatusCode < 400 {
			t.text = "The answer is a redirect, which is not followed: the URL of the agent has changed."
		} else if res.StatusCode >= 500 && t.code == 0 {
			t.kind = unreachable
		}
	}
	return t
}

// The pauses after an answer that asks for one.
const (
	shortestPause = time.Second
	longestPause  = 10 * time.Minute
	usualPause    = 15 * time.Second
)

// pauseAfter returns how long to wait after an answer.
func pauseAfter(h http.Header) time.Duration {
	d, ok := egress.RetryAfter(h, longestPause)
	if !ok {
		d = usualPause
	}
	return max(d, shortestPause)
}
