package workflows

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"

	"longhaul/opt"
)

// A HistoryClient is the part of Temporal's client that reads histories.
type HistoryClient interface {
	GetWorkflowHistory(ctx context.Context, workflowID, runID string, wait bool, filter enumspb.HistoryEventFilterType) client.HistoryEventIterator
	ListWorkflow(ctx context.Context, request *workflowservice.ListWorkflowExecutionsRequest) (*workflowservice.ListWorkflowExecutionsResponse, error)
}

// HistoriesConfig says where histories are read.
type HistoriesConfig struct {
	Temporal HistoryClient
	Cipher   Cipher                          // of the payloads; nil for none
	Blobs    Blobs                           // the large payloads; nil for none
	Wait     func(ctx context.Context) error // called before each request to Temporal; nil does not wait
}

// Histories reads in Temporal what workflows have recorded in the journal. It is safe
// for concurrent use.
type Histories struct {
	cfg  HistoriesConfig
	data converter.DataConverter
}

// NewHistories returns a reader of histories.
func NewHistories(cfg HistoriesConfig) *Histories {
	if cfg.Wait == nil {
		cfg.Wait = func(context.Context) error { return nil }
	}
	return &Histories{cfg, NewDataConverter(cfg.Cipher)}
}

// A Chronicle is what the histories of an objective and of its plans say was recorded
// of it.
type Chronicle struct {
	ObjectiveID string
	Tenant      string
	Entries     []Entry         // in the order in which they were recorded, as nearly as the histories show
	Open        bool            // its workflow runs
	EndedAt     time.Time       // of the workflow; zero if Open
	Plans       map[string]bool // whether the workflow of a plan runs, by the id of the plan
	Lost        []string        // why events are missing, as far as it is known
}

// An Entry holds events of one source that follow on each other.
type Entry struct {
	opt.Batch
	Made bool // they take the place of the pieces of artifacts, which no history has
}

// Each calls f with the id of every objective that Temporal retains. An objective that
// begins meanwhile may be left out.
func (h *Histories) Each(ctx context.Context, f func(objectiveID string) error) error {
	seen := map[string]bool{}
	for w, err := range listed(ctx, h.page, "WorkflowType = '"+ObjectiveWorkflow+"'") {
		if err != nil {
			return err
		}
		id := w.GetWorkflowId()
		if ref, ok := opt.ParseID(id); !ok || ref.PlanID != "" || ref.Attempt != 1 || seen[id] {
			continue // also another program's workflow of this type
		}
		seen[strings.Clone(id)] = true
		if err := f(id); err != nil {
			return err
		}
	}
	return nil
}

// page reads a page of Temporal's list, in its turn.
func (h *Histories) page(ctx context.Context, request *workflowservice.ListWorkflowExecutionsRequest) (*workflowservice.ListWorkflowExecutionsResponse, error) {
	if err := h.cfg.Wait(ctx); err != nil {
		return nil, err
	}
	page, err := h.cfg.Temporal.ListWorkflow(ctx, request)
	return page, refusal("list workflows", err)
}

// Objective reads the histories of an objective and its plans. The error wraps
// opt.ErrEnded if Temporal has none.
func (h *Histories) Objective(ctx context.Context, objectiveID string) (*Chronicle, error) {
	runs, err := h.attempts(ctx, objectiveID)
	if err != nil {
		return nil, err
	}
	latest := runs[len(runs)-1]
	c := &Chronicle{ObjectiveID: objectiveID, Tenant: latest.tenant, Open: latest.closed.IsZero(), EndedAt: latest.closed, Plans: map[string]bool{}}
	if first := runs[0]; first.from > 0 || first.retry {
		c.Lost = append(c.Lost, "Temporal no longer has the first histories of the objective")
	}
	for _, begun := range childrenOf(runs) {
		plan, err := h.plan(ctx, begun)
		if errors.Is(err, opt.ErrEnded) {
			c.Lost = append(c.Lost, "Temporal no longer has the history of "+begun.planID)
			continue
		}
		if err != nil {
			return nil, err
		}
		if last := plan[len(plan)-1]; !c.Plans[begun.planID] {
			c.Plans[begun.planID] = last.closed.IsZero()
		}
		runs = append(runs, plan...)
	}
	for _, r := range runs {
		c.Lost = append(c.Lost, r.lost...)
	}
	c.Entries = merged(runs)
	return c, nil
}

// attempts reads the runs of an objective, the oldest first.
func (h *Histories) attempts(ctx context.Context, objectiveID string) ([]*runLog, error) {
	runs, err := h.chain(ctx, objectiveID, "")
	if err != nil {
		return nil, err
	}
	if first := runs[0]; !first.retry && !slices.ContainsFunc(runs, func(r *runLog) bool { return r.stopped }) {
		return runs, nil
	}
	known := map[string]bool{}
	for _, r := range runs {
		known[r.runID] = true
	}
	for w, err := range listed(ctx, h.page, "WorkflowId = '"+objectiveID+"'") {
		if err != nil {
			return nil, err
		}
		if known[w.GetRunId()] {
			continue
		}
		r, err := h.run(ctx, objectiveID, w.GetRunId())
		if errors.Is(err, opt.ErrEnded) {
			continue // it was removed meanwhile
		}
		if err != nil {
			return nil, err
		}
		known[w.GetRunId()] = true
		runs = append(runs, r)
	}
	slices.SortStableFunc(runs, func(a, b *runLog) int { return a.began.Compare(b.began) })
	return runs, nil
}

// chain reads a run and those that it continues, the oldest first. An empty runID
// means the latest.
func (h *Histories) chain(ctx context.Context, workflowID, runID string) ([]*runLog, error) {
	r, err := h.run(ctx, workflowID, runID)
	if err != nil {
		return nil, err
	}
	runs := []*runLog{r}
	for r.earlier != "" || len(r.bases) > 0 {
		if runs, err = h.addBases(ctx, workflowID, runs); err != nil {
			return nil, err
		}
		if r.earlier == "" {
			break
		}
		if r, err = h.run(ctx, workflowID, r.earlier); errors.Is(err, opt.ErrEnded) {
			break // it is retained no longer
		}
		if err != nil {
			return nil, err
		}
		runs = append(runs, r)
	}
	slices.Reverse(runs)
	return runs, nil
}

// addBases adds the runs that an operator has reset to make the last of runs.
func (h *Histories) addBases(ctx context.Context, workflowID string, runs []*runLog) ([]*runLog, error) {
	for _, id := range slices.Backward(runs[len(runs)-1].bases) {
		base, err := h.run(ctx, workflowID, id)
		if errors.Is(err, opt.ErrEnded) {
			continue // it is retained no longer
		}
		if err != nil {
			return nil, err
		}
		base.stopped = false // the reset has ended it
		runs = append(runs, base)
	}
	return runs, nil
}

// plan reads the runs of one attempt at a plan, the oldest first.
func (h *Histories) plan(ctx context.Context, c child) (runs []*runLog, err error) {
	for runID := c.runID; ; {
		r, err := h.run(ctx, c.planID, runID)
		if errors.Is(err, opt.ErrEnded) && len(runs) == 0 && runID != "" {
			return h.chain(ctx, c.planID, "") // later runs may be there
		}
		if err != nil {
			return nil, err
		}
		runs = append(runs, r)
		if runID = r.later; runID != "" {
			continue
		}
		if !r.stopped {
			return runs, nil
		}
		current, err := h.chain(ctx, c.planID, "")
		if err == nil && slices.ContainsFunc(current, func(later *runLog) bool { return slices.Contains(later.bases, c.runID) }) {
			return current, nil // an operator has reset it
		}
		return runs, err
	}
}

// run reads one run. The error wraps opt.ErrEnded if Temporal does not have it.
func (h *Histories) run(ctx context.Context, workflowID, runID string) (*runLog, error) {
	if err := h.cfg.Wait(ctx); err != nil {
		return nil, err
	}
	var events []*historypb.HistoryEvent
	pages := h.cfg.Temporal.GetWorkflowHistory(ctx, workflowID, runID, false, enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	for pages.HasNext() {
		e, err := pages.Next()
		var none *serviceerror.InvalidArgument // a run id that Temporal cannot have
		if errors.As(err, &none) {
			err = opt.ErrEnded
		}
		if err != nil {
			return nil, refusal("read the history of "+workflowID, err)
		}
		events = append(events, e)
	}
	r, err := readRun(ctx, payloadReader{h.data, blobDriver{h.cfg.Blobs, codec{h.cfg.Cipher}}}, events)
	if err != nil {
		return nil, fmt.Errorf("history of %s: %w", workflowID, err)
	}
	return r, nil
}

// childrenOf lists the workflows of plans that an objective has begun.
func childrenOf(runs []*runLog) (list []child) {
	seen := map[child]bool{}
	for _, r := range runs {
		for _, id := range slices.Sorted(maps.Keys(r.children)) {
			if c := r.children[id]; !seen[c] {
				seen[c] = true
				list = append(list, c)
			}
		}
	}
	return list
}

// merged returns the events of runs in the order in which they were recorded. Several
// histories, and several activities of one, may have the same event.
func merged(runs []*runLog) (entries []Entry) {
	type numbered struct {
		fact
		source string
		rank   int
	}
	known := map[string]map[int64]fact{}
	var sources []string // workflows first
	for _, r := range runs {
		for _, source := range slices.Sorted(maps.Keys(r.facts)) {
			if known[source] == nil {
				known[source] = map[int64]fact{}
				sources = append(sources, source)
			}
			for _, f := range r.facts[source] {
				if before, there := known[source][f.N]; !there || f.before(before) {
					known[source][f.N] = f
				}
			}
		}
	}
	var all []numbered
	for rank, source := range sources {
		var last time.Time
		for _, n := range slices.Sorted(maps.Keys(known[source])) {
			f := known[source][n]
			if f.at.Before(last) {
				f.at = last
			}
			last = f.at
			all = append(all, numbered{f, source, rank})
		}
	}
	slices.SortStableFunc(all, func(a, b numbered) int {
		return cmp.Or(a.at.Compare(b.at), cmp.Compare(a.place, b.place), cmp.Compare(a.rank, b.rank), cmp.Compare(a.N, b.N))
	})
	for _, f := range all {
		if i := len(entries) - 1; i >= 0 && entries[i].Source == f.source && entries[i].Last()+1 == f.N {
			entries[i].Events = append(entries[i].Events, f.Event)
			continue
		}
		entries = append(entries, Entry{Made: f.made, Batch: opt.Batch{ObjectiveID: runs[0].objective, Source: f.source, Events: []opt.Event{f.Event}}})
	}
	return entries
}

// before reports whether f shows better than g when the event was recorded.
func (f fact) before(g fact) bool {
	if f.certain != g.certain {
		return f.certain
	}
	return f.at.Before(g.at)
}
