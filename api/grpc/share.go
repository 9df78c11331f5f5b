package grpc

import (
	"context"
	"net"
	"sync"
	"time"

	"longhaul/api/call"
)

// shares divide something that there is a limited amount of among its users. They are safe for
// concurrent use.
type shares struct {
	each, all int // the most that one user has, and that all have together

	mu    sync.Mutex
	held  map[string]int // by user
	total int
	freed chan struct{} // closed when something is given back, if there is a queue for it
	queue int           // of those who wait
}

// queueMost is how many wait for their share at a time. What they have sent already is held.
const queueMost = 64

func newShares(each, all int) *shares { return &shares{each: each, all: all, held: map[string]int{}} }

// take gives n to a user until release is called, once. It reports whether there was enough;
// if not, freed is closed when there is more.
func (s *shares) take(user string, n int) (release func(), freed <-chan struct{}, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.held[user]+n > s.each || s.total+n > s.all {
		if s.freed == nil {
			s.freed = make(chan struct{})
		}
		return nil, s.freed, false
	}
	s.held[user] += n
	s.total += n
	return func() { s.giveBack(user, n) }, nil, true
}

func (s *shares) giveBack(user string, n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.total -= n
	if s.held[user] -= n; s.held[user] == 0 {
		delete(s.held, user)
	}
	if s.freed != nil {
		close(s.freed)
		s.freed = nil
	}
}

// await is take that waits for enough, until ctx ends. It is a fault if too many wait.
func (s *shares) await(ctx context.Context, user string, n int) (release func(), err error) {
	release, _, ok := s.take(user, n)
	if ok {
		return release, nil
	}
	if !s.enqueue(1) {
		return nil, call.TooMany(time.Second)
	}
	defer s.enqueue(-1)
	for {
		release, freed, ok := s.take(user, n)
		if ok {
			return release, nil
		}
		select {
		case <-freed:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

func (s *shares) enqueue(n int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.queue+n > queueMost {
		return false
	}
	s.queue += n
	return true
}

// host returns the address of a peer without its port.
func host(addr net.Addr) string {
	if name, _, err := net.SplitHostPort(addr.String()); err == nil {
		return name
	}
	return addr.String()
}

// A crowdedListener accepts no more connections than its shares allow.
type crowdedListener struct {
	net.Listener
	shares *shares // by address
}

// Accept implements [net.Listener]. It closes connections that are too many.
func (l crowdedListener) Accept() (net.Conn, error) {
	for {
		conn, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if release, _, ok := l.shares.take(host(conn.RemoteAddr()), 1); ok {
			return &sharedConn{Conn: conn, release: sync.OnceFunc(release)}, nil
		}
		_ = conn.Close()
	}
}

type sharedConn struct {
	net.Conn
	release func()
}

func (c *sharedConn) Close() error {
	c.release()
	return c.Conn.Close()
}
