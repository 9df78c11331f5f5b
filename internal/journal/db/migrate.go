package db

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"
	"time"
)

// Migrations are applied in the order of the number that their names begin with. Each is two
// files, one for each database. One that has been released is never edited.
//
//go:embed migrations/*.sql
var migrations embed.FS

type Migration struct {
	Version int64
	Name    string
	Text    string
}

// Migrations lists the migrations of this program for a database, oldest first.
func (d Dialect) Migrations() ([]Migration, error) {
	end := "." + d.name + ".sql"
	names, err := fs.Glob(migrations, "migrations/*"+end)
	if err != nil {
		return nil, err
	}
	var out []Migration
	for _, path := range names {
		text, err := migrations.ReadFile(path)
		if err != nil {
			return nil, err
		}
		name := strings.TrimSuffix(strings.TrimPrefix(path, "migrations/"), end)
		number, _, _ := strings.Cut(name, "_")
		version, err := strconv.ParseInt(number, 10, 64)
		if err != nil {
			return nil, fmt.Errorf("migration %s does not begin with a number", name)
		}
		out = append(out, Migration{version, name, string(text)})
	}
	return out, nil
}

// breaking ends the name of a migration with whose tables older programs cannot work.
// After all others they can: a migration adds.
const breaking = "_breaking"

// Apply runs the migrations of a list that are missing within a transaction, also one with a
// number below others that were applied.
func Apply(c *Conn, list []Migration) (changed bool, err error) {
	if _, err := c.Exec(`CREATE TABLE IF NOT EXISTS migrations (
		version BIGINT NOT NULL PRIMARY KEY, name TEXT NOT NULL, applied_at BIGINT NOT NULL)`); err != nil {
		return false, err
	}
	have, err := appliedMigrations(c, list)
	if err != nil {
		return false, err
	}
	for _, m := range list {
		if have[m.Version] {
			continue
		}
		if err := c.Script(m.Text); err != nil {
			return false, fmt.Errorf("migration %s: %w", m.Name, err)
		}
		if _, err := c.Exec("INSERT INTO migrations (version, name, applied_at) VALUES ($1, $2, $3)", m.Version, m.Name, time.Now().UnixMilli()); err != nil {
			return false, err
		}
		changed = true
	}
	return changed, nil
}

// appliedMigrations returns the versions of the migrations of a journal, or an error if this
// program cannot work with its tables. It can if a newer program has only added.
func appliedMigrations(c *Conn, list []Migration) (have map[int64]bool, err error) {
	knows := map[int64]bool{}
	for _, m := range list {
		knows[m.Version] = true
	}
	latest := list[len(list)-1].Version
	have = map[int64]bool{}
	var unknown *Migration
	err = c.Each("SELECT version, name FROM migrations ORDER BY version", nil, func(row Scanner) error {
		var m Migration
		err := row.Scan(&m.Version, &m.Name)
		added := m.Version > latest && !strings.HasSuffix(m.Name, breaking)
		if have[m.Version] = true; !knows[m.Version] && !added {
			unknown = &m
		}
		return err
	})
	if err == nil && unknown != nil {
		err = fmt.Errorf("it has tables of version %d (%s), and this program knows up to %d: a newer Longhaul or a build before v0.1.0 has written it; "+
			"run that program, or give this one a --data-dir or --journal of its own", unknown.Version, unknown.Name, latest)
	}
	return have, err
}

// ready makes a database a journal with all its tables, and returns a connection that writes.
func ready(ctx context.Context, db database) (*Conn, error) {
	c, err := db.open(ctx, Writing)
	if err != nil {
		return nil, db.explain(err)
	}
	if err := db.prepare(c); err != nil {
		return nil, errors.Join(db.explain(err), c.Close())
	}
	return c, nil
}

// connect returns another connection to a journal that is ready. It fails if a newer program has made
// the tables unusable meanwhile.
func connect(ctx context.Context, db database, r role) (*Conn, error) {
	c, err := db.open(ctx, r)
	if err != nil {
		return nil, unavailable(db, err)
	}
	if err := requireTables(c); err != nil {
		return nil, errors.Join(unavailable(db, err), c.Close())
	}
	return c, nil
}

// requireTables refuses a database with old tables, or none.
func requireTables(c *Conn) error {
	names, err := missingMigrations(c)
	if err == nil && len(names) > 0 {
		err = fmt.Errorf("its tables are missing or older than this program, without %s: run the command migrate", strings.Join(names, ", "))
	}
	return err
}

// missingMigrations returns the names of the migrations that a journal still needs.
func missingMigrations(c *Conn) (names []string, err error) {
	list, err := c.Dialect.Migrations()
	if err != nil {
		return nil, err
	}
	found, err := c.Get(c.Dialect.tables, nil, new(int))
	if err != nil {
		return nil, err
	}
	have := map[int64]bool{}
	if found {
		have, err = appliedMigrations(c, list)
	}
	for _, m := range list {
		if !have[m.Version] {
			names = append(names, m.Name)
		}
	}
	return names, err
}
