package journal

import (
	"context"
	"errors"

	"longhaul/internal/journal/db"
	"longhaul/opt"
	"longhaul/opt/shown"
)

// A decisionReader is the part of a Journal that lists decisions.
type decisionReader struct{ db *db.Engine }

// Decisions returns a page of at most limit decisions of an objective that come after
// a position, and the head of them all, in one state of the journal. The objectives of
// other tenants are unknown.
func (j decisionReader) Decisions(ctx context.Context, tenant, objectiveID string, after shown.DecisionCursor, limit int) (p shown.DecisionPage, err error) {
	p.Last = after
	err = j.db.Snapshot(ctx, func(c *db.Conn) error {
		var id string
		s := db.Steps{C: c, Err: c.Find("objective", objectiveID, "SELECT id FROM objectives WHERE id = $1 AND tenant = $2", db.Args{objectiveID, tenant}, &id)}
		s.Each("SELECT seq, doc FROM decisions WHERE objective_id = $1 AND seq > $2 ORDER BY seq"+db.LimitParam(3), db.Args{objectiveID, int64(after), limit + 1},
			func(row db.Scanner) error {
				seq, d, err := scanDecision(row)
				if p.More = len(p.Decisions) == limit; !p.More {
					p.Decisions, p.Last = append(p.Decisions, d), shown.DecisionCursor(seq)
				}
				return err
			})
		p.Head = decisionHead(&s, objectiveID)
		return s.Err
	})
	return p, err
}

func scanDecision(row db.Scanner) (seq int64, d opt.Decision, err error) {
	var doc db.Content
	err = row.Scan(&seq, &doc)
	return seq, d, errors.Join(err, db.Decode(doc, &d))
}

// decisionHead returns the ends of the chains of an objective, without a time.
func decisionHead(s *db.Steps, objectiveID string) opt.DecisionHead {
	h := opt.DecisionHead{ObjectiveID: objectiveID}
	s.Get("SELECT COUNT(*) FROM decisions WHERE objective_id = $1", db.Args{objectiveID}, &h.Count)
	h.Chains = db.Rows(s, `SELECT d.seq, d.doc FROM decisions d WHERE d.objective_id = $1 AND NOT EXISTS (SELECT 1 FROM decisions later
			WHERE later.objective_id = d.objective_id AND later.plan_id = d.plan_id AND later.attempt = d.attempt AND later.epoch = d.epoch AND later.n > d.n)
		ORDER BY d.plan_id, d.attempt, d.epoch, d.seq`, db.Args{objectiveID}, func(row db.Scanner) (opt.ChainHead, error) {
		_, d, err := scanDecision(row)
		return opt.ChainHead{PlanID: d.PlanID, Attempt: d.Attempt, Epoch: d.Epoch, Chain: opt.Chain{N: d.N, Hash: d.Hash}}, err
	})
	return h
}
