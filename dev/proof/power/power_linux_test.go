package power_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"longhaul/dev/proof/power"
	"longhaul/internal/seal"
	"longhaul/internal/test"
)

// A disk is one under test.
type disk struct {
	*power.Disk
	t     *testing.T
	mount *power.Mount
	dir   string
}

func newDisk(t *testing.T, names power.Names) *disk {
	t.Helper()
	dir := t.TempDir()
	d, m := power.In(t, names, 1, dir)
	x := &disk{d, t, m, dir}
	t.Cleanup(func() { test.OK(t, x.mount.Close()) })
	return x
}

func (d *disk) path(name string) string { return filepath.Join(d.dir, name) }

func (d *disk) cut(how power.Loss) {
	d.t.Helper()
	m := test.Value(d.mount.Restore(how))(d.t)
	d.mount = m
}

// write writes a file, and syncs it if sync is set.
func (d *disk) write(name, text string, sync bool) {
	d.t.Helper()
	f, err := os.OpenFile(d.path(name), os.O_WRONLY|os.O_CREATE, 0o600)
	test.OK(d.t, err)
	_, err = f.WriteString(text)
	test.OK(d.t, err)
	if sync {
		test.OK(d.t, f.Sync())
	}
	test.OK(d.t, f.Close())
}

func (d *disk) syncDir(name string) {
	d.t.Helper()
	f := test.Value(os.Open(d.path(name)))(d.t)
	test.OK(d.t, f.Sync())
	test.OK(d.t, f.Close())
}

// reads returns the content of a file, "-" if there is none.
func (d *disk) reads(name string) string {
	d.t.Helper()
	data, err := os.ReadFile(d.path(name))
	if errors.Is(err, os.ErrNotExist) {
		return "-"
	}
	test.OK(d.t, err)
	return string(data)
}

func (d *disk) want(name, want string) {
	d.t.Helper()
	test.Is(d.t, name+" has", want, d.reads(name))
}

// Synced writes are there after any cut, and others are lost when all are.
func TestDisk_synced(t *testing.T) {
	d := newDisk(t, power.Ordered)
	test.OK(t, os.Mkdir(d.path("dir"), 0o700))
	d.write("dir/file", "synced", true)
	for _, how := range []power.Loss{power.LoseAll, power.LoseSome, power.Tear} {
		d.cut(how)
		d.want("dir/file", "synced")
	}
	d.write("dir/file", "changed and longer", false)
	d.write("dir/other", "new", false)
	d.want("dir/file", "changed and longer")
	d.cut(power.LoseAll)
	d.want("dir/file", "synced")
	d.want("dir/other", "-")
	test.OK(t, os.Truncate(d.path("dir/file"), 3))
	d.cut(power.LoseAll)
	d.want("dir/file", "synced")
}

// Of many writes some remain, in no order, and the disk counts them.
func TestDisk_some(t *testing.T) {
	d := newDisk(t, power.Ordered)
	const block = 4096
	d.write("file", strings.Repeat(".", 100*block), true)
	f, err := os.OpenFile(d.path("file"), os.O_WRONLY, 0)
	test.OK(t, err)
	for i := range 100 {
		test.OK(t, test.Err(f.WriteAt(bytes.Repeat([]byte("#"), block), int64(i*block))))
	}
	test.OK(t, f.Close())
	d.cut(power.LoseSome)
	var kept, reordered int
	data, last := d.reads("file"), "#"
	for i := range 100 {
		switch part := data[i*block : (i+1)*block]; {
		case part == strings.Repeat("#", block):
			if kept++; last == "." {
				reordered++
			}
			last = "#"
		case part == strings.Repeat(".", block):
			last = "."
		default:
			t.Errorf("block %d is torn", i)
		}
	}
	l := d.Losses()
	if l.Kept != kept || l.Writes != 100-kept || kept < 20 || kept > 80 || reordered < 5 {
		t.Errorf("%d writes remain, %d after a lost one; %v", kept, reordered, l)
	}
}

// A torn write has whole sectors, of which some are old.
func TestDisk_torn(t *testing.T) {
	d := newDisk(t, power.Ordered)
	const size = 16 * 512
	d.write("file", strings.Repeat(".", size), true)
	for range 20 {
		d.write("file", strings.Repeat("#", size), false)
		d.cut(power.Tear)
		data := d.reads("file")
		old := 0
		for i := 0; i < size; i += 512 {
			switch data[i : i+512] {
			case strings.Repeat(".", 512):
				old++
			case strings.Repeat("#", 512):
			default:
				t.Fatalf("sector %d is torn", i/512)
			}
		}
		if old > 0 && old < 16 {
			return
		}
	}
	t.Error("no write was torn in 20 cuts")
}

// Names are durable after a sync of any file, or only after that of their directory.
func TestDisk_names(t *testing.T) {
	for name, tt := range map[string]struct {
		names        power.Names
		fresh, moved string // after a sync of another file
	}{
		"ordered": {power.Ordered, "fresh", "moved"},
		"apart":   {power.Apart, "-", "-"},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDisk(t, tt.names)
			d.write("old", "moved", true)
			d.write("gone", "gone", true)
			d.syncDir(".")
			test.OK(t, os.Rename(d.path("old"), d.path("new")))
			test.OK(t, os.Remove(d.path("gone")))
			d.cut(power.LoseAll)
			d.want("old", "moved")
			d.want("new", "-")
			d.want("gone", "gone")

			test.OK(t, os.Rename(d.path("old"), d.path("new")))
			d.write("fresh", "fresh", true)
			d.cut(power.LoseAll)
			d.want("fresh", tt.fresh)
			d.want("new", tt.moved)
			if tt.names == power.Ordered {
				return
			}
			test.OK(t, os.Rename(d.path("old"), d.path("new")))
			test.OK(t, os.Remove(d.path("gone")))
			test.OK(t, os.Link(d.path("new"), d.path("link")))
			d.syncDir(".")
			d.cut(power.LoseAll)
			d.want("old", "-")
			d.want("new", "moved")
			d.want("link", "moved")
			d.want("gone", "-")
		})
	}
}

// After a sync that failed, one that succeeds does not make the writes before it durable.
func TestDisk_failedSync(t *testing.T) {
	d := newDisk(t, power.Ordered)
	d.write("file", "old", true)
	f, err := os.OpenFile(d.path("file"), os.O_WRONLY, 0)
	test.OK(t, err)
	_, err = f.WriteAt([]byte("new"), 0)
	test.OK(t, err)
	d.Fail(func(call, name string) syscall.Errno {
		if call == "sync" && name == "file" {
			return syscall.EIO
		}
		return 0
	})
	test.Error(t, "the sync ended with", syscall.EIO, f.Sync())
	d.Fail(nil)
	test.OK(t, f.Sync())
	test.OK(t, f.Close())
	d.want("file", "new")
	d.cut(power.LoseAll)
	d.want("file", "old")
}

// Without power nothing reaches the disk.
func TestMount_off(t *testing.T) {
	d := newDisk(t, power.Ordered)
	f, err := os.Create(d.path("file"))
	test.OK(t, err)
	_, err = f.WriteString("text")
	test.OK(t, err)
	d.mount.Off()
	test.Error(t, "a sync without power ended with", syscall.EIO, f.Sync())
	test.Error(t, "a write without power ended with", syscall.EIO, test.Err(f.WriteString("text")))
	test.Error(t, "a file was made without power", syscall.EIO, test.Err(os.Create(d.path("other"))))
	_ = f.Close()
	d.cut(power.LoseAll)
	d.want("file", "-")
	d.want("other", "-")
}

// A page of a mapped file is written when it is synced, or by chance.
func TestDisk_mapped(t *testing.T) {
	d := newDisk(t, power.Ordered)
	d.write("file", strings.Repeat(".", 4096), true)
	change := func(to byte, sync bool) {
		f := test.Value(os.OpenFile(d.path("file"), os.O_RDWR, 0))(t)
		page := test.Value(syscall.Mmap(int(f.Fd()), 0, 4096, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED))(t)
		page[0] = to
		if sync {
			test.OK(t, f.Sync())
		}
		test.OK(t, syscall.Munmap(page))
		test.OK(t, f.Close())
	}
	change('#', true)
	change('?', false)
	d.cut(power.LoseAll)
	test.Is(t, "the page begins with", '#', d.reads("file")[0])
}

// The key that encrypts secrets is durable before it is used.
func TestSeal_key(t *testing.T) {
	d := newDisk(t, power.Apart)
	made := test.Value(seal.File(d.path("secret.key")))(t)
	d.cut(power.LoseAll)
	read := test.Value(seal.File(d.path("secret.key")))(t)
	if !slices.EqualFunc(made, read, bytes.Equal) {
		t.Error("the key was lost, and another one was made")
	}
}
