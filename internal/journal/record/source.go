package record

import (
	"bytes"
	"fmt"
	"slices"

	"longhaul/internal/journal/db"
)

const rowNumbers = 64 // numbers of a source after which another row begins

// numbers are a range of event numbers of a source, and the digests of their
// events. The zero value is for a source that has recorded nothing.
type numbers struct {
	first   int64
	digests []byte
}

// last returns the last of n.
func (n numbers) last() int64 {
	if len(n.digests) == 0 {
		return max(n.first, 1) - 1
	}
	return n.first - 1 + int64(len(n.digests)/digestSize)
}

// latestNumbers returns the latest numbers of a source, at least its last one.
func (r *Recording) latestNumbers(source string) (numbers, error) {
	n, read := r.knownNumbers[source]
	if read || !r.o.exists {
		return n, nil
	}
	_, err := r.c.Get("SELECT first, digests FROM sources WHERE objective_id = $1 AND source = $2 ORDER BY first DESC LIMIT 1",
		db.Args{r.objectiveID, source}, &n.first, &n.digests)
	return n, err
}

// storeNumbers notes that a source has recorded entries.
func (r *Recording) storeNumbers(source string, entries []*entry) error {
	n, err := r.latestNumbers(source)
	if err != nil {
		return err
	}
	if len(n.digests) == 0 || len(n.digests) >= rowNumbers*digestSize {
		n = numbers{first: entries[0].N}
	}
	n.digests = slices.Clone(n.digests)
	for _, e := range entries {
		n.digests = append(n.digests, e.digest...)
	}
	r.knownNumbers[source] = n
	return r.c.Do(`INSERT INTO sources (objective_id, source, first, digests) VALUES ($1, $2, $3, $4)
		ON CONFLICT (objective_id, source, first) DO UPDATE SET digests = excluded.digests`, r.objectiveID, source, n.first, n.digests)
}

// checkRepeats returns an error if a source has recorded other events than entries
// under their numbers.
func (r *Recording) checkRepeats(source string, entries []*entry) error {
	known := map[int64][]byte{} // by number
	err := r.c.Each("SELECT first, digests FROM sources WHERE objective_id = $1 AND source = $2", db.Args{r.objectiveID, source}, func(row db.Scanner) error {
		var n numbers
		err := row.Scan(&n.first, &n.digests)
		for digest := range slices.Chunk(n.digests, digestSize) {
			known[n.first] = digest
			n.first++
		}
		return err
	})
	if err != nil {
		return err
	}
	for _, e := range entries {
		if !bytes.Equal(known[e.N], e.digest) {
			return fmt.Errorf("%s: %w: %w", e.Kind, ErrContradiction, rewound(r.rows, source, e.N))
		}
	}
	return nil
}

// LastNumbers returns the number of the last event of an objective, by source.
func LastNumbers(c *db.Conn, objectiveID string) (map[string]int64, error) {
	last := map[string]int64{}
	err := c.Each("SELECT source, first, digests FROM sources WHERE objective_id = $1 ORDER BY source, first", db.Args{objectiveID}, func(row db.Scanner) error {
		var source string
		var n numbers
		err := row.Scan(&source, &n.first, &n.digests)
		last[source] = n.last()
		return err
	})
	return last, err
}
