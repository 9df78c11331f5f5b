package api

import (
	"context"
	"time"

	"longhaul/a2a"
	"longhaul/opt"
)

// await calls check at once and then whenever the watched objective may have
// changed, until check is content, the time is up, the client has gone or the
// server closes; the first two are no errors.
func (s *Server) await(ctx context.Context, w Watch, wait time.Duration, check func() (bool, error)) error {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	for last := false; ; {
		if ok, err := check(); ok || err != nil || last {
			return err
		}
		select {
		case <-w.C():
		case <-timer.C:
			last = true // a change that nobody told of still counts
		case <-s.closing:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// settle waits until the task of d has ended or waits for somebody, not counting
// the gate that was just answered. It gives up after the blocking wait, counted
// from the beginning of the call.
func (s *Server) settle(ctx context.Context, c *call, d *delivery) error {
	return s.await(ctx, d.watch, s.cfg.BlockingWait-time.Since(c.began), func() (bool, error) {
		state, _, err := s.cfg.Journal.Peek(ctx, c.Tenant, d.taskID)
		if err != nil || !state.Waiting() || d.gate == "" {
			return state.Ended() || state.Waiting(), err
		}
		v, err := s.cfg.Journal.Task(ctx, c.Tenant, d.taskID, opt.TaskWant{})
		return v.State.Ended() || v.State.Waiting() && !shows(v, d.gate), err
	})
}

// movedOn waits until the task of d, whose gate was answered, does not show it any
// more, so that the answer to the reply can be the task after it.
func (s *Server) movedOn(ctx context.Context, c *call, d *delivery) error {
	return s.await(ctx, d.watch, s.cfg.ReplyWait, func() (bool, error) {
		v, err := s.cfg.Journal.Task(ctx, c.Tenant, d.taskID, opt.TaskWant{})
		return !shows(v, d.gate), err
	})
}

// judged waits for the verdict on a message and returns it as an error if it was
// refused. pending is true if there is none in time.
func (s *Server) judged(ctx context.Context, c *call, v opt.TaskView, l opt.Letter, w Watch) (pending bool, err error) {
	pending = true
	err = s.await(ctx, w, s.cfg.ReplyWait, func() (bool, error) {
		j, ok, err := s.cfg.Journal.Judgement(ctx, v.ObjectiveID, c.Principal, l.Once())
		if err != nil || !ok {
			return false, err
		}
		pending = false
		return true, verdict(j, l.Message)
	})
	if err != nil || !pending {
		return false, err
	}
	state, _, err := s.cfg.Journal.Peek(ctx, c.Tenant, v.Task.ID)
	if err == nil && state.Ended() {
		return false, errEnded // it came too late to be judged
	}
	return true, err
}

// verdict returns what a judgement says to the sender of m: nil if m was taken.
func verdict(j opt.Judgement, m a2a.Message) error {
	switch {
	case j.Digest != m.Digest():
		return errOtherContent
	case j.Verdict == opt.NotWaiting:
		return errNotWaiting
	case j.Verdict == opt.NotOffered:
		return invalid("message.parts", "asks for an action that is not offered")
	}
	return nil
}
