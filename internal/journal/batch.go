package journal

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"

	"longhaul/opt"
)

// digestSize is how much is kept of the digest of an event.
const digestSize = 16

// A batch is what one source has to record.
type batch struct {
	source  string
	entries []*entry
}

func newBatch(b opt.Batch) (batch, error) {
	out := batch{source: b.Source}
	for i, e := range b.Events {
		n, err := newEntry(b.ObjectiveID, e)
		if err == nil && i > 0 && e.N != b.Events[i-1].N+1 {
			err = fmt.Errorf("the one before is event %d: %w", b.Events[i-1].N, ErrGap)
		}
		if err != nil {
			return out, fmt.Errorf("event %d of %s from %s: %w", e.N, b.ObjectiveID, b.Source, err)
		}
		out.entries = append(out.entries, n)
	}
	return out, nil
}

// digestOf returns a digest of an event, given as JSON. It is the same whether or
// not what comes with the event as JSON has its special characters escaped, which
// another encoder on its way may have done.
func digestOf(doc string) []byte {
	var b bytes.Buffer
	b.Grow(len(doc))
	json.HTMLEscape(&b, []byte(doc))
	sum := sha256.Sum256(b.Bytes())
	return sum[:digestSize]
}

// last returns the number of the last event that a source has recorded.
func (r *recording) last(source string) (n int64, err error) {
	if !r.o.exists {
		return 0, nil // what is left of another objective by that id says nothing
	}
	_, err = r.c.get("SELECT COALESCE(MAX(last), 0) FROM batches WHERE objective_id = $1 AND source = $2", args{r.objectiveID, source}, &n)
	return n, err
}

// keepBatch notes that a source has recorded entries.
func (r *recording) keepBatch(source string, entries []*entry) error {
	digests := make([]byte, 0, digestSize*len(entries))
	for _, e := range entries {
		digests = append(digests, e.digest...)
	}
	_, err := r.c.exec("INSERT INTO batches (objective_id, source, last, digests) VALUES ($1, $2, $3, $4)",
		r.objectiveID, source, entries[len(entries)-1].N, digests)
	return err
}

// compare returns an error if a source has recorded other events than entries
// under their numbers.
func (r *recording) compare(source string, entries []*entry) error {
	known := map[int64][]byte{} // by number
	err := r.c.each("SELECT last, digests FROM batches WHERE objective_id = $1 AND source = $2 AND last >= $3",
		args{r.objectiveID, source, entries[0].N}, func(row scanner) error {
			var n int64
			var digests []byte
			err := row.Scan(&n, &digests)
			for ; len(digests) > 0; n-- {
				rest := len(digests) - digestSize
				known[n], digests = digests[rest:], digests[:rest]
			}
			return err
		})
	if err != nil {
		return err
	}
	for _, e := range entries {
		if !bytes.Equal(known[e.N], e.digest) {
			return fmt.Errorf("event %d, %s: %w", e.N, e.Kind, ErrContradiction)
		}
	}
	return nil
}
