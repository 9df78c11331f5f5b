package record

import (
	"fmt"

	"longhaul/internal/journal/db"
	"longhaul/opt"
	"longhaul/opt/outbox"
)

// rows are what the functions of this package write, each those of its subject: in one
// transaction, for the next event of one objective.
type rows struct {
	db.Steps
	objectiveID string
	o           openObjective
	channels    []outbox.Channel // for notices
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

// seq returns the seq of the event that is being applied.
func (r *rows) seq() int64 { return r.o.seq + 1 }

// requireRow fails if a thing has no row.
func requireRow(r *rows, n int64, what, id string) {
	if n == 0 {
		r.Fail(fmt.Errorf("%s %s is not there: %w", what, id, ErrEarly))
	}
}
