package journal

import (
	"context"
	"fmt"

	"longhaul/opt"
)

// blobs is the part of a Journal that keeps data of any kind.
type blobs struct{ *store }

// WriteBlob keeps data for as long as its objective is kept. The id says what
// the data is, so writing a blob again changes nothing. The objective need not
// be recorded yet.
func (j blobs) WriteBlob(ctx context.Context, objectiveID, id string, data []byte) error {
	stored, err := j.box.toStoredBytes(data)
	if err != nil {
		return fmt.Errorf("write a blob of %s: %w", objectiveID, err)
	}
	return j.writer.submit(ctx, func(c *conn) error {
		if err := removeAllRemaining(c, objectiveID); err != nil {
			return err
		}
		_, err := c.exec("INSERT INTO blobs (objective_id, id, data) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING", objectiveID, id, stored)
		return err
	}, objectiveLock(objectiveID))
}

// ReadBlob returns the data of a blob. The error wraps opt.ErrUnknown if there
// is none.
func (j blobs) ReadBlob(ctx context.Context, objectiveID, id string) ([]byte, error) {
	var data []byte
	err := j.read(ctx, func(c *conn) error {
		found, err := c.get("SELECT data FROM blobs WHERE objective_id = $1 AND id = $2", args{objectiveID, id}, &data)
		if err == nil && !found {
			return fmt.Errorf("blob %s of %s: %w", id, objectiveID, opt.ErrUnknown)
		}
		if err == nil {
			data, err = j.box.fromStoredBytes(data)
		}
		return err
	})
	return data, err
}
