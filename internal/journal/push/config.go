package push

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"go.uber.org/zap"

	"longhaul/a2a"
	"longhaul/internal/journal/db"
	"longhaul/opt"
	"longhaul/opt/outbox"
)

// pendingFor is how long a push config waits for its task to begin. After that
// the start has failed, and was not repeated.
const pendingFor = 7 * 24 * time.Hour

var errSecrets = errors.New("secrets of a push config cannot be opened: give the key back with which they were sealed, or make the config again")

// A Store is the part of a journal that keeps push configs, and the deliveries to them and to
// channels.
type Store struct {
	db   *db.Engine
	seal db.Sealer // of secrets; nil refuses them
	now  func() time.Time
	keys Keys
}

// Keys are random bytes with a name.
type Keys interface {
	Key(ctx context.Context, name string) ([]byte, error)
}

// New returns the store on a database.
func New(e *db.Engine, seal db.Sealer, now func() time.Time, keys Keys) Store {
	return Store{e, seal, now, keys}
}

// PutPush adds a config, or replaces the one with the same id at its task. A repeat
// changes nothing. The error wraps [opt.ErrUnknown] if the tenant has no such task,
// unless the config is inline and its task about to begin; [outbox.ErrPushLimit] if
// the task has too many.
//
// undo removes p or restores the replaced config. It changes nothing if p was stored
// before, or was changed since.
func (j Store) PutPush(ctx context.Context, p outbox.PushConfig) (undo func(context.Context) error, err error) {
	put, err := j.newPushPut(ctx, p)
	if err != nil {
		return nil, err
	}
	if err := j.db.Write(ctx, put.run, db.ObjectiveLock(put.p.ObjectiveID)); err != nil {
		return nil, fmt.Errorf("put a push config for %s: %w", p.TaskID, err)
	}
	return put.undo, nil
}

// newPushPut does the work for PutPush that can be done before its transaction.
func (j Store) newPushPut(ctx context.Context, p outbox.PushConfig) (*pushPut, error) {
	ref, ok := opt.ParseID(p.TaskID)
	if !ok {
		return nil, db.Unknown("task", p.TaskID)
	}
	p.ObjectiveID = ref.ObjectiveID
	salt, err := j.keys.Key(ctx, "push fingerprints")
	if err != nil {
		return nil, err
	}
	p.Fingerprint = fingerprint(salt, p)
	secrets, err := j.sealed(p)
	if err != nil {
		return nil, fmt.Errorf("seal a push config: %w", err)
	}
	return &pushPut{Store: j, p: p, secrets: secrets, now: j.now().UnixMilli()}, nil
}

// Pushes returns the configs of a task, the oldest first. The tasks of other
// tenants are unknown.
func (j Store) Pushes(ctx context.Context, tenant, taskID string) ([]outbox.PushConfig, error) {
	return db.InSnapshot(ctx, j.db, func(c *db.Conn) ([]outbox.PushConfig, error) {
		if err := requireTask(c, tenant, taskID); err != nil {
			return nil, err
		}
		return j.configs(c, taskID, "")
	})
}

// RemovePush removes a config and abandons its deliveries that are due. A config
// that is not there is no error, unless the tenant has no such task. It also
// removes a config whose task has not begun.
func (j Store) RemovePush(ctx context.Context, tenant, taskID, id string) error {
	err := j.db.Write(ctx, func(c *db.Conn) error {
		n, err := removePush(c, tenant, taskID, id)
		if err == nil && n == 0 {
			err = requireTask(c, tenant, taskID)
		}
		return err
	}, db.ObjectiveLock(objectiveOf(taskID)))
	if err != nil {
		return fmt.Errorf("remove push config %s: %w", id, err)
	}
	return nil
}

// removePush removes a config and abandons its deliveries that are due. n is 0 if
// there is no such config.
func removePush(c *db.Conn, tenant, taskID, id string) (n int64, err error) {
	key, s := db.Args{objectiveOf(taskID), taskID, id}, db.Steps{C: c}
	if n = s.Do("DELETE FROM push_configs WHERE objective_id = $1 AND task_id = $2 AND id = $3 AND tenant = $4", append(key, tenant)...); n > 0 {
		s.Do("UPDATE deliveries SET status = 'abandoned' WHERE objective_id = $1 AND task_id = $2 AND config_id = $3 AND status = 'due'", key...)
		countPushes(&s, objectiveOf(taskID))
	}
	return n, s.Err
}

// objectiveOf returns the objective of a task, "" for an id in no form of ours.
func objectiveOf(taskID string) string {
	ref, _ := opt.ParseID(taskID)
	return ref.ObjectiveID
}

// requireTask returns an error if a tenant has no task with an id.
func requireTask(c *db.Conn, tenant, id string) error {
	return c.Find("task", id, "SELECT id FROM tasks WHERE id = $1 AND tenant = $2", db.Args{id, tenant}, &id)
}

// countPushes notes in the row of an objective how many configs it has, so that
// recording finds out without a look.
func countPushes(s *db.Steps, objectiveID string) {
	s.Do("UPDATE objectives SET pushes = (SELECT COUNT(*) FROM push_configs WHERE objective_id = $1) WHERE id = $1", objectiveID)
}

// A pushPut is a config on its way into the tables.
type pushPut struct {
	Store
	p       outbox.PushConfig
	secrets []byte
	now     int64
	wrote   bool               // it was not there before
	before  *outbox.PushConfig // that it has replaced; nil for none
}

func (w *pushPut) run(c *db.Conn) error {
	w.wrote, w.before = false, nil
	s := &db.Steps{C: c}
	s.Do("DELETE FROM push_configs WHERE pending = 1 AND created_at <= $1", w.now-pendingFor.Milliseconds())
	task := w.task(s)
	before, err := w.current(c, w.p)
	if s.Fail(err); s.Err != nil || before != nil && samePush(*before, w.p) {
		return s.Err
	}
	w.wrote, w.before = true, before
	w.write(s, !task.exists)
	countPushes(s, w.p.ObjectiveID)
	if !w.p.Inline && w.p.States.Delivers(a2a.TaskState(task.shown)) {
		w.deliver(s, task)
	}
	return s.Err
}

// A pushTask is the state of the task of a config.
type pushTask struct {
	exists bool
	shown  string
	at     int64
	gate   opt.Gate
	seq    int64 // of the last event of the objective
}

// task reads the task of the config, which need not be there if it is about to
// begin.
func (w *pushPut) task(s *db.Steps) (t pushTask) {
	var gate db.Content
	t.exists = s.Get(`SELECT t.shown, t.status_at, t.gate, o.seq FROM tasks t JOIN objectives o ON o.id = t.objective_id
		WHERE t.id = $1 AND t.tenant = $2`, db.Args{w.p.TaskID, w.p.Tenant}, &t.shown, &t.at, &gate, &t.seq)
	s.Decode(gate, &t.gate)
	if t.exists {
		return t
	}
	begun := s.Get("SELECT id FROM objectives WHERE id = $1", db.Args{w.p.ObjectiveID}, new(string))
	if begun || !w.p.Inline || w.p.TaskID != w.p.ObjectiveID {
		s.Fail(db.Unknown("task", w.p.TaskID))
	}
	return t
}

// undo implements the result of PutPush.
func (w *pushPut) undo(ctx context.Context) error {
	if !w.wrote {
		return nil
	}
	var old *pushPut
	if w.before != nil {
		var err error
		if old, err = w.newPushPut(ctx, *w.before); err != nil {
			return err
		}
	}
	return w.db.Write(ctx, func(c *db.Conn) error {
		now, err := w.current(c, w.p)
		switch {
		case err != nil || now == nil || !samePush(*now, w.p):
			return err
		case old != nil:
			s := db.Steps{C: c}
			old.write(&s, false)
			return s.Err
		}
		_, err = removePush(c, w.p.Tenant, w.p.TaskID, w.p.ID)
		return err
	}, db.ObjectiveLock(w.p.ObjectiveID))
}

// current returns the stored config with the task and the id of p, nil for none.
func (j Store) current(c *db.Conn, p outbox.PushConfig) (*outbox.PushConfig, error) {
	list, err := j.configs(c, p.TaskID, " AND c.id = $3", p.ID)
	if err != nil || len(list) == 0 {
		return nil, err
	}
	return &list[0], nil
}

// samePush reports whether two configs deliver in the same way.
func samePush(a, b outbox.PushConfig) bool {
	a.CreatedAt, a.Inline = b.CreatedAt, b.Inline
	return a == b
}

func (w *pushPut) write(s *db.Steps, pending bool) {
	var others int
	var last int64
	s.Get("SELECT COUNT(*), COALESCE(MAX(created_at), 0) FROM push_configs WHERE objective_id = $1 AND task_id = $2 AND id <> $3",
		db.Args{w.p.ObjectiveID, w.p.TaskID, w.p.ID}, &others, &last)
	if others >= outbox.MaxPushes {
		s.Fail(outbox.ErrPushLimit)
	}
	s.Do(`INSERT INTO push_configs (objective_id, task_id, id, tenant, pending, principal, version, states, url, scheme, secrets, fingerprint, created_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)
		ON CONFLICT (objective_id, task_id, id) DO UPDATE SET principal = excluded.principal, version = excluded.version, states = excluded.states,
			url = excluded.url, scheme = excluded.scheme, secrets = excluded.secrets, fingerprint = excluded.fingerprint`,
		w.p.ObjectiveID, w.p.TaskID, w.p.ID, w.p.Tenant, db.Flag(pending), w.p.Principal, w.p.Version, string(w.p.States), w.p.URL, w.p.Scheme,
		w.secrets, w.p.Fingerprint, max(w.now, last+1))
}

// deliver makes a delivery of the state that the task is in, unless one is due.
func (w *pushPut) deliver(s *db.Steps, t pushTask) {
	var state, gate string
	s.Get(`SELECT state, gate_id FROM deliveries WHERE objective_id = $1 AND task_id = $2 AND config_id = $3 AND status = 'due'
		ORDER BY n DESC LIMIT 1`, db.Args{w.p.ObjectiveID, w.p.TaskID, w.p.ID}, &state, &gate)
	if state == t.shown && gate == t.gate.ID {
		return
	}
	s.Do(`INSERT INTO deliveries (objective_id, task_id, config_id, n, state, at, gate_kind, gate_id, status, since, tries, handed_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, 'due', $9, 0, 0)
		ON CONFLICT (objective_id, task_id, config_id, n) DO UPDATE SET status = 'due', since = excluded.since, handed_at = 0`,
		w.p.ObjectiveID, w.p.TaskID, w.p.ID, t.seq, t.shown, t.at, string(t.gate.Kind), t.gate.ID, w.now)
	s.C.Changes.Due = true
}

const pushColumns = `c.tenant, c.objective_id, c.task_id, c.id, c.principal, c.version, c.states, c.url, c.scheme, c.secrets, c.fingerprint, c.created_at`

// configs reads the configs of a task for which a condition holds. Secrets that cannot be opened
// are left out, so that such a config can be seen, replaced and removed.
func (j Store) configs(c *db.Conn, taskID, and string, a ...any) ([]outbox.PushConfig, error) {
	return db.All(c, "SELECT "+pushColumns+" FROM push_configs c WHERE c.objective_id = $1 AND c.task_id = $2"+and+" ORDER BY c.created_at, c.id",
		append(db.Args{objectiveOf(taskID), taskID}, a...), func(row db.Scanner) (outbox.PushConfig, error) {
			p, err := j.scan(row)
			if errors.Is(err, errSecrets) {
				j.db.Log.Warn("Read a push config without its secrets", zap.String("taskId", p.TaskID), zap.String("configId", p.ID), zap.Error(err))
				err = nil
			}
			return p, err
		})
}

// scan reads a config, and more after its columns.
func (j Store) scan(row db.Scanner, more ...any) (p outbox.PushConfig, err error) {
	var secrets []byte
	var created int64
	err = row.Scan(append([]any{&p.Tenant, &p.ObjectiveID, &p.TaskID, &p.ID, &p.Principal, &p.Version, &p.States, &p.URL, &p.Scheme,
		&secrets, &p.Fingerprint, &created}, more...)...)
	p.CreatedAt = a2a.AtMillis(created)
	if err != nil {
		return p, err
	}
	return p, j.open(secrets, &p)
}

// pushSecrets are the members of a config that are sealed.
type pushSecrets struct {
	Token       string `json:"token,omitempty"`
	Credentials string `json:"credentials,omitempty"`
}

// sealContext binds secrets to the place in which they are stored.
func sealContext(p outbox.PushConfig) string {
	return fmt.Sprintf("push %q %q %q", p.Tenant, p.TaskID, p.ID)
}

func (j Store) sealed(p outbox.PushConfig) ([]byte, error) {
	s := pushSecrets{p.Token, p.Credentials}
	if s == (pushSecrets{}) {
		return []byte{}, nil
	}
	return db.SealJSON(j.seal, s, sealContext(p))
}

func (j Store) open(secrets []byte, p *outbox.PushConfig) error {
	if len(secrets) == 0 {
		return nil
	}
	var s pushSecrets
	if err := db.OpenJSON(j.seal, secrets, sealContext(*p), &s); err != nil {
		return fmt.Errorf("%w: %w", errSecrets, err)
	}
	p.Token, p.Credentials = s.Token, s.Credentials
	return nil
}

// fingerprint returns the public form of the token of p: 16 characters, salted so that
// others cannot test guesses against it.
func fingerprint(salt []byte, p outbox.PushConfig) string {
	if p.Token == "" {
		return ""
	}
	h := hmac.New(sha256.New, salt)
	fmt.Fprintf(h, "%q %q", sealContext(p), p.Token)
	return hex.EncodeToString(h.Sum(nil)[:8])
}
