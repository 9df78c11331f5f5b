//go:build unix

package temporald

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"longhaul/internal/child"
)

// freeWithin is how long a start waits for a directory that another process still has.
const freeWithin = 3 * time.Second

// lock locks dir for one Server. The lock ends with its process, so a crash
// leaves nothing to clean up. A lock that another process has is waited for, until ctx ends.
func lock(ctx context.Context, dir string) (unlock func() error, err error) {
	path := filepath.Join(dir, lockFile)
	// Not an os.File: the garbage collector would close it if its Server is not
	// referenced any more, while the server still runs.
	fd, err := syscall.Open(path, syscall.O_RDWR|syscall.O_CREAT|syscall.O_CLOEXEC, 0o600)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	within, cancel := context.WithTimeout(ctx, freeWithin)
	defer cancel()
	_ = child.Until(within, pollEvery, func() error { // its error is about the time
		if err = syscall.Flock(fd, syscall.LOCK_EX|syscall.LOCK_NB); errors.Is(err, syscall.EWOULDBLOCK) {
			return err // its holder may have been killed a moment ago
		}
		return nil
	})
	if err != nil && ctx.Err() != nil {
		return nil, errors.Join(context.Cause(ctx), syscall.Close(fd))
	}
	if err == nil {
		// For the message below only; the lock does not depend on it.
		err = os.WriteFile(path, fmt.Appendln(nil, os.Getpid()), 0o600)
	}
	if err == nil {
		return func() error {
			// Unlock as well, since a child that is being forked may have a copy.
			return errors.Join(syscall.Flock(fd, syscall.LOCK_UN), syscall.Close(fd))
		}, nil
	}

	syscall.Close(fd)
	if !errors.Is(err, syscall.EWOULDBLOCK) {
		return nil, &fs.PathError{Op: "lock", Path: path, Err: err}
	}
	holder := "another process"
	if pid, err := os.ReadFile(path); err == nil && len(pid) > 0 {
		holder = "process " + string(bytes.TrimSpace(pid))
	}
	return nil, fmt.Errorf("the directory %s is in use by %s: stop that one, or choose another directory for this one", dir, holder)
}

// inode identifies the file at path while a process has it open.
func inode(path string) (string, error) {
	var st syscall.Stat_t
	if err := syscall.Stat(path, &st); err != nil {
		return "", &fs.PathError{Op: "stat", Path: path, Err: err}
	}
	return strconv.FormatUint(st.Ino, 10), nil
}
