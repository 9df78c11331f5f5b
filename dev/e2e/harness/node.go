package harness

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"longhaul/internal/needs"
	"longhaul/internal/test"
)

const (
	leastNode   = 20 // the least version for the SDKs
	installTime = 5 * time.Minute
)

// NodeProgram returns a directory with the given files and the packages that the
// package.json in src names.
func NodeProgram(t testing.TB, src string, files ...string) string {
	t.Helper()
	dst := t.TempDir()
	copyFiles(t, dst, files...)
	test.OK(t, os.Symlink(filepath.Join(NodePackages(t, src), "node_modules"), filepath.Join(dst, "node_modules")))
	return dst
}

// needNode ends the test if node is missing or too old.
func needNode(t testing.TB) {
	t.Helper()
	needs.Tools(t, "node", "npm")
	out, err := exec.Command("node", "--version").Output()
	if err != nil {
		t.Fatalf("node --version: %v", err)
	}
	major, _, _ := strings.Cut(strings.TrimPrefix(strings.TrimSpace(string(out)), "v"), ".")
	if n, err := strconv.Atoi(major); err != nil || n < leastNode {
		needs.Missing(t, fmt.Sprintf("Node.js %d", leastNode), fmt.Sprintf("this test needs Node.js %d or later, and this is %s", leastNode, out))
	}
}

// NodePackages returns a directory in which npm has installed the packages of the
// package.json in src. The directory is kept, so that the next run needs no
// network.
func NodePackages(t testing.TB, src string) string {
	t.Helper()
	needNode(t)
	cache, err := os.UserCacheDir()
	test.OK(t, err)
	list, err := os.ReadFile(filepath.Join(src, "package.json"))
	test.OK(t, err)
	sum := sha256.Sum256(list)
	dst := filepath.Join(cache, "longhaul-e2e-js-"+hex.EncodeToString(sum[:8]))
	if _, err := os.Stat(dst); err == nil {
		return dst // complete, since it was renamed after it was filled
	}
	test.OK(t, os.MkdirAll(cache, 0o755))
	fresh, err := os.MkdirTemp(cache, "longhaul-e2e-js-new-")
	test.OK(t, err)
	defer os.RemoveAll(fresh)
	copyFiles(t, fresh, filepath.Join(src, "package.json"), filepath.Join(src, ".npmrc"))
	ctx, cancel := context.WithTimeout(t.Context(), installTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, "npm", "install", "--no-audit", "--no-fund")
	cmd.Dir = fresh
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("npm install of %s, which needs the registry once: %v\n%s", src, err, out)
	}
	if err := os.Rename(fresh, dst); err != nil {
		if _, other := os.Stat(dst); other != nil {
			t.Fatal(err)
		}
	}
	return dst
}

func copyFiles(t testing.TB, dst string, paths ...string) {
	t.Helper()
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err == nil {
			err = os.WriteFile(filepath.Join(dst, filepath.Base(path)), data, 0o644)
		}
		test.OK(t, err)
	}
}
