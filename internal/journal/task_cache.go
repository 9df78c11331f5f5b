package journal

import (
	"slices"
	"sync"

	"longhaul/a2a"
	"longhaul/internal/journal/db"
	"longhaul/opt/shown"
)

const (
	cachedTasks = 2048     // the most that a journal keeps
	cachedBytes = 16 << 10 // the most content of a kept task
)

// A taskKey says which task was read, for which tenant, and how much of it.
type taskKey struct {
	tenant, id string
	want       shown.TaskWant
}

// A moment identifies a state of an objective. It is never reused: an event
// raises seq, and only a purge lets seq begin at 1 again. That an objective is stuck is noted without one.
type moment struct {
	seq, purges int64
	stuck       db.Content
}

// A cachedTask is a task as it was at a moment.
type cachedTask struct {
	at   moment
	view shown.TaskView
}

// A taskCache keeps tasks that were read. Reading one again takes one short
// statement, which checks whether its objective is at the same moment.
type taskCache struct {
	mu    sync.Mutex
	tasks map[taskKey]cachedTask
}

// get returns the value under k.
func (tc *taskCache) get(k taskKey) (cachedTask, bool) {
	tc.mu.Lock()
	defer tc.mu.Unlock()
	t, ok := tc.tasks[k]
	return t, ok
}

// put keeps t, and drops any other task if there are too many. The position of a
// task in its queue depends on other objectives, so such a task is not kept.
func (tc *taskCache) put(k taskKey, t cachedTask) {
	if !t.view.QueuedAt.IsZero() || contentSize(t.view.Task) > cachedBytes {
		return
	}
	t.view = detached(t.view)
	tc.mu.Lock()
	defer tc.mu.Unlock()
	if _, known := tc.tasks[k]; !known && len(tc.tasks) >= cachedTasks {
		for other := range tc.tasks {
			delete(tc.tasks, other)
			break
		}
	}
	tc.tasks[k] = t
}

// drop removes the task under k.
func (tc *taskCache) drop(k taskKey) {
	tc.mu.Lock()
	defer tc.mu.Unlock()
	delete(tc.tasks, k)
}

// detached returns v with its own slices. Parts and metadata are shared, since
// they are never changed in place.
func detached(v shown.TaskView) shown.TaskView {
	v.Task.History = slices.Clone(v.Task.History)
	v.Task.Artifacts = slices.Clone(v.Task.Artifacts)
	v.Gates = slices.Clone(v.Gates)
	v.Dependencies = slices.Clone(v.Dependencies)
	if m := v.Task.Status.Message; m != nil {
		own := *m
		v.Task.Status.Message = &own
	}
	return v
}

// contentSize returns about how many bytes t holds.
func contentSize(t a2a.Task) int {
	n := metadataSize(t.Metadata)
	messages := t.History
	if t.Status.Message != nil {
		messages = append(slices.Clip(messages), *t.Status.Message)
	}
	for _, m := range messages {
		n += metadataSize(m.Metadata) + partsSize(m.Parts)
	}
	for _, a := range t.Artifacts {
		n += metadataSize(a.Metadata) + partsSize(a.Parts)
	}
	return n
}

func partsSize(parts []a2a.Part) (n int) {
	for _, p := range parts {
		n += 100 + len(p.Raw) + len(p.Data) + metadataSize(p.Metadata)
		for _, text := range []*string{p.Text, p.URL} {
			if text != nil {
				n += len(*text)
			}
		}
	}
	return n
}

func metadataSize(m a2a.Metadata) (n int) {
	for k, v := range m {
		n += len(k) + len(v)
	}
	return n
}

// momentOf returns the moment of an objective, zero if there is none.
func momentOf(c *db.Conn, objectiveID string) (m moment, err error) {
	_, err = c.Get("SELECT o.seq, p.n, o.stuck FROM objectives o CROSS JOIN purges p WHERE o.id = $1", db.Args{objectiveID}, &m.seq, &m.purges, &m.stuck)
	return m, err
}
