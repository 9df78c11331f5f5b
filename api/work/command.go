package work

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"go.uber.org/zap"

	"longhaul/a2a"
	"longhaul/api/call"
	"longhaul/api/read"
	"longhaul/api/write"
	"longhaul/opt"
	"longhaul/opt/machine"
	"longhaul/opt/shown"
)

// Commands sends the commands of clients to objectives. Every change of an
// objective, a plan or a task is a command to the objective: it is refused at once
// if the journal shows that it is impossible, else delivered as a durable signal
// and answered by an event in the journal.
type Commands struct {
	Journal Journal
	Engine  Engine
	Read    read.Reader
	Out     write.Writer
	Wait    call.Waiter
	IDs     call.IDs
	Quotas  write.Quotas
	Plans   write.PlanRules

	Watch       func(objectiveID string) call.Watch
	CallTimeout time.Duration
	CancelWait  time.Duration // for a cancellation to take effect
	Now         func() time.Time
	Log         *zap.Logger
}

// A Journal has the objectives that commands are for, and the answers to them.
type Journal interface {
	Task(ctx context.Context, tenant, id string, want shown.TaskWant) (shown.TaskView, error)
	Peek(ctx context.Context, tenant, id string) (opt.TaskState, int64, error)
	Objective(ctx context.Context, tenant, id string) (*opt.Objective, error)
	// Links returns the ids of the A2A tasks that open tasks of an objective follow.
	Links(ctx context.Context, tenant, objectiveID string) ([]string, error)
	// Answer returns the answer to a command; ok is false if there is none yet.
	Answer(ctx context.Context, objectiveID, commandID string) (a opt.CommandAnswer, ok bool, err error)
	// Keep makes the purge treat an ended objective as if it had changed at a time.
	Keep(ctx context.Context, tenant, id string, at a2a.Time) error
}

// An Engine delivers commands.
type Engine interface {
	// Command delivers a change to an open objective. The answer is recorded in
	// the journal.
	Command(ctx context.Context, cmd opt.Command) error
	// Retry delivers a command to an objective that has ended: a new run of it
	// judges the command, and begins another attempt.
	Retry(ctx context.Context, o opt.Objective, cmd opt.Command) error
}

// perform sends cmd to its objective and returns the answer. A refusal is an error. A command
// that would change nothing is answered here, without the objective.
//
// A command that came too late was not applied, and never will be. A repeat of
// the request uses the next id for its key.
func (s *Commands) perform(ctx context.Context, c *call.Call, cmd opt.Command) (opt.CommandAnswer, error) {
	key, err := s.IDs.Key(c)
	if err == nil {
		cmd, err = s.withDigest(c, cmd)
	}
	if err != nil {
		return opt.CommandAnswer{}, err
	}
	ctx, cancel := s.Out.Detached(ctx)
	defer cancel()
	w := s.Watch(cmd.ObjectiveID)
	defer w.Close()
	for n := 0; ; n++ {
		cmd.ID = s.IDs.Command(c, key, n)
		a, err := s.deliverAndWait(ctx, c, w, cmd)
		late, isLate := errors.AsType[lateError](err)
		left := timeLeft(ctx)
		switch {
		case errors.Is(err, errUnchanged):
			return opt.CommandAnswer{Unchanged: true}, nil
		case errors.Is(err, errUnanswered), isLate && left <= 0:
			return a, s.unansweredFault(ctx, c, cmd, key)
		case !isLate:
			return a, err
		}
		if at := a2a.At(late.at.Time().Add(left)); at.Millis() > cmd.Deadline.Millis() { // the clock of the workflow is ahead of ours
			cmd.Deadline = at
		}
	}
}

// timeLeft returns how long a call may still wait for an answer.
func timeLeft(ctx context.Context) time.Duration {
	deadline, _ := ctx.Deadline()
	return time.Until(deadline) - lastReadTime
}

// deliverAndWait delivers a command, unless it has an answer, and waits for the answer. It may get one
// between the two reads, by a twin of this call: then what it has changed refuses this call.
func (s *Commands) deliverAndWait(ctx context.Context, c *call.Call, w call.Watch, cmd opt.Command) (opt.CommandAnswer, error) {
	if a, ok, err := s.readAnswer(ctx, cmd); ok || err != nil {
		return a, err
	}
	if err := s.deliver(ctx, c, w, cmd); err != nil {
		if a, ok, answered := s.readAnswer(ctx, cmd); ok {
			return a, answered
		}
		return opt.CommandAnswer{}, err
	}
	return s.waitForAnswer(ctx, w, cmd)
}

// withDigest returns cmd with its digest, by which a repeat is recognized, and the time until
// which this call waits for its answer.
func (s *Commands) withDigest(c *call.Call, cmd opt.Command) (opt.Command, error) {
	digest, err := digestOf(cmd)
	cmd.Digest, cmd.Principal = digest, c.Principal
	wait := s.CallTimeout
	cmd.Deadline = a2a.At(s.Now().Add(wait - min(2*time.Second, wait/5)))
	return cmd, err
}

// digestOf returns a digest of the content of a request.
func digestOf(request any) (string, error) {
	content, err := json.Marshal(request)
	if err != nil {
		return "", fmt.Errorf("write a request: %w", err)
	}
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:16]), nil
}

var (
	errUnchanged  = errors.New("unchanged")  // the command would change nothing
	errUnanswered = errors.New("unanswered") // there was no answer in time
)

// A lateError says that a command was refused since it came too late by the clock of its
// workflow, which showed at.
type lateError struct{ at a2a.Time }

func (lateError) Error() string { return "late" }

// deliver refuses a command if the journal shows that it is impossible, or sends
// it.
func (s *Commands) deliver(ctx context.Context, c *call.Call, w call.Watch, cmd opt.Command) error {
	for n := 0; ; n++ {
		o, err := s.Read.Objective(ctx, c, cmd.ObjectiveID)
		if err == nil {
			err = checkPossible(o, cmd)
		}
		if err == nil {
			err = s.Quotas.AdmitCommand(ctx, o, cmd)
		}
		if err == nil {
			err = s.send(ctx, o, cmd)
		}
		if !errors.Is(err, opt.ErrEnded) || n == write.GoneTries {
			return err
		}
		if _, refused := errors.AsType[*opt.Refusal](err); refused {
			return refusal(o, cmd, opt.RefusalOf(err))
		}
		if err := s.Wait.Await(ctx, w, write.GoneWait, func() (bool, error) { return false, nil }); err != nil {
			return err
		}
	}
}

// checkPossible refuses a command that is impossible in the current state.
func checkPossible(o *opt.Objective, cmd opt.Command) error {
	err := machineRefusal(o, cmd)
	switch {
	case err != nil:
		return refusal(o, cmd, opt.RefusalOf(err))
	case machine.Unchanged(o, o.Plan(cmd.PlanID), cmd):
		return errUnchanged
	}
	return nil
}

// machineRefusal returns the error with which the machines refuse a command, nil if they
// accept it.
func machineRefusal(o *opt.Objective, cmd opt.Command) error {
	p := o.Plan(cmd.PlanID)
	err := machine.Admit(o, cmd)
	if err == nil && p != nil && (cmd.Kind != opt.UpdatePlan || !p.Status.Ended()) {
		err = machine.AdmitToPlan(p, cmd)
	}
	return err
}

// allowed lists the statuses that a client may ask for in place of the status in cmd,
// which was refused.
func allowed(o *opt.Objective, cmd opt.Command) []string {
	var words []string
	try := func(from, to string) {
		asked := opt.Command{Kind: cmd.Kind, ObjectiveID: cmd.ObjectiveID, PlanID: cmd.PlanID, TaskID: cmd.TaskID, Status: to}
		if to != from && machineRefusal(o, asked) == nil {
			words = append(words, to)
		}
	}
	switch p := o.Plan(cmd.PlanID); {
	case cmd.Kind == opt.UpdateObjective:
		for _, s := range opt.ObjectiveStatuses {
			try(string(o.Status), string(s))
		}
	case cmd.Kind == opt.UpdatePlan:
		for _, s := range opt.PlanStatuses {
			try(string(p.Status), string(s))
		}
	case cmd.Kind == opt.MoveTask:
		for _, s := range opt.TaskStates {
			try(string(p.Task(cmd.TaskID).State), string(s))
		}
	}
	return words
}

// send delivers a command: to the objective, or to a new run of it if the command
// retries one that has ended. A command that starts work takes a place in the
// queue of its context first.
func (s *Commands) send(ctx context.Context, o *opt.Objective, cmd opt.Command) error {
	starts := !o.Started && cmd.Starts()
	retries := o.Status.Ended()
	if starts || retries && cmd.Starts() {
		head := *o
		if retries {
			head.Attempt++
		}
		placed, err := s.Out.EnterQueue(ctx, head)
		if err != nil {
			return err
		}
		cmd.QueuedAt, cmd.Attempt = placed, head.Attempt
	}
	if !retries {
		return s.Engine.Command(ctx, cmd)
	}
	// Keep the objective: it may have ended so long ago that a purge is about to
	// remove it.
	if err := s.Journal.Keep(ctx, o.Tenant, o.ID, a2a.At(s.Now())); err != nil {
		return err
	}
	head := *o
	head.Plans = nil
	return s.Engine.Retry(ctx, head, cmd)
}

// waitForAnswer waits for the answer to a command that was delivered. Without an answer
// in time, the result is unknown: a repeat under its id is safe, and gets the
// answer when there is one.
func (s *Commands) waitForAnswer(ctx context.Context, w call.Watch, cmd opt.Command) (a opt.CommandAnswer, err error) {
	found := false
	err = s.Wait.Await(ctx, w, timeLeft(ctx), func() (bool, error) {
		a, found, err = s.readAnswer(ctx, cmd)
		return found, err
	})
	if err == nil && !found {
		err = errUnanswered
	}
	return a, err
}

// lastReadTime is reserved for a last read of the answer, before the time is up.
const lastReadTime = 200 * time.Millisecond

// readAnswer returns the answer to a command if there is one. A refusal is an error.
func (s *Commands) readAnswer(ctx context.Context, cmd opt.Command) (a opt.CommandAnswer, ok bool, err error) {
	a, ok, err = s.Journal.Answer(ctx, cmd.ObjectiveID, cmd.ID)
	switch {
	case err != nil || !ok:
		return a, false, err
	case a.Digest != cmd.Digest:
		return a, true, refusal(nil, cmd, &opt.Refusal{Code: opt.RefusedReused})
	case a.Refusal != nil:
		return a, true, refusal(nil, cmd, a.Refusal)
	}
	return a, true, nil
}

// unansweredFault returns the fault of a command whose result is unknown. key is the key
// under which it is safe to repeat the request.
func (s *Commands) unansweredFault(ctx context.Context, c *call.Call, cmd opt.Command, key string) *call.Fault {
	f := &call.Fault{
		Kind: call.Unavailable, Reason: call.ReasonUnavailable, Retry: call.RetryDelay,
		Message: "The result of the change is unknown: repeat it with the requestId of this error as Idempotency-Key header or metadata " + opt.KeyRequestID,
		Info:    map[string]string{"requestId": key},
	}
	if o, err := s.Journal.Objective(ctx, c.Tenant, cmd.ObjectiveID); err == nil && o.Stuck != nil {
		f.Message += ". The objective is stuck: " + o.Stuck.Reason
		f.Info["stuck"] = o.Stuck.Reason
	}
	return f
}

// refusal turns a refusal into a fault. o is the objective in the journal, nil if
// it is not needed.
func refusal(o *opt.Objective, cmd opt.Command, r *opt.Refusal) error {
	switch r.Code {
	case opt.RefusedStale:
		revision := strconv.FormatInt(r.Revision, 10)
		return &call.Fault{
			Kind: call.InvalidState, Message: "Stale revision: the objective is at revision " + revision, Reason: "STALE_REVISION",
			Info: map[string]string{"revision": revision, "seen": strconv.FormatInt(cmd.Seen, 10)},
		}
	case opt.RefusedEnded:
		if r.From == "plan" {
			return call.ErrPlanEnded
		}
		return call.ErrObjectiveEnded
	case opt.RefusedUnknown:
		if cmd.TaskID != "" {
			return call.PlanTaskUnknown(cmd.TaskID)
		}
		return call.Missing("PLAN_NOT_FOUND", "Plan", cmd.PlanID)
	case opt.RefusedLate:
		return lateError{r.At}
	case opt.RefusedMove:
		if o != nil && cmd.Status != "" {
			return call.InvalidMove(&opt.MoveError{From: r.From, To: r.To}, allowed(o, cmd))
		}
	}
	return r.Unwrap()
}

// waitForEnd waits until the objective has ended, at most for wait.
func (s *Commands) waitForEnd(ctx context.Context, c *call.Call, id string, wait time.Duration) error {
	w := s.Watch(id)
	defer w.Close()
	return s.Wait.Await(ctx, w, wait, func() (bool, error) {
		state, err := s.Journal.Objective(ctx, c.Tenant, id)
		return err == nil && state.Settled(), err
	})
}
