package db

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"go.uber.org/zap"
)

const (
	checkEvery    = 5 * time.Second // at the events of watched objectives, in case a notification was lost
	checkLimit    = 5 * time.Second // for the answer to that
	notifyMost    = 7000            // bytes of one notification; PostgreSQL takes 8,000
	relistenAfter = time.Second     // after a lost connection
)

// announce implements [transactor].
func (d *Postgres) announce(c *Conn, list []Changes) error {
	texts, err := Notifications(list)
	if err != nil || len(texts) == 0 {
		return err
	}
	_, err = c.Exec("SELECT pg_notify('"+channel+"', t) FROM unnest($1::text[]) AS t", texts)
	return err
}

// Notifications returns the texts of notifications of changes, as few as are possible.
func Notifications(list []Changes) (texts []string, err error) {
	n, size := Changes{}, 0
	flush := func() error {
		if len(n.Seqs)+len(n.Gone) == 0 && !n.Due {
			return nil
		}
		text, err := json.Marshal(n)
		texts = append(texts, string(text))
		n, size = Changes{}, 0
		return err
	}
	add := func(id string, moves bool, do func()) error {
		most := len(id) + 32
		if moves {
			most += len(id) + 16
		}
		if size += most; size > notifyMost {
			err := flush()
			size = most
			if err != nil {
				return err
			}
		}
		do()
		return nil
	}
	for _, ch := range list {
		n.Due = n.Due || ch.Due
		for id, seq := range ch.Seqs {
			err = errors.Join(err, add(id, ch.Moves[id], func() { n.Recorded(id, seq, ch.Moves[id]) }))
		}
		for _, id := range ch.Gone {
			err = errors.Join(err, add(id, false, func() { n.Gone = append(n.Gone, id) }))
		}
	}
	return texts, errors.Join(err, flush())
}

// signalCommits implements [database]: it listens, all the time.
func (d *Postgres) signalCommits(ctx context.Context, ws *watches) {
	for failed := false; ctx.Err() == nil; {
		listened, err := d.listen(ctx, ws)
		if ctx.Err() != nil {
			return
		}
		if listened || !failed {
			d.log.Warn("Commits of other processes are noticed late: the connection to the journal was lost", zap.Error(d.explain(err)))
		}
		failed = true
		pause(ctx, time.After(relistenAfter))
	}
}

// listen signals watches on notifications until the connection is lost; listened is set
// if there was one.
func (d *Postgres) listen(ctx context.Context, ws *watches) (listened bool, err error) {
	c, err := pgx.ConnectConfig(ctx, d.cfg.Copy())
	if err != nil {
		return false, err
	}
	defer func() { _ = c.Close(context.Background()) }() // nothing is lost
	asking, end := context.WithTimeout(ctx, checkLimit)
	_, err = c.Exec(asking, "LISTEN "+channel)
	end()
	if err != nil {
		return false, err
	}
	ws.notifyAll() // of commits before it listened
	ws.pushed()
	for {
		waiting, end := context.WithTimeout(ctx, checkEvery)
		note, err := c.WaitForNotification(waiting)
		end()
		switch {
		case err == nil:
			d.to.Notified()
			err = onNotification(note, ws)
		case ctx.Err() == nil && pgconn.Timeout(err) && !c.IsClosed():
			err = d.checkWatched(ctx, c, ws)
		}
		if err != nil {
			return true, err
		}
	}
}

// onNotification signals watches on a notification.
func onNotification(note *pgconn.Notification, ws *watches) error {
	var n Changes
	err := json.Unmarshal([]byte(note.Payload), &n)
	ws.signal(n)
	return err
}

// checkWatched compares the watched objectives with the tables. It also finds out whether the
// connection still works.
func (d *Postgres) checkWatched(ctx context.Context, c *pgx.Conn, ws *watches) error {
	ctx, end := context.WithTimeout(ctx, checkLimit)
	defer end()
	watched := ws.watched()
	ids := make([]string, 0, len(watched))
	for id := range watched {
		ids = append(ids, id)
	}
	rows, err := c.Query(ctx, "SELECT id, seq FROM objectives WHERE id = ANY($1)", ids)
	if err != nil {
		return err
	}
	var id string
	var seq int64
	missed := false
	_, err = pgx.ForEachRow(rows, []any{&id, &seq}, func() error {
		delete(watched, id)
		missed = ws.isBehind(id, seq) || missed
		ws.notify(id, seq, false)
		return nil
	})
	for id, notified := range watched {
		if notified > 0 && err == nil { // it was there
			missed = true
			ws.notifyRemoved([]string{id})
		}
	}
	d.to.Looked(missed)
	return err
}
