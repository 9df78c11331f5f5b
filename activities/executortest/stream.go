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
	texts  []string
}

// A Piece is one call of Chunk or Replace.
type Piece struct {
	Artifact a2a.Artifact
	Last     bool
	Replaces bool
}

// Chunk implements [activities.Stream].
func (s *Stream) Chunk(_ context.Context, piece a2a.Artifact, last bool) error {
	return s.put(Piece{piece, last, false})
}

// Replace implements [activities.Stream].
func (s *Stream) Replace(_ context.Context, piece a2a.Artifact, last bool) error {
	return s.put(Piece{piece, last, true})
}

func (s *Stream) put(p Piece) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	p.Artifact.Parts = slices.Clone(p.Artifact.Parts)
	s.pieces = append(s.pieces, p)
	return s.Err
}

// Progress implements [activities.Stream].
func (s *Stream) Progress(text string, _ float64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.texts = append(s.texts, text)
}

// Texts lists the texts of all calls of Progress so far, in order.
func (s *Stream) Texts() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.texts)
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
		switch {
		case i < 0:
			out = append(out, p.Artifact)
			continue
		case p.Replaces:
			out[i] = p.Artifact
			continue
		}
		out[i].Parts = slices.Concat(out[i].Parts, p.Artifact.Parts)
	}
	return out
}
