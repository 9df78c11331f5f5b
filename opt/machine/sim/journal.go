package sim

import (
	"fmt"
	"maps"
	"slices"

	"longhaul/a2a"
	"longhaul/opt"
)

// A journal stores the values in events and decides nothing.
type journal struct {
	w      *world
	tables          // which an operator may replace by an older copy
	log    []logged // the events in it, in their order
	lost   []logged // those that it has lost, until it is rebuilt
	again  bool     // it records events that it had
	stored func(opt.Batch, opt.Event)
}

// tables are what a journal has stored.
type tables struct {
	rows    map[string]*row
	order   []string                     // ids of objectives, as they were opened
	sources map[string]map[int64]string  // content of each event, by source and number
	last    map[string]int64             // number of the latest event, by source
	epochs  map[string]int               // the latest, by the name of the source
	shut    map[string]int               // up to which epoch a source records nothing more, by its name: its workflow is gone
	answers map[string]opt.CommandAnswer // by command
	letters map[string][]opt.Verdict     // by objective, sender and key
	places  map[string][]place           // by context: objectives that are open in it
	roots   map[string]opt.TaskState     // by root task
	down    bool
	texts   map[string]bool // every name that was ever shown
}

// A row is the data of an objective in the journal.
type row struct {
	objective opt.Objective // with its plans and their tasks
	request   *a2a.Message
	starter   string // who sent that, if it was sent to an objective that waited to be started
	given     []opt.PlanSpec
	answered  map[string]bool      // commands
	used      opt.Usage            // by all work on the objective
	usedBy    map[string]opt.Usage // by its plans
	heard     []string             // letters that the objective has judged
	closed    bool                 // its latest attempt has ended
	changed   int64                // when
	kept      int64                // when a client has last asked for another attempt
}

// usedByPlans returns what the plans have used that were not replaced.
func (r *row) usedByPlans() map[string]opt.Usage {
	used := maps.Clone(r.usedBy)
	maps.DeleteFunc(used, func(id string, _ opt.Usage) bool { return r.objective.Plan(id) == nil })
	return used
}

// terminated reports whether the journal shows that a plan was ended by an operator.
func (r *row) terminated(planID string) bool {
	p := r.objective.Plan(planID)
	return p != nil && p.Status.Ended() && p.Reason == opt.Terminated
}

// opens reports whether the journal shows a plan as open, which one of an ended objective is if it was reset.
func (r *row) opens(planID string) bool {
	p := r.objective.Plan(planID)
	return p != nil && !p.Status.Ended()
}

// tasks returns the tasks of all plans.
func (j *journal) tasks() (list []*opt.Task) {
	for _, id := range j.order {
		for _, p := range j.rows[id].objective.Plans {
			list = append(list, p.Tasks...)
		}
	}
	return list
}

// A place is the place of an attempt at an objective in the queue of its context.
type place struct {
	objectiveID string
	attempt     int
	queuedAt    a2a.Time // zero for one that found the context free
}

func newTables() tables {
	return tables{
		rows: map[string]*row{}, sources: map[string]map[int64]string{}, last: map[string]int64{}, epochs: map[string]int{}, shut: map[string]int{}, answers: map[string]opt.CommandAnswer{},
		letters: map[string][]opt.Verdict{}, places: map[string][]place{}, roots: map[string]opt.TaskState{}, texts: map[string]bool{},
	}
}

// misfit returns why a new event is refused for good, "" if it is not. unknown says that its source has
// nothing more to say.
func (j *journal) misfit(b opt.Batch, e opt.Event) (why string, unknown bool) {
	switch of := j.about(b.ObjectiveID, e); {
	case e.N != j.last[b.Source]+1:
		return fmt.Sprint("the latest is ", j.last[b.Source]), false
	case j.isOver(b):
		return "its epoch is over", false
	case of != "" && j.setBackBefore(b):
		return of + " is not there", of == e.PlanID
	case j.takesBack(b, e):
		return "it was begun again", true
	}
	return "", false
}

// takesBack reports whether an event is from before a retry that a reset does not take back: one of a
// plan that was reset, or the beginning of an epoch of an objective.
func (j *journal) takesBack(b opt.Batch, e opt.Event) bool {
	name, epoch := opt.SplitEpoch(b.Source)
	id, attempt := opt.SplitRoot(name)
	switch {
	case epoch == 1:
		return false
	case id != b.ObjectiveID:
		p := j.rows[b.ObjectiveID].objective.Plan(id)
		return p != nil && p.Run > attempt
	case e.Kind != opt.SourceRewound:
		return false
	}
	o := &j.rows[id].objective
	return o.Attempt > e.Head.Attempt || slices.ContainsFunc(o.Plans, func(p *opt.Plan) bool {
		now := e.Objective.Plan(p.ID)
		return p.Run > 0 && (now == nil || p.Run > now.Run)
	})
}

// about returns the id of the plan or the A2A task that an event is about and that is not there.
func (j *journal) about(objectiveID string, e opt.Event) string {
	row := j.rows[objectiveID]
	if row == nil || e.PlanID == "" || e.Kind == opt.PlanAdded {
		return ""
	}
	p := row.objective.Plan(e.PlanID)
	if p == nil {
		return e.PlanID
	}
	var about []string
	switch e.Kind {
	case opt.TaskMoved, opt.TaskLinked, opt.ExchangeAdded:
		about = append(about, e.TaskID)
	}
	for _, o := range e.Order {
		about = append(about, o.ID)
	}
	for _, id := range about {
		if !slices.ContainsFunc(p.Tasks, func(t *opt.Task) bool { return t.A2AID() == id }) {
			return id
		}
	}
	return ""
}

// isOver reports whether the epoch of a batch is over.
func (j *journal) isOver(b opt.Batch) bool {
	name, epoch := opt.SplitEpoch(b.Source)
	return epoch < j.epochs[name] || max(epoch, 1) <= j.shut[name]
}

// setBackBefore reports whether the plan of a batch does not know the epoch of its objective: what
// its events are about may be gone for good.
func (j *journal) setBackBefore(b opt.Batch) bool {
	return max(b.Under, 1) < j.epochs[b.ObjectiveID]
}

// An ahead lists the objectives before one that takes a place in the queue of a
// context.
type ahead struct {
	since    a2a.Time // since when it waits, zero if the context is free
	begun    []string // root tasks of objectives that have begun
	starting []string // root tasks of objectives that are about to begin
	waiting  int      // how many others are recorded as waiting
}

// reserve takes a place for an attempt in the queue of its context, in one
// transaction. The same attempt has one place.
func (j *journal) reserve(contextID, objectiveID string, attempt int, now a2a.Time) ahead {
	places, out := j.places[contextID], j.before(contextID, objectiveID)
	last := int64(0)
	for _, p := range places {
		last = max(last, p.queuedAt.Millis())
	}
	own := slices.IndexFunc(places, func(p place) bool { return p.objectiveID == objectiveID && p.attempt == attempt })
	if own >= 0 {
		out.since = places[own].queuedAt
		return out
	}
	if len(out.begun) > 0 || len(places) > 0 {
		out.since = a2a.AtMillis(max(now.Millis(), last+1))
	}
	j.places[contextID] = append(places, place{objectiveID, attempt, out.since})
	return out
}

// before lists the other objectives that work in a context or are about to.
func (j *journal) before(contextID, objectiveID string) (out ahead) {
	for _, p := range j.places[contextID] {
		switch o := j.rows[p.objectiveID].objective; {
		case p.objectiveID == objectiveID:
		case o.Attempt >= p.attempt && o.Started: // else the row shows an earlier attempt
			out.begun = append(out.begun, o.RootID())
		case p.queuedAt.IsZero():
			out.starting = append(out.starting, opt.RootID(p.objectiveID, p.attempt))
		}
	}
	for _, id := range j.order {
		switch o := j.rows[id].objective; {
		case o.ContextID != contextID || o.Status.Ended() || id == objectiveID:
		case o.Started && !slices.Contains(out.begun, o.RootID()):
			out.begun = append(out.begun, o.RootID())
		case !o.QueuedAt.IsZero() && j.w.latest[id] != nil: // the API records it when it has started it
			out.waiting++
		}
	}
	return out
}

// members lists the root tasks of the objectives that are open in a context, those that have begun and those that wait.
func (j *journal) members(contextID string) (begun, waiting []string) {
	for _, id := range j.order {
		switch o := j.rows[id].objective; {
		case o.ContextID != contextID || o.Status.Ended():
		case !o.QueuedAt.IsZero():
			waiting = append(waiting, o.RootID())
		case o.Started:
			begun = append(begun, o.RootID())
		}
	}
	return begun, waiting
}

func (j *journal) release(contextID, objectiveID string) {
	j.places[contextID] = slices.DeleteFunc(j.places[contextID], func(p place) bool { return p.objectiveID == objectiveID })
}

// kept returns what the journal has of an objective.
func (j *journal) kept(objectiveID string) opt.Kept {
	r := j.rows[objectiveID]
	k := opt.Kept{Objective: r.objective, Request: r.request, Starter: r.starter, Given: r.given, Recorded: map[string]int64{objectiveID: j.last[objectiveID]}}
	k.Objective.Root = j.roots[r.objective.RootID()]
	k.Heard, k.Used, k.UsedBy = r.heard, r.used, r.usedByPlans()
	k.Epochs = maps.Clone(j.epochs)
	for source, n := range j.last {
		k.Recorded[source] = n
	}
	k.Answered = slices.Sorted(maps.Keys(r.answered))
	return copied(k)
}
