package workflows

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"
	"google.golang.org/protobuf/types/known/timestamppb"

	"longhaul/a2a"
	"longhaul/opt"
	"longhaul/opt/timetable"
)

// Schedules keeps schedules in Temporal, which alone has them. It is safe for
// concurrent use. An error wraps opt.ErrUnavailable if the call may be repeated later,
// and opt.ErrUnknown if there is no such schedule.
type Schedules Client

// NewSchedules returns the schedules in a Temporal.
func NewSchedules(cfg ClientConfig) *Schedules { return (*Schedules)(NewClient(cfg)) }

// schedulePrefix begins the ids of our schedules in Temporal.
const schedulePrefix = "longhaul/"

// scheduleID returns the id of a schedule in Temporal.
func scheduleID(tenant, id string) string {
	return schedulePrefix + url.QueryEscape(tenant) + "/" + id
}

// overlaps are the policies of Temporal.
var overlaps = map[timetable.Overlap]enumspb.ScheduleOverlapPolicy{
	"":                      enumspb.SCHEDULE_OVERLAP_POLICY_UNSPECIFIED,
	timetable.OverlapSkip:   enumspb.SCHEDULE_OVERLAP_POLICY_SKIP,
	timetable.OverlapOne:    enumspb.SCHEDULE_OVERLAP_POLICY_BUFFER_ONE,
	timetable.OverlapQueue:  enumspb.SCHEDULE_OVERLAP_POLICY_BUFFER_ALL,
	timetable.OverlapCancel: enumspb.SCHEDULE_OVERLAP_POLICY_CANCEL_OTHER,
	timetable.OverlapAllow:  enumspb.SCHEDULE_OVERLAP_POLICY_ALLOW_ALL,
}

// Schedule returns a schedule with its latest runs.
func (c *Schedules) Schedule(ctx context.Context, tenant, id string) (timetable.ScheduleState, error) {
	ctx, cancel := context.WithTimeout(ctx, c.cfg.Timeout)
	defer cancel()
	return c.described(ctx, scheduleID(tenant, id))
}

// described returns the schedule with an id in Temporal.
func (c *Schedules) described(ctx context.Context, id string) (timetable.ScheduleState, error) {
	d, err := c.cfg.Temporal.ScheduleClient().GetHandle(ctx, id).Describe(ctx)
	if err != nil {
		return timetable.ScheduleState{}, scheduleError("read schedule "+id, err)
	}
	return c.state(d)
}

// Schedules returns the schedules of a tenant in the order of their ids; "" means
// all tenants. A schedule that was added a moment ago may be missing.
func (c *Schedules) Schedules(ctx context.Context, tenant string) ([]timetable.ScheduleState, error) {
	ctx, cancel := context.WithTimeout(ctx, c.cfg.Timeout)
	defer cancel()
	prefix := schedulePrefix
	if tenant != "" {
		prefix = scheduleID(tenant, "")
	}
	list, err := c.cfg.Temporal.ScheduleClient().List(ctx, client.ScheduleListOptions{})
	if err != nil {
		return nil, scheduleError("list schedules", err)
	}
	var out []timetable.ScheduleState
	for list.HasNext() {
		entry, err := list.Next()
		if err != nil {
			return nil, scheduleError("list schedules", err)
		}
		if !strings.HasPrefix(entry.ID, prefix) {
			continue
		}
		s, err := c.described(ctx, entry.ID)
		switch {
		case errors.Is(err, opt.ErrUnknown): // removed meanwhile
		case err != nil:
			return nil, err
		default:
			out = append(out, s)
		}
	}
	slices.SortFunc(out, func(a, b timetable.ScheduleState) int {
		return strings.Compare(scheduleID(a.Tenant, a.ID), scheduleID(b.Tenant, b.ID))
	})
	return out, nil
}

// AddSchedule adds a schedule. The error wraps opt.ErrConflict if there is one with its
// id, and is a *opt.SpecError if Temporal refuses it.
func (c *Schedules) AddSchedule(ctx context.Context, s timetable.ScheduleState) error {
	ctx, cancel := context.WithTimeout(ctx, c.cfg.Timeout)
	defer cancel()
	want := c.schedule(s)
	_, err := c.cfg.Temporal.ScheduleClient().Create(ctx, client.ScheduleOptions{
		ID: scheduleID(s.Tenant, s.ID), Spec: *want.Spec, Action: want.Action, Overlap: want.Policy.Overlap, CatchupWindow: want.Policy.CatchupWindow,
		Note: want.State.Note, Paused: want.State.Paused, TypedSearchAttributes: c.attributes(s.Schedule),
	})
	if errors.Is(err, temporal.ErrScheduleAlreadyRunning) {
		return fmt.Errorf("add schedule %s: %w", s.ID, opt.ErrConflict)
	}
	return scheduleError("add schedule "+s.ID, err)
}

// ChangeSchedule changes a schedule as change does, unless it returns an error. Of two
// changes at a time, the later one may undo the earlier one.
func (c *Schedules) ChangeSchedule(ctx context.Context, tenant, id string, change func(*timetable.ScheduleState) error) error {
	ctx, cancel := context.WithTimeout(ctx, c.cfg.Timeout)
	defer cancel()
	var refused error
	err := c.handle(ctx, tenant, id).Update(ctx, client.ScheduleUpdateOptions{
		DoUpdate: func(in client.ScheduleUpdateInput) (*client.ScheduleUpdate, error) {
			s, err := c.state(&in.Description)
			if err == nil {
				err = change(&s)
			}
			if err != nil {
				refused = err
				return nil, err
			}
			want := c.schedule(s)
			return &client.ScheduleUpdate{Schedule: &want}, nil
		},
	})
	if refused != nil {
		return refused
	}
	return scheduleError("change schedule "+id, err)
}

// RemoveSchedule removes a schedule, and returns how many starts waited in it at least, which are
// dropped: of a backfill, of which Temporal shows the next ten, or its overlap policy. Objectives
// that it has started are not affected.
func (c *Schedules) RemoveSchedule(ctx context.Context, tenant, id string) (dropped int, err error) {
	ctx, cancel := context.WithTimeout(ctx, c.cfg.Timeout)
	defer cancel()
	// The schedule client of the SDK does not have the size of the buffer.
	have, err := c.cfg.Temporal.WorkflowService().DescribeSchedule(ctx, &workflowservice.DescribeScheduleRequest{
		Namespace: c.cfg.Namespace, ScheduleId: scheduleID(tenant, id),
	})
	doing := "remove schedule " + id
	if err = scheduleError(doing, err); errors.Is(err, opt.ErrUnknown) {
		return 0, err
	}
	err = c.handle(ctx, tenant, id).Delete(ctx) // one that does not answer can be removed, too
	return int(have.GetInfo().GetBufferSize()), scheduleError(doing, err)
}

// RunSchedule has a schedule start an objective now, or those for times that have
// passed.
func (c *Schedules) RunSchedule(ctx context.Context, tenant, id string, b timetable.Backfill) error {
	ctx, cancel := context.WithTimeout(ctx, c.cfg.Timeout)
	defer cancel()
	if b.From.IsZero() {
		return scheduleError("trigger schedule "+id, c.handle(ctx, tenant, id).Trigger(ctx, client.ScheduleTriggerOptions{Overlap: overlaps[b.Overlap]}))
	}
	return scheduleError("backfill schedule "+id, c.handle(ctx, tenant, id).Backfill(ctx, client.ScheduleBackfillOptions{
		Backfill: []client.ScheduleBackfill{{Start: b.From.Time(), End: b.Until.Time(), Overlap: overlaps[b.Overlap]}},
	}))
}

// ScheduleTimes returns the times of a schedule in a span, both ends of which count,
// without jitter: at most some thousand.
func (c *Schedules) ScheduleTimes(ctx context.Context, tenant, id string, from, until a2a.Time) ([]a2a.Time, error) {
	ctx, cancel := context.WithTimeout(ctx, c.cfg.Timeout)
	defer cancel()
	res, err := c.cfg.Temporal.WorkflowService().ListScheduleMatchingTimes(ctx, &workflowservice.ListScheduleMatchingTimesRequest{
		Namespace: c.cfg.Namespace, ScheduleId: scheduleID(tenant, id),
		StartTime: timestamppb.New(from.Time().Add(-time.Millisecond)), EndTime: timestamppb.New(until.Time()),
	})
	if err != nil {
		return nil, scheduleError("list the times of schedule "+id, err)
	}
	var out []a2a.Time
	for _, at := range res.GetStartTime() {
		out = append(out, a2a.At(at.AsTime()))
	}
	return out, nil
}

// RunFailure returns why the objective for a time of a schedule was not started, "" if
// that is not known to have failed.
func (c *Schedules) RunFailure(ctx context.Context, s timetable.Schedule, at a2a.Time) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, c.cfg.Timeout)
	defer cancel()
	id := scheduleID(s.Tenant, s.ID) + "-" + at.Time().Format(time.RFC3339)
	found, err := c.cfg.Temporal.DescribeWorkflowExecution(ctx, id, "")
	if err != nil {
		if err = refusal("read a run of schedule "+s.ID, err); errors.Is(err, opt.ErrEnded) {
			return "", nil // Temporal has removed it
		}
		return "", err
	}
	switch found.GetWorkflowExecutionInfo().GetStatus() {
	case enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING, enumspb.WORKFLOW_EXECUTION_STATUS_COMPLETED, enumspb.WORKFLOW_EXECUTION_STATUS_CONTINUED_AS_NEW:
		return "", nil
	}
	err = c.result(ctx, id)
	var why *temporal.ApplicationError
	var late *temporal.TimeoutError
	var sealed *PayloadError
	switch {
	case errors.As(err, &sealed):
		return "", fmt.Errorf("read a run of schedule %s: %w", s.ID, err)
	case errors.As(err, &why):
		return why.Message(), nil
	case errors.As(err, &late):
		return "The API could not start it in time.", nil
	case err != nil:
		return "It was stopped in Temporal.", nil
	}
	return "", nil
}

// result returns the error of an ended workflow.
func (c *Schedules) result(ctx context.Context, id string) (err error) {
	defer func() {
		switch p := recover().(type) {
		case nil:
		case *PayloadError:
			err = p
		default:
			panic(p)
		}
	}()
	return c.cfg.Temporal.GetWorkflow(ctx, id, "").Get(ctx, nil)
}

func (c *Schedules) handle(ctx context.Context, tenant, id string) client.ScheduleHandle {
	return c.cfg.Temporal.ScheduleClient().GetHandle(ctx, scheduleID(tenant, id))
}

// schedule returns s as Temporal has it.
func (c *Schedules) schedule(s timetable.ScheduleState) client.Schedule {
	t := s.Times
	spec := &client.ScheduleSpec{
		CronExpressions: t.Cron, TimeZoneName: t.TimeZone, Jitter: time.Duration(t.Jitter) * time.Second,
		StartAt: t.From.Time(), EndAt: t.Until.Time(),
	}
	if t.Every > 0 {
		spec.Intervals = []client.ScheduleIntervalSpec{{Every: time.Duration(t.Every) * time.Second}}
	}
	name := s.Name
	if name == "" {
		name = oneLine(s.Text)
	}
	return client.Schedule{
		Spec: spec,
		Action: &client.ScheduleWorkflowAction{
			ID: scheduleID(s.Tenant, s.ID), Workflow: ScheduledWorkflow, TaskQueue: TaskQueue, WorkflowTaskTimeout: workflowTaskTimeout,
			Args: []any{ScheduledInput{Schedule: s.Schedule}}, StaticSummary: shortName("Schedule " + s.ID + ": " + name),
			TypedSearchAttributes: c.attributes(s.Schedule), Priority: temporal.Priority{FairnessKey: fairnessKey(s.Tenant)},
		},
		Policy: &client.SchedulePolicies{Overlap: overlaps[s.Overlap], CatchupWindow: time.Duration(s.CatchUp) * time.Second},
		State:  &client.ScheduleState{Paused: s.Paused, Note: sealNote(c.cfg.Cipher, s.Note)},
	}
}

// attributes returns the search attributes of a schedule and of its workflows.
func (c *Schedules) attributes(s timetable.Schedule) temporal.SearchAttributes {
	if c.cfg.Plain() {
		return temporal.NewSearchAttributes()
	}
	return temporal.NewSearchAttributes(TenantAttribute.ValueSet(s.Tenant), NameAttribute.ValueSet(shortName(s.ID)))
}

// state returns a schedule that Temporal has described.
func (c *Schedules) state(d *client.ScheduleDescription) (timetable.ScheduleState, error) {
	a, ok := d.Schedule.Action.(*client.ScheduleWorkflowAction)
	if !ok || len(a.Args) != 1 {
		return timetable.ScheduleState{}, errors.New("a schedule in Temporal was changed by another program: it does not start our workflow")
	}
	var in ScheduledInput
	payload, _ := a.Args[0].(*commonpb.Payload)
	if err := c.data.FromPayload(payload, &in); err != nil {
		return timetable.ScheduleState{}, fmt.Errorf("read schedule %s: %w", a.ID, err)
	}
	note, err := openNote(c.cfg.Cipher, d.Schedule.State.Note)
	if err != nil {
		return timetable.ScheduleState{}, fmt.Errorf("read schedule %s: %w", a.ID, err)
	}
	s := timetable.ScheduleState{
		Schedule: in.Schedule, Paused: d.Schedule.State.Paused, Note: note,
		Skipped: d.Info.NumActionsSkippedOverlap, Missed: d.Info.NumActionsMissedCatchupWindow,
	}
	if !s.Paused {
		for _, at := range d.Info.NextActionTimes {
			s.Next = append(s.Next, a2a.At(at))
		}
	}
	for _, done := range slices.Backward(d.Info.RecentActions) {
		if done.StartWorkflowResult == nil {
			continue
		}
		text := runTime(done.StartWorkflowResult.WorkflowID, in.Schedule)
		run := timetable.ScheduleRun{ObjectiveID: in.Schedule.ObjectiveID(text)}
		if run.At.UnmarshalText([]byte(text)) != nil {
			run.At = a2a.At(done.ScheduleTime)
		}
		s.Runs = append(s.Runs, run)
	}
	return s, nil
}

// scheduleError is refusal for schedules.
func scheduleError(doing string, err error) error {
	var gone *serviceerror.NotFound
	var invalid *serviceerror.InvalidArgument
	switch {
	case errors.As(err, &gone):
		return fmt.Errorf("%s: %w", doing, opt.ErrUnknown)
	case errors.As(err, &invalid):
		return &opt.SpecError{Field: "cron", Problem: "is refused by Temporal: " + invalid.Message}
	}
	return refusal(doing, err)
}
