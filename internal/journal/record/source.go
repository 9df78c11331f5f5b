package record

import (
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
func (r *Recording) latestNumbers(source string) numbers {
	n, read := r.knownNumbers[source]
	if read || !r.o.exists {
		return n
	}
	r.Get("SELECT first, digests FROM sources WHERE objective_id = $1 AND source = $2 ORDER BY first DESC LIMIT 1",
		db.Args{r.objectiveID, source}, &n.first, &n.digests)
	return n
}

// storeNumbers notes that a source has recorded entries.
func (r *Recording) storeNumbers(source string, entries []*entry) {
	n := r.latestNumbers(source)
	if len(n.digests) == 0 || len(n.digests) >= rowNumbers*digestSize {
		n = numbers{first: entries[0].N}
	}
	n.digests = slices.Clone(n.digests)
	for _, e := range entries {
		n.digests = append(n.digests, e.digest...)
	}
	r.knownNumbers[source] = n
	r.Do(`INSERT INTO sources (objective_id, source, first, digests) VALUES ($1, $2, $3, $4)
		ON CONFLICT (objective_id, source, first) DO UPDATE SET digests = excluded.digests`, r.objectiveID, source, n.first, n.digests)
}

// checkRepeats fails if a source has recorded other events than entries under their numbers.
func (r *Recording) checkRepeats(source string, entries []*entry) {
	known, err := digests(r.C, r.objectiveID, source)
	r.Fail(err)
	for _, e := range entries {
		if known[e.N] != string(e.digest) {
			r.Fail(fmt.Errorf("%s: %w: %w", e.Kind, ErrContradiction, rewound(r.rows, source, e.N)))
		}
	}
}

// digests returns the digests of the events of a source that are recorded, by number. Without
// the objective, there are none.
func digests(c *db.Conn, objectiveID, source string) (map[int64]string, error) {
	out := map[int64]string{}
	err := c.Each(`SELECT s.first, s.digests FROM sources s JOIN objectives o ON o.id = s.objective_id
		WHERE s.objective_id = $1 AND s.source = $2`, db.Args{objectiveID, source}, func(row db.Scanner) error {
		var n numbers
		err := row.Scan(&n.first, &n.digests)
		for digest := range slices.Chunk(n.digests, digestSize) {
			out[n.first] = string(digest)
			n.first++
		}
		return err
	})
	return out, err
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
