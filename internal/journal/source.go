package journal

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"slices"

	"longhaul/a2a"
	"longhaul/internal/journal/db"
	"longhaul/opt"
)

const (
	digestSize = 16 // bytes that are kept of the digest of an event
	rowNumbers = 64 // numbers of a source after which another row begins
)

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

// digestOf returns a digest of e. It covers a fixed list of members, which stays as it is
// when events get more of them: a program that was rolled back reads the events of a newer
// one in a history, and repeats them without the members that it does not know.
func digestOf(e opt.Event) []byte {
	of := []any{e.N, e.Kind, e.At.Millis(), e.PlanID, e.TaskID, e.RootID, e.From, e.To, e.Reason, e.Round, e.Try, e.Attempt, e.Leg, e.Revision, e.Link, e.ForTask, e.Principal, e.Key}
	for _, m := range []*a2a.Message{e.Message, e.Status} {
		if m != nil {
			of = append(of, "message", m.MessageID)
		}
	}
	if e.Gate != nil {
		of = append(of, "gate", e.Gate.ID)
		if e.Kind == opt.ExchangeAdded {
			of = append(of, e.Gate.Exchanges[0].MessageID)
		}
	}
	if e.Answer != nil {
		of = append(of, "answer", e.Answer.CommandID)
	}
	if c := e.Chunk; c != nil {
		of = append(of, "chunk", c.Artifact.ArtifactID, c.Append, c.Last)
		for _, p := range c.Artifact.Parts {
			if p.Text != nil {
				of = append(of, *p.Text)
			}
		}
	}
	doc, err := json.Marshal(of)
	if err != nil {
		panic(err) // they are texts, numbers and truth values
	}
	sum := sha256.Sum256(doc)
	return sum[:digestSize]
}

// latestNumbers returns the latest numbers of a source, at least its last one.
func (r *recording) latestNumbers(source string) (numbers, error) {
	n, read := r.knownNumbers[source]
	if read || !r.o.exists {
		return n, nil
	}
	_, err := r.c.Get("SELECT first, digests FROM sources WHERE objective_id = $1 AND source = $2 ORDER BY first DESC LIMIT 1",
		db.Args{r.objectiveID, source}, &n.first, &n.digests)
	return n, err
}

// storeNumbers notes that a source has recorded entries.
func (r *recording) storeNumbers(source string, entries []*entry) error {
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
	_, err = r.c.Exec(`INSERT INTO sources (objective_id, source, first, digests) VALUES ($1, $2, $3, $4)
		ON CONFLICT (objective_id, source, first) DO UPDATE SET digests = excluded.digests`, r.objectiveID, source, n.first, n.digests)
	return err
}

// checkRepeats returns an error if a source has recorded other events than entries
// under their numbers.
func (r *recording) checkRepeats(source string, entries []*entry) error {
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
			return fmt.Errorf("%s: %w: %w", e.Kind, ErrContradiction, r.rewinds().rewound(source, e.N))
		}
	}
	return nil
}
