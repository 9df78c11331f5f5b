// Package reconcile ends in the journal the work whose workflows are gone. An operator can
// terminate or delete a workflow in Temporal's UI, and Temporal can lose its data: then no event
// says that the work has ended, and clients would wait for ever. A worker that was lost may not have
// recorded the end either.
//
// A [Reconciler] compares the open work in the journal with the running workflows in Temporal:
// all of it at its start and every minute, every few seconds those that Temporal lists as
// stopped, and one objective at once when a call for it finds no workflow. Any number may run at a time. It
// decides nothing about the work:
//
//   - for a plan that is gone it signals the objective, which checks that and ends the plan. If the objective has
//     ended, as it may if an operator has reset the plan, the signal begins a run of it that ends alone the plan;
//   - for an objective that has ended by itself it records the last events, which the result of the workflow
//     has: the worker that should have done so was lost;
//   - for an objective that was stopped before its beginning was recorded it records that, and then does as for one
//     that is gone;
//   - for an objective that is gone it begins a run of the objective's workflow that loads the
//     objective from the journal and ends it. Temporal refuses that run if another one runs,
//     so an objective that was begun again meanwhile is left alone;
//   - a context that is gone begins again with the objectives that wait for their turn, also if
//     others have begun it again meanwhile.
package reconcile

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"go.uber.org/zap"

	"longhaul/a2a"
	"longhaul/opt"
	"longhaul/opt/shown"
	"longhaul/workflows"
)

// Temporal is the part of [workflows.Client] that a Reconciler needs.
type Temporal interface {
	Fate(ctx context.Context, workflowID string) (workflows.Fate, error)
	Stopped(ctx context.Context, since time.Time) ([]workflows.StoppedRun, error)
	Ended(ctx context.Context, since time.Time) (ids []string, err error)
	Last(ctx context.Context, objectiveID string) ([]opt.Batch, error)    // of one that has ended by itself; none for others
	Opening(ctx context.Context, objectiveID string) (opt.Opening, error) // of one that was stopped in its first run; zero for others
	Running(ctx context.Context) (ids []string, err error)
	Close(ctx context.Context, o opt.Objective) error
	PlanLost(ctx context.Context, o opt.Objective, p opt.Plan) error
	ContextBegan(ctx context.Context, tenant, contextID string) (time.Time, error) // zero if it does not run
	Enter(ctx context.Context, o opt.Objective, p shown.Placed) error
}

// Journal is the part of the journal that a Reconciler needs.
type Journal interface {
	OpenObjectives(ctx context.Context, after string, limit int) ([]opt.Objective, error)
	OpenPlans(ctx context.Context, after, last string) ([]opt.Plan, error) // of the objectives with these ids
	Place(ctx context.Context, p shown.Place) (shown.Placed, error)
	OpenWork(ctx context.Context, objectiveID string) (*opt.Objective, error) // of any tenant; nil if it has ended, opt.ErrUnknown if it is not there
	EndedWork(ctx context.Context) ([]*opt.Objective, error)                  // that have ended, with those of their plans that have not
	Record(ctx context.Context, batches ...opt.Batch) error
}

// Config has the parts and the settings of a Reconciler.
type Config struct {
	Temporal Temporal
	Journal  Journal
	Log      *zap.Logger
	Safe     int // objectives that may be gone at a time without a word of the operator; 0 means 20
}

// A Reconciler closes work without a workflow.
type Reconciler struct {
	cfg    Config
	doubts chan string

	// Of Run alone:
	over     map[string]bool      // stopped runs whose objectives had ended when checkStopped checked them, by their ids
	entered  map[string]time.Time // objectives that a context knows, and when that has begun
	signaled map[string]time.Time // plans about which a signal was sent, and when
	compared time.Time            // when everything was compared last
	doubtful bool                 // something has been found gone since then
	many     int                  // objectives that are gone, if they are more than Safe, as the log has it
	failed   map[string]string    // the latest errors, as the log has them, by what failed
}

// New returns a Reconciler, which does nothing before Run.
func New(cfg Config) *Reconciler {
	cfg.Safe = cmp.Or(cfg.Safe, 20)
	return &Reconciler{cfg: cfg, doubts: make(chan string, 100), signaled: map[string]time.Time{}, failed: map[string]string{}, entered: map[string]time.Time{}}
}

// Doubt has an objective checked soon, since a call for it has found no workflow. It never
// blocks: a doubt that finds no room is dropped, and the next comparison has its objective.
func (r *Reconciler) Doubt(objectiveID string) {
	select {
	case r.doubts <- objectiveID:
	default:
	}
}

const (
	quickEvery = 3 * time.Second // between looks at the stopped workflows
	fullEvery  = time.Minute     // between comparisons of everything
)

// Run works until ctx ends.
func (r *Reconciler) Run(ctx context.Context) {
	quick, full := time.NewTicker(quickEvery), time.NewTicker(fullEvery)
	defer quick.Stop()
	defer full.Stop()
	began := time.Now()
	r.report(ctx, "compare everything", r.compare(ctx))
	for {
		select {
		case <-ctx.Done():
			return
		case id := <-r.doubts:
			_, err := r.check(ctx, id)
			r.report(ctx, "check an objective", err)
		case <-full.C:
			r.report(ctx, "compare everything", r.compare(ctx))
		case <-quick.C:
			since := began.Add(-lag)
			began = time.Now()
			r.report(ctx, "check the stopped workflows", r.checkStopped(ctx, since))
			if r.doubtful {
				r.report(ctx, "compare everything", r.compare(ctx))
			}
		}
	}
}

const (
	lag   = time.Minute // by how much Temporal's lists may be late
	grace = time.Minute // after which an objective that works has a plan
	again = time.Minute // after which an objective that has not acted upon a signal gets another
)

// report logs why something failed once, until it fails for another reason or works.
func (r *Reconciler) report(ctx context.Context, what string, err error) {
	switch {
	case ctx.Err() != nil:
	case err == nil:
		delete(r.failed, what)
	case r.failed[what] != err.Error():
		r.failed[what] = err.Error()
		r.cfg.Log.Warn("Cannot "+what+" in Temporal and in the journal", zap.Error(err))
	}
}

// checkStopped checks the objectives of workflows that were stopped. A run that has failed by itself is in
// the list for a minute.
func (r *Reconciler) checkStopped(ctx context.Context, since time.Time) error {
	runs, err := r.cfg.Temporal.Stopped(ctx, since)
	if err != nil {
		return err
	}
	over, stopped := map[string]bool{}, map[string][]string{} // the others, by objective
	for _, run := range runs {
		if over[run.RunID] = r.over[run.RunID]; !over[run.RunID] {
			for _, id := range objectivesOf([]string{run.WorkflowID}) {
				stopped[id] = append(stopped[id], run.RunID)
			}
		}
	}
	var failed error
	ended := false
	for _, id := range slices.Sorted(maps.Keys(stopped)) {
		open, err := r.check(ctx, id)
		failed = errors.Join(failed, err)
		for _, run := range stopped[id] {
			over[run] = err == nil && !open
			ended = ended || over[run]
		}
	}
	r.over = over
	if ended { // and a plan of it may be open
		failed = errors.Join(failed, r.checkEnded(ctx))
	}
	return failed
}

// objectivesOf returns the ids of the objectives of workflows, each once.
func objectivesOf(workflowIDs []string) (ids []string) {
	for _, id := range workflowIDs {
		if ref, ok := opt.ParseID(id); ok {
			ids = append(ids, ref.ObjectiveID)
		}
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

// check closes an objective, or plans of it, if their workflows are gone. It reports whether the
// objective was open.
func (r *Reconciler) check(ctx context.Context, objectiveID string) (open bool, err error) {
	o, err := r.cfg.Journal.OpenWork(ctx, objectiveID)
	if errors.Is(err, opt.ErrUnknown) {
		o, err = r.open(ctx, objectiveID)
	}
	if err != nil || o == nil {
		return false, err
	}
	fate, err := r.cfg.Temporal.Fate(ctx, o.ID)
	if err != nil {
		return true, err
	}
	switch {
	case fate == workflows.FateRunning:
		return true, r.checkPlans(ctx, o)
	case fate == workflows.FateGone: // and others may be, more than may be closed without a word of the operator
		return true, r.compareInDoubt(ctx)
	}
	return true, r.Close(ctx, o.ID)
}

// open records the opening of an objective that was stopped before anyone had recorded it, and returns the objective;
// nil for others that the journal does not have.
func (r *Reconciler) open(ctx context.Context, objectiveID string) (*opt.Objective, error) {
	o, err := r.cfg.Temporal.Opening(ctx, objectiveID)
	if err != nil || o.Objective.ID == "" {
		return nil, err
	}
	if err := r.cfg.Journal.Record(ctx, o.Batch()); err != nil {
		return nil, err
	}
	return r.cfg.Journal.OpenWork(ctx, objectiveID)
}

// checkPlans sends the objective a signal about each of its plans that is gone. A plan whose workflow has
// not begun yet is not gone: the objective ignores a signal about one, and checks another one itself, as
// it may have begun meanwhile. One that was stopped may have recorded its end and not reported it.
func (r *Reconciler) checkPlans(ctx context.Context, o *opt.Objective) error {
	for _, p := range o.Plans {
		if p.Status.Ended() && p.Reason == opt.Terminated { // its objective knows
			continue
		}
		fate, err := r.cfg.Temporal.Fate(ctx, p.ID)
		if err != nil {
			return err
		}
		gone := fate == workflows.FateStopped || fate == workflows.FateGone && !p.Status.Ended() // Temporal keeps none for ever
		if !gone || r.knows(p.ID) {
			continue
		}
		if fate == workflows.FateStopped {
			r.cfg.Log.Warn("The workflow of a plan was stopped in Temporal", zap.String("plan", p.ID))
		}
		if err := r.cfg.Temporal.PlanLost(ctx, *o, *p); err != nil && !errors.Is(err, opt.ErrEnded) {
			return err
		}
		r.signaled[p.ID] = time.Now()
	}
	return nil
}

// knows reports whether the objective of a plan got a signal about it a moment ago.
func (r *Reconciler) knows(planID string) bool {
	maps.DeleteFunc(r.signaled, func(_ string, at time.Time) bool { return time.Since(at) > again })
	_, is := r.signaled[planID]
	return is
}

// Settle records the ends of the objectives that have ended since a time, as far as a worker that was
// lost meanwhile has not done so. Temporal's list may be late, so it looks several times.
func (r *Reconciler) Settle(ctx context.Context, since time.Time) {
	for _, wait := range []time.Duration{0, quickEvery / 3, quickEvery, 5 * quickEvery} {
		if !pause(ctx, wait) {
			return
		}
		ids, err := r.cfg.Temporal.Ended(ctx, since)
		for _, id := range objectivesOf(ids) {
			if _, failed := r.check(ctx, id); !errors.Is(failed, opt.ErrConflict) && !errors.Is(failed, opt.ErrUnknown) { // else another process does the same
				err = errors.Join(err, failed)
			}
		}
		r.report(ctx, "settle the ends of objectives", err)
	}
}

// settle records the last events of an objective whose workflow has ended by itself. A refusal for good
// leaves it open.
func (r *Reconciler) settle(ctx context.Context, objectiveID string) error {
	last, err := r.cfg.Temporal.Last(ctx, objectiveID)
	if err != nil || len(last) == 0 {
		return err
	}
	err = r.cfg.Journal.Record(ctx, last...)
	if _, refused := errors.AsType[*opt.RewoundError](err); refused {
		return nil
	}
	return err
}

// Close closes an objective that is open in the journal and has no workflow that runs. The error wraps
// opt.ErrConflict if its workflow runs, and opt.ErrUnknown if it is not open.
func (r *Reconciler) Close(ctx context.Context, objectiveID string) error {
	if err := r.settle(ctx, objectiveID); err != nil {
		return err
	}
	o, err := r.cfg.Journal.OpenWork(ctx, objectiveID) // it may have ended by itself meanwhile
	switch {
	case err != nil:
		return err
	case o == nil:
		return opt.ErrUnknown
	}
	if err = r.cfg.Temporal.Close(ctx, *o); err == nil {
		r.cfg.Log.Warn("The workflow of an objective was ended in Temporal; the objective is closed", zap.String("objective", o.ID))
	}
	return err
}

// compareInDoubt compares everything: in a moment, if that was done a moment ago.
func (r *Reconciler) compareInDoubt(ctx context.Context) error {
	if time.Since(r.compared) < quickEvery {
		r.doubtful = true
		return nil
	}
	return r.compare(ctx)
}

// compare checks everything that is open in the journal and does not run in Temporal.
func (r *Reconciler) compare(ctx context.Context) error {
	r.compared, r.doubtful = time.Now(), false
	lost, err := r.Lost(ctx)
	if err != nil {
		return err
	}
	many := 0
	if len(lost.Objectives) > r.cfg.Safe {
		many = len(lost.Objectives)
		lost.Objectives = nil
	}
	r.warnMany(many, lost.Open)
	var failed error
	for _, id := range slices.Concat(lost.Ended, lost.Stopped, lost.Objectives) {
		if err := r.Close(ctx, id); err != nil && !errors.Is(err, opt.ErrConflict) && !errors.Is(err, opt.ErrUnknown) {
			failed = errors.Join(failed, err)
		}
	}
	for _, id := range lost.Doubtful {
		_, err := r.check(ctx, id)
		failed = errors.Join(failed, err)
	}
	if many == 0 {
		failed = errors.Join(failed, r.checkEnded(ctx))
	}
	return errors.Join(failed, r.enterAgain(ctx, lost.Waiting))
}

// checkEnded checks the plans that are open though their objectives have ended. One that runs is left alone.
func (r *Reconciler) checkEnded(ctx context.Context) error {
	ended, err := r.cfg.Journal.EndedWork(ctx)
	for _, o := range ended {
		err = errors.Join(err, r.checkPlans(ctx, o))
	}
	return err
}

// clocksDiffer is by how much the clocks of Temporal and of a process may differ.
const clocksDiffer = 10 * time.Minute

// enterAgain enters objectives that wait for their turn in a context without a workflow, or with
// one that may have begun later than they wait, so that it does not know them. A context ignores
// one that it knows.
func (r *Reconciler) enterAgain(ctx context.Context, waiting []opt.Objective) error {
	type key struct{ tenant, contextID string }
	began := map[key]time.Time{}
	still := map[string]time.Time{}
	for _, o := range waiting {
		if at, known := r.entered[o.ID]; known {
			still[o.ID] = at
		}
	}
	r.entered = still
	for _, o := range waiting {
		k := key{o.Tenant, o.ContextID}
		if _, known := began[k]; !known {
			at, err := r.cfg.Temporal.ContextBegan(ctx, o.Tenant, o.ContextID)
			if err != nil {
				return err
			}
			began[k] = at
		}
		at := began[k]
		if !at.IsZero() && (at.Equal(r.entered[o.ID]) || o.QueuedAt.Time().After(at.Add(clocksDiffer))) {
			still[o.ID] = at
			continue
		}
		placed, err := r.cfg.Journal.Place(ctx, shown.Place{Tenant: o.Tenant, ContextID: o.ContextID, ObjectiveID: o.ID, Attempt: o.Attempt, At: a2a.At(time.Now())})
		if placed.Waiting = max(placed.Waiting, 1); err == nil && !placed.QueuedAt.IsZero() { // there was a context that knew it
			err = r.cfg.Temporal.Enter(ctx, o, placed)
		}
		if err != nil {
			return err
		}
		still[o.ID] = at
	}
	return nil
}

// warnMany keeps how many objectives are gone at a time, 0 for few. It says once that they are so
// many that Temporal has probably lost its data, or is another one.
func (r *Reconciler) warnMany(lost, open int) {
	former := r.many
	if r.many = lost; lost == former || lost == 0 {
		return
	}
	r.cfg.Log.Error("Temporal does not have objectives that are open in the journal. Nothing is closed: check that this is the right Temporal and namespace, "+
		"and close them with the command journal close --lost", zap.Int("gone", lost), zap.Int("open", open))
}

// Lost names the work that is open in the journal and does not run.
type Lost struct {
	Open       int             // objectives that are open in the journal
	Objectives []string        // that Temporal does not have
	Stopped    []string        // objectives that were stopped, as Temporal says
	Ended      []string        // objectives that have ended by themselves, whose ends are not recorded
	Doubtful   []string        // objectives that run, with plans that do not, or that work without any
	Waiting    []opt.Objective // that wait for their turn
}

// Lost compares all that is open in the journal with what runs in Temporal.
func (r *Reconciler) Lost(ctx context.Context) (lost Lost, err error) {
	ids, err := r.cfg.Temporal.Running(ctx)
	if err != nil {
		return lost, err
	}
	running := make(map[string]bool, len(ids))
	for _, id := range ids {
		running[id] = true
	}
	for after := ""; ; {
		page, err := r.cfg.Journal.OpenObjectives(ctx, after, pageSize)
		if err != nil || len(page) == 0 {
			return lost, err
		}
		last := page[len(page)-1].ID
		plans, err := r.cfg.Journal.OpenPlans(ctx, after, last)
		if err != nil {
			return lost, err
		}
		if err := r.add(ctx, &lost, running, page, plans); err != nil {
			return lost, err
		}
		after = last
	}
}

const pageSize = 500

// add adds to lost the ones of a page of open objectives and plans that do not run.
func (r *Reconciler) add(ctx context.Context, lost *Lost, running map[string]bool, page []opt.Objective, plans []opt.Plan) error {
	lost.Open += len(page)
	works := map[string]bool{}
	for _, p := range plans {
		works[p.ObjectiveID] = true
	}
	for _, o := range page {
		if !o.QueuedAt.IsZero() {
			lost.Waiting = append(lost.Waiting, o)
		}
		if running[o.ID] {
			if o.Status == opt.ObjectiveWorking && !works[o.ID] && time.Since(o.UpdatedAt.Time()) > grace {
				lost.Doubtful = append(lost.Doubtful, o.ID) // a plan may have been stopped after it had recorded its end
			}
			continue
		}
		fate, err := r.cfg.Temporal.Fate(ctx, o.ID) // Temporal's list may be late
		if err != nil {
			return err
		}
		lost.note(o.ID, fate)
	}
	for _, p := range plans {
		if running[p.ObjectiveID] && !running[p.ID] && !slices.Contains(lost.Doubtful, p.ObjectiveID) {
			lost.Doubtful = append(lost.Doubtful, p.ObjectiveID)
		}
	}
	return nil
}

// note adds an open objective by the fate of its workflow.
func (l *Lost) note(id string, fate workflows.Fate) {
	switch fate {
	case workflows.FateRunning:
	case workflows.FateEnded:
		l.Ended = append(l.Ended, id)
	case workflows.FateStopped:
		l.Stopped = append(l.Stopped, id)
	default:
		l.Objectives = append(l.Objectives, id)
	}
}
