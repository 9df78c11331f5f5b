// Package rebuild compares the journal with what Temporal has in the histories of
// workflows, and restores in the journal what it has lost. It may run while work
// continues: the numbers of events make a repeat harmless, and a workflow whose event
// comes too early for a journal with gaps repeats it until the gap is closed.
package rebuild

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"longhaul/a2a"
	"longhaul/internal/journal"
	"longhaul/opt"
	"longhaul/opt/shown"
	"longhaul/workflows"
)

// Histories read what workflows have recorded.
type Histories interface {
	Each(ctx context.Context, f func(objectiveID string) error) error
	Objective(ctx context.Context, objectiveID string) (*workflows.Chronicle, error)
}

// A Journal is what clients see.
type Journal interface {
	OpenObjectives(ctx context.Context, after string, limit int) ([]opt.Objective, error)
	Objective(ctx context.Context, tenant, id string) (*opt.Objective, error)
	Decisions(ctx context.Context, tenant, objectiveID string, after shown.DecisionCursor, limit int) (shown.DecisionPage, error)
	Task(ctx context.Context, tenant, id string, want shown.TaskWant) (shown.TaskView, error)
}

// Records compares events with those that the journal has, and restores those that it lacks.
type Records interface {
	Compare(ctx context.Context, batches ...opt.Batch) (journal.Difference, error)
	Restore(ctx context.Context, after int64, batches ...opt.Batch) (added int, err error)
	HasBlob(ctx context.Context, objectiveID, id string) (bool, error)
}

// Config has the sources and settings of a comparison.
type Config struct {
	Journal   Journal
	Records   Records // of the same journal
	Histories Histories
	TTL       time.Duration                                      // objectives that have ended longer ago may be missing: they were removed; 0 for never
	Parallel  int                                                // objectives at a time, at least 1
	Settle    time.Duration                                      // after which a difference is checked again, since work continues; 0 for never
	Rewind    func(ctx context.Context, workflowID string) error // has a workflow set the journal to what it knows; nil for never
	Progress  func(Summary)                                      // called now and then, and at the end; nil for never
}

// Kinds of problems.
const (
	Missing    = "missing-objective" // the journal does not have it
	Incomplete = "missing-events"    // the journal lacks events of it
	Changed    = "changed-events"    // the journal has other events under the same numbers
	State      = "state"             // one has ended it, and the other has not
	StaleGate  = "stale-gate"        // a question is open, and no workflow waits for its answer
	Unknown    = "unknown-workflow"  // it is open in the journal, and Temporal does not have it
	Broken     = "broken-decisions"  // decisions were changed, added or removed
	Lost       = "lost"              // it cannot be restored from Temporal
	Contents   = "lost-contents"     // large contents, which only the journal had
	Behind     = "behind"            // a workflow knows less than the journal has of it
	Failed     = "failed"            // it could not be compared or restored
)

// A Problem is a difference between the journal and Temporal.
type Problem struct {
	ObjectiveID string `json:"objectiveId"`
	Kind        string `json:"kind"`
	Detail      string `json:"detail"`
}

// A Summary counts the results of comparisons.
type Summary struct {
	Objectives int       `json:"objectives"`        // that Temporal retains
	Equal      int       `json:"equal"`             // that the journal has as Temporal has them
	Restored   int       `json:"restored"`          // that were missing, or lacked events
	Events     int       `json:"events"`            // that were restored
	Rewound    int       `json:"rewound,omitempty"` // workflows that know less than the journal, and were asked to set it back
	Expired    int       `json:"expired,omitempty"` // that were removed at the end of their time
	Found      int       `json:"found"`             // problems
	Problems   []Problem `json:"problems"`          // the first of them
}

const (
	mostProblems = 10_000 // that are listed
	mostEvents   = 500    // that are written in one transaction
)

// A comparison compares or restores the objectives of one Temporal namespace.
type comparison struct {
	Config
	restores bool
	after    int64 // the seq above which events are restored

	mu      sync.Mutex
	sum     Summary
	visited map[string]bool
	shownAt time.Time
}

// Verify compares, and changes nothing.
func Verify(ctx context.Context, cfg Config) (Summary, error) {
	w := &comparison{Config: cfg, visited: map[string]bool{}}
	err := w.compareAll(ctx)
	if err == nil {
		err = w.findOpen(ctx)
	}
	return w.result(err)
}

// Restore restores what the journal lacks. It may be repeated, also after it was
// interrupted.
func Restore(ctx context.Context, cfg Config) (Summary, error) {
	w := &comparison{Config: cfg, visited: map[string]bool{}, restores: true, after: time.Now().UnixMilli()}
	return w.result(w.compareAll(ctx))
}

func (w *comparison) result(err error) (Summary, error) {
	slices.SortStableFunc(w.sum.Problems, func(a, b Problem) int {
		return strings.Compare(a.ObjectiveID+a.Kind+a.Detail, b.ObjectiveID+b.Kind+b.Detail)
	})
	return w.sum, err
}

// compareAll compares all objectives that Temporal retains, several in parallel.
func (w *comparison) compareAll(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	ids := make(chan string)
	var workers sync.WaitGroup
	for range max(1, w.Parallel) {
		workers.Go(func() {
			for id := range ids {
				if err := w.compareObjective(ctx, id); err != nil {
					cancel(err) // the journal, or Temporal, cannot be reached
				}
			}
		})
	}
	err := w.Histories.Each(ctx, func(id string) error {
		select {
		case ids <- id:
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	})
	close(ids)
	workers.Wait()
	if err == nil {
		err = context.Cause(ctx)
	}
	w.showProgress(true)
	return err
}

// compareObjective compares or restores an objective. Verify repeats a comparison with
// differences after Settle. An error stops the whole comparison.
func (w *comparison) compareObjective(ctx context.Context, id string) error {
	problems, s, err := w.compareOnce(ctx, id)
	if err == nil && len(problems) > 0 && !w.restores && w.Settle > 0 {
		select { // work continues meanwhile
		case <-time.After(w.Settle):
		case <-ctx.Done():
			return ctx.Err()
		}
		problems, s, err = w.compareOnce(ctx, id)
	}
	if err != nil {
		if ctx.Err() != nil || errors.Is(err, opt.ErrUnavailable) || errors.As(err, new(*workflows.PayloadError)) {
			return err
		}
		problems = append(problems, Problem{id, Failed, err.Error()})
	}
	w.mu.Lock()
	w.visited[id] = true
	w.sum.Objectives++
	w.sum.Restored += s.Restored
	w.sum.Events += s.Events
	w.sum.Expired += s.Expired
	w.sum.Rewound += s.Rewound
	if len(problems) == 0 && s.Restored+s.Expired+s.Rewound == 0 {
		w.sum.Equal++
	}
	w.add(problems)
	w.mu.Unlock()
	w.showProgress(false)
	return nil
}

func (w *comparison) add(problems []Problem) {
	w.sum.Found += len(problems)
	w.sum.Problems = append(w.sum.Problems, problems[:min(len(problems), max(0, mostProblems-len(w.sum.Problems)))]...)
}

// showProgress calls Progress at most once a second, and always at the end.
func (w *comparison) showProgress(last bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.Progress == nil || !last && time.Since(w.shownAt) < time.Second {
		return
	}
	w.shownAt = time.Now()
	w.Progress(w.sum)
}

// compareOnce compares an objective with its histories once, and restores it if restores is
// set.
func (w *comparison) compareOnce(ctx context.Context, id string) ([]Problem, Summary, error) {
	o, err := w.read(ctx, id)
	if errors.Is(err, opt.ErrEnded) {
		return nil, Summary{Expired: 1}, nil // Temporal has removed it meanwhile
	}
	if err != nil {
		return nil, Summary{}, err
	}
	if !o.exists && !o.Open && w.TTL > 0 && time.Since(o.EndedAt) > w.TTL {
		return nil, Summary{Expired: 1}, nil
	}
	if !w.restores {
		problems, err := o.verify(ctx)
		return problems, Summary{}, err
	}
	problems, s, err := o.restore(ctx)
	if err == nil {
		s.Rewound, err = w.rewind(ctx, o)
	}
	return problems, s, err
}

// read reads the histories of an objective and compares the journal with them. The error
// wraps opt.ErrEnded if Temporal does not have it.
func (w *comparison) read(ctx context.Context, id string) (*objective, error) {
	c, err := w.Histories.Objective(ctx, id)
	if err != nil {
		return nil, err
	}
	o := &objective{comparison: w, Chronicle: c}
	recorded, made := o.batches()
	if o.recordedDiff, err = w.Records.Compare(ctx, recorded...); err != nil {
		return nil, err
	}
	if o.madeDiff, err = w.Records.Compare(ctx, made...); err != nil {
		return nil, err
	}
	o.exists = len(o.recordedDiff.Known) > 0
	return o, nil
}

// findOpen finds objectives that are open in the journal alone.
func (w *comparison) findOpen(ctx context.Context) error {
	for after := ""; ; {
		list, err := w.Journal.OpenObjectives(ctx, after, 500)
		if err != nil || len(list) == 0 {
			return err
		}
		for _, o := range list {
			after = o.ID
			if w.visited[o.ID] {
				continue
			}
			_, err := w.Histories.Objective(ctx, o.ID)
			switch {
			case errors.Is(err, opt.ErrEnded):
				w.add([]Problem{{o.ID, Unknown, "it is open in the journal, and Temporal does not have its workflow"}})
			case errors.Is(err, opt.ErrUnavailable) || ctx.Err() != nil:
				return err
			}
		}
	}
}

// An objective is the comparison of one objective.
type objective struct {
	*comparison
	*workflows.Chronicle
	recordedDiff journal.Difference // from what workflows have recorded
	madeDiff     journal.Difference // from the events that were made
	exists       bool               // the journal has it
}

// batches returns the batches that workflows have recorded, and those that were made in
// place of the pieces of artifacts.
func (o *objective) batches() (recorded, made []opt.Batch) {
	for _, e := range o.Entries {
		if e.Made {
			made = append(made, e.Batch)
		} else {
			recorded = append(recorded, e.Batch)
		}
	}
	return recorded, made
}

// countMissing counts the events that the journal lacks.
func (o *objective) countMissing() int {
	n := o.recordedDiff.Missing
	for _, e := range o.Entries {
		if e.Made && !slices.Contains(o.madeDiff.Known, e.Source) {
			n += len(e.Events)
		}
	}
	return n
}

// verify returns how the journal differs.
func (o *objective) verify(ctx context.Context) (problems []Problem, err error) {
	add := func(kind, format string, args ...any) {
		problems = append(problems, Problem{o.ObjectiveID, kind, fmt.Sprintf(format, args...)})
	}
	if !o.exists {
		add(Missing, "the journal does not have the objective%s", o.missingReason())
		return problems, nil
	}
	if missing := o.countMissing(); missing > 0 {
		add(Incomplete, "the journal lacks %d events%s", missing, o.missingReason())
	}
	for _, event := range o.recordedDiff.Changed {
		add(Changed, "the journal has other content in %s", event)
	}
	have, err := o.Journal.Objective(ctx, o.Tenant, o.ObjectiveID)
	if errors.Is(err, opt.ErrUnknown) {
		return problems, nil // it was removed meanwhile
	}
	if err != nil {
		return nil, err
	}
	if have.Status.Ended() == o.Open {
		add(State, "the journal shows it as %s, and its workflow %s", have.Status, map[bool]string{true: "runs", false: "has ended"}[o.Open])
	}
	for _, p := range have.Plans {
		for _, t := range p.Tasks {
			if t.Gate != nil && !o.Plans[p.ID] {
				add(StaleGate, "%s waits for an answer, and the workflow of its plan has ended", t.A2AID())
			}
		}
	}
	behind, err := o.behind(ctx, o)
	if err != nil {
		return nil, err
	}
	for _, id := range behind {
		add(Behind, "%s knows less than the journal has: rebuild has it set the journal back", id)
	}
	if err := o.checkDecisions(ctx); err != nil {
		if errors.Is(err, opt.ErrUnavailable) {
			return nil, err
		}
		add(Broken, "%v", err)
	}
	return problems, nil
}

// missingReason returns why events may be lost in both places.
func (o *objective) missingReason() string {
	if len(o.Lost) == 0 {
		return ""
	}
	return ": " + strings.Join(slices.Compact(slices.Sorted(slices.Values(o.Lost))), "; ")
}

// checkDecisions checks the chains of decisions.
func (o *objective) checkDecisions(ctx context.Context) error {
	var chains opt.Chains
	for after := shown.DecisionCursor(0); ; {
		page, err := o.Journal.Decisions(ctx, o.Tenant, o.ObjectiveID, after, 100)
		if errors.Is(err, opt.ErrUnknown) {
			return nil
		}
		if err != nil {
			return err
		}
		for _, d := range page.Decisions {
			raw, err := json.Marshal(d)
			if err == nil {
				err = chains.Add(raw)
			}
			if err != nil {
				return err
			}
		}
		if after = page.Last; !page.More {
			return chains.End(page.Head)
		}
	}
}

// restore records what the journal lacks: all of it, or nothing if that would leave a
// gap.
func (o *objective) restore(ctx context.Context) ([]Problem, Summary, error) {
	if len(o.recordedDiff.Changed) > 0 {
		return []Problem{{o.ObjectiveID, Changed, "the journal has other content in " + strings.Join(o.recordedDiff.Changed, "; ")}}, Summary{}, nil
	}
	if len(o.recordedDiff.Gaps) > 0 {
		return []Problem{{o.ObjectiveID, Lost, "events of " + strings.Join(o.recordedDiff.Gaps, ", ") + " cannot be restored" + o.missingReason()}}, Summary{}, nil
	}
	entries, err := o.missingBatches(ctx)
	if err != nil {
		return nil, Summary{}, err
	}
	var s Summary
	for len(entries) > 0 {
		n := 0
		for size := 0; n < len(entries) && size < mostEvents; n++ {
			size += len(entries[n].Events)
		}
		added, err := o.Records.Restore(ctx, o.after, entries[:n]...)
		if s.Events += added; err != nil {
			return nil, s, err
		}
		entries = entries[n:]
	}
	if s.Events == 0 {
		return nil, s, nil
	}
	s.Restored = 1
	problems, err := o.checkContents(ctx)
	return problems, s, err
}

// missingBatches returns the batches to record: all that workflows have recorded, and of those
// that were made the ones that the journal needs.
func (o *objective) missingBatches(ctx context.Context) (batches []opt.Batch, err error) {
	for _, e := range o.Entries {
		b := e.Batch
		if e.Made && slices.Contains(o.madeDiff.Known, e.Source) {
			partial, err := o.isPartial(ctx, b)
			if err != nil {
				return nil, err
			}
			if !partial {
				continue
			}
			b.Source += ".restored" // under other numbers than the pieces
		}
		batches = append(batches, b)
	}
	return batches, nil
}

// isPartial reports whether the journal has the artifacts of b, which a task has
// streamed, only in part: it was restored from a copy that was made meanwhile.
func (o *objective) isPartial(ctx context.Context, b opt.Batch) (bool, error) {
	v, err := o.Journal.Task(ctx, o.Tenant, b.Events[0].TaskID, shown.TaskWant{Artifacts: true})
	if errors.Is(err, opt.ErrUnknown) || err == nil && v.State.Ended() {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	for _, e := range b.Events {
		i := slices.IndexFunc(v.Task.Artifacts, func(a a2a.Artifact) bool { return a.ArtifactID == e.Chunk.Artifact.ArtifactID })
		if i < 0 || !sameParts(v.Task.Artifacts[i].Parts, e.Chunk.Artifact.Parts) {
			return true, nil
		}
	}
	return false, nil
}

func sameParts(a, b []a2a.Part) bool {
	x, err := json.Marshal(a)
	y, other := json.Marshal(b)
	return err == nil && other == nil && string(x) == string(y)
}

// checkContents returns a problem if the journal has lost large contents of the objective.
func (o *objective) checkContents(ctx context.Context) ([]Problem, error) {
	lost, size := 0, 0
	for id, n := range o.blobs() {
		found, err := o.Records.HasBlob(ctx, o.ObjectiveID, id)
		if err != nil {
			return nil, err
		}
		if !found {
			lost, size = lost+1, size+n
		}
	}
	if lost == 0 {
		return nil, nil
	}
	return []Problem{{o.ObjectiveID, Contents, fmt.Sprintf("%d large contents (%d bytes) are lost: only the journal had them", lost, size)}}, nil
}

// blobs returns the sizes of the large contents that events refer to, by their ids.
func (o *objective) blobs() map[string]int {
	sizes := map[string]int{}
	for _, e := range o.Entries {
		for _, event := range e.Events {
			for _, p := range partsOf(event) {
				if p.Ref != nil {
					sizes[p.Ref.ID] = p.Ref.Size
				}
			}
		}
	}
	return sizes
}

// partsOf returns the parts in an event.
func partsOf(e opt.Event) (parts []a2a.Part) {
	for _, m := range []*a2a.Message{e.Message, e.Status} {
		if m != nil {
			parts = append(parts, m.Parts...)
		}
	}
	if e.Chunk != nil {
		parts = append(parts, e.Chunk.Artifact.Parts...)
	}
	if e.Gate != nil {
		parts = append(parts, e.Gate.Object...)
	}
	return parts
}
