package commands

import (
	"longhaul/opt"
	"strings"
)

// taskIDOf returns the task of id, which may be that of a gate.
func taskIDOf(id string) string {
	if i := strings.LastIndexByte(id, ':'); i > 0 {
		if _, ok := opt.ParseID(id[:i]); ok {
			return id[:i]
		}
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
