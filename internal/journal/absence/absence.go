// Package absence keeps absences of principals, with their deputies.
package absence

import (
	"context"
	"errors"
	"time"

	"longhaul/a2a"
	"longhaul/internal/journal/db"
	"longhaul/opt"
)

// A Store has the absences of a journal. It may be used from any goroutine, and by several processes.
type Store struct {
	db  *db.Engine
	now func() time.Time
}

// New returns the store in a database.
func New(e *db.Engine, now func() time.Time) Store { return Store{e, now} }

// mostRead bounds lists.
const mostRead = 200

const selectAbsence = "SELECT doc, ended_at, ended_by FROM absences"

// mostOpen is how many absences of one principal may be that have not ended.
const mostOpen = 20

// AddAbsence keeps an absence under a new id. A repeat changes nothing. ok is false, and nothing is
// kept, if its principal has as many as it may.
func (s Store) AddAbsence(ctx context.Context, tenant string, a opt.Absence) (ok bool, err error) {
	err = s.db.Write(ctx, func(c *db.Conn) error {
		steps, open := db.Steps{C: c}, 0
		added := steps.Do(`INSERT INTO absences (id, tenant, principal, deputy, from_at, until_at, doc, ended_at, ended_by)
			VALUES ($1, $2, $3, $4, $5, $6, $7, 0, '') ON CONFLICT DO NOTHING`,
			a.ID, tenant, a.Principal, a.Deputy, a.From.Millis(), a.Until.Millis(), steps.Encode(true, a)) > 0
		steps.Get("SELECT COUNT(*) FROM absences WHERE tenant = $1 AND principal = $2 AND until_at > $3 AND ended_at = 0", db.Args{tenant, a.Principal, s.now().UnixMilli()}, &open)
		if ok = !added || open <= mostOpen; !ok {
			steps.Do("DELETE FROM absences WHERE id = $1", a.ID)
		}
		return steps.Err
	})
	return ok, err
}

// Absence returns an absence. The error wraps [opt.ErrUnknown] if the tenant has none with the id.
func (s Store) Absence(ctx context.Context, tenant, id string) (opt.Absence, error) {
	return db.One(db.List(ctx, s.db, selectAbsence+" WHERE id = $1 AND tenant = $2", db.Args{id, tenant}, scan))("absence", id)
}

// Absences lists the absences of a tenant that end last, these first.
func (s Store) Absences(ctx context.Context, tenant string) ([]opt.Absence, error) {
	return db.List(ctx, s.db, selectAbsence+" WHERE tenant = $1 ORDER BY until_at DESC, id DESC"+db.LimitParam(2), db.Args{tenant, mostRead}, scan)
}

// EndAbsence ends an absence: its deputy may not decide from then on. A repeat keeps the first time. The
// error wraps [opt.ErrUnknown] if the tenant has none with the id.
func (s Store) EndAbsence(ctx context.Context, tenant, id, principal string) error {
	n, err := s.db.Exec(ctx, `UPDATE absences SET ended_by = CASE ended_at WHEN 0 THEN $4 ELSE ended_by END,
			ended_at = CASE ended_at WHEN 0 THEN $3 ELSE ended_at END WHERE id = $1 AND tenant = $2`,
		db.Args{id, tenant, s.now().UnixMilli(), principal})
	if err == nil && n == 0 {
		err = db.Unknown("absence", id)
	}
	return err
}

// now selects the absences of a tenant with a deputy at a time, those that end first before others.
const now = selectAbsence + " WHERE tenant = $1 AND deputy = $2 AND until_at > $3 AND from_at <= $3 AND ended_at = 0 ORDER BY until_at, id"

// Seats lists the seats in which a principal may decide now as a deputy.
func (s Store) Seats(ctx context.Context, tenant, deputy string) (seats []opt.Seat, err error) {
	list, err := db.List(ctx, s.db, now+db.LimitParam(4), db.Args{tenant, deputy, s.now().UnixMilli(), mostRead}, scan)
	for _, a := range list {
		seats = append(seats, a.Seat())
	}
	return seats, err
}

// SeatsAt is Seats at a time, within a transaction.
func SeatsAt(s *db.Steps, tenant, deputy string, at a2a.Time) (seats []opt.Seat) {
	s.Each(now, db.Args{tenant, deputy, at.Millis()}, func(row db.Scanner) error {
		a, err := scan(row)
		seats = append(seats, a.Seat())
		return err
	})
	return seats
}

func scan(row db.Scanner) (a opt.Absence, err error) {
	var doc db.Content
	var ended int64
	var by string
	err = row.Scan(&doc, &ended, &by)
	err = errors.Join(err, db.Decode(doc, &a))
	if ended > 0 {
		a.EndedAt, a.EndedBy = a2a.AtMillis(ended), by
	}
	return a, err
}
