package record

import (
	"errors"
	"slices"

	"longhaul/a2a"
	"longhaul/internal/journal/db"
	"longhaul/opt"
)

// rewind sets the rows of the objective or the plan to the state in e.
func rewind(r *rows, e *entry) error {
	if e.PlanID != "" {
		return setTasks(r, e, e.Plan)
	}
	return setObjective(r, e)
}

func setObjective(r *rows, e *entry) error {
	var d documents
	e.text = d.text(e.Text)
	if err := errors.Join(errors.Join(d...), writeObjectiveText(r, e)); err != nil {
		return err
	}
	o := e.Objective
	r.o.attempt = e.Head.Attempt
	err := addRoot(r, o.MessageID, o.Digest, e.At)
	if err == nil {
		err = setTask(r, e, opt.RootID(r.objectiveID, r.o.attempt), &opt.Task{State: o.Root, Gate: e.Gate, Failure: e.Head.Failure})
	}
	if err == nil && !o.Root.Ended() { // it gets its own artifacts at its end
		err = r.c.Do("DELETE FROM artifacts WHERE objective_id = $1 AND task_id = $2", r.objectiveID, opt.RootID(r.objectiveID, r.o.attempt))
	}
	if err == nil {
		err = setPlans(r, e, o.Plans)
	}
	return err
}

// setPlans sets the plans of the objective. Those that have a workflow show their own state,
// except one that has ended.
func setPlans(r *rows, e *entry, list []*opt.Plan) error {
	known, err := db.All(r.c, "SELECT id FROM plans WHERE objective_id = $1 ORDER BY position", db.Args{r.objectiveID}, db.ScanID)
	for _, id := range known {
		if err == nil && !slices.ContainsFunc(list, func(p *opt.Plan) bool { return p.ID == id }) {
			err = removePlan(r, id)
		}
	}
	for i, p := range list {
		if err == nil {
			err = setPlan(r, e, i, p, slices.Contains(known, p.ID))
		}
	}
	return err
}

func removePlan(r *rows, id string) error {
	ids, err := db.All(r.c, "SELECT id FROM tasks WHERE objective_id = $1 AND plan_id = $2", db.Args{r.objectiveID, id}, db.ScanID)
	if err == nil {
		err = removeTasks(r, ids)
	}
	if err == nil {
		err = r.c.Do("DELETE FROM plans WHERE id = $1 AND objective_id = $2", id, r.objectiveID)
	}
	return err
}

func setPlan(r *rows, e *entry, position int, p *opt.Plan, known bool) error {
	var d documents
	at := &entry{Event: opt.Event{PlanID: p.ID, At: e.At, Plan: p, PlanHead: p.Head()}, text: d.text(p.Text()), added: d.encode(true, barePlan(*p)), tasks: d.tasks(p.Tasks)}
	err := errors.Join(d...)
	if err == nil && !known {
		err = addPlan(r, at)
	}
	if err == nil {
		err = writePlanText(r, at)
	}
	if err == nil {
		err = r.c.Do("UPDATE plans SET position = $2 WHERE id = $1 AND position <> $2", p.ID, position)
	}
	write := p.Tasks != nil
	if err == nil && !write && p.Status.Ended() {
		ended, failed := hasEnded(r, p)
		write, err = !ended, failed
	}
	if err == nil && write {
		err = writePlanHead(r, at)
	}
	if err == nil && p.Tasks != nil {
		err = setTasks(r, at, p)
	}
	return err
}

// hasEnded reports whether a plan has recorded the end that its objective knows.
func hasEnded(r *rows, p *opt.Plan) (bool, error) {
	var n int
	_, err := r.c.Get("SELECT COUNT(*) FROM plans WHERE id = $1 AND status = $2", db.Args{p.ID, string(p.Status)}, &n)
	return n == 1, err
}

// setTasks sets the tasks of a plan. Earlier attempts at them stay.
func setTasks(r *rows, e *entry, p *opt.Plan) error {
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
	if err := errors.Join(errors.Join(d...), removeTasks(r, gone), addTasks(r, added)); err != nil {
		return err
	}
	for _, t := range p.Tasks {
		if err := errors.Join(setTask(r, e, t.A2AID(), t), setArtifacts(r, t.A2AID(), t.Artifacts)); err != nil {
			return err
		}
	}
	return nil
}

// removeTasks removes tasks with their artifacts, and abandons their deliveries
// that are due.
func removeTasks(r *rows, ids []string) error {
	for _, id := range ids {
		err := r.c.Do("DELETE FROM tasks WHERE id = $1 AND objective_id = $2", id, r.objectiveID)
		if err == nil {
			err = r.c.Do("DELETE FROM artifacts WHERE objective_id = $1 AND task_id = $2", r.objectiveID, id)
		}
		if err == nil {
			err = r.c.Do("UPDATE deliveries SET status = 'abandoned' WHERE objective_id = $1 AND task_id = $2 AND status = 'due'", r.objectiveID, id)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// setTask sets the state of a task, unless the row has it, and takes events of every attempt
// at it again.
func setTask(r *rows, e *entry, id string, t *opt.Task) error {
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
		if err := errors.Join(errors.Join(d...), moveTask(r, set)); err != nil {
			return err
		}
	}
	return r.c.Do("UPDATE tasks SET fence = 0, link = $2, follow = $3 WHERE id = $1", id, t.Link, db.Flag(t.Follow))
}

// setArtifacts sets the artifacts of a task of a plan. The root task shows those that it has
// shown.
func setArtifacts(r *rows, taskID string, list []a2a.Artifact) error {
	ids, err := db.All(r.c, "SELECT DISTINCT artifact_id FROM artifacts WHERE objective_id = $1 AND task_id = $2 ORDER BY artifact_id", db.Args{r.objectiveID, taskID}, db.ScanID)
	if err != nil {
		return err
	}
	for _, id := range ids {
		if slices.ContainsFunc(list, func(a a2a.Artifact) bool { return a.ArtifactID == id }) {
			continue
		}
		if err := r.c.Do("DELETE FROM artifacts WHERE objective_id = $1 AND task_id = $2 AND artifact_id = $3", r.objectiveID, taskID, id); err != nil {
			return err
		}
	}
	for _, a := range list {
		var root string
		if _, err := r.c.Get("SELECT root_id FROM artifacts WHERE objective_id = $1 AND task_id = $2 AND artifact_id = $3 ORDER BY seq LIMIT 1",
			db.Args{r.objectiveID, taskID, a.ArtifactID}, &root); err != nil {
			return err
		}
		doc, err := db.Encode(a)
		if err != nil {
			return err
		}
		whole := &entry{Event: opt.Event{TaskID: taskID, RootID: root, Chunk: &opt.Chunk{Artifact: a}}, added: doc}
		if replaced, err := replaceArtifact(r, whole); err != nil || replaced {
			if err != nil {
				return err
			}
			continue
		}
		if err := r.c.Do("INSERT INTO artifacts (objective_id, seq, task_id, root_id, artifact_id, doc) VALUES ($1, $2, $3, $4, $5, $6)",
			r.objectiveID, r.seq(), taskID, root, a.ArtifactID, doc); err != nil {
			return err
		}
	}
	return nil
}
