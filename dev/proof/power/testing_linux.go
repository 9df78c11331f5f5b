package power

import (
	"os"
	"syscall"
	"testing"

	"longhaul/internal/needs"
)

// In mounts a new disk in a directory, which it makes, for a test that is left out where disks cannot be
// mounted. The caller closes the mount.
func In(t testing.TB, names Names, seed uint64, dir string) (*Disk, *Mount) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Access("/dev/fuse", 6); err != nil || os.Getuid() != 0 {
		needs.Missing(t, "/dev/fuse and root", "this test mounts a disk, for which it needs /dev/fuse and root")
	}
	d := New(names, seed)
	m, err := d.Mount(dir)
	if err != nil {
		needs.Missing(t, "the right to mount disks", err.Error())
	}
	return d, m
}
