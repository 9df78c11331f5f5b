package read

import (
	"context"
	"sync"

	"longhaul/api/call"
	"longhaul/opt/shown"
)

// mostCourses is of how many objectives the courses are kept.
const mostCourses = 200

// courses keeps the courses of objectives: the events of a long one are read once.
type courses struct {
	mu   sync.Mutex
	kept map[string]*keptCourse // by objective
}

// A keptCourse is a course, which its lock guards.
type keptCourse struct {
	sync.Mutex
	shown.Course
}

// of returns the course of an objective as it is kept, the zero one if it is not.
func (k *courses) of(objectiveID string) *keptCourse {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.kept == nil || len(k.kept) >= mostCourses && k.kept[objectiveID] == nil {
		k.kept = map[string]*keptCourse{}
	}
	if k.kept[objectiveID] == nil {
		k.kept[objectiveID] = &keptCourse{}
	}
	return k.kept[objectiveID]
}

// GetCourse returns the course of the work on the tasks of an objective until now.
func (s *Events) GetCourse(ctx context.Context, c *call.Call, objectiveID string) (shown.Course, error) {
	v, err := s.Read.Task(ctx, c, objectiveID, shown.TaskWant{})
	if call.Is(err, call.TaskNotFound) || err == nil && v.ObjectiveID != objectiveID {
		return shown.Course{}, call.Missing("OBJECTIVE_NOT_FOUND", "Objective", objectiveID)
	}
	if err != nil {
		return shown.Course{}, err
	}
	kept := s.courses.of(objectiveID)
	kept.Lock()
	defer kept.Unlock()
	if v.Seq < kept.Seq { // the journal was restored from an older copy
		kept.Course = shown.Course{}
	}
	for kept.Seq < v.Seq {
		events, err := s.Journal.Events(ctx, objectiveID, kept.Seq, eventWindow)
		if err != nil || len(events) == 0 {
			return kept.Clone(), err
		}
		for _, e := range events {
			kept.Add(e)
		}
	}
	return kept.Clone(), nil
}
