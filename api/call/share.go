package call

import (
	"context"
	"slices"
	"sync"
	"time"
)

// Shares divide something that there is a limited amount of among its users. They are safe for
// concurrent use.
type Shares struct {
	each, all int // the most that one user has, and that all have together

	mu      sync.Mutex
	held    map[string]int // by user
	total   int
	growing []*Share // in the order in which they came
	queue   []*wait  // likewise
}

// queueMost is how many shares of one user wait at a time. What they have sent already is held.
const queueMost = 64

// NewShares returns shares of all, of which one user has each at most.
func NewShares(each, all int) *Shares {
	return &Shares{each: each, all: all, held: map[string]int{}}
}

// A Share is what one user has for one purpose.
type Share struct {
	of         *Shares
	user       string
	held, most int
}

// A wait is that for a share to get more.
type wait struct {
	share *Share
	n     int
	given chan struct{}
}

// Of returns the share of a user, which is empty yet. All that grow have the same most.
func (s *Shares) Of(user string, most int) *Share { return &Share{of: s, user: user, most: most} }

// Held returns how much it is, and Full whether that is the most.
func (h *Share) Held() int  { return h.held }
func (h *Share) Full() bool { return h.held == h.most }

// Take gives n to a user until release is called. It reports whether there was enough.
func (s *Shares) Take(user string, n int) (release func(), ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	h := s.Of(user, n)
	if ofUser, ofAll := s.room(h, n); !ofUser || !ofAll {
		return nil, false
	}
	s.give(h, n)
	return h.Release, true
}

// Await makes the share as large as size, or the most that it may be. It waits for that until ctx ends, behind those
// that have come before. It is a fault if too many of the user wait.
func (h *Share) Await(ctx context.Context, size int) error {
	s, w := h.of, &wait{h, min(size, h.most) - h.held, make(chan struct{})}
	s.mu.Lock()
	waiting := 0
	for _, other := range s.queue {
		if other.share.user == h.user {
			waiting++
		}
	}
	s.queue = append(s.queue, w)
	s.serve()
	served := !slices.Contains(s.queue, w)
	if !served && waiting >= queueMost {
		s.leave(w)
		s.mu.Unlock()
		return TooMany(time.Second)
	}
	s.mu.Unlock()
	select {
	case <-w.given:
		return nil
	case <-ctx.Done():
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if !slices.Contains(s.queue, w) { // it was served meanwhile
		return nil
	}
	s.leave(w)
	return ctx.Err()
}

// Release gives all of the share back.
func (h *Share) Release() {
	s := h.of
	s.mu.Lock()
	defer s.mu.Unlock()
	s.total -= h.held
	if s.held[h.user] -= h.held; s.held[h.user] == 0 {
		delete(s.held, h.user)
	}
	h.held = 0
	s.growing = slices.DeleteFunc(s.growing, func(other *Share) bool { return other == h })
	s.serve()
}

func (s *Shares) give(h *Share, n int) {
	if h.held == 0 && n < h.most {
		s.growing = append(s.growing, h)
	}
	h.held += n
	s.held[h.user] += n
	s.total += n
}

func (s *Shares) leave(w *wait) {
	s.queue = slices.DeleteFunc(s.queue, func(other *wait) bool { return other == w })
	s.serve()
}

// serve gives those in the queue what they wait for, the first first. Behind one for which there is no room, those wait
// that would take it from it: all of its user, or all.
func (s *Shares) serve() {
	held, full := map[string]bool{}, false
	s.queue = slices.DeleteFunc(s.queue, func(w *wait) bool {
		h := w.share
		first := len(s.growing) > 0 && s.growing[0] == h // the others may wait for it
		ofUser, ofAll := s.room(h, w.n)
		if !ofUser || !ofAll || !first && (full || held[h.user]) {
			held[h.user], full = true, full || ofUser && !ofAll
			return false
		}
		s.give(h, w.n)
		close(w.given)
		return true
	})
}

// room reports whether its user, and all together, may have n more for a share. The one that has grown for the longest
// can always have all that it may need, so that not all have some and wait for more.
func (s *Shares) room(h *Share, n int) (ofUser, ofAll bool) {
	left := func(of func(*Share) bool) int {
		if i := slices.IndexFunc(s.growing, of); i >= 0 && s.growing[i] != h {
			return s.growing[i].most - s.growing[i].held
		} else if i >= 0 || n < h.most {
			return h.most - h.held - n
		}
		return 0
	}
	return s.held[h.user]+n+left(func(g *Share) bool { return g.user == h.user }) <= s.each,
		s.total+n+left(func(*Share) bool { return true }) <= s.all
}
