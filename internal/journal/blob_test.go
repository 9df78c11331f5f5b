package journal_test

import (
	"bytes"
	"errors"
	"testing"

	"longhaul/internal/journal"
	"longhaul/opt"
)

func TestJournal_Blobs(t *testing.T) {
	each(t, func(t *testing.T, open func() *journal.Journal) {
		j, ctx := open(), t.Context()
		if _, err := j.ReadBlob(ctx, "obj-a", "x"); !errors.Is(err, opt.ErrUnknown) {
			t.Errorf("a blob that is not there: %v", err)
		}
		data := bytes.Repeat([]byte{0, 1, 0xff}, 1<<20)
		for range 2 {
			if err := j.WriteBlob(ctx, "obj-a", "x", data); err != nil {
				t.Fatal(err)
			}
		}
		if err := j.WriteBlob(ctx, "obj-b", "x", nil); err == nil {
			t.Error("a blob without data was written")
		}
		got, err := j.ReadBlob(ctx, "obj-a", "x")
		if err != nil || !bytes.Equal(got, data) {
			t.Errorf("read %d bytes, %v; want %d", len(got), err, len(data))
		}
		if _, err := j.ReadBlob(ctx, "obj-b", "x"); !errors.Is(err, opt.ErrUnknown) {
			t.Errorf("the blob of another objective: %v", err)
		}
	})
}
