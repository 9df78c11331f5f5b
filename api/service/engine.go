package service

import (
	"context"

	"longhaul/opt"
)

// An Engine starts, tells and stops the work. What it has accepted is durable.
//
// An error wraps opt.ErrUnavailable if the call may be repeated, opt.ErrUnknown
// if there is no such workflow, opt.ErrEnded if it has ended; an *opt.MoveError
// or *opt.SpecError of a workflow comes through.
type Engine interface {
	Changer

	// Start starts the objective, or has it wait for its turn if its QueuedAt is
	// set, and returns the opening that holds: an earlier one if the id is taken by
	// one with the same Objective.Digest. If its digest is another, the error wraps
	// opt.ErrConflict; if it has ended, opt.ErrEnded.
	Start(ctx context.Context, o opt.Opening) (opt.Opening, error)
	// Tell delivers a message. The verdict on it is recorded in the journal.
	Tell(ctx context.Context, l opt.Letter) error
	// Cancel asks an objective to stop, given its root task's id, or one task
	// of a plan. It returns before that has happened.
	Cancel(ctx context.Context, taskID string, principal string) error
	// AddPlan adds a plan, and starts the objective if start is set. The plan
	// is in the journal when it returns.
	AddPlan(ctx context.Context, objectiveID string, spec opt.PlanSpec, start bool, seen int64) (*opt.Plan, error)
	// Ready reports why the engine could not accept work now.
	Ready(ctx context.Context) error
}

// A Changer changes what is there. When a call returns nil, the change is in the
// journal; the objective may be about to follow one of its plans. seen is the
// revision that the client has seen, 0 for any: the error about another one wraps
// opt.ErrStale.
type Changer interface {
	ObjectiveChanger
	PlanChanger
	TaskChanger
}

// An ObjectiveChanger changes objectives.
type ObjectiveChanger interface {
	// ChangeObjective changes an objective and moves it to a status, "" for none.
	ChangeObjective(ctx context.Context, id string, change *opt.Change, status opt.ObjectiveStatus, seen int64) error
	// Replan has plans made in place of those that have not ended.
	Replan(ctx context.Context, id, reason string, seen int64) error
	// Enter has an objective wait for its turn in its context, behind those that are
	// known to have begun there, though it began when it was alone.
	Enter(ctx context.Context, o opt.Objective, behind []string) error
	// Again begins a new attempt at an objective that has ended, given all that the
	// journal has of it, or has the attempt wait for its turn if QueuedAt is set. The journal shows the attempt soon. An *opt.MoveError from
	// a status to itself says that the attempt before has yet to leave, or that
	// somebody else was first.
	Again(ctx context.Context, o *opt.Objective, to opt.ObjectiveStatus, behind []string) error
}

// A PlanChanger changes plans.
type PlanChanger interface {
	// ChangePlan changes a plan and moves it to a status, "" for none. met says that
	// what the plan depends on is done.
	ChangePlan(ctx context.Context, id string, change *opt.Change, status opt.PlanStatus, met bool, seen int64) error
	// AgainPlan begins a new attempt at a plan that failed, given all that the journal
	// has of it, while its objective goes on: it waits for its turn, or starts. An
	// error that wraps opt.ErrUnknown says that the objective has yet to hear of its
	// end.
	AgainPlan(ctx context.Context, p *opt.Plan, to opt.PlanStatus, seen int64) error
	// ReorderPlan makes a change of a plan that was not begun, which has Dependencies.
	ReorderPlan(ctx context.Context, planID string, change *opt.Change, seen int64) error
	AddTasks(ctx context.Context, planID string, specs []opt.TaskSpec, seen int64) error
}

// A TaskChanger changes the tasks of plans.
type TaskChanger interface {
	// LinkTask has another A2A task stand in for a plan task, which ends as that does
	// if follow is set.
	LinkTask(ctx context.Context, taskID, link string, follow bool, seen int64) error
	// MoveTask moves a plan task, with a text for people.
	MoveTask(ctx context.Context, taskID string, to opt.TaskState, text string, seen int64) error
}
