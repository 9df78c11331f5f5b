package rebuild_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"
	"go.temporal.io/api/serviceerror"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"

	"longhaul/internal/journal"
	"longhaul/internal/rebuild"
	"longhaul/internal/test"
	"longhaul/opt"
	"longhaul/workflows"
)

// Every recorded history gives a journal that shows how its objective has ended.
func TestRestore_recordedHistories(t *testing.T) {
	temporal := recorded(t)
	j := open(t)
	got := restore(t, j, temporal)
	for _, p := range got.Problems {
		t.Errorf("%s: %s: %s: %s", temporal.names[p.ObjectiveID], p.ObjectiveID, p.Kind, p.Detail)
	}
	if got.Restored == 0 || got.Restored != got.Objectives {
		t.Errorf("restored %d of %d objectives", got.Restored, got.Objectives)
	}
	for _, id := range temporal.objectives() {
		o, err := j.Objective(t.Context(), "default", id)
		if err != nil {
			t.Errorf("%s: %v", temporal.names[id], err)
			continue
		}
		if want := temporal.status(id); !slices.Contains(want, o.Status) || !o.Root.Ended() {
			t.Errorf("%s: objective %s, root task %s; want %v", temporal.names[id], o.Status, o.Root, want)
		}
	}
	for _, id := range temporal.objectives() {
		inOrder(t, j, id)
	}
	verified, err := rebuild.Verify(t.Context(), config(j, temporal))
	if err != nil || verified.Found > 0 || verified.Equal != got.Objectives {
		t.Errorf("verified %+v, error %v; want %d equal ones", verified, err, got.Objectives)
	}
	if again := restore(t, j, temporal); again.Events != 0 || again.Found != 0 {
		t.Errorf("restored again: %+v, want nothing", again)
	}
}

// inOrder checks that the journal has what became of an objective after what became of
// its plans.
func inOrder(t *testing.T, j *journal.Journal, id string) {
	t.Helper()
	list, err := j.Events(t.Context(), id, 0, 0)
	if err != nil {
		t.Error(err)
	}
	var completed int64
	for _, e := range list {
		switch {
		case e.Event.Kind == opt.ObjectiveMoved && e.Event.To == string(opt.ObjectiveCompleted):
			completed = e.Seq
		case e.Event.Kind == opt.ObjectiveRetried:
			completed = 0
		case completed > 0 && (e.Event.Kind == opt.PlanMoved || e.Event.PlanID != "" && e.Event.Kind == opt.TaskMoved):
			t.Errorf("%s: event %d, %s of %s, is after the end of the objective", id, e.Seq, e.Event.Kind, e.Event.PlanID)
		}
	}
}

func config(j *journal.Journal, temporal *fake) rebuild.Config {
	return rebuild.Config{Journal: j, Records: j.Maintenance, Histories: workflows.NewHistories(workflows.HistoriesConfig{Temporal: temporal}), Parallel: 2}
}

func restore(t *testing.T, j *journal.Journal, temporal *fake) rebuild.Summary {
	t.Helper()
	s := test.Value(rebuild.Restore(t.Context(), config(j, temporal)))(t)
	return s
}

func open(t *testing.T) *journal.Journal {
	t.Helper()
	j := test.Value(journal.Open(t.Context(), journal.Config{}))(t)
	t.Cleanup(func() { _ = j.Close() })
	return j
}

// A fake is a Temporal with histories alone.
type fake struct {
	runs  map[string][]*historypb.History // by workflow id, the oldest first
	names map[string]string               // of the shapes, by workflow id
}

// recorded returns a fake with all histories that were recorded for replay.
func recorded(t *testing.T) *fake {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("..", "..", "workflows", "testdata", "*.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no histories: %v", err)
	}
	f := &fake{map[string][]*historypb.History{}, map[string]string{}}
	for _, name := range files {
		file := test.Value(os.Open(name))(t)
		h, err := client.HistoryFromJSON(file, client.HistoryJSONOptions{})
		if err := errors.Join(err, file.Close()); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		id := h.Events[0].GetWorkflowExecutionStartedEventAttributes().GetWorkflowId()
		f.runs[id] = append(f.runs[id], h)
		f.names[id] = strings.TrimSuffix(filepath.Base(name), ".json")
	}
	for _, list := range f.runs {
		slices.SortFunc(list, func(a, b *historypb.History) int {
			return a.Events[len(a.Events)-1].EventTime.AsTime().Compare(b.Events[len(b.Events)-1].EventTime.AsTime()) // a run that was reset has the beginning of another
		})
	}
	return f
}

// runID returns the id of the run of a history, which a reset may have made.
func runID(h *historypb.History) string {
	id := h.Events[0].GetWorkflowExecutionStartedEventAttributes().GetOriginalExecutionRunId()
	for _, e := range h.Events {
		if made := e.GetWorkflowTaskFailedEventAttributes().GetNewRunId(); made != "" {
			id = made
		}
	}
	return id
}

// objectives lists the ids of the objectives.
func (f *fake) objectives() (ids []string) {
	for id := range f.runs {
		if ref, ok := opt.ParseID(id); ok && ref.PlanID == "" {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids
}

// status returns the statuses that an objective may have after its last run.
func (f *fake) status(id string) []opt.ObjectiveStatus {
	list := f.runs[id]
	last := list[len(list)-1].Events
	switch end := last[len(last)-1]; {
	case end.GetWorkflowExecutionFailedEventAttributes() != nil:
		return []opt.ObjectiveStatus{opt.ObjectiveFailed}
	case end.GetWorkflowExecutionCanceledEventAttributes() != nil:
		return []opt.ObjectiveStatus{opt.ObjectiveCanceled}
	}
	return []opt.ObjectiveStatus{opt.ObjectiveCompleted}
}

// GetWorkflowHistory implements [workflows.HistoryClient].
func (f *fake) GetWorkflowHistory(_ context.Context, id, run string, _ bool, _ enumspb.HistoryEventFilterType) client.HistoryEventIterator {
	list := f.runs[id]
	for i := len(list) - 1; i >= 0; i-- {
		if run == "" || runID(list[i]) == run {
			return &events{list: list[i].Events}
		}
	}
	return &events{err: serviceerror.NewNotFound("no such run")}
}

// ListWorkflow implements [workflows.HistoryClient].
func (f *fake) ListWorkflow(_ context.Context, r *workflowservice.ListWorkflowExecutionsRequest) (*workflowservice.ListWorkflowExecutionsResponse, error) {
	out := &workflowservice.ListWorkflowExecutionsResponse{}
	for _, id := range f.objectives() {
		if strings.HasPrefix(r.Query, "WorkflowId") && r.Query != "WorkflowId = '"+id+"'" {
			continue
		}
		for _, h := range f.runs[id] {
			out.Executions = append(out.Executions, &workflowpb.WorkflowExecutionInfo{Execution: &commonpb.WorkflowExecution{WorkflowId: id, RunId: runID(h)}})
		}
	}
	return out, nil
}

type events struct {
	list []*historypb.HistoryEvent
	err  error
}

func (e *events) HasNext() bool { return e.err != nil || len(e.list) > 0 }

func (e *events) Next() (*historypb.HistoryEvent, error) {
	if e.err != nil {
		err := e.err
		e.err = nil
		return nil, err
	}
	next := e.list[0]
	e.list = e.list[1:]
	return next, nil
}
