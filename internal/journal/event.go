package journal

import (
	"context"
	"math"

	"longhaul/internal/journal/db"
	"longhaul/opt"
)

// An eventReader is the part of a Journal that shows events, and the answers to
// commands and letters in them.
type eventReader struct{ db *db.Engine }

// Events returns the events of an objective after seq, in order, at most limit
// events if limit is above 0. An objective that does not exist has none.
func (j eventReader) Events(ctx context.Context, objectiveID string, seq int64, limit int) (list []opt.Recorded, err error) {
	if limit <= 0 {
		limit = math.MaxInt32
	}
	err = j.db.Read(ctx, func(c *db.Conn) error {
		return c.Each(`SELECT seq, doc FROM events WHERE objective_id = $1 AND seq > $2
				AND EXISTS (SELECT 1 FROM objectives WHERE id = $1) ORDER BY seq`+db.LimitParam(3), db.Args{objectiveID, seq, limit},
			func(row db.Scanner) error {
				var e opt.Recorded
				var doc db.Content
				if err := row.Scan(&e.Seq, &doc); err != nil {
					return err
				}
				err := db.Decode(doc, &e.Event)
				list = append(list, e)
				return err
			})
	})
	return list, err
}
