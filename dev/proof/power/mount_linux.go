package power

import (
	"context"
	"errors"
	"fmt"
	"log"
	"maps"
	"os"
	"slices"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"
)

// A Mount is a disk in a directory, until the power is cut or the disk is unmounted.
type Mount struct {
	disk   *Disk
	dir    string
	server *fuse.Server
	off    atomic.Bool // without power
}

// keep is how long the kernel may keep names and attributes: it makes all changes itself.
const keep = time.Hour

// Mount makes the disk the file system in a directory, for all users. It needs root. Only one may
// exist at a time.
func (d *Disk) Mount(dir string) (*Mount, error) {
	m, timeout := &Mount{disk: d, dir: dir}, keep
	options := &fs.Options{
		EntryTimeout: &timeout, AttrTimeout: &timeout, NullPermissions: true,
		RootStableAttr: &fs.StableAttr{Ino: d.root.id},
		MountOptions: fuse.MountOptions{
			Name: "power", FsName: "power", DirectMountStrict: true, AllowOther: true, DisableXAttrs: true,
			Options: []string{"default_permissions"}, MaxWrite: 1 << 20,
			Logger: log.New(os.Stderr, "power: ", 0),
		},
	}
	server, err := fs.Mount(dir, &node{mount: m, file: d.root}, options)
	if err != nil {
		return nil, fmt.Errorf("mount a disk at %s: %w", dir, err)
	}
	m.server = server
	return m, nil
}

// Off cuts the power: all calls fail from now on, and nothing reaches the disk. Kill the
// programs, then call [Mount.Restore].
func (m *Mount) Off() {
	// A call that has begun holds the lock until its change is complete.
	m.disk.mu.Lock()
	defer m.disk.mu.Unlock()
	m.off.Store(true)
}

// Restore takes from the disk what the power cut loses, and mounts it again at its place.
func (m *Mount) Restore(how Loss) (*Mount, error) {
	m.Off()
	if err := m.Close(); err != nil {
		return nil, err
	}
	m.disk.lose(how)
	return m.disk.Mount(m.dir)
}

// unmountWithin is how long the kernel may take to end processes that were killed.
const unmountWithin = 20 * time.Second

// Close unmounts the disk, which nothing may use any more.
func (m *Mount) Close() error {
	err := m.server.Unmount()
	for end := time.Now().Add(unmountWithin); errors.Is(err, syscall.EBUSY) && time.Now().Before(end); {
		time.Sleep(20 * time.Millisecond)
		err = m.server.Unmount()
	}
	if err != nil {
		return fmt.Errorf("unmount the disk at %s: %w", m.dir, err)
	}
	return nil
}

// A node is a file for the kernel.
type node struct {
	fs.Inode
	mount *Mount
	file  *file
}

// call does a call of a program, unless the power is off or the disk fails. A sync that
// fails has an effect.
func (n *node) call(name string, f *file, do func(*Disk) syscall.Errno) syscall.Errno {
	d := n.mount.disk
	d.mu.Lock()
	fault, on := d.fault, f.name
	d.mu.Unlock()
	failed := fault(name, on)
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case n.mount.off.Load():
		return syscall.EIO
	case failed != 0:
		if name == "sync" {
			d.sync(f, true)
		}
		return failed
	}
	return do(d)
}

func (n *node) child(ctx context.Context, f *file, out *fuse.EntryOut) *fs.Inode {
	f.attributes(&out.Attr)
	return n.NewInode(ctx, &node{mount: n.mount, file: f}, fs.StableAttr{Mode: f.mode & syscall.S_IFMT, Ino: f.id})
}

func (f *file) attributes(out *fuse.Attr) {
	out.Ino, out.Mode, out.Size, out.Blksize, out.Nlink = f.id, f.mode, uint64(len(f.data)), 4096, 1
	out.Blocks, out.Uid, out.Gid = uint64(len(f.data)+sector-1)/sector, f.uid, f.gid
	out.SetTimes(&f.changed, &f.changed, &f.changed)
}

func (n *node) Lookup(ctx context.Context, name string, out *fuse.EntryOut) (in *fs.Inode, no syscall.Errno) {
	no = n.call("lookup", n.file, func(*Disk) syscall.Errno {
		f := n.file.names[name]
		if f == nil {
			return syscall.ENOENT
		}
		in = n.child(ctx, f, out)
		return 0
	})
	return in, no
}

func (n *node) Getattr(_ context.Context, _ fs.FileHandle, out *fuse.AttrOut) syscall.Errno {
	return n.call("getattr", n.file, func(*Disk) syscall.Errno {
		n.file.attributes(&out.Attr)
		return 0
	})
}

func (n *node) Setattr(_ context.Context, _ fs.FileHandle, in *fuse.SetAttrIn, out *fuse.AttrOut) syscall.Errno {
	return n.call("setattr", n.file, func(*Disk) syscall.Errno {
		f := n.file
		if mode, ok := in.GetMode(); ok {
			f.mode = f.mode&syscall.S_IFMT | mode&0o7777
		}
		if uid, ok := in.GetUID(); ok {
			f.uid = uid
		}
		if gid, ok := in.GetGID(); ok {
			f.gid = gid
		}
		if size, ok := in.GetSize(); ok && int(size) != len(f.data) {
			f.write(write{at: int(size), isCut: true})
		}
		if at, ok := in.GetMTime(); ok {
			f.changed = at
		}
		f.attributes(&out.Attr)
		return 0
	})
}

func (n *node) Open(context.Context, uint32) (fs.FileHandle, uint32, syscall.Errno) {
	return nil, fuse.FOPEN_KEEP_CACHE, n.call("open", n.file, func(*Disk) syscall.Errno { return 0 })
}

func (n *node) Read(_ context.Context, _ fs.FileHandle, to []byte, off int64) (fuse.ReadResult, syscall.Errno) {
	var got int
	no := n.call("read", n.file, func(*Disk) syscall.Errno {
		if off < int64(len(n.file.data)) {
			got = copy(to, n.file.data[off:])
		}
		return 0
	})
	return fuse.ReadResultData(to[:got]), no
}

func (n *node) Write(_ context.Context, _ fs.FileHandle, data []byte, off int64) (uint32, syscall.Errno) {
	no := n.call("write", n.file, func(*Disk) syscall.Errno {
		n.file.write(write{at: int(off), data: slices.Clone(data)})
		return 0
	})
	if no != 0 {
		return 0, no
	}
	return uint32(len(data)), 0
}

// Fsync is for files and directories, and for both fsync and fdatasync: the latter makes the length
// durable, too.
func (n *node) Fsync(context.Context, fs.FileHandle, uint32) syscall.Errno {
	return n.call("sync", n.file, func(d *Disk) syscall.Errno {
		d.sync(n.file, false)
		return 0
	})
}

// Flush is for close, which syncs nothing.
func (n *node) Flush(context.Context, fs.FileHandle) syscall.Errno { return 0 }

func (n *node) Readdir(context.Context) (fs.DirStream, syscall.Errno) {
	var list []fuse.DirEntry
	no := n.call("readdir", n.file, func(*Disk) syscall.Errno {
		for _, name := range slices.Sorted(maps.Keys(n.file.names)) {
			f := n.file.names[name]
			list = append(list, fuse.DirEntry{Name: name, Mode: f.mode, Ino: f.id})
		}
		return 0
	})
	return fs.NewListDirStream(list), no
}

func (n *node) Create(ctx context.Context, name string, _ uint32, mode uint32, out *fuse.EntryOut) (in *fs.Inode, h fs.FileHandle, flags uint32, no syscall.Errno) {
	in, no = n.add(ctx, name, syscall.S_IFREG|mode&0o7777, out)
	return in, nil, fuse.FOPEN_KEEP_CACHE, no
}

func (n *node) Mkdir(ctx context.Context, name string, mode uint32, out *fuse.EntryOut) (*fs.Inode, syscall.Errno) {
	return n.add(ctx, name, syscall.S_IFDIR|mode&0o7777, out)
}

// add makes a file or a directory.
func (n *node) add(ctx context.Context, name string, mode uint32, out *fuse.EntryOut) (in *fs.Inode, no syscall.Errno) {
	var uid, gid uint32
	if caller, ok := fuse.FromContext(ctx); ok {
		uid, gid = caller.Uid, caller.Gid
	}
	no = n.call("create", n.file, func(d *Disk) syscall.Errno {
		f := d.newFile(mode, uid, gid)
		d.change(named{n.file, name, f})
		in = n.child(ctx, f, out)
		return 0
	})
	return in, no
}

func (n *node) Link(ctx context.Context, target fs.InodeEmbedder, name string, out *fuse.EntryOut) (in *fs.Inode, no syscall.Errno) {
	no = n.call("link", n.file, func(d *Disk) syscall.Errno {
		if n.file.names[name] != nil {
			return syscall.EEXIST
		}
		f := target.(*node).file
		d.change(named{n.file, name, f})
		in = n.child(ctx, f, out)
		return 0
	})
	return in, no
}

func (n *node) Unlink(_ context.Context, name string) syscall.Errno { return n.remove(name) }

func (n *node) Rmdir(_ context.Context, name string) syscall.Errno { return n.remove(name) }

func (n *node) remove(name string) syscall.Errno {
	return n.call("remove", n.file, func(d *Disk) syscall.Errno {
		switch f := n.file.names[name]; {
		case f == nil:
			return syscall.ENOENT
		case len(f.names) > 0:
			return syscall.ENOTEMPTY
		}
		d.change(named{n.file, name, nil})
		return 0
	})
}

func (n *node) Rename(_ context.Context, name string, to fs.InodeEmbedder, newName string, flags uint32) syscall.Errno {
	return n.call("rename", n.file, func(d *Disk) syscall.Errno {
		f, dir := n.file.names[name], to.(*node).file
		there := dir.names[newName]
		switch {
		case flags&^1 != 0: // all but RENAME_NOREPLACE
			return syscall.EINVAL
		case f == nil:
			return syscall.ENOENT
		case flags == 1 && there != nil:
			return syscall.EEXIST
		case there != nil && len(there.names) > 0:
			return syscall.ENOTEMPTY
		}
		d.change(named{n.file, name, nil}, named{dir, newName, f})
		return 0
	})
}
