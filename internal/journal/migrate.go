package journal

import (
	"embed"
	"fmt"
	"io/fs"
	"strconv"
	"strings"
	"time"
)

// Migrations are applied in the order of the number that their names begin
// with. One that has been released is never edited.
//
//go:embed migrations/*.sql
var migrations embed.FS

type migration struct {
	version int64
	name    string
	text    string
}

// known lists the migrations of this program, oldest first.
func known() ([]migration, error) {
	names, err := fs.Glob(migrations, "migrations/*.sql")
	if err != nil {
		return nil, err
	}
	var out []migration
	for _, path := range names {
		text, err := migrations.ReadFile(path)
		if err != nil {
			return nil, err
		}
		name := strings.TrimSuffix(strings.TrimPrefix(path, "migrations/"), ".sql")
		number, _, _ := strings.Cut(name, "_")
		version, err := strconv.ParseInt(number, 10, 64)
		if err != nil {
			return nil, fmt.Errorf("migration %s does not begin with a number", name)
		}
		out = append(out, migration{version, name, string(text)})
	}
	return out, nil
}

// migrate updates the tables, or refuses those of a newer program. sign is called
// when they were changed. Several processes may migrate at a time.
func migrate(c *conn, sign func(*conn) error) error {
	list, err := known()
	if err != nil {
		return err
	}
	if err := patiently(nil, func() error { _, err := c.exec("BEGIN IMMEDIATE"); return err }); err != nil {
		return err
	}
	changed, err := apply(c, list)
	if err == nil && changed {
		err = sign(c)
	}
	if err == nil {
		_, err = c.exec("COMMIT")
	}
	if err != nil {
		_, _ = c.exec("ROLLBACK") // the first error is the cause
	}
	return err
}

// apply runs the missing migrations within a transaction, also one with a number
// below others that were applied.
func apply(c *conn, list []migration) (changed bool, err error) {
	if _, err := c.exec(`CREATE TABLE IF NOT EXISTS migrations (
		version BIGINT NOT NULL PRIMARY KEY, name TEXT NOT NULL, applied_at BIGINT NOT NULL)`); err != nil {
		return false, err
	}
	have, err := applied(c, list)
	if err != nil {
		return false, err
	}
	for _, m := range list {
		if have[m.version] {
			continue
		}
		if err := c.script(m.text); err != nil {
			return false, fmt.Errorf("migration %s: %w", m.name, err)
		}
		if _, err := c.exec("INSERT INTO migrations (version, name, applied_at) VALUES ($1, $2, $3)", m.version, m.name, time.Now().UnixMilli()); err != nil {
			return false, err
		}
		changed = true
	}
	return changed, nil
}

// applied returns the versions of the migrations of a journal, or an error if
// this program does not know one of them.
func applied(c *conn, list []migration) (have map[int64]bool, err error) {
	knows := map[int64]bool{}
	for _, m := range list {
		knows[m.version] = true
	}
	have = map[int64]bool{}
	var unknown *migration
	err = c.each("SELECT version, name FROM migrations ORDER BY version", nil, func(row scanner) error {
		var m migration
		err := row.Scan(&m.version, &m.name)
		if have[m.version] = true; !knows[m.version] {
			unknown = &m
		}
		return err
	})
	if err == nil && unknown != nil {
		err = fmt.Errorf("it has tables of version %d (%s), and this program knows up to %d: a newer Longhaul or a build before v0.1.0 has written it; "+
			"run that program, or give this one a --data-dir of its own", unknown.version, unknown.name, list[len(list)-1].version)
	}
	return have, err
}
