package api_test

import (
	"io"
	"net/http"
	"testing"
)

// A service that is about to stop reports that it drains, and still serves requests.
func TestReadiness_draining(t *testing.T) {
	s := newService(t)
	url := s.listen(t)
	get := func(path string, code int, want string) {
		t.Helper()
		res, err := http.Get(url + path)
		if err != nil {
			t.Fatal(err)
		}
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
