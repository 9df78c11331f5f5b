package lease

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"sync"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// The times of a lease in PostgreSQL. The server frees the lock of a process that it does not
// hear from after 2.5 s at the earliest, as session says. Until then the process knows: it asks every
// askEvery, and ends the lease if the server does not show within silentFor that it has heard it.
const (
	askEvery  = 500 * time.Millisecond
	silentFor = 1500 * time.Millisecond
	tick      = 250 * time.Millisecond // silence is counted in these, so that a pause of the process is none
)

// session makes the server end a connection that has become silent, and not wait for the disk: a
// change that is lost with the server is found by heartbeats.
const session = "SET tcp_keepalives_idle = 1; SET tcp_keepalives_interval = 1; SET tcp_keepalives_count = 3; SET tcp_user_timeout = 2500; SET synchronous_commit = off"

// A heldLock is a lease of this process in PostgreSQL. The connection of the lock does nothing
// else: a lock is freed only when the statement that runs has ended.
type heldLock struct {
	p    *Postgres
	id   int32
	c    *pgx.Conn
	pid  uint32 // of the server's process that has the lock
	way  way
	end  context.CancelFunc
	lost chan struct{}
	done sync.WaitGroup
}

// errPooled says that a pooler shares out connections.
var errPooled = errors.New("a pooler between the worker and PostgreSQL changes the connection within a session, so a lock cannot be held: pool sessions, not transactions, or connect --journal directly")

// Hold implements [Store].
func (p *Postgres) Hold(ctx context.Context) (Held, error) {
	h := &heldLock{p: p, id: rand.Int32N(1<<31-2) + 1, lost: make(chan struct{})}
	if err := h.lock(ctx); err != nil {
		return nil, err
	}
	if err := p.insert(ctx, h); err != nil {
		return nil, errors.Join(err, h.c.Close(ctx))
	}
	watching, end := context.WithCancel(context.Background())
	h.end = end
	h.done.Go(func() { h.watch(watching) })
	return h, nil
}

// insert adds the lease to the table. A pooler of transactions would give the lock's connection to
// that transaction, which ask finds out.
func (p *Postgres) insert(ctx context.Context, h *heldLock) error {
	return p.desk.do(ctx, func(ctx context.Context, c *pgx.Conn) error {
		return pgx.BeginFunc(ctx, c, func(tx pgx.Tx) error {
			_, err := tx.Exec(ctx, "INSERT INTO worker_entries (lease, kind, value) VALUES ($1, '', '')", h.id)
			return errors.Join(err, h.ask(ctx))
		})
	})
}

// lock takes the lock on a new connection.
func (h *heldLock) lock(ctx context.Context) error {
	c, err := connect(ctx, h.p.cfg)
	if err != nil {
		return err
	}
	var ok bool
	if h.pid, ok, err = tryLock(ctx, c, h.id); err == nil {
		h.way, err = findWay(ctx, c)
	}
	if err == nil && !ok {
		err = errors.New("another process has the lock")
	}
	if err != nil {
		return errors.Join(err, c.Close(ctx))
	}
	h.c = c
	return nil
}

// A way is how a connection gets to the server.
type way struct {
	near   bool // to the only server, without a proxy in between
	direct bool // and the server sees this end of it: what its kernel has acknowledged, it has heard
}

func findWay(ctx context.Context, c *pgx.Conn) (w way, err error) {
	var there, here string
	err = c.QueryRow(ctx, `SELECT COALESCE(host(inet_server_addr()) || ' ' || inet_server_port(), ''),
		COALESCE(host(inet_client_addr()) || ' ' || inet_client_port(), '')`).Scan(&there, &here)
	cfg := c.Config()
	for _, other := range cfg.Fallbacks {
		if other.Host != cfg.Host || other.Port != cfg.Port {
			return w, err
		}
	}
	remote, network := c.PgConn().Conn().RemoteAddr().(*net.TCPAddr)
	if !network {
		return way{near: true}, err
	}
	w.near = there == fmt.Sprintf("%s %d", remote.IP, remote.Port)
	local, ok := c.PgConn().Conn().LocalAddr().(*net.TCPAddr)
	w.direct = w.near && ok && here == fmt.Sprintf("%s %d", local.IP, local.Port)
	return w, err
}

// ask finds out whether the session is there that has the lock.
func (h *heldLock) ask(ctx context.Context) error {
	var pid uint32
	err := h.c.QueryRow(ctx, "SELECT pg_backend_pid()").Scan(&pid)
	if err == nil && pid != h.pid {
		return errPooled
	}
	return err
}

// watch closes lost when the lease is lost.
func (h *heldLock) watch(ctx context.Context) {
	defer close(h.lost)
	for {
		err := h.listen(ctx)
		if err == nil {
			err = h.askInTime(ctx)
		}
		switch {
		case ctx.Err() != nil:
			return
		case err == nil:
		case errors.Is(err, errSilent), errors.Is(err, errPooled), !h.relock(ctx):
			return
		}
	}
}

var errSilent = errors.New("PostgreSQL does not answer")

// listen waits until it is time to ask. A connection that is cut meanwhile is noticed at once.
func (h *heldLock) listen(ctx context.Context) error {
	ctx, end := context.WithTimeout(ctx, askEvery)
	defer end()
	_, err := h.c.WaitForNotification(ctx) // there is none
	if pgconn.Timeout(err) && !h.c.IsClosed() {
		return nil
	}
	return err
}

// askInTime asks, and waits for the answer as long as the server may be silent. A pause of this
// process, after which the answer is there, counts as one tick. A server that is merely slow is not
// silent: its kernel still acknowledges all bytes, and so keeps the lock.
func (h *heldLock) askInTime(ctx context.Context) error {
	ctx, end := context.WithCancel(ctx)
	asked := make(chan error, 1)
	go func() { asked <- h.ask(ctx) }()
	ticks := time.NewTicker(tick)
	defer ticks.Stop()
	written := 0 // ticks ago
	for silent := 0; silent < int(silentFor/tick); {
		select {
		case err := <-asked:
			end()
			return err
		case <-ticks.C:
		}
		silent++
		written++
		if h.way.direct && isSent(h.c.PgConn().Conn()) && h.writeFlush() == nil {
			silent, written = written, 0
		}
	}
	end()
	if err := <-asked; err != nil {
		return errSilent
	}
	return nil
}

// writeFlush writes a message that the server does not answer, after a question. It does not block:
// nothing else waits to be sent.
func (h *heldLock) writeFlush() error {
	_, err := h.c.PgConn().Conn().Write([]byte{'H', 0, 0, 0, 4})
	return err
}

// relock takes the lock again after its connection was cut, and reports whether it
// has the lease still. While no server is there, others cannot take it: that time does not count.
func (h *heldLock) relock(ctx context.Context) bool {
	_ = h.c.Close(ctx) // it may have the lock still
	near, left := h.way.near, h.p.relockWithin
	for ctx.Err() == nil && left > 0 {
		began := time.Now()
		trying, end := context.WithTimeout(ctx, left)
		err := h.lock(trying)
		var there bool
		if err == nil {
			err = h.c.QueryRow(trying, ownLease, h.id).Scan(&there)
		}
		end()
		if err == nil {
			return there
		}
		if near && isDown(err) {
			pause(ctx, 50*time.Millisecond)
			continue
		}
		pause(ctx, 10*time.Millisecond)
		left -= time.Since(began)
	}
	return false
}

// isDown reports whether an error says that the server does not run: nothing listens, or it
// starts or stops.
func isDown(err error) bool {
	return errors.Is(err, syscall.ECONNREFUSED) || errors.Is(err, syscall.ENOENT) || code(err) == "57P03"
}

// Lost implements [Held].
func (h *heldLock) Lost() <-chan struct{} { return h.lost }

// Change implements [Held].
func (h *heldLock) Change(ctx context.Context, added, removed []Entry) error {
	err := h.p.change(ctx, h.id, added, removed)
	if errors.Is(err, errTakenOver) {
		h.end() // it is lost
	}
	return err
}

var errTakenOver = errors.New("others have taken the lease for that of a lost worker")

// addEntries adds entries to a lease that is not taken over.
const addEntries = `WITH l AS (SELECT lease FROM worker_entries WHERE lease = $1 AND kind = '' AND value = '' FOR KEY SHARE)
	INSERT INTO worker_entries (lease, kind, value) SELECT l.lease, e.* FROM l, unnest($2::text[], $3::bytea[]) AS e ON CONFLICT DO NOTHING`

// change changes the entries of a lease. The empty entry is the lease itself.
func (p *Postgres) change(ctx context.Context, id int32, added, removed []Entry) error {
	return p.desk.do(ctx, func(ctx context.Context, c *pgx.Conn) error {
		if len(added) > 0 {
			kinds, values := columns(added)
			if done, err := c.Exec(ctx, addEntries, id, kinds, values); err != nil || done.RowsAffected() == 0 && !isOwn(ctx, c, id) {
				return cmp.Or(err, errTakenOver)
			}
		}
		if len(removed) > 0 {
			kinds, values := columns(removed)
			if _, err := c.Exec(ctx, "DELETE FROM worker_entries WHERE lease = $1 AND (kind, value) IN (SELECT * FROM unnest($2::text[], $3::bytea[]))", id, kinds, values); err != nil {
				return err
			}
		}
		return nil
	})
}

// isOwn reports whether a lease is there and not taken over.
func isOwn(ctx context.Context, c *pgx.Conn, id int32) (own bool) {
	err := c.QueryRow(ctx, ownLease, id).Scan(&own)
	return own || err != nil // then it is asked again
}

const ownLease = "SELECT EXISTS (SELECT FROM worker_entries WHERE lease = $1 AND kind = '' AND value = '')"

func columns(entries []Entry) (kinds []string, values [][]byte) {
	for _, e := range entries {
		kinds, values = append(kinds, string(e.Kind)), append(values, []byte(e.Value))
	}
	return kinds, values
}

// Release implements [Held].
func (h *heldLock) Release(ctx context.Context, nothingLeft bool) (err error) {
	h.end()
	h.done.Wait()
	if nothingLeft {
		err = h.p.desk.do(ctx, func(ctx context.Context, c *pgx.Conn) error {
			_, err := c.Exec(ctx, "DELETE FROM worker_entries WHERE lease = $1", h.id)
			return err
		})
	}
	return errors.Join(err, h.c.Close(ctx))
}
