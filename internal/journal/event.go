package journal

import (
	"context"
	"math"

	"longhaul/internal/journal/db"
	"longhaul/opt"
	"longhaul/opt/shown"
)

// An eventReader is the part of a Journal that shows events, and the answers to
// commands and letters in them.
type eventReader struct{ db *db.Engine }

// Events returns the events of an objective after seq, in order, at most limit
// events if limit is above 0. An objective that does not exist has none.
func (j eventReader) Events(ctx context.Context, objectiveID string, seq int64, limit int) ([]shown.Recorded, error) {
	if limit <= 0 {
		limit = math.MaxInt32
	}
	return db.List(ctx, j.db, `SELECT seq, doc FROM events WHERE objective_id = $1 AND seq > $2
			AND EXISTS (SELECT 1 FROM objectives WHERE id = $1) ORDER BY seq`+db.LimitParam(3), db.Args{objectiveID, seq, limit},
		func(row db.Scanner) (e shown.Recorded, err error) {
			var doc db.Content
			if err := row.Scan(&e.Seq, &doc); err != nil {
				return e, err
			}
			err = db.Decode(doc, &e.Event)
			return e, err
		})
}

// Answer returns the answer to a command to an objective; ok is false if there is
// none yet.
func (j eventReader) Answer(ctx context.Context, objectiveID, commandID string) (a opt.CommandAnswer, ok bool, err error) {
	var doc db.Content
	ok, err = j.db.Get(ctx, `SELECT e.doc FROM answers a CROSS JOIN objectives o CROSS JOIN events e
		WHERE a.objective_id = $1 AND a.command_id = $2 AND o.id = a.objective_id AND e.objective_id = a.objective_id AND e.seq = a.seq`,
		db.Args{objectiveID, commandID}, &doc)
	if err != nil || !ok {
		return a, ok, err
	}
	var e opt.Event
	if err := db.Decode(doc, &e); err != nil {
		return a, ok, err
	}
	return *e.Answer, true, nil
}

// Stuck notes that the events of an objective are not taken, and why, until they are. A
// repeat changes nothing, nor does it for an objective that the journal does not have.
func (j eventReader) Stuck(ctx context.Context, objectiveID string, s opt.Stuck) error {
	doc, err := db.Encode(s)
	if err != nil {
		return err
	}
	_, err = j.db.Exec(ctx, "UPDATE objectives SET stuck = $2 WHERE id = $1 AND stuck = ''", db.Args{objectiveID, doc}, db.ObjectiveLock(objectiveID))
	return err
}
