package service

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"longhaul/a2a"
	"longhaul/opt"
)

// UpdateObjectiveParams are the params of objectives/update.
type UpdateObjectiveParams struct {
	ID     string
	Change opt.Change
	Status opt.ObjectiveStatus // "" to stay
	Seen   int64               // the revision that the client saw, 0 for any
}

// ReplanParams are the params of objectives/replan.
type ReplanParams struct {
	ID, Reason string
	Seen       int64
}

// UpdateObjective changes an objective. One that has ended changes in one way
// alone: a new attempt at it begins.
func (s *changes) UpdateObjective(ctx context.Context, c *Call, p UpdateObjectiveParams) (ShownObjective, error) {
	w := s.cfg.Watch(p.ID)
	defer w.Close()
	var attempt int
	err := s.changing(ctx, func(ctx context.Context, n int) error {
		o, err := s.read.objective(ctx, c, p.ID)
		if err == nil {
			err = fresh(o, p.Seen)
		}
		if err != nil {
			return err
		}
		attempt = o.Attempt
		switch {
		case p.Change.Empty() && (p.Status == "" || p.Status == o.Status && o.Status.Ended()):
			return errUnchanged
		case !o.Status.Ended():
			return s.changeObjective(ctx, o, p, n)
		case p.Status == "" || p.Status == o.Status:
			return errObjectiveEnded
		case !o.Status.May(p.Status):
			return &opt.MoveError{From: string(o.Status), To: string(p.Status)}
		case !p.Change.Empty():
			return errObjectiveEnded
		}
		attempt++
		return s.again(ctx, c, p)
	})
	wait := s.cfg.ReplyWait
	switch {
	case errors.Is(err, errUnchanged):
		wait = 0
	case err != nil:
		return ShownObjective{}, err
	case p.Status.Ended():
		wait = s.cfg.CancelWait
	}
	o, err := s.caughtUp(ctx, c, p.ID, w, wait, func(o *opt.Objective) bool {
		return o.Attempt >= attempt && arrived(o, p.Status)
	})
	return ShownObjective{Objective: o, Plans: true, Tasks: true}, err
}

// arrived reports whether o shows what comes of asking for a status: it has ended,
// works with its plans begun, or is paused with its plans, so that nothing begins
// after the answer. Others show at once, and so does that somebody has paused it, or
// its plans, since.
func arrived(o *opt.Objective, asked opt.ObjectiveStatus) bool {
	paused := o.Status == opt.ObjectiveBlocked && o.Reason == opt.BlockedByOperator
	switch {
	case o.Status.Ended():
		return true
	case asked == opt.ObjectiveBlocked && paused:
		return !slices.ContainsFunc(o.Plans, runsOn)
	case asked == opt.ObjectiveWorking && !paused:
		return len(o.Startable()) == 0 && len(o.Held()) == 0
	}
	return !asked.Ended()
}

// runsOn reports whether p may begin tasks.
func runsOn(p *opt.Plan) bool {
	paused := p.Status == opt.PlanBlocked && p.Reason == opt.BlockedByOperator
	return p.Started && !p.Status.Ended() && !paused
}

// changeObjective has the engine change o, which has not ended. n counts the times
// that it was tried before: an objective that does not end, and is not there, was
// ended by an operator.
func (s *changes) changeObjective(ctx context.Context, o *opt.Objective, p UpdateObjectiveParams, n int) error {
	if p.Status != "" && !o.Status.May(p.Status) {
		return &opt.MoveError{From: string(o.Status), To: string(p.Status)}
	}
	if err := s.enterAgain(ctx, o, p.Status); err != nil {
		return err
	}
	err := s.cfg.Engine.ChangeObjective(ctx, o.ID, &p.Change, p.Status, p.Seen)
	if already(err) && p.Change.Empty() {
		return errUnchanged // it is being stopped, and stays where it is until then
	}
	return repeated(s.ofObjective(n, err), n, p.Seen)
}

// enterAgain has an attempt that waited to be started wait for its turn, if its
// being started is what is asked for and anything else is open in its context.
func (s *changes) enterAgain(ctx context.Context, o *opt.Objective, to opt.ObjectiveStatus) error {
	if o.Attempt == 1 || o.Started || to != opt.ObjectiveWorking && to != opt.ObjectivePlanning {
		return nil
	}
	at, behind, err := s.queue.place(ctx, *o)
	if err != nil || at.IsZero() {
		return err
	}
	return s.cfg.Engine.Enter(ctx, *o, behind)
}

// lookAgain is how often a change of an objective is tried that is not there.
const lookAgain = 5

// ofObjective returns what the engine says of an objective that the journal shows
// as one that goes on.
func (s *changes) ofObjective(n int, err error) error {
	gone := errors.Is(err, opt.ErrEnded) || errors.Is(err, opt.ErrUnknown)
	if gone && n >= lookAgain {
		return errObjectiveEnded
	}
	return early(err)
}

// again begins a new attempt at an objective that failed or was canceled, and
// waits until the journal shows it. The objective may have ended so long ago that
// it is about to be removed: it stays.
func (s *changes) again(ctx context.Context, c *Call, p UpdateObjectiveParams) error {
	if err := s.cfg.Journal.Keep(ctx, c.Tenant, p.ID, a2a.At(s.cfg.Now())); err != nil {
		return err
	}
	o, err := s.cfg.Journal.Whole(ctx, c.Tenant, p.ID)
	if err != nil {
		return err
	}
	w := s.cfg.Watch(p.ID)
	defer w.Close()
	unlock, err := s.queue.lock(ctx, o)
	if err != nil {
		return err
	}
	defer unlock()
	var behind []string
	if p.Status != opt.ObjectiveSubmitted {
		if o.QueuedAt, behind, err = s.queue.place(ctx, *o); err != nil {
			return err
		}
	}
	switch err := s.cfg.Engine.Again(ctx, o, p.Status, behind); {
	case already(err): // somebody else has, or the attempt before takes a moment to leave
		return fmt.Errorf("%w: %w", errEarly, err)
	case err != nil:
		return early(err)
	}
	return s.wait.await(ctx, w, s.cfg.CallTimeout, func() (bool, error) {
		now, err := s.cfg.Journal.Objective(ctx, c.Tenant, p.ID)
		return err == nil && now.Attempt > o.Attempt, err
	})
}

// already reports whether err is about a move to where a thing is: there is nothing
// to change. Of a replan it says that other plans are being made right now.
func already(err error) bool {
	var move *opt.MoveError
	return errors.As(err, &move) && move.From == move.To
}

// Replan has plans made in place of those that have not ended. The answer shows
// the objective as it is while that happens.
func (s *changes) Replan(ctx context.Context, c *Call, p ReplanParams) (ShownObjective, error) {
	w := s.cfg.Watch(p.ID)
	defer w.Close()
	err := s.changing(ctx, func(ctx context.Context, n int) error {
		o, err := s.read.objective(ctx, c, p.ID)
		if err == nil {
			err = fresh(o, p.Seen)
		}
		switch {
		case err != nil:
			return err
		case closed(o), o.Status == opt.ObjectiveWorking && len(o.Plans) == 0: // there is nothing to pause, so no way to planning
			return &opt.MoveError{From: string(o.Status), To: string(opt.ObjectivePlanning)}
		}
		err = s.cfg.Engine.Replan(ctx, p.ID, p.Reason, p.Seen)
		if already(err) {
			return nil
		}
		return s.ofObjective(n, err)
	})
	if err != nil {
		return ShownObjective{}, err
	}
	o, err := s.caughtUp(ctx, c, p.ID, w, s.cfg.ReplyWait, func(o *opt.Objective) bool {
		return o.Status != opt.ObjectivePlanning || !slices.ContainsFunc(o.Plans, func(p *opt.Plan) bool { return p.Started && p.Status == opt.PlanWorking })
	})
	if err == nil && !o.Status.Ended() {
		o.Status = opt.ObjectivePlanning // a planner may be done by now
	}
	return ShownObjective{Objective: o, Plans: true, Tasks: true}, err
}
