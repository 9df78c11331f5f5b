package journal

import (
	"context"
	"fmt"

	"longhaul/internal/journal/db"
	"longhaul/internal/journal/record"
	"longhaul/opt"
)

// Maintenance is the part of a Journal that restores lost events, and checks, corrects and
// compacts the database.
type Maintenance struct {
	db     *db.Engine
	record recorder
}

// Size returns the size of the journal.
func (j Maintenance) Size(ctx context.Context) (Size, error) { return j.db.Size(ctx) }

// Damage describes damage of the database, nothing if all is well.
func (j Maintenance) Damage(ctx context.Context) ([]string, error) { return j.db.Damage(ctx) }

// Rest gives the memory of caches back, see [db.Engine.Rest].
func (j Maintenance) Rest(ctx context.Context) error { return j.db.Rest(ctx) }

// Compact gives the room of removed data back, see [db.Engine.Compact].
func (j Maintenance) Compact(ctx context.Context) error { return j.db.Compact(ctx) }

// Restore records events that the journal has lost, like [Journal.Record], and returns
// how many it has added. Their places are not known to be those that they had: an
// added event gets a seq above after, unless it opens the objective, so that no client
// takes it for another one that had the seq before.
func (j Maintenance) Restore(ctx context.Context, after int64, batches ...opt.Batch) (added int, err error) {
	r, err := record.New(batches, *j.record.channels.Load())
	if err != nil || r == nil {
		return 0, err
	}
	err = j.db.Write(ctx, func(c *db.Conn) (err error) {
		added, err = r.Restore(c, after)
		return err
	}, db.ObjectiveLock(r.ObjectiveID()))
	if err != nil {
		return 0, fmt.Errorf("restore events of %s: %w", r.ObjectiveID(), err)
	}
	return added, nil
}

// A Difference says what the journal does not have of some batches.
type Difference = record.Difference

// Compare compares the journal with batches of one objective, without a change.
func (j Maintenance) Compare(ctx context.Context, batches ...opt.Batch) (Difference, error) {
	r, err := record.New(batches, nil)
	if err != nil || r == nil {
		return Difference{}, err
	}
	return db.InSnapshot(ctx, j.db, r.Compare)
}

// HasBlob reports whether there is a blob.
func (j Maintenance) HasBlob(ctx context.Context, objectiveID, id string) (bool, error) {
	return j.db.Get(ctx, "SELECT 1 FROM blobs WHERE objective_id = $1 AND id = $2", db.Args{objectiveID, id}, new(int))
}
