package record

import (
	"longhaul/internal/journal/absence"
	"longhaul/internal/journal/db"
	"longhaul/opt"
	"longhaul/opt/outbox"
)

// noticeMove makes notices about the gate of a plan task if e opens, changes or closes it,
// before e is applied.
func noticeMove(r *rows, e *entry) {
	waited := opt.TaskState(e.From).Waiting()
	if len(r.channels) == 0 || e.PlanID == "" || e.Gate == nil && !waited {
		return
	}
	var doc, decided db.Content
	var before opt.Gate
	n := outbox.Notice{Kind: outbox.NoticeKind(e.Step), Tenant: r.o.tenant}
	r.Get("SELECT gate, decided FROM tasks WHERE id = $1", db.Args{e.TaskID}, &doc, &decided)
	r.Decode(doc, &before)
	if n.Gate = before; e.Gate != nil {
		n.Gate = *e.Gate
	} else if n.Decided = e.Decided(); n.Decided == nil { // the answer was recorded before
		r.Decode(decided, &n.Decided)
	}
	switch {
	case n.Decided == nil:
	case n.Decided.GateID == before.ID:
		n.Decided.Answers = nil // for readers of the work: a channel leads elsewhere
	default:
		n.Decided = nil
	}
	switch {
	case n.Gate.ID == "":
		return
	case e.Step != "":
	case e.Gate == nil:
		n.Kind = outbox.Decided
	case e.Gate.ID == before.ID:
		n.Kind = outbox.Changed
	default:
		n.Kind = outbox.Opened
	}
	addNotice(r, e, n)
}

// addNotice makes a delivery of n to each channel that takes it.
func addNotice(r *rows, e *entry, n outbox.Notice) {
	var shapers db.Content
	some := false
	for _, c := range r.channels {
		if !c.Handles(n) {
			continue
		}
		if n.Principal == "" {
			r.Get("SELECT principal, shapers FROM objectives WHERE id = $1", db.Args{r.objectiveID}, &n.Principal, &shapers)
			r.Decode(shapers, &n.Shapers)
		}
		if !c.Takes(n, seats(r, e, c)) && !hasCard(r, e, c, n) {
			continue
		}
		some = true
		r.Do(`INSERT INTO deliveries
			(objective_id, task_id, config_id, n, state, at, gate_kind, gate_id, notice, status, since, tries, handed_at)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, 'due', $6, 0, 0)`,
			r.objectiveID, e.TaskID, c.ConfigID(), r.seq(), string(opt.TaskState(e.To).A2A()), e.At.Millis(), string(n.Gate.Kind), n.Gate.ID, string(n.Kind))
	}
	if some {
		r.C.Changes.Due = true
		r.Do("INSERT INTO notices (objective_id, n, gate, decided) VALUES ($1, $2, $3, $4)",
			r.objectiveID, r.seq(), r.Encode(true, n.Gate.Shown()), r.Encode(n.Decided != nil, n.Decided))
	}
}

// seats lists those in which the principal of c may decide as a deputy, when e happened.
func seats(r *rows, e *entry, c outbox.Channel) []opt.Seat {
	if c.Principal == "" {
		return nil
	}
	return absence.SeatsAt(&r.Steps, r.o.tenant, c.Principal, e.At)
}

// hasCard reports whether c shows the gate of n as a card, or is about to.
func hasCard(r *rows, e *entry, c outbox.Channel, n outbox.Notice) bool {
	var one int
	return c.Cards && r.Get("SELECT 1 FROM deliveries WHERE objective_id = $1 AND task_id = $2 AND config_id = $3 AND gate_id = $4 LIMIT 1",
		db.Args{r.objectiveID, e.TaskID, c.ConfigID(), n.Gate.ID}, &one)
}
