//go:build unix

package lease_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"longhaul/internal/lease"
	"longhaul/internal/test"
)

// A lease of many changes stays small, and has what it had.
func TestFiles_rewrite(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := lease.Files{Dir: dir}
	held := test.Value(s.Hold(t.Context()))(t)
	test.OK(t, held.Change(t.Context(), entries("q sticky", "a first"), nil))
	for i := range 100_000 {
		one := entries(fmt.Sprint("a ", i))
		test.OK(t, held.Change(t.Context(), one, nil))
		test.OK(t, held.Change(t.Context(), nil, one))
	}
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(files) != 1 {
		t.Fatal(files, err)
	}
	info, err := os.Stat(files[0])
	if test.OK(t, err); info.Size() > 2<<20 {
		t.Errorf("it has %d bytes", info.Size())
	}
	if got := orphans(t, s); got != nil {
		t.Errorf("while it is held: %q", got)
	}
	test.OK(t, held.Release(t.Context(), false))
	if diff := cmp.Diff([][]lease.Entry{entries("a first", "q sticky")}, orphans(t, s)); diff != "" {
		t.Error(diff)
	}
}

// The end of a file may be cut off.
func TestFiles_cut(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := lease.Files{Dir: dir}
	held := test.Value(s.Hold(t.Context()))(t)
	test.OK(t, held.Change(t.Context(), entries("a one"), nil))
	test.OK(t, held.Change(t.Context(), entries("a two"), entries("a one")))
	test.OK(t, held.Release(t.Context(), false))
	files := test.Value(filepath.Glob(filepath.Join(dir, "*")))(t)
	info := test.Value(os.Stat(files[0]))(t)
	test.OK(t, os.Truncate(files[0], info.Size()-1))
	if diff := cmp.Diff([][]lease.Entry{entries("a one", "a two")}, orphans(t, s)); diff != "" {
		t.Error(diff)
	}
}
