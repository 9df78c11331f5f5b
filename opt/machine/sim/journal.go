package sim

import (
	"maps"
	"slices"

	"longhaul/a2a"
	"longhaul/opt"
)

// A journal stores the values in events and decides nothing.
type journal struct {
	rows    map[string]*row
	order   []string                     // ids of objectives, as they were opened
	sources map[string]map[int64]string  // content of each event, by source and number
	last    map[string]int64             // number of the latest event, by source
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
	given     []opt.PlanSpec
	answered  map[string]bool // commands
	heard     []string        // letters that the objective has judged
	closed    bool            // its latest attempt has ended
}

// A place is the place of an attempt at an objective in the queue of its context.
type place struct {
	objectiveID string
	attempt     int
	queuedAt    a2a.Time // zero for one that found the context free
}

func newJournal() *journal {
	return &journal{
		rows: map[string]*row{}, sources: map[string]map[int64]string{}, last: map[string]int64{}, answers: map[string]opt.CommandAnswer{},
		letters: map[string][]opt.Verdict{}, places: map[string][]place{}, roots: map[string]opt.TaskState{}, texts: map[string]bool{},
	}
}

// record stores events of a source. Known events are compared; new ones must have
// the next numbers.
func (w *World) record(source, objectiveID string, events []opt.Event) {
	j := w.journal
	if j.sources[source] == nil {
		j.sources[source] = map[int64]string{}
	}
	for _, e := range events {
		if err := e.Check(); err != nil {
			w.fail("journal", "%s of %s: %v", e.Kind, source, err)
		}
		content := string(encoded(e))
		if known, ok := j.sources[source][e.N]; ok {
			if known != content {
				w.fail("journal", "%s recorded two events under number %d:\n%s\n%s", source, e.N, known, content)
			}
			continue
		}
		if e.N != j.last[source]+1 {
			w.fail("journal", "%s recorded event %d after %d", source, e.N, j.last[source])
		}
		j.sources[source][e.N], j.last[source] = content, e.N
		if e.Objective != nil || e.Plan != nil || e.Tasks != nil {
			e = copied(e) // the machine keeps using its members
		}
		w.store(source, objectiveID, e)
	}
}

// store puts the values in an event into the rows.
func (w *World) store(source, objectiveID string, e opt.Event) {
	j := w.journal
	if e.Kind == opt.ObjectiveOpened {
		j.rows[objectiveID] = &row{objective: *e.Objective, request: e.Message, given: e.Given, answered: map[string]bool{}}
		j.order = append(j.order, objectiveID)
		j.roots[e.TaskID] = opt.TaskSubmitted
		return
	}
	r := j.rows[objectiveID]
	if r == nil {
		w.fail("journal", "%s comes before its objective", e.Kind)
	}
	w.checks().checkShown(r, e)
	o := &r.objective
	if e.Head != nil {
		storeHead(o, *e.Head)
	}
	p := o.Plan(e.PlanID)
	switch {
	case e.Kind == opt.PlanAdded:
		o.Plans = append(o.Plans, e.Plan)
		j.texts[e.Plan.Name] = true
	case p != nil && e.PlanHead != nil:
		h := e.PlanHead
		p.Status, p.Reason, p.Stopping, p.Started, p.Paused, p.Run = h.Status, h.Reason, h.Stopping, h.Started, h.Paused, h.Run
	}
	j.storeText(o, p, e.Text)
	switch e.Kind {
	case opt.ObjectiveRetried:
		j.roots[e.TaskID] = opt.TaskSubmitted
		r.closed = false
		o.Cause = ""
	case opt.ObjectiveStopping:
		o.Cause = e.Cause
	case opt.CommandAnswered:
		j.answers[e.Answer.CommandID] = *e.Answer
		r.answered[e.Answer.CommandID] = true
		if e.Answer.Refusal != nil && r.closed && !w.retrying(objectiveID) {
			j.release(o.ContextID, o.ID)
		}
	case opt.MessageAdded:
		key := objectiveID + " " + e.Message.MessageID
		if source == objectiveID {
			r.heard = append(r.heard, opt.Letter{Principal: e.Principal, Key: e.Key, Message: *e.Message}.ID())
		}
		j.letters[key] = append(j.letters[key], e.Verdict)
	}
	if p != nil {
		j.storeTask(p, e)
	} else if e.Kind == opt.TaskMoved {
		j.roots[e.TaskID] = opt.TaskState(e.To)
	}
	if o.Status.Ended() && !r.closed {
		r.closed = true
		j.release(o.ContextID, o.ID)
	}
}

func (j *journal) storeText(o *opt.Objective, p *opt.Plan, t *opt.Text) {
	switch {
	case t == nil:
		return
	case p != nil:
		p.Name, p.Description, p.Metadata, p.Dependencies = t.Name, t.Description, t.Metadata, t.Dependencies
	default:
		o.Name, o.Description, o.Metadata = t.Name, t.Description, t.Metadata
	}
	j.texts[t.Name] = true
}

func storeHead(o *opt.Objective, h opt.ObjectiveHead) {
	o.Status, o.Reason, o.Failure, o.Stopping, o.Started = h.Status, h.Reason, h.Failure, h.Stopping, h.Started
	o.Paused, o.QueuedAt, o.Attempt, o.Revision = h.Paused, h.QueuedAt, h.Attempt, h.Revision
}

// storeTask applies an event of a plan to its tasks in the plan's row.
func (j *journal) storeTask(p *opt.Plan, e opt.Event) {
	switch e.Kind {
	case opt.TasksAdded:
		p.Tasks = append(p.Tasks, e.Tasks...)
		for _, t := range e.Tasks {
			j.texts[t.Name] = true
		}
		return
	case opt.PlanRetried, opt.TasksReopened:
		for _, t := range e.Tasks {
			p.Tasks[t.Index] = t
		}
		return
	}
	i := slices.IndexFunc(p.Tasks, func(t *opt.Task) bool { return t.A2AID() == e.TaskID })
	if i < 0 {
		return
	}
	t := p.Tasks[i]
	switch e.Kind {
	case opt.TaskMoved:
		if e.Gate != nil && (t.Gate == nil || t.Gate.ID != e.Gate.ID) {
			t.Gates++
		}
		t.State, t.Reason, t.Gate = opt.TaskState(e.To), e.Reason, e.Gate
		t.ByHand = t.ByHand || e.Reason == opt.ByHand
	case opt.TaskLinked:
		t.Link, t.Follow = e.Link, e.Follow
	case opt.ArtifactAdded:
		t.Artifacts = slices.DeleteFunc(t.Artifacts, func(a a2a.Artifact) bool { return a.ArtifactID == e.Chunk.Artifact.ArtifactID })
		t.Artifacts = append(t.Artifacts, e.Chunk.Artifact)
	}
}

// An ahead lists the objectives before one that takes a place in the queue of a
// context.
type ahead struct {
	since    a2a.Time // since when it waits, zero if the context is free
	begun    []string // root tasks of objectives that have begun
	starting []string // root tasks of objectives that are about to begin
}

// reserve takes a place for an attempt in the queue of its context, in one
// transaction. The same attempt has one place.
func (j *journal) reserve(contextID, objectiveID string, attempt int, now a2a.Time) (out ahead) {
	places := j.places[contextID]
	last := int64(0)
	for _, p := range places {
		last = max(last, p.queuedAt.Millis())
		switch o := j.rows[p.objectiveID].objective; {
		case p.objectiveID == objectiveID:
		case o.Attempt >= p.attempt && o.Started: // else the row shows an earlier attempt
			out.begun = append(out.begun, o.RootID())
		case p.queuedAt.IsZero():
			out.starting = append(out.starting, opt.RootID(p.objectiveID, p.attempt))
		}
	}
	for _, id := range j.order {
		if o := j.rows[id].objective; o.ContextID == contextID && o.Started && !o.Status.Ended() && id != objectiveID && !slices.Contains(out.begun, o.RootID()) {
			out.begun = append(out.begun, o.RootID())
		}
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

func (j *journal) release(contextID, objectiveID string) {
	j.places[contextID] = slices.DeleteFunc(j.places[contextID], func(p place) bool { return p.objectiveID == objectiveID })
}

// kept returns what the journal has of an objective.
func (j *journal) kept(objectiveID string) opt.Kept {
	r := j.rows[objectiveID]
	k := opt.Kept{Objective: r.objective, Request: r.request, Given: r.given, Recorded: map[string]int64{objectiveID: j.last[objectiveID]}}
	k.Objective.Root = j.roots[r.objective.RootID()]
	k.Heard = r.heard
	k.Answered = slices.Sorted(maps.Keys(r.answered))
	return copied(k)
}

// commit records events of a run. If its driver does not get the answer, the same
// events are recorded again.
func (w *World) commit(r *run, events int, heard bool) {
	batch := r.unrecorded[:events]
	source := r.id
	if p, ok := r.m.(planHost); ok {
		source = p.State.Source()
	}
	w.record(source, r.objective, batch)
	if !heard {
		w.logf("%s: %d events are recorded, and it does not hear of it", w.name(r.id), events)
		return
	}
	w.logf("%s: %d events are recorded", w.name(r.id), events)
	r.confirmed = batch[events-1].N
	r.unrecorded = slices.Clone(r.unrecorded[events:])
	r.wake = true
}
