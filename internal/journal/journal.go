// Package journal is the read model on SQLite: all that clients see of
// objectives, plans, tasks, messages and artifacts. Workflows decide and record
// batches of numbered events, which carry new values. [Journal.Record] writes
// these into rows and keeps the events, in one transaction; it applies no rules
// of the model. It checks three things: the number of an event within its source,
// the attempt that an event comes from, and that the subject of an event exists.
// All reads come from here, so they work while no worker runs.
//
// Columns and members of documents are added, never renamed. Nothing else imports
// database/sql.
package journal

import (
	"context"
	"fmt"
	"time"

	"go.uber.org/zap"

	"longhaul/opt"
)

// Config says where a journal is kept.
type Config struct {
	Path string      // of the file, made when missing; empty keeps it in memory
	Sync string      // "full" survives a power loss; with "normal" one may lose the last moments; empty means "full"
	Log  *zap.Logger // nil discards logs

	Sealer Sealer           // of the secrets of push configs; nil refuses those
	Now    func() time.Time // for push configs and deliveries; nil: time.Now

	Channels []opt.Channel // that get notices about gates

	Template *Template // of the tables of a journal in memory, for tests; nil makes them
}

// A Journal is an open journal. Its methods may be called from any goroutine,
// and other processes may have the same file open.
type Journal struct {
	*store
	*probe
	taskReader
	objectiveReader
	decisionReader
	eventReader
	queues
	blobs
	keys
	deliveries
	apiKeys
	signingKeys
	keeper
}

// ErrClosed is wrapped by errors of calls to a journal that was closed.
var ErrClosed = fmt.Errorf("%w: the journal is closed", opt.ErrUnavailable)

// Open opens the journal of cfg, makes it when missing, and brings its tables up
// to date. A file of another program, or with tables that this one does not know,
// is refused. ctx governs the opening only.
func Open(ctx context.Context, cfg Config) (*Journal, error) {
	if cfg.Log == nil {
		cfg.Log = zap.NewNop()
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	s, err := openStore(ctx, cfg)
	if err != nil {
		return nil, err
	}
	return &Journal{
		s, newProbe(s), newTaskReader(s), objectiveReader{s}, decisionReader{s}, eventReader{s}, queues{s}, blobs{s}, keys{s},
		deliveries{pushes{s, cfg.Sealer, cfg.Now}}, apiKeys{s}, signingKeys{s, cfg.Sealer}, keeper{s},
	}, nil
}
