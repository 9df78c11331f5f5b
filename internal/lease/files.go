//go:build unix

package lease

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"
)

// Files are leases of processes on one machine. Each is a file that its process has locked, with
// the changes of its entries: the kernel unlocks it when the process ends, and keeps its
// content. Nothing is synced: after a power cut there is no lease, and heartbeats find out.
type Files struct{ Dir string }

const (
	heldFile  = ".lease"
	begunFile = ".begun"    // not a lease yet
	rewriteAt = 1 << 20     // bytes of changes
	begunFor  = time.Minute // at most, by a process that lives
)

// Close implements [Store].
func (Files) Close() error { return nil }

// Hold implements [Store].
func (f Files) Hold(context.Context) (Held, error) {
	if err := os.MkdirAll(f.Dir, 0o700); err != nil {
		return nil, fmt.Errorf("make the directory of the leases: %w", err)
	}
	h := &heldFileLease{path: filepath.Join(f.Dir, rand.Text()+heldFile), has: map[Entry]bool{}}
	if err := h.rewrite(); err != nil {
		return nil, fmt.Errorf("begin a lease: %w", err)
	}
	return h, nil
}

// A heldFileLease is a lease of this process.
type heldFileLease struct {
	mu   sync.Mutex
	path string
	file *os.File // locked
	size int
	has  map[Entry]bool
}

// rewrite replaces the file by one with only what it has. The new one is locked before it has the name.
func (h *heldFileLease) rewrite() error {
	begun := strings.TrimSuffix(h.path, heldFile) + begunFile
	file, err := os.OpenFile(begun, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	var text bytes.Buffer
	for e := range h.has {
		writeChange(&text, '+', e)
	}
	err = syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if err == nil {
		_, err = file.Write(text.Bytes())
	}
	if err == nil {
		err = os.Rename(begun, h.path)
	}
	if err != nil {
		return errors.Join(err, file.Close())
	}
	if h.file != nil {
		_ = h.file.Close() // it has no name any more
	}
	h.file, h.size = file, text.Len()
	return nil
}

// Change implements [Held].
func (h *heldFileLease) Change(_ context.Context, added, removed []Entry) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	var text bytes.Buffer
	for _, e := range added {
		h.has[e] = true
		writeChange(&text, '+', e)
	}
	for _, e := range removed {
		delete(h.has, e)
		writeChange(&text, '-', e)
	}
	if h.size += text.Len(); h.size > rewriteAt {
		return h.rewrite()
	}
	_, err := h.file.Write(text.Bytes())
	if err != nil {
		h.size = rewriteAt // a part of a line may be there
	}
	return err
}

// Lost implements [Held]: never, while the process lives.
func (h *heldFileLease) Lost() <-chan struct{} { return nil }

// Release implements [Held].
func (h *heldFileLease) Release(_ context.Context, nothingLeft bool) (err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if nothingLeft {
		err = os.Remove(h.path)
	}
	return errors.Join(err, h.file.Close())
}

func writeChange(to *bytes.Buffer, how byte, e Entry) {
	fmt.Fprintf(to, "%c%s %s\n", how, e.Kind, base64.StdEncoding.EncodeToString([]byte(e.Value)))
}

// readChanges returns the entries after the changes in a file. The last line may be cut off.
func readChanges(path string) ([]Entry, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	has := map[Entry]bool{}
	lines := bufio.NewScanner(bytes.NewReader(data[:bytes.LastIndexByte(data, '\n')+1]))
	for lines.Scan() {
		how, text, _ := strings.Cut(lines.Text(), " ")
		value, err := base64.StdEncoding.DecodeString(text)
		if err != nil || len(how) < 2 {
			continue // it was cut off
		}
		has[Entry{Kind(how[1:]), string(value)}] = how[0] == '+'
	}
	var all []Entry
	for e, here := range has {
		if here {
			all = append(all, e)
		}
	}
	return all, lines.Err()
}

// Orphans implements [Store].
func (f Files) Orphans(ctx context.Context, giveBack GiveBack) (n int, err error) {
	found, err := os.ReadDir(f.Dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return 0, err
	}
	var errs []error
	for _, file := range found {
		path := filepath.Join(f.Dir, file.Name())
		switch filepath.Ext(path) {
		case begunFile:
			if info, err := file.Info(); err == nil && time.Since(info.ModTime()) > begunFor {
				errs = append(errs, ifFree(path, func() error { return os.Remove(path) }))
			}
		case heldFile:
			n++
			errs = append(errs, ifFree(path, func() error { return endLease(ctx, path, giveBack) }))
		}
	}
	return n, errors.Join(errs...)
}

// endLease gives back what a lost worker had taken, and removes its lease.
func endLease(ctx context.Context, path string, giveBack GiveBack) error {
	entries, err := readChanges(path)
	if err == nil {
		err = giveBack(ctx, entries)
	}
	if err != nil {
		return err
	}
	return os.Remove(path)
}

// ifFree calls do while it has the lock of a file that no other process has locked.
func ifFree(path string, do func() error) error {
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // its process has ended it
	}
	if err != nil {
		return err
	}
	defer file.Close()
	switch err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); {
	case errors.Is(err, syscall.EWOULDBLOCK):
		return nil
	case err != nil:
		return err
	}
	opened, err := file.Stat()
	if err != nil {
		return err
	}
	if named, err := os.Stat(path); err != nil || !os.SameFile(opened, named) {
		return nil // its process has replaced or ended it
	}
	return do()
}
