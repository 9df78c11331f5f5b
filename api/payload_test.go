package api_test

import (
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"

	"longhaul/api/call"
	"longhaul/api/read"
)

// mirror is a codec that turns data around. It cannot decode data that begins with "!".
type mirror struct{}

func (mirror) Encode(in []read.Payload) ([]read.Payload, error) {
	var out []read.Payload
	for _, p := range in {
		p.Data = slices.Clone(p.Data)
		slices.Reverse(p.Data)
		out = append(out, p)
	}
	return out, nil
}

func (m mirror) Decode(in []read.Payload) ([]read.Payload, error) {
	for _, p := range in {
		if strings.HasPrefix(string(p.Data), "!") {
			return nil, errors.New("the key 0123 is missing")
		}
	}
	return m.Encode(in)
}

// The endpoint takes and gives what Temporal's UI sends and expects: payloads as JSON
// with bytes in base64.
func TestCodec(t *testing.T) {
	s := newService(t, func(c *config) { c.Codec = mirror{} })
	const encoded, decoded = `{"payloads":[{"metadata":{"encoding":"cGxhaW4="},"data":"YWJj"},{}]}`, `{"payloads":[{"metadata":{"encoding":"cGxhaW4="},"data":"Y2Jh"},{}]}`
	for _, tt := range []struct {
		path, auth, body string
		status           int
		want             string
	}{
		{"/v1/codec/encode", limitedTo(call.ReadPayloads), encoded, http.StatusOK, decoded},
		{"/v1/codec/decode", limitedTo(call.ReadPayloads), decoded, http.StatusOK, encoded},
		{"/v1/codec/decode", limitedTo(call.ReadPayloads), `{"payloads":[]}`, http.StatusOK, `{"payloads":[]}`},
		{"/v1/codec/decode", limitedTo(call.ReadPayloads), `{"payloads":[{"data":"IWFi"}]}`, http.StatusBadRequest, "the key 0123 is missing"},
		{"/v1/codec/decode", limitedTo(call.ReadPayloads), `{"payloads":[{"data":"%"}]}`, http.StatusBadRequest, "must be a list of payloads"},
		{"/v1/codec/decode", limitedTo(call.ReadPayloads), `{}`, http.StatusBadRequest, "is required"},
		{"/v1/codec/decode", limitedTo(call.ReadRuns), decoded, http.StatusForbidden, "payloads:read"},
		{"/v1/codec/decode", "Bearer acme/ann all", decoded, http.StatusForbidden, "payloads:read"}, // it is not a scope within a tenant
		{"/v1/codec/decode", "Bearer nobody", decoded, http.StatusUnauthorized, ""},
	} {
		w := s.serve(t, http.MethodPost, tt.path, tt.body, "Authorization", tt.auth)
		if w.Code != tt.status || !strings.Contains(w.Body.String(), tt.want) {
			t.Errorf("%s of %s by %s: status %d: %s", tt.path, tt.body, tt.auth, w.Code, w.Body)
		}
	}
}

// Without encryption there is no endpoint.
func TestCodec_off(t *testing.T) {
	s := newService(t)
	if status, _ := s.page(t, http.MethodPost, "/v1/codec/decode", `{"payloads":[]}`); status != http.StatusNotFound {
		t.Errorf("status %d", status)
	}
}

// A browser that runs Temporal's UI asks first whether it may send what it sends.
func TestCodec_preflight(t *testing.T) {
	s := newService(t, func(c *config) { c.Codec, c.Origins = mirror{}, []string{"https://temporal.example.com"} })
	w := s.serve(t, http.MethodOptions, "/v1/codec/decode", "", "Origin", "https://temporal.example.com")
	h := w.Header()
	if h.Get("Access-Control-Allow-Origin") != "https://temporal.example.com" || !strings.Contains(h.Get("Access-Control-Allow-Methods"), "POST") ||
		!strings.Contains(h.Get("Access-Control-Allow-Headers"), "X-Namespace") || !strings.Contains(h.Get("Access-Control-Allow-Headers"), "Authorization") {
		t.Errorf("status %d, header %v", w.Code, h)
	}
}
