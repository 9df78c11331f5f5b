package journal

import (
	"context"
	"errors"

	"longhaul/a2a"
	"longhaul/internal/journal/db"
	"longhaul/internal/journal/record"
	"longhaul/opt"
)

// Kept returns one state of an objective: its plans and tasks with their notes
// and artifacts, its request, the last event number of each source, and the
// commands and letters that it has handled. The objectives of other tenants are
// unknown.
func (j objectiveReader) Kept(ctx context.Context, tenant, objectiveID string) (kept opt.Kept, err error) {
	err = j.db.Snapshot(ctx, func(c *db.Conn) error {
		o, err := objective(c, tenant, objectiveID)
		if err != nil {
			return err
		}
		for _, p := range o.Plans {
			for _, t := range p.Tasks {
				if err := addWork(c, o.ID, t); err != nil {
					return err
				}
			}
		}
		kept.Objective = *o
		if kept.Request, kept.Given, err = openingRequest(c, o.ID); err != nil {
			return err
		}
		if kept.Recorded, err = record.LastNumbers(c, o.ID); err != nil {
			return err
		}
		for source := range kept.Recorded {
			if name, epoch := opt.SplitEpoch(source); epoch > kept.Epochs[name] && epoch > 1 {
				if kept.Epochs == nil {
					kept.Epochs = map[string]int{}
				}
				kept.Epochs[name] = epoch
			}
		}
		return addHandled(c, &kept)
	})
	return kept, err
}

// addWork adds its notes, with their authors, and its artifacts to t.
func addWork(c *db.Conn, objectiveID string, t *opt.Task) error {
	var err error
	if t.Artifacts, err = artifacts(c, objectiveID, t.A2AID()); err != nil {
		return err
	}
	return c.Each(`SELECT seq, principal, doc FROM messages WHERE objective_id = $1 AND task_id = $2 AND kind = 'said' AND verdict = $3
		UNION ALL SELECT seq, principal, doc FROM messages WHERE objective_id = $1 AND for_task = $2 AND for_task <> '' AND task_id <> $2 AND verdict = $3
		ORDER BY seq`, db.Args{objectiveID, t.A2AID(), string(opt.Noted)},
		func(row db.Scanner) error {
			var seq int64
			var author string
			var doc db.Content
			var m a2a.Message
			err := row.Scan(&seq, &author, &doc)
			if err == nil {
				err = db.Decode(doc, &m)
			}
			m.Metadata = m.Metadata.With(opt.KeyAuthor, author)
			t.Notes = append(t.Notes, m)
			return err
		})
}

// openingRequest returns the message that began an objective, nil if none did, and the
// plans that came with it.
func openingRequest(c *db.Conn, objectiveID string) (m *a2a.Message, given []opt.PlanSpec, err error) {
	var doc, plans db.Content
	_, err = c.Get("SELECT doc FROM messages WHERE objective_id = $1 AND task_id = $1 AND kind = 'opening' ORDER BY seq LIMIT 1", db.Args{objectiveID}, &doc)
	if err == nil {
		_, err = c.Get("SELECT given FROM objectives WHERE id = $1", db.Args{objectiveID}, &plans)
	}
	return m, given, errors.Join(err, db.Decode(doc, &m), db.Decode(plans, &given))
}

// addHandled adds to kept which commands the objective has answered, and which
// letters it has judged.
func addHandled(c *db.Conn, kept *opt.Kept) (err error) {
	kept.Answered, err = db.All(c, "SELECT command_id FROM answers WHERE objective_id = $1 ORDER BY command_id", db.Args{kept.Objective.ID}, db.ScanID)
	if err != nil {
		return err
	}
	return c.Each("SELECT principal, message_id FROM messages WHERE objective_id = $1 AND kind = 'said' AND for_task = '' AND task_id LIKE 'obj-%' ORDER BY seq",
		db.Args{kept.Objective.ID}, func(row db.Scanner) error {
			var l opt.Letter
			err := row.Scan(&l.Principal, &l.Key)
			kept.Heard = append(kept.Heard, l.ID())
			return err
		})
}
