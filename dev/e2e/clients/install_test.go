package clients_test

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

const (
	sdk         = "@a2a-js/sdk"
	leastNode   = 20 // the least version for the SDK
	installTime = 5 * time.Minute
)

// installed returns a directory with the program from a directory under js and
// the SDK that it names.
func installed(t *testing.T, dir string) string {
	t.Helper()
	needNode(t)
	src, dst := filepath.Join("js", dir), t.TempDir()
	copyFiles(t, dst, filepath.Join(src, "main.mjs"), filepath.Join("js", "driver.mjs"))
	if err := os.Symlink(filepath.Join(cached(t, src), "node_modules"), filepath.Join(dst, "node_modules")); err != nil {
		t.Fatal(err)
	}
	return dst
}

// needNode fails the test if node is missing or too old.
func needNode(t *testing.T) {
	t.Helper()
	for _, program := range []string{"node", "npm"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Fatalf("these tests run clients in JavaScript and need node %d or later with npm; on Debian: apt-get install nodejs npm (%v)", leastNode, err)
		}
	}
	out, err := exec.Command("node", "--version").Output()
	if err != nil {
		t.Fatalf("node --version: %v", err)
	}
	major, _, _ := strings.Cut(strings.TrimPrefix(strings.TrimSpace(string(out)), "v"), ".")
	if n, err := strconv.Atoi(major); err != nil || n < leastNode {
		t.Fatalf("these tests need node %d or later; this is %s", leastNode, out)
	}
}

// cached returns a directory in which npm has installed the packages of the
// package.json in src. The directory is kept, so that the next run needs no
// network.
func cached(t *testing.T, src string) string {
	t.Helper()
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	dst := filepath.Join(cache, "longhaul-e2e-js-"+version(t, src))
	if _, err := os.Stat(dst); err == nil {
		return dst // complete, since it was renamed after it was filled
	}
	if err := os.MkdirAll(cache, 0o755); err != nil {
		t.Fatal(err)
	}
	fresh, err := os.MkdirTemp(cache, "longhaul-e2e-js-new-")
	if err != nil {
		t.Fatal(err)
	}
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

// version returns the version of the SDK that the package.json in src pins.
func version(t *testing.T, src string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(src, "package.json"))
	if err != nil {
		t.Fatal(err)
	}
	var p struct {
		Dependencies map[string]string `json:"dependencies"`
	}
	if err := json.Unmarshal(data, &p); err != nil || p.Dependencies[sdk] == "" {
		t.Fatalf("%s names no version of %s: %v", src, sdk, err)
	}
	return p.Dependencies[sdk]
}

func copyFiles(t *testing.T, dst string, paths ...string) {
	t.Helper()
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err == nil {
			err = os.WriteFile(filepath.Join(dst, filepath.Base(path)), data, 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}
