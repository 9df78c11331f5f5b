package journal

import (
	"context"
	"errors"

	"longhaul/internal/journal/db"
)

// Size returns the size of the journal.
func (j maintenance) Size(ctx context.Context) (s db.Size, err error) {
	err = j.Read(ctx, func(c *db.Conn) error {
		s, err = j.Db.Measure(c)
		return err
	})
	return s, err
}

// Damage looks for damage of the database and describes what it has found, nothing if
// all is well.
func (j maintenance) Damage(ctx context.Context) (found []string, err error) {
	err = j.Read(ctx, func(c *db.Conn) error {
		found, err = j.Db.Inspect(c)
		return err
	})
	return found, err
}

// Compact gives the room of removed data back: that of a file to the disk, while writers
// wait; that in PostgreSQL to new data. If it fails, or is interrupted, the journal is
// as it was.
func (j maintenance) Compact(ctx context.Context) error {
	c, err := j.Db.Connect(ctx, db.Checkpointing)
	if err != nil {
		return err
	}
	return j.Db.Failure(errors.Join(j.Db.Compact(c), c.Close()))
}
