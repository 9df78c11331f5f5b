package journal

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"go.uber.org/zap"

	"longhaul/internal/journal/db"
	"longhaul/opt"
)

// A recorder is the part of a Journal that records events.
type recorder struct {
	db       *db.Engine
	channels *atomic.Pointer[[]opt.Channel] // for notices
	recorded func(Recorded)                 // nil for nothing
}

func newRecorder(e *db.Engine, cfg Config) recorder {
	j := recorder{e, new(atomic.Pointer[[]opt.Channel]), cfg.Recorded}
	j.SetChannels(cfg.Channels)
	return j
}

// SetChannels replaces the channels for which the journal makes notices.
func (j recorder) SetChannels(list []opt.Channel) { j.channels.Store(&list) }

// Record applies the events of batches to the rows and appends them to the events
// of their objective, which is the same for all batches. All of it is durable
// when Record returns. An event that its source has recorded before changes
// nothing, so a batch may be recorded again, whole or in part, with the same
// content. With an error nothing has changed.
//
// An error of ctx means that Record had not begun; once it has, it waits for
// the outcome.
func (j recorder) Record(ctx context.Context, batches ...opt.Batch) error {
	r, err := newRecording(batches)
	if err != nil || len(r.batches) == 0 {
		return err
	}
	r.channels = *j.channels.Load()
	err = j.db.Write(ctx, r.run, objectiveLock(r.objectiveID))
	if errors.Is(err, ErrContradiction) {
		j.db.Log.Error("Refused an event that contradicts a recorded one", zap.String("objectiveId", r.objectiveID), zap.Error(err))
	}
	if err != nil {
		return fmt.Errorf("record events of %s: %w", r.objectiveID, err)
	}
	if j.recorded != nil && len(r.added) > 0 {
		j.recorded(Recorded{r.objectiveID, r.o.createdAt, r.added})
	}
	return nil
}

// Recorded is what one call of Record has added: events that were not recorded before.
type Recorded struct {
	ObjectiveID string
	CreatedAt   int64 // of the objective, in milliseconds
	Events      []opt.Event
}

// run applies the batches within a transaction. It may run again if the transaction
// was undone.
func (r *recording) run(c *db.Conn) error {
	if err := r.begin(c); err != nil {
		return err
	}
	before := r.o.seq
	for _, b := range r.batches {
		if err := r.recordBatch(b); err != nil {
			return fmt.Errorf("from %s: %w", b.source, err)
		}
	}
	if r.o.seq == before {
		return r.rewinds().unstick()
	}
	c.Changes.Recorded(r.objectiveID, r.o.seq)
	return r.close()
}

// close writes the state of the objective.
func (r *recording) close() error {
	if err := r.rewinds().unstick(); err != nil {
		return err
	}
	if r.o.head != nil {
		return r.objectives().writeHead(r.o.head)
	}
	_, err := r.c.Exec("UPDATE objectives SET seq = $2, updated_at = $3, bytes = bytes + $4 WHERE id = $1", r.objectiveID, r.o.seq, r.o.updatedAt, r.o.bytes)
	return err
}

// recordBatch applies the events of b that are new.
func (r *recording) recordBatch(b batch) error {
	latest, err := r.latestNumbers(b.source)
	if err != nil {
		return err
	}
	first, last := b.entries[0].N, latest.last()
	begins := r.rewinds().begins(b, latest)
	if first > last+1 && !begins {
		if err := r.rewinds().checkEpoch(b.source, first); err != nil {
			return err
		}
		return fmt.Errorf("event %d follows on event %d: %w", first, last, ErrGap)
	}
	missing := b.entries
	if first <= last && len(latest.digests) > 0 {
		known := min(int(last-first)+1, len(missing))
		if err := r.checkRepeats(b.source, missing[:known]); err != nil {
			return err
		}
		missing = missing[known:]
	}
	if len(missing) == 0 {
		return nil
	}
	if err := r.rewinds().enterEpoch(b.source, missing[0].N); err != nil {
		return err
	}
	for _, e := range missing {
		if err := r.recordEvent(e); err != nil {
			return fmt.Errorf("event %d, %s: %w", e.N, e.Kind, r.rewinds().early(err, b, e))
		}
	}
	return r.storeNumbers(b.source, missing)
}

// recordEvent applies e and appends it to the events.
func (r *recording) recordEvent(e *entry) error {
	kept, err := r.apply(e)
	if err != nil || !kept {
		return err
	}
	if e.Decision != nil {
		if err := r.decisions().add(e); err != nil {
			return err
		}
	}
	stored, err := r.c.Contents.ToStored(string(e.doc))
	if err != nil {
		return err
	}
	_, err = r.c.Exec("INSERT INTO events (objective_id, seq, doc) VALUES ($1, $2, $3)", r.objectiveID, r.seq(), stored)
	r.o.seq++
	r.o.bytes += len(stored)
	r.added = append(r.added, e.Event)
	if err == nil && e.EndsTasks() {
		err = r.endTasks(e)
	}
	return err
}

// endTasks ends the open tasks of the plan that e is about, or of all plans, each with an
// event of its own.
func (r *recording) endTasks(e *entry) error {
	type task struct {
		id, planID string
		state      opt.TaskState
	}
	open, err := db.All(r.c, `SELECT id, plan_id, state FROM tasks
		WHERE objective_id = $1 AND plan_id <> '' AND (plan_id = $2 OR $2 = '') AND ended = 0 ORDER BY plan_id, idx, id`,
		db.Args{r.objectiveID, e.PlanID}, func(row db.Scanner) (t task, err error) { return t, row.Scan(&t.id, &t.planID, &t.state) })
	if err != nil {
		return err
	}
	for _, t := range open {
		moved := e.TaskEnded(r.o.contextID, t.id, t.state)
		moved.PlanID = t.planID
		ended, err := newEntry(r.objectiveID, moved)
		if err == nil {
			err = r.recordEvent(ended)
		}
		if err != nil {
			return err
		}
	}
	return r.rewinds().shut(e.PlanID)
}

// apply changes the rows that e is about. kept is false if e came too late to
// change anything; then readers never see it.
func (r *recording) apply(e *entry) (kept bool, err error) {
	if !r.o.exists && e.Kind != opt.ObjectiveOpened {
		return false, fmt.Errorf("objective %s is not there: %w", r.objectiveID, ErrEarly)
	}
	if e.Head != nil {
		r.o.head, r.o.updatedAt = e.Head, e.At.Millis()
	}
	if e.PlanHead != nil {
		if err := r.plans().writeHead(e); err != nil {
			return false, err
		}
	}
	switch e.Kind {
	case opt.ObjectiveOpened:
		return r.objectives().add(e)
	case opt.ObjectiveChanged:
		return true, r.objectives().writeText(e)
	case opt.ObjectiveRetried:
		return true, r.objectives().retry(e)
	case opt.PlanAdded:
		return true, r.plans().add(e)
	case opt.PlanChanged:
		return true, r.plans().writeText(e)
	case opt.PlanRetried, opt.TasksAdded, opt.TasksReopened:
		return true, r.tasks().add(e)
	case opt.TaskLinked:
		return true, r.tasks().link(e)
	case opt.TaskMoved:
		return true, r.tasks().move(e)
	case opt.ExchangeAdded:
		return true, r.tasks().extendGate(e)
	case opt.TaskTried:
		return r.tasks().addTry(e)
	case opt.ArtifactAdded:
		return r.artifacts().add(e)
	case opt.MessageAdded:
		return true, r.messages().add(e)
	case opt.CommandAnswered:
		return true, r.addAnswer(e)
	case opt.SourceRewound:
		return true, r.rewinds().apply(e)
	default: // the head has all changes
		return true, nil
	}
}

// addAnswer notes which event answers a command. The first answer stays.
func (r *recording) addAnswer(e *entry) error {
	_, err := r.c.Exec("INSERT INTO answers (objective_id, command_id, seq) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING",
		r.objectiveID, e.Answer.CommandID, r.seq())
	return err
}
