package api_test

import (
	"context"
	"errors"
	"net/http"
	"testing"

	"longhaul/internal/test"
)

func TestServer_keys(t *testing.T) {
	var fail error
	keys := func(context.Context) ([]byte, error) { return []byte(`{"keys":[]}`), fail }
	s := newService(t, func(c *config) { c.Keys = keys })
	w := s.get(t, "/.well-known/jwks.json")
	if got, want := w.Body.String(), `{"keys":[]}`; w.Code != http.StatusOK || got != want {
		t.Errorf("%d %q, want %q", w.Code, got, want)
	}
	test.Is(t, "Cache-Control", "public, max-age=300", w.Header().Get("Cache-Control"))
	fail = errors.New("secret cause")
	if w := s.get(t, "/.well-known/jwks.json"); w.Code != http.StatusServiceUnavailable {
		t.Errorf("%d %s without keys, want 503", w.Code, w.Body)
	}
	test.Is(t, "with deliveries that are not signed", http.StatusNotFound, newService(t).get(t, "/.well-known/jwks.json").Code)
}
