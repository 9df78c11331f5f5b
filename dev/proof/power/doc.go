// Package power has disks for tests that lose unsynced writes when the power is cut, and
// that fail. kill -9 shows neither: the page cache of the kernel outlives every process.
//
//	Disk    files in memory, twice: as programs see them, and as they are without unsynced
//	        writes (disk.go); the part that a cut takes (loss.go)
//	Mount   the disk as a file system, through FUSE; Off cuts the power (mount_linux.go)
//	In      a disk for a test; where none can be mounted, the test is left out (testing_linux.go)
//
// # Which writes are durable
//
// Those of content and length of a file before an fsync or fdatasync of it that succeeded. The rest is lost, or a random part of the writes remains, in no order: of
// two writes without a sync between them the second may be there alone. A write may be torn
// into sectors of 512 bytes. Writes after a change of the length (truncate) are there
// only if that is. Lost parts in the middle of a file are zeros. Files are independent of each other.
//
// Names, as [Names] says. Ordered is what ext4, XFS and Btrfs do: all changes of names are in
// one log, which every sync of a file or a directory writes, and of which a cut keeps a
// beginning. Apart is what POSIX promises: a new, renamed or removed name is durable after an
// fsync of its directory, and each directory keeps a beginning of its own. A rename is one
// change, unless it is to another directory with names apart. Data never comes with a name: a
// file that was renamed over another one without a sync may be empty after a cut. Modes and owners
// are durable at once.
//
// A failed fsync loses for good what it should have written, though programs still read it:
// as on Linux, a later one that succeeds does not write it again.
//
// Pages of mapped files are written when the kernel writes them: with msync or fsync, and
// at times of its choice. Without, they are lost. The index of SQLite's write-ahead log
// (-shm), which is mapped, needs no more: the first connection makes it again. PostgreSQL maps
// no files of its data.
//
// Not there: writes that reach other files than meant, bits that change, disks that say they
// have synced and have not.
package power
