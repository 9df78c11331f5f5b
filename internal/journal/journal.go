package journal

import (
	"cmp"
	"context"
	"sync/atomic"
	"time"

	"go.uber.org/zap"

	"longhaul/internal/journal/db"
	"longhaul/opt"
)

// Config says where a journal is kept.
type Config struct {
	Path string      // of the file, made when missing; empty keeps it in memory
	URL  string      // of a PostgreSQL database, in place of a file
	Sync string      // "full" survives a power loss; with "normal" one may lose the last moments; empty means "full"
	Log  *zap.Logger // nil discards logs

	Sealer db.Sealer        // of secrets of push configs and sessions, and of contents; nil refuses those
	Seal   bool             // seals the contents that are written
	Now    func() time.Time // for push configs, deliveries and sessions; nil: time.Now

	Channels []opt.Channel // that get notices about gates

	Connections int  // to PostgreSQL, at most; 0 means DefaultConnections
	Migrate     bool // bring the tables in PostgreSQL up to date; without it, old ones are refused. A file is always brought up to date

	Observer db.Observer    // nil for none
	Recorded func(Recorded) // is called after each Record that has added events, also from several goroutines; nil for nothing

	Template *db.Template // of the tables of a journal in memory, for tests; nil makes them
}

// A Journal is an open journal. Its methods may be called from any goroutine,
// and other processes may have the same journal open.
type Journal struct {
	*store
	*probe
	taskReader
	objectiveReader
	objectiveFinder
	decisionReader
	eventReader
	queues
	blobs
	keys
	deliveries
	apiKeys
	signingKeys
	sessions
	maintenance
	usage
}

// A store is the open database of a journal, which all parts of the journal use.
type store struct {
	*db.Engine
	channels atomic.Pointer[[]opt.Channel] // for notices
	recorded func(Recorded)                // nil for nothing
}

func openStore(ctx context.Context, cfg Config) (*store, error) {
	e, err := db.Open(ctx, cfg.engine())
	if err != nil {
		return nil, err
	}
	s := &store{Engine: e, recorded: cfg.Recorded}
	s.SetChannels(cfg.Channels)
	return s, nil
}

// SetChannels replaces the channels for which the journal makes notices.
func (s *store) SetChannels(list []opt.Channel) { s.channels.Store(&list) }

// engine returns the settings of the database.
func (c Config) engine() db.Config {
	out := db.Config{
		Path: c.Path, URL: c.URL, Sync: c.Sync, Log: cmp.Or(c.Log, zap.NewNop()), Sealer: c.Sealer, Seal: c.Seal, Connections: c.Connections, Migrate: c.Migrate,
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
	s, err := openStore(ctx, cfg)
	if err != nil {
		return nil, err
	}
	return &Journal{
		s, newProbe(s), newTaskReader(s), objectiveReader{s}, objectiveFinder{s}, decisionReader{s}, eventReader{s}, queues{s}, blobs{s}, keys{s},
		deliveries{pushes{s, cfg.Sealer, cfg.Now}}, apiKeys{s}, signingKeys{s, cfg.Sealer}, sessions{s, cfg.Sealer, cfg.Now}, maintenance{s}, usage{s, cfg.Now},
	}, nil
}
