package prove

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"
)

// A webhook receives push notifications for all tasks, each under a path of its own.
type webhook struct {
	base   string // URL of it
	server *http.Server
	ended  chan error

	mu     sync.Mutex
	states map[string][]status // by path and task
}

// listenWebhook starts a webhook. public is its URL for the server, "" for the address itself.
func listenWebhook(addr, public string) (*webhook, error) {
	listener, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("listen for push notifications: %w", err)
	}
	h := &webhook{base: strings.TrimSuffix(public, "/"), ended: make(chan error, 1), states: map[string][]status{}}
	h.base = cmp.Or(h.base, "http://"+listener.Addr().String())
	h.server = &http.Server{Handler: h, ReadHeaderTimeout: 10 * time.Second}
	go func() { h.ended <- h.server.Serve(listener) }()
	return h, nil
}

// close stops the webhook.
func (h *webhook) close() {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	_ = h.server.Shutdown(ctx)
	<-h.ended
}

// ServeHTTP implements [http.Handler].
func (h *webhook) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(io.LimitReader(r.Body, maxAnswer))
	e, wrong := readEvent(body)
	if err = errors.Join(err, wrong); err != nil {
		http.Error(w, "this is no A2A push notification: "+err.Error(), http.StatusBadRequest)
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	token := r.URL.Path[strings.LastIndex(r.URL.Path, "/")+1:]
	switch {
	case e.task != nil:
		h.states[token+" "+e.task.ID] = append(h.states[token+" "+e.task.ID], e.task.Status)
	case e.status != nil:
		h.states[token+" "+e.status.TaskID] = append(h.states[token+" "+e.status.TaskID], e.status.Status)
	}
	w.WriteHeader(http.StatusNoContent)
}

// received reports whether the state of the task of s has come.
func (h *webhook) received(s *sentTask) bool {
	key, state := s.message.id+" "+s.taskID(), s.snapshot().last
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, s := range h.states[key] {
		if string(s.State) == state {
			return true
		}
	}
	return false
}

// firstOutOfOrder returns the first state of the task of s that came for the first time after a later one; ""
// for none. Repeats are allowed: delivery is at least once.
func (h *webhook) firstOutOfOrder(s *sentTask) string {
	key := s.message.id + " " + s.taskID()
	h.mu.Lock()
	defer h.mu.Unlock()
	known := map[status]bool{}
	var latest status
	for _, s := range h.states[key] {
		if !known[s] && (isTerminal(string(latest.State)) || s.At.Before(latest.At.Time)) {
			return fmt.Sprintf("%s of %s came after %s of %s", s.State, clockText(s.At.Time), latest.State, clockText(latest.At.Time))
		}
		known[s] = true
		if !s.At.Before(latest.At.Time) {
			latest = s
		}
	}
	return ""
}
