package harness

import (
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	_ "modernc.org/sqlite" // the driver

	"longhaul/internal/test"
)

// WriteFile writes a file of the operator in a directory and returns its path.
func WriteFile(t testing.TB, dir, name, text string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	test.OK(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

// ReadFile reads a file. The test ends if it cannot be read.
func ReadFile(t testing.TB, path string) []byte {
	t.Helper()
	text, err := os.ReadFile(path)
	test.OK(t, err)
	return text
}

// CheckFiles checks every database of the site with SQLite. No process of the site
// may run.
func (s *Site) CheckFiles(t testing.TB) {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(s.Dir, "*.db"))
	test.OK(t, err)
	if len(paths) == 0 {
		t.Errorf("no databases in %s", s.Dir)
	}
	for _, path := range paths {
		if err := checkFile(path); err != nil {
			t.Errorf("%s: %v", filepath.Base(path), err)
		}
	}
}

func checkFile(path string) error {
	db, err := sql.Open("sqlite", "file:"+path)
	if err != nil {
		return err
	}
	defer db.Close()
	var result string
	if err := db.QueryRow("PRAGMA integrity_check").Scan(&result); err != nil {
		return err
	}
	if result != "ok" {
		return fmt.Errorf("integrity_check says %s", result)
	}
	return nil
}
