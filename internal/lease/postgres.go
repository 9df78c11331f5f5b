package lease

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// A Postgres has leases as advisory locks of a database, and their entries in the table
// worker_entries.
type Postgres struct {
	cfg          *pgx.ConnConfig
	desk         desk
	patience     time.Duration // after the start of the server, for processes that take their locks again
	freeFor      time.Duration // before a lease is that of a lost worker
	relockWithin time.Duration // for taking the lock again, after a cut connection; less than freeFor
}

const lockClass = 0x6c77 // of all advisory locks here: "lw"

// NewPostgres returns the leases in the database of a URL. A pooler in between must give each
// session a connection of its own.
func NewPostgres(url string) (*Postgres, error) {
	cfg, err := pgx.ParseConfig(url)
	if err != nil {
		return nil, fmt.Errorf("the URL of the journal: %w", err)
	}
	cfg.RuntimeParams["application_name"] = "longhaul lease"
	return &Postgres{cfg: cfg, desk: desk{cfg: cfg}, patience: 5 * time.Second, freeFor: 250 * time.Millisecond, relockWithin: 150 * time.Millisecond}, nil
}

// Close implements [Store].
func (p *Postgres) Close() error { return p.desk.close() }

// allLeases lists the leases, and whether they are without their lock, on a server that has run
// long enough.
const allLeases = `SELECT lease, clock_timestamp() - pg_postmaster_start_time() > make_interval(secs => $2)
	AND NOT EXISTS (SELECT FROM pg_locks AS l WHERE l.locktype = 'advisory' AND l.classid::bigint = $1 AND l.objid::bigint = e.lease AND l.objsubid = 2
		AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database()))
	FROM worker_entries AS e WHERE kind = ''`

// list returns how many leases there are, and which of them are free.
func (p *Postgres) list(ctx context.Context) (n int, free map[int32]bool, err error) {
	free = map[int32]bool{}
	err = p.desk.do(ctx, func(ctx context.Context, c *pgx.Conn) error {
		rows, err := c.Query(ctx, allLeases, lockClass, p.patience.Seconds())
		if err != nil {
			return err
		}
		var id int32
		var isFree bool
		_, err = pgx.ForEachRow(rows, []any{&id, &isFree}, func() error {
			n++
			if isFree {
				free[id] = true
			}
			return nil
		})
		return err
	})
	return n, free, err
}

// Orphans implements [Store]. A lease is one that was free twice: its process has had
// the time to take the lock again, after a connection that was merely cut.
func (p *Postgres) Orphans(ctx context.Context, giveBack GiveBack) (n int, err error) {
	n, before, err := p.list(ctx)
	if err != nil || len(before) == 0 {
		return n, err
	}
	pause(ctx, p.freeFor)
	n, free, err := p.list(ctx)
	errs := []error{err}
	for id := range free {
		if before[id] {
			errs = append(errs, p.takeOver(ctx, id, giveBack))
		}
	}
	return n, errors.Join(errs...)
}

// takenOver is the value of a lease that its process cannot take again.
const takenOver = "taken over"

// takeOver gives back a lease and ends it, while it has its lock.
func (p *Postgres) takeOver(ctx context.Context, id int32, giveBack GiveBack) error {
	c, err := connect(ctx, p.cfg)
	if err != nil {
		return err
	}
	defer c.Close(context.WithoutCancel(ctx)) // which frees the lock
	if _, free, err := tryLock(ctx, c, id); err != nil || !free {
		return err
	}
	rows, err := c.Query(ctx, "SELECT kind, value FROM worker_entries WHERE lease = $1", id)
	if err != nil {
		return err
	}
	entries, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (e Entry, err error) {
		var value []byte
		err = row.Scan(&e.Kind, &value)
		e.Value = string(value)
		return e, err
	})
	if err == nil && len(entries) > 0 { // else another process has given it back
		_, err = c.Exec(ctx, "UPDATE worker_entries SET value = $2 WHERE lease = $1 AND kind = ''", id, []byte(takenOver))
	}
	if err != nil || len(entries) == 0 {
		return err
	}
	entries = slices.DeleteFunc(entries, func(e Entry) bool { return e.Kind == "" })
	if err := giveBack(ctx, entries); err != nil {
		return err
	}
	_, err = c.Exec(ctx, "DELETE FROM worker_entries WHERE lease = $1", id)
	return err
}

// tryLock takes the lock of a lease until the connection ends, and returns the process of the
// server that has it.
func tryLock(ctx context.Context, c *pgx.Conn, id int32) (pid uint32, ok bool, err error) {
	err = c.QueryRow(ctx, "SELECT pg_backend_pid(), pg_try_advisory_lock($1, $2)", lockClass, id).Scan(&pid, &ok)
	return pid, ok, err
}

// connectLimit is for one connection to PostgreSQL.
const connectLimit = 5 * time.Second

// connect makes a connection that the server ends when it has become silent.
func connect(ctx context.Context, cfg *pgx.ConnConfig) (*pgx.Conn, error) {
	ctx, end := context.WithTimeout(ctx, connectLimit)
	defer end()
	c, err := pgx.ConnectConfig(ctx, cfg.Copy())
	if err != nil {
		return nil, err
	}
	if _, err = c.Exec(ctx, session, pgx.QueryExecModeSimpleProtocol); err != nil {
		return nil, errors.Join(err, c.Close(ctx))
	}
	return c, nil
}

// A desk is a connection for all that is not the lock, one thing after another. A new one replaces
// it when it is lost.
type desk struct {
	cfg *pgx.ConnConfig
	mu  sync.Mutex
	c   *pgx.Conn
}

// deskLimit is for one thing at the desk.
const deskLimit = 2 * time.Second

// do does one thing, again if the connection turns out to have been lost.
func (d *desk) do(ctx context.Context, f func(context.Context, *pgx.Conn) error) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	former := d.c
	err := d.try(ctx, f)
	if err != nil && d.c != nil && d.c == former && d.c.IsClosed() {
		err = d.try(ctx, f)
	}
	return err
}

func (d *desk) try(ctx context.Context, f func(context.Context, *pgx.Conn) error) (err error) {
	if d.c == nil || d.c.IsClosed() {
		if d.c, err = connect(ctx, d.cfg); err != nil {
			return err
		}
	}
	ctx, end := context.WithTimeout(ctx, deskLimit)
	defer end()
	return f(ctx, d.c)
}

func (d *desk) close() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.c == nil {
		return nil
	}
	ctx, end := context.WithTimeout(context.Background(), deskLimit)
	defer end()
	return d.c.Close(ctx)
}

// code returns the code of an error of the server, "" for another one.
func code(err error) string {
	if e, ok := errors.AsType[*pgconn.PgError](err); ok {
		return e.Code
	}
	return ""
}
