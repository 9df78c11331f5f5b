package journal

import (
	"maps"
	"slices"

	"longhaul/a2a"
	"longhaul/internal/journal/db"
)

// An artifactTable is the part of a recording that writes artifacts.
type artifactTable struct{ *recording }

// add adds an artifact or a piece of one. An event from an earlier
// attempt, or after the end of the task, is left out: only a worker that was
// replaced sends it.
func (r artifactTable) add(e *entry) (bool, error) {
	t, err := r.tasks().read(e.TaskID)
	if err != nil {
		return false, err
	}
	if t.isLate(e) {
		return false, nil
	}
	if e.Fence() > t.fence {
		if err := r.tasks().showAttempt(e); err != nil {
			return false, err
		}
	}
	if !e.Chunk.Append {
		replaced, err := r.replace(e)
		if replaced || err != nil {
			return replaced, err
		}
	}
	_, err = r.c.Exec("INSERT INTO artifacts (objective_id, seq, task_id, root_id, artifact_id, doc) VALUES ($1, $2, $3, $4, $5, $6)",
		r.objectiveID, r.seq(), e.TaskID, e.RootID, e.Chunk.Artifact.ArtifactID, e.added)
	return true, err
}

// replace puts the artifact of e where the artifact was; replaced is false if it was
// not there.
func (r artifactTable) replace(e *entry) (replaced bool, err error) {
	var first int64
	key := db.Args{r.objectiveID, e.TaskID, e.Chunk.Artifact.ArtifactID}
	const these = " WHERE objective_id = $1 AND task_id = $2 AND artifact_id = $3"
	if replaced, err = r.c.Get("SELECT seq FROM artifacts"+these+" ORDER BY seq LIMIT 1", key, &first); err != nil || !replaced {
		return replaced, err
	}
	if _, err = r.c.Exec("DELETE FROM artifacts"+these+" AND seq > $4", append(key, first)...); err != nil {
		return false, err
	}
	_, err = r.c.Exec("UPDATE artifacts SET doc = $5, root_id = $6"+these+" AND seq = $4", append(key, first, e.added, e.RootID)...)
	return true, err
}

// artifacts returns the artifacts of a task in the order of their first pieces.
// For a root task these include the artifacts of plan tasks that it shows.
func artifacts(c *db.Conn, objectiveID, taskID string) ([]a2a.Artifact, error) {
	var pieces []piece
	err := c.Each(`SELECT seq, task_id, doc FROM artifacts WHERE objective_id = $1 AND task_id = $2
		UNION ALL SELECT seq, task_id, doc FROM artifacts WHERE objective_id = $1 AND root_id = $2 AND root_id <> ''`, db.Args{objectiveID, taskID},
		func(row db.Scanner) error {
			var p piece
			var doc db.Content
			if err := row.Scan(&p.seq, &p.task, &doc); err != nil {
				return err
			}
			err := decode(doc, &p.Artifact)
			pieces = append(pieces, p)
			return err
		})
	slices.SortFunc(pieces, func(a, b piece) int { return int(a.seq - b.seq) })
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
