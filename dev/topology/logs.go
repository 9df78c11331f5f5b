package topology

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// FollowLog writes the log of a process of the topology that was started last, and lines that are added
// later, until ctx ends or the topology has.
func FollowLog(ctx context.Context, name string, out io.Writer) error {
	dir, err := latestDir()
	if err != nil {
		return err
	}
	file, err := os.Open(filepath.Join(dir, "logs", filepath.Base(name)+".log"))
	if err != nil {
		return fmt.Errorf("no process %s runs: there are %s", name, strings.Join(logNames(dir), ", "))
	}
	defer file.Close()
	for {
		if _, err := io.Copy(out, file); err != nil {
			return fmt.Errorf("read the log: %w", err)
		}
		if _, err := os.Stat(dir); err != nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(checkPause):
		}
	}
}

// latestDir returns the directory of the topology that was started last.
func latestDir() (string, error) {
	found, err := filepath.Glob(filepath.Join(os.TempDir(), dirPrefix+"*"))
	if err != nil || len(found) == 0 {
		return "", fmt.Errorf("no topology runs: start one with scripts/topology up")
	}
	return slices.MaxFunc(found, func(a, b string) int { return startOf(a).Compare(startOf(b)) }), nil
}

// startOf returns when the topology of a directory was started, the zero time if that is not known.
func startOf(dir string) time.Time {
	info, err := os.Stat(filepath.Join(dir, "env"))
	if err != nil {
		return time.Time{}
	}
	return info.ModTime()
}

// logNames returns the names of the processes that have logs.
func logNames(dir string) (names []string) {
	files, _ := filepath.Glob(filepath.Join(dir, "logs", "*.log")) // the pattern is valid
	for _, file := range files {
		names = append(names, strings.TrimSuffix(filepath.Base(file), ".log"))
	}
	return names
}
