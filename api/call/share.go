package call

import (
	"context"
	"sync"
	"time"
)

// Shares divide something that there is a limited amount of among its users. They are safe for
// concurrent use.
type Shares struct {
	each, all int // the most that one user has, and that all have together

	mu    sync.Mutex
	held  map[string]int // by user
	total int
	freed chan struct{} // closed when something is given back, if there is a queue for it
	queue int           // of those who wait
}

// queueMost is how many wait for their share at a time. What they have sent already is held.
const queueMost = 64

// NewShares returns shares of all, of which one user has each at most.
func NewShares(each, all int) *Shares {
	return &Shares{each: each, all: all, held: map[string]int{}}
}

// Take gives n to a user until release is called, once. It reports whether there was enough;
// if not, freed is closed when there is more.
func (s *Shares) Take(user string, n int) (release func(), freed <-chan struct{}, ok bool) {
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

func (s *Shares) giveBack(user string, n int) {
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

// Await is Take that waits for enough, until ctx ends. It is a fault if too many wait.
func (s *Shares) Await(ctx context.Context, user string, n int) (release func(), err error) {
	release, _, ok := s.Take(user, n)
	if ok {
		return release, nil
	}
	if !s.enqueue(1) {
		return nil, TooMany(time.Second)
	}
	defer s.enqueue(-1)
	for {
		release, freed, ok := s.Take(user, n)
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

func (s *Shares) enqueue(n int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.queue+n > queueMost {
		return false
	}
	s.queue += n
	return true
}
