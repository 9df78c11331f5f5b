package sim

import (
	"maps"
	"math"
	"slices"

	"longhaul/opt"
)

// retention is how long the journal keeps objectives that have ended, in milliseconds.
const retention = 3_600_000

// purge removes the objectives that ended long ago. Their workflows have ended: no worker takes that
// long, except one that has yet to read what a retry continues from.
func (j *journal) purge() {
	for _, id := range slices.Clone(j.order) {
		r := j.rows[id]
		working := slices.ContainsFunc(j.w.runs, func(x *run) bool { return x.objective == id && !x.restores })
		if !r.closed || working || j.w.now <= max(r.changed, r.kept)+retention {
			continue
		}
		j.w.logf("%s is removed from the journal", j.w.name(id))
		mayBeRemoved(j.w, id)
		delete(j.rows, id)
		j.order = slices.DeleteFunc(j.order, func(x string) bool { return x == id })
		j.release(r.objective.ContextID, id)
		j.log = slices.DeleteFunc(j.log, func(e logged) bool { return e.objectiveID == id })
		j.w.ops = slices.DeleteFunc(j.w.ops, func(o op) bool { return o.kind == lateRecord && o.batches[0].ObjectiveID == id })
	}
}

// A logged event is one that the journal had.
type logged struct {
	at                  int64
	source, objectiveID string
	content             string
}

// whole reports whether the journal has all that it had.
func (j *journal) whole() bool { return len(j.lost) == 0 }

// restore has an operator put back an older copy of the journal: it has lost the latest n
// events. The API is stopped until the journal is rebuilt; workers work on. Places in queues count
// for a minute only, so none is missing when the API starts.
func (j *journal) restore(n int) {
	former, n := j.tables, min(n, len(j.log))
	j.w.logf("the journal is restored from a copy without the latest %d events", n)
	j.lost = slices.Concat(slices.Clone(j.log[len(j.log)-n:]), j.lost)
	j.log = j.log[:len(j.log)-n]
	j.tables = newTables()
	j.places, j.down, j.texts = former.places, former.down, former.texts
	log := j.log
	j.log = nil
	j.recordAgain(log)
	later := func(_ string, at int64) bool { return !j.whole() && at >= j.lost[0].at }
	for id, r := range j.rows {
		if at := former.rows[id].kept; !later(id, at) {
			r.kept = at
		}
	}
	maps.DeleteFunc(j.w.facts.asked, later) // no workflow knows that a client has asked
}

// rebuild records what the journal has lost, which the histories of the workflows have.
func (j *journal) rebuild() {
	if j.whole() {
		return
	}
	j.w.logf("the journal is rebuilt: %d events", len(j.lost))
	lost := j.lost
	j.lost = nil
	j.recordAgain(lost)
}

// recordAgain records events that the journal had. What they follow from was checked then. Places
// stay as they are: an event that ends an attempt must not remove the place of the next one.
func (j *journal) recordAgain(events []logged) {
	now, places := j.w.now, map[string][]place{}
	for contextID, list := range j.places {
		places[contextID] = slices.Clone(list)
	}
	j.again = true
	for _, e := range events {
		j.w.now = e.at
		lost := event(e.content)
		if refused := j.record(opt.Batch{Source: e.source, ObjectiveID: e.objectiveID, Events: []opt.Event{lost}, Under: math.MaxInt}); refused != nil {
			j.w.fail("rebuild", "event %d of %s is refused", lost.N, j.w.name(e.source))
		}
	}
	j.again, j.w.now, j.places = false, now, places
}

// early reports whether the journal does not take batches yet: it has lost events that come before
// those and takes them when it is rebuilt, or they are about a plan that is not there.
func (j *journal) early(batches []opt.Batch) bool {
	added := map[string]bool{}
	for _, b := range batches {
		row := j.rows[b.ObjectiveID]
		for _, e := range b.Events {
			if e.Kind == opt.PlanAdded {
				added[e.PlanID] = true
			}
			if row != nil && !added[e.PlanID] && j.about(b.ObjectiveID, e) == e.PlanID && e.PlanID != "" && !j.setBackBefore(b) {
				return true
			}
		}
	}
	return slices.ContainsFunc(batches, func(b opt.Batch) bool {
		return slices.ContainsFunc(j.lost, func(e logged) bool { return e.objectiveID == b.ObjectiveID })
	})
}
