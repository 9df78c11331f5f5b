package journal

import (
	"context"
	"errors"
	"fmt"

	"go.uber.org/zap"

	"longhaul/opt"
)

// Errors of Record, beside [opt.ErrMalformed]. With each of them nothing was
// recorded.
var (
	// ErrEarly is wrapped when an event is about something that does not exist
	// yet. Another source is about to record it, so try again.
	ErrEarly = errors.New("too early to record")
	// ErrGap is wrapped when numbers are missing: those before the batch were
	// never recorded, or its own do not follow on each other.
	ErrGap = errors.New("event numbers are missing")
	// ErrContradiction is wrapped when a source has recorded other content under
	// the same number. A repeat fails in the same way.
	ErrContradiction = fmt.Errorf("%w: the source has recorded another event under this number", opt.ErrConflict)
)

// Record applies the events of batches to the rows and appends them to the events
// of their objective, which is the same for all batches. All of it is durable
// when Record returns. An event that its source has recorded before changes
// nothing, so a batch may be recorded again, whole or in part, with the same
// content. With an error nothing has changed.
//
// An error of ctx means that Record had not begun; once it has, it waits for
// the outcome.
func (j *Journal) Record(ctx context.Context, batches ...opt.Batch) error {
	r, err := newRecording(batches)
	if err != nil || len(r.batches) == 0 {
		return err
	}
	err = j.writer.submit(ctx, r.run, func() { j.watches.tell(r.objectiveID, r.o.seq) })
	if errors.Is(err, ErrContradiction) {
		j.log.Error("Refused an event that contradicts what was recorded", zap.String("objectiveId", r.objectiveID), zap.Error(err))
	}
	if err != nil {
		return fmt.Errorf("record events of %s: %w", r.objectiveID, err)
	}
	return nil
}

// A recording is batches of one objective on their way into the tables.
type recording struct {
	objectiveID string
	batches     []batch
	c           *conn
	o           openObjective
	known       map[string]numbers // the latest of a source, as far as they were read
}

// An openObjective is the state of the objective before the next event.
type openObjective struct {
	tenant    string
	contextID string
	seq       int64
	attempt   int
	updatedAt int64
	exists    bool
	head      *opt.ObjectiveHead // to be written; nil if it has not changed
}

// newRecording does the work that can be done before the transaction.
func newRecording(batches []opt.Batch) (*recording, error) {
	r := &recording{known: map[string]numbers{}}
	for _, b := range batches {
		if len(b.Events) == 0 {
			continue
		}
		if r.objectiveID == "" {
			r.objectiveID = b.ObjectiveID
		}
		if b.ObjectiveID == "" || b.Source == "" || b.ObjectiveID != r.objectiveID {
			return nil, fmt.Errorf("batch of %q from %q, beside one of %q: %w", b.ObjectiveID, b.Source, r.objectiveID, opt.ErrMalformed)
		}
		n, err := newBatch(b)
		if err != nil {
			return nil, err
		}
		r.batches = append(r.batches, n)
	}
	return r, nil
}

// run applies the batches within a transaction.
func (r *recording) run(c *conn) error {
	r.c = c
	if err := r.open(); err != nil {
		return err
	}
	before := r.o.seq
	for _, b := range r.batches {
		if err := r.enterBatch(b); err != nil {
			return fmt.Errorf("from %s: %w", b.source, err)
		}
	}
	if r.o.seq == before {
		return nil
	}
	return r.close()
}

// enterBatch applies the events of b that are new.
func (r *recording) enterBatch(b batch) error {
	latest, err := r.latest(b.source)
	if err != nil {
		return err
	}
	first, last := b.entries[0].N, latest.last()
	if first > last+1 {
		return fmt.Errorf("event %d follows on event %d: %w", first, last, ErrGap)
	}
	fresh := b.entries
	if first <= last {
		known := min(int(last-first)+1, len(fresh))
		if err := r.compare(b.source, fresh[:known]); err != nil {
			return err
		}
		fresh = fresh[known:]
	}
	for _, e := range fresh {
		if err := r.enter(e); err != nil {
			return fmt.Errorf("event %d, %s: %w", e.N, e.Kind, err)
		}
	}
	if len(fresh) == 0 {
		return nil
	}
	return r.keepNumbers(b.source, fresh)
}

// enter applies e and appends it to the events.
func (r *recording) enter(e *entry) error {
	kept, err := r.apply(e)
	if err != nil || !kept {
		return err
	}
	_, err = r.c.exec("INSERT INTO events (objective_id, seq, doc) VALUES ($1, $2, $3)", r.objectiveID, r.seq(), e.doc)
	r.o.seq++
	return err
}

// open reads the state of the objective and of the first source. It ignores the
// remaining rows of a removed objective with the same id.
func (r *recording) open() (err error) {
	first := r.batches[0].source
	var n numbers
	r.o.exists, err = r.c.get(`SELECT o.tenant, o.context_id, o.seq, o.attempt, o.updated_at, COALESCE(s.first, 1), s.digests
		FROM objectives o LEFT JOIN sources s ON s.objective_id = $1 AND s.source = $2
			AND s.first = (SELECT MAX(first) FROM sources WHERE objective_id = $1 AND source = $2)
		WHERE o.id = $1`,
		args{r.objectiveID, first}, &r.o.tenant, &r.o.contextID, &r.o.seq, &r.o.attempt, &r.o.updatedAt, &n.first, &n.digests)
	if r.o.exists {
		r.known[first] = n
	}
	return err
}

// close writes the state of the objective.
func (r *recording) close() error {
	if r.o.head != nil {
		return r.writeHead(r.o.head)
	}
	_, err := r.c.exec("UPDATE objectives SET seq = $2, updated_at = $3 WHERE id = $1", r.objectiveID, r.o.seq, r.o.updatedAt)
	return err
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
		if err := r.writePlanHead(e); err != nil {
			return false, err
		}
	}
	switch e.Kind {
	case opt.ObjectiveOpened:
		return r.addObjective(e)
	case opt.ObjectiveChanged:
		return true, r.writeText(e)
	case opt.ObjectiveRetried:
		return true, r.retryObjective(e)
	case opt.PlanAdded:
		return true, r.addPlan(e)
	case opt.PlanChanged:
		return true, r.writePlanText(e)
	case opt.PlanRetried, opt.TasksAdded:
		return true, r.addTasks(e)
	case opt.TaskLinked:
		return true, r.linkTask(e)
	case opt.TaskMoved:
		return true, r.moveTask(e)
	case opt.TaskTried:
		return r.tryTask(e)
	case opt.ArtifactAdded:
		return r.addArtifact(e)
	case opt.MessageAdded:
		return true, r.addMessage(e)
	case opt.CommandAnswered:
		return true, r.addAnswer(e)
	default: // the head has all changes
		return true, nil
	}
}

// seq returns the seq of the event that is being applied.
func (r *recording) seq() int64 { return r.o.seq + 1 }
