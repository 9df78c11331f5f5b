package workflows

import (
	"errors"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/temporal"

	"longhaul/activities"
	"longhaul/opt"
	"longhaul/opt/machine/drive"
)

const (
	workflowTaskTimeout = 3 * time.Second
	heartbeatTimeout    = 30 * time.Second // of activities that belong to no objective: without a heartbeat for so long, the worker is lost
	lostWorkers         = 20               // that one attempt at a task may cost
)

// workerTimeout returns after how long without a heartbeat the worker of an activity is
// lost.
func workerTimeout(l opt.Limits) time.Duration {
	return time.Duration(l.OrDefault().WorkerTimeout) * time.Second
}

// beginsAgain reports whether err says that an activity has to begin again as the same attempt,
// after which tries and which pause. Temporal repeats it after a lost worker, unless it rides.
func beginsAgain(err error, tries drive.Tries, rides bool) (again bool, _ drive.Tries, _ drive.Pause) {
	var timeout *temporal.TimeoutError
	var app *temporal.ApplicationError
	switch {
	case errors.As(err, &timeout):
		switch timeout.TimeoutType() {
		case enumspb.TIMEOUT_TYPE_SCHEDULE_TO_START:
			return rides, tries, drive.Pause{}
		case enumspb.TIMEOUT_TYPE_HEARTBEAT:
			return rides, tries.Lose(1), drive.Pause{}
		}
	case !errors.As(err, &app):
	case app.NonRetryable():
	case pauses[app.Type()] != drive.Pause{}:
		return true, triesBefore(app, tries), pauses[app.Type()]
	default:
		return rides, tries.Lose(1), drive.Pause{}
	}
	return false, tries, drive.Pause{}
}

// pauses are those after which activities begin again that a worker has sent back, by the type of
// their error. Temporal does not repeat them.
var pauses = map[string]drive.Pause{
	activities.QuotaError:   {First: 5 * time.Second, Longest: 10 * time.Minute},
	activities.JournalError: {First: 100 * time.Millisecond, Longest: time.Minute},
	unreadableError:         {First: unreadablePause, Longest: unreadableLongest},
}

// triesBefore adds to tries those of an activity that was sent back. Its error says how many of
// its runs were before, whose workers were lost. That of a program of earlier does not: it is
// perhaps the last of many.
func triesBefore(app *temporal.ApplicationError, tries drive.Tries) drive.Tries {
	var before int
	told := app.HasDetails() && app.Details(&before) == nil
	tries = tries.Lose(before)
	switch {
	case app.Type() == activities.JournalError && told:
		tries.Begun++ // and so has this one
	case app.Type() == activities.JournalError:
		tries.Begun += lostWorkers
	case !told:
		tries.Begun = max(tries.Begun, 1)
	}
	return tries
}

// heldBy returns the text for clients about an activity that a quota holds back, "" for nothing.
func heldBy(err error) (text string) {
	var app *temporal.ApplicationError
	var before int
	if errors.As(err, &app) && app.Type() == activities.QuotaError {
		_ = app.Details(&before, &text) // that of a program of earlier, or of use that cannot be read, has no text
	}
	return text
}

// ranIn returns how many milliseconds an attempt ran that has failed or was canceled, 0 if its error does not say it.
func ranIn(err error) (ran int64) {
	var app *temporal.ApplicationError
	var canceled *temporal.CanceledError
	switch {
	case errors.As(err, &canceled):
		_ = canceled.Details(&ran)
	case errors.As(err, &app) && app.NonRetryable():
		_ = app.Details(&ran)
	}
	return ran
}

// refusedBy returns the refusal in the error of an activity, nil if there is none.
func refusedBy(err error) *opt.RewoundError {
	var app *temporal.ApplicationError
	var refused opt.RewoundError
	if !errors.As(err, &app) || app.Type() != activities.RewoundError || app.Details(&refused) != nil {
		return nil
	}
	return &refused
}
