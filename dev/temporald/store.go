package temporald

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"go.temporal.io/server/common/config"
	"go.temporal.io/server/common/log"
	"go.temporal.io/server/common/metrics"
	"go.temporal.io/server/common/persistence/sql"
	"go.temporal.io/server/common/persistence/sql/sqlplugin"
	"go.temporal.io/server/common/primitives"
	"go.temporal.io/server/common/resolver"
)

// syncLevels are SQLite's synchronous levels, by Config.Sync.
var syncLevels = map[string]string{"full": "2", "normal": "1"}

// stores are the two databases of a server. Visibility, which lists read, has its own so
// that it does not share a write lock with the histories.
type stores struct {
	main, visibility *config.SQL
	unlock           func() error // nil if they are in memory
}

// openStores prepares the databases of cfg, in its directory or in memory.
func openStores(ctx context.Context, cfg Config) (s stores, err error) {
	if cfg.Dir == "" {
		return memoryStores(cfg)
	}
	dir, err := filepath.Abs(cfg.Dir)
	if err != nil {
		return s, err
	}
	if err := os.MkdirAll(dir, dirMode); err != nil {
		return s, fmt.Errorf("make the directory of Temporal: %w", err)
	}
	if s.unlock, err = lock(ctx, dir); err != nil {
		return s, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.unlock())
		}
	}()
	if err := prepare(dir, cfg.Log); err != nil {
		return s, err
	}
	if s.main, err = fileStore(filepath.Join(dir, mainFile), cfg.Sync); err != nil {
		return s, err
	}
	if s.visibility, err = fileStore(filepath.Join(dir, visibilityFile), cfg.Sync); err != nil {
		return s, err
	}
	return s, s.keepStatements(cfg)
}

func (s stores) keepStatements(cfg Config) error {
	return errors.Join(keepStatements(s.main, nil), keepStatements(s.visibility, cfg.Faults.Visibility))
}

// close moves the write-ahead logs into the database files, so that the directory of a
// stopped server has only complete files, and unlocks it. A failure loses nothing: the
// logs are read at the next start.
func (s stores) close() error {
	if s.unlock == nil {
		return nil
	}
	return errors.Join(checkpoint(s.main), checkpoint(s.visibility), s.unlock())
}

// memoryStores makes two databases in memory. They live as long as the process:
// upstream never closes a connection, and the last one keeps them.
func memoryStores(cfg Config) (stores, error) {
	id := primitives.NewUUID().String()
	memory := func(name string) *config.SQL {
		return sqlConfig(name+"-"+id, map[string]string{"mode": "memory", "cache": "shared"})
	}
	s := stores{main: memory("main"), visibility: memory("visibility")}
	return s, errors.Join(dropSurplusIndexes(s.main), dropSurplusIndexes(s.visibility), s.keepStatements(cfg))
}

// fileStore configures the database in the file at path.
//
// Upstream keeps connections for the life of the process, by their parameters.
// The inode is one of them (SQLite ignores pragmas it does not know), or a file
// that was deleted and made again would be served by the connection to the old one.
func fileStore(path, sync string) (*config.SQL, error) {
	id, err := inode(path)
	if err != nil {
		return nil, err
	}
	return sqlConfig(uriPath(path), map[string]string{
		"mode":           "rw",
		"journal_mode":   "wal",
		"synchronous":    syncLevels[sync],
		"longhaul_inode": id,
	}), nil
}

// uriPath escapes the characters that would end the path in a URI filename of
// SQLite.
func uriPath(path string) string {
	return strings.NewReplacer("%", "%25", "?", "%3f", "#", "%23").Replace(path)
}

func checkpoint(c *config.SQL) error {
	db, err := adminDB(c)
	if err != nil {
		return err
	}
	defer db.Close()
	return db.Exec("PRAGMA wal_checkpoint(TRUNCATE)")
}

// adminDB opens a database for statements of ours.
func adminDB(c *config.SQL) (sqlplugin.AdminDB, error) {
	return sql.NewSQLAdminDB(sqlplugin.DbKindUnknown, c, resolver.NewNoopResolver(), log.NewNoopLogger(), metrics.NoopMetricsHandler)
}
