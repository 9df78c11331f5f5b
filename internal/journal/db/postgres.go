package db

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"
	"go.uber.org/zap"

	"longhaul/opt"
)

const (
	lockLimit      = 5 * time.Second  // for the locks of a transaction
	readLimit      = 8 * time.Second  // of one statement that reads, on the server
	statementLimit = 15 * time.Second // of any other one
	answerAfter    = 3 * time.Second  // a limit, a server that is silent counts as lost
	channel        = "longhaul_journal"
	// DefaultConnections is the number of connections to PostgreSQL that one process
	// makes at most.
	DefaultConnections = 10
	leastConnections   = 3
)

// A Postgres is a PostgreSQL database. Several processes write at a time; locks that
// writes name keep those apart that need it.
type Postgres struct {
	cfg     *pgx.ConnConfig
	pool    *sql.DB // makes connections for writing
	readers *sql.DB // makes connections for reading
	most    int     // connections
	migrate bool
	fold    string // of [Config]
	log     *zap.Logger
	to      Observer
	writes  atomic.Int64 // since this process folded the tallies
}

// openPostgres prepares connections to the database of cfg.
func openPostgres(cfg Config) (*Postgres, error) {
	config, err := pgx.ParseConfig(cfg.URL)
	if err != nil {
		return nil, fmt.Errorf("%w: the URL of the journal is not one of PostgreSQL: %w", opt.ErrMalformed, err)
	}
	d := &Postgres{cfg: config, most: cfg.Connections, migrate: cfg.Migrate, fold: cfg.Fold, log: cfg.Log, to: cfg.Observer}
	d.most = cmp.Or(d.most, DefaultConnections)
	if d.most < leastConnections {
		return nil, fmt.Errorf("%w: a journal needs at least %d connections", opt.ErrMalformed, leastConnections)
	}
	config.ConnectTimeout = cmp.Or(config.ConnectTimeout, 5*time.Second)
	set := func(c *pgx.ConnConfig, name, value string) {
		if _, given := c.RuntimeParams[name]; !given {
			c.RuntimeParams[name] = value
		}
	}
	set(config, "application_name", "longhaul")
	reading := config.Copy()
	set(config, "statement_timeout", millis(statementLimit))
	set(config, "lock_timeout", millis(lockLimit))
	set(reading, "statement_timeout", millis(readLimit))
	// A process that hangs must release its locks.
	set(config, "idle_in_transaction_session_timeout", millis(statementLimit))
	// Every query is a lookup by an index, in its order. Plans must not depend on statistics, which new
	// tables do not have. A node that remembers rows ("memoize") begins with space for all rows of its
	// table, which takes longer than a page of a list.
	for _, way := range []string{"enable_seqscan", "enable_bitmapscan", "enable_sort", "enable_hashjoin", "enable_mergejoin", "enable_memoize", "jit"} {
		set(config, way, "off")
		set(reading, way, "off")
	}
	set(reading, "application_name", "longhaul")
	set(reading, "default_transaction_read_only", "on")
	d.pool, d.readers = stdlib.OpenDB(*config), stdlib.OpenDB(*reading)
	for _, pool := range []*sql.DB{d.pool, d.readers} {
		pool.SetMaxIdleConns(0) // the journal keeps its connections itself
	}
	return d, nil
}

func millis(d time.Duration) string { return fmt.Sprint(d.Milliseconds()) }

// size implements [connector]. One more connection listens.
func (d *Postgres) size() size {
	writers := max(1, min(4, (d.most-1)/3))
	return size{writers: writers, readers: d.most - 1 - writers, group: 64}
}

// open implements [connector].
func (d *Postgres) open(ctx context.Context, r role) (*Conn, error) {
	pool, limit := d.pool, statementLimit
	if r == reading {
		pool, limit = d.readers, readLimit
	}
	raw, err := pool.Conn(ctx)
	if err != nil {
		return nil, err
	}
	return &Conn{
		Raw: raw, stmts: map[string]*sql.Stmt{}, Dialect: inPostgres, server: true, limit: limit + answerAfter,
		snapshot: "BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY",
	}, nil
}

// prepare implements [connector].
func (d *Postgres) prepare(c *Conn) error {
	if !d.migrate {
		return requireTables(c)
	}
	list, err := c.Dialect.Migrations()
	if err == nil {
		err = d.Update(c, list)
	}
	return err
}

// Update brings the tables up to date. Several processes may do so at a time.
func (d *Postgres) Update(c *Conn, list []Migration) error {
	if err := c.Script("SET statement_timeout = 0"); err != nil { // a change of large tables takes long
		return err
	}
	c.limit = 0
	apply := func() error { _, err := Apply(c, list); return err }
	err := transact(d, c, []string{"migrations"}, apply)
	for tries := 1; err != nil && d.mayRepeat(c, err) && tries < migrateTries; tries++ {
		err = transact(d, c, []string{"migrations"}, apply)
	}
	if err != nil {
		return err
	}
	c.limit = statementLimit + answerAfter
	return c.Script("SET statement_timeout = " + millis(statementLimit))
}

// migrateTries is how often migrations are tried: while others write, they may not get the
// locks of their tables in time, or be chosen to end a deadlock.
const migrateTries = 10

func (d *Postgres) close() error { return errors.Join(d.pool.Close(), d.readers.Close()) }

// Begin implements [transactor]. The locks are taken in one order, so that two
// transactions never wait for each other's locks.
func (d *Postgres) Begin(c *Conn, locks []string) error {
	if _, err := c.Exec("BEGIN"); err != nil || len(locks) == 0 {
		return err
	}
	numbers := make([]int64, len(locks))
	for i, name := range locks {
		numbers[i] = LockNumber(name)
	}
	slices.Sort(numbers)
	_, err := c.Exec("SELECT pg_advisory_xact_lock(n) FROM unnest($1::bigint[]) AS n", slices.Compact(numbers))
	return err
}

// Commit implements [transactor].
func (d *Postgres) Commit(c *Conn) error {
	_, err := c.Exec("COMMIT")
	return err
}

// mayRepeat implements [transactor].
func (d *Postgres) mayRepeat(c *Conn, err error) bool {
	var e *pgconn.PgError
	if errors.As(err, &e) {
		return slices.Contains([]string{"40001", "40P01", "55P03"}, e.Code) || isServerGone(e.Code) // serialisation failure, deadlock, no lock in time
	}
	return c == nil && isUnreachable(err) || c != nil && c.broken()
}

// afterCommit implements [transactor]. It folds from time to time.
func (d *Postgres) afterCommit(c *Conn, n int) {
	if d.fold == "" || d.writes.Add(int64(n)) < FoldAfter {
		return
	}
	d.writes.Store(0)
	if _, err := c.Exec(d.fold, LockNumber(FoldLock)); err != nil {
		d.log.Warn("Adding up the tallies of the journal failed", zap.Error(d.explain(err)))
	}
}

// FoldAfter is the number of writes of a process after which it folds.
const FoldAfter = 256

const FoldLock = "fold tallies"

// isServerGone reports whether a code of an error says that the server is stopping, starting,
// or no longer the one that writes.
func isServerGone(code string) bool {
	return strings.HasPrefix(code, "57P0") || strings.HasPrefix(code, "08") || code == "25006"
}

// isUnreachable reports whether err says that there is no connection.
func isUnreachable(err error) bool {
	var connect *pgconn.ConnectError
	var network net.Error
	return errors.As(err, &connect) || errors.As(err, &network)
}

// isLost reports whether err says that a connection was lost, or that there is none.
func isLost(err error) bool {
	ended := func(as error) bool { return errors.Is(err, as) }
	return isUnreachable(err) || pgconn.SafeToRetry(err) || pgconn.Timeout(err) || slices.ContainsFunc([]error{sql.ErrConnDone, errUnended, net.ErrClosed}, ended)
}

// Failure implements [diagnoser].
func (d *Postgres) Failure(err error) error {
	var e *pgconn.PgError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &e):
		class := e.Code[:min(2, len(e.Code))]
		if !isServerGone(e.Code) && !slices.Contains([]string{"40", "53", "55", "57", "58", "XX"}, class) {
			return err
		}
	case !isLost(err):
		return err
	}
	return unavailable(d, err)
}

// postgresAdvice says what to do about the codes of errors.
var postgresAdvice = map[string]string{
	"28000": "give the user in the URL of the journal the right to log in",
	"28P01": "correct the password in the URL of the journal",
	"3D000": "create the database, or correct its name in the URL of the journal",
	"42501": "make the user in the URL of the journal the owner of the database or of its schema",
	"53100": "make room on the disk of PostgreSQL",
	"53300": "raise max_connections of PostgreSQL, or give each process fewer with --journal-connections",
	"25006": "let the URL of the journal name the server that writes, not a replica",
}

// Place names the database of a URL, without secrets.
func Place(rawURL string) string {
	cfg, err := pgx.ParseConfig(rawURL)
	if err != nil {
		return "of PostgreSQL"
	}
	return place(cfg)
}

func place(cfg *pgx.ConnConfig) string {
	return fmt.Sprintf("%s on %s", cfg.Database, net.JoinHostPort(cfg.Host, fmt.Sprint(cfg.Port)))
}

// explain implements [diagnoser]. It adds the database, and what to do, to an error about it.
func (d *Postgres) explain(err error) error {
	if err == nil {
		return nil
	}
	where := "journal " + place(d.cfg)
	var e *pgconn.PgError
	if errors.As(err, &e) && postgresAdvice[e.Code] != "" {
		return fmt.Errorf("%s: %w (%s)", where, err, postgresAdvice[e.Code])
	}
	if isUnreachable(err) && !errors.As(err, &e) {
		return fmt.Errorf("%s: %w (start PostgreSQL, or correct the URL of the journal)", where, err)
	}
	return fmt.Errorf("%s: %w", where, err)
}
