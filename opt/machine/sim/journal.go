package sim

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math"
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
	given     []opt.PlanSpec
	answered  map[string]bool // commands
	heard     []string        // letters that the objective has judged
	closed    bool            // its latest attempt has ended
	changed   int64           // when
	kept      int64           // when a client has last asked for another attempt
}

// terminated reports whether the journal shows that a plan was ended by an operator.
func (r *row) terminated(planID string) bool {
	p := r.objective.Plan(planID)
	return p != nil && p.Status.Ended() && p.Reason == opt.Terminated
}

// endTasks ends the open tasks of the plan that e is about, or of all plans.
func (w *World) endTasks(o *opt.Objective, e opt.Event) {
	for _, p := range o.Plans {
		if e.PlanID == p.ID || e.PlanID == "" && !p.Status.Ended() {
			j, name := w.journal, opt.RootID(p.ID, p.Run)
			j.shut[name] = max(j.shut[name], j.epochs[name], j.epochs[o.ID], 1) + 8
		}
		for _, t := range p.Tasks {
			if (e.PlanID == "" || e.PlanID == p.ID) && !t.State.Ended() {
				moved := e.TaskEnded(o.ContextID, t.A2AID(), t.State)
				t.State, t.Reason, t.Gate = opt.TaskState(moved.To), moved.Reason, nil
			}
		}
	}
}

// A place is the place of an attempt at an objective in the queue of its context.
type place struct {
	objectiveID string
	attempt     int
	queuedAt    a2a.Time // zero for one that found the context free
}

func newJournal() *journal {
	return &journal{
		rows: map[string]*row{}, sources: map[string]map[int64]string{}, last: map[string]int64{}, epochs: map[string]int{}, shut: map[string]int{}, answers: map[string]opt.CommandAnswer{},
		letters: map[string][]opt.Verdict{}, places: map[string][]place{}, roots: map[string]opt.TaskState{}, texts: map[string]bool{},
	}
}

// recordAll stores batches, until one is refused.
func (w *World) recordAll(batches []opt.Batch) *opt.RewoundError {
	for _, b := range batches {
		if refused := w.record(b); refused != nil {
			w.logf("the journal refuses events of %s from %d on", w.name(b.Source), refused.Event)
			return refused
		}
	}
	return nil
}

// record stores events of a source. Known events are compared; new ones must have
// the next numbers. Only an operator can make a source contradict the journal: then it refuses
// the events.
func (w *World) record(b opt.Batch) *opt.RewoundError {
	source, objectiveID, events := b.Source, b.ObjectiveID, b.Events
	j := w.journal
	name, epoch := opt.SplitEpoch(source)
	refuse := func(e opt.Event, why string) *opt.RewoundError {
		workflow, _ := opt.SplitRoot(name)
		over := epoch < j.epochs[name] || max(epoch, 1) <= j.shut[name] || w.journal.setBackBefore(b)
		if !over && w.facts.resets[workflow] == 0 {
			w.fail("journal", "%s of %s, event %d: %s", e.Kind, source, e.N, why)
		}
		return &opt.RewoundError{Source: source, Epoch: max(j.epochs[name], j.shut[name], 1), Event: e.N}
	}
	if j.sources[source] == nil {
		j.sources[source] = map[int64]string{}
		if e := events[0]; e.Kind == opt.SourceRewound && epoch > max(j.epochs[name], j.shut[name]) {
			j.last[source] = e.N - 1
		}
	}
	for _, e := range events {
		if err := e.Check(); err != nil {
			w.fail("journal", "%s of %s: %v", e.Kind, source, err)
		}
		content := string(encoded(e))
		if known, ok := j.sources[source][e.N]; ok {
			if known != content {
				return refuse(e, "there is another one under its number: "+known+"\n"+content)
			}
			continue
		}
		switch {
		case e.N != j.last[source]+1:
			return refuse(e, fmt.Sprint("the latest is ", j.last[source]))
		case epoch < j.epochs[name] || max(epoch, 1) <= j.shut[name]:
			return refuse(e, "its epoch is over")
		}
		if why, unknown := j.misfit(b, e); why != "" {
			refused := refuse(e, why)
			refused.Unknown = unknown
			return refused
		}
		j.epochs[name] = epoch
		j.sources[source][e.N], j.last[source] = content, e.N
		w.log = append(w.log, logged{w.now, source, objectiveID, content})
		w.store(source, objectiveID, event(content)) // the machine keeps using the members of e
		w.stored(b, e)
	}
	return nil
}

// event returns the event with a content.
func event(content string) (e opt.Event) {
	must(json.Unmarshal([]byte(content), &e))
	return e
}

// misfit returns why an event is refused for good, "" if it is not. unknown says that its source has
// nothing more to say.
func (j *journal) misfit(b opt.Batch, e opt.Event) (why string, unknown bool) {
	switch of := j.about(b.ObjectiveID, e); {
	case of != "" && j.setBackBefore(b):
		return of + " is not there", of == e.PlanID
	case e.Kind == opt.SourceRewound && j.takesBack(b.ObjectiveID, e):
		return "it was begun again", true
	}
	return "", false
}

// takesBack reports whether the beginning of an epoch is from before a retry of its objective, or of
// one of its plans.
func (j *journal) takesBack(objectiveID string, e opt.Event) bool {
	o := &j.rows[objectiveID].objective
	if e.PlanID != "" {
		p := o.Plan(e.PlanID)
		return p != nil && p.Run > e.PlanHead.Run
	}
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
	task := e.Kind == opt.TaskMoved || e.Kind == opt.TaskLinked || e.Kind == opt.ExchangeAdded
	if task && !slices.ContainsFunc(p.Tasks, func(t *opt.Task) bool { return t.A2AID() == e.TaskID }) {
		return e.TaskID
	}
	return ""
}

// setBackBefore reports whether the plan of a batch does not know the epoch of its objective: what
// its events are about may be gone for good.
func (j *journal) setBackBefore(b opt.Batch) bool {
	return max(b.Under, 1) < j.epochs[b.ObjectiveID]
}

// store puts the values in an event into the rows.
func (w *World) store(source, objectiveID string, e opt.Event) {
	j := w.journal
	switch known := j.rows[objectiveID] != nil; {
	case e.Kind == opt.ObjectiveOpened && known: // in another epoch
		return
	case e.Kind == opt.ObjectiveOpened:
		j.rows[objectiveID] = &row{objective: *e.Objective, request: e.Message, given: e.Given, answered: map[string]bool{}}
		j.order = append(j.order, objectiveID)
		j.roots[e.TaskID] = opt.TaskSubmitted
		return
	}
	r := j.rows[objectiveID]
	if r == nil {
		w.fail("journal", "%s comes before its objective", e.Kind)
	}
	if !w.again {
		w.checks().checkShown(r, e)
	}
	o := &r.objective
	r.changed = w.now
	if e.Kind == opt.SourceRewound {
		w.setBack(r, e)
		return
	}
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
	w.storeKind(source, r, e)
	if e.EndsTasks() {
		w.endTasks(o, e)
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

// storeKind stores what only events of one kind have.
func (w *World) storeKind(source string, r *row, e opt.Event) {
	j, o := w.journal, &r.objective
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
		if e.Answer.Refusal != nil && r.closed && !w.retrying(o.ID) {
			j.release(o.ContextID, o.ID)
		}
	case opt.MessageAdded:
		key := o.ID + " " + e.Message.MessageID
		id := opt.Letter{Principal: e.Principal, Key: e.Key, Message: *e.Message}.ID()
		if name, _ := opt.SplitEpoch(source); name == o.ID && !slices.Contains(r.heard, id) { // else also in an epoch before
			r.heard = append(r.heard, id)
		}
		j.letters[key] = append(j.letters[key], e.Verdict)
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
	o.Shapers = h.Shapers
}

// setBack sets the row to the state that a source has at the beginning of an epoch: that of an
// objective, whose plans show their own states if they have any, or that of a plan.
func (w *World) setBack(r *row, e opt.Event) {
	o := &r.objective
	if e.PlanID != "" {
		w.facts.setBack[e.PlanID] = false
		p := o.Plan(e.PlanID)
		p.Tasks = withNotes(e.Plan.Tasks, p.Tasks)
		p.Status, p.Reason, p.Stopping, p.Started, p.Paused, p.Run = e.PlanHead.Status, e.PlanHead.Reason, e.PlanHead.Stopping, e.PlanHead.Started, e.PlanHead.Paused, e.PlanHead.Run
		return
	}
	storeHead(o, *e.Head)
	w.journal.storeText(o, nil, e.Text)
	var plans []*opt.Plan
	for _, p := range o.Plans {
		if e.Objective.Plan(p.ID) == nil {
			w.facts.setBack[p.ID] = true
		}
	}
	for _, p := range e.Objective.Plans {
		known := o.Plan(p.ID)
		if known != nil {
			w.journal.storeText(o, known, p.Text())
		}
		w.facts.setBack[p.ID] = w.facts.setBack[p.ID] || known != nil && p.Tasks != nil
		if known == nil || p.Tasks != nil || p.Status.Ended() && p.Status != known.Status {
			tasks := p.Tasks
			if tasks == nil && known != nil {
				tasks = known.Tasks
			} else if known != nil {
				tasks = withNotes(tasks, known.Tasks)
			}
			known = p
			known.Tasks = tasks
		}
		plans = append(plans, known)
	}
	o.Plans, o.Root = plans, e.Objective.Root
	w.journal.roots[o.RootID()] = e.Objective.Root
	r.reopen(&w.facts)
}

// withNotes returns tasks that are set back, with the notes that the rows have: the journal loses none.
func withNotes(tasks, rows []*opt.Task) []*opt.Task {
	for _, t := range tasks {
		t.Notes = nil
		if i := slices.IndexFunc(rows, func(r *opt.Task) bool { return r.ID == t.ID }); i >= 0 {
			t.Notes = rows[i].Notes
		}
	}
	return tasks
}

// reopen notes whether an objective that was set back is open, though its end was recorded after the
// reset.
func (r *row) reopen(f *facts) {
	ended := r.objective.Status.Ended()
	f.reopened[r.objective.ID] = f.reopened[r.objective.ID] || r.closed && !ended
	r.closed = ended
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
	t := p.Task(cmp.Or(e.ForTask, e.TaskID))
	switch {
	case t == nil:
	case e.Kind == opt.MessageAdded:
		storeNote(t, e)
	case t.A2AID() == e.TaskID:
		changeTask(t, e)
	}
}

// changeTask applies an event that is about a task and no message.
func changeTask(t *opt.Task, e opt.Event) {
	switch e.Kind {
	case opt.TaskMoved:
		if e.Gate != nil && (t.Gate == nil || t.Gate.ID != e.Gate.ID) {
			t.Gates++
		}
		t.State, t.Reason, t.Gate = opt.TaskState(e.To), e.Reason, e.Gate
		t.ByHand = t.ByHand || e.Reason == opt.ByHand
	case opt.ExchangeAdded:
		if t.Gate != nil { // else its plan was set back to before the gate closed
			t.Gate = t.Gate.Extended(*e.Gate)
		}
	case opt.TaskLinked:
		t.Link, t.Follow = e.Link, e.Follow
	case opt.ArtifactAdded:
		t.Artifacts = slices.DeleteFunc(t.Artifacts, func(a a2a.Artifact) bool { return a.ArtifactID == e.Chunk.Artifact.ArtifactID })
		t.Artifacts = append(t.Artifacts, e.Chunk.Artifact)
	}
}

// storeNote adds a note to t with its author, unless it is there.
func storeNote(t *opt.Task, e opt.Event) {
	note := *e.Message
	note.Metadata = note.Metadata.With(opt.KeyAuthor, e.Principal)
	if e.Verdict == opt.Noted && !opt.HasNote(t.Notes, note) {
		t.Notes = append(t.Notes, note)
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

// retention is how long the journal keeps objectives that have ended, in milliseconds.
const retention = 3_600_000

// purge removes the objectives that ended long ago. Their workflows have ended: no worker takes that
// long, except one that has yet to read what a retry continues from.
func (w *World) purge() {
	j := w.journal
	for _, id := range slices.Clone(j.order) {
		r := j.rows[id]
		working := slices.ContainsFunc(w.runs, func(x *run) bool { return x.objective == id && !x.restores })
		if !r.closed || working || w.now <= max(r.changed, r.kept)+retention {
			continue
		}
		w.logf("%s is removed from the journal", w.name(id))
		w.checks().mayBeRemoved(id)
		delete(j.rows, id)
		j.order = slices.DeleteFunc(j.order, func(x string) bool { return x == id })
		j.release(r.objective.ContextID, id)
		w.log = slices.DeleteFunc(w.log, func(e logged) bool { return e.objectiveID == id })
		w.ops = slices.DeleteFunc(w.ops, func(o op) bool { return o.kind == lateRecord && o.batches[0].ObjectiveID == id })
	}
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
	k.Epochs = maps.Clone(j.epochs)
	for source, n := range j.last {
		k.Recorded[source] = n
	}
	k.Answered = slices.Sorted(maps.Keys(r.answered))
	return copied(k)
}

// A logged event is one that the journal had.
type logged struct {
	at                  int64
	source, objectiveID string
	content             string
}

// restoreJournal has an operator put back an older copy of the journal: it has lost the latest n
// events. The API is stopped until the journal is rebuilt; workers work on. Places in queues count
// for a minute only, so none is missing when the API starts.
func (w *World) restoreJournal(n int) {
	former, n := w.journal, min(n, len(w.log))
	w.logf("the journal is restored from a copy without the latest %d events", n)
	w.lost = slices.Concat(slices.Clone(w.log[len(w.log)-n:]), w.lost)
	w.log = w.log[:len(w.log)-n]
	w.journal = newJournal()
	w.journal.places, w.journal.down, w.journal.texts = former.places, former.down, former.texts
	log := w.log
	w.log = nil
	w.recordAgain(log)
	later := func(_ string, at int64) bool { return len(w.lost) > 0 && at >= w.lost[0].at }
	for id, r := range w.journal.rows {
		if at := former.rows[id].kept; !later(id, at) {
			r.kept = at
		}
	}
	maps.DeleteFunc(w.facts.asked, later) // no workflow knows that a client has asked
}

// rebuildJournal records what the journal has lost, which the histories of the workflows have.
func (w *World) rebuildJournal() {
	if len(w.lost) == 0 {
		return
	}
	w.logf("the journal is rebuilt: %d events", len(w.lost))
	lost := w.lost
	w.lost = nil
	w.recordAgain(lost)
}

// recordAgain records events that the journal had. What they follow from was checked then. Places
// stay as they are: an event that ends an attempt must not remove the place of the next one.
func (w *World) recordAgain(events []logged) {
	now, places := w.now, map[string][]place{}
	for contextID, list := range w.journal.places {
		places[contextID] = slices.Clone(list)
	}
	w.again = true
	for _, e := range events {
		w.now = e.at
		lost := event(e.content)
		if refused := w.record(opt.Batch{Source: e.source, ObjectiveID: e.objectiveID, Events: []opt.Event{lost}, Under: math.MaxInt}); refused != nil {
			w.fail("rebuild", "event %d of %s is refused", lost.N, w.name(e.source))
		}
	}
	w.again, w.now, w.journal.places = false, now, places
}

// early reports whether the journal does not take batches yet: it has lost events that come before
// those and takes them when it is rebuilt, or they are about a plan that is not there.
func (w *World) early(batches []opt.Batch) bool {
	added := map[string]bool{}
	for _, b := range batches {
		row := w.journal.rows[b.ObjectiveID]
		for _, e := range b.Events {
			if e.Kind == opt.PlanAdded {
				added[e.PlanID] = true
			}
			if row != nil && !added[e.PlanID] && w.journal.about(b.ObjectiveID, e) == e.PlanID && e.PlanID != "" && !w.journal.setBackBefore(b) {
				return true
			}
		}
	}
	return slices.ContainsFunc(batches, func(b opt.Batch) bool {
		return slices.ContainsFunc(w.lost, func(e logged) bool { return e.objectiveID == b.ObjectiveID })
	})
}
