package cli

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Commands for a journal that is there do not make one in a directory that was mistyped.
func TestJournal_missing(t *testing.T) {
	for command, want := range map[string]string{"verify": "journal rebuild makes it", "compact": "name its directory with --data-dir"} {
		dir := filepath.Join(t.TempDir(), "mistyped")
		var out strings.Builder
		code := Run(t.Context(), []string{"journal", command, "--data-dir", dir}, &out, &out, Build{})
		if code != 1 || !strings.Contains(out.String(), "there is no journal in the data directory "+dir) || !strings.Contains(out.String(), want) {
			t.Errorf("%s: exit code %d\n%s", command, code, out.String())
		}
		if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s has made the directory: %v", command, err)
		}
	}
}
