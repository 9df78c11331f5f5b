package activities

import (
	"context"
	"time"
)

// Functions for tests.
var (
	ReadBeat = readHeartbeat
	News     = Watching.newHeartbeat
)

// RunTaken runs a first try, which a worker took at a time after a wait, and returns how many pieces it has.
func RunTaken(ctx context.Context, r Recorder, w Work, at time.Time, waited time.Duration, do func(Stream)) (pieces int64, err error) {
	s := newStream(ctx, r, contents{}, w, 1)
	s.taken(at, waited)
	do(s)
	_, err = s.finish(ctx, Outcome{})
	return s.pieces(), err
}
