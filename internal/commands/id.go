package commands

import "longhaul/opt"

// taskIDOf returns the task of id, which may be that of a gate.
func taskIDOf(id string) string {
	taskID, _ := opt.TaskOfGate(id)
	if _, ok := opt.ParseID(taskID); ok {
		return taskID
	}
	return id
}

// objectiveIDOf returns the objective of id, which may be that of a plan, a task or a
// gate.
func objectiveIDOf(id string) string {
	id = taskIDOf(id)
	if ref, ok := opt.ParseID(id); ok {
		return ref.ObjectiveID
	}
	return id
}
