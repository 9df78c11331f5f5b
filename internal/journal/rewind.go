package journal

import (
	"errors"
	"fmt"
	"slices"

	"longhaul/a2a"
	"longhaul/internal/journal/db"
	"longhaul/opt"
)

// A rewindTable is the part of a recording that sets rows to the state of a source that was
// rewound: to all that it owns. Rows that its owner does not know are removed, and what they
// have brought stays in the events.
type rewindTable struct{ *recording }

// begins reports whether b is the beginning of an epoch that is not known. It may begin with
// any number.
func (r rewindTable) begins(b batch, latest numbers) bool {
	name, epoch := opt.SplitEpoch(b.source)
	return len(latest.digests) == 0 && b.entries[0].Kind == opt.SourceRewound && epoch > r.epoch(name)
}

// takesBack reports whether the beginning of an epoch is from before the objective, or one of its
// plans, was begun again. A reset takes no retry back.
func takesBack(c *db.Conn, objectiveID string, attempt int, e *entry) (bool, error) {
	of := e.Objective
	switch {
	case e.Kind != opt.SourceRewound:
		return false, nil
	case e.PlanID != "":
		of = &opt.Objective{Plans: []*opt.Plan{e.Plan}}
	case attempt > e.Head.Attempt:
		return true, nil
	}
	again, err := db.All(c, "SELECT id, run FROM plans WHERE objective_id = $1 AND run > 1 AND (id = $2 OR $2 = '')", db.Args{objectiveID, e.PlanID},
		func(row db.Scanner) (p opt.Plan, err error) { return p, row.Scan(&p.ID, &p.Run) })
	return slices.ContainsFunc(again, func(p opt.Plan) bool { was := of.Plan(p.ID); return was == nil || was.Run < p.Run }), err
}

// epoch returns the latest epoch of a source.
func (r rewindTable) epoch(name string) int { return max(r.o.epochs[name], -r.o.epochs[name], 1) }

// rewound returns the error for an event of a source that cannot be recorded in its epoch.
func (r rewindTable) rewound(source string, n int64) *opt.RewoundError {
	name, _ := opt.SplitEpoch(source)
	return &opt.RewoundError{Source: source, Epoch: r.epoch(name), Event: n}
}

// unrecorded is how many epochs the journal expects that a workflow has begun and not recorded: it
// was reset that often while the journal was away.
const unrecorded = 8

// shut has the source of a plan, or those of all open plans, record nothing more in their epochs:
// their workflows are gone, and a worker that was slow may come with events of before. A plan begins
// in the epoch of its objective, so that may be an epoch that the journal does not know. The list of
// epochs has a negative number for a source that is shut up to an epoch and has begun none.
func (r rewindTable) shut(planID string) error {
	type plan struct {
		id     string
		run    int
		status opt.PlanStatus
	}
	plans, err := db.All(r.c, "SELECT id, run, status FROM plans WHERE objective_id = $1 AND (id = $2 OR $2 = '')", db.Args{r.objectiveID, planID},
		func(row db.Scanner) (p plan, err error) { return p, row.Scan(&p.id, &p.run, &p.status) })
	for _, p := range plans {
		if planID == "" && p.status.Ended() {
			continue
		}
		name := opt.RootID(p.id, p.run)
		epoch := max(r.epoch(name), r.epoch(r.objectiveID)) + unrecorded
		if r.o.epochs[name] < 1 {
			epoch = -epoch
		}
		if err == nil {
			err = r.setEpoch(name, epoch)
		}
	}
	return err
}

// wasRewound reports whether a list of epochs has one that a source has begun.
func wasRewound(epochs db.Content) (bool, error) {
	var of map[string]int
	err := decode(epochs, &of)
	for _, epoch := range of {
		if epoch > 0 {
			return true, err
		}
	}
	return false, err
}

// checkEpoch refuses event n of a source in an epoch before the latest one, or in one that is shut.
func (r rewindTable) checkEpoch(source string, n int64) error {
	name, epoch := opt.SplitEpoch(source)
	if latest := r.epoch(name); epoch < latest || epoch == latest && r.o.epochs[name] < 0 {
		return fmt.Errorf("%w: %w", ErrContradiction, r.rewound(source, n))
	}
	return nil
}

// enterEpoch notes the epoch of a source that is about to record e, its first event in it.
func (r rewindTable) enterEpoch(source string, e *entry) error {
	name, epoch := opt.SplitEpoch(source)
	if err := r.checkEpoch(source, e.N); err != nil || epoch == r.epoch(name) || !r.o.exists {
		return err
	}
	past, err := takesBack(r.c, r.objectiveID, r.o.attempt, e)
	if past {
		refused := r.rewound(source, e.N)
		refused.Unknown = true
		return fmt.Errorf("%w: %w", ErrContradiction, refused)
	}
	if err != nil {
		return err
	}
	return r.setEpoch(name, epoch)
}

func (r rewindTable) setEpoch(name string, epoch int) error {
	if r.o.epochs == nil {
		r.o.epochs = map[string]int{}
	}
	r.o.epochs[name] = epoch
	doc, err := encode(r.o.epochs)
	if err == nil {
		_, err = r.c.Exec("UPDATE objectives SET epochs = $2 WHERE id = $1", r.objectiveID, doc)
	}
	return err
}

// early returns err, with which event e of b was refused. An event about a plan or a task that is
// not there may come too early. If its plan does not know the epoch of the objective yet, it is
// refused for good: the objective was set back to before what the event is about.
func (r rewindTable) early(err error, b batch, e *entry) error {
	if !errors.Is(err, ErrEarly) || e.PlanID == "" || b.under >= r.epoch(r.objectiveID) {
		return err
	}
	known, failed := r.c.Get("SELECT 1 FROM plans WHERE id = $1 AND objective_id = $2", db.Args{e.PlanID, r.objectiveID}, new(int))
	if failed != nil {
		return failed
	}
	name, _ := opt.SplitEpoch(b.source)
	return fmt.Errorf("%w: %w", ErrContradiction, &opt.RewoundError{Source: b.source, Epoch: r.epoch(name), Event: e.N, Unknown: !known})
}

// unstick notes that the objective records again.
func (r rewindTable) unstick() error {
	if !r.o.stuck {
		return nil
	}
	r.o.stuck = false
	_, err := r.c.Exec("UPDATE objectives SET stuck = '' WHERE id = $1", r.objectiveID)
	return err
}

// apply sets the rows of the objective or the plan to the state in e.
func (r rewindTable) apply(e *entry) error {
	if e.PlanID != "" {
		return r.setTasks(e, e.Plan)
	}
	return r.setObjective(e)
}

func (r rewindTable) setObjective(e *entry) error {
	var d documents
	e.text = d.text(e.Text)
	if err := errors.Join(errors.Join(d...), r.objectives().writeText(e)); err != nil {
		return err
	}
	o := e.Objective
	r.o.attempt = e.Head.Attempt
	err := r.tasks().addRoot(o.MessageID, o.Digest, e.At)
	if err == nil {
		err = r.setTask(e, opt.RootID(r.objectiveID, r.o.attempt), &opt.Task{State: o.Root, Gate: e.Gate, Failure: e.Head.Failure})
	}
	if err == nil && !o.Root.Ended() { // it gets its own artifacts at its end
		_, err = r.c.Exec("DELETE FROM artifacts WHERE objective_id = $1 AND task_id = $2", r.objectiveID, opt.RootID(r.objectiveID, r.o.attempt))
	}
	if err == nil {
		err = r.setPlans(e, o.Plans)
	}
	return err
}

// setPlans sets the plans of the objective. Those that have a workflow show their own state,
// except one that has ended.
func (r rewindTable) setPlans(e *entry, list []*opt.Plan) error {
	known, err := db.All(r.c, "SELECT id FROM plans WHERE objective_id = $1 ORDER BY position", db.Args{r.objectiveID}, db.ScanID)
	for _, id := range known {
		if err == nil && !slices.ContainsFunc(list, func(p *opt.Plan) bool { return p.ID == id }) {
			err = r.removePlan(id)
		}
	}
	for i, p := range list {
		if err == nil {
			err = r.setPlan(e, i, p, slices.Contains(known, p.ID))
		}
	}
	return err
}

func (r rewindTable) removePlan(id string) error {
	ids, err := db.All(r.c, "SELECT id FROM tasks WHERE objective_id = $1 AND plan_id = $2", db.Args{r.objectiveID, id}, db.ScanID)
	if err == nil {
		err = r.removeTasks(ids)
	}
	if err == nil {
		_, err = r.c.Exec("DELETE FROM plans WHERE id = $1 AND objective_id = $2", id, r.objectiveID)
	}
	return err
}

func (r rewindTable) setPlan(e *entry, position int, p *opt.Plan, known bool) error {
	var d documents
	at := &entry{Event: opt.Event{PlanID: p.ID, At: e.At, Plan: p, PlanHead: p.Head()}, text: d.text(p.Text()), added: d.encode(true, barePlan(*p)), tasks: d.tasks(p.Tasks)}
	err := errors.Join(d...)
	if err == nil && !known {
		err = r.plans().add(at)
	}
	if err == nil {
		err = r.plans().writeText(at)
	}
	if err == nil {
		_, err = r.c.Exec("UPDATE plans SET position = $2 WHERE id = $1 AND position <> $2", p.ID, position)
	}
	write := p.Tasks != nil
	if err == nil && !write && p.Status.Ended() {
		ended, failed := r.hasEnded(p)
		write, err = !ended, failed
	}
	if err == nil && write {
		err = r.plans().writeHead(at)
	}
	if err == nil && p.Tasks != nil {
		err = r.setTasks(at, p)
	}
	return err
}

// hasEnded reports whether a plan has recorded the end that its objective knows.
func (r rewindTable) hasEnded(p *opt.Plan) (bool, error) {
	var n int
	_, err := r.c.Get("SELECT COUNT(*) FROM plans WHERE id = $1 AND status = $2", db.Args{p.ID, string(p.Status)}, &n)
	return n == 1, err
}

// setTasks sets the tasks of a plan. Earlier attempts at them stay.
func (r rewindTable) setTasks(e *entry, p *opt.Plan) error {
	ids, err := db.All(r.c, "SELECT id FROM tasks WHERE objective_id = $1 AND plan_id = $2", db.Args{r.objectiveID, p.ID}, db.ScanID)
	if err != nil {
		return err
	}
	gone := slices.DeleteFunc(ids, func(id string) bool {
		ref, _ := opt.ParseID(id)
		t := p.Task(ref.TaskID)
		return t != nil && ref.Attempt <= max(t.Run, 1)
	})
	var d documents
	added := &entry{Event: opt.Event{PlanID: p.ID, At: e.At}, tasks: d.tasks(p.Tasks)}
	if err := errors.Join(errors.Join(d...), r.removeTasks(gone), r.tasks().add(added)); err != nil {
		return err
	}
	for _, t := range p.Tasks {
		if err := errors.Join(r.setTask(e, t.A2AID(), t), r.setArtifacts(t.A2AID(), t.Artifacts)); err != nil {
			return err
		}
	}
	return nil
}

// removeTasks removes tasks with their artifacts, and abandons their deliveries
// that are due.
func (r rewindTable) removeTasks(ids []string) error {
	for _, id := range ids {
		_, err := r.c.Exec("DELETE FROM tasks WHERE id = $1 AND objective_id = $2", id, r.objectiveID)
		if err == nil {
			_, err = r.c.Exec("DELETE FROM artifacts WHERE objective_id = $1 AND task_id = $2", r.objectiveID, id)
		}
		if err == nil {
			_, err = r.c.Exec("UPDATE deliveries SET status = 'abandoned' WHERE objective_id = $1 AND task_id = $2 AND status = 'due'", r.objectiveID, id)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// setTask sets the state of a task, unless the row has it, and takes events of every attempt
// at it again.
func (r rewindTable) setTask(e *entry, id string, t *opt.Task) error {
	var state opt.TaskState
	var reason string
	var open db.Content
	if _, err := r.c.Get("SELECT state, reason, gate FROM tasks WHERE id = $1 AND objective_id = $2", db.Args{id, r.objectiveID}, &state, &reason, &open); err != nil {
		return err
	}
	var d documents
	gate := d.encode(t.Gate != nil, t.Gate)
	if state != t.State || open != gate {
		moved := opt.Event{At: e.At, TaskID: id, From: string(state), To: string(t.State), Reason: t.Reason, Gate: t.Gate}
		if ref, ok := opt.ParseID(id); ok {
			moved.PlanID = ref.PlanID
		}
		switch {
		case t.Gate != nil:
			moved.Status = t.Gate.Message(r.o.contextID, id)
		case t.Failure != "" && t.State.Ended():
			moved.Status = &a2a.Message{MessageID: id + ":status", ContextID: r.o.contextID, TaskID: id, Role: a2a.RoleAgent, Parts: []a2a.Part{a2a.TextPart(t.Failure)}}
		}
		set := &entry{Event: moved, status: d.encode(moved.Status != nil, moved.Status), gate: gate}
		if err := errors.Join(errors.Join(d...), r.tasks().move(set)); err != nil {
			return err
		}
	}
	_, err := r.c.Exec("UPDATE tasks SET fence = 0, link = $2, follow = $3 WHERE id = $1", id, t.Link, boolNumber(t.Follow))
	return err
}

// setArtifacts sets the artifacts of a task of a plan. The root task shows those that it has
// shown.
func (r rewindTable) setArtifacts(taskID string, list []a2a.Artifact) error {
	ids, err := db.All(r.c, "SELECT DISTINCT artifact_id FROM artifacts WHERE objective_id = $1 AND task_id = $2 ORDER BY artifact_id", db.Args{r.objectiveID, taskID}, db.ScanID)
	if err != nil {
		return err
	}
	for _, id := range ids {
		if slices.ContainsFunc(list, func(a a2a.Artifact) bool { return a.ArtifactID == id }) {
			continue
		}
		if _, err := r.c.Exec("DELETE FROM artifacts WHERE objective_id = $1 AND task_id = $2 AND artifact_id = $3", r.objectiveID, taskID, id); err != nil {
			return err
		}
	}
	for _, a := range list {
		var root string
		if _, err := r.c.Get("SELECT root_id FROM artifacts WHERE objective_id = $1 AND task_id = $2 AND artifact_id = $3 ORDER BY seq LIMIT 1",
			db.Args{r.objectiveID, taskID, a.ArtifactID}, &root); err != nil {
			return err
		}
		doc, err := encode(a)
		if err != nil {
			return err
		}
		whole := &entry{Event: opt.Event{TaskID: taskID, RootID: root, Chunk: &opt.Chunk{Artifact: a}}, added: doc}
		if replaced, err := r.artifacts().replace(whole); err != nil || replaced {
			if err != nil {
				return err
			}
			continue
		}
		if _, err := r.c.Exec("INSERT INTO artifacts (objective_id, seq, task_id, root_id, artifact_id, doc) VALUES ($1, $2, $3, $4, $5, $6)",
			r.objectiveID, r.seq(), taskID, root, a.ArtifactID, doc); err != nil {
			return err
		}
	}
	return nil
}
