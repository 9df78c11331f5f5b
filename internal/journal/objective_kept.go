package journal

import (
	"cmp"
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
		addWork(s, o)
		kept.Objective, kept.Used, kept.UsedBy = *o, o.Used.Usage, opt.UsedBy(o.Plans)
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

// addWork adds to the tasks of o their artifacts, and the notes to all their attempts, with their authors.
func addWork(s *db.Steps, o *opt.Objective) {
	tasks := map[string]*opt.Task{}
	for _, p := range o.Plans {
		for _, t := range p.Tasks {
			var err error
			t.Artifacts, err = artifacts(s.C, o.ID, t.A2AID())
			s.Fail(err)
			tasks[t.ID] = t
		}
	}
	s.Each("SELECT task_id, for_task, principal, doc FROM messages WHERE objective_id = $1 AND kind = 'said' AND verdict = $2 ORDER BY seq", db.Args{o.ID, string(opt.Noted)},
		func(row db.Scanner) (err error) {
			var to, forTask, author string
			var doc db.Content
			var m a2a.Message
			if err = row.Scan(&to, &forTask, &author, &doc); err == nil {
				err = db.Decode(doc, &m)
			}
			m.Metadata = m.Metadata.With(opt.KeyAuthor, author)
			of, _ := opt.ParseID(cmp.Or(forTask, to))
			if t := tasks[of.TaskID]; t != nil && !opt.HasNote(t.Notes, m) {
				t.Notes = append(t.Notes, m)
			}
			return err
		})
}

// addRequest adds the message that began the objective, if one did, and the plans that came with it. An
// objective that waited to be started may have begun with a message that was sent to it, the latest one counts.
func addRequest(s *db.Steps, kept *opt.Kept) {
	var doc, plans db.Content
	s.Get("SELECT doc FROM messages WHERE objective_id = $1 AND task_id = $1 AND kind = 'opening' ORDER BY seq LIMIT 1", db.Args{kept.Objective.ID}, &doc)
	s.Get("SELECT given FROM objectives WHERE id = $1", db.Args{kept.Objective.ID}, &plans)
	s.Decode(doc, &kept.Request)
	s.Decode(plans, &kept.Given)
	s.Each(`SELECT m.principal, m.doc, e.doc FROM messages m JOIN events e ON e.objective_id = m.objective_id AND e.seq = m.seq
		WHERE m.objective_id = $1 AND m.kind = 'said' AND m.verdict = $2 AND m.for_task = '' AND m.task_id LIKE 'obj-%' ORDER BY m.seq`,
		db.Args{kept.Objective.ID, string(opt.Noted)}, func(row db.Scanner) error {
			var sender string
			var message, added db.Content
			var e opt.Event
			err := row.Scan(&sender, &message, &added)
			if err == nil {
				err = db.Decode(added, &e)
			}
			if err != nil || e.Reason != opt.Begins {
				return err
			}
			kept.Starter, kept.Request = sender, nil
			return db.Decode(message, &kept.Request)
		})
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
