package journal_test

import (
	"bytes"
	"testing"

	"longhaul/internal/journal"
	"longhaul/internal/test"
	"longhaul/opt"
)

func TestJournal_Blobs(t *testing.T) {
	each(t, func(t *testing.T, open func() *journal.Journal) {
		j, ctx := open(), t.Context()
		fails(t, "a blob that is not there", opt.ErrUnknown)(j.ReadBlob(ctx, "obj-a", "x"))
		data := bytes.Repeat([]byte{0, 1, 0xff}, 1<<20)
		for range 2 {
			test.OK(t, j.WriteBlobs(ctx, "obj-a", map[string][]byte{"x": data}))
		}
		if err := j.WriteBlobs(ctx, "obj-b", map[string][]byte{"w": data, "x": nil, "y": data}); err == nil {
			t.Error("a blob without data was written")
		}
		test.OK(t, j.WriteBlobs(ctx, "obj-a", map[string][]byte{"x": {1}, "y": {2}}))
		for id, want := range map[string][]byte{"x": data, "y": {2}} {
			if got, err := j.ReadBlob(ctx, "obj-a", id); err != nil || !bytes.Equal(got, want) {
				t.Errorf("blob %s has %d bytes, %v; want %d", id, len(got), err, len(want))
			}
		}
		for _, id := range []string{"w", "x", "y"} {
			fails(t, "blob "+id+" of another objective", opt.ErrUnknown)(j.ReadBlob(ctx, "obj-b", id))
		}
	})
}
