package push

import (
	"context"
	"fmt"
	"time"

	"longhaul/a2a"
	"longhaul/internal/journal/db"
	"longhaul/opt/outbox"
)

const (
	handedFor    = 10 * time.Minute // after which deliveries are handed over again
	keptAttempts = 20               // of one delivery
	mostShown    = 1000             // deliveries of one task
)

// PushSignal returns a channel that is ready once for any number of deliveries that
// became due. Those of other processes signal it in PostgreSQL alone; otherwise
// [Store.PushesDue] finds them.
func (j Store) PushSignal() <-chan struct{} { return j.db.Pushed }

const deliveryColumns = `d.objective_id, d.task_id, d.config_id, d.n, d.state, d.at, d.gate_kind, d.gate_id, d.notice, d.status, d.since, d.tries`

// A deliveryRow is a delivery that is being read.
type deliveryRow struct {
	outbox.Delivery
	at, since int64
}

func (d *deliveryRow) columns() []any {
	return []any{&d.ObjectiveID, &d.TaskID, &d.ConfigID, &d.N, &d.State, &d.at, &d.GateKind, &d.GateID, &d.Notice, &d.Status, &d.since, &d.Tries, &d.ContextID}
}

func (d *deliveryRow) delivery() outbox.Delivery {
	d.At, d.Since = a2a.AtMillis(d.at), a2a.AtMillis(d.since)
	return d.Delivery
}

// NextDelivery returns the earliest delivery of a config that is due, without its
// attempts, and the config. ok is false if there is none.
func (j Store) NextDelivery(ctx context.Context, taskID, configID string) (p outbox.PushConfig, d outbox.Delivery, ok bool, err error) {
	err = j.db.Read(ctx, func(c *db.Conn) error {
		return c.Each("SELECT "+pushColumns+", "+deliveryColumns+`, t.context_id FROM deliveries d
			JOIN push_configs c ON c.objective_id = d.objective_id AND c.task_id = d.task_id AND c.id = d.config_id
			JOIN tasks t ON t.id = d.task_id
			WHERE d.objective_id = $1 AND d.task_id = $2 AND d.config_id = $3 AND d.status = 'due' ORDER BY d.n LIMIT 1`,
			db.Args{objectiveOf(taskID), taskID, configID}, func(row db.Scanner) (err error) {
				var r deliveryRow
				p, err = j.scan(row, r.columns()...)
				d, ok = r.delivery(), true
				return err
			})
	})
	return p, d, ok && err == nil, err
}

// NoteDelivery records an attempt at d with config p, as [Store.NextDelivery] has
// returned them: it is attempt d.Tries+1. It returns the status of the delivery
// after the attempt, which is s, unless p was changed during the attempt. If p was
// replaced, the new config is to get the state too: the delivery is due. If p was
// removed, the delivery stays abandoned, unless it was made after all. If s is
// abandoned, p is removed. Recording the same attempt again, or one at a delivery
// that was removed, changes nothing.
func (j Store) NoteDelivery(ctx context.Context, p outbox.PushConfig, d outbox.Delivery, a outbox.DeliveryAttempt, s outbox.DeliveryStatus) (outbox.DeliveryStatus, error) {
	n := &deliveryNote{Store: j, p: p, d: d, a: a, to: s, now: j.now().UnixMilli()}
	if err := j.db.Write(ctx, n.run, db.ObjectiveLock(objectiveOf(d.TaskID))); err != nil {
		return "", fmt.Errorf("note an attempt at a delivery to push config %s: %w", d.ConfigID, err)
	}
	return n.status, nil
}

// A deliveryNote is the outcome of an attempt on its way into the tables.
type deliveryNote struct {
	Store
	p      outbox.PushConfig
	d      outbox.Delivery
	a      outbox.DeliveryAttempt
	to     outbox.DeliveryStatus // after the attempt, as the caller has it
	status outbox.DeliveryStatus // of the delivery after the attempt
	now    int64
}

func (w *deliveryNote) run(c *db.Conn) error {
	key := db.Args{objectiveOf(w.d.TaskID), w.d.TaskID, w.d.ConfigID, w.d.N}
	latest, err := w.current(c, w.p)
	if err != nil {
		return err
	}
	to, gone := w.to, w.to == outbox.DeliveryAbandoned
	w.status = w.to
	if latest != nil && !samePush(*latest, w.p) {
		to, gone = outbox.DeliveryDue, false
	}
	s := db.Steps{C: c}
	n := s.Do(`UPDATE deliveries SET tries = $5, card = $7, status = CASE WHEN status = 'abandoned' AND $6 <> 'delivered' THEN status ELSE $6 END
		WHERE objective_id = $1 AND task_id = $2 AND config_id = $3 AND n = $4 AND tries < $5`, append(key, w.d.Tries+1, string(to), w.d.Card)...)
	if n > 0 {
		w.attempt(&s, key)
	}
	if gone && s.Err == nil {
		_, s.Err = removePush(c, w.p.Tenant, w.p.TaskID, w.p.ID)
	}
	s.Get("SELECT status FROM deliveries WHERE objective_id = $1 AND task_id = $2 AND config_id = $3 AND n = $4", key, &w.status)
	return s.Err
}

// attempt records the attempt at the delivery with a key.
func (w *deliveryNote) attempt(s *db.Steps, key db.Args) {
	try := w.d.Tries + 1
	s.Do("INSERT INTO attempts (objective_id, task_id, config_id, n, try, at, http, error) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)",
		append(key, try, w.a.At.Millis(), w.a.Status, w.a.Error)...)
	s.Do("DELETE FROM attempts WHERE objective_id = $1 AND task_id = $2 AND config_id = $3 AND n = $4 AND try <= $5", append(key, try-keptAttempts)...)
	// A push workflow works for this config: no hand-over is needed soon.
	s.Do("UPDATE deliveries SET handed_at = $4 WHERE objective_id = $1 AND task_id = $2 AND config_id = $3 AND status = 'due' AND handed_at <> 0",
		key[0], key[1], key[2], w.now)
}

// PushesDue returns at most limit configs and channels with deliveries that are due and were
// not handed over, or not within ten minutes. Those that wait longest come first.
func (j Store) PushesDue(ctx context.Context, limit int) ([]outbox.PushKey, error) {
	return db.List(ctx, j.db, "SELECT d.task_id, d.config_id, MAX(d.n), o.tenant FROM deliveries d"+j.db.Dialect.IndexedBy("deliveries_due")+`
			JOIN objectives o ON o.id = d.objective_id
			WHERE d.status = 'due' AND d.handed_at <= $1
			GROUP BY d.task_id, d.config_id, o.tenant ORDER BY MIN(d.handed_at), MIN(d.since), d.task_id, d.config_id`+db.LimitParam(2),
		db.Args{j.now().Add(-handedFor).UnixMilli(), limit}, func(row db.Scanner) (k outbox.PushKey, err error) {
			err = row.Scan(&k.TaskID, &k.ConfigID, &k.N, &k.Tenant)
			return k, err
		})
}

// PushesHanded notes that deliveries were handed over: those that are due for each
// config up to its N.
func (j Store) PushesHanded(ctx context.Context, list []outbox.PushKey) error {
	if len(list) == 0 {
		return nil
	}
	return j.db.Write(ctx, func(c *db.Conn) error {
		s := db.Steps{C: c}
		for _, k := range list {
			s.Do(`UPDATE deliveries SET handed_at = $4 WHERE objective_id = $1 AND task_id = $2 AND config_id = $3
				AND status = 'due' AND (n <= $5 OR $5 = 0)`, objectiveOf(k.TaskID), k.TaskID, k.ConfigID, j.now().UnixMilli(), k.N)
		}
		return s.Err
	})
}

// Deliveries returns the deliveries of a task with their latest attempts, in the
// order of their states: the latest thousand if there are more. The tasks of other
// tenants are unknown.
func (j Store) Deliveries(ctx context.Context, tenant, taskID string) (list []outbox.Delivery, err error) {
	type key struct {
		config string
		n      int64
	}
	index := map[key]int{}
	err = j.db.Snapshot(ctx, func(c *db.Conn) error {
		if err := requireTask(c, tenant, taskID); err != nil {
			return err
		}
		a := db.Args{objectiveOf(taskID), taskID}
		err := c.Each("SELECT "+deliveryColumns+`, t.context_id FROM (SELECT * FROM deliveries WHERE objective_id = $1 AND task_id = $2
				ORDER BY n DESC, config_id`+db.LimitParam(3)+`) d JOIN tasks t ON t.id = d.task_id ORDER BY d.n, d.config_id`, append(a, mostShown),
			func(row db.Scanner) error {
				var r deliveryRow
				err := row.Scan(r.columns()...)
				index[key{r.ConfigID, r.N}] = len(list)
				list = append(list, r.delivery())
				return err
			})
		if err != nil {
			return err
		}
		return c.Each("SELECT config_id, n, try, at, http, error FROM attempts WHERE objective_id = $1 AND task_id = $2 ORDER BY config_id, n, try", a,
			func(row db.Scanner) error {
				var k key
				var t outbox.DeliveryAttempt
				var at int64
				err := row.Scan(&k.config, &k.n, &t.N, &at, &t.Status, &t.Error)
				t.At = a2a.AtMillis(at)
				if i, shown := index[k]; shown {
					list[i].Attempts = append(list[i].Attempts, t)
				}
				return err
			})
	})
	return list, err
}

// Redeliver makes a delivery due again, unless it is due. The error wraps
// [opt.ErrUnknown] if the tenant has no such delivery, or its config is gone.
func (j Store) Redeliver(ctx context.Context, tenant, taskID, configID string, n int64) error {
	err := j.db.Write(ctx, func(c *db.Conn) error {
		var status outbox.DeliveryStatus
		err := c.Find("delivery to push config", configID, `SELECT d.status FROM deliveries d JOIN objectives o ON o.id = d.objective_id
			LEFT JOIN push_configs c ON c.objective_id = d.objective_id AND c.task_id = d.task_id AND c.id = d.config_id
			WHERE d.objective_id = $1 AND d.task_id = $2 AND d.config_id = $3 AND d.n = $4 AND o.tenant = $5 AND (d.notice <> '' OR c.id IS NOT NULL)`,
			db.Args{objectiveOf(taskID), taskID, configID, n, tenant}, &status)
		if err != nil || status == outbox.DeliveryDue {
			return err
		}
		err = c.Do("UPDATE deliveries SET status = 'due', since = $5, handed_at = 0 WHERE objective_id = $1 AND task_id = $2 AND config_id = $3 AND n = $4",
			objectiveOf(taskID), taskID, configID, n, j.now().UnixMilli())
		c.Changes.Due = err == nil
		return err
	}, db.ObjectiveLock(objectiveOf(taskID)))
	if err != nil {
		return fmt.Errorf("deliver again: %w", err)
	}
	return nil
}
