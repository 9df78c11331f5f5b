package clients_test

import (
	"net/http"
	"strings"
	"sync"
	"testing"
)

// A tap sees the HTTP responses of a client of which the client shows only a
// part.
type tap struct {
	transport *http.Transport

	mu         sync.Mutex
	extensions string
}

func newTap(t *testing.T) *tap {
	out := &tap{transport: &http.Transport{MaxIdleConnsPerHost: 32}}
	t.Cleanup(out.transport.CloseIdleConnections)
	return out
}

func (p *tap) client() *http.Client { return &http.Client{Transport: p} }

// RoundTrip implements [http.RoundTripper].
func (p *tap) RoundTrip(req *http.Request) (*http.Response, error) {
	res, err := p.transport.RoundTrip(req)
	if err == nil {
		p.mu.Lock()
		p.extensions = res.Header.Get("A2A-Extensions")
		p.mu.Unlock()
	}
	return res, err
}

func (p *tap) activated() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.extensions
}

// state03 returns a name of 1.0 as 0.3 has it.
func state03(name, prefix string) string {
	return strings.ReplaceAll(strings.ToLower(strings.TrimPrefix(name, prefix)), "_", "-")
}

// state10 returns a state of 0.3 as 1.0 has it.
func state10(name string) string {
	if name == "" {
		return ""
	}
	return "TASK_STATE_" + strings.ToUpper(strings.ReplaceAll(name, "-", "_"))
}
