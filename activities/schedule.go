package activities

import (
	"context"
	"errors"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/temporal"

	"longhaul/opt"
	"longhaul/opt/timetable"
)

// A Starter starts the objectives of schedules, as a message of their principal does,
// and cancels them. A repeat of either is harmless. An error that wraps [ErrRefused]
// is final.
type Starter interface {
	// BeginScheduled returns the id of the objective.
	BeginScheduled(ctx context.Context, run timetable.ScheduledRun) (string, error)
	// CancelScheduled cancels the objective of a run, if it is open.
	CancelScheduled(ctx context.Context, run timetable.ScheduledRun) error
}

// ErrRefused is wrapped by the error of a request that would be refused again.
var ErrRefused = errors.New("refused")

// MaxBeside is for how many objectives beside others one process waits at a time: a schedule that
// allows any number of them leaves room for what the other schedules do.
const MaxBeside = 5000

// besideAgain is after how long a wait begins again for which there was no room.
const besideAgain = time.Minute

// AwaitFor is how long one run of AwaitObjective waits for the end of an objective.
const AwaitFor = time.Hour

// ScheduleConfig holds the dependencies of the activities of schedules.
type ScheduleConfig struct {
	Starter Starter
	Tasks   TaskReader
	Watch   func(objectiveID string) Watch // of what Tasks reads
}

// Schedules are the activities of schedules. They run beside the API, which starts
// objectives by its settings. Workflows name them by method.
type Schedules struct {
	cfg    ScheduleConfig
	beside chan struct{} // has a member for each wait for an objective beside others
}

// NewSchedules returns activities that work with cfg.
func NewSchedules(cfg ScheduleConfig) *Schedules {
	return &Schedules{cfg, make(chan struct{}, MaxBeside)}
}

// BeginObjective starts the objective of a run and returns its id. A second run
// returns the same one.
func (s *Schedules) BeginObjective(ctx context.Context, run timetable.ScheduledRun) (string, error) {
	defer sendHeartbeats(ctx).stop()
	id, err := s.cfg.Starter.BeginScheduled(ctx, run)
	return id, finalIfRefused(err)
}

// CancelObjective cancels the objective of a run. It does not wait for its end. A
// second run changes nothing.
func (s *Schedules) CancelObjective(ctx context.Context, run timetable.ScheduledRun) error {
	defer sendHeartbeats(ctx).stop()
	return finalIfRefused(s.cfg.Starter.CancelScheduled(ctx, run))
}

// finalIfRefused returns err, as a final error if a repeat would be refused.
func finalIfRefused(err error) error {
	if errors.Is(err, ErrRefused) {
		return temporal.NewNonRetryableApplicationError(err.Error(), RefusedError, nil)
	}
	return err
}

// An OpenObjective is an objective whose end is awaited.
type OpenObjective struct {
	Tenant      string `json:"tenant"`
	ObjectiveID string `json:"objectiveId"`
	Beside      bool   `json:"beside,omitempty"` // its schedule may have any number of them
}

// AwaitObjective waits up to [AwaitFor] for the end of an objective, and reports
// whether it has ended or is gone. When the worker stops, Temporal repeats it on
// another. It changes nothing, so a second run is harmless.
func (s *Schedules) AwaitObjective(ctx context.Context, o OpenObjective) (bool, error) {
	if o.Beside {
		select {
		case s.beside <- struct{}{}:
			defer func() { <-s.beside }()
		default:
			return false, temporal.NewApplicationErrorWithOptions("This process waits for as many objectives of such schedules as it may.", BusyError,
				temporal.ApplicationErrorOptions{NextRetryDelay: besideAgain})
		}
	}
	defer sendHeartbeatsEvery(ctx, awaitingHeartbeat(ctx)).stop()
	ended, err := taskWaiter{s.cfg.Tasks, s.cfg.Watch, AwaitFor}.waitForEnd(ctx, o.Tenant, o.ObjectiveID, o.ObjectiveID, nil)
	if errors.Is(err, opt.ErrUnknown) {
		return true, nil
	}
	return ended, err
}

// awaitingHeartbeat returns how often a wait sends heartbeats: as seldom as its workflow allows.
func awaitingHeartbeat(ctx context.Context) time.Duration {
	if !activity.IsActivity(ctx) {
		return heartbeatEvery
	}
	return max(heartbeatEvery, activity.GetInfo(ctx).HeartbeatTimeout/4)
}
