package operate

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
	for _, tt := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"journal", "verify"}, 1, "there is no journal in the data directory DIR; longhaul journal rebuild makes it"},
		{[]string{"journal", "compact"}, 1, "there is no journal in the data directory DIR: name its directory with --data-dir"},
		{[]string{"keys", "list"}, 0, "There are no API keys in the data directory DIR"},
		{[]string{"keys", "revoke", "abc"}, 1, "there is no API key with this id in the data directory DIR"},
	} {
		dir := filepath.Join(t.TempDir(), "mistyped")
		var out strings.Builder
		code := run(t.Context(), append(tt.args, "--data-dir", dir), &out, &out)
		if code != tt.code || !strings.Contains(out.String(), strings.ReplaceAll(tt.want, "DIR", dir)) {
			t.Errorf("%s: exit code %d\n%s", tt.args, code, out.String())
		}
		if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s has made the directory: %v", tt.args, err)
		}
	}
}
