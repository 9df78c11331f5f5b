package wire

import (
	"longhaul/api/service"
)

// Sent returns the wire form of the result of a send. The objective is the only
// member that we add to a core result, and only for a client that asked for it.
// In 1.0 it is beside the task; in 0.3, where the result is the task, it is a
// member of the task.
func (v Version) Sent(s service.Sent) any {
	if s.Objective == nil {
		if s.Message != nil {
			return v.wrap("message", v.Message(*s.Message))
		}
		return v.wrap("task", v.Task(*s.Task))
	}
	objective := newObjective(s.Objective, true, true)
	if v == V03 {
		return struct {
			task03
			Objective any `json:"objective"`
		}{v.Task(*s.Task).(task03), objective}
	}
	return struct {
		Task      any `json:"task"`
		Objective any `json:"objective"`
	}{v.Task(*s.Task), objective}
}

// TaskPage returns the wire form of a page, with every member.
func (v Version) TaskPage(p service.TaskPage) any {
	tasks := make([]any, 0, len(p.Tasks))
	for _, t := range p.Tasks {
		tasks = append(tasks, v.task(t))
	}
	return struct {
		Tasks         []any  `json:"tasks"`
		NextPageToken string `json:"nextPageToken"`
		PageSize      int    `json:"pageSize"`
		TotalSize     int    `json:"totalSize"`
	}{tasks, p.Next, p.Size, p.Total}
}
