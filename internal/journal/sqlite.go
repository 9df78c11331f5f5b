package journal

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strconv"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"longhaul/opt"
)

// applicationID marks a SQLite file as a journal: "LHjr".
const applicationID = 0x4c486a72

// A role is what a connection is for.
type role string

const (
	writing       role = "writing"
	reading       role = "reading"
	checkpointing role = "checkpointing"
)

// waits says for how many milliseconds SQLite itself waits for a lock. The writer
// retries by itself, sooner than SQLite would.
var waits = map[role]int{writing: 2, reading: 5000, checkpointing: 100}

var syncLevels = map[string]string{"": "FULL", "full": "FULL", "normal": "NORMAL"}

// A database is a SQLite file, or one in memory.
type database struct {
	path     string // "" in memory
	dsn      string
	sync     string
	template *Template // nil to make the tables
	pool     *sql.DB
}

// openDatabase prepares the file of cfg, and makes it if it is missing. It does
// not read it.
func openDatabase(cfg Config) (*database, error) {
	d := &database{path: cfg.Path, dsn: "file:/" + rand.Text() + "?vfs=memdb", sync: syncLevels[cfg.Sync], template: cfg.Template}
	switch {
	case d.sync == "":
		return nil, fmt.Errorf(`sync is %q, want "full" or "normal"`, cfg.Sync)
	case d.path != "" && d.template != nil:
		return nil, errors.New("a template is only for a journal in memory")
	}
	if d.path != "" {
		if err := touch(d.path); err != nil {
			return nil, d.explain(err)
		}
		full, err := filepath.Abs(d.path)
		if err != nil {
			return nil, err
		}
		d.dsn = (&url.URL{Scheme: "file", Path: full}).String()
	}
	var err error
	if d.pool, err = sql.Open("sqlite", d.dsn); err != nil {
		return nil, err
	}
	d.pool.SetMaxIdleConns(0) // each has its own settings: do not reuse it
	return d, nil
}

// touch makes the file and its directory, private to the user. It fails early if
// they cannot be used.
func touch(path string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	return f.Close()
}

// connect opens a connection for a role.
func (d *database) connect(ctx context.Context, r role) (*conn, error) {
	raw, err := d.pool.Conn(ctx)
	if err != nil {
		return nil, d.explain(err)
	}
	c := &conn{raw: raw, stmts: map[string]*sql.Stmt{}}
	settings := []string{
		fmt.Sprintf("PRAGMA busy_timeout = %d", waits[r]),
		"PRAGMA synchronous = " + d.sync,
		"PRAGMA wal_autocheckpoint = 0", // the checkpointer does it
		"PRAGMA cache_size = -16000",    // KiB
		"PRAGMA temp_store = MEMORY",
	}
	if r == reading {
		settings = append(settings, "PRAGMA query_only = ON")
	}
	for _, s := range settings {
		if err := patiently(nil, func() error { return c.script(s) }); err != nil {
			return nil, errors.Join(d.explain(err), c.close())
		}
	}
	return c, nil
}

// ready makes the file a journal with all its tables, and returns the connection
// that writes.
func (d *database) ready(ctx context.Context) (*conn, error) {
	c, err := d.connect(ctx, writing)
	if err != nil {
		return nil, err
	}
	if d.template != nil {
		err = d.template.copyTo(c)
	}
	if err == nil {
		err = patiently(nil, func() error { return d.claim(c) })
	}
	if err == nil {
		err = migrate(c, d.sign)
	}
	if err != nil {
		return nil, errors.Join(d.explain(err), c.close())
	}
	return c, nil
}

// reconnect opens another connection to a journal that is open, unless a newer
// program has changed its tables meanwhile.
func (d *database) reconnect(ctx context.Context, r role) (*conn, error) {
	c, err := d.connect(ctx, r)
	if err != nil {
		return nil, err
	}
	list, err := known()
	if err == nil {
		_, err = applied(c, list)
	}
	if err != nil {
		return nil, errors.Join(d.down(err), c.close())
	}
	return c, nil
}

// claim refuses a file that is not a journal, and sets a mode in which readers
// and a writer work at the same time.
func (d *database) claim(c *conn) error {
	var id, tables int64
	// In one statement, so that another process cannot make the tables between.
	if _, err := c.get("SELECT application_id, (SELECT COUNT(*) FROM sqlite_schema) FROM pragma_application_id", nil, &id, &tables); err != nil {
		return err
	}
	if id != applicationID && (id != 0 || tables > 0) {
		return errors.New("it is the database of another program: give the journal a file of its own")
	}
	if d.path == "" {
		return nil
	}
	var mode string
	_, err := c.get("PRAGMA journal_mode = WAL", nil, &mode)
	if err == nil && mode != "wal" {
		err = fmt.Errorf("it cannot have a write-ahead log there (mode %q): use a local disk, not a network file system", mode)
	}
	return err
}

// sign marks the file as a journal, within a transaction.
func (d *database) sign(c *conn) error {
	_, err := c.exec("PRAGMA application_id = " + strconv.Itoa(applicationID))
	return err
}

func (d *database) close() error { return d.pool.Close() }

// using makes a query use an index of the table before it.
func using(index string) string { return " INDEXED BY " + index }

// atMost returns the clause that ends a query after as many rows as its nth
// parameter says. The planner looks into a bare parameter, and so SQLite would
// prepare the statement again at each run; it does not look into a sum.
func atMost(n int) string { return " LIMIT $" + strconv.Itoa(n) + " + 0" }

// removeSome returns the statement that removes at most $1 remaining rows of
// removed objectives from a table.
func removeSome(table string) string {
	return "DELETE FROM " + table + " WHERE rowid IN (SELECT t.rowid FROM leftovers l CROSS JOIN " + table + " t WHERE t.objective_id = l.objective_id" + atMost(1) + ")"
}

// busy reports whether err says that another connection has the lock.
func busy(err error) bool {
	return primary(err) == sqlite3.SQLITE_BUSY
}

// primary returns SQLite's result code in err, 0 if there is none.
func primary(err error) int {
	var e *sqlite.Error
	if !errors.As(err, &e) {
		return 0
	}
	return e.Code() & 0xff
}

// advice says what to do about a result code.
var advice = map[int]string{
	sqlite3.SQLITE_NOTADB:   "it is not a SQLite database: give the journal a file of its own",
	sqlite3.SQLITE_CORRUPT:  "it is damaged: move it away and restore a copy, or let the journal be rebuilt from Temporal",
	sqlite3.SQLITE_CANTOPEN: "let the user of this process write to the directory, which also holds the -wal and -shm files",
	sqlite3.SQLITE_READONLY: "let the user of this process write to the file and to its directory",
	sqlite3.SQLITE_PERM:     "let the user of this process write to the file and to its directory",
	sqlite3.SQLITE_FULL:     "make room on the disk",
	sqlite3.SQLITE_IOERR:    "look at the disk",
	sqlite3.SQLITE_BUSY:     "another process holds its lock for long: look for one that hangs",
}

// failure wraps errors of the database in [opt.ErrUnavailable], and does not
// change other errors.
func (d *database) failure(err error) error {
	if _, ok := advice[primary(err)]; !ok {
		return err
	}
	return d.down(err)
}

// down wraps err in [opt.ErrUnavailable].
func (d *database) down(err error) error {
	if errors.Is(err, opt.ErrUnavailable) {
		return err
	}
	return fmt.Errorf("%w: %w", opt.ErrUnavailable, d.explain(err))
}

// explain adds the file, and what to do, to an error about it.
func (d *database) explain(err error) error {
	if err == nil {
		return nil
	}
	where := "journal " + d.path
	if d.path == "" {
		where = "journal in memory"
	}
	hint := advice[primary(err)]
	if errors.Is(err, fs.ErrPermission) {
		hint = advice[sqlite3.SQLITE_PERM]
	}
	if hint == "" {
		return fmt.Errorf("%s: %w", where, err)
	}
	return fmt.Errorf("%s: %w (%s)", where, err, hint)
}

// A follower finds the objectives that other processes have changed.
type follower struct {
	c       *conn
	version int64 // of the data, as this connection counts
	row     int64 // the last row of events that was looked at
	purges  int64 // how many there have been
}

// newFollower returns a follower that has seen everything up to now.
func newFollower(ctx context.Context, d *database) (*follower, error) {
	c, err := d.connect(ctx, reading)
	if err != nil {
		return nil, err
	}
	f := &follower{c: c}
	if err := f.poll(func(string, int64) {}, func() {}); err != nil {
		return nil, errors.Join(err, c.close())
	}
	return f, nil
}

// poll calls tell with each objective that has new events since the last poll and
// with its last seq, or tellAll if it cannot tell which.
func (f *follower) poll(tell func(objectiveID string, seq int64), tellAll func()) error {
	var version, last, purges int64
	if _, err := f.c.get("PRAGMA data_version", nil, &version); err != nil || version == f.version {
		return err
	}
	// In one statement: a purge makes the numbers of rows mean something else.
	if _, err := f.c.get("SELECT (SELECT COALESCE(MAX(rowid), 0) FROM events), n FROM purges", nil, &last, &purges); err != nil {
		return err
	}
	switch {
	case f.version == 0: // the first time
	case purges != f.purges: // rows were removed, and their numbers may have been used again
		tellAll()
	default:
		err := f.c.each("SELECT objective_id, MAX(seq) FROM events WHERE rowid > $1 GROUP BY objective_id", args{f.row}, func(row scanner) error {
			var id string
			var seq int64
			err := row.Scan(&id, &seq)
			tell(id, seq)
			return err
		})
		if err != nil {
			return err
		}
	}
	f.version, f.row, f.purges = version, last, purges
	return nil
}

// checkpoint moves what it can from the write-ahead log to the file without
// blocking others.
func (d *database) checkpoint(c *conn) error {
	var blocked, length, moved int64
	_, err := c.get("PRAGMA wal_checkpoint(PASSIVE)", nil, &blocked, &length, &moved)
	return err
}

// truncate empties the write-ahead log if it has grown too long. It blocks
// writers meanwhile, and gives up soon if another connection holds a lock.
func (d *database) truncate(c *conn) error {
	if d.path == "" {
		return nil
	}
	info, err := os.Stat(d.path + "-wal")
	if err != nil || info.Size() < logMost {
		return err
	}
	var blocked, length, moved int64
	_, err = c.get("PRAGMA wal_checkpoint(TRUNCATE)", nil, &blocked, &length, &moved)
	return err
}
