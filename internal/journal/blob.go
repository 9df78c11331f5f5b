package journal

import (
	"context"
	"fmt"

	"longhaul/internal/journal/db"
	"longhaul/internal/journal/record"
	"longhaul/opt"
)

// Blobs is the part of a Journal that keeps data of any kind.
type Blobs struct{ db *db.Engine }

// WriteBlobs keeps data, by their ids, for as long as their objective is kept: all are
// written, or none. An id says what the data is, so writing a blob again changes nothing.
// The objective need not be recorded yet.
func (j Blobs) WriteBlobs(ctx context.Context, objectiveID string, blobs map[string][]byte) error {
	stored := map[string][]byte{}
	for id, data := range blobs {
		var err error
		if stored[id], err = j.db.Box.ToStoredBytes(data); err != nil {
			return fmt.Errorf("write a blob of %s: %w", objectiveID, err)
		}
	}
	return j.db.Write(ctx, func(c *db.Conn) error {
		s, added := db.Steps{C: c, Err: record.RemoveAllRemaining(c, objectiveID)}, 0
		for id, data := range stored {
			n := s.Do("INSERT INTO blobs (objective_id, id, data) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING", objectiveID, id, data)
			added += int(n) * len(data)
		}
		if added > 0 {
			s.Do("UPDATE objectives SET bytes = bytes + $2 WHERE id = $1", objectiveID, added)
		}
		return s.Err
	}, db.ObjectiveLock(objectiveID))
}

// ReadBlob returns the data of a blob. The error wraps opt.ErrUnknown if there
// is none.
func (j Blobs) ReadBlob(ctx context.Context, objectiveID, id string) ([]byte, error) {
	var data []byte
	found, err := j.db.Get(ctx, "SELECT data FROM blobs WHERE objective_id = $1 AND id = $2", db.Args{objectiveID, id}, &data)
	if err == nil && !found {
		err = fmt.Errorf("blob %s of %s: %w", id, objectiveID, opt.ErrUnknown)
	}
	if err != nil {
		return nil, err
	}
	return j.db.Box.FromStoredBytes(data)
}
