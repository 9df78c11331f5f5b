package planner

import (
	"context"
	"sync"
	"sync/atomic"

	"longhaul/activities"
)

// A Shelf holds the playbooks that are in force, and can have them read again
// while they are used. Plans that were made before stay as they are. It may be
// used by many goroutines at once.
type Shelf struct {
	read  func() (*Playbooks, error)
	books atomic.Pointer[Playbooks]

	mu     sync.Mutex // of changes
	checks []func(*Playbooks) error
}

var _ activities.Planner = (*Shelf)(nil)

// NewShelf returns a shelf with the playbooks that read returns, now and each time
// they are to be read again.
func NewShelf(read func() (*Playbooks, error)) (*Shelf, error) {
	s := &Shelf{read: read}
	return s, s.Reload()
}

// Books returns the playbooks that are in force now.
func (s *Shelf) Books() *Playbooks { return s.books.Load() }

// Require returns the error of check about the playbooks that are in force. If it
// is nil, others come into force only if check has no error about them either.
func (s *Shelf) Require(check func(*Playbooks) error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	err := check(s.Books())
	if err == nil {
		s.checks = append(s.checks, check)
	}
	return err
}

// Reload reads the playbooks again. With an error, which lists all that is wrong
// with them by file and line, those that are in force stay.
func (s *Shelf) Reload() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	books, err := s.read()
	if err != nil {
		return err
	}
	for _, check := range s.checks {
		if err := check(books); err != nil {
			return err
		}
	}
	s.books.Store(books)
	return nil
}

// Plan implements [activities.Planner].
func (s *Shelf) Plan(ctx context.Context, r activities.Request) (activities.Planned, error) {
	return s.Books().Plan(ctx, r)
}
