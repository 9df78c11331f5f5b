package record

import (
	"slices"

	"longhaul/a2a"
	"longhaul/internal/journal/db"
	"longhaul/opt"
)

// rewind sets the rows of the objective or the plan to the state in e.
func rewind(r *rows, e *entry) {
	if e.PlanID != "" {
		setTasks(r, e, e.Plan)
		return
	}
	setObjective(r, e)
}

func setObjective(r *rows, e *entry) {
	e.text = newText(&r.Steps, e.Text)
	writeObjectiveText(r, e)
	o := e.Objective
	r.o.attempt = e.Head.Attempt
	addRoot(r, o.MessageID, o.Digest, e.At)
	root := opt.RootID(r.objectiveID, r.o.attempt)
	setTask(r, e, root, &opt.Task{State: o.Root, Gate: e.Gate, Failure: e.Head.Failure})
	if !o.Root.Ended() { // it gets its own artifacts at its end
		r.Do("DELETE FROM artifacts WHERE objective_id = $1 AND task_id = $2", r.objectiveID, root)
	}
	setPlans(r, e, o.Plans)
}

// setPlans sets the plans of the objective. Those that have a workflow show their own state,
// except one that has ended.
func setPlans(r *rows, e *entry, list []*opt.Plan) {
	known := r.IDs("SELECT id FROM plans WHERE objective_id = $1 ORDER BY position", r.objectiveID)
	for _, id := range known {
		if !slices.ContainsFunc(list, func(p *opt.Plan) bool { return p.ID == id }) {
			removePlan(r, id)
		}
	}
	for i, p := range list {
		setPlan(r, e, i, p, slices.Contains(known, p.ID))
	}
}

func removePlan(r *rows, id string) {
	removeTasks(r, tasksOf(r, id))
	r.Do("DELETE FROM plans WHERE id = $1 AND objective_id = $2", id, r.objectiveID)
}

// tasksOf returns the ids of the tasks of a plan.
func tasksOf(r *rows, planID string) []string {
	return r.IDs("SELECT id FROM tasks WHERE objective_id = $1 AND plan_id = $2", r.objectiveID, planID)
}

func setPlan(r *rows, e *entry, position int, p *opt.Plan, known bool) {
	at := &entry{
		Event: opt.Event{PlanID: p.ID, At: e.At, Plan: p, PlanHead: p.Head()},
		text:  newText(&r.Steps, p.Text()), added: r.Encode(true, barePlan(*p)), tasks: newTasks(&r.Steps, p.Tasks),
	}
	if !known {
		addPlan(r, at)
	}
	writePlanText(r, at)
	r.Do("UPDATE plans SET position = $2 WHERE id = $1 AND position <> $2", p.ID, position)
	if p.Tasks != nil || p.Status.Ended() && !hasEnded(r, p) {
		writePlanHead(r, at)
	}
	if p.Tasks != nil {
		setTasks(r, at, p)
	}
}

// hasEnded reports whether a plan has recorded the end that its objective knows.
func hasEnded(r *rows, p *opt.Plan) bool {
	return r.Get("SELECT 1 FROM plans WHERE id = $1 AND status = $2", db.Args{p.ID, string(p.Status)}, new(int))
}

// setTasks sets the tasks of a plan. Earlier attempts at them stay.
func setTasks(r *rows, e *entry, p *opt.Plan) {
	removeTasks(r, slices.DeleteFunc(tasksOf(r, p.ID), func(id string) bool {
		ref, _ := opt.ParseID(id)
		t := p.Task(ref.TaskID)
		return t != nil && ref.Attempt <= max(t.Run, 1)
	}))
	addTasks(r, &entry{Event: opt.Event{PlanID: p.ID, At: e.At}, tasks: newTasks(&r.Steps, p.Tasks)})
	for _, t := range p.Tasks {
		setTask(r, e, t.A2AID(), t)
		setArtifacts(r, t.A2AID(), t.Artifacts)
	}
}

// removeTasks removes tasks with their artifacts, and abandons their deliveries
// that are due.
func removeTasks(r *rows, ids []string) {
	for _, id := range ids {
		r.Do("DELETE FROM tasks WHERE id = $1 AND objective_id = $2", id, r.objectiveID)
		r.Do("DELETE FROM artifacts WHERE objective_id = $1 AND task_id = $2", r.objectiveID, id)
		r.Do("UPDATE deliveries SET status = 'abandoned' WHERE objective_id = $1 AND task_id = $2 AND status = 'due'", r.objectiveID, id)
	}
}

// setTask sets the state of a task, unless the row has it, and takes events of every attempt
// at it again.
func setTask(r *rows, e *entry, id string, t *opt.Task) {
	var state opt.TaskState
	var open db.Content
	r.Get("SELECT state, gate FROM tasks WHERE id = $1 AND objective_id = $2", db.Args{id, r.objectiveID}, &state, &open)
	if gate := r.Encode(t.Gate != nil, t.Gate); state != t.State || open != gate {
		moved := opt.Event{At: e.At, TaskID: id, From: string(state), To: string(t.State), Reason: t.Reason, Gate: t.Gate}
		if ref, ok := opt.ParseID(id); ok {
			moved.PlanID = ref.PlanID
		}
		switch {
		case t.Gate != nil:
			moved.Status = t.Gate.Message(r.o.contextID, id)
		case t.Failure != "" && t.State.Ended():
			moved.Status = a2a.AgentMessage(r.o.contextID, id, ":status", t.Failure)
		}
		moveTask(r, &entry{Event: moved, status: r.Encode(moved.Status != nil, moved.Status), gate: gate})
	}
	r.Do("UPDATE tasks SET fence = 0, link = $2, follow = $3, dependencies = $4 WHERE id = $1",
		id, t.Link, db.Flag(t.Follow), r.Encode(t.Dependencies != nil, t.Dependencies))
}

// setArtifacts sets the artifacts of a task of a plan. The root task shows those that it has
// shown.
func setArtifacts(r *rows, taskID string, list []a2a.Artifact) {
	for _, id := range r.IDs("SELECT DISTINCT artifact_id FROM artifacts WHERE objective_id = $1 AND task_id = $2 ORDER BY artifact_id", r.objectiveID, taskID) {
		if !slices.ContainsFunc(list, func(a a2a.Artifact) bool { return a.ArtifactID == id }) {
			r.Do("DELETE FROM artifacts WHERE objective_id = $1 AND task_id = $2 AND artifact_id = $3", r.objectiveID, taskID, id)
		}
	}
	for _, a := range list {
		setArtifact(r, taskID, a)
	}
}
