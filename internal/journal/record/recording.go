package record

import (
	"errors"
	"fmt"
	"slices"

	"longhaul/internal/journal/db"
	"longhaul/opt"
	"longhaul/opt/outbox"
)

// Errors of a recording, beside [opt.ErrMalformed]. With each of them nothing was
// recorded.
var (
	// ErrEarly is wrapped when an event is about something that does not exist
	// yet. Another source is about to record it, so try again.
	ErrEarly = errors.New("too early to record")
	// ErrGap is wrapped when numbers are missing: those before the batch were
	// never recorded, or its own do not follow on each other.
	ErrGap = errors.New("event numbers are missing")
	// ErrContradiction is wrapped when a source has recorded another event under the same
	// number, or has begun another epoch. A repeat fails in the same way. The error also
	// wraps a [*opt.RewoundError].
	ErrContradiction = fmt.Errorf("%w: the source has recorded another event under this number", opt.ErrConflict)
)

// A Recording is batches of one objective on their way into the tables, in one transaction.
type Recording struct {
	*rows
	batches      []batch
	knownNumbers map[string]numbers // the latest of a source, as far as they were read
	added        []opt.Event        // that were added
}

// New does the work that can be done before the transaction. It returns nil if there are no
// events.
func New(batches []opt.Batch, channels []outbox.Channel) (*Recording, error) {
	r := &Recording{rows: &rows{channels: channels}}
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
	if r.batches == nil {
		return nil, nil
	}
	return r, nil
}

// ObjectiveID returns the objective of r.
func (r *Recording) ObjectiveID() string { return r.objectiveID }

// Added returns the events that were added, and when their objective was created, in
// milliseconds.
func (r *Recording) Added() (list []opt.Event, createdAt int64) { return r.added, r.o.createdAt }

// begin begins again, with the state of the objective.
func (r *Recording) begin(c *db.Conn) {
	r.Steps, r.o, r.knownNumbers, r.added = db.Steps{C: c}, openObjective{}, map[string]numbers{}, nil
	r.open()
}

// open reads the state of the objective and of the first source. It ignores the
// remaining rows of a removed objective with the same id.
func (r *Recording) open() {
	first := r.batches[0].source
	var n numbers
	var epochs, stuck db.Content
	r.o.exists = r.Get(`SELECT o.tenant, o.context_id, o.seq, o.attempt, o.pushes, o.created_at, o.updated_at, o.epochs, o.stuck, COALESCE(s.first, 1), s.digests
		FROM objectives o LEFT JOIN sources s ON s.objective_id = $1 AND s.source = $2
			AND s.first = (SELECT MAX(first) FROM sources WHERE objective_id = $1 AND source = $2)
		WHERE o.id = $1`,
		db.Args{r.objectiveID, first}, &r.o.tenant, &r.o.contextID, &r.o.seq, &r.o.attempt, &r.o.pushes, &r.o.createdAt, &r.o.updatedAt, &epochs, &stuck, &n.first, &n.digests)
	if r.o.exists {
		r.knownNumbers[first], r.o.stuck = n, stuck != ""
	}
	r.Decode(epochs, &r.o.epochs)
}

// Run applies the batches within a transaction. It may run again if the transaction
// was undone.
func (r *Recording) Run(c *db.Conn) error {
	r.begin(c)
	before := r.o.seq
	for _, b := range r.batches {
		if err := r.recordBatch(b); err != nil {
			return fmt.Errorf("from %s: %w", b.source, err)
		}
	}
	if r.o.seq > before {
		c.Changes.Recorded(r.objectiveID, r.o.seq, !slices.ContainsFunc(r.added, rests))
	}
	r.close()
	return r.Err
}

// rests reports whether the root task of an objective may have ended, or have begun to wait, with an event.
func rests(e opt.Event) bool {
	ref, _ := opt.ParseID(e.TaskID)
	state := opt.TaskState(e.To)
	return e.Kind == opt.SourceRewound || e.Kind == opt.TaskMoved && ref.TaskID == "" && (state.Ended() || state.Waiting())
}

// close writes the state of the objective.
func (r *Recording) close() {
	unstick(r.rows)
	switch {
	case r.added == nil: // all was known
	case r.o.head != nil:
		writeObjectiveHead(r.rows, r.o.head)
	default:
		r.Do("UPDATE objectives SET seq = $2, updated_at = $3, bytes = bytes + $4 WHERE id = $1", r.objectiveID, r.o.seq, r.o.updatedAt, r.o.bytes)
	}
}

// recordBatch applies the events of b that are new.
func (r *Recording) recordBatch(b batch) error {
	latest := r.latestNumbers(b.source)
	first, last := b.entries[0].N, latest.last()
	switch {
	case beginsAgain(b, latest):
		r.Fail(fmt.Errorf("%w: %w", ErrContradiction, rewound(r.rows, b.source, first)))
	case first > last+1 && !begins(r.rows, b, latest):
		checkEpoch(r.rows, b.source, first)
		r.Fail(fmt.Errorf("event %d follows on event %d: %w", first, last, ErrGap))
	}
	missing := b.entries
	if first <= last && len(latest.digests) > 0 {
		known := min(int(last-first)+1, len(missing))
		r.checkRepeats(b.source, missing[:known])
		missing = missing[known:]
	}
	if r.Err != nil || len(missing) == 0 {
		return r.Err
	}
	if enterEpoch(r.rows, b.source, missing[0]); r.Err != nil {
		return r.Err
	}
	for _, e := range missing {
		if r.recordEvent(e); r.Err != nil {
			return fmt.Errorf("event %d, %s: %w", e.N, e.Kind, early(r.rows, r.Err, b, e))
		}
	}
	r.storeNumbers(b.source, missing)
	return r.Err
}

// recordEvent applies e and appends it to the events.
func (r *Recording) recordEvent(e *entry) {
	if !r.apply(e) {
		return
	}
	addDecision(r.rows, e)
	addUsage(r.rows, e)
	stored, err := r.C.Contents.ToStored(string(e.doc))
	r.Fail(err)
	r.Do("INSERT INTO events (objective_id, seq, doc) VALUES ($1, $2, $3)", r.objectiveID, r.seq(), stored)
	r.o.seq++
	r.o.bytes += len(stored)
	r.added = append(r.added, e.Event)
	if e.EndsTasks() {
		r.endTasks(e)
	}
}

// endTasks ends the open tasks of the plan that e is about, or of all plans, each with an
// event of its own.
func (r *Recording) endTasks(e *entry) {
	type task struct {
		id, planID string
		state      opt.TaskState
	}
	open := db.Rows(&r.Steps, `SELECT id, plan_id, state FROM tasks
		WHERE objective_id = $1 AND plan_id <> '' AND (plan_id = $2 OR $2 = '') AND ended = 0 ORDER BY plan_id, idx, id`,
		db.Args{r.objectiveID, e.PlanID}, func(row db.Scanner) (t task, err error) { return t, row.Scan(&t.id, &t.planID, &t.state) })
	for _, t := range open {
		moved := e.TaskEnded(r.o.contextID, t.id, t.state)
		moved.PlanID = t.planID
		ended, err := newEntry(r.objectiveID, moved)
		if err != nil {
			r.Fail(err)
			return
		}
		r.recordEvent(ended)
	}
	shutEpochs(r.rows, e.PlanID)
}

// changes change the rows that an event is about, by its kind. Of other kinds the heads have all changes.
var changes = map[opt.EventKind]func(*rows, *entry){
	opt.ObjectiveChanged: writeObjectiveText,
	opt.ObjectiveRetried: retryObjective,
	opt.PlanAdded:        addPlan,
	opt.PlanChanged:      writePlanText,
	opt.PlanRetried:      addTasks,
	opt.TasksAdded:       addTasks,
	opt.TasksReopened:    addTasks,
	opt.TasksOrdered:     orderTasks,
	opt.TaskLinked:       linkTask,
	opt.TaskMoved:        moveTask,
	opt.ExchangeAdded:    extendGate,
	opt.MessageAdded:     addMessage,
	opt.CommandAnswered:  addAnswer,
	opt.SourceRewound:    rewind,
}

// additions are like changes, for events that may come too late to change anything.
var additions = map[opt.EventKind]func(*rows, *entry) (kept bool){
	opt.ObjectiveOpened: addObjective,
	opt.TaskTried:       addTry,
	opt.TaskTaken:       addTry,
	opt.TaskProgressed:  showProgress,
	opt.ArtifactAdded:   addArtifact,
}

// apply changes the rows that e is about. kept is false if e came too late to
// change anything; then readers never see it.
func (r *Recording) apply(e *entry) (kept bool) {
	if !r.o.exists && e.Kind != opt.ObjectiveOpened {
		r.Fail(fmt.Errorf("objective %s is not there: %w", r.objectiveID, ErrEarly))
		return false
	}
	if e.Head != nil {
		r.o.head, r.o.updatedAt = e.Head, e.At.Millis()
	}
	if e.PlanHead != nil {
		writePlanHead(r.rows, e)
	}
	if change := changes[e.Kind]; change != nil {
		change(r.rows, e)
	}
	if add := additions[e.Kind]; add != nil {
		return add(r.rows, e)
	}
	return true
}

// addAnswer notes which event answers a command. The first answer stays.
func addAnswer(r *rows, e *entry) {
	r.Do("INSERT INTO answers (objective_id, command_id, seq) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING",
		r.objectiveID, e.Answer.CommandID, r.seq())
}
