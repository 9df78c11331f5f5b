package executortest

import (
	"context"
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
