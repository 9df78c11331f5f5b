package journal

import (
	"errors"
	"fmt"

	"longhaul/internal/journal/db"
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
	// ErrContradiction is wrapped when a source has recorded another event under the same
	// number, or has begun another epoch. A repeat fails in the same way. The error also
	// wraps a [*opt.RewoundError].
	ErrContradiction = fmt.Errorf("%w: the source has recorded another event under this number", opt.ErrConflict)
)

// A recording is batches of one objective on their way into the tables.
type recording struct {
	objectiveID  string
	batches      []batch
	channels     []opt.Channel // for notices
	c            *db.Conn
	o            openObjective
	knownNumbers map[string]numbers // the latest of a source, as far as they were read
	added        []opt.Event        // that were added
}

// An openObjective is the state of the objective before the next event.
type openObjective struct {
	tenant    string
	contextID string
	seq       int64
	attempt   int
	pushes    int   // configs
	bytes     int   // of the events that were added
	createdAt int64 // 0 before it is opened
	updatedAt int64
	exists    bool
	head      *opt.ObjectiveHead // to be written; nil if it has not changed
	epochs    map[string]int     // the latest, by the names of sources that have begun another one
	stuck     bool               // it shows that its events are not taken
}

// newRecording does the work that can be done before the transaction.
func newRecording(batches []opt.Batch) (*recording, error) {
	r := &recording{}
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

// begin begins again, with the state of the objective.
func (r *recording) begin(c *db.Conn) error {
	r.c, r.o, r.knownNumbers, r.added = c, openObjective{}, map[string]numbers{}, nil
	return r.open()
}

// open reads the state of the objective and of the first source. It ignores the
// remaining rows of a removed objective with the same id.
func (r *recording) open() (err error) {
	first := r.batches[0].source
	var n numbers
	var epochs, stuck db.Content
	r.o.exists, err = r.c.Get(`SELECT o.tenant, o.context_id, o.seq, o.attempt, o.pushes, o.created_at, o.updated_at, o.epochs, o.stuck, COALESCE(s.first, 1), s.digests
		FROM objectives o LEFT JOIN sources s ON s.objective_id = $1 AND s.source = $2
			AND s.first = (SELECT MAX(first) FROM sources WHERE objective_id = $1 AND source = $2)
		WHERE o.id = $1`,
		db.Args{r.objectiveID, first}, &r.o.tenant, &r.o.contextID, &r.o.seq, &r.o.attempt, &r.o.pushes, &r.o.createdAt, &r.o.updatedAt, &epochs, &stuck, &n.first, &n.digests)
	if r.o.exists {
		r.knownNumbers[first], r.o.stuck = n, stuck != ""
	}
	return errors.Join(err, decode(epochs, &r.o.epochs))
}

// seq returns the seq of the event that is being applied.
func (r *recording) seq() int64 { return r.o.seq + 1 }

func (r *recording) objectives() objectiveTable { return objectiveTable{r} }
func (r *recording) plans() planTable           { return planTable{r} }
func (r *recording) rewinds() rewindTable       { return rewindTable{r} }
func (r *recording) tasks() taskTable           { return taskTable{r} }
func (r *recording) messages() messageTable     { return messageTable{r} }
func (r *recording) decisions() decisionTable   { return decisionTable{r} }
func (r *recording) artifacts() artifactTable   { return artifactTable{r} }
func (r *recording) deliveries() deliveryTable  { return deliveryTable{r} }
func (r *recording) notices() noticeTable       { return noticeTable{r} }
