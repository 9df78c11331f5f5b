package api

import (
	"longhaul/a2a"
	"longhaul/opt"
)

// project returns what an event is to the watchers of the feed's task; ok is
// false for what they do not see. It depends on the event alone, so that everybody
// sees the same, wherever a stream began: a root task's update says where the work
// stands only if its event does, which is at a gate.
func (f *feed) project(e opt.Event) (out a2a.Event, ok bool) {
	switch {
	case (e.Kind == opt.TaskMoved || e.Kind == opt.TaskTried) && e.TaskID == f.taskID:
		return a2a.Event{Status: f.status(e)}, true
	case e.Kind == opt.ArtifactAdded && e.Chunk != nil && (e.TaskID == f.taskID || e.RootID == f.taskID):
		return a2a.Event{Artifact: &a2a.ArtifactUpdate{
			TaskID: f.taskID, ContextID: f.contextID, Artifact: e.Chunk.Artifact,
			Append: e.Chunk.Append, LastChunk: e.Chunk.Last, Metadata: placeOf(f.objectiveID, e.TaskID).metadata(nil),
		}}, true
	}
	return a2a.Event{}, false
}

func (f *feed) status(e opt.Event) *a2a.StatusUpdate {
	u := &a2a.StatusUpdate{
		TaskID: f.taskID, ContextID: f.contextID,
		Status: a2a.TaskStatus{State: opt.TaskState(e.To).A2A(), At: e.At},
	}
	if e.Status != nil {
		m := addressed(*e.Status, a2a.Task{ID: f.taskID, ContextID: f.contextID})
		u.Status.Message = &m
	}
	if e.Gate == nil {
		u.Metadata = placeOf(f.objectiveID, e.TaskID).metadata(nil)
	} else {
		u.Metadata = placeOf(f.objectiveID, e.Gate.TaskID).metadata(nil).With(opt.KeyInterrupt, interrupt{e.Gate})
	}
	if e.Attempt > 0 {
		u.Metadata = u.Metadata.With(opt.KeyAttempt, e.Attempt)
	}
	return u
}
