package journal

import (
	"context"

	"longhaul/internal/journal/db"
)

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

// IsPostgres reports whether a URL is that of a PostgreSQL database.
func IsPostgres(rawURL string) bool { return db.IsPostgres(rawURL) }

// Place names the database of a URL, without secrets.
func Place(rawURL string) string { return db.Place(rawURL) }
