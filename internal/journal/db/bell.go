package db

import (
	"errors"
	"os"
	"sync"
)

// mostRings is how long the file of a bell may become, in bytes.
const mostRings = 1 << 20

// A bell is a file beside a journal to which each process adds a byte after each commit. Its
// length says whether another process has committed, without a look at the journal. A byte may
// be lost with the process that has just committed. It is safe for concurrent use.
type bell struct {
	file *os.File

	mu    sync.Mutex
	own   int64 // bytes of this bell, without those that were removed
	heard int64 // of others, as far as they were heard
}

func openBell(path string) (*bell, error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	b := &bell{file: f}
	if b.hear(); b.heard < mostRings {
		return b, nil
	}
	return b, f.Truncate(0)
}

// ring says that this process has committed.
func (b *bell) ring() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	n, err := b.file.Write([]byte{'.'})
	b.own += int64(n)
	if b.own < mostRings {
		return err
	}
	b.own = 0
	return errors.Join(err, b.file.Truncate(0)) // which others hear
}

// hear reports whether another process may have committed since the last call.
func (b *bell) hear() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	info, err := b.file.Stat()
	if err != nil {
		return true
	}
	others := info.Size() - b.own
	changed := others != b.heard
	b.heard = others
	return changed
}

func (b *bell) close() error { return b.file.Close() }
