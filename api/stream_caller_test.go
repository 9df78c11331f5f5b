package api_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"longhaul/api/call"
	"longhaul/internal/test"
	"longhaul/opt"
)

// A stream ends when its caller is no longer accepted. It stays open while the
// credential cannot be checked.
func TestStream_callerRefused(t *testing.T) {
	var outcome atomic.Pointer[error] // of authentication; nil for success
	var asked atomic.Int32
	refuse := func(err error) { outcome.Store(&err) }
	s := newService(t, func(c *config) {
		c.Recheck, c.Heartbeat = time.Nanosecond, 5*time.Millisecond
		c.Authenticate = func(r *http.Request) (call.Caller, error) {
			asked.Add(1)
			if err := outcome.Load(); err != nil {
				return call.Caller{}, *err
			}
			return callerOf(r)
		}
	})
	id := s.send(t, "m", "slow").at("id").String()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	_, res := s.connected(ctx, t, id)
	for _, err := range []error{fmt.Errorf("journal: %w", opt.ErrUnavailable), call.TooMany(time.Second)} {
		refuse(err)
		from := asked.Load()
		s.until(t, func() bool { return asked.Load() > from+1 })
	}
	refuse(errors.New("revoked"))
	body, err := io.ReadAll(res.Body)
	if text := string(body); err != nil || !strings.Contains(text, `"TASK_STATE_WORKING"`) || !strings.Contains(text, `"UNAUTHENTICATED"`) || strings.Contains(text, "revoked") {
		t.Errorf("error %v, stream: %s", err, body)
	}
}

// connected opens a stream of a task over a connection.
func (s *fixture) connected(ctx context.Context, t *testing.T, taskID string) (*httptest.Server, *http.Response) {
	t.Helper()
	srv := httptest.NewServer(s)
	t.Cleanup(srv.Close)
	r := test.Value(http.NewRequestWithContext(ctx, http.MethodGet, srv.URL+"/a2a/rest/tasks/"+taskID+":subscribe", nil))(t)
	r.Header.Set("A2A-Version", "1.0")
	res := test.Value(srv.Client().Do(r))(t)
	t.Cleanup(func() { _ = res.Body.Close() })
	return srv, res
}
