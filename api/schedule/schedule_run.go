package schedule

import (
	"context"
	"errors"
	"fmt"

	"go.uber.org/zap"

	"longhaul/a2a"
	"longhaul/api/call"
	"longhaul/api/message"
	"longhaul/api/read"
	"longhaul/api/work"
	"longhaul/opt"
	"longhaul/opt/timetable"
)

// Runs starts and cancels the objectives of schedules, and keeps the
// schedules of playbooks.
type Runs struct {
	Calls     *call.Calls
	Messages  *message.Messages
	Cancels   work.Tasks
	Schedules Schedules
}

// scheduledMessage returns the message that a schedule sends for a time.
func scheduledMessage(s timetable.Schedule, at string) a2a.Message {
	m := a2a.Message{MessageID: s.MessageID(at), Role: a2a.RoleUser, ContextID: s.ContextID, Parts: []a2a.Part{a2a.TextPart(s.Text)}}
	m.Metadata = m.Metadata.WithIf(s.Skill != "", opt.KeySkill, s.Skill)
	return m
}

// BeginScheduled starts the objective for a time of a schedule, exactly as a message of
// its principal does, and returns its id. A repeat returns the same one. An error that
// is a [*Fault] with Final is the same for a repeat.
func (s Runs) BeginScheduled(ctx context.Context, run timetable.ScheduledRun) (id string, err error) {
	p := message.SendParams{
		Message: scheduledMessage(run.Schedule, run.At), Shapers: run.Schedule.Starters(run.At), Once: true, ReturnAtOnce: true, Hints: message.Hints{SuggestedName: run.Schedule.Name},
		Metadata: a2a.Metadata{}.With(opt.KeySchedule, run.Schedule.ID).With(opt.KeyScheduledFor, run.At),
	}
	return id, s.callAs(run, "SendMessage", func(c *call.Call) error {
		d, err := s.Messages.Deliver(ctx, c, p)
		if err != nil {
			return err
		}
		if d.Answer != nil {
			return call.InvalidField("text", "was answered by the agent at once: it started no work")
		}
		d.Watch.Close()
		id = d.TaskID
		return nil
	})
}

// CancelScheduled cancels the objective for a time of a schedule, if it is open.
func (s Runs) CancelScheduled(ctx context.Context, run timetable.ScheduledRun) error {
	return s.callAs(run, "CancelTask", func(c *call.Call) error {
		_, err := s.Cancels.CancelTask(ctx, c, read.TaskParams{ID: run.Schedule.ObjectiveID(run.At)})
		if call.Is(err, call.TaskNotFound) || call.Is(err, call.NotCancelable) {
			return nil
		}
		return err
	})
}

// callAs handles a call with the rights of the principal of a schedule. They were checked
// when the schedule was made.
func (s Runs) callAs(run timetable.ScheduledRun, operation string, handle func(*call.Call) error) error {
	c := s.Calls.NewCall("")
	c.Method = "schedule " + operation
	fault := s.Calls.Serve(c, call.Steps{
		Authenticate: func() (call.Caller, error) {
			return call.Caller{Tenant: run.Schedule.Tenant, Principal: run.Schedule.Principal, Scopes: []call.Scope{call.CreateRuns, call.CancelRuns}}, nil
		},
		Read: func() (call.Right, error) {
			return call.Right{Operation: operation, Scopes: []call.Scope{call.CreateRuns, call.CancelRuns}}, nil
		},
		Handle: func() error { return handle(c) },
	})
	if fault != nil {
		s.Calls.Log(c, zap.String("schedule", run.Schedule.ID), zap.String("at", run.At), zap.Error(fault))
		return fault
	}
	s.Calls.Log(c, zap.String("schedule", run.Schedule.ID), zap.String("at", run.At))
	return nil
}

// DeclareSchedules makes the schedules that playbooks declare, changes those that are
// different, and removes the ones that no playbook declares any more. A
// paused schedule stays paused. Schedules of clients are not touched. A repeat changes
// nothing.
func (s Runs) DeclareSchedules(ctx context.Context, list []timetable.Schedule) error {
	type key struct{ tenant, id string }
	wanted := map[key]bool{}
	var errs []error
	for _, want := range list {
		wanted[key{want.Tenant, want.ID}] = true
		if err := s.declare(ctx, want); err != nil {
			errs = append(errs, fmt.Errorf("schedule %s: %w", want.ID, err))
		}
	}
	have, err := s.Schedules.Scheduler.Schedules(ctx, "")
	errs = append(errs, err)
	for _, h := range have {
		if h.Playbook == "" || wanted[key{h.Tenant, h.ID}] {
			continue
		}
		if _, err := s.Schedules.Scheduler.RemoveSchedule(ctx, h.Tenant, h.ID); err != nil && !errors.Is(err, opt.ErrUnknown) {
			errs = append(errs, fmt.Errorf("schedule %s: %w", h.ID, err))
		}
	}
	return errors.Join(errs...)
}

// declare makes a schedule of a playbook, or changes the existing one. That of another
// principal is removed first.
func (s Runs) declare(ctx context.Context, want timetable.Schedule) error {
	keeper := s.Schedules.Scheduler
	have, err := keeper.Schedule(ctx, want.Tenant, want.ID)
	switch {
	case err == nil && have.Principal != want.Principal:
		if _, err := keeper.RemoveSchedule(ctx, want.Tenant, want.ID); err != nil {
			return err
		}
		fallthrough
	case errors.Is(err, opt.ErrUnknown):
		want.CreatedAt = a2a.At(s.Schedules.Now())
		err := keeper.AddSchedule(ctx, timetable.ScheduleState{Schedule: want, Note: "Declared by the playbook " + want.Playbook})
		if errors.Is(err, opt.ErrConflict) { // another process was faster
			return nil
		}
		return err
	case err != nil, sameSchedule(have.Schedule, want):
		return err
	}
	return keeper.ChangeSchedule(ctx, want.Tenant, want.ID, func(state *timetable.ScheduleState) error {
		want.CreatedAt, want.Starts = state.CreatedAt, state.Starts
		state.Schedule = want
		return nil
	})
}
