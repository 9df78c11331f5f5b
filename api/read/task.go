package read

import (
	"context"
	"slices"

	"longhaul/a2a"
	"longhaul/api/call"
	"longhaul/opt"
	"longhaul/opt/shown"
)

// TaskParams are the params of a method about one task.
type TaskParams struct {
	Scope   shown.HistoryScope `param:",scope"`
	ID      string             `param:"id,needed"`
	History int                `param:"historyLength,history of 100"`
	After   *int64             `param:",after"` // resume a stream after this event

	RequestID string // that the client gave to a cancellation
	Reason    string // of a cancellation, for people; "" for none
	Seen      int64  // of a cancellation of a plan task: the revision that the client saw, 0 for any
}

// TaskListParams are the params of a list of tasks.
type TaskListParams struct {
	PageToken string           `param:"pageToken"`
	Filter    shown.TaskFilter // without its cursor and the scope of its history
}

// TaskPage is a page of tasks.
type TaskPage struct {
	Tasks []a2a.Task
	Next  string // token of the next page, "" for none
	Size  int    // that was asked for
	Total int    // on all pages
}

// A Task is an A2A task in the form for a caller.
type Task struct {
	a2a.Task
	Objective *opt.Objective // that its metadata carries; nil for none
}

// A TaskLister lists tasks: a page, and how many there are on all pages.
type TaskLister interface {
	Tasks(ctx context.Context, tenant string, f shown.TaskFilter) ([]shown.TaskView, int, error)
}

// Tasks reads A2A tasks.
type Tasks struct {
	Journal TaskLister
	Read    Reader
	Pages   *call.Pages
	Links   Links
}

// GetTask reads only the journal, so it works while everything else is down.
func (s *Tasks) GetTask(ctx context.Context, c *call.Call, p TaskParams) (Task, error) {
	v, err := s.Read.Task(ctx, c, p.ID, shown.TaskWant{History: p.History, Scope: p.Scope, Artifacts: true})
	if err != nil {
		return Task{}, err
	}
	t, err := s.Read.Show(ctx, c, v)
	t.Metadata = s.Links.in(t.Metadata, v)
	return t, err
}

// ListTasks returns a page of the caller's tasks, latest change first. Its tasks
// do not carry their objectives, even where the extension is on.
func (s *Tasks) ListTasks(ctx context.Context, c *call.Call, p TaskListParams) (TaskPage, error) {
	f := p.Filter
	f.Want.Scope = shown.ScopeTask
	page := TaskPage{Size: f.Limit}
	list := call.PageOf{Kind: "tasks", Tenant: c.Tenant, Filter: []string{f.ContextID, string(f.State), f.Since.String()}}
	var err error
	if f.After, err = s.Pages.Cursor(ctx, list, p.PageToken); err != nil {
		return page, err
	}
	f.Limit++ // one more shows whether there is a next page
	views, total, err := s.Journal.Tasks(ctx, c.Tenant, f)
	if err != nil {
		return page, err
	}
	page.Total = total
	if len(views) == f.Limit {
		views = views[:f.Limit-1]
		last := views[len(views)-1].Task
		if page.Next, err = s.Pages.Token(ctx, list, shown.Cursor{At: last.Status.At, ID: last.ID}); err != nil {
			return page, err
		}
	}
	for _, v := range views {
		t := ToTask(v)
		if !f.Want.Artifacts {
			t.Artifacts = nil
		}
		if err := s.Read.attach(ctx, v.ObjectiveID, &t); err != nil {
			return page, err
		}
		page.Tasks = append(page.Tasks, t)
	}
	return page, nil
}

// ContentParams name a part of an artifact.
type ContentParams struct {
	TaskID, ArtifactID string
	Part               int // from 0
}

// OutlineTask returns a task without large contents: their parts refer to them. What it
// costs does not depend on the size of the contents.
func (s *Tasks) OutlineTask(ctx context.Context, c *call.Call, p TaskParams) (Task, error) {
	v, err := s.Read.Task(ctx, c, p.ID, shown.TaskWant{History: p.History, Scope: p.Scope, Artifacts: true})
	if err != nil {
		return Task{}, err
	}
	t := ToTask(v)
	t.Metadata = s.Links.in(t.Metadata, v)
	return Task{Task: t}, nil
}

// ReadContent returns a part of an artifact with its content.
func (s *Tasks) ReadContent(ctx context.Context, c *call.Call, p ContentParams) (a2a.Part, error) {
	missing := call.Missing("ARTIFACT_NOT_FOUND", "Artifact", p.ArtifactID)
	v, err := s.Read.Task(ctx, c, p.TaskID, shown.TaskWant{Artifacts: true})
	if err != nil {
		return a2a.Part{}, err
	}
	i := slices.IndexFunc(v.Task.Artifacts, func(a a2a.Artifact) bool { return a.ArtifactID == p.ArtifactID })
	if i < 0 || p.Part < 0 || p.Part >= len(v.Task.Artifacts[i].Parts) {
		return a2a.Part{}, missing
	}
	parts, err := s.Read.Parts(ctx, v.ObjectiveID, v.Task.Artifacts[i].Parts[p.Part:p.Part+1])
	if err != nil {
		return a2a.Part{}, err
	}
	return parts[0], nil
}
