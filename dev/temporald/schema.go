package temporald

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"go.temporal.io/server/common/config"
	"go.temporal.io/server/common/persistence/sql/sqlplugin"
	schema "go.temporal.io/server/schema/sqlite"
	"go.uber.org/zap"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// The files of a directory.
const (
	mainFile       = "temporal.db"
	visibilityFile = "temporal-visibility.db"
	versionFile    = "temporal.version" // the server version that made the others
	lockFile       = "temporal.lock"

	newSuffix = ".new" // of an incomplete file
)

// prepare makes sure that the databases in dir are complete and of our version.
// It makes missing files, and renames each into place only when it is complete,
// the main one last: after a crash at any moment it can be repeated. The caller
// holds the lock of dir.
func prepare(dir string, log *zap.Logger) error {
	if err := removeUnfinished(dir); err != nil {
		return err
	}
	hasMain, err := hasData(filepath.Join(dir, mainFile))
	if err != nil {
		return err
	}
	if !hasMain {
		// Without the main store, the visibility store and the old stamp are
		// useless.
		if err := writeStamp(dir); err != nil {
			return err
		}
		if err := makeDatabase(filepath.Join(dir, visibilityFile)); err != nil {
			return err
		}
		return makeDatabase(filepath.Join(dir, mainFile))
	}

	if err := checkStamp(dir); err != nil {
		return err
	}
	if err := checkDatabase(filepath.Join(dir, mainFile), "executions"); err != nil {
		return err
	}
	hasVisibility, err := hasData(filepath.Join(dir, visibilityFile))
	if err != nil {
		return err
	}
	if !hasVisibility {
		log.Warn("Made a new visibility database for Temporal: workflows that ended before will not be listed", zap.String("dir", dir))
		return makeDatabase(filepath.Join(dir, visibilityFile))
	}
	return checkDatabase(filepath.Join(dir, visibilityFile), "executions_visibility")
}

// removeUnfinished removes the incomplete files of makeDatabase and writeStamp
// after a crash.
func removeUnfinished(dir string) error {
	for _, name := range []string{versionFile, visibilityFile, mainFile} {
		path := filepath.Join(dir, name+newSuffix)
		if err := errors.Join(removeIfThere(path), removeLogs(path)); err != nil {
			return err
		}
	}
	return nil
}

// removeLogs removes the logs that SQLite would replay into a database at path.
func removeLogs(path string) error {
	return errors.Join(removeIfThere(path+"-wal"), removeIfThere(path+"-shm"), removeIfThere(path+"-journal"))
}

func removeIfThere(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// hasData reports whether the file is not empty. Other tools leave an empty file
// when they open a database that does not exist.
func hasData(path string) (bool, error) {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil && info.Size() > 0, err
}

func writeStamp(dir string) error {
	path := filepath.Join(dir, versionFile)
	if err := os.WriteFile(path+newSuffix, []byte(ServerVersion+"\n"), 0o600); err != nil {
		return fmt.Errorf("write the version of Temporal's files: %w", err)
	}
	return install(path)
}

// checkStamp refuses files of another server version: upstream has no migrations
// for SQLite, and a server that finds other tables than it expects fails while it
// runs.
func checkStamp(dir string) error {
	const advice = "use the longhaul version that matches, or move the directory aside to start with an empty one"
	b, err := os.ReadFile(filepath.Join(dir, versionFile))
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("the files in %s do not say which Temporal server made them (no %s there), and this is %s: %s",
			dir, versionFile, ServerVersion, advice)
	}
	if err != nil {
		return err
	}
	if made := strings.TrimSpace(string(b)); made != ServerVersion {
		return fmt.Errorf("the files in %s were made by Temporal server %s, and this is %s: %s", dir, made, ServerVersion, advice)
	}
	return nil
}

// makeDatabase makes an empty database in a file beside path and renames it to
// path, which replaces the old file.
func makeDatabase(path string) error {
	if err := build(path + newSuffix); err != nil {
		return fmt.Errorf("make %s: %w", path, err)
	}
	if err := removeLogs(path); err != nil { // the old file's
		return err
	}
	return install(path)
}

// build writes the schema into a new file, in one transaction.
func build(path string) error {
	db, err := sql.Open("sqlite", "file:"+uriPath(path)+"?_pragma=journal_mode=off&_pragma=synchronous=0")
	if err != nil {
		return err
	}
	defer db.Close()
	tx, err := db.Begin()
	if err != nil {
		return err
	}
	defer tx.Rollback()
	err = eachStatement(func(stmt string) error {
		if surplusIndex(stmt) != "" {
			return nil
		}
		_, err := tx.Exec(stmt)
		return err
	})
	if err != nil {
		return err
	}
	if err := tx.Commit(); err != nil {
		return err
	}
	return db.Close()
}

// install flushes the complete file beside path, and renames it to path.
func install(path string) error {
	f, err := os.OpenFile(path+newSuffix, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	if err := errors.Join(f.Sync(), f.Close()); err != nil {
		return err
	}
	if err := os.Rename(path+newSuffix, path); err != nil {
		return err
	}
	d, err := os.Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// notTemporal are the result codes for a file that is broken, or of another program.
var notTemporal = []int{sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT}

// checkDatabase reports whether the file at path is a database with a table.
func checkDatabase(path, table string) error {
	db, err := sql.Open("sqlite", "file:"+uriPath(path)+"?mode=rw")
	if err != nil {
		return err
	}
	defer db.Close()
	var n int
	err = db.QueryRowContext(context.Background(), "SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name = ?", table).Scan(&n)
	if err == nil && n == 0 {
		err = fmt.Errorf("it has no table %s", table)
	}
	var failed *sqlite.Error
	switch {
	case err == nil:
		return nil
	case errors.As(err, &failed) && !slices.Contains(notTemporal, failed.Code()&0xff):
		return fmt.Errorf("%s cannot be used: %w: look at the disk, and start again", path, err)
	}
	return fmt.Errorf("%s is not a database of Temporal: %w; restore it, or move the directory aside to start with an empty one", path, err)
}

// keptIndexes are the indexes for the lists of the Web UI and for the first
// custom keywords. Every other index would make each change of a workflow slower;
// queries without an index scan, 50 ms for 20000 rows.
var keptIndexes = []string{
	"default_idx", "by_workflow_id", "by_workflow_type", "by_status",
	"by_parent_workflow_id", "by_temporal_namespace_division",
	"by_keyword_01", "by_keyword_02", "by_keyword_03", "by_keyword_04",
}

var visibilityIndex = regexp.MustCompile(`^CREATE INDEX (\w+)\s+ON executions_visibility\b`)

// surplusIndex returns the name of the index that stmt makes if it is not needed.
func surplusIndex(stmt string) string {
	m := visibilityIndex.FindStringSubmatch(stmt)
	if m == nil || slices.Contains(keptIndexes, m[1]) {
		return ""
	}
	return m[1]
}

// dropSurplusIndexes is for databases whose schema upstream makes.
func dropSurplusIndexes(c *config.SQL) error {
	db, err := adminDB(c)
	if err != nil {
		return err
	}
	defer db.Close()
	return eachStatement(func(stmt string) error {
		if name := surplusIndex(stmt); name != "" {
			return db.Exec("DROP INDEX " + name)
		}
		return nil
	})
}

// eachStatement calls f with the statements of Temporal's schema, in order.
func eachStatement(f func(stmt string) error) error {
	return schema.SetupSchemaOnDB(schemaReader{exec: f})
}

// schemaReader is all that upstream's schema code needs of a database.
type schemaReader struct {
	sqlplugin.AdminDB
	exec func(stmt string) error
}

func (r schemaReader) Exec(stmt string, _ ...any) error { return r.exec(stmt) }
