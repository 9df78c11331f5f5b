package wire

import (
	"longhaul/api/service"
)

// Sent returns the result of a send as it stands on the wire. The objective is
// the one addition to a core result that we ever make, and only for a client
// that asked for exactly this. In 1.0 it stands beside the task, in 0.3, where
// the result is the task, it is a member of that.
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

// TaskPage returns a page as it stands on the wire, with every member.
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
