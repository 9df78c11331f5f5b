package journal

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"longhaul/opt"
)

// A role is what a connection is for.
type role string

const (
	writing       role = "writing"
	reading       role = "reading"
	checkpointing role = "checkpointing"
)

// A database keeps a journal: a SQLite file, or PostgreSQL.
type database interface {
	connector
	transactor
	diagnoser
	maintainer

	// missing returns the names of the migrations that the journal still needs.
	missing(ctx context.Context) ([]string, error)
	// follow signals watches on commits of other processes, until ctx ends.
	signalCommits(ctx context.Context, ws *watches)
	close() error
}

// A connector makes connections.
type connector interface {
	// ready makes the database a journal with all its tables, and returns a
	// connection that writes.
	ready(ctx context.Context) (*conn, error)
	// connect returns another connection to a journal that is ready.
	connect(ctx context.Context, r role) (*conn, error)
	size() size
}

// A size says how many connections a journal uses.
type size struct {
	writers, readers int
	group            int  // writes that are committed together, at most
	singleWriter     bool // a transaction locks the whole journal, so further writes may join it
}

// A transactor carries out the steps around writes.
type transactor interface {
	// begin begins a transaction. No other transaction with one of the locks, in
	// whichever process, runs until this one has ended.
	begin(c *conn, locks []string) error
	commit(c *conn) error
	// announce notifies other processes of changes, within the transaction that makes
	// them.
	announce(c *conn, list []changes) error
	// repeats reports whether a transaction that failed before its commit should be
	// repeated: after a deadlock, a lock timeout or a lost connection.
	mayRepeat(c *conn, err error) bool
	// wrote is called after n writes were committed on c.
	afterCommit(c *conn, n int)
}

// A diagnoser makes errors of the database understandable.
type diagnoser interface {
	// failure wraps errors of the database in [opt.ErrUnavailable], and does not
	// change other errors.
	failure(err error) error
	// explain adds to an error where the database is, and what to do.
	explain(err error) error
}

// unavailable wraps err in [opt.ErrUnavailable].
func unavailable(d diagnoser, err error) error {
	if errors.Is(err, opt.ErrUnavailable) {
		return err
	}
	return fmt.Errorf("%w: %w", opt.ErrUnavailable, d.explain(err))
}

// A maintainer measures, checks and compacts the database.
type maintainer interface {
	// measure returns the size of the journal.
	measure(c *conn) (Size, error)
	// inspect describes damage that the database finds in itself.
	inspect(c *conn) ([]string, error)
	// unlimited lets statements on c take as long as they need.
	unlimited(c *conn) error
	// compact gives the room of removed data back.
	compact(c *conn) error
}

// openDatabase prepares the database of cfg without reading it.
func openDatabase(cfg Config) (database, error) {
	if cfg.URL == "" {
		return openSQLite(cfg)
	}
	switch {
	case cfg.Path != "" || cfg.Template != nil:
		return nil, fmt.Errorf("a journal in PostgreSQL has no file and no template: %w", opt.ErrMalformed)
	case !IsPostgres(cfg.URL):
		return nil, fmt.Errorf("%w: the URL of the journal must begin with postgres://", opt.ErrMalformed)
	}
	return openPostgres(cfg)
}

// IsPostgres reports whether a URL is that of a PostgreSQL database.
func IsPostgres(rawURL string) bool {
	return strings.HasPrefix(rawURL, "postgres://") || strings.HasPrefix(rawURL, "postgresql://")
}

// changes are what one write has changed, for those who wait for it.
type changes struct {
	seqs map[string]int64 // of the last events, by objective
	gone []string         // objectives that were removed
	due  bool             // deliveries became due
}

// recorded notes that an objective has events up to seq.
func (ch *changes) recorded(objectiveID string, seq int64) {
	if ch.seqs == nil {
		ch.seqs = map[string]int64{}
	}
	ch.seqs[objectiveID] = seq
}

// The locks of writes.

func objectiveLock(id string) string { return "objective " + id }
func contextLock(tenant, contextID string) string {
	return fmt.Sprintf("context %q %q", tenant, contextID)
}

const (
	purgeLock      = "purge"
	tallyLock      = "tallies"
	foldLock       = "fold tallies"
	probeLock      = "probe"
	signingKeyLock = "signing keys"
)
