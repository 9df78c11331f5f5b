package clients_test

import (
	"path/filepath"
	"testing"

	"longhaul/dev/e2e/harness"
)

// installed returns a directory with the program from a directory under js and
// the SDK that it names.
func installed(t *testing.T, dir string) string {
	t.Helper()
	src := filepath.Join("js", dir)
	return harness.NodeProgram(t, src, filepath.Join(src, "main.mjs"), filepath.Join("js", "driver.mjs"))
}
