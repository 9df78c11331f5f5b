package push_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"longhaul/dev/e2e/harness"
)

// A notice is one request to a receiver.
type notice struct {
	path    string
	id      string // of the delivery
	n       int    // its number
	attempt int
	taskID  string
	state   string
	header  http.Header
	body    string
}

// A receiver takes deliveries at any path, and answers by the path.
type receiver struct {
	server *httptest.Server
	ended  chan struct{}

	mu     sync.Mutex
	got    []notice
	hook   func(notice) // called for each request before the answer; may be nil
	closed bool         // answers 503 everywhere
}

func newReceiver(t *testing.T) *receiver {
	t.Helper()
	r := &receiver{ended: make(chan struct{})}
	r.server = httptest.NewServer(r)
	t.Cleanup(func() {
		close(r.ended)
		r.server.CloseClientConnections()
		r.server.Close()
	})
	return r
}

func (r *receiver) url(path string) string { return r.server.URL + "/" + path }

// ServeHTTP implements [http.Handler].
func (r *receiver) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	n := read(req)
	r.mu.Lock()
	r.got = append(r.got, n)
	hook, closed := r.hook, r.closed
	r.mu.Unlock()
	if hook != nil {
		hook(n)
	}
	if closed {
		w.WriteHeader(http.StatusServiceUnavailable)
		return
	}
	switch n.path {
	case "slow":
		select {
		case <-r.ended:
		case <-req.Context().Done():
		}
	case "gone":
		w.WriteHeader(http.StatusGone)
	case "refuses":
		w.WriteHeader(http.StatusForbidden)
	case "moved":
		http.Redirect(w, req, r.url("elsewhere"), http.StatusFound)
	case "fails-twice":
		if n.attempt <= 2 {
			w.WriteHeader(http.StatusInternalServerError)
		}
	case "busy-once":
		if n.attempt == 1 {
			w.Header().Set("Retry-After", "2")
			w.WriteHeader(http.StatusTooManyRequests)
		}
	}
}

// read reads a delivery, of either version.
func read(req *http.Request) notice {
	body, _ := io.ReadAll(req.Body) // a cut body is no delivery of a state
	var update struct {
		TaskID string `json:"taskId"`
		Status struct {
			State string `json:"state"`
		} `json:"status"`
	}
	var wrapped struct {
		StatusUpdate json.RawMessage `json:"statusUpdate"`
	}
	_ = json.Unmarshal(body, &wrapped)
	if wrapped.StatusUpdate == nil {
		wrapped.StatusUpdate = body
	}
	_ = json.Unmarshal(wrapped.StatusUpdate, &update)
	n := notice{
		path: strings.TrimPrefix(req.URL.Path, "/"), id: req.Header.Get("X-Longhaul-Delivery"),
		taskID: update.TaskID, state: strings.TrimPrefix(update.Status.State, "TASK_STATE_"), header: req.Header, body: string(body),
	}
	n.n, _ = strconv.Atoi(n.id[strings.LastIndexByte(n.id, '/')+1:])
	n.attempt, _ = strconv.Atoi(req.Header.Get("X-Longhaul-Attempt"))
	return n
}

// at returns the notices that came to a path.
func (r *receiver) at(path string) (list []notice) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, n := range r.got {
		if n.path == path {
			list = append(list, n)
		}
	}
	return list
}

// states returns the states that came to a path for a task, without repeats of a
// delivery. Deliveries out of order are an error.
func (r *receiver) states(path, taskID string) (states []string, err error) {
	last := -1
	var seen []string
	for _, n := range r.at(path) {
		if n.taskID != taskID {
			continue
		}
		if n.n < last {
			err = fmt.Errorf("delivery %d came after %d", n.n, last)
		}
		last = n.n
		if !slices.Contains(seen, n.id) {
			seen, states = append(seen, n.id), append(states, n.state)
		}
	}
	return states, err
}

// await waits until states have come to a path for a task, in order.
func (r *receiver) await(t *testing.T, path, taskID string, want ...string) {
	t.Helper()
	harness.Eventually(t, within, fmt.Sprintf("%v at %s", want, path), func() error {
		got, err := r.states(path, taskID)
		if err == nil && !slices.Equal(got, want) {
			err = fmt.Errorf("it got %v", got)
		}
		return err
	})
}
