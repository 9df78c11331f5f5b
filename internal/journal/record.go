package journal

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"go.uber.org/zap"

	"longhaul/internal/journal/db"
	"longhaul/internal/journal/record"
	"longhaul/opt"
	"longhaul/opt/outbox"
)

// A recorder is the part of a Journal that records events.
type recorder struct {
	db       *db.Engine
	channels *atomic.Pointer[[]outbox.Channel] // for notices
	recorded func(Recorded)                    // nil for nothing
}

func newRecorder(e *db.Engine, cfg Config) recorder {
	j := recorder{e, new(atomic.Pointer[[]outbox.Channel]), cfg.Recorded}
	j.SetChannels(cfg.Channels)
	return j
}

// SetChannels replaces the channels for which the journal makes notices.
func (j recorder) SetChannels(list []outbox.Channel) { j.channels.Store(&list) }

// Record applies the events of batches to the rows and appends them to the events
// of their objective, which is the same for all batches. All of it is durable
// when Record returns. An event that its source has recorded before changes
// nothing, so a batch may be recorded again, whole or in part, with the same
// content. With an error nothing has changed.
//
// An error of ctx means that Record had not begun; once it has, it waits for
// the outcome.
func (j recorder) Record(ctx context.Context, batches ...opt.Batch) error {
	r, err := record.New(batches, *j.channels.Load())
	if err != nil || r == nil {
		return err
	}
	id := r.ObjectiveID()
	err = j.db.Write(ctx, r.Run, db.ObjectiveLock(id))
	if errors.Is(err, ErrContradiction) {
		j.db.Log.Error("Refused an event that contradicts a recorded one", zap.String("objectiveId", id), zap.Error(err))
	}
	if err != nil {
		return fmt.Errorf("record events of %s: %w", id, err)
	}
	if added, createdAt := r.Added(); j.recorded != nil && len(added) > 0 {
		j.recorded(Recorded{id, createdAt, added})
	}
	return nil
}

// Recorded is what one call of Record has added: events that were not recorded before.
type Recorded struct {
	ObjectiveID string
	CreatedAt   int64 // of the objective, in milliseconds
	Events      []opt.Event
}

// Errors of Record, beside [opt.ErrMalformed]: see package record.
var ErrEarly, ErrGap, ErrContradiction = record.ErrEarly, record.ErrGap, record.ErrContradiction
