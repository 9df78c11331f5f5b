package planner

import (
	"context"
	"sync"
	"sync/atomic"

	"longhaul/activities"
)

// A PlaybookSet holds the current playbooks, and can read them again while they are
// used. Plans that were made before do not change. Many goroutines may use a
// PlaybookSet at once.
type PlaybookSet struct {
	read  func() (*Playbooks, error)
	books atomic.Pointer[Playbooks]

	mu     sync.Mutex // of changes
	checks []func(*Playbooks) error
}

var _ activities.Planner = (*PlaybookSet)(nil)

// NewPlaybookSet returns a set with the playbooks that read returns, now and at each
// Reload.
func NewPlaybookSet(read func() (*Playbooks, error)) (*PlaybookSet, error) {
	s := &PlaybookSet{read: read}
	return s, s.Reload()
}

// Books returns the current playbooks.
func (s *PlaybookSet) Books() *Playbooks { return s.books.Load() }

// Require returns the error of check for the current playbooks. If it is nil,
// Reload accepts only playbooks for which check returns nil, too.
func (s *PlaybookSet) Require(check func(*Playbooks) error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	err := check(s.Books())
	if err == nil {
		s.checks = append(s.checks, check)
	}
	return err
}

// Reload reads the playbooks again. If they have mistakes, the current ones stay,
// and the error lists the mistakes by file and line.
func (s *PlaybookSet) Reload() error {
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
func (s *PlaybookSet) Plan(ctx context.Context, r activities.Request) (activities.Planned, error) {
	return s.Books().Plan(ctx, r)
}
