package sim

import (
	"cmp"
	"encoding/json"
	"slices"

	"longhaul/a2a"
	"longhaul/opt"
)

// recordAll stores batches, until one is refused.
func (j *journal) recordAll(batches []opt.Batch) *opt.RewoundError {
	for _, b := range batches {
		if refused := j.record(b); refused != nil {
			j.w.logf("the journal refuses events of %s from %d on", j.w.name(b.Source), refused.Event)
			return refused
		}
	}
	return nil
}

// record stores events of a source. Known events are compared; new ones must have
// the next numbers. Only an operator can make a source contradict the journal: then it refuses
// the events.
func (j *journal) record(b opt.Batch) *opt.RewoundError {
	name, epoch := opt.SplitEpoch(b.Source)
	if j.sources[b.Source] == nil {
		j.sources[b.Source] = map[int64]string{}
		if e := b.Events[0]; e.Kind == opt.SourceRewound && epoch > max(j.epochs[name], j.shut[name]) {
			j.last[b.Source] = e.N - 1
		}
	}
	for _, e := range b.Events {
		if err := e.Check(); err != nil {
			j.w.fail("journal", "%s of %s: %v", e.Kind, b.Source, err)
		}
		content := string(encoded(e))
		if known, ok := j.sources[b.Source][e.N]; ok {
			if known != content {
				return j.refuse(b, e, "there is another one under its number: "+known+"\n"+content)
			}
			continue
		}
		if why, unknown := j.misfit(b, e); why != "" {
			refused := j.refuse(b, e, why)
			refused.Unknown = unknown
			return refused
		}
		j.epochs[name] = epoch
		j.sources[b.Source][e.N], j.last[b.Source] = content, e.N
		j.log = append(j.log, logged{j.w.now, b.Source, b.ObjectiveID, content})
		j.store(b.Source, b.ObjectiveID, event(content)) // the machine keeps using the members of e
		j.stored(b, e)
	}
	return nil
}

// refuse returns that an event is refused for good. It may be if the epoch of its source is over, or
// an operator has reset that or its objective.
func (j *journal) refuse(b opt.Batch, e opt.Event, why string) *opt.RewoundError {
	name, _ := opt.SplitEpoch(b.Source)
	workflow, _ := opt.SplitRoot(name)
	if over := j.isOver(b) || j.setBackBefore(b); !over && !j.w.facts.isReset(workflow, b.ObjectiveID) {
		j.w.fail("journal", "%s of %s, event %d: %s", e.Kind, b.Source, e.N, why)
	}
	return &opt.RewoundError{Source: b.Source, Epoch: max(j.epochs[name], j.shut[name], 1), Event: e.N}
}

// event returns the event with a content.
func event(content string) (e opt.Event) {
	must(json.Unmarshal([]byte(content), &e))
	return e
}

// endTasks ends the open tasks of the plan that e is about, or of all plans.
func (j *journal) endTasks(o *opt.Objective, e opt.Event) {
	for _, p := range o.Plans {
		if e.PlanID == p.ID || e.PlanID == "" && !p.Status.Ended() {
			name := opt.RootID(p.ID, p.Run)
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

// store puts the values in an event into the rows.
func (j *journal) store(source, objectiveID string, e opt.Event) {
	r := j.rows[objectiveID]
	if e.Kind == opt.ObjectiveOpened {
		if r == nil { // else it is in another epoch
			j.open(objectiveID, e)
		}
		return
	}
	if r == nil {
		j.w.fail("journal", "%s comes before its objective", e.Kind)
	}
	if !j.again {
		checkShown(j.w, r, e)
	}
	r.changed = j.w.now
	if e.Kind == opt.SourceRewound {
		j.setBack(r, e)
		return
	}
	j.storeValues(source, r, e)
	if o := &r.objective; o.Status.Ended() && !r.closed {
		r.closed = true
		j.release(o.ContextID, o.ID)
	}
}

func (j *journal) open(objectiveID string, e opt.Event) {
	j.rows[objectiveID] = &row{objective: *e.Objective, request: e.Message, given: e.Given, answered: map[string]bool{}, usedBy: map[string]opt.Usage{}}
	j.order = append(j.order, objectiveID)
	j.roots[e.TaskID] = opt.TaskSubmitted
}

// storeValues puts the values in an event into the row of its objective.
func (j *journal) storeValues(source string, r *row, e opt.Event) {
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
		storePlanHead(p, *e.PlanHead)
		p.UpdatedAt = e.At
	}
	j.storeText(o, p, e.Text)
	r.addUsage(e)
	j.storeKind(source, r, e)
	if e.EndsTasks() {
		j.endTasks(o, e)
	}
	if p != nil {
		j.storeTask(p, e)
	} else if e.Kind == opt.TaskMoved {
		j.roots[e.TaskID] = opt.TaskState(e.To)
	}
}

// addUsage adds what an event says that was used.
func (r *row) addUsage(e opt.Event) {
	if e.Usage != nil && (e.Kind == opt.UsageAdded || e.Gate != nil) {
		r.used = r.used.Plus(*e.Usage)
		r.usedBy[e.PlanID] = r.usedBy[e.PlanID].Plus(*e.Usage)
	}
}

// storeKind stores what only events of one kind have.
func (j *journal) storeKind(source string, r *row, e opt.Event) {
	o := &r.objective
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
		if e.Answer.Refusal != nil && r.closed && !j.w.retrying(o.ID) {
			j.release(o.ContextID, o.ID)
		}
	case opt.MessageAdded:
		key := o.ID + " " + e.Message.MessageID
		id := opt.Letter{Principal: e.Principal, Key: e.Key, Message: *e.Message}.ID()
		if e.Reason == opt.Begins {
			r.request, r.starter = e.Message, e.Principal
		}
		if name, _ := opt.SplitEpoch(source); name == o.ID && !slices.Contains(r.heard, id) { // else also in an epoch before
			r.heard = append(r.heard, id)
		}
		j.letters[key] = append(j.letters[key], e.Verdict)
	}
}

// setBack sets the row to the state that a source has at the beginning of an epoch: that of an
// objective, whose plans show their own states if they have any, or that of a plan.
func (j *journal) setBack(r *row, e opt.Event) {
	o := &r.objective
	if e.PlanID != "" {
		j.w.facts.setBack[e.PlanID] = false
		p := o.Plan(e.PlanID)
		p.Tasks = withNotes(e.Plan.Tasks, p.Tasks)
		storePlanHead(p, *e.PlanHead)
		return
	}
	storeHead(o, *e.Head)
	j.storeText(o, nil, e.Text)
	var plans []*opt.Plan
	for _, p := range o.Plans {
		if e.Objective.Plan(p.ID) == nil {
			j.w.facts.setBack[p.ID] = true
		}
	}
	for _, p := range e.Objective.Plans {
		plans = append(plans, j.planSetBack(o, p))
	}
	o.Plans, o.Root = plans, e.Objective.Root
	j.roots[o.RootID()] = e.Objective.Root
	r.reopen(&j.w.facts)
}

// planSetBack returns what the row has of a plan that its objective shows as p when it is set back.
func (j *journal) planSetBack(o *opt.Objective, p *opt.Plan) *opt.Plan {
	known := o.Plan(p.ID)
	if known == nil {
		return p
	}
	j.storeText(o, known, p.Text())
	switch {
	case p.Tasks != nil:
		j.w.facts.setBack[p.ID] = true
		p.Tasks = withNotes(p.Tasks, known.Tasks)
	case p.Status.Ended() && p.Status != known.Status:
		p.Tasks = known.Tasks
	default:
		return known
	}
	return p
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

func storePlanHead(p *opt.Plan, h opt.PlanHead) {
	p.Status, p.Reason, p.Stopping, p.Started, p.Paused, p.Run = h.Status, h.Reason, h.Stopping, h.Started, h.Paused, h.Run
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
	case opt.TasksOrdered:
		for _, o := range e.Order {
			if t := p.Task(o.ID); t != nil { // else it was reopened since
				t.Dependencies = o.Dependencies
			}
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

// isOtherGate reports whether a task has another gate than before, other than about its budget.
func isOtherGate(before, now *opt.Gate) bool {
	return now != nil && !now.Budget && (before == nil || before.ID != now.ID)
}

// changeTask applies an event that is about a task and no message.
func changeTask(t *opt.Task, e opt.Event) {
	switch e.Kind {
	case opt.TaskMoved:
		if isOtherGate(t.Gate, e.Gate) || e.Passes() {
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

// eventsOf returns the events of an objective.
func (j *journal) eventsOf(objectiveID string) (list []opt.Event) {
	for _, e := range j.log {
		if e.objectiveID == objectiveID {
			list = append(list, event(e.content))
		}
	}
	return list
}

// usage returns what a source has recorded as used by its tasks.
func (j *journal) usage(source string) (sum opt.Usage) {
	for _, content := range j.sources[source] {
		if e := event(content); e.Kind == opt.UsageAdded {
			sum = sum.Plus(*e.Usage)
		}
	}
	return sum
}
