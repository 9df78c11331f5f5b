package api_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"longhaul/internal/test"
)

// dial connects to a server, sends a request as text, and closes the client's half of
// the connection. It returns the other half.
func dial(t *testing.T, h *http.Server, request string) *bufio.Reader {
	t.Helper()
	conn := test.Value(net.Dial("tcp", strings.TrimPrefix(listen(t, h), "http://")))(t)
	t.Cleanup(func() { _ = conn.Close() })
	test.OK(t, test.Err(io.WriteString(conn, request)))
	test.OK(t, conn.(*net.TCPConn).CloseWrite())
	return bufio.NewReader(conn)
}

// halfClosed is dial, and waits until net/http has noticed that the client's half is
// closed.
func (s *fixture) halfClosed(t *testing.T, request string) *bufio.Reader {
	t.Helper()
	noticed := make(chan context.Context, 1)
	h := s.HTTP()
	h.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		noticed <- r.Context()
		s.ServeHTTP(w, r)
	})
	rest := dial(t, h, request)
	<-(<-noticed).Done()
	return rest
}

func rawRequest(path, body string) string {
	return fmt.Sprintf("POST %s HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nA2A-Version: 1.0\r\nContent-Length: %d\r\n\r\n%s", path, len(body), body)
}

// A client that closes its half of the connection after its request waits for the
// answer like any other.
func TestHalfClose_blockingSend(t *testing.T) {
	for _, path := range []string{"/a2a", "/message:send"} {
		s := newService(t, func(c *config) { c.BlockingWait = time.Minute })
		body := `{"message":` + messageJSON("m", "slow", "") + `}`
		if path == "/a2a" {
			body = `{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":` + body + `}`
		}
		rest := s.halfClosed(t, rawRequest(path, body))
		s.until(t, func() bool { _, ok := s.running("task-" + u("m") + "-1-0"); return ok })
		s.world.Complete("task-" + u("m") + "-1-0")
		answer := test.Value(http.ReadResponse(rest, nil))(t)
		got, err := io.ReadAll(answer.Body)
		_ = answer.Body.Close()
		if err != nil || answer.StatusCode != http.StatusOK || !strings.Contains(string(got), "TASK_STATE_COMPLETED") {
			t.Errorf("%s: status %d, error %v: %s", path, answer.StatusCode, err, got)
		}
	}
}

func TestHalfClose_stream(t *testing.T) {
	s := newService(t)
	rest := s.halfClosed(t, rawRequest("/message:stream", `{"message":`+messageJSON("m", "slow", "")+`}`))
	answer := test.Value(http.ReadResponse(rest, nil))(t)
	defer answer.Body.Close()
	events := bufio.NewReader(answer.Body)
	test.OK(t, test.Err(events.ReadString('\n')))
	s.until(t, func() bool { _, ok := s.running("task-" + u("m") + "-1-0"); return ok })
	s.world.Complete("task-" + u("m") + "-1-0")
	got, err := io.ReadAll(events)
	if err != nil || !strings.Contains(string(got), "TASK_STATE_COMPLETED") {
		t.Errorf("error %v: the stream was\n%s", err, got)
	}
}
