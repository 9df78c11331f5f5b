package journal

import (
	"context"
	"errors"
)

// A Size says how much room a journal takes, in bytes.
type Size struct {
	Bytes int64
	Free  int64 // of Bytes, for new data; 0 if the database does not report it
}

// Size returns the size of the journal.
func (j maintenance) Size(ctx context.Context) (s Size, err error) {
	err = j.read(ctx, func(c *conn) error {
		s, err = j.db.measure(c)
		return err
	})
	return s, err
}

// Damage looks for damage of the database and describes what it has found, nothing if
// all is well.
func (j maintenance) Damage(ctx context.Context) (found []string, err error) {
	err = j.read(ctx, func(c *conn) error {
		found, err = j.db.inspect(c)
		return err
	})
	return found, err
}

// Compact gives the room of removed data back: that of a file to the disk, while writers
// wait; that in PostgreSQL to new data. If it fails, or is interrupted, the journal is
// as it was.
func (j maintenance) Compact(ctx context.Context) error {
	c, err := j.db.connect(ctx, checkpointing)
	if err != nil {
		return err
	}
	return j.db.failure(errors.Join(j.db.compact(c), c.close()))
}
