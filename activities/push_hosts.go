package activities

import (
	"net/url"
	"strings"
	"sync"
)

// hosts limits the attempts in progress at each host, so that one slow receiver does not take
// all permits for deliveries.
type hosts struct {
	most int

	mu   sync.Mutex
	used map[string]int // by host
}

// acquire takes a permit for the host of a URL until release is called. ok is false if none is
// free.
func (h *hosts) acquire(rawURL string) (release func(), ok bool) {
	host := ""
	if u, err := url.Parse(rawURL); err == nil {
		host = strings.ToLower(u.Hostname())
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.used[host] >= h.most {
		return nil, false
	}
	h.used[host]++
	return func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		if h.used[host]--; h.used[host] == 0 {
			delete(h.used, host)
		}
	}, true
}
