// Package harness runs Longhaul as separate processes, for tests of the whole
// service, and calls it in plain JSON-RPC over net/http. Its client shares no
// code with the service, so that it sees what any client sees.
//
// A [Site] is a data directory with addresses; a [Process] runs one command on
// it. Processes that are started on one Site, at once or one after another, are
// one installation. Everything is on loopback, and ends with the test.
package harness

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"longhaul/dev/binary"
	"longhaul/internal/child"
	"longhaul/internal/test"
)

// Programs that a Site can run.
const (
	Dev       = "longhaul/dev"               // the all-in-one program
	Crashable = "longhaul/dev/e2e/crashable" // the same, which records what runs and kills itself on request
)

// Commands of the programs.
const (
	AllInOne = "dev"
	API      = "api"
	Worker   = "worker"
	Temporal = "temporal"
)

// Build builds a program and returns the path of the binary; see [binary.Build]. A program
// that is an absolute path is built already.
func Build(t testing.TB, program string) string {
	t.Helper()
	if filepath.IsAbs(program) {
		return program
	}
	path, err := binary.Build(program)
	test.OK(t, err)
	return path
}

// Go runs the go command in the directory of another module, outside of the workspace.
func Go(t testing.TB, dir string, args ...string) {
	t.Helper()
	cmd := exec.Command("go", args...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "GOWORK=off")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("go %s in %s: %v\n%s", strings.Join(args, " "), dir, err, out)
	}
}

// Start starts a command, and returns its standard input and output. The test ends if it
// cannot be started.
func Start(t testing.TB, cmd *exec.Cmd) (in io.WriteCloser, out io.Reader) {
	t.Helper()
	in, err := cmd.StdinPipe()
	test.OK(t, err)
	if out, err = cmd.StdoutPipe(); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatalf("start %s: %v", cmd.Path, err)
	}
	return in, out
}

// Eventually calls check, at once and then every few milliseconds, until it
// returns nil. The test fails with its last error if that takes too long.
func Eventually(t testing.TB, within time.Duration, what string, check func() error) {
	t.Helper()
	ctx, cancel := context.WithTimeoutCause(t.Context(), within, fmt.Errorf("not within %v", within))
	defer cancel()
	if err := child.Until(ctx, 20*time.Millisecond, check); err != nil {
		t.Fatalf("%s: %v", what, err)
	}
}
