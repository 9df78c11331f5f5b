package db

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
	"runtime"
	"strconv"
	"time"

	"go.uber.org/zap"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// applicationID marks a SQLite file as a journal: "LHjr".
const applicationID = 0x4c486a72

// busyTimeouts says for how many milliseconds SQLite itself waits for a lock. The writer
// retries by itself, sooner than SQLite would.
var busyTimeouts = map[role]int{Writing: 2, reading: 5000, Checkpointing: 100}

var syncLevels = map[string]string{"": "FULL", "full": "FULL", "normal": "NORMAL"}

// A SqliteFile is a SQLite file, or a database in memory. One connection writes.
type SqliteFile struct {
	path         string // "" in memory
	dsn          string
	sync         string
	template     *Template // nil to make the tables
	pool         *sql.DB
	log          *zap.Logger
	checkpointer *checkpointer
	bell         *bell // nil in memory
	alone        bool
	to           Observer
}

// openSQLite prepares the file of cfg, and makes it if it is missing. It does
// not read it.
func openSQLite(cfg Config) (*SqliteFile, error) {
	d := &SqliteFile{path: cfg.Path, dsn: "file:/" + rand.Text() + "?vfs=memdb", sync: syncLevels[cfg.Sync], template: cfg.Template, log: cfg.Log, to: cfg.Observer, alone: cfg.Alone}
	switch {
	case d.sync == "":
		return nil, fmt.Errorf(`sync is %q, want "full" or "normal"`, cfg.Sync)
	case d.path != "" && d.template != nil:
		return nil, errors.New("a template is only for a journal in memory")
	}
	if d.path != "" {
		if err := createFile(d.path); err != nil {
			return nil, d.explain(err)
		}
		full, err := filepath.Abs(d.path)
		if err != nil {
			return nil, err
		}
		d.dsn = (&url.URL{Scheme: "file", Path: full}).String()
		if d.bell, err = openBell(d.path + "-bell"); err != nil {
			return nil, d.explain(err)
		}
	}
	var err error
	if d.pool, err = sql.Open("sqlite", d.dsn); err != nil {
		return nil, err
	}
	d.pool.SetMaxIdleConns(0) // each has its own settings: do not reuse it
	d.checkpointer = newCheckpointer(d)
	return d, nil
}

// createFile makes the file and its directory, private to the user. It fails early if
// they cannot be used.
func createFile(path string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	return f.Close()
}

// open implements [connector].
func (d *SqliteFile) open(ctx context.Context, r role) (*Conn, error) {
	raw, err := d.pool.Conn(ctx)
	if err != nil {
		return nil, err
	}
	c := &Conn{Raw: raw, stmts: map[string]*sql.Stmt{}, Dialect: inSQLite, snapshot: "BEGIN"}
	settings := []string{
		fmt.Sprintf("PRAGMA busy_timeout = %d", busyTimeouts[r]),
		"PRAGMA synchronous = " + d.sync,
		"PRAGMA wal_autocheckpoint = 0", // the checkpointer does it
		"PRAGMA cache_size = -16000",    // KiB
		"PRAGMA temp_store = MEMORY",
	}
	if r == reading {
		settings = append(settings, "PRAGMA query_only = ON")
	}
	for _, s := range settings {
		if err := repeatWhileBusy(func() error { return c.Script(s) }); err != nil {
			return nil, errors.Join(err, c.Close())
		}
	}
	return c, nil
}

// prepare implements [connector]. Several processes may do so at a time.
func (d *SqliteFile) prepare(c *Conn) error {
	if d.template != nil {
		if err := d.template.copyTo(c); err != nil {
			return err
		}
	}
	if err := repeatWhileBusy(func() error { return d.checkFile(c) }); err != nil {
		return err
	}
	return d.migrate(c)
}

// migrate updates the tables and marks the file as a journal.
func (d *SqliteFile) migrate(c *Conn) error {
	return transact(d, c, nil, func() error {
		list, err := c.Dialect.Migrations()
		if err != nil {
			return err
		}
		if changed, err := Apply(c, list); err != nil || !changed {
			return err
		}
		return c.Do("PRAGMA application_id = " + strconv.Itoa(applicationID))
	})
}

// size implements [connector].
func (d *SqliteFile) size() size {
	return size{writers: 1, readers: max(4, 2*runtime.GOMAXPROCS(0)), group: 256, singleWriter: true}
}

// checkFile refuses the database of another program, and sets a mode in which readers and a
// writer work at the same time.
func (d *SqliteFile) checkFile(c *Conn) error {
	var id, tables int64
	// In one statement, so that another process cannot make the tables between.
	if _, err := c.Get("SELECT application_id, (SELECT COUNT(*) FROM sqlite_schema) FROM pragma_application_id", nil, &id, &tables); err != nil {
		return err
	}
	if id != applicationID && (id != 0 || tables > 0) {
		return errors.New("it is the database of another program: give the journal a file of its own")
	}
	if d.path == "" {
		return nil
	}
	var mode string
	_, err := c.Get("PRAGMA journal_mode = WAL", nil, &mode)
	if err == nil && mode != "wal" {
		err = fmt.Errorf("it cannot have a write-ahead log there (mode %q): use a local disk, not a network file system", mode)
	}
	return err
}

func (d *SqliteFile) close() error {
	d.checkpointer.stop()
	err := d.pool.Close()
	if d.bell != nil {
		err = errors.Join(err, d.bell.close())
	}
	return err
}

// Begin implements [transactor]: there is one lock, for the whole file.
func (d *SqliteFile) Begin(c *Conn, _ []string) error {
	return repeatWhileBusy(func() error { _, err := c.Exec("BEGIN IMMEDIATE"); return err })
}

// Commit implements [transactor]. In memory it waits for those who read.
func (d *SqliteFile) Commit(c *Conn) error {
	err := repeatWhileBusy(func() error { _, err := c.Exec("COMMIT"); return err })
	if err == nil && d.bell != nil {
		_ = d.bell.ring() // on a full disk others see the commit with their next look
	}
	return err
}

// announce implements [transactor]: a commit rings.
func (d *SqliteFile) announce(*Conn, []Changes) error { return nil }

// mayRepeat implements [transactor]: begin has waited for the lock.
func (d *SqliteFile) mayRepeat(*Conn, error) bool { return false }

// afterCommit implements [transactor].
func (d *SqliteFile) afterCommit(c *Conn, n int) {
	d.checkpointer.addWrites(n)
	if err := d.truncate(c); err != nil {
		d.log.Warn("Emptying the write-ahead log of the journal failed", zap.Error(d.explain(err)))
	}
}

// resultCode returns SQLite's result code in err, 0 if there is none.
func resultCode(err error) int {
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

// Failure implements [diagnoser].
func (d *SqliteFile) Failure(err error) error {
	if _, ok := advice[resultCode(err)]; !ok {
		return err
	}
	return unavailable(d, err)
}

// explain implements [diagnoser]. It adds the file, and what to do, to an error about it.
func (d *SqliteFile) explain(err error) error {
	if err == nil {
		return nil
	}
	where := "journal " + d.path
	if d.path == "" {
		where = "journal in memory"
	}
	hint := advice[resultCode(err)]
	if errors.Is(err, fs.ErrPermission) {
		hint = advice[sqlite3.SQLITE_PERM]
	}
	if hint == "" {
		return fmt.Errorf("%s: %w", where, err)
	}
	return fmt.Errorf("%s: %w (%s)", where, err, hint)
}

// checkpoint moves what it can from the write-ahead log to the file without
// blocking others.
func (d *SqliteFile) checkpoint(c *Conn) error {
	var blocked, length, moved int64
	_, err := c.Get("PRAGMA wal_checkpoint(PASSIVE)", nil, &blocked, &length, &moved)
	return err
}

// truncate empties the write-ahead log if it has grown too long. It blocks writers
// meanwhile, and soon returns an error if another connection holds a lock.
func (d *SqliteFile) truncate(c *Conn) error {
	if d.path == "" {
		return nil
	}
	info, err := os.Stat(d.path + "-wal")
	if err != nil || info.Size() < maxLog {
		return err
	}
	var blocked, length, moved int64
	_, err = c.Get("PRAGMA wal_checkpoint(TRUNCATE)", nil, &blocked, &length, &moved)
	return err
}

const (
	lockWait  = 10 * time.Second       // for the write lock, while another process holds it
	lockPause = 500 * time.Microsecond // between two attempts to get it
)

// repeatWhileBusy repeats do while another connection holds the lock.
func repeatWhileBusy(do func() error) error {
	for deadline := time.Now().Add(lockWait); ; {
		err := do()
		if resultCode(err) != sqlite3.SQLITE_BUSY || time.Now().After(deadline) {
			return err
		}
		time.Sleep(lockPause)
	}
}
