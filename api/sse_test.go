package api_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"longhaul/internal/test"
)

// A reader reads a stream from a server.
type reader struct {
	t     *testing.T
	body  *bufio.Reader
	close context.CancelFunc
}

// An sse is one event of a stream, or a comment.
type sse struct {
	id, comment string
	data        node
}

// listen serves s and returns its URL.
func (s *fixture) listen(t *testing.T) string {
	t.Helper()
	return listen(t, s.HTTP())
}

// listen runs a server until the test ends, and returns its URL.
func listen(t *testing.T, h *http.Server) string {
	t.Helper()
	listener := test.Value(net.Listen("tcp", "127.0.0.1:0"))(t)
	done := make(chan error, 1)
	go func() { done <- h.Serve(listener) }()
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		test.Error(t, "shut down", nil, h.Shutdown(ctx))
		test.Error(t, "serve", http.ErrServerClosed, <-done)
	})
	return "http://" + listener.Addr().String()
}

// open calls a streaming method.
func open(t *testing.T, url, version, method, params string, headers ...string) *reader {
	t.Helper()
	body := fmt.Sprintf(`{"jsonrpc":"2.0","id":"s","method":%q,"params":%s}`, method, params)
	return follow(t, http.MethodPost, url, body, append(headers, "A2A-Version", version)...)
}

// follow sends a request whose answer is a stream.
func follow(t *testing.T, verb, url, body string, headers ...string) *reader {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	r := test.Value(http.NewRequestWithContext(ctx, verb, url, strings.NewReader(body)))(t)
	r.Header.Set("Content-Type", "application/json")
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w, err := http.DefaultClient.Do(r) // closed below
	test.OK(t, err)
	t.Cleanup(func() { cancel(); _ = w.Body.Close() })
	if got := w.Header.Get("Content-Type"); got != "text/event-stream" || w.StatusCode != http.StatusOK {
		t.Fatalf("not a stream: %d %s", w.StatusCode, got)
	}
	return &reader{t, bufio.NewReader(w.Body), cancel}
}

// next returns the next event; ok is false at the end.
func (r *reader) next() (e sse, ok bool) {
	r.t.Helper()
	for {
		line, err := r.body.ReadString('\n')
		if errors.Is(err, io.EOF) && line == "" {
			return e, false
		}
		if err != nil {
			r.t.Fatalf("read stream: %v", err)
		}
		line = strings.TrimSuffix(line, "\n")
		name, value, _ := strings.Cut(line, ": ")
		switch {
		case line == "" && e != sse{}:
			return e, true
		case name == "id":
			e.id = value
		case name == "data":
			e.data = parse(r.t, []byte(value))
		case strings.HasPrefix(line, ":"):
			e.comment = line
		}
	}
}

// event returns the next event that is not a comment.
func (r *reader) event() sse {
	r.t.Helper()
	for {
		e, ok := r.next()
		if !ok {
			r.t.Fatal("the stream has ended")
		}
		if e.comment == "" {
			return e
		}
	}
}

// states reads to the end and returns the state, or the kind, of each event.
func (r *reader) states() []string {
	r.t.Helper()
	var out []string
	for e, ok := r.next(); ok; e, ok = r.next() {
		if e.comment == "" {
			out = append(out, brief(e.data))
		}
	}
	return out
}

func brief(data node) string {
	result := data.at("result")
	if !data.has("result") {
		result = data // over plain HTTP
	}
	for _, path := range [][]string{{"task", "status", "state"}, {"statusUpdate", "status", "state"}, {"status", "state"}} {
		if s := result.at(path...).String(); s != "" {
			return strings.ToLower(strings.TrimPrefix(s, "TASK_STATE_"))
		}
	}
	if s := result.at("artifactUpdate", "artifact", "artifactId").String(); s != "" {
		return s
	}
	return data.String()
}
