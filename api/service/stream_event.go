package service

import (
	"longhaul/a2a"
	"longhaul/opt"
)

// project returns the form of an event for clients of the stream's task; ok is
// false if they do not see it. It depends only on the event, so every client sees
// the same, wherever its stream began. An update of a root task names a place in
// a plan only if its event does, which is at a gate.
func (s *Stream) project(e opt.Event) (out a2a.Event, ok bool) {
	switch {
	case (e.Kind == opt.TaskMoved || e.Kind == opt.TaskTried) && e.TaskID == s.taskID:
		return a2a.Event{Status: s.status(e)}, true
	case e.Kind == opt.ArtifactAdded && e.Chunk != nil && (e.TaskID == s.taskID || e.RootID == s.taskID):
		return a2a.Event{Artifact: &a2a.ArtifactUpdate{
			TaskID: s.taskID, ContextID: s.contextID, Artifact: e.Chunk.Artifact,
			Append: e.Chunk.Append, LastChunk: e.Chunk.Last, Metadata: placeOf(s.objectiveID, e.TaskID).metadata(nil),
		}}, true
	}
	return a2a.Event{}, false
}

func (s *Stream) status(e opt.Event) *a2a.StatusUpdate {
	u := &a2a.StatusUpdate{
		TaskID: s.taskID, ContextID: s.contextID,
		Status: a2a.TaskStatus{State: opt.TaskState(e.To).A2A(), At: e.At},
	}
	if e.Status != nil {
		m := withTaskIDs(*e.Status, a2a.Task{ID: s.taskID, ContextID: s.contextID})
		u.Status.Message = &m
	}
	if e.Gate == nil {
		u.Metadata = placeOf(s.objectiveID, e.TaskID).metadata(nil)
	} else {
		u.Metadata = placeOf(s.objectiveID, e.Gate.TaskID).metadata(nil).With(opt.KeyInterrupt, interrupt{Interrupt: e.Gate.Shown()})
	}
	if e.Attempt > 0 {
		u.Metadata = u.Metadata.With(opt.KeyAttempt, e.Attempt)
	}
	return u
}
