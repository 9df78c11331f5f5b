package db

import (
	"context"
	"fmt"
	"strings"

	"go.uber.org/zap"

	"longhaul/opt"
)

// A Config says where a database is, and how it is used.
type Config struct {
	Path        string      // of a file, made when missing; "" keeps it in memory
	URL         string      // of a PostgreSQL database, in place of a file
	Sync        string      // "full" survives a power loss; with "normal" one may lose the last moments; "" means "full"
	Alone       bool        // no other process works with the file: its commits are noticed within a second
	Log         *zap.Logger // required
	Sealer      Sealer      // of contents; nil refuses them
	Seal        bool        // seals the contents that are written
	Connections int         // to PostgreSQL, at most; 0 means DefaultConnections
	Migrate     bool        // bring the tables in PostgreSQL up to date
	Observer    Observer    // required
	Template    *Template   // of the tables of a database in memory; nil makes them
	Fold        string      // a statement that PostgreSQL runs after some writes, with the number of the lock $1; "" for none
}

// ErrClosed is wrapped by errors of calls to a database that was closed.
var ErrClosed = fmt.Errorf("%w: the journal is closed", opt.ErrUnavailable)

// A role is what a connection is for.
type role string

const (
	Writing       role = "writing"
	reading       role = "reading"
	Checkpointing role = "checkpointing"
)

// A database keeps a journal: a SQLite file, or PostgreSQL.
type database interface {
	connector
	transactor
	diagnoser
	maintainer

	// signalCommits signals watches on commits of other processes, until ctx ends.
	signalCommits(ctx context.Context, ws *watches)
	close() error
}

// A connector makes connections.
type connector interface {
	// open opens a connection for a role.
	open(ctx context.Context, r role) (*Conn, error)
	// prepare makes the database a journal with all its tables, if that is wanted.
	prepare(c *Conn) error
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
	// Begin begins a transaction. No other transaction with one of the locks, in
	// whichever process, runs until this one has ended.
	Begin(c *Conn, locks []string) error
	Commit(c *Conn) error
	// announce notifies other processes of changes, within the transaction that makes
	// them.
	announce(c *Conn, list []Changes) error
	// mayRepeat reports whether a transaction that failed before its commit should be
	// repeated: after a deadlock, a lock timeout or a lost connection.
	mayRepeat(c *Conn, err error) bool
	// afterCommit is called after n writes were committed on c.
	afterCommit(c *Conn, n int)
}

// A diagnoser makes errors of the database understandable.
type diagnoser interface {
	// Failure wraps errors of the database in [opt.ErrUnavailable], and does not
	// change other errors.
	Failure(err error) error
	// explain adds to an error where the database is, and what to do; nil stays nil.
	explain(err error) error
}

// A maintainer measures, checks and compacts the database.
type maintainer interface {
	// Measure returns the size of the journal.
	Measure(c *Conn) (Size, error)
	// Inspect describes damage that the database finds in itself.
	Inspect(c *Conn) ([]string, error)
	// Unlimited lets statements on c take as long as they need.
	Unlimited(c *Conn) error
	// Rest gives the memory of c's cache back.
	Rest(c *Conn) error
	// Compact gives the room of removed data back.
	Compact(c *Conn) error
}

// A Size says how much room a journal takes, in bytes.
type Size struct {
	Bytes int64
	Free  int64 // of Bytes, for new data; 0 if the database does not report it
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

// Changes are what one write has changed, for those who wait for it. In PostgreSQL other processes
// are notified of them.
type Changes struct {
	Seqs  map[string]int64 `json:"seqs,omitempty"`  // of the last events, by objective
	Moves map[string]bool  `json:"moves,omitempty"` // objectives of these whose root tasks neither ended nor began to wait
	Gone  []string         `json:"gone,omitempty"`  // objectives that were removed
	Due   bool             `json:"due,omitempty"`   // deliveries became due
}

// Recorded notes that an objective has events up to seq. It moves if its root task has neither ended nor begun to wait
// with the new ones.
func (ch *Changes) Recorded(objectiveID string, seq int64, moves bool) {
	if ch.Seqs == nil {
		ch.Seqs, ch.Moves = map[string]int64{}, map[string]bool{}
	}
	if _, known := ch.Seqs[objectiveID]; !moves {
		delete(ch.Moves, objectiveID)
	} else if !known {
		ch.Moves[objectiveID] = true
	}
	ch.Seqs[objectiveID] = max(ch.Seqs[objectiveID], seq)
}
