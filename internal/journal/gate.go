package journal

import (
	"context"
	"errors"

	"longhaul/a2a"
	"longhaul/internal/journal/db"
	"longhaul/opt"
	"longhaul/opt/shown"
)

// Gate returns a gate of a tenant, open or closed, as it was shown last. For an unknown
// gate the error wraps opt.ErrUnknown.
func (j decisionReader) Gate(ctx context.Context, tenant, gateID string) (out shown.GateRecord, err error) {
	taskID, ok := opt.TaskOfGate(gateID)
	if !ok {
		return out, db.Unknown("gate", gateID)
	}
	err = j.db.Snapshot(ctx, func(c *db.Conn) error {
		var at int64
		var open, status, shapers db.Content
		r := gateRow{shown.GateRecord{Interrupt: shown.Interrupt{TaskID: taskID}}}
		err := c.Find("gate", gateID, `SELECT t.name, t.status_at, t.context_id, t.gate, t.said, t.state, o.id, o.name, o.principal, o.shapers`+fromInterrupts+
			" WHERE t.id = $1 AND t.tenant = $2 AND t.plan_id <> ''", db.Args{taskID, tenant},
			(*db.Content)(&r.TaskName), &at, &r.ContextID, &open, &status, &r.TaskState, &r.ObjectiveID, (*db.Content)(&r.Objective), &r.Principal, &shapers)
		err = errors.Join(err, db.Decode(shapers, &r.Shapers))
		if err != nil {
			return err
		}
		s := db.Steps{C: c}
		r.show(&s, gateID, open, status)
		if r.Since = r.Gate.RequestedAt; r.Open {
			r.Since = a2a.AtMillis(at)
		}
		r.answers(&s, gateID)
		out = r.GateRecord
		return s.Err
	})
	return out, err
}

// A gateRow is a gate that is being read.
type gateRow struct{ shown.GateRecord }

// show sets the gate of r: the one that is open, or that of the status message in which
// the task showed it last.
func (r *gateRow) show(s *db.Steps, gateID string, open, status db.Content) {
	s.Decode(open, &r.Gate)
	if r.Open = r.Gate.ID == gateID; r.Open {
		return
	}
	r.Later = r.Gate.ID
	var m a2a.Message
	if s.Decode(status, &m); m.MessageID != gateID {
		var doc db.Content
		s.Get("SELECT doc FROM messages WHERE objective_id = $1 AND message_id = $2 AND principal = '' AND task_id = $3 AND kind = 'status'",
			db.Args{r.ObjectiveID, gateID, r.TaskID}, &doc)
		m = a2a.Message{}
		s.Decode(doc, &m)
	}
	if g := opt.GateIn(m); g != nil {
		r.Gate = *g
	} else {
		s.Fail(db.Unknown("gate", gateID))
	}
}

// answers reads the replies to the gate of r, with the decisions that they were recorded
// as, and counts how often the object of the task was sent back before.
func (r *gateRow) answers(s *db.Steps, gateID string) {
	s.Each(`SELECT d.doc, e.doc FROM decisions d JOIN events e ON e.objective_id = d.objective_id AND e.seq = d.seq
		WHERE d.objective_id = $1 AND `+s.C.Dialect.Contains("d.doc", 2)+` ORDER BY d.seq`, db.Args{r.ObjectiveID, `"taskId":"` + r.TaskID + `"`}, func(row db.Scanner) error {
		var decision, event db.Content
		var e opt.Event
		var g shown.GateReply
		if err := errors.Join(row.Scan(&decision, &event), db.Decode(decision, &g.Decision)); err != nil || g.Decision.TaskID != r.TaskID || g.Decision.GateID != gateID {
			if g.Decision.TaskID == r.TaskID && g.Decision.Closed && g.Decision.Action == opt.Refine && opt.IsGateBefore(g.Decision.GateID, gateID) {
				r.Refined++
				r.SentBack = g.Decision.GateID
			}
			return err
		}
		err := db.Decode(event, &e)
		g.Reply = e.Reply
		r.Replies = append(r.Replies, g)
		return err
	})
}
