package record

import (
	"errors"
	"fmt"
	"slices"

	"longhaul/internal/journal/db"
	"longhaul/opt"
)

// begins reports whether b is the beginning of an epoch that is not known. It may begin with
// any number.
func begins(r *rows, b batch, latest numbers) bool {
	name, epoch := opt.SplitEpoch(b.source)
	return len(latest.digests) == 0 && b.entries[0].Kind == opt.SourceRewound && epoch > epochOf(r, name)
}

// beginsAgain reports whether b begins an epoch that another run has begun: a workflow was reset twice from the
// same run.
func beginsAgain(b batch, latest numbers) bool {
	first := b.entries[0]
	return first.Kind == opt.SourceRewound && len(latest.digests) > 0 && first.N > latest.last()
}

// epochOf returns the latest epoch of a source.
func epochOf(r *rows, name string) int { return max(r.o.epochs[name], -r.o.epochs[name], 1) }

// rewound returns the error for an event of a source that cannot be recorded in its epoch.
func rewound(r *rows, source string, n int64) *opt.RewoundError {
	name, _ := opt.SplitEpoch(source)
	return &opt.RewoundError{Source: source, Epoch: epochOf(r, name), Event: n}
}

// unrecorded is how many epochs the journal expects that a workflow has begun and not recorded: it
// was reset that often while the journal was away.
const unrecorded = 8

// shutEpochs has the source of a plan, or those of all open plans, record nothing more in their epochs:
// their workflows are gone, and a worker that was slow may come with events of before. A plan begins
// in the epoch of its objective, so that may be an epoch that the journal does not know. The list of
// epochs has a negative number for a source that is shut up to an epoch and has begun none.
func shutEpochs(r *rows, planID string) {
	type plan struct {
		id     string
		run    int
		status opt.PlanStatus
	}
	plans := db.Rows(&r.Steps, "SELECT id, run, status FROM plans WHERE objective_id = $1 AND (id = $2 OR $2 = '')", db.Args{r.objectiveID, planID},
		func(row db.Scanner) (p plan, err error) { return p, row.Scan(&p.id, &p.run, &p.status) })
	for _, p := range plans {
		if planID == "" && p.status.Ended() {
			continue
		}
		name := opt.RootID(p.id, p.run)
		epoch := max(epochOf(r, name), epochOf(r, r.objectiveID)) + unrecorded
		if r.o.epochs[name] < 1 {
			epoch = -epoch
		}
		setEpoch(r, name, epoch)
	}
}

// WasRewound reports whether a list of epochs has one that a source has begun.
func WasRewound(epochs db.Content) (bool, error) {
	var of map[string]int
	err := db.Decode(epochs, &of)
	for _, epoch := range of {
		if epoch > 0 {
			return true, err
		}
	}
	return false, err
}

// isShut reports whether the journal takes nothing more from a source in its epoch: a later one has begun, or its
// workflow is gone.
func isShut(r *rows, source string) bool {
	name, epoch := opt.SplitEpoch(source)
	latest := epochOf(r, name)
	return epoch < latest || epoch == latest && r.o.epochs[name] < 0
}

// checkEpoch refuses event n of a source in an epoch that is shut.
func checkEpoch(r *rows, source string, n int64) {
	if isShut(r, source) {
		r.Fail(fmt.Errorf("%w: %w", ErrContradiction, rewound(r, source, n)))
	}
}

// enterEpoch notes the epoch of a source that is about to record e, and others after it.
func enterEpoch(r *rows, source string, e *entry) {
	name, epoch := opt.SplitEpoch(source)
	if checkEpoch(r, source, e.N); epoch == 1 || !r.o.exists {
		return
	}
	if takesBack(r, name, e) {
		refused := rewound(r, source, e.N)
		refused.Unknown = true
		r.Fail(fmt.Errorf("%w: %w", ErrContradiction, refused))
	}
	if epoch != epochOf(r, name) {
		setEpoch(r, name, epoch)
	}
}

// takesBack reports whether e, of a source that was reset, is from before the objective, or one of its
// plans, was begun again. A reset takes no retry back.
func takesBack(r *rows, name string, e *entry) bool {
	of := e.Objective
	switch id, attempt := opt.SplitRoot(name); {
	case id != r.objectiveID:
		of = &opt.Objective{Plans: []*opt.Plan{{ID: id, Run: attempt}}}
	case e.Kind != opt.SourceRewound:
		return false
	case r.o.attempt > e.Head.Attempt:
		return true
	}
	again := db.Rows(&r.Steps, "SELECT id, run FROM plans WHERE objective_id = $1 AND run > 1 AND (id = $2 OR $2 = '')", db.Args{r.objectiveID, e.PlanID},
		func(row db.Scanner) (p opt.Plan, err error) { return p, row.Scan(&p.ID, &p.Run) })
	return slices.ContainsFunc(again, func(p opt.Plan) bool { was := of.Plan(p.ID); return was == nil || was.Run < p.Run })
}

func setEpoch(r *rows, name string, epoch int) {
	if r.o.epochs == nil {
		r.o.epochs = map[string]int{}
	}
	r.o.epochs[name] = epoch
	r.Do("UPDATE objectives SET epochs = $2 WHERE id = $1", r.objectiveID, r.Encode(true, r.o.epochs))
}

// early returns err, with which event e of b was refused. An event about a plan or a task that is
// not there may come too early. If its plan does not know the epoch of the objective yet, it is
// refused for good: the objective was set back to before what the event is about.
func early(r *rows, err error, b batch, e *entry) error {
	if !errors.Is(err, ErrEarly) || e.PlanID == "" || b.under >= epochOf(r, r.objectiveID) {
		return err
	}
	known, failed := r.C.Get("SELECT 1 FROM plans WHERE id = $1 AND objective_id = $2", db.Args{e.PlanID, r.objectiveID}, new(int))
	if failed != nil {
		return failed
	}
	name, _ := opt.SplitEpoch(b.source)
	return fmt.Errorf("%w: %w", ErrContradiction, &opt.RewoundError{Source: b.source, Epoch: epochOf(r, name), Event: e.N, Unknown: !known})
}

// unstick notes that the objective records again.
func unstick(r *rows) {
	if r.o.stuck {
		r.o.stuck = false
		r.Do("UPDATE objectives SET stuck = '' WHERE id = $1", r.objectiveID)
	}
}
