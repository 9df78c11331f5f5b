package journal

import (
	"context"
	"errors"
	"fmt"

	"longhaul/opt"
)

// Errors of Record. With each of them nothing was recorded.
var (
	// ErrEarly is wrapped when an event is about something that is not there
	// yet. Another source is about to record it, so try again.
	ErrEarly = errors.New("too early to record")
	// ErrGap is wrapped when numbers are missing: those before the batch were
	// never recorded, or its own do not follow on each other.
	ErrGap = errors.New("event numbers are missing")
	// ErrMalformed is wrapped when an event lacks what its kind needs. It never
	// helps to try again.
	ErrMalformed = errors.New("malformed event")
)

// Record applies the events of b, in order, to what readers see, and appends
// them to the events of the objective; when it returns that is durable, all of
// it. An event that its source recorded before changes nothing, so a batch may
// be recorded again, whole or in part. With an error nothing has changed.
//
// An error of ctx means that Record had not begun; once it has, it waits for
// the outcome.
func (j *Journal) Record(ctx context.Context, b opt.Batch) error {
	r, err := newRecording(b)
	if err != nil || len(b.Events) == 0 {
		return err
	}
	err = j.writer.submit(ctx, r.run, func() { j.watches.tell(b.ObjectiveID, r.o.seq) })
	if err != nil {
		return fmt.Errorf("record events of %s from %s: %w", b.ObjectiveID, b.Source, err)
	}
	return nil
}

// A recording is a batch on its way into the tables.
type recording struct {
	objectiveID string
	source      string
	entries     []*entry
	c           *conn
	o           openObjective
}

// An openObjective is what recording knows of the objective, as it was before
// the next event.
type openObjective struct {
	tenant    string
	contextID string
	seq       int64
	attempt   int
	n         int64 // of the last event of the source
	exists    bool
}

// newRecording does what can be done before it is b's turn to be written.
func newRecording(b opt.Batch) (*recording, error) {
	r := &recording{objectiveID: b.ObjectiveID, source: b.Source}
	for i, e := range b.Events {
		n, err := newEntry(b, e)
		if err == nil && i > 0 && e.N != b.Events[i-1].N+1 {
			err = fmt.Errorf("the one before is event %d: %w", b.Events[i-1].N, ErrGap)
		}
		if err != nil {
			return nil, fmt.Errorf("event %d of %s from %s: %w", e.N, b.ObjectiveID, b.Source, err)
		}
		r.entries = append(r.entries, n)
	}
	return r, nil
}

// run applies the batch within a transaction.
func (r *recording) run(c *conn) error {
	r.c = c
	if err := r.open(); err != nil {
		return err
	}
	if first := r.entries[0].N; first > r.o.n+1 {
		return fmt.Errorf("event %d follows on event %d: %w", first, r.o.n, ErrGap)
	}
	n := r.o.n
	for _, e := range r.entries {
		if e.N <= r.o.n {
			continue // recorded before
		}
		if err := r.enter(e); err != nil {
			return fmt.Errorf("event %d, %s: %w", e.N, e.Kind, err)
		}
		n = e.N
	}
	if n == r.o.n {
		return nil
	}
	return r.close(n)
}

// enter applies e and gives it its place among the events.
func (r *recording) enter(e *entry) error {
	kept, err := r.apply(e)
	if err != nil || !kept {
		return err
	}
	_, err = r.c.exec("INSERT INTO events (objective_id, seq, doc) VALUES ($1, $2, $3)", r.objectiveID, r.seq(), e.doc)
	r.o.seq++
	return err
}

// open reads where the objective and the source stand.
func (r *recording) open() (err error) {
	r.o.exists, err = r.c.get(`SELECT o.tenant, o.context_id, o.seq, o.attempt, COALESCE(s.n, 0)
		FROM objectives o LEFT JOIN sources s ON s.objective_id = o.id AND s.source = $2
		WHERE o.id = $1`,
		args{r.objectiveID, r.source}, &r.o.tenant, &r.o.contextID, &r.o.seq, &r.o.attempt, &r.o.n)
	return err
}

// close writes where the objective and the source stand now: at event n.
func (r *recording) close(n int64) error {
	if _, err := r.c.exec("UPDATE objectives SET seq = $2 WHERE id = $1", r.objectiveID, r.o.seq); err != nil {
		return err
	}
	_, err := r.c.exec(`INSERT INTO sources (objective_id, source, n) VALUES ($1, $2, $3)
		ON CONFLICT (objective_id, source) DO UPDATE SET n = excluded.n`, r.objectiveID, r.source, n)
	return err
}

// apply changes the rows that e is about. kept is false if e came too late to
// change anything; then readers never see it.
func (r *recording) apply(e *entry) (kept bool, err error) {
	if !r.o.exists && e.Kind != opt.ObjectiveOpened {
		return false, fmt.Errorf("objective %s is not there: %w", r.objectiveID, ErrEarly)
	}
	switch e.Kind {
	case opt.ObjectiveOpened:
		return r.openObjective(e)
	case opt.ObjectiveMoved, opt.ObjectiveStopping:
		return true, r.moveObjective(e)
	case opt.ObjectiveQueued:
		return true, r.enqueue(e)
	case opt.ObjectiveChanged:
		return true, r.changeObjective(e)
	case opt.ObjectiveAgain:
		return true, r.beginAgain(e)
	case opt.PlanAdded:
		return true, r.addPlan(e)
	case opt.PlanChanged, opt.PlanAgain, opt.TasksAdded:
		return true, r.changePlan(e)
	case opt.TaskLinked:
		return true, r.linkTask(e)
	case opt.PlanMoved, opt.PlanStopping:
		return true, r.movePlan(e)
	case opt.TaskMoved:
		return true, r.moveTask(e)
	case opt.TaskTried:
		return r.tryTask(e)
	case opt.ArtifactAdded:
		return r.addArtifact(e)
	default: // MessageAdded: check let nothing else through
		return true, r.addMessage(e)
	}
}

// seq returns the place of the event that is being applied.
func (r *recording) seq() int64 { return r.o.seq + 1 }
