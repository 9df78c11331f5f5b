package api_test

import (
	"context"
	"testing"
	"time"

	"longhaul/opt"
)

// A brokenJournal fails to record.
type brokenJournal struct {
	*memory
	record error
}

func (b *brokenJournal) Record(ctx context.Context, batch opt.Batch) error {
	if b.record != nil {
		return b.record
	}
	return b.memory.Record(ctx, batch)
}

// A lostStart is an engine whose workflows do not run.
type lostStart struct{ *engine }

func (l lostStart) Start(ctx context.Context, o opt.Opening) (opt.Opening, error) {
	message := o.Message
	o.Message = nil // so that nothing is played
	o, err := l.engine.Start(ctx, o)
	o.Message = message
	return o, err
}

// until waits for something that another goroutine is about to bring about.
func (s *fixture) until(t *testing.T, ok func() bool) {
	t.Helper()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for range 5000 {
		s.journal.mu.Lock()
		done := ok()
		s.journal.mu.Unlock()
		if done {
			return
		}
		<-tick.C
	}
	t.Fatal("it did not happen")
}

// leaving is an engine whose client goes as soon as the work has begun.
type leaving struct {
	lostStart
	leave context.CancelFunc
}

func (l leaving) Start(ctx context.Context, o opt.Opening) (opt.Opening, error) {
	o, err := l.lostStart.Start(ctx, o)
	l.leave()
	return o, err
}

// playAndWait records events and waits until the one who waits for them has looked.
func (s *fixture) playAndWait(t *testing.T, objectiveID string, events ...opt.Event) {
	t.Helper()
	s.journal.mu.Lock()
	before := s.journal.calls
	s.journal.mu.Unlock()
	s.journal.play(objectiveID, events...)
	s.until(t, func() bool { return s.journal.calls >= before+2 }) // ours and one more
}
