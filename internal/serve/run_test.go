package serve

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/alecthomas/kong"

	"longhaul/internal/process"
)

// runCommand runs a command of this package, and returns the exit code.
func runCommand(ctx context.Context, args []string, stdout, stderr io.Writer, b Build) int {
	p := &process.Process{Ctx: ctx, Stdout: stdout, Stderr: stderr, Embeds: b.Embed != nil}
	var grammar struct {
		API    API    `cmd:""`
		Worker Worker `cmd:""`
		Dev    Dev    `cmd:""`
	}
	return p.Report(p.Start(args, &grammar, kong.Bind(b), kong.Vars{"agent": "Longhaul"}))
}

// firstKey is a key, in base64.
const firstKey = "AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQE="

// write writes a file.
func write(t *testing.T, name, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
