package schedule

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"longhaul/a2a"
	"longhaul/api/call"
	"longhaul/api/message"
	"longhaul/api/read"
	"longhaul/opt"
	"longhaul/opt/timetable"
	"longhaul/opt/wire"
)

// A Scheduler keeps schedules and starts their objectives when it is time, through
// [Runs.BeginScheduled]. It is the only place that has them. An error wraps
// opt.ErrUnavailable if the call may be repeated, opt.ErrUnknown if there is no such
// schedule.
type Scheduler interface {
	ScheduleReader

	// AddSchedule adds a schedule. The error wraps opt.ErrConflict if there is one
	// with its id, and is a *opt.SpecError if its times are wrong.
	AddSchedule(ctx context.Context, s timetable.ScheduleState) error
	// ChangeSchedule changes a schedule as change does. The error of change is
	// returned, and nothing is changed then.
	ChangeSchedule(ctx context.Context, tenant, id string, change func(*timetable.ScheduleState) error) error
	RemoveSchedule(ctx context.Context, tenant, id string) (dropped int, err error)
	// RunSchedule makes a schedule start objectives beside its times. It returns before
	// they were started.
	RunSchedule(ctx context.Context, tenant, id string, b timetable.Backfill) error
}

// A ScheduleReader reads schedules. The runs that it returns have no status and no
// failure.
type ScheduleReader interface {
	Schedule(ctx context.Context, tenant, id string) (timetable.ScheduleState, error)
	// Schedules returns the schedules of a tenant, "" for all tenants, in the order of their
	// ids. One that was added a moment ago may be missing.
	Schedules(ctx context.Context, tenant string) ([]timetable.ScheduleState, error)
	// ScheduleTimes returns the times in a span, both ends of which count. There may be
	// more if it returns a thousand.
	ScheduleTimes(ctx context.Context, tenant, id string, from, until a2a.Time) ([]a2a.Time, error)
	// RunFailure returns why an objective was not started, "" if that is not known to
	// have failed.
	RunFailure(ctx context.Context, s timetable.Schedule, at a2a.Time) (string, error)
}

// Limits of schedules.
const (
	maxSchedules = 200 // of one tenant
	maxBackfill  = 500 // objectives
)

// A ScheduleChange has the members of a schedule that a client sets; nil leaves one as
// it is.
type ScheduleChange struct {
	Name      *string            `param:"name"`
	Text      *string            `param:"text"`
	Skill     *string            `param:"skill"`
	TimeZone  *string            `param:"timeZone"`
	Note      *string            `param:"note"`
	ContextID *string            `param:"contextId,id"`
	Cron      *[]string          `param:"cron"`
	Every     *int64             `param:"every,span"` // seconds, as the next two
	Jitter    *int64             `param:"jitter,span"`
	CatchUp   *int64             `param:"catchUp,span"`
	From      *a2a.Time          `param:"from"` // zero to remove it, as the next one
	Until     *a2a.Time          `param:"until"`
	Overlap   *timetable.Overlap `param:"overlap"`
	Paused    *bool              `param:"paused"`
}

// apply changes s.
func (p ScheduleChange) apply(s *timetable.ScheduleState) {
	set(&s.Name, p.Name)
	set(&s.Text, p.Text)
	set(&s.Skill, p.Skill)
	set(&s.ContextID, p.ContextID)
	set(&s.Times.Cron, p.Cron)
	set(&s.Times.Every, p.Every)
	set(&s.Times.Jitter, p.Jitter)
	set(&s.Times.TimeZone, p.TimeZone)
	set(&s.Times.From, p.From)
	set(&s.Times.Until, p.Until)
	set(&s.CatchUp, p.CatchUp)
	set(&s.Overlap, p.Overlap)
	set(&s.Paused, p.Paused)
	set(&s.Note, p.Note)
}

func set[T any](to *T, value *T) {
	if value != nil {
		*to = *value
	}
}

// CreateScheduleParams are the params of a new schedule.
type CreateScheduleParams struct {
	ID     string `param:"id,id"` // "" for one that is made here
	Change ScheduleChange
}

// UpdateScheduleParams are the params of a change of a schedule.
type UpdateScheduleParams struct {
	ID     string `param:"id,needed"`
	Change ScheduleChange
}

// TriggerParams are the params of a start now.
type TriggerParams struct {
	ID      string            `param:"id,needed"`
	Overlap timetable.Overlap `param:"overlap"` // "" for the schedule's
}

// BackfillParams are the params of starts for times that have passed.
type BackfillParams struct {
	TriggerParams
	From  a2a.Time `param:"from,needed"`
	Until a2a.Time `param:"until,needed"`
}

// Schedules has the operations on schedules.
type Schedules struct {
	Scheduler Scheduler // nil: no schedules
	Journal   objectiveReader
	Agent     message.Agent
	IDs       call.IDs
	ReplyWait time.Duration
	Now       func() time.Time
}

// An objectiveReader reads an objective of a tenant.
type objectiveReader interface {
	Objective(ctx context.Context, tenant, id string) (*opt.Objective, error)
}

var errNoSchedules = &call.Fault{Kind: call.Unsupported, Message: "This operation is not supported: this server has no schedules"}

// ListSchedules returns the schedules of the caller's tenant, each with the status of
// its latest run.
func (s Schedules) ListSchedules(ctx context.Context, c *call.Call, _ struct{}) ([]timetable.ScheduleState, error) {
	if s.Scheduler == nil {
		return nil, errNoSchedules
	}
	list, err := s.Scheduler.Schedules(ctx, c.Tenant)
	for i := range list {
		if err == nil && len(list[i].Runs) > 0 {
			list[i].Runs = list[i].Runs[:1]
			err = s.addRunResults(ctx, c, &list[i])
		}
	}
	return list, err
}

// GetSchedule returns a schedule with its latest runs.
func (s Schedules) GetSchedule(ctx context.Context, c *call.Call, p read.IDParams) (timetable.ScheduleState, error) {
	state, err := s.read(ctx, c, p.ID)
	if err == nil {
		err = s.addRunResults(ctx, c, &state)
	}
	return state, err
}

// read returns a schedule of the caller's tenant.
func (s Schedules) read(ctx context.Context, c *call.Call, id string) (timetable.ScheduleState, error) {
	if s.Scheduler == nil {
		return timetable.ScheduleState{}, errNoSchedules
	}
	if !isScheduleID(id) {
		return timetable.ScheduleState{}, scheduleUnknown(id)
	}
	state, err := s.Scheduler.Schedule(ctx, c.Tenant, id)
	return state, scheduleFault(id, err)
}

// addRunResults adds the results to the runs of a schedule.
func (s Schedules) addRunResults(ctx context.Context, c *call.Call, state *timetable.ScheduleState) error {
	for i := range state.Runs {
		run := &state.Runs[i]
		o, err := s.Journal.Objective(ctx, c.Tenant, run.ObjectiveID)
		switch {
		case err == nil:
			run.Status = o.Status
		case !errors.Is(err, opt.ErrUnknown):
			return err
		default:
			if run.Failure, err = s.Scheduler.RunFailure(ctx, state.Schedule, run.At); err != nil {
				return err
			}
		}
	}
	return nil
}

// CreateSchedule adds a schedule of the caller. A repeat with the same id and content
// returns the existing one.
func (s Schedules) CreateSchedule(ctx context.Context, c *call.Call, p CreateScheduleParams) (timetable.ScheduleState, error) {
	if s.Scheduler == nil {
		return timetable.ScheduleState{}, errNoSchedules
	}
	state := timetable.ScheduleState{Schedule: timetable.Schedule{
		ID: p.ID, Tenant: c.Tenant, Principal: c.Principal, Overlap: timetable.OverlapSkip, CatchUp: timetable.DefaultCatchUp, CreatedAt: a2a.At(s.Now()),
	}}
	p.Change.apply(&state)
	if state.ID == "" {
		id, err := s.IDs.Made(c, "create")
		if err != nil {
			return timetable.ScheduleState{}, err
		}
		state.ID = "sch-" + strings.TrimPrefix(id, "obj-")
	}
	if err := s.check(ctx, c, &state); err != nil {
		return timetable.ScheduleState{}, err
	}
	if err := s.checkRoom(ctx, c, state.ID); err != nil {
		return timetable.ScheduleState{}, err
	}
	err := s.Scheduler.AddSchedule(context.WithoutCancel(ctx), state)
	if errors.Is(err, opt.ErrConflict) {
		return s.existing(ctx, c, state)
	}
	if err != nil {
		return timetable.ScheduleState{}, err
	}
	return s.read(ctx, c, state.ID)
}

// checkRoom refuses a new schedule of a tenant that has the most it may have. An id that is
// in use is not refused: no schedule is added then.
func (s Schedules) checkRoom(ctx context.Context, c *call.Call, id string) error {
	list, err := s.Scheduler.Schedules(ctx, c.Tenant)
	if err != nil || len(list) < maxSchedules {
		return err
	}
	if _, err := s.Scheduler.Schedule(ctx, c.Tenant, id); !errors.Is(err, opt.ErrUnknown) {
		return err
	}
	return &call.Fault{Kind: call.Unsupported, Message: fmt.Sprintf("There are %d schedules already, the most that a tenant may have", maxSchedules), Reason: "SCHEDULE_LIMIT_EXCEEDED"}
}

// existing returns the schedule that has the id of a new one, if it is the same.
func (s Schedules) existing(ctx context.Context, c *call.Call, state timetable.ScheduleState) (timetable.ScheduleState, error) {
	found, err := s.read(ctx, c, state.ID)
	if err == nil && !sameSchedule(found.Schedule, state.Schedule) {
		err = &call.Fault{Kind: call.Unsupported, Message: "There is another schedule with the id " + state.ID, Reason: "SCHEDULE_EXISTS"}
	}
	return found, err
}

// sameSchedule reports whether two schedules do the same.
func sameSchedule(a, b timetable.Schedule) bool {
	a.CreatedAt, a.Starts = b.CreatedAt, b.Starts
	if len(a.Times.Cron) == 0 && len(b.Times.Cron) == 0 {
		a.Times.Cron = b.Times.Cron
	}
	return reflect.DeepEqual(a, b)
}

// check refuses a schedule that is wrong, or that its caller could not carry out by
// hand.
func (s Schedules) check(ctx context.Context, c *call.Call, state *timetable.ScheduleState) error {
	if err := c.RequireScopes(call.CreateRuns); err != nil {
		return err
	}
	if state.Overlap == timetable.OverlapCancel {
		if err := c.RequireScopes(call.CancelRuns); err != nil {
			return err
		}
	}
	if err := state.Check(); err != nil {
		return err
	}
	if _, err := time.LoadLocation(state.Times.TimeZone); err != nil || state.Times.TimeZone == "Local" {
		return call.InvalidField("timeZone", "must be a name of the IANA time zone database, such as Europe/Berlin")
	}
	d, err := s.Agent.Decide(ctx, scheduledMessage(state.Schedule, "check"))
	if err != nil {
		return fmt.Errorf("decide about the message of a schedule: %w", err)
	}
	switch {
	case d.Answer != nil:
		return call.InvalidField("text", "is a message that this agent answers at once: it starts no work")
	case d.Refusal != "":
		return call.InvalidField("text", "is a message that this agent rejects: "+d.Refusal)
	}
	return nil
}

// UpdateSchedule changes a schedule. Only its principal may change its message,
// since the objectives are the principal's. A caller who may not read it does not get
// that message. A schedule of a playbook can only be paused and resumed.
func (s Schedules) UpdateSchedule(ctx context.Context, c *call.Call, p UpdateScheduleParams) (timetable.ScheduleState, error) {
	if _, err := s.read(ctx, c, p.ID); err != nil {
		return timetable.ScheduleState{}, err
	}
	err := s.Scheduler.ChangeSchedule(context.WithoutCancel(ctx), c.Tenant, p.ID, func(state *timetable.ScheduleState) error {
		before := *state
		p.Change.apply(state)
		state.Times.Cron = slices.Clone(state.Times.Cron)
		if !state.Paused && p.Change.Note == nil && before.Paused {
			state.Note = "" // it said why it was paused
		}
		return s.mayChange(ctx, c, before, state)
	})
	if err != nil {
		return timetable.ScheduleState{}, scheduleFault(p.ID, err)
	}
	state, err := s.GetSchedule(ctx, c, read.IDParams{ID: p.ID})
	if err == nil && c.RequireScopes(call.ReadRuns) != nil {
		state.Name, state.Text, state.Skill, state.ContextID, state.Note, state.Runs = "", "", "", "", "", nil
	}
	return state, err
}

// mayChange refuses a change that the caller may not make.
func (s Schedules) mayChange(ctx context.Context, c *call.Call, before timetable.ScheduleState, after *timetable.ScheduleState) error {
	switch {
	case sameSchedule(before.Schedule, after.Schedule):
		if before.Paused && !after.Paused {
			return c.RequireScopes(call.CreateRuns)
		}
		return nil
	case before.Playbook != "":
		return declared(before.Schedule)
	case before.Principal != c.Principal:
		return &call.Fault{Kind: call.Forbidden, Message: "Permission denied: the objectives of this schedule are those of " + before.Principal + ", who alone may change it; other callers may pause or delete it",
			Reason: call.ReasonForbidden}
	}
	return s.check(ctx, c, after)
}

// declared returns the fault of a change of a schedule that a playbook declares.
func declared(s timetable.Schedule) *call.Fault {
	return &call.Fault{Kind: call.Unsupported, Message: "The playbook " + s.Playbook + " declares this schedule: change its file", Reason: "SCHEDULE_DECLARED"}
}

// DeleteSchedule removes a schedule. Objectives that it has started are not affected.
func (s Schedules) DeleteSchedule(ctx context.Context, c *call.Call, p read.IDParams) (wire.Deleted, error) {
	state, err := s.read(ctx, c, p.ID)
	switch {
	case err != nil:
		return wire.Deleted{}, err
	case state.Playbook != "":
		return wire.Deleted{}, declared(state.Schedule)
	}
	dropped, err := s.Scheduler.RemoveSchedule(context.WithoutCancel(ctx), c.Tenant, p.ID)
	return wire.Deleted{Dropped: dropped}, scheduleFault(p.ID, err)
}

// TriggerSchedule makes a schedule start an objective now, also if it is paused, and waits a
// short time for the start.
func (s Schedules) TriggerSchedule(ctx context.Context, c *call.Call, p TriggerParams) (wire.Triggered, error) {
	before, err := s.mayRun(ctx, c, p)
	if err != nil {
		return wire.Triggered{}, err
	}
	now := s.Now()
	times := timetable.Start{From: a2a.At(now.Add(-triggerSkew)), Until: a2a.At(now.Add(triggerSkew))}
	if err := s.start(ctx, c, before, times, timetable.Backfill{Overlap: p.Overlap}); err != nil {
		return wire.Triggered{}, err
	}
	var latest timetable.ScheduleRun
	if len(before.Runs) > 0 {
		latest = before.Runs[0]
	}
	return s.waitForRun(ctx, c, before, latest)
}

// triggerSkew is by how much the clock of Temporal may be off, which says for which time a trigger is.
const triggerSkew = time.Minute

// start has a schedule start objectives. If the caller is not its owner, it has a part in those for the given times.
func (s Schedules) start(ctx context.Context, c *call.Call, state timetable.ScheduleState, times timetable.Start, b timetable.Backfill) (err error) {
	ctx = context.WithoutCancel(ctx)
	if times.By = c.Principal; times.By != state.Principal {
		err = s.Scheduler.ChangeSchedule(ctx, c.Tenant, state.ID, func(state *timetable.ScheduleState) error {
			state.AddStart(times)
			return nil
		})
	}
	if err == nil {
		err = s.Scheduler.RunSchedule(ctx, c.Tenant, state.ID, b)
	}
	return scheduleFault(state.ID, err)
}

// triggerPoll is how often a trigger looks for its effect.
const triggerPoll = 100 * time.Millisecond

// waitForRun waits until a schedule has a run after latest that is in the journal, or has
// left out one.
func (s Schedules) waitForRun(ctx context.Context, c *call.Call, before timetable.ScheduleState, latest timetable.ScheduleRun) (wire.Triggered, error) {
	out := wire.Triggered{Pending: true}
	timeout := time.NewTimer(s.ReplyWait)
	defer timeout.Stop()
	for {
		now, err := s.read(ctx, c, before.ID)
		switch {
		case err != nil:
			return out, err
		case len(now.Runs) > 0 && now.Runs[0].ObjectiveID != latest.ObjectiveID:
			now.Runs = now.Runs[:1]
			if err := s.addRunResults(ctx, c, &now); err != nil {
				return out, err
			}
			run := now.Runs[0]
			if run.ObjectiveID != "" {
				out.Run = &run
			}
			if out.Pending = run.Status == "" && run.Failure == ""; !out.Pending {
				return out, nil
			}
		case now.Skipped > before.Skipped:
			out.Skipped, out.Pending = true, false
			return out, nil
		}
		select {
		case <-time.After(triggerPoll):
		case <-timeout.C:
			return out, nil
		case <-ctx.Done():
			return out, ctx.Err()
		}
	}
}

// mayRun checks a request to start objectives beside the times, and returns the
// schedule.
func (s Schedules) mayRun(ctx context.Context, c *call.Call, p TriggerParams) (timetable.ScheduleState, error) {
	if err := c.RequireScopes(call.CreateRuns); err != nil {
		return timetable.ScheduleState{}, err
	}
	state, err := s.read(ctx, c, p.ID)
	if err == nil && cmp.Or(p.Overlap, state.Overlap) == timetable.OverlapCancel {
		err = c.RequireScopes(call.CancelRuns)
	}
	return state, err
}

// BackfillSchedule makes a schedule start the objectives for times that have passed, one
// after another unless the params say otherwise, and returns the runs: a
// time that has an objective already starts no other.
func (s Schedules) BackfillSchedule(ctx context.Context, c *call.Call, p BackfillParams) ([]timetable.ScheduleRun, error) {
	if p.Overlap == "" {
		p.Overlap = timetable.OverlapQueue
	}
	state, err := s.mayRun(ctx, c, p.TriggerParams)
	switch {
	case err != nil:
		return nil, err
	case p.Until.Time().After(s.Now()):
		return nil, call.InvalidField("until", "is in the future: a backfill is for times that have passed")
	case p.Until.Time().Before(p.From.Time()):
		return nil, call.InvalidField("until", "is before from")
	}
	times, err := s.Scheduler.ScheduleTimes(ctx, c.Tenant, p.ID, p.From, p.Until)
	switch {
	case err != nil:
		return nil, scheduleFault(p.ID, err)
	case len(times) == 0:
		return nil, call.InvalidField("from", "to until has no time of the schedule")
	case len(times) > maxBackfill:
		return nil, call.InvalidField("from", fmt.Sprintf("to until has more than %d times of the schedule: backfill it in parts", maxBackfill))
	}
	state.Runs = nil
	for _, at := range times {
		state.Runs = append(state.Runs, timetable.ScheduleRun{At: at, ObjectiveID: state.ObjectiveID(at.Time().Format(time.RFC3339))})
	}
	if err := s.addStatuses(ctx, c, state.Runs); err != nil {
		return nil, err
	}
	b := timetable.Backfill{From: p.From, Until: p.Until, Overlap: p.Overlap}
	return state.Runs, s.start(ctx, c, state, timetable.Start{From: p.From, Until: p.Until}, b)
}

// addStatuses adds their status to the runs whose objectives are in the journal.
func (s Schedules) addStatuses(ctx context.Context, c *call.Call, runs []timetable.ScheduleRun) error {
	for i := range runs {
		o, err := s.Journal.Objective(ctx, c.Tenant, runs[i].ObjectiveID)
		switch {
		case err == nil:
			runs[i].Status = o.Status
		case !errors.Is(err, opt.ErrUnknown):
			return err
		}
	}
	return nil
}

// isScheduleID reports whether an id is valid for a schedule.
func isScheduleID(id string) bool {
	name, _ := strings.CutPrefix(id, "playbook:")
	playbook, name, of := strings.Cut(name, ":")
	return timetable.ScheduleName(playbook) && (!of || timetable.ScheduleName(name))
}

func scheduleUnknown(id string) *call.Fault {
	return call.Missing("SCHEDULE_NOT_FOUND", "Schedule", id)
}

// scheduleFault returns the fault of a schedule that does not exist, or another error
// as it is.
func scheduleFault(id string, err error) error {
	if errors.Is(err, opt.ErrUnknown) {
		return scheduleUnknown(id)
	}
	return err
}
