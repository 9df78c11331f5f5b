package activities

import (
	"net/url"
	"strings"
	"sync"
)

// hosts count the attempts that are under way, so that one slow receiver does not
// hold all permits for deliveries.
type hosts struct {
	most int

	mu   sync.Mutex
	used map[string]int // by host
}

// enter takes a permit for the host of a URL until leave is called. ok is false if
// there is none.
func (h *hosts) enter(rawURL string) (leave func(), ok bool) {
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
