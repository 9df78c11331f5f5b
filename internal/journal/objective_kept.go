package journal

import (
	"context"

	"longhaul/a2a"
	"longhaul/internal/journal/db"
	"longhaul/internal/journal/record"
	"longhaul/opt"
)

// Kept returns one state of an objective: its plans and tasks with their notes
// and artifacts, its request, the last event number of each source, and the
// commands and letters that it has handled. The objectives of other tenants are
// unknown.
func (j objectiveReader) Kept(ctx context.Context, tenant, objectiveID string) (opt.Kept, error) {
	return db.InSnapshot(ctx, j.db, func(c *db.Conn) (kept opt.Kept, err error) {
		o, err := objective(c, tenant, objectiveID)
		if err != nil {
			return kept, err
		}
		s := &db.Steps{C: c}
		for _, p := range o.Plans {
			for _, t := range p.Tasks {
				addWork(s, o.ID, t)
			}
		}
		kept.Objective = *o
		addRequest(s, &kept)
		addHandled(s, &kept)
		if kept.Recorded, err = record.LastNumbers(c, o.ID); err != nil {
			return kept, err
		}
		for source := range kept.Recorded {
			if name, epoch := opt.SplitEpoch(source); epoch > kept.Epochs[name] && epoch > 1 {
				if kept.Epochs == nil {
					kept.Epochs = map[string]int{}
				}
				kept.Epochs[name] = epoch
			}
		}
		return kept, s.Err
	})
}

// addWork adds the notes of all its attempts, with their authors, and its artifacts to t.
func addWork(s *db.Steps, objectiveID string, t *opt.Task) {
	var err error
	t.Artifacts, err = artifacts(s.C, objectiveID, t.A2AID())
	s.Fail(err)
	t.Notes = db.Rows(s, `SELECT seq, principal, doc FROM messages WHERE objective_id = $1 AND kind = 'said' AND verdict = $2
		AND ((task_id = $3 OR task_id LIKE $3 || '~%') OR (for_task = $3 OR for_task LIKE $3 || '~%')) ORDER BY seq`, db.Args{objectiveID, string(opt.Noted), t.ID},
		func(row db.Scanner) (m a2a.Message, err error) {
			var seq int64
			var author string
			var doc db.Content
			if err = row.Scan(&seq, &author, &doc); err == nil {
				err = db.Decode(doc, &m)
			}
			m.Metadata = m.Metadata.With(opt.KeyAuthor, author)
			return m, err
		})
}

// addRequest adds the message that began the objective, if one did, and the plans that came with it.
func addRequest(s *db.Steps, kept *opt.Kept) {
	var doc, plans db.Content
	s.Get("SELECT doc FROM messages WHERE objective_id = $1 AND task_id = $1 AND kind = 'opening' ORDER BY seq LIMIT 1", db.Args{kept.Objective.ID}, &doc)
	s.Get("SELECT given FROM objectives WHERE id = $1", db.Args{kept.Objective.ID}, &plans)
	s.Decode(doc, &kept.Request)
	s.Decode(plans, &kept.Given)
}

// addHandled adds to kept which commands the objective has answered, and which
// letters it has judged.
func addHandled(s *db.Steps, kept *opt.Kept) {
	kept.Answered = s.IDs("SELECT command_id FROM answers WHERE objective_id = $1 ORDER BY command_id", kept.Objective.ID)
	kept.Heard = db.Rows(s, "SELECT principal, message_id FROM messages WHERE objective_id = $1 AND kind = 'said' AND for_task = '' AND task_id LIKE 'obj-%' ORDER BY seq",
		db.Args{kept.Objective.ID}, func(row db.Scanner) (string, error) {
			var l opt.Letter
			err := row.Scan(&l.Principal, &l.Key)
			return l.ID(), err
		})
}
