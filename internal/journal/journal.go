package journal

import (
	"cmp"
	"context"
	"time"

	"go.uber.org/zap"

	"longhaul/internal/journal/absence"
	"longhaul/internal/journal/db"
	"longhaul/internal/journal/push"
	"longhaul/internal/journal/standing"
	"longhaul/opt/outbox"
)

// Config says where a journal is kept.
type Config struct {
	Path  string      // of the file, made when missing; empty keeps it in memory
	URL   string      // of a PostgreSQL database, in place of a file
	Alone bool        // no other process works with the file: commits of others, such as commands that restore objectives, are noticed within a second
	Sync  string      // "full" survives a power loss; with "normal" one may lose the last moments; empty means "full"
	Log   *zap.Logger // nil discards logs

	Sealer db.Sealer        // of secrets of push configs and sessions, and of contents; nil refuses those
	Seal   bool             // seals the contents that are written
	Now    func() time.Time // for push configs, deliveries and sessions; nil: time.Now

	Channels []outbox.Channel // that get notices about gates

	Connections int  // to PostgreSQL, at most; 0 means DefaultConnections
	Migrate     bool // bring the tables in PostgreSQL up to date; without it, old ones are refused. A file is always brought up to date

	Observer db.Observer    // nil for none
	Recorded func(Recorded) // is called after each Record that has added events, also from several goroutines; nil for nothing

	Template *db.Template // of the tables of a journal in memory, for tests; nil makes them
}

// A Journal is an open journal. Its methods may be called from any goroutine,
// and other processes may have the same journal open.
type Journal struct {
	recorder
	taskReader
	objectiveReader
	objectiveFinder
	costReader
	decisionReader
	eventReader
	queues
	usage
	purger
	*probe
	Blobs
	Keys

	Pushes      push.Store
	APIKeys     APIKeys
	SigningKeys SigningKeys
	Standing    standing.Store
	Absences    absence.Store
	Sessions    Sessions
	Maintenance Maintenance
	Disk        *Disk

	db *db.Engine
}

// Watch begins to watch an objective, which need not exist yet. A read after
// Watch misses nothing. Close the watch in the end.
func (j *Journal) Watch(objectiveID string) *Watch { return j.db.Watch(objectiveID) }

// Activity returns what the journal does now.
func (j *Journal) Activity() Activity { return j.db.Activity() }

// Close waits for the calls that have begun, refuses later ones, and closes the
// database. It may be called more than once.
func (j *Journal) Close() error { return j.db.Close() }

// engine returns the settings of the database.
func (c Config) engine() db.Config {
	out := db.Config{
		Path: c.Path, URL: c.URL, Sync: c.Sync, Alone: c.Alone, Log: cmp.Or(c.Log, zap.NewNop()), Sealer: c.Sealer, Seal: c.Seal, Connections: c.Connections, Migrate: c.Migrate,
		Observer: c.Observer, Template: c.Template, Fold: foldTallies,
	}
	if out.Observer == nil {
		out.Observer = db.Unobserved{}
	}
	return out
}

// Migrate brings the tables of a journal up to date and returns the names of the
// migrations that it has applied.
func Migrate(ctx context.Context, cfg Config) (names []string, err error) {
	cfg.Migrate = true
	return db.Migrate(ctx, cfg.engine())
}

// Open opens the journal of cfg. A file is made when missing, and its tables are
// brought up to date. A file of another program, or tables that this program cannot
// work with, are refused. ctx governs the opening only.
func Open(ctx context.Context, cfg Config) (*Journal, error) {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	e, err := db.Open(ctx, cfg.engine())
	if err != nil {
		return nil, err
	}
	r := newRecorder(e, cfg)
	return &Journal{
		recorder: r, taskReader: newTaskReader(e), objectiveReader: objectiveReader{e}, objectiveFinder: objectiveFinder{e}, costReader: costReader{e},
		decisionReader: decisionReader{e}, eventReader: eventReader{e}, queues: queues{e}, usage: usage{e, cfg.Now, &settled{}},
		purger: purger{e, cfg.Now}, probe: newProbe(e), Blobs: Blobs{e}, Keys: Keys{e},
		Pushes: push.New(e, cfg.Sealer, cfg.Now, Keys{e}), APIKeys: APIKeys{e}, SigningKeys: SigningKeys{e, cfg.Sealer},
		Sessions: Sessions{e, cfg.Sealer, cfg.Now}, Maintenance: Maintenance{e, r}, Disk: &Disk{e, newTrial()},
		Standing: standing.New(e, cfg.Now), Absences: absence.New(e, cfg.Now), db: e,
	}, nil
}

// What the database of a journal is for those who use the journal.
type (
	Watch    = db.Watch    // signals commits to an objective
	Size     = db.Size     // of a journal
	Activity = db.Activity // of this process
	Template = db.Template // of the tables of journals in memory
	Observer = db.Observer // of what happens inside a journal
	Sealer   = db.Sealer   // of contents and secrets
)

// ErrClosed is wrapped by errors of calls to a journal that was closed.
var ErrClosed = db.ErrClosed

// DefaultConnections is how many connections to PostgreSQL a process has.
const DefaultConnections = db.DefaultConnections

// NewTemplate makes a template by all migrations.
func NewTemplate(ctx context.Context) (*Template, error) { return db.NewTemplate(ctx) }

// Place names the database of a URL, without secrets.
func Place(rawURL string) string { return db.Place(rawURL) }
