package record

import (
	"longhaul/a2a"
	"longhaul/internal/journal/db"
	"longhaul/opt"
)

// addArtifact adds an artifact or a piece of one. An event from an earlier
// attempt, or after the end of the task, is left out: only a worker that was
// replaced sends it.
func addArtifact(r *rows, e *entry) (kept bool) {
	t := readTask(r, e.TaskID)
	if t.isLate(e) {
		return false
	}
	if e.Fence() > t.fence {
		showAttempt(r, e)
	}
	if e.Chunk.Append || !replaceArtifact(r, e) {
		insertArtifact(r, e)
	}
	return true
}

func insertArtifact(r *rows, e *entry) {
	r.Do("INSERT INTO artifacts (objective_id, seq, task_id, root_id, artifact_id, doc) VALUES ($1, $2, $3, $4, $5, $6)",
		r.objectiveID, r.seq(), e.TaskID, e.RootID, e.Chunk.Artifact.ArtifactID, e.added)
}

// replaceArtifact puts the artifact of e where the artifact was; replaced is false if it was
// not there.
func replaceArtifact(r *rows, e *entry) (replaced bool) {
	var first int64
	key := db.Args{r.objectiveID, e.TaskID, e.Chunk.Artifact.ArtifactID}
	const these = " WHERE objective_id = $1 AND task_id = $2 AND artifact_id = $3"
	if !r.Get("SELECT seq FROM artifacts"+these+" ORDER BY seq LIMIT 1", key, &first) {
		return false
	}
	r.Do("DELETE FROM artifacts"+these+" AND seq > $4", append(key, first)...)
	r.Do("UPDATE artifacts SET doc = $5, root_id = $6"+these+" AND seq = $4", append(key, first, e.added, e.RootID)...)
	return true
}

// setArtifact sets an artifact of a task. The root task shows it as before.
func setArtifact(r *rows, taskID string, a a2a.Artifact) {
	whole := &entry{Event: opt.Event{TaskID: taskID, Chunk: &opt.Chunk{Artifact: a}}, added: r.Encode(true, a)}
	r.Get("SELECT root_id FROM artifacts WHERE objective_id = $1 AND task_id = $2 AND artifact_id = $3 ORDER BY seq LIMIT 1",
		db.Args{r.objectiveID, taskID, a.ArtifactID}, &whole.RootID)
	if !replaceArtifact(r, whole) {
		insertArtifact(r, whole)
	}
}
