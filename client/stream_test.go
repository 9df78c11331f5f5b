package client_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"longhaul/a2a"
	"longhaul/client"
	"longhaul/internal/test"
)

const endedError = `{"jsonrpc":"2.0","id":1,"error":{"code":-32004,"message":"This operation is not supported","data":[{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"UNSUPPORTED_OPERATION","domain":"a2a-protocol.org"}]}}`

const (
	sent       = `SendStreamingMessage {"message":{"messageId":"m1","role":"ROLE_USER","parts":[{"text":"hello"}]},"configuration":{}}`
	subscribed = `SubscribeToTask {"id":"t1"}`
	got        = `GetTask {"id":"t1","historyLength":0}`
)

var pending = event("1", `{"task":{"id":"t1","contextId":"c1","status":{"state":"TASK_STATE_INPUT_REQUIRED"},"metadata":{"longhaul/v1/replyPending":true}}}`)

// The events that a stream yields, and its requests to the agent.
func TestClient_Stream(t *testing.T) {
	tests := []struct {
		name    string
		answers []http.HandlerFunc
		want    []string
		calls   []string
	}{
		{
			"to the end", []http.HandlerFunc{events(snapshot("1", "SUBMITTED"), update("2", "WORKING"), chunk("3", "a"), update("4", "COMPLETED"))},
			[]string{"1 task submitted", "2 working", "3 + a", "4 completed"}, []string{sent},
		},
		{
			"a message", []http.HandlerFunc{events(event("", `{"message":{"messageId":"m2","role":"ROLE_AGENT","parts":[{"text":"4"}]}}`))},
			[]string{" message 4"}, []string{sent},
		},
		{
			"to a question", []http.HandlerFunc{events(snapshot("1", "WORKING"), update("2", "INPUT_REQUIRED"))},
			[]string{"1 task working", "2 input-required"}, []string{sent},
		},
		{
			"past what happens around a question", []http.HandlerFunc{events(snapshot("1", "INPUT_REQUIRED"),
				event("2", `{"statusUpdate":{"taskId":"t1","contextId":"c1","status":{"state":"TASK_STATE_INPUT_REQUIRED"},"metadata":{"opt/v1/event":{"kind":"task","id":"task-1","from":"input-required","to":"working","revision":1}}}}`),
				update("3", "WORKING"), update("4", "COMPLETED"))},
			[]string{"1 task input-required", "2 input-required", "3 working", "4 completed"}, []string{sent},
		},
		{
			"breaks before anything came", []http.HandlerFunc{broken(), events(), events(snapshot("1", "COMPLETED"))},
			[]string{"1 task completed"}, []string{sent, sent, sent},
		},
		{
			"breaks and goes on to a question", []http.HandlerFunc{
				broken(snapshot("1", "SUBMITTED"), update("2", "WORKING")),
				broken(chunk("3", "a"), "id: 4\ndata: {\"cut"),
				text(503, "text/html", "starting"),
				silent(chunk("4", "b"), update("5", "INPUT_REQUIRED")),
			},
			[]string{"1 task submitted", "2 working", "3 + a", "4 + b", "5 input-required"},
			[]string{sent, subscribed + " after 2", subscribed + " after 3", subscribed + " after 3"},
		},
		{
			"ends early and the task ended meanwhile", []http.HandlerFunc{
				events(snapshot("1", "WORKING")), text(400, "application/json", endedError), result(task("COMPLETED")),
			},
			[]string{"1 task working", " task completed"}, []string{sent, subscribed + " after 1", got},
		},
		{
			"authorization is waited for", []http.HandlerFunc{events(snapshot("1", "AUTH_REQUIRED")), events(update("2", "WORKING"), update("3", "COMPLETED"))},
			[]string{"1 task auth-required", "2 working", "3 completed"}, []string{sent, subscribed + " after 1"},
		},
		{
			"a reply, and the task as it was before", []http.HandlerFunc{events(snapshot("1", "INPUT_REQUIRED"), chunk("2", "a"), update("3", "COMPLETED"))},
			[]string{"1 task input-required", "2 + a", "3 completed"}, []string{sent},
		},
		{
			"a task that waits already", []http.HandlerFunc{events(snapshot("1", "INPUT_REQUIRED"))},
			[]string{"1 task input-required"}, []string{sent},
		},
		{
			"breaks where the task waits, as far as is known", []http.HandlerFunc{broken(snapshot("1", "INPUT_REQUIRED")), silent(snapshot("1", "INPUT_REQUIRED"))},
			[]string{"1 task input-required", "1 task input-required"}, []string{sent, subscribed},
		},
		{
			"breaks with the question", []http.HandlerFunc{broken(snapshot("1", "WORKING"), update("2", "INPUT_REQUIRED"))},
			[]string{"1 task working", "2 input-required"}, []string{sent},
		},
		{
			"a reply that nobody has judged", []http.HandlerFunc{
				events(pending), events(update("2", "WORKING"), update("3", "COMPLETED")),
			},
			[]string{"1 task input-required", "2 working", "3 completed"}, []string{sent, subscribed + " after 1"},
		},
		{
			"an agent without places in a stream", []http.HandlerFunc{
				events("data: {\"result\":{\"task\":" + task("WORKING") + "}}\n\n"),
				events("data: {\"result\":{\"task\":" + task("COMPLETED") + "}}\n\n"),
			},
			[]string{" task working", " task completed"}, []string{sent, subscribed},
		},
		{
			"numbers in the metadata alone", []http.HandlerFunc{
				broken(`data: {"result":{"task":{"id":"t1","contextId":"c1","status":{"state":"TASK_STATE_WORKING"},"metadata":{"urn:longhaul:stream:v1":{"sequence":7}}}}}` + "\n\n"),
				events(update("8", "COMPLETED")),
			},
			[]string{"7 task working", "8 completed"}, []string{sent, subscribed + " after 7"},
		},
		{
			"refused", []http.HandlerFunc{text(400, "application/json", endedError)},
			[]string{"error: This operation is not supported (UNSUPPORTED_OPERATION)"}, []string{sent},
		},
		{
			"refused with status 200", []http.HandlerFunc{text(200, "application/json; charset=utf-8", endedError)},
			[]string{"error: This operation is not supported (UNSUPPORTED_OPERATION)"}, []string{sent},
		},
		{
			"no stream", []http.HandlerFunc{result(`{"task":` + task("WORKING") + `}`)},
			[]string{"error: the agent answered without a stream"}, []string{sent},
		},
		{
			"an error on the way", []http.HandlerFunc{events(snapshot("1", "WORKING"), "data: "+endedError+"\n\n")},
			[]string{"1 task working", "error: This operation is not supported (UNSUPPORTED_OPERATION)"}, []string{sent},
		},
		{
			"unavailable on the way", []http.HandlerFunc{events(snapshot("1", "WORKING"), "data: "+unavailable+"\n\n"), events(update("2", "COMPLETED"))},
			[]string{"1 task working", "2 completed"}, []string{sent, subscribed + " after 1"},
		},
		{
			"what is no JSON", []http.HandlerFunc{events("data: oops\n\n")},
			[]string{"error: read an event: invalid character 'o' looking for beginning of value"}, []string{sent},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			a := newAgent(t, tt.answers...)
			a.yields(a.client().Stream(t.Context(), hello(), again), tt.want...)
			test.Equal(t, "calls", tt.calls, a.seen())
		})
	}
}

// yields checks what a stream yields.
func (a *agent) yields(events iter.Seq2[client.Event, error], want ...string) {
	a.t.Helper()
	test.Equal(a.t, "events", want, lines(events))
}

// Without SendOptions.Retry the message is sent once; only the subscription is
// repeated.
func TestClient_Stream_once(t *testing.T) {
	a := newAgent(t, broken())
	var err error
	for _, err = range a.client().Stream(t.Context(), hello(), client.SendOptions{}) {
	}
	if err == nil || len(a.seen()) != 1 {
		t.Errorf("%v after %d calls, want an error after 1", err, len(a.seen()))
	}
	a = newAgent(t, broken(snapshot("1", "WORKING")), events(update("2", "FAILED")))
	a.yields(a.client().Stream(t.Context(), hello(), client.SendOptions{}), "1 task working", "2 failed")
}

func TestClient_Subscribe(t *testing.T) {
	tests := []struct {
		name    string
		after   string
		answers []http.HandlerFunc
		want    []string
		calls   []string
	}{
		{
			"over a question", "", []http.HandlerFunc{events(snapshot("1", "INPUT_REQUIRED"), update("2", "WORKING"), update("3", "CANCELED"))},
			[]string{"1 task input-required", "2 working", "3 canceled"}, []string{subscribed},
		},
		{
			"from a place", "7", []http.HandlerFunc{broken(), events(update("8", "COMPLETED"))},
			[]string{"8 completed"}, []string{subscribed + " after 7", subscribed + " after 7"},
		},
		{
			"from a place that is not known", "7", []http.HandlerFunc{events(snapshot("3", "WORKING"), update("4", "COMPLETED"))},
			[]string{"3 task working", "4 completed"}, []string{subscribed + " after 7"},
		},
		{
			"of what has ended", "", []http.HandlerFunc{text(400, "application/json", endedError), result(task("REJECTED"))},
			[]string{" task rejected"}, []string{subscribed, got},
		},
		{
			"from the last place of what has ended", "9", []http.HandlerFunc{events(), result(task("FAILED"))},
			[]string{" task failed"}, []string{subscribed + " after 9", got},
		},
		{
			"of what may not be followed", "", []http.HandlerFunc{text(400, "application/json", endedError), result(task("WORKING"))},
			[]string{"error: This operation is not supported (UNSUPPORTED_OPERATION)"}, []string{subscribed, got},
		},
		{
			"comments, other fields and long lines", "", []http.HandlerFunc{events(
				": keep-alive\n\n", "event: message\r\nretry: 10\r\nid: 1\r\ndata:{\"result\":\r\ndata: {\"task\":"+task("WORKING")+"}}\r\n\r\n",
				":\n\nid: 2\n\n", chunk("3", strings.Repeat("long ", 1<<16)), update("4", "COMPLETED"))},
			[]string{"1 task working", "3 + " + strings.Repeat("long ", 1<<16), "4 completed"}, []string{subscribed},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			a := newAgent(t, tt.answers...)
			a.yields(a.client().Subscribe(t.Context(), "t1", tt.after), tt.want...)
			test.Equal(t, "calls", tt.calls, a.seen())
		})
	}
}

// A connection without data for too long counts as broken.
func TestClient_Subscribe_silence(t *testing.T) {
	a := newAgent(t, silent(snapshot("1", "WORKING")), silent(), events(update("2", "COMPLETED")))
	cfg := config(a.URL)
	cfg.Silence = time.Second // within which the third connection has its event
	var troubles []string
	cfg.Retrying = func(err error, _ time.Duration) { troubles = append(troubles, err.Error()) }
	a.yields(client.New(cfg).Subscribe(t.Context(), "t1", ""), "1 task working", "2 completed")
	test.Equal(t, "troubles", []string{"the stream sent nothing for too long", "the stream sent nothing for too long"}, troubles)
}

// A consumer that stops, or a context that ends, ends the stream.
func TestClient_Subscribe_stops(t *testing.T) {
	a := newAgent(t, silent(snapshot("1", "WORKING"), update("2", "WORKING")))
	for range a.client().Subscribe(t.Context(), "t1", "") {
		break
	}
	a = newAgent(t, silent(snapshot("1", "WORKING")))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var got []string
	for e, err := range a.client().Subscribe(ctx, "t1", "") {
		cancel()
		if err != nil {
			got = append(got, err.Error())
			continue
		}
		got = append(got, e.ID)
	}
	test.Equal(t, "mismatch", []string{"1", "context canceled"}, got)
}

// A subscription survives a restart of the server and resumes where it broke.
func TestClient_Subscribe_restart(t *testing.T) {
	first := newAgent(t, broken(snapshot("1", "WORKING"), chunk("2", "a")))
	address := first.Listener.Addr().String()
	second := &agent{t: t, answers: []http.HandlerFunc{events(chunk("3", "b"), update("4", "COMPLETED"))}}
	cfg := config(first.URL)
	refused := 0
	cfg.Retrying = func(err error, _ time.Duration) {
		switch {
		case errors.Is(err, syscall.ECONNREFUSED):
			refused++
			second.Server = restart(t, address, second.answer)
		default:
			first.Close()
		}
	}
	second.yields(client.New(cfg).Subscribe(t.Context(), "t1", ""), "1 task working", "2 + a", "3 + b", "4 completed")
	test.Is(t, "the stream names the extensions", a2a.ExtensionOPT+", "+a2a.ExtensionStream, second.calls[0].header.Get("A2A-Extensions"))
	if diff := cmp.Diff([]string{subscribed + " after 2"}, second.seen()); diff != "" || refused != 1 {
		t.Errorf("refused %d times, calls mismatch (-want +got):\n%s", refused, diff)
	}
}

// A client stops waiting for a server that does not return, and reports the last
// error.
func TestClient_Subscribe_givesUp(t *testing.T) {
	cfg := config("http://127.0.0.1:9")
	cfg.HTTP, cfg.Patience = &http.Client{Transport: &refusing{left: 1 << 20}}, time.Nanosecond
	for e, err := range client.New(cfg).Subscribe(t.Context(), "t1", "") {
		test.Error(t, fmt.Sprintf("%+v,", e), syscall.ECONNREFUSED, err)
	}
}

func TestEvent(t *testing.T) {
	a := newAgent(t, events(
		event("1", `{"task":{"id":"t1","contextId":"c1","status":{"state":"TASK_STATE_WORKING"},"metadata":{"k":1}}}`),
		event("2", `{"artifactUpdate":{"taskId":"t1","contextId":"c1","artifact":{"artifactId":"a1","parts":[{"text":"x"}]},"metadata":{"k":2}}}`),
		event("3", `{"statusUpdate":{"taskId":"t1","contextId":"c1","status":{"state":"TASK_STATE_COMPLETED"},"metadata":{"k":3}}}`)))
	for e, err := range a.client().Subscribe(t.Context(), "t1", "") {
		test.OK(t, err)
		s, ok := e.TaskStatus()
		if string(e.Metadata()["k"]) != e.ID || e.TaskID() != "t1" || ok == (e.Artifact != nil) || ok && s.State == a2a.Submitted {
			t.Errorf("event %s: %+v", e.ID, e)
		}
		if want := e.Event; !strings.Contains(string(e.Raw), "t1") || want == (a2a.Event{}) {
			t.Errorf("event %s as it came: %s", e.ID, e.Raw)
		}
	}
}
