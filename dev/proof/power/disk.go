package power

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"syscall"
	"time"
)

// A Names says when the names in directories are durable.
type Names int

const (
	// Ordered names are those of ext4, XFS and Btrfs: changes of names are in one log, and each
	// sync of a file or of a directory makes all that happened before it durable.
	Ordered Names = iota
	// Apart is what POSIX promises, and no more: a change of a name is durable after a sync of
	// its directory.
	Apart
)

// A Fault decides whether a call of a program fails: it is asked before each one with the
// call, such as "write", and the latest name of the file, and returns 0 or why the call fails. It may wait.
type Fault func(call, name string) syscall.Errno

// A Disk keeps files in memory: as programs see them, and as they would be after a power cut.
// It is safe for concurrent use. Mount makes it a file system.
type Disk struct {
	names Names

	mu     sync.Mutex
	rand   *rand.Rand
	root   *file
	last   uint64 // id of a file
	log    []rename
	fault  Fault
	deaf   bool // to syncs
	losses Losses
}

// Losses counts what power cuts and failed syncs have taken from a disk.
type Losses struct {
	Writes, Torn, Names int // writes that were lost, and those of which a part was; changes of names
	Kept                int // writes that were durable by chance
	Syncs               int // that succeeded
}

// A file is a file or a directory.
type file struct {
	id       uint64
	mode     uint32 // with the type
	uid, gid uint32
	changed  time.Time
	name     string // the latest

	data, synced []byte // as programs read it, and without what may be lost
	unsynced     []write

	names, syncedNames map[string]*file // nil for a file
}

// A write is a change of a file that was not synced.
type write struct {
	at    int
	data  []byte
	isCut bool // the file got the length at
}

// A rename is a change of names that happens at once or not at all.
type rename []named

// A named is one name in a directory and its new file, nil for none.
type named struct {
	dir  *file
	name string
	to   *file
}

// New returns an empty disk. The seed decides what power cuts lose.
func New(names Names, seed uint64) *Disk {
	d := &Disk{names: names, rand: rand.New(rand.NewPCG(seed, 0)), fault: well}
	d.root = d.newFile(syscall.S_IFDIR|0o755, 0, 0)
	return d
}

func well(string, string) syscall.Errno { return 0 }

// Fail has calls fail from now on as f says; nil makes the disk well again.
func (d *Disk) Fail(f Fault) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.fault = f; f == nil {
		d.fault = well
	}
}

// IgnoreSyncs has all syncs succeed without an effect from now on, as those of programs that
// do none.
func (d *Disk) IgnoreSyncs() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.deaf = true
}

// Losses returns the losses so far.
func (d *Disk) Losses() Losses {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.losses
}

// Unsynced returns how many writes of files with a name are not durable.
func (d *Disk) Unsynced(name string) (n int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for f := range d.root.all() {
		if f.name == name {
			n += len(f.unsynced)
		}
	}
	return n
}

// String says what the cuts took.
func (l Losses) String() string {
	return fmt.Sprintf("%d syncs; %d writes lost, %d torn, %d kept by chance; %d changes of names lost", l.Syncs, l.Writes, l.Torn, l.Kept, l.Names)
}

// SyncAll makes everything durable, as the command sync does.
func (d *Disk) SyncAll() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.commit(len(d.log), nil)
	for f := range d.root.all() {
		f.apply(f.unsynced)
		f.unsynced = nil
	}
}

func (d *Disk) newFile(mode, uid, gid uint32) *file {
	d.last++
	f := &file{id: d.last, mode: mode, uid: uid, gid: gid, changed: time.Now()}
	if f.isDir() {
		f.names, f.syncedNames = map[string]*file{}, map[string]*file{}
	}
	return f
}

func (f *file) isDir() bool { return f.mode&syscall.S_IFMT == syscall.S_IFDIR }

// all ranges over f and all below it, as programs see it.
func (f *file) all() func(yield func(*file) bool) {
	return func(yield func(*file) bool) { f.each(yield) }
}

func (f *file) each(yield func(*file) bool) bool {
	if !yield(f) {
		return false
	}
	for _, name := range slices.Sorted(maps.Keys(f.names)) {
		if !f.names[name].each(yield) {
			return false
		}
	}
	return true
}

// write changes a file as programs see it.
func (f *file) write(w write) {
	f.data = w.to(f.data)
	f.unsynced = append(f.unsynced, w)
	f.changed = time.Now()
}

// to returns data after w.
func (w write) to(data []byte) []byte {
	end := w.at
	if !w.isCut {
		end = max(len(data), w.at+len(w.data))
	}
	if end > len(data) {
		before := len(data)
		data = slices.Grow(data, end-before)[:end]
		clear(data[before:])
	}
	data = data[:end]
	if !w.isCut {
		copy(data[w.at:], w.data)
	}
	return data
}

// apply makes writes durable.
func (f *file) apply(writes []write) {
	for _, w := range writes {
		f.synced = w.to(f.synced)
	}
}

// change changes names as programs see them.
func (d *Disk) change(names ...named) {
	for _, n := range names {
		n.set(n.dir.names)
		if n.to != nil {
			n.to.name = n.name
		}
	}
	d.log = append(d.log, names)
}

func (n named) set(names map[string]*file) {
	if n.to == nil {
		delete(names, n.name)
	} else {
		names[n.name] = n.to
	}
}

// commit makes the first n changes of names durable: those in dir, or all if it is nil.
func (d *Disk) commit(n int, dir *file) {
	var rest []rename
	for i, r := range d.log {
		var left rename
		for _, name := range r {
			if i < n && (dir == nil || name.dir == dir) {
				name.set(name.dir.syncedNames)
			} else {
				left = append(left, name)
			}
		}
		if left != nil {
			rest = append(rest, left)
		}
	}
	d.log = rest
}

// sync makes durable what a program may expect of it. A sync that fails leaves the writes
// before it neither durable nor to be synced again: the page cache takes them for clean.
func (d *Disk) sync(f *file, failed bool) {
	if d.deaf {
		return
	}
	if failed {
		d.losses.Writes += len(f.unsynced)
		f.unsynced = nil
		return
	}
	d.losses.Syncs++
	f.apply(f.unsynced)
	f.unsynced = nil
	switch {
	case d.names == Ordered:
		d.commit(len(d.log), nil)
	case f.isDir():
		d.commit(len(d.log), f)
	}
}
