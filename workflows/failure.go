package workflows

import (
	"errors"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/temporal"

	"longhaul/activities"
	"longhaul/opt"
)

const (
	workflowTaskTimeout = 3 * time.Second
	heartbeatTimeout    = 3 * time.Second // of activities that belong to no objective: without a heartbeat for so long, the worker is lost
	lostWorkers         = 20              // that one attempt at a task may cost
)

// workerTimeout returns after how long without a heartbeat the worker of an activity is
// lost.
func workerTimeout(l opt.Limits) time.Duration {
	return time.Duration(l.OrDefault().WorkerTimeout) * time.Second
}

// triesOf returns how many tries at an activity may have begun if err says that it
// has to be repeated: its worker was lost or stops, the journal could not be
// reached, or no worker took it in time.
func triesOf(err error) (n int, lost bool) {
	var timeout *temporal.TimeoutError
	var app *temporal.ApplicationError
	switch {
	case errors.As(err, &timeout):
		switch timeout.TimeoutType() {
		case enumspb.TIMEOUT_TYPE_SCHEDULE_TO_START:
			return 0, true
		case enumspb.TIMEOUT_TYPE_HEARTBEAT:
			return 1, true
		}
	case notBegun(err):
		return 0, true
	case errors.As(err, &app):
		return 1, !app.NonRetryable()
	}
	return 0, false
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
