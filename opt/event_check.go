package opt

import (
	"errors"
	"fmt"
	"slices"
)

// ErrMalformed is wrapped by errors about an event that lacks a required member.
// Recording it again never succeeds.
var ErrMalformed = errors.New("malformed event")

// A need is a member that an event of a kind must have.
type need struct {
	member string
	met    func(e *Event) bool
}

// needs has what the subject of an event and the new values in rows of the journal require, by kind.
var needs = func() map[EventKind][]need {
	to := need{"to", func(e *Event) bool { return e.To != "" }}
	head := need{"head", func(e *Event) bool { return e.Head != nil }}
	text := need{"text", func(e *Event) bool { return e.Text != nil }}
	again := need{"attempt above 1", func(e *Event) bool { return e.Attempt > 1 }}
	anotherGo := need{"attempt or try above 1", func(e *Event) bool { return max(e.Attempt, e.Try) > 1 }}
	waited := need{"waited above 0", func(e *Event) bool { return e.Waited > 0 }}
	epoch := need{"epoch above 1", func(e *Event) bool { return e.Epoch > 1 }}
	objective := need{"objective", func(e *Event) bool { return e.Objective != nil }}
	planID := need{"planId", func(e *Event) bool { return e.PlanID != "" }}
	planHead := need{"planHead", func(e *Event) bool { return e.PlanHead != nil }}
	plan := need{"plan of planId", func(e *Event) bool { return e.Plan != nil && e.Plan.ID == e.PlanID }}
	planTasks := need{"tasks in the plan", func(e *Event) bool { return e.Plan != nil && !slices.Contains(e.Plan.Tasks, nil) }}
	tasks := need{"tasks", func(e *Event) bool { return !slices.Contains(e.Tasks, nil) }}
	order := need{"order", func(e *Event) bool { return len(e.Order) > 0 }}
	taskID := need{"taskId", func(e *Event) bool { return e.TaskID != "" }}
	link := need{"link", func(e *Event) bool { return e.Link != "" }}
	exchanges := need{"exchange at a gate", func(e *Event) bool { return e.Gate != nil && len(e.Gate.Exchanges) > 0 }}
	status := need{"status", func(e *Event) bool { return e.Status != nil }}
	chunk := need{"chunk", func(e *Event) bool { return e.Chunk != nil }}
	message := need{"message", func(e *Event) bool { return e.Message != nil }}
	answer := need{"answer to a command", func(e *Event) bool { return e.Answer != nil && e.Answer.CommandID != "" }}
	usage := need{"usage", func(e *Event) bool { return e.Usage != nil }}
	state := need{"plan and planHead, or objective, head and text", func(e *Event) bool {
		if e.PlanID != "" {
			return planHead.met(e) && planTasks.met(e)
		}
		return e.Objective != nil && !slices.Contains(e.Objective.Plans, nil) && head.met(e) && text.met(e)
	}}
	return map[EventKind][]need{
		ObjectiveOpened:   {objective},
		ObjectiveMoved:    {to, head},
		ObjectiveStopping: {head},
		ObjectivePaused:   {head},
		ObjectiveResumed:  {head},
		ObjectiveQueued:   {head},
		ObjectiveChanged:  {head, text},
		ObjectiveRetried:  {head, again},
		PlanAdded:         {planID, plan, planTasks},
		PlanChanged:       {planID, text},
		PlanRetried:       {planID, again, planHead, tasks},
		PlanMoved:         {planID, to, planHead},
		PlanStarted:       {planID, planHead},
		PlanPaused:        {planID, planHead},
		PlanResumed:       {planID, planHead},
		PlanStopping:      {planID, planHead},
		TasksAdded:        {planID, tasks},
		TasksReopened:     {planID, tasks},
		TasksOrdered:      {planID, order},
		TaskLinked:        {taskID, link},
		TaskMoved:         {taskID, to},
		ExchangeAdded:     {taskID, to, exchanges},
		TaskTried:         {taskID, to, anotherGo},
		TaskTaken:         {taskID, waited},
		TaskProgressed:    {taskID, to, status},
		UsageAdded:        {usage},
		ArtifactAdded:     {taskID, chunk},
		MessageAdded:      {taskID, message},
		SourceRewound:     {epoch, state},
		CommandAnswered:   {answer},
	}
}()

// Check returns an error if e lacks a member that its kind requires.
func (e Event) Check() error {
	list, known := needs[e.Kind]
	switch {
	case !known:
		return fmt.Errorf("%w: unknown kind %q", ErrMalformed, e.Kind)
	case e.N < 1 && e.Kind != SourceRewound: // the first event of an epoch may be about nothing that was recorded before
		return fmt.Errorf("%w of kind %s: it has no number", ErrMalformed, e.Kind)
	}
	for _, n := range list {
		if !n.met(&e) {
			return fmt.Errorf("%w of kind %s: it needs %s", ErrMalformed, e.Kind, n.member)
		}
	}
	return nil
}
