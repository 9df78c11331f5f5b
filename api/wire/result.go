package wire

import (
	"longhaul/a2a"
	"longhaul/opt"
)

// Sent is the result of a send: exactly one of Task and Message is set.
type Sent struct {
	Task      *a2a.Task
	Message   *a2a.Message
	Objective *opt.Objective // beside the task, for a client that asked for it there
}

// Sent returns the result of a send as it stands on the wire. The objective is
// the one addition to a core result that we ever make, and only for a client
// that asked for exactly this. In 1.0 it stands beside the task, in 0.3, where
// the result is the task, it is a member of that.
func (v Version) Sent(s Sent) any {
	if s.Objective == nil {
		return v.Event(a2a.Event{Task: s.Task, Message: s.Message})
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

// TaskPage is a page of tasks.
type TaskPage struct {
	Tasks []a2a.Task
	Next  string // token of the page after, "" for none
	Size  int    // that was asked for
	Total int    // on all pages
}

// TaskPage returns a page as it stands on the wire, with every member.
func (v Version) TaskPage(p TaskPage) any {
	tasks := make([]any, 0, len(p.Tasks))
	for _, t := range p.Tasks {
		tasks = append(tasks, v.Task(t))
	}
	return struct {
		Tasks         []any  `json:"tasks"`
		NextPageToken string `json:"nextPageToken"`
		PageSize      int    `json:"pageSize"`
		TotalSize     int    `json:"totalSize"`
	}{tasks, p.Next, p.Size, p.Total}
}
