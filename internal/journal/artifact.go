package journal

import (
	"cmp"
	"maps"
	"slices"

	"longhaul/a2a"
	"longhaul/internal/journal/db"
)

// artifacts returns the artifacts of a task in the order of their first pieces.
// For a root task these include the artifacts of plan tasks that it shows.
func artifacts(c *db.Conn, objectiveID, taskID string) ([]a2a.Artifact, error) {
	pieces, err := db.All(c, `SELECT seq, task_id, doc FROM artifacts WHERE objective_id = $1 AND task_id = $2
		UNION ALL SELECT seq, task_id, doc FROM artifacts WHERE objective_id = $1 AND root_id = $2 AND root_id <> ''`, db.Args{objectiveID, taskID},
		func(row db.Scanner) (p piece, err error) {
			var doc db.Content
			if err = row.Scan(&p.seq, &p.task, &doc); err == nil {
				err = db.Decode(doc, &p.Artifact)
			}
			return p, err
		})
	slices.SortFunc(pieces, func(a, b piece) int { return cmp.Compare(a.seq, b.seq) })
	return assemble(pieces), err
}

// A piece is an artifact, or a part of one, that a task made.
type piece struct {
	a2a.Artifact
	seq  int64
	task string
}

// assemble puts pieces together, as a client does with the events of a stream.
func assemble(pieces []piece) []a2a.Artifact {
	var out []a2a.Artifact
	place := map[string]int{}
	maker := map[string]string{}
	for _, p := range pieces {
		i, found := place[p.ArtifactID]
		switch {
		case !found:
			place[p.ArtifactID] = len(out)
			out = append(out, p.Artifact)
		case maker[p.ArtifactID] != p.task: // another task replaced it
			out[i] = p.Artifact
		default:
			extend(&out[i], p.Artifact)
		}
		maker[p.ArtifactID] = p.task
	}
	return out
}

// extend adds piece to a: it appends the parts and replaces the other members
// that piece has.
func extend(a *a2a.Artifact, piece a2a.Artifact) {
	a.Parts = a2a.AppendParts(a.Parts, piece.Parts...)
	if piece.Name != "" {
		a.Name = piece.Name
	}
	if piece.Description != "" {
		a.Description = piece.Description
	}
	if a.Metadata == nil {
		a.Metadata = piece.Metadata
	} else {
		maps.Copy(a.Metadata, piece.Metadata)
	}
	for _, x := range piece.Extensions {
		if !slices.Contains(a.Extensions, x) {
			a.Extensions = append(a.Extensions, x)
		}
	}
}
