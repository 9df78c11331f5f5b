package serve

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.uber.org/zap"

	"longhaul/activities"
	"longhaul/api/call"
	apiservice "longhaul/api/service"
	"longhaul/opt/timetable"
	"longhaul/worker"
)

// starter starts the objectives of schedules through the operations of the API.
type starter struct{ operations *apiservice.Service }

// BeginScheduled implements [activities.Starter].
func (s starter) BeginScheduled(ctx context.Context, run timetable.ScheduledRun) (string, error) {
	id, err := s.operations.Runs.BeginScheduled(ctx, run)
	return id, markRefused(err)
}

// CancelScheduled implements [activities.Starter].
func (s starter) CancelScheduled(ctx context.Context, run timetable.ScheduledRun) error {
	return markRefused(s.operations.Runs.CancelScheduled(ctx, run))
}

// markRefused marks an error that a repeat would get, too.
func markRefused(err error) error {
	if f, ok := errors.AsType[*call.Fault](err); ok && f.Final() {
		return fmt.Errorf("%w: %s", activities.ErrRefused, f.Message)
	}
	return err
}

// A scheduleKeeper starts the objectives of schedules, and keeps the schedules that
// playbooks declare. Neither stops the service when it fails: both are tried again.
type scheduleKeeper struct {
	loop
	api     *apiServer
	worker  worker.ScheduleConfig
	declare func(context.Context) error // nil for a service that has no playbooks
	log     *zap.Logger
	changed chan struct{} // the playbooks were read again
}

// keeperPause is how long a scheduleKeeper waits after a failure.
const keeperPause = 3 * time.Second

func newScheduleKeeper(a *apiServer) *scheduleKeeper {
	k := &scheduleKeeper{api: a, log: a.host.log, changed: make(chan struct{}, 1)}
	k.run = k.keep
	return k
}

func (k *scheduleKeeper) Start(ctx context.Context) error {
	a := k.api
	k.worker = worker.ScheduleConfig{
		Temporal: a.temporal.client,
		Activities: activities.ScheduleConfig{
			Starter: starter{a.operations}, Tasks: a.store.journal, Watch: func(id string) activities.Watch { return a.store.journal.Watch(id) },
		},
	}
	if a.settings.Agent == playbooksAgent {
		k.declare = func(ctx context.Context) error {
			return a.operations.Runs.DeclareSchedules(ctx, a.planning.playbooks.Books().Schedules())
		}
	}
	a.planning.follow(func() {
		select {
		case k.changed <- struct{}{}:
		default: // a change is waiting already
		}
	})
	return k.loop.Start(ctx)
}

// keep works until ctx ends. A worker that fails for good is replaced.
func (k *scheduleKeeper) keep(ctx context.Context) {
	for ctx.Err() == nil {
		failed := make(chan error, 1)
		k.worker.Failed = func(err error) {
			select {
			case failed <- err:
			default: // the first error is the cause
			}
		}
		var w interface{ Stop() }
		if k.untilSuccess(ctx, "Schedules start nothing from here", func(context.Context) error {
			started := worker.NewScheduler(k.worker)
			w = started
			return started.Start()
		}) {
			k.declareSchedules(ctx, failed)
			w.Stop()
		}
	}
}

// declareSchedules makes the schedules of playbooks, and again after each change of the
// playbooks, until ctx ends or the worker has failed.
func (k *scheduleKeeper) declareSchedules(ctx context.Context, failed <-chan error) {
	for k.declare == nil || k.untilSuccess(ctx, "Cannot keep the schedules of playbooks", k.declare) {
		select {
		case <-ctx.Done():
			return
		case err := <-failed:
			k.log.Error("The worker for schedules has failed and is started again", zap.Error(err))
			return
		case <-k.changed:
		}
	}
}

// untilSuccess calls do until it succeeds, and logs an error once. It returns false when ctx
// ends first.
func (k *scheduleKeeper) untilSuccess(ctx context.Context, failure string, do func(context.Context) error) bool {
	for last := ""; ; {
		err := do(ctx)
		if err == nil || ctx.Err() != nil {
			return err == nil
		}
		if text := err.Error(); text != last {
			k.log.Warn(failure, zap.Error(err))
			last = text
		}
		select {
		case <-ctx.Done():
			return false
		case <-k.changed: // which may mend it
		case <-time.After(keeperPause):
		}
	}
}
