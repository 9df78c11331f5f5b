package record

import (
	"longhaul/internal/journal/db"
)

// addArtifact adds an artifact or a piece of one. An event from an earlier
// attempt, or after the end of the task, is left out: only a worker that was
// replaced sends it.
func addArtifact(r *rows, e *entry) (bool, error) {
	t, err := readTask(r, e.TaskID)
	if err != nil {
		return false, err
	}
	if t.isLate(e) {
		return false, nil
	}
	if e.Fence() > t.fence {
		if err := showAttempt(r, e); err != nil {
			return false, err
		}
	}
	if !e.Chunk.Append {
		replaced, err := replaceArtifact(r, e)
		if replaced || err != nil {
			return replaced, err
		}
	}
	err = r.c.Do("INSERT INTO artifacts (objective_id, seq, task_id, root_id, artifact_id, doc) VALUES ($1, $2, $3, $4, $5, $6)",
		r.objectiveID, r.seq(), e.TaskID, e.RootID, e.Chunk.Artifact.ArtifactID, e.added)
	return true, err
}

// replaceArtifact puts the artifact of e where the artifact was; replaced is false if it was
// not there.
func replaceArtifact(r *rows, e *entry) (replaced bool, err error) {
	var first int64
	key := db.Args{r.objectiveID, e.TaskID, e.Chunk.Artifact.ArtifactID}
	const these = " WHERE objective_id = $1 AND task_id = $2 AND artifact_id = $3"
	if replaced, err = r.c.Get("SELECT seq FROM artifacts"+these+" ORDER BY seq LIMIT 1", key, &first); err != nil || !replaced {
		return replaced, err
	}
	if err = r.c.Do("DELETE FROM artifacts"+these+" AND seq > $4", append(key, first)...); err != nil {
		return false, err
	}
	err = r.c.Do("UPDATE artifacts SET doc = $5, root_id = $6"+these+" AND seq = $4", append(key, first, e.added, e.RootID)...)
	return true, err
}
