package service

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"longhaul/a2a"
	"longhaul/opt"
)

// changes makes the changes that clients ask for.
type changes struct {
	cfg   Config
	read  reader
	out   writer
	wait  waiter
	queue *queue
}

// errEarly is wrapped by errors of the engine that another look at the journal may
// explain: the work there is about to begin or to end, or is newer than it looked.
var errEarly = errors.New("too early")

// The waits between looks.
const (
	firstLook = time.Millisecond
	lastLook  = 100 * time.Millisecond
)

// changing calls change, which looks at the journal, refuses what cannot be and
// has the engine do the rest, and calls it again while that comes too early. n is
// how often it was called before. What is in time when the client goes is done.
func (s *changes) changing(ctx context.Context, change func(ctx context.Context, n int) error) error {
	ctx, cancel := s.out.detached(ctx)
	defer cancel()
	for n, wait := 0, firstLook; ; n, wait = n+1, min(2*wait, lastLook) {
		err := change(ctx, n)
		if !errors.Is(err, errEarly) {
			return err
		}
		timer := time.NewTimer(wait)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return fmt.Errorf("%w: %v", opt.ErrUnavailable, err)
		}
	}
}

// early marks what the engine says of something that the journal shows as there.
func early(err error) error {
	if errors.Is(err, opt.ErrEnded) || errors.Is(err, opt.ErrUnknown) || errors.Is(err, opt.ErrStale) {
		return fmt.Errorf("%w: %w", errEarly, err)
	}
	return err
}

// tryAgain is how often a change is repeated that the engine could not take.
const tryAgain = 3

// repeated is early for a change that may be made twice, and was tried n times
// before: work that has just gone on may throw back what came at that moment. A
// change by a client that names a revision is not: made after all, or claimed, it
// would be stale the second time.
func repeated(err error, n int, seen int64) error {
	if errors.Is(err, opt.ErrUnavailable) && n < tryAgain && seen == 0 {
		return fmt.Errorf("%w: %w", errEarly, err)
	}
	return early(err)
}

// fresh refuses a change by a client that has seen another revision than o's.
func fresh(o *opt.Objective, seen int64) error {
	if seen == 0 || seen == o.Revision {
		return nil
	}
	revision := strconv.FormatInt(o.Revision, 10)
	return &Fault{
		Kind: InvalidState, Message: "Stale revision: the objective is at revision " + revision, Reason: "STALE_REVISION",
		Info: map[string]string{"revision": revision, "seen": strconv.FormatInt(seen, 10)},
	}
}

// closed reports whether nothing of o can be changed in this attempt.
func closed(o *opt.Objective) bool { return o.Status.Ended() || o.Stopping != "" }

// caughtUp waits until the journal shows what follows from a change that is in it
// already, and returns the objective as it is then. It gives up after a while: the
// change holds, and the rest of it comes.
func (s *changes) caughtUp(ctx context.Context, c *Call, id string, w Watch, wait time.Duration, enough func(*opt.Objective) bool) (*opt.Objective, error) {
	var o *opt.Objective
	err := s.wait.await(ctx, w, wait, func() (bool, error) {
		var err error
		if o, err = s.cfg.Journal.Objective(ctx, c.Tenant, id); err != nil {
			return false, err
		}
		return enough(o) && !s.goesOn(o), nil
	})
	return o, err
}

// goesOn reports whether something follows at once from what the journal shows of
// o, going by the model: each level records for itself, and those above a bit
// later.
func (s *changes) goesOn(o *opt.Objective) bool {
	now := a2a.At(s.cfg.Now())
	for _, p := range o.Plans {
		startsAll := p.Started && !p.Status.Ended() && !o.Started && !closed(o) // a client has started it
		if len(p.Next(now)) > 0 || startsAll {
			return true
		}
		report := p.Brief() // what its objective knows of it, in time
		p.Report = &report
	}
	return len(o.Next(now)) > 0
}
