package executortest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"longhaul/a2a"
)

// A Stream is an [activities.Stream] that keeps what it is given. Its zero
// value is ready.
type Stream struct {
	Err error // what Chunk returns, after it has kept the piece

	mu     sync.Mutex
	pieces []Piece
}

// A Piece is one call of Chunk.
type Piece struct {
	Artifact a2a.Artifact
	Last     bool
}

// Chunk implements [activities.Stream].
func (s *Stream) Chunk(_ context.Context, piece a2a.Artifact, last bool) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	piece.Parts = slices.Clone(piece.Parts)
	s.pieces = append(s.pieces, Piece{piece, last})
	return s.Err
}

// Pieces lists the pieces that were streamed so far, in order.
func (s *Stream) Pieces() []Piece {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.pieces)
}

// Artifacts returns the artifacts that the pieces form, in the order of their
// first pieces.
func (s *Stream) Artifacts() []a2a.Artifact {
	var out []a2a.Artifact
	for _, p := range s.Pieces() {
		i := slices.IndexFunc(out, func(a a2a.Artifact) bool { return a.ArtifactID == p.Artifact.ArtifactID })
		if i < 0 {
			out = append(out, p.Artifact)
			continue
		}
		out[i].Parts = slices.Concat(out[i].Parts, p.Artifact.Parts)
	}
	return out
}

// check reports the mistakes in the pieces. With done, no piece may be missing.
func (s *Stream) check(done bool) error {
	var errs []error
	ended := map[string]bool{}
	for i, p := range s.Pieces() {
		id := p.Artifact.ArtifactID
		if ended[id] {
			errs = append(errs, fmt.Errorf("piece %d of artifact %q comes after its last", i, id))
		}
		ended[id] = ended[id] || p.Last
		if err := checkArtifact(p.Artifact); err != nil {
			errs = append(errs, fmt.Errorf("piece %d: %w", i, err))
		}
	}
	for _, a := range s.Artifacts() {
		if done && !ended[a.ArtifactID] {
			errs = append(errs, fmt.Errorf("artifact %q was streamed without a last piece", a.ArtifactID))
		}
	}
	return errors.Join(errs...)
}
