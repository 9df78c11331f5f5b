package api_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"longhaul/internal/test"
)

// A service that is about to stop reports that it drains, and still serves requests.
func TestReadiness_draining(t *testing.T) {
	s := newService(t)
	url := s.listen(t)
	get := func(path string, code int, want string) {
		t.Helper()
		res := test.Value(http.Get(url + path))(t)
		defer res.Body.Close()
		body, _ := io.ReadAll(res.Body)
		if res.StatusCode != code || want != "" && string(body) != want+"\n" {
			t.Errorf("%s: %d %s, want %d %s", path, res.StatusCode, body, code, want)
		}
	}
	get("/readyz", http.StatusOK, `{"status":"ready","engine":"ready","journal":"ready"}`)
	s.service.Drain()
	get("/readyz", http.StatusServiceUnavailable, `{"status":"draining","engine":"ready","journal":"ready"}`)
	get("/healthz", http.StatusOK, `{"status":"ok"}`)
	get("/.well-known/agent-card.json", http.StatusOK, "")
}

// Anyone may ask whether the service is ready. The engine and the journal are asked once a second
// for all who do.
func TestReadiness_remembered(t *testing.T) {
	s := newService(t)
	asked := 0
	s.world.Before(func(_ context.Context, call string) error {
		asked++
		return nil
	})
	ask := func(n int) {
		for range n {
			w := httptest.NewRecorder()
			if s.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/readyz", nil)); w.Code != http.StatusOK {
				t.Errorf("status %d", w.Code)
			}
		}
	}
	ask(100)
	s.world.Advance(999 * time.Millisecond)
	ask(100)
	test.Is(t, "200 requests asked the engine times", 1, asked)
	s.world.Advance(time.Millisecond)
	ask(100)
	test.Is(t, "a second later the engine was asked times", 2, asked)
}
