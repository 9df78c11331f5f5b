package workflows

import (
	"errors"
	"fmt"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"longhaul/a2a"
	"longhaul/opt"
)

// An update is how clients change an objective or a plan: its validator refuses
// what cannot be, before anything is written; its handler changes the state and
// returns once the change is recorded.
type update struct {
	name    string
	handle  any
	refuses any
}

// handle registers updates with r's workflow.
func (r *run) handle(updates ...update) error {
	for _, u := range updates {
		options := workflow.UpdateHandlerOptions{Validator: u.refuses}
		if err := workflow.SetUpdateHandlerWithOptions(r.ctx, u.name, u.handle, options); err != nil {
			return fmt.Errorf("register update %s: %w", u.name, err)
		}
	}
	return nil
}

// settled ends a handler: it returns once everything is recorded, and has the
// main loop look again. ctx is the handler's own.
func (r *run) settled(ctx workflow.Context) {
	ctx, _ = workflow.NewDisconnectedContext(ctx)
	r.nudge()
	r.rec.flush(ctx)
	r.nudge()
}

// finish ends a handler, after what follows from its change at once.
func (r *objectiveRun) finish(ctx workflow.Context) {
	r.follow()
	r.settled(ctx)
}

// finish ends a handler, after what follows from its change at once.
func (r *planRun) finish(ctx workflow.Context) {
	r.follow()
	r.settled(ctx)
}

func (r *objectiveRun) updates() []update {
	return []update{
		{AddPlanUpdate, r.addPlan, r.mayAddPlan},
		{ChangeObjectiveUpdate, r.change, r.mayChange},
		{ReplanUpdate, r.replan, r.mayReplan},
		{ClaimUpdate, r.claim, r.mayClaim},
		{AgainPlanUpdate, r.planAgain, r.mayPlanAgain},
		{ReorderUpdate, r.reorder, r.mayReorder},
	}
}

// fresh refuses a change by a client that has not seen the latest revision.
func (r *objectiveRun) fresh(seen int64) error {
	if seen != 0 && seen != r.o.Revision {
		return temporal.NewNonRetryableApplicationError(
			fmt.Sprintf("the objective is at revision %d by now", r.o.Revision), staleErrorType, nil, r.o.Revision)
	}
	return nil
}

// revise makes a new revision.
func (r *objectiveRun) revise(c *opt.Change) {
	r.apply(opt.Event{Kind: opt.ObjectiveChanged, Change: c, Revision: r.o.Revision + 1})
}

func (r *objectiveRun) mayClaim(_ workflow.Context, c Claim) error {
	if r.o.Status.Ended() || r.o.Stopping != "" {
		return moveError(string(r.o.Status), "a change")
	}
	return r.fresh(c.Seen)
}

func (r *objectiveRun) claim(ctx workflow.Context, _ Claim) (int64, error) {
	r.revise(nil)
	revision := r.o.Revision
	r.finish(ctx)
	return revision, nil
}

func (r *objectiveRun) mayAddPlan(ctx workflow.Context, a AddPlan) error {
	if r.o.Status.Ended() || r.o.Stopping != "" {
		return moveError(string(r.o.Status), "a change")
	}
	if err := r.fresh(a.Seen); err != nil {
		return err
	}
	if len(r.o.Plans) >= opt.MaxPlans {
		return specError(tooManyPlans())
	}
	_, err := opt.NewPlan(r.o.ID, len(r.o.Plans)+1, a.Spec, r.o.Plans, nil, a2a.At(workflow.Now(ctx)))
	return specError(err)
}

func (r *objectiveRun) addPlan(ctx workflow.Context, a AddPlan) (*opt.Plan, error) {
	n := len(r.o.Plans)
	if err := r.addPlans([]opt.PlanSpec{a.Spec}); err != nil {
		return nil, specError(err)
	}
	plan := *r.plans[r.o.Plans[n].ID]
	r.revise(nil)
	if a.Start {
		r.begin()
	}
	r.finish(ctx)
	return &plan, nil
}

// mayChange holds the table of moves that a client may ask an objective for.
func (r *objectiveRun) mayChange(_ workflow.Context, c ChangeObjective) error {
	if r.o.Status.Ended() || r.o.Stopping != "" {
		return moveError(string(r.o.Status), wanted(string(c.Status)))
	}
	if err := r.fresh(c.Seen); err != nil {
		return err
	}
	if err := c.Change.Check(); err != nil {
		return specError(err)
	}
	from := r.o.Status
	switch {
	case c.Status == "" || c.Status == from && r.o.Reason != opt.ByHand:
		return nil
	case !from.May(c.Status), c.Status == opt.ObjectiveWorking && from == opt.ObjectiveBlocked && r.o.Reason != opt.BlockedByOperator:
		return moveError(string(from), string(c.Status))
	}
	return nil
}

func (r *objectiveRun) change(ctx workflow.Context, c ChangeObjective) error {
	if !c.Change.Empty() {
		r.revise(c.Change)
	}
	if c.Status != "" && (c.Status != r.o.Status || r.o.Reason == opt.ByHand) {
		r.steer(c.Status)
		r.revise(nil)
	}
	r.finish(ctx)
	return nil
}

// steer does what a client means by a new status.
func (r *objectiveRun) steer(to opt.ObjectiveStatus) {
	switch to {
	case opt.ObjectiveWorking:
		switch {
		case (r.o.Status == opt.ObjectivePlanning || r.drop != nil) && r.since(planningChange):
			r.work()
		case r.o.Status == opt.ObjectiveBlocked:
			r.resume()
		default:
			r.begin()
		}
	case opt.ObjectivePlanning:
		r.planAnew()
	case opt.ObjectiveBlocked:
		r.pause()
	default:
		r.apply(opt.Event{Kind: opt.ObjectiveStopping, Reason: string(to), Status: r.endedByClient(to)})
	}
}

// endedByClient is what the root task says of a failure that a client declared.
func (r *objectiveRun) endedByClient(to opt.ObjectiveStatus) *a2a.Message {
	if to != opt.ObjectiveFailed {
		return nil
	}
	return r.say(":failure", "The objective was declared failed.")
}

func (r *objectiveRun) mayReplan(_ workflow.Context, c Replan) error {
	if err := r.fresh(c.Seen); err != nil {
		return err
	}
	if r.o.Status.Ended() || r.o.Stopping != "" || r.planning {
		return moveError(string(r.o.Status), string(opt.ObjectivePlanning))
	}
	return nil
}

func (r *objectiveRun) replan(ctx workflow.Context, c Replan) error {
	r.planAnew()
	r.revise(nil)
	r.finish(ctx)
	return nil
}

func (r *planRun) updates() []update {
	return []update{
		{ChangePlanUpdate, r.change, r.mayChange},
		{AddTasksUpdate, r.addTasks, r.mayAddTasks},
		{LinkTaskUpdate, r.linkTask, r.mayLinkTask},
		{MoveTaskUpdate, r.moveTask, r.mayMoveTask},
		{CancelTaskUpdate, r.cancelTask, r.mayCancelTask},
	}
}

// mayChange holds the table of moves that a client may ask a plan for.
func (r *planRun) mayChange(_ workflow.Context, c ChangePlan) error {
	from := r.plan.Status
	if r.plan.Stopping != "" || from.Ended() {
		return moveError(string(from), wanted(string(c.Status)))
	}
	if err := c.Change.Check(); err != nil {
		return specError(err)
	}
	switch {
	case c.Status == "" || c.Status == from && r.plan.Reason != opt.ByHand:
		return nil
	case !from.May(c.Status):
		return moveError(string(from), string(c.Status))
	case c.Status == opt.PlanWorking && !c.Met:
		return moveError(string(from), string(c.Status))
	case c.Status == opt.PlanWorking && from == opt.PlanBlocked && (r.plan.Reason == opt.BlockedByInput || r.plan.Reason == opt.BlockedByAuth):
		return moveError(string(from), string(c.Status))
	}
	return nil
}

func (r *planRun) change(ctx workflow.Context, c ChangePlan) error {
	if !c.Change.Empty() {
		r.apply(opt.Event{Kind: opt.PlanChanged, Change: c.Change})
	}
	if c.Status != "" && (c.Status != r.plan.Status || r.plan.Reason == opt.ByHand) {
		reason := ""
		if c.Status == opt.PlanBlocked {
			reason = opt.BlockedByOperator
		}
		r.apply(opt.Event{Kind: opt.PlanMoved, From: string(r.plan.Status), To: string(c.Status), Reason: reason})
	}
	r.state.Changes++
	r.finish(ctx)
	return nil
}

func (r *planRun) mayAddTasks(_ workflow.Context, a AddTasks) error {
	if r.plan.Status.Ended() || r.plan.Stopping != "" {
		return moveError(string(r.plan.Status), "a change")
	}
	_, err := r.plan.NewTasks(a.Specs)
	return specError(err)
}

func (r *planRun) addTasks(ctx workflow.Context, a AddTasks) error {
	tasks, err := r.plan.NewTasks(a.Specs)
	if err != nil {
		return specError(err)
	}
	r.apply(opt.Event{Kind: opt.TasksAdded, Tasks: tasks})
	r.state.Changes++
	r.finish(ctx)
	return nil
}

func (r *planRun) mayLinkTask(_ workflow.Context, l LinkTask) error {
	t := r.plan.Task(l.TaskID)
	switch {
	case t == nil:
		return temporal.NewApplicationError("unknown task", unknownErrorType)
	case t.State != opt.TaskPending || r.plan.Status.Ended():
		return moveError(string(t.State), "linked")
	}
	return nil
}

func (r *planRun) linkTask(ctx workflow.Context, l LinkTask) error {
	r.apply(opt.Event{Kind: opt.TaskLinked, TaskID: r.plan.Task(l.TaskID).A2AID(), Link: l.Link, Follow: l.Follow})
	r.state.Changes++
	r.finish(ctx)
	return nil
}

func (r *planRun) mayMoveTask(_ workflow.Context, m MoveTask) error {
	t := r.plan.Task(m.TaskID)
	switch {
	case t == nil:
		return temporal.NewApplicationError("unknown task", unknownErrorType)
	case !t.State.May(m.State), r.plan.Status.Ended() && m.State != t.State:
		return moveError(string(t.State), string(m.State))
	}
	return nil
}

// moveTask moves a task where a client wants it. Work that an executor does on
// it is stopped, and what comes of that is not asked for any more.
func (r *planRun) moveTask(ctx workflow.Context, m MoveTask) error {
	t := r.plan.Task(m.TaskID)
	if t.State != m.State {
		r.forget(t)
		r.halt(t)
		e := opt.Event{Reason: opt.ByHand}
		if m.Text != "" {
			e.Status = r.say(t, fmt.Sprintf(":status-%d", r.rec.n), m.Text)
		}
		r.move(t, m.State, e)
	}
	r.finish(ctx)
	return nil
}

// wanted names a status in an error, or a change that is none of status.
func wanted(status string) string {
	if status == "" {
		return "a change"
	}
	return status
}

func tooManyPlans() error {
	return &opt.SpecError{Field: "plans", Problem: fmt.Sprintf("an objective has at most %d plans", opt.MaxPlans)}
}

// specError and moveError make errors that cross from a workflow to its caller
// and become what they were again (see refusal).
func specError(err error) error {
	var spec *opt.SpecError
	if !errors.As(err, &spec) {
		return err
	}
	return temporal.NewNonRetryableApplicationError(spec.Error(), specErrorType, nil, spec)
}

// refused makes an error of the model's about a request one that crosses.
func refused(err error) error {
	var move *opt.MoveError
	if errors.As(err, &move) {
		return moveError(move.From, move.To)
	}
	return specError(err)
}

func moveError(from, to string) error {
	e := opt.MoveError{From: from, To: to}
	return temporal.NewNonRetryableApplicationError(e.Error(), moveErrorType, nil, e)
}
