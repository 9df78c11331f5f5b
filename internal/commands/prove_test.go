package commands

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"longhaul/internal/test"
)

// A server that cannot be used is explained by what it has printed last, all of which --log keeps.
func TestProve_printed(t *testing.T) {
	file := filepath.Join(t.TempDir(), "server.log")
	for _, args := range [][]string{{"prove"}, {"prove", "--log", file}} {
		var stderr strings.Builder
		args = append(args, "http://127.0.0.1:1", "--run", "echo hello; echo there >&2; exit 3")
		if code := run(t.Context(), args, io.Discard, &stderr); code != 1 || !strings.HasSuffix(stderr.String(), "The server printed at last:\nhello\nthere\n") {
			t.Errorf("%s: exit code %d: %s", args, code, &stderr)
		}
	}
	test.Is(t, "the log", "hello\nthere\n", string(test.Value(os.ReadFile(file))(t)))
}
