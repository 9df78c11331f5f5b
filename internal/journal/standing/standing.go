// Package standing keeps standing decisions, and counts their uses.
package standing

import (
	"context"
	"errors"
	"time"

	"longhaul/a2a"
	"longhaul/internal/journal/db"
	"longhaul/opt"
	"longhaul/opt/standing"
)

// A Store has the standing decisions of a journal. It may be used from any goroutine, and by several
// processes.
type Store struct {
	db  *db.Engine
	now func() time.Time
}

// New returns the store in a database.
func New(e *db.Engine, now func() time.Time) Store { return Store{e, now} }

// mostRead bounds lists.
const mostRead = 200

const selectDecision = "SELECT doc, people, used, revoked_at, revoked_by FROM standings"

// AddStanding keeps a decision under a new id. A repeat changes nothing. ok is false, and nothing is kept,
// if there are as many about these gates as may be.
func (s Store) AddStanding(ctx context.Context, tenant string, d standing.Decision) (ok bool, err error) {
	err = s.db.Write(ctx, func(c *db.Conn) error {
		steps, open := db.Steps{C: c}, 0
		added := steps.Do(`INSERT INTO standings (id, tenant, gates, doc, people, behind, need, most, used, created_at, expires_at, revoked_at, revoked_by)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, 0, $9, $10, 0, '') ON CONFLICT DO NOTHING`,
			d.ID, tenant, d.Gates, steps.Encode(true, d), steps.Encode(true, d.By), len(d.By), d.Need, d.Most, d.CreatedAt.Millis(), d.ExpiresAt.Millis()) > 0
		steps.Get("SELECT COUNT(*) FROM standings WHERE revoked_at = 0 AND expires_at > $1 AND used < most AND tenant = $2 AND gates = $3",
			db.Args{s.now().UnixMilli(), tenant, d.Gates}, &open)
		if ok = !added || open <= standing.MostOpen; !ok {
			steps.Do("DELETE FROM standings WHERE id = $1", d.ID)
		}
		return steps.Err
	})
	return ok, err
}

// Standing returns a decision. The error wraps [opt.ErrUnknown] if the tenant has none with the id.
func (s Store) Standing(ctx context.Context, tenant, id string) (standing.Decision, error) {
	return db.One(db.List(ctx, s.db, selectDecision+" WHERE id = $1 AND tenant = $2", db.Args{id, tenant}, scan))("standing decision", id)
}

// Standings lists the latest decisions of a tenant, the newest first.
func (s Store) Standings(ctx context.Context, tenant string) ([]standing.Decision, error) {
	return db.List(ctx, s.db, selectDecision+" WHERE tenant = $1 ORDER BY created_at DESC, id DESC"+db.LimitParam(2), db.Args{tenant, mostRead}, scan)
}

// counts is the condition on a row of a decision that counts at the time $1.
const counts = "revoked_at = 0 AND expires_at > $1 AND used < most AND behind >= need"

// ActiveStanding lists the decisions that count now about gates with a name, the oldest first.
func (s Store) ActiveStanding(ctx context.Context, tenant, gates string) ([]standing.Decision, error) {
	return db.List(ctx, s.db, selectDecision+" WHERE "+counts+" AND tenant = $2 AND gates = $3 ORDER BY created_at, id"+db.LimitParam(4),
		db.Args{s.now().UnixMilli(), tenant, gates, mostRead}, scan)
}

// BackStanding puts a principal behind a decision that was not revoked. It reports whether the decision
// has as many people behind it as the caller has seen; a repeat has not.
func (s Store) BackStanding(ctx context.Context, tenant string, seen standing.Decision, by opt.Vote) (ok bool, err error) {
	err = s.db.Write(ctx, func(c *db.Conn) error {
		steps := db.Steps{C: c}
		people := append(seen.By[:len(seen.By):len(seen.By)], by)
		ok = steps.Do("UPDATE standings SET people = $4, behind = behind + 1 WHERE id = $1 AND tenant = $2 AND behind = $3 AND revoked_at = 0",
			seen.ID, tenant, len(seen.By), steps.Encode(true, people)) > 0
		return steps.Err
	})
	return ok, err
}

// RevokeStanding revokes a decision: no use begins after it. A repeat keeps the first time. The error
// wraps [opt.ErrUnknown] if the tenant has none with the id.
func (s Store) RevokeStanding(ctx context.Context, tenant, id, principal string) error {
	n, err := s.db.Exec(ctx, `UPDATE standings SET revoked_by = CASE revoked_at WHEN 0 THEN $4 ELSE revoked_by END,
			revoked_at = CASE revoked_at WHEN 0 THEN $3 ELSE revoked_at END WHERE id = $1 AND tenant = $2`,
		db.Args{id, tenant, s.now().UnixMilli(), principal})
	if err == nil && n == 0 {
		err = db.Unknown("standing decision", id)
	}
	return err
}

// UseStanding counts a use of a decision for a gate, if it counts now: of several at a time no more than
// it may. A repeat for the same gate counts nothing and returns the same number. ok is false if the
// decision does not count any more, or another one was used for the gate.
func (s Store) UseStanding(ctx context.Context, q opt.StandingQuestion, id string) (n int, ok bool, err error) {
	err = s.db.Write(ctx, func(c *db.Conn) error {
		steps, now := db.Steps{C: c}, s.now().UnixMilli()
		began := steps.Do("INSERT INTO standing_uses (gate_id, objective_id, standing_id, n, at) VALUES ($1, $2, $3, 0, $4) ON CONFLICT DO NOTHING",
			q.Gate.ID, q.ObjectiveID, id, now) > 0
		if !began {
			ok = steps.Get(`SELECT u.n FROM standing_uses u JOIN standings d ON d.id = u.standing_id
				WHERE u.gate_id = $1 AND u.standing_id = $2 AND d.tenant = $3 AND d.revoked_at = 0`, db.Args{q.Gate.ID, id, q.Tenant}, &n)
			return steps.Err
		}
		ok = steps.Do("UPDATE standings SET used = used + 1 WHERE "+counts+" AND id = $2 AND tenant = $3", now, id, q.Tenant) > 0
		if !ok {
			steps.Do("DELETE FROM standing_uses WHERE gate_id = $1", q.Gate.ID)
			return steps.Err
		}
		steps.Get("SELECT used FROM standings WHERE id = $1", db.Args{id}, &n)
		steps.Do("UPDATE standing_uses SET n = $2 WHERE gate_id = $1", q.Gate.ID, n)
		return steps.Err
	})
	return n, ok && err == nil, err
}

// StandingUses lists the gates for which a decision was used, the latest first.
func (s Store) StandingUses(ctx context.Context, tenant, id string) ([]standing.UseAt, error) {
	return db.List(ctx, s.db, `SELECT u.n, u.gate_id, u.at FROM standing_uses u JOIN standings d ON d.id = u.standing_id
		WHERE u.standing_id = $1 AND d.tenant = $2 ORDER BY u.n DESC`+db.LimitParam(3), db.Args{id, tenant, mostRead},
		func(row db.Scanner) (u standing.UseAt, err error) {
			var at int64
			err = row.Scan(&u.N, &u.GateID, &at)
			u.At = a2a.AtMillis(at)
			return u, err
		})
}

// AnswersTo lists the latest decisions of a principal at gates about which standing decisions may
// decide, the latest first.
func (s Store) AnswersTo(ctx context.Context, tenant, principal string) ([]standing.Answer, error) {
	return db.List(ctx, s.db, "SELECT gates, action, gate_id FROM standing_answers WHERE tenant = $1 AND principal = $2 ORDER BY at DESC, gate_id DESC"+db.LimitParam(3),
		db.Args{tenant, principal, mostRead}, func(row db.Scanner) (a standing.Answer, err error) {
			return a, row.Scan(&a.Gates, &a.Action, &a.GateID)
		})
}

func scan(row db.Scanner) (d standing.Decision, err error) {
	var doc, people db.Content
	var used, revoked int64
	var by string
	err = row.Scan(&doc, &people, &used, &revoked, &by)
	err = errors.Join(err, db.Decode(doc, &d))
	d.By = nil
	err = errors.Join(err, db.Decode(people, &d.By))
	d.Used, d.RevokedAt, d.RevokedBy = int(used), a2a.AtMillis(revoked), by
	return d, err
}
