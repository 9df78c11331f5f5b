package prove

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"time"
)

// Versions of the protocol.
const (
	v03 = "0.3"
	v10 = "1.0"
)

const (
	codeNotFound = -32001
	codeNoMethod = -32601
	maxAnswer    = 16 << 20 // bytes
	callTimeout  = 40 * time.Second
)

// methods are the names of the operations in each version.
var methods = map[string]map[string]string{
	v03: {"send": "message/send", "stream": "message/stream", "get": "tasks/get", "list": "tasks/list", "cancel": "tasks/cancel", "subscribe": "tasks/resubscribe"},
	v10: {"send": "SendMessage", "stream": "SendStreamingMessage", "get": "GetTask", "list": "ListTasks", "cancel": "CancelTask", "subscribe": "SubscribeToTask"},
}

// An rpcError is an answer of the server that refuses a request: the request did nothing.
type rpcError struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

func (e *rpcError) Error() string { return fmt.Sprintf("%s (code %d)", e.Message, e.Code) }

// isRefusal reports whether the server has answered with an error, and not with one that
// says that it cannot answer now.
func isRefusal(err error) bool {
	rpc, ok := errors.AsType[*rpcError](err)
	return ok && rpc.Code != -32603 && (rpc.Code > -32000 || rpc.Code <= -32001)
}

func hasCode(err error, code int) bool {
	rpc, ok := errors.AsType[*rpcError](err)
	return ok && rpc.Code == code
}

// An agentCard is the part of a card of either version that prove reads.
type agentCard struct {
	Name            string           `json:"name"`
	Version         string           `json:"version"`
	ProtocolVersion string           `json:"protocolVersion"` // of 0.3
	URL             string           `json:"url"`             // of 0.3
	Transport       string           `json:"preferredTransport"`
	Interfaces      []agentInterface `json:"supportedInterfaces"`
	Capabilities    struct {
		Streaming bool `json:"streaming"`
		Push      bool `json:"pushNotifications"`
	} `json:"capabilities"`
}

type agentInterface struct {
	URL     string `json:"url"`
	Binding string `json:"protocolBinding"`
	Version string `json:"protocolVersion"`
}

// serves reports whether i serves JSON-RPC in a version.
func (i agentInterface) serves(version string) bool {
	return i.Binding == "JSONRPC" && (i.Version == version || version == v03 && strings.HasPrefix(i.Version, v03))
}

// endpoint returns the version and the path at which the agent serves JSON-RPC. want is
// a version, "" for the newest.
func (c agentCard) endpoint(want string) (version, at string, err error) {
	all := slices.Clone(c.Interfaces)
	if c.URL != "" {
		all = append(all, agentInterface{c.URL, cmp.Or(c.Transport, "JSONRPC"), v03})
	}
	for _, version := range []string{v10, v03} {
		i := slices.IndexFunc(all, func(i agentInterface) bool { return i.serves(version) })
		if i >= 0 && version == cmp.Or(want, version) {
			return version, all[i].URL, nil
		}
	}
	return "", "", fmt.Errorf("the card of %q has no JSON-RPC interface for A2A %s", c.Name, cmp.Or(want, "0.3 or 1.0"))
}

// A wire calls one server. It is safe for concurrent use.
type wire struct {
	base    *url.URL // as the user gave it
	rpc     string   // URL of JSON-RPC, at the host of base
	version string
	token   string
	http    *http.Client
	lastID  *atomic.Int64
}

// overLink returns a wire to the same server over another link.
func (w *wire) overLink(l *link) *wire {
	other := *w
	other.http = l.client(w.http)
	return &other
}

// card returns the agent card.
func (w *wire) card(ctx context.Context) (c agentCard, err error) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, w.base.JoinPath(".well-known/agent-card.json").String(), nil)
	if err != nil {
		return c, err
	}
	res, err := w.do(req)
	if err != nil {
		return c, err
	}
	defer func() { _ = res.Body.Close() }()
	if res.StatusCode != http.StatusOK {
		return c, fmt.Errorf("GET %s answers %s", req.URL, res.Status)
	}
	if err := json.NewDecoder(io.LimitReader(res.Body, maxAnswer)).Decode(&c); err != nil {
		return c, fmt.Errorf("read the agent card: %w", err)
	}
	return c, nil
}

// useCard takes version and path from the card. The host stays the one that the user gave.
func (w *wire) useCard(c agentCard, want string) error {
	version, at, err := c.endpoint(want)
	if err != nil {
		return err
	}
	u, err := url.Parse(at)
	if err != nil {
		return fmt.Errorf("the card has the URL %q: %w", at, err)
	}
	rpc := *w.base
	rpc.Path, rpc.RawQuery = u.Path, u.RawQuery
	w.version, w.rpc = version, rpc.String()
	return nil
}

func (w *wire) do(req *http.Request) (*http.Response, error) {
	if w.token != "" {
		req.Header.Set("Authorization", "Bearer "+w.token)
	}
	if w.version == v10 {
		req.Header.Set("A2A-Version", v10)
	}
	return w.http.Do(req)
}

// post sends a request. lastEvent is the id of the last event of a stream that broke.
func (w *wire) post(ctx context.Context, operation string, params any, lastEvent string) (*http.Response, error) {
	body, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": w.lastID.Add(1), "method": methods[w.version][operation], "params": params})
	if err != nil {
		return nil, fmt.Errorf("write the params of %s: %w", operation, err)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, w.rpc, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.GetBody = nil // a request is repeated by prove alone, which counts it
	req.Header.Set("Content-Type", "application/json")
	if operation == "stream" || operation == "subscribe" {
		req.Header.Set("Accept", "text/event-stream")
	}
	if lastEvent != "" {
		req.Header.Set("Last-Event-ID", lastEvent)
	}
	return w.do(req)
}

// call calls a method that answers once. An error that is no [rpcError] says nothing
// about whether the request has arrived.
func (w *wire) call(ctx context.Context, operation string, params any) (json.RawMessage, error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	res, err := w.post(ctx, operation, params, "")
	if err != nil {
		return nil, err
	}
	defer func() { _ = res.Body.Close() }()
	return readAnswer(res)
}

func readAnswer(res *http.Response) (json.RawMessage, error) {
	body, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer))
	if err != nil {
		return nil, fmt.Errorf("read the answer: %w", err)
	}
	raw, err := parseAnswer(body)
	if raw == nil && err == nil {
		return nil, fmt.Errorf("the answer is %s and no JSON-RPC", res.Status)
	}
	return raw, err
}

// parseAnswer returns the result or the error of an answer in JSON-RPC; neither if it is none.
func parseAnswer(body []byte) (json.RawMessage, error) {
	var a struct {
		Result json.RawMessage `json:"result"`
		Error  *rpcError       `json:"error"`
	}
	if json.Unmarshal(body, &a) != nil {
		return nil, nil
	}
	if a.Error != nil {
		return nil, a.Error
	}
	return a.Result, nil
}

// A message is what prove sends.
type message struct {
	id, taskID, text string
	push             string // URL of a webhook; "" for none
}

// params returns the params of a send that returns at once. A blocking send would hide when the
// task was acknowledged.
func (w *wire) params(m message) any {
	wired := map[string]any{"messageId": m.id, "role": "ROLE_USER", "parts": []any{map[string]any{"text": m.text}}}
	config := map[string]any{"returnImmediately": true}
	push := "taskPushNotificationConfig"
	if w.version == v03 {
		wired["kind"], wired["role"], wired["parts"] = "message", "user", []any{map[string]any{"kind": "text", "text": m.text}}
		config, push = map[string]any{"blocking": false}, "pushNotificationConfig"
	}
	if m.taskID != "" {
		wired["taskId"] = m.taskID
	}
	if m.push != "" {
		config[push] = map[string]any{"url": m.push}
	}
	return map[string]any{"message": wired, "configuration": config}
}

// send sends a message and returns its task.
func (w *wire) send(ctx context.Context, m message) (*task, error) {
	raw, err := w.call(ctx, "send", w.params(m))
	if err != nil {
		return nil, err
	}
	e, err := readEvent(raw)
	if err == nil && e.task == nil {
		err = errNoTask
	}
	return e.task, err
}

// errNoTask is the error for an agent that does not make tasks.
var errNoTask = errors.New("the agent answered with a message and made no task: give a --message that makes a task")

func (w *wire) get(ctx context.Context, id string) (*task, error) {
	return w.task(ctx, "get", id)
}

func (w *wire) cancel(ctx context.Context, id string) (*task, error) {
	return w.task(ctx, "cancel", id)
}

func (w *wire) task(ctx context.Context, operation, id string) (*task, error) {
	raw, err := w.call(ctx, operation, map[string]any{"id": id})
	if err != nil {
		return nil, err
	}
	e, err := readEvent(raw)
	if err == nil && e.task == nil {
		err = fmt.Errorf("the result of %s is no task", methods[w.version][operation])
	}
	return e.task, err
}

// A page is one of a list of tasks.
type page struct {
	Tasks []task `json:"tasks"`
	Next  string `json:"nextPageToken"`
}

// list returns a page of the tasks whose status is not older than since.
func (w *wire) list(ctx context.Context, since time.Time, token string) (p page, err error) {
	params := map[string]any{"pageSize": 7, "historyLength": 5, "statusTimestampAfter": since.UTC().Format("2006-01-02T15:04:05.000Z")}
	if token != "" {
		params["pageToken"] = token
	}
	raw, err := w.call(ctx, "list", params)
	if err == nil {
		err = json.Unmarshal(raw, &p)
	}
	return p, err
}

// follow calls a method that answers with a stream and passes its events on, until the
// stream ends. It returns nil at the end of a stream.
func (w *wire) follow(ctx context.Context, operation string, params any, lastEvent string, on func(event)) error {
	res, err := w.post(ctx, operation, params, lastEvent)
	if err != nil {
		return err
	}
	defer func() { _ = res.Body.Close() }()
	kind, _, _ := mime.ParseMediaType(res.Header.Get("Content-Type"))
	if kind != "text/event-stream" {
		if _, err := readAnswer(res); err != nil {
			return err
		}
		return errors.New("the server answered without a stream")
	}
	return readStream(res.Body, on)
}

// states that end a task.
var terminal = []string{"completed", "failed", "canceled", "rejected"}

func isTerminal(state string) bool { return slices.Contains(terminal, state) }
