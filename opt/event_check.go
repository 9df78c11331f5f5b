package opt

import (
	"errors"
	"fmt"
	"slices"
)

// ErrMalformed is wrapped by errors about an event that lacks a required member.
// Recording it again never succeeds.
var ErrMalformed = errors.New("malformed event")

// Check returns an error if e lacks a member that its kind requires: the subject of
// the event and, where it changes a row of the journal, the new values.
func (e Event) Check() error {
	has, known := e.complete()
	switch {
	case !known:
		return fmt.Errorf("%w: unknown kind %q", ErrMalformed, e.Kind)
	case !has || e.N < 1 && e.Kind != SourceRewound:
		return fmt.Errorf("%w of kind %s: a required member is missing", ErrMalformed, e.Kind)
	}
	return nil
}

// complete reports whether e has the members that its kind requires; known is false
// for a kind that does not exist.
func (e Event) complete() (has, known bool) {
	switch e.Kind {
	case ObjectiveOpened:
		return e.Objective != nil, true
	case ObjectiveMoved:
		return e.To != "" && e.Head != nil, true
	case ObjectiveStopping, ObjectivePaused, ObjectiveResumed, ObjectiveQueued:
		return e.Head != nil, true
	case ObjectiveChanged:
		return e.Head != nil && e.Text != nil, true
	case ObjectiveRetried:
		return e.Head != nil && e.Attempt > 1, true
	case PlanAdded:
		return e.PlanID != "" && e.Plan != nil && e.Plan.ID == e.PlanID && !slices.Contains(e.Plan.Tasks, nil), true
	case PlanChanged:
		return e.PlanID != "" && e.Text != nil, true
	case PlanRetried:
		return e.PlanID != "" && e.Attempt > 1 && e.PlanHead != nil && !slices.Contains(e.Tasks, nil), true
	case PlanMoved:
		return e.PlanID != "" && e.To != "" && e.PlanHead != nil, true
	case PlanStarted, PlanPaused, PlanResumed, PlanStopping:
		return e.PlanID != "" && e.PlanHead != nil, true
	case TasksAdded, TasksReopened:
		return e.PlanID != "" && !slices.Contains(e.Tasks, nil), true
	case TaskLinked:
		return e.TaskID != "" && e.Link != "", true
	case TaskMoved:
		return e.TaskID != "" && e.To != "", true
	case ExchangeAdded:
		return e.TaskID != "" && e.To != "" && e.Gate != nil && len(e.Gate.Exchanges) > 0, true
	case TaskTried:
		return e.TaskID != "" && e.To != "" && max(e.Attempt, e.Try) > 1, true
	case ArtifactAdded:
		return e.TaskID != "" && e.Chunk != nil, true
	case MessageAdded:
		return e.TaskID != "" && e.Message != nil, true
	case SourceRewound:
		objective := e.Objective != nil && e.Head != nil && e.Text != nil && !slices.Contains(e.Objective.Plans, nil)
		plan := e.PlanID != "" && e.Plan != nil && e.PlanHead != nil && !slices.Contains(e.Plan.Tasks, nil)
		return e.Epoch > 1 && (plan || e.PlanID == "" && objective), true
	case CommandAnswered:
		return e.Answer != nil && e.Answer.CommandID != "", true
	}
	return false, false
}
