package machine

import (
	"slices"

	"longhaul/a2a"
	"longhaul/opt"
)

// Admit returns the refusal of a command by its objective, nil if there is none.
// [AdmitToPlan] checks what an open plan decides.
func Admit(o *opt.Objective, c opt.Command) error {
	attempt := o.Attempt
	if o.Status.Ended() {
		attempt++
	}
	switch {
	case c.Seen != 0 && c.Seen != o.Revision:
		return &opt.Refusal{Code: opt.RefusedStale, Revision: o.Revision}
	case c.Attempt != 0 && c.Attempt != attempt:
		return &opt.Refusal{Code: opt.RefusedLate}
	}
	if err := c.Change.Check(); err != nil {
		return err
	}
	switch c.Kind {
	case opt.UpdateObjective:
		return admitUpdate(o, c)
	case opt.Replan:
		return admitReplan(o)
	case opt.CreatePlan:
		if o.Closed() {
			return objectiveEnded()
		}
		_, err := o.NewPlan(*c.Plan, a2a.Time{})
		return err
	}
	return admitForPlan(o, o.Plan(c.PlanID), c)
}

// hasOpenPlan reports whether a plan of an objective that has ended is open: an operator has reset its
// workflow, which does the work again and then ends.
func hasOpenPlan(o *opt.Objective) bool {
	return slices.ContainsFunc(o.Plans, func(p *opt.Plan) bool { return !p.Status.Ended() })
}

// admitForPlan returns the refusal of a command for a plan by its objective.
func admitForPlan(o *opt.Objective, p *opt.Plan, c opt.Command) error {
	switch {
	case p == nil:
		return opt.ErrUnknown
	case c.Kind == opt.UpdatePlan:
		return admitPlanUpdate(o, p, c)
	case o.Closed() && c.Kind != opt.MoveTask && c.Kind != opt.CancelTask:
		return objectiveEnded()
	case p.Status.Ended() && c.Kind != opt.MoveTask && c.Kind != opt.CancelTask:
		return planEnded()
	}
	return nil
}

// admitUpdate has the table of moves that a client may ask of an objective.
func admitUpdate(o *opt.Objective, c opt.Command) error {
	to := opt.ObjectiveStatus(c.Status)
	move := &opt.MoveError{From: string(o.Status), To: c.Status}
	switch {
	case to == o.Status && c.Change.Empty() && o.Closed():
		return nil
	case o.Closed() && (to == "" || to == o.Status):
		return objectiveEnded()
	case to == "":
		return nil
	case o.Stopping != "" && !o.Status.Ended(), !o.Status.May(to), o.Status.Ended() && hasOpenPlan(o):
		return move
	case o.Status.Ended() && !c.Change.Empty():
		return objectiveEnded()
	case to == opt.ObjectiveWorking && o.Status == opt.ObjectiveBlocked && !o.Paused:
		return move
	}
	return nil
}

// admitReplan refuses to replan an objective that has ended, or that has no room
// for one more plan after the open ones are replaced.
func admitReplan(o *opt.Objective) error {
	if o.Closed() {
		return &opt.MoveError{From: string(o.Status), To: string(opt.ObjectivePlanning)}
	}
	_, err := replaced(o).NewPlan(opt.PlanSpec{Name: "another"}, a2a.Time{})
	return err
}

// replaced returns o as if its open plans were replaced.
func replaced(o *opt.Objective) *opt.Objective {
	after := *o
	after.Plans = nil
	for _, p := range o.Plans {
		header := *p
		if !header.Status.Ended() {
			header.Stopping = opt.Replanned
		}
		after.Plans = append(after.Plans, &header)
	}
	return &after
}

// movable reports whether a client may move a plan of o to a status, as far as their ends allow it.
func movable(o *opt.Objective, p *opt.Plan, to opt.PlanStatus) bool {
	return !o.Closed() && (!p.Status.Ended() || p.Over() && p.Status.May(to))
}

// admitPlanUpdate refuses changes of a plan that the objective decides about: its
// dependencies, and a retry of an ended plan.
func admitPlanUpdate(o *opt.Objective, p *opt.Plan, c opt.Command) error {
	to := opt.PlanStatus(c.Status)
	change := planChange(p, c)
	moves := to != "" && to != p.Status
	move := &opt.MoveError{From: string(p.Status), To: c.Status}
	switch {
	case moves && !movable(o, p, to):
		return move
	case p.Status.Ended() && !change.Empty():
		return planEnded()
	case p.Status.Ended() && !moves:
		return nil
	case o.Closed() && !change.Empty():
		return objectiveEnded()
	case !mayBegin(o, p, to, moves):
		return move
	case change == nil:
		return nil
	}
	return admitPlanChange(o, p, change, moves)
}

// mayBegin reports whether p may get a status, which may be that of a plan that has begun or is retried: all that it
// depends on is done before it begins, and no one has to answer. moves says that it has another one.
func mayBegin(o *opt.Objective, p *opt.Plan, to opt.PlanStatus, moves bool) bool {
	if to == opt.PlanWorking && (moves || p.Reason == opt.ByHand) && (!o.Met(p) || opt.AwaitsPeople(o, p)) {
		return false
	}
	return !moves || to != opt.PlanWorking && to != opt.PlanPending || !opt.LostQuestion(o, p)
}

// admitPlanChange refuses a change of the text or the dependencies of a plan; moves says that its status changes, too.
func admitPlanChange(o *opt.Objective, p *opt.Plan, change *opt.Change, moves bool) error {
	switch {
	case change.Metadata.Bool(opt.KeyOptional) && !p.Optional() && opt.AsksPeople(p):
		return &opt.SpecError{Field: "metadata", Problem: "cannot make a plan optional in which people are asked: what waits for it would begin in any case"}
	case change.Dependencies == nil:
		return nil
	case moves:
		return &opt.SpecError{Field: "dependencies", Problem: "cannot be changed together with the status"}
	}
	_, err := o.Reordered(p, change.Dependencies)
	return err
}

// planChange returns the change of c without dependencies that p has already.
// With a status, an empty list is the same as none.
func planChange(p *opt.Plan, c opt.Command) *opt.Change {
	same := c.Change != nil && (p.DependsOn(c.Change.Dependencies) || c.Status != "" && len(p.Dependencies)+len(c.Change.Dependencies) == 0)
	if !same || c.Change.Dependencies == nil {
		return c.Change
	}
	change := *c.Change
	change.Dependencies = nil
	return &change
}

// AdmitToPlan returns the refusal of a command by its plan, nil if there is none.
func AdmitToPlan(p *opt.Plan, c opt.Command) error {
	ended := p.Status.Ended() || p.Stopping != ""
	switch c.Kind {
	case opt.UpdatePlan:
		return admitPlanMove(p, opt.PlanStatus(c.Status))
	case opt.AddTasks:
		if ended {
			return planEnded()
		}
		_, err := p.NewTasks(c.Tasks)
		return err
	case opt.OrderTasks:
		if ended {
			return planEnded()
		}
		_, err := opt.Reordered(p, c.Order)
		return err
	}
	if t := p.Task(c.TaskID); t != nil {
		return admitToTask(t, c, ended)
	}
	return opt.ErrUnknown
}

// admitToTask is AdmitToPlan for a task, whose plan has ended or has not.
func admitToTask(t *opt.Task, c opt.Command, ended bool) error {
	switch to := opt.TaskState(c.Status); c.Kind {
	case opt.LinkTask:
		if t.State != opt.TaskPending || guarded(t) {
			return &opt.MoveError{From: string(t.State), To: "linked"}
		}
		if ended {
			return planEnded()
		}
	case opt.MoveTask:
		if !t.State.May(to) || t.State != to && (ended || guarded(t) && !stops(to)) {
			return &opt.MoveError{From: string(t.State), To: c.Status}
		}
	case opt.CancelTask:
		if t.State.Ended() && t.State != opt.TaskCanceled {
			return &opt.MoveError{From: string(t.State), To: string(opt.TaskCanceled)}
		}
	}
	return nil
}

// guarded reports whether only some principals may decide about t, so that no
// change by hand may take the place of their decision.
func guarded(t *opt.Task) bool {
	return !t.State.Ended() && (t.Gate != nil && t.Gate.Responders != nil || t.Ask != nil && t.Ask.Responders != nil)
}

// stops reports whether a task in state s has ended and is not done.
func stops(s opt.TaskState) bool { return s.Ended() && s != opt.TaskCompleted }

// admitPlanMove has the table of moves that a client may ask of a plan. It has no
// retry, since the objective retries plans. A plan that waits for a person or for
// its objective cannot be resumed, since it is not paused.
func admitPlanMove(p *opt.Plan, to opt.PlanStatus) error {
	from := p.Status
	waits := from == opt.PlanBlocked && p.Reason != opt.BlockedByDependencies
	passes := to == opt.PlanCompleted || to == opt.PlanSkipped // plans that depend on it may begin
	switch {
	case to == "" || to == from:
		return nil
	case from.Ended(): // its objective retries it, after the plan's last report
		return planEnded()
	case p.Stopping != "", !from.May(to), to == opt.PlanWorking && waits && !p.Paused, passes && slices.ContainsFunc(p.Tasks, guarded):
		return &opt.MoveError{From: string(from), To: string(to)}
	}
	return nil
}

// Unchanged reports whether an admitted command would change nothing. p is its
// plan, with tasks; nil for none.
func Unchanged(o *opt.Objective, p *opt.Plan, c opt.Command) bool {
	switch c.Kind {
	case opt.UpdateObjective:
		return c.Change.Empty() && isAlready(o, opt.ObjectiveStatus(c.Status))
	case opt.Replan:
		return o.Planning
	case opt.UpdatePlan:
		to := opt.PlanStatus(c.Status)
		pauses := to == opt.PlanBlocked && p.Started && !p.Paused
		starts := to == opt.PlanWorking && p.Reason == opt.ByHand && o.Met(p)
		return planChange(p, c).Empty() && (to == "" || to == p.Status && !pauses && !starts)
	case opt.OrderTasks:
		changed, err := opt.Reordered(p, c.Order)
		return err == nil && len(changed) == 0
	case opt.MoveTask:
		t := p.Task(c.TaskID)
		return t != nil && string(t.State) == c.Status
	case opt.CancelTask:
		t := p.Task(c.TaskID)
		return t != nil && t.State == opt.TaskCanceled
	}
	return false
}

// isAlready reports whether an admitted move of an objective would change nothing.
func isAlready(o *opt.Objective, to opt.ObjectiveStatus) bool {
	pauses := to == opt.ObjectiveBlocked && !o.Paused
	starts := to == opt.ObjectiveWorking && o.Reason == opt.ByHand
	return to == "" || to == o.Status && (o.Closed() || !pauses && !starts)
}

// late refuses a command whose caller has stopped waiting.
func late(now a2a.Time, c opt.Command) error {
	if !c.Deadline.IsZero() && now.Millis() > c.Deadline.Millis() {
		return &opt.Refusal{Code: opt.RefusedLate, At: now}
	}
	return nil
}

func objectiveEnded() error { return &opt.Refusal{Code: opt.RefusedEnded, From: "objective"} }

func planEnded() error { return &opt.Refusal{Code: opt.RefusedEnded, From: "plan"} }
