package api_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"

	"longhaul/api/call"
	"longhaul/internal/journal"
	"longhaul/opt"
	"longhaul/opt/shown"
)

// A faultyJournal is the real journal, which counts its calls and can be made to
// fail.
type faultyJournal struct {
	*journal.Journal
	calls   atomic.Int64
	watches atomic.Int64

	mu     sync.Mutex
	down   error // of every call
	record error // of Record
	events error // of Events
	wanted shown.TaskWant
}

// fail has all calls fail from now on; nil is for none.
func (j *faultyJournal) fail(err error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.down = err
}

func (j *faultyJournal) enter(more ...*error) error {
	j.calls.Add(1)
	j.mu.Lock()
	defer j.mu.Unlock()
	err := j.down
	for _, m := range more {
		err = errors.Join(err, *m)
	}
	return err
}

// scope returns the history scope of the task that was read last.
func (j *faultyJournal) scope() shown.HistoryScope {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.wanted.Scope
}

func (j *faultyJournal) Task(ctx context.Context, tenant, id string, want shown.TaskWant) (shown.TaskView, error) {
	if err := j.enter(); err != nil {
		return shown.TaskView{}, err
	}
	j.mu.Lock()
	j.wanted = want
	j.mu.Unlock()
	return j.Journal.Task(ctx, tenant, id, want)
}

func (j *faultyJournal) Tasks(ctx context.Context, tenant string, f shown.TaskFilter) ([]shown.TaskView, int, error) {
	if err := j.enter(); err != nil {
		return nil, 0, err
	}
	j.mu.Lock()
	j.wanted = f.Want
	j.mu.Unlock()
	return j.Journal.Tasks(ctx, tenant, f)
}

func (j *faultyJournal) Peek(ctx context.Context, tenant, id string) (opt.TaskState, int64, error) {
	if err := j.enter(); err != nil {
		return "", 0, err
	}
	return j.Journal.Peek(ctx, tenant, id)
}

func (j *faultyJournal) Objective(ctx context.Context, tenant, id string) (*opt.Objective, error) {
	if err := j.enter(); err != nil {
		return nil, err
	}
	return j.Journal.Objective(ctx, tenant, id)
}

func (j *faultyJournal) Objectives(ctx context.Context, tenant string, f shown.ObjectiveFilter) ([]*opt.Objective, int, error) {
	if err := j.enter(); err != nil {
		return nil, 0, err
	}
	return j.Journal.Objectives(ctx, tenant, f)
}

func (j *faultyJournal) SearchObjectives(ctx context.Context, tenant string, f shown.ObjectiveSearch) (shown.ObjectivesFound, error) {
	if err := j.enter(); err != nil {
		return shown.ObjectivesFound{}, err
	}
	return j.Journal.SearchObjectives(ctx, tenant, f)
}

func (j *faultyJournal) Events(ctx context.Context, objectiveID string, after int64, limit int) ([]shown.Recorded, error) {
	if err := j.enter(&j.events); err != nil {
		return nil, err
	}
	return j.Journal.Events(ctx, objectiveID, after, limit)
}

func (j *faultyJournal) Judgement(ctx context.Context, objectiveID, principal, key string) (shown.Judgement, bool, error) {
	if err := j.enter(); err != nil {
		return shown.Judgement{}, false, err
	}
	return j.Journal.Judgement(ctx, objectiveID, principal, key)
}

func (j *faultyJournal) Answer(ctx context.Context, objectiveID, commandID string) (opt.CommandAnswer, bool, error) {
	if err := j.enter(); err != nil {
		return opt.CommandAnswer{}, false, err
	}
	return j.Journal.Answer(ctx, objectiveID, commandID)
}

func (j *faultyJournal) Record(ctx context.Context, batches ...opt.Batch) error {
	if err := j.enter(&j.record); err != nil {
		return err
	}
	return j.Journal.Record(ctx, batches...)
}

func (j *faultyJournal) Ping(ctx context.Context) error {
	if err := j.enter(); err != nil {
		return err
	}
	return j.Journal.Ping(ctx)
}

// A counted watch is counted while it is open.
type counted struct {
	call.Watch
	open *atomic.Int64
	once sync.Once
}

func (c *counted) Close() {
	c.once.Do(func() { c.open.Add(-1) })
	c.Watch.Close()
}

func (j *faultyJournal) watch(objectiveID string) call.Watch {
	j.watches.Add(1)
	return &counted{Watch: j.Watch(objectiveID), open: &j.watches}
}

// Key returns the same bytes in every journal, so that page tokens can be compared.
func (j *faultyJournal) Key(context.Context, string) ([]byte, error) { return make([]byte, 32), nil }
