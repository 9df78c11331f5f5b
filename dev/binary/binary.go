// Package binary builds programs of the workspace and of its dependencies, for tests
// and tools that run them as processes.
package binary

import (
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"sync"
	"syscall"
)

var (
	mu    sync.Mutex
	built = map[string]string{}
)

// Build builds the program of a package and returns the path of the binary, once in
// a process. The path is the same in all processes, so that an unchanged program is
// not linked again; another process may replace it with a newer one. The working
// directory must be in the workspace.
func Build(program string) (string, error) {
	mu.Lock()
	defer mu.Unlock()
	if path := built[program]; path != "" {
		return path, nil
	}
	path, err := build(program)
	if err == nil {
		built[program] = path
	}
	return path, err
}

func build(program string) (string, error) {
	dir := filepath.Join(os.TempDir(), fmt.Sprintf("longhaul-e2e-%d", os.Getuid()))
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	lock, err := os.OpenFile(filepath.Join(dir, path.Base(program)+".lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return "", err
	}
	defer lock.Close()
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil {
		return "", fmt.Errorf("lock %s: %w", lock.Name(), err)
	}
	cmd := exec.Command("go", "install", "-buildvcs=false", "-ldflags=-s -w", program)
	cmd.Env = append(os.Environ(), "GOBIN="+dir)
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build %s: %w\n%s", program, err, out)
	}
	return filepath.Join(dir, path.Base(program)), nil
}
