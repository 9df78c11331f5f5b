package harness

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"
	"time"

	"longhaul/internal/child"
	"longhaul/internal/test"
)

// callTimeout bounds a call whose context does not.
const callTimeout = 200 * time.Second

// A Client calls the API in A2A 1.0. It is safe for concurrent use.
type Client struct {
	URL    string
	Others []string // URLs of the same service: each call goes to one of all, at random
	HTTP   *http.Client
	Header map[string]string // sent with every call; see With
}

// NewClient returns a client of the API at a URL.
func NewClient(url string) *Client {
	return &Client{URL: url, HTTP: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}}}
}

// Extension is the URI of the extension for objectives, plans and tasks.
const Extension = "https://github.com/zeroasterisk/a2a-opt/v1"

// With returns a client like c that sends a header with every call.
func (c *Client) With(name, value string) *Client {
	with := *c
	with.Header = maps.Clone(c.Header)
	if with.Header == nil {
		with.Header = map[string]string{}
	}
	with.Header[name] = value
	return &with
}

// An RPCError is an error that the API answered with.
type RPCError struct {
	Code    int             `json:"code"`
	Message string          `json:"message"`
	Data    json.RawMessage `json:"data"`
}

func (e *RPCError) Error() string {
	return fmt.Sprintf("JSON-RPC error %d: %s %s", e.Code, e.Message, e.Data)
}

// Unavailable reports whether e says that the call may be repeated later, and
// when.
func (e *RPCError) Unavailable() bool {
	return e.Code == -32603 && bytes.Contains(e.Data, []byte(`"UNAVAILABLE"`)) && bytes.Contains(e.Data, []byte(`"retryDelay"`))
}

// detail returns the first of the details of e, which has its reason.
func (e *RPCError) detail() (d struct {
	Reason     string `json:"reason"`
	Violations []struct {
		Field string `json:"field"`
	} `json:"fieldViolations"`
}) {
	list := []json.RawMessage{nil}
	if json.Unmarshal(e.Data, &list) == nil && len(list) > 0 {
		_ = json.Unmarshal(list[0], &d) // anything else leaves it empty
	}
	return d
}

// Reason returns the reason of an RPCError, "" if it has none or is another error.
func Reason(err error) string {
	var rpc *RPCError
	if !errors.As(err, &rpc) {
		return ""
	}
	return rpc.detail().Reason
}

// Fields returns the invalid params that an RPCError names.
func Fields(err error) (fields []string) {
	var rpc *RPCError
	if errors.As(err, &rpc) {
		for _, v := range rpc.detail().Violations {
			fields = append(fields, v.Field)
		}
	}
	return fields
}

// Code returns the code of an RPCError, 0 for any other error.
func Code(err error) int {
	var rpc *RPCError
	if !errors.As(err, &rpc) {
		return 0
	}
	return rpc.Code
}

// MayRepeat reports whether the result of a call is unknown or the call may be
// repeated: the server was not reachable, stopped, or is not ready.
func MayRepeat(err error) bool {
	var rpc *RPCError
	return err != nil && (!errors.As(err, &rpc) || rpc.Unavailable())
}

// Call calls a method. result may be nil.
func (c *Client) Call(ctx context.Context, method string, params, result any) error {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	res, err := c.post(ctx, method, params, nil)
	if err != nil {
		return fmt.Errorf("%s %v: %w", method, params, err)
	}
	defer res.Body.Close()
	raw, err := answer(res)
	if err != nil {
		return fmt.Errorf("%s: %w", method, err)
	}
	if result == nil {
		return nil
	}
	return json.Unmarshal(raw, result)
}

// any returns one of the URLs of the service.
func (c *Client) any() string {
	if n := rand.IntN(1 + len(c.Others)); n > 0 {
		return c.Others[n-1]
	}
	return c.URL
}

func (c *Client) post(ctx context.Context, method string, params any, header map[string]string) (*http.Response, error) {
	body, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.any()+"/", bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("A2A-Version", "1.0")
	for _, h := range []map[string]string{c.Header, header} {
		for key, value := range h {
			req.Header.Set(key, value)
		}
	}
	return c.HTTP.Do(req)
}

// answer reads a JSON-RPC response.
func answer(res *http.Response) (json.RawMessage, error) {
	body, err := io.ReadAll(io.LimitReader(res.Body, 64<<20))
	if err != nil {
		return nil, err
	}
	var out struct {
		Result json.RawMessage `json:"result"`
		Error  *RPCError       `json:"error"`
	}
	if err := json.Unmarshal(body, &out); err != nil {
		return nil, fmt.Errorf("%s, no JSON-RPC: %w: %.200q", res.Status, err, body)
	}
	if out.Error != nil {
		return nil, out.Error
	}
	return out.Result, nil
}

// Repeat calls f until it returns nil or an error for which MayRepeat is false,
// or ctx ends. The error is f's last one.
func Repeat(ctx context.Context, f func(context.Context) error) (last error) {
	err := child.Until(ctx, 50*time.Millisecond, func() error {
		if last = f(ctx); MayRepeat(last) {
			return last
		}
		return nil
	})
	if err != nil {
		return err
	}
	return last
}

// Send sends a message and returns the task that it began or is for.
func (c *Client) Send(ctx context.Context, m Message) (*Task, error) {
	var out struct {
		Task *Task `json:"task"`
	}
	if err := c.Call(ctx, "SendMessage", m.params(), &out); err != nil {
		return nil, err
	}
	return out.Task, nil
}

// SendUntil sends a message repeatedly until it was accepted or refused.
func (c *Client) SendUntil(ctx context.Context, m Message) (t *Task, err error) {
	err = Repeat(ctx, func(ctx context.Context) error {
		t, err = c.Send(ctx, m)
		return err
	})
	return t, err
}

// MustSend is Send in a test, which ends if the message is refused.
func (c *Client) MustSend(ctx context.Context, t testing.TB, m Message) *Task {
	t.Helper()
	return must(ctx, t, m.ID, c.Send, m)
}

// MustSendUntil is SendUntil in a test, which ends if the message is refused.
func (c *Client) MustSendUntil(ctx context.Context, t testing.TB, m Message) *Task {
	t.Helper()
	return must(ctx, t, m.ID, c.SendUntil, m)
}

// MustCancel is Cancel in a test, which ends if it is refused.
func (c *Client) MustCancel(ctx context.Context, t testing.TB, id string) *Task {
	t.Helper()
	return must(ctx, t, id, c.Cancel, id)
}

func must[P, R any](ctx context.Context, t testing.TB, what string, call func(context.Context, P) (R, error), p P) R {
	t.Helper()
	result, err := call(ctx, p)
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	return result
}

// Get returns a task.
func (c *Client) Get(ctx context.Context, id string) (*Task, error) {
	var t Task
	if err := c.Call(ctx, "GetTask", map[string]any{"id": id}, &t); err != nil {
		return nil, err
	}
	return &t, nil
}

// Cancel cancels a task.
func (c *Client) Cancel(ctx context.Context, id string) (*Task, error) {
	var t Task
	if err := c.Call(ctx, "CancelTask", map[string]any{"id": id}, &t); err != nil {
		return nil, err
	}
	return &t, nil
}

// A TaskList is a page of tasks.
type TaskList struct {
	Tasks         []Task `json:"tasks"`
	NextPageToken string `json:"nextPageToken"`
	TotalSize     int    `json:"totalSize"`
}

// List returns a page of tasks, given the params of ListTasks.
func (c *Client) List(ctx context.Context, params map[string]any) (*TaskList, error) {
	var out TaskList
	if err := c.Call(ctx, "ListTasks", params, &out); err != nil {
		return nil, err
	}
	return &out, nil
}

// Await gets a task, at once and then every few milliseconds, until it is as is says, and
// returns it. The test ends if that takes too long.
func (c *Client) Await(t testing.TB, within time.Duration, id, what string, is func(*Task) bool) (task *Task) {
	t.Helper()
	Eventually(t, within, id+" "+what, func() (err error) {
		if task, err = c.Get(t.Context(), id); err == nil && !is(task) {
			err = fmt.Errorf("it is %s: %s", task.State, task.Message)
		}
		return err
	})
	return task
}

// AwaitState waits until a task is in a state, and returns it. The test ends at once if
// the task has ended in another one.
func (c *Client) AwaitState(t testing.TB, within time.Duration, id, state string) *Task {
	t.Helper()
	return c.Await(t, within, id, "is "+state, func(task *Task) bool {
		t.Helper()
		if task.Ended() && task.State != state {
			t.Fatalf("%s has ended %s, want %s: %s", id, task.State, state, task.Message)
		}
		return task.State == state
	})
}

// AwaitEnd waits until a task has ended, and returns it.
func (c *Client) AwaitEnd(t testing.TB, within time.Duration, id string) *Task {
	t.Helper()
	return c.Await(t, within, id, "ends", (*Task).Ended)
}

// AwaitGate waits until a task waits at a gate, and returns the gate. The test ends at once
// if the task has ended.
func (c *Client) AwaitGate(t testing.TB, within time.Duration, id string) *Gate {
	t.Helper()
	return c.Await(t, within, id, "waits at a gate", func(task *Task) bool {
		t.Helper()
		if task.Ended() {
			t.Fatalf("%s has ended %s: %s", id, task.State, task.Message)
		}
		return task.Gate != nil
	}).Gate
}

// AwaitText waits until the status of a task has a text with part in it.
func (c *Client) AwaitText(t testing.TB, within time.Duration, id, part string) {
	t.Helper()
	c.Await(t, within, id, "says "+part, func(task *Task) bool { return strings.Contains(task.Message, part) })
}

// Page sends a request that has no JSON-RPC, with the headers of c, and returns the status and the body of
// the answer.
func (c *Client) Page(ctx context.Context, verb, path, body string) (status int, answer []byte, err error) {
	req, err := http.NewRequestWithContext(ctx, verb, c.URL+path, strings.NewReader(body))
	if err != nil {
		return 0, nil, err
	}
	for name, value := range c.Header {
		req.Header.Set(name, value)
	}
	res, err := c.HTTP.Do(req)
	if err != nil {
		return 0, nil, err
	}
	defer res.Body.Close()
	answer, err = io.ReadAll(res.Body)
	return res.StatusCode, answer, err
}

// MustPage is Page, and ends the test if no answer comes.
func (c *Client) MustPage(t testing.TB, verb, path, body string) (status int, answer []byte) {
	t.Helper()
	status, answer, err := c.Page(t.Context(), verb, path, body)
	test.OK(t, err)
	return status, answer
}

// ReadPage is Page, and reads the JSON of an answer with the status 200 into result.
func (c *Client) ReadPage(ctx context.Context, verb, path, body string, result any) error {
	status, answer, err := c.Page(ctx, verb, path, body)
	if err == nil && status != http.StatusOK {
		err = fmt.Errorf("%s %s: status %d: %s", verb, path, status, answer)
	}
	if err != nil {
		return err
	}
	return json.Unmarshal(answer, result)
}
