package opt

import (
	"cmp"
	"fmt"
	"slices"

	"longhaul/a2a"
)

// A Plan is an ordered list of tasks, which begin as the package comment says.
type Plan struct {
	ID           string       `json:"id"`
	ObjectiveID  string       `json:"objectiveId"`
	Name         string       `json:"name"`
	Description  string       `json:"description,omitempty"`
	Status       PlanStatus   `json:"status"`
	Reason       string       `json:"reason,omitempty"`      // code that explains the status; "" if there is nothing to explain
	Dependencies []string     `json:"dependencies,omitzero"` // ids of plans of its objective; nil if it declares none, and so follows the list
	Metadata     a2a.Metadata `json:"metadata,omitempty"`
	Tasks        []*Task      `json:"tasks,omitempty"`
	CreatedAt    a2a.Time     `json:"createdAt"`
	UpdatedAt    a2a.Time     `json:"updatedAt"`
	Limits       Limits       `json:"limits,omitzero"`  // of its objective
	Budget       *Budget      `json:"budget,omitempty"` // of all work on the objective, by its playbook
	Own          *Budget      `json:"own,omitempty"`    // of this plan alone, in all its attempts

	Started         bool   `json:"started,omitempty"`         // its tasks may run
	Paused          bool   `json:"paused,omitempty"`          // a client has paused it
	ObjectivePaused bool   `json:"objectivePaused,omitempty"` // its objective is paused or in a replan
	Stopping        string `json:"stopping,omitempty"`        // why it is being stopped, "" if it is not

	Loose bool `json:"loose,omitempty"` // as in its objective

	Kept bool `json:"kept,omitempty"` // completed in an earlier attempt
	Run  int  `json:"run,omitempty"`  // number of its latest attempt, part of the ids of its open tasks; 0 for the first

	// The latest report of the plan. Only in an Objective, which does not hold tasks.
	Report *Report `json:"report,omitempty"`

	Used Used `json:"-"` // as the journal has it
}

// String returns p on one line, for people.
func (p Plan) String() string { return oneLine("plan", p.ID, p.Name, string(p.Status), p.Reason) }

// Head returns the members of p that change while it is worked on.
func (p *Plan) Head() *PlanHead {
	return &PlanHead{Status: p.Status, Reason: p.Reason, Stopping: p.Stopping, Started: p.Started, Paused: p.Paused, Run: p.Run}
}

// Text returns the name, description, metadata and dependencies of p.
func (p *Plan) Text() *Text {
	return &Text{Name: p.Name, Description: p.Description, Metadata: p.Metadata, Dependencies: p.Dependencies}
}

// Optional reports whether the objective continues if the plan fails.
func (p *Plan) Optional() bool { return p.Metadata.Bool(KeyOptional) }

// Done reports whether plans that depend on p may start.
func (p *Plan) Done() bool { return p.Over() && !p.Broken() }

// Over reports whether the plan and all its tasks have ended, according to its
// latest report.
func (p *Plan) Over() bool { return p.Status.Ended() && (p.Report == nil || !p.Report.Closing) }

// Broken reports whether the plan ended in a way that fails its objective.
func (p *Plan) Broken() bool { return p.Status == PlanFailed && !p.Optional() }

// Task returns the task with an id, its own or its A2A task's, nil if there
// is none.
func (p *Plan) Task(id string) *Task {
	if ref, ok := ParseID(id); ok && ref.Attempt > 1 {
		if t := p.Task(ref.TaskID); t != nil && t.A2AID() == id {
			return t
		}
		return nil
	}
	for _, t := range p.Tasks {
		if t.ID == id {
			return t
		}
	}
	return nil
}

// Waiting lists the tasks that are at an open gate, in list order.
func (p *Plan) Waiting() []*Task { return p.filter(func(t *Task) bool { return t.Gate != nil }) }

// Running lists the tasks that hold a slot.
func (p *Plan) Running() []*Task { return p.filter((*Task).Running) }

// Unordered reports whether several tasks may run at a time: one of them declares
// dependencies.
func (p *Plan) Unordered() bool {
	return slices.ContainsFunc(p.Tasks, func(t *Task) bool { return declared(t.Dependencies, p.Loose) })
}

// declared reports whether dependencies count as such; an empty list does not in a loose
// plan or objective.
func declared(dependencies []string, loose bool) bool {
	return len(dependencies) > 0 || dependencies != nil && !loose
}

// follows reports whether t follows the task before it in the list.
func follows(p *Plan, t *Task) bool { return t.Dependencies == nil && !p.Loose || !p.Unordered() }

// hasBegun reports whether p has begun or is about to.
func hasBegun(p *Plan) bool {
	return p.Started || p.Status != PlanPending && (p.Status != PlanBlocked || p.Reason != BlockedByDependencies)
}

// DependsOn reports whether p declares that it depends on exactly the plans with these
// ids. A plan that has begun follows the list no longer, so that none are the same as [].
func (p *Plan) DependsOn(ids []string) bool {
	declares := p.Dependencies != nil || hasBegun(p)
	return declares && len(p.Dependencies) == len(ids) && !slices.ContainsFunc(ids, func(id string) bool { return !slices.Contains(p.Dependencies, id) })
}

// Before lists the tasks that must be done before t may start: those that it depends on
// or else the one before it in the list, and those that it uses.
func (p *Plan) Before(t *Task) []*Task {
	if !p.Unordered() {
		return slices.Clip(p.Tasks[max(0, t.Index-1):t.Index]) // with those that it uses, which are before it in the list
	}
	inList := follows(p, t)
	return p.filter(func(b *Task) bool {
		return slices.Contains(t.Dependencies, b.ID) || slices.Contains(t.Uses, b.ID) || inList && b.Index == t.Index-1
	})
}

// mayBegin reports whether all is done that t waits for. In the list that is more than
// the task right before it, which a client may have completed by hand.
func mayBegin(p *Plan, t *Task) bool {
	return inTurn(p.Tasks, t.Index, func(b *Task) bool { return follows(p, b) }, (*Task).Done) &&
		!slices.ContainsFunc(p.Before(t), func(b *Task) bool { return !b.Done() }) &&
		(p.Loose || haveEnded(t, p.Before, taskEnded))
}

// haveEnded reports whether all tasks or plans before one have ended: a client may have ended
// one of them by hand before those whose results it passes on. ended also says whether one
// has ended after those before it.
func haveEnded[T comparable](t T, before func(T) []T, ended func(T) (over, last bool)) bool {
	seen := map[T]bool{}
	var all func(T) bool
	all = func(t T) bool {
		return !slices.ContainsFunc(before(t), func(b T) bool {
			if seen[b] {
				return false
			}
			seen[b] = true
			over, last := ended(b)
			return !over || !last && !all(b)
		})
	}
	return all(t)
}

func taskEnded(t *Task) (over, last bool) {
	return t.State.Ended(), t.State == TaskCompleted && !t.ByHand
}

// inTurn reports whether those are done that the i-th of a list of tasks or plans follows
// in the list: each up to one that does not follow it.
func inTurn[T any](list []T, i int, follows, done func(T) bool) bool {
	for ; i > 0 && follows(list[i]); i-- {
		if !done(list[i-1]) {
			return false
		}
	}
	return true
}

// Leaf reports whether no other task of the plan comes after t.
func (p *Plan) Leaf(t *Task) bool {
	return !slices.ContainsFunc(p.Tasks, func(o *Task) bool { return slices.Contains(p.Before(o), t) })
}

// Inputs lists the tasks whose results are the input of t: those before it. A task
// without artifacts, such as an approval, is replaced by the tasks before it.
func (p *Plan) Inputs(t *Task) []*Task { return makersAmong(p, p.Before(t)) }

// Results lists the artifacts of the plan: the artifacts of its leaf tasks. A leaf without
// artifacts is replaced by its inputs.
func (p *Plan) Results() []a2a.Artifact {
	var out []a2a.Artifact
	for _, t := range makersAmong(p, p.filter(p.Leaf)) {
		out = append(out, t.Artifacts...)
	}
	return out
}

// makersAmong returns the tasks in from, each task without artifacts, or that checks those of others,
// replaced by the tasks before it. It visits each task once: the number of paths through a plan is
// exponential.
func makersAmong(p *Plan, from []*Task) []*Task {
	var out []*Task
	seen := map[*Task]bool{}
	var visit func([]*Task)
	visit = func(tasks []*Task) {
		for _, t := range tasks {
			switch {
			case seen[t]:
			case len(t.Artifacts) > 0 && !t.Check:
				out = append(out, t)
			default:
				visit(p.Before(t))
			}
			seen[t] = true
		}
	}
	visit(from)
	return out
}

// Ready lists the tasks that may start now, in list order. A task that an answer continues is
// not among them: it continues at once, even above the limit, because a person waits for it.
func (p *Plan) Ready() []*Task {
	if !p.Started || p.OnHold() || p.closing() {
		return nil
	}
	free := 1
	if p.Unordered() {
		free = p.Limits.OrDefault().Parallel
	}
	free -= len(p.Running())
	var ready []*Task
	for _, t := range p.Tasks {
		if len(ready) >= free {
			break
		}
		if (t.State == TaskPending || t.Awaits()) && mayBegin(p, t) {
			ready = append(ready, t)
		}
	}
	return ready
}

// Doomed lists the running tasks that must be stopped.
func (p *Plan) Doomed() []*Task {
	if !p.closing() {
		return nil
	}
	return p.Running()
}

// DoomedAtGates lists the tasks that wait for a person and must end.
func (p *Plan) DoomedAtGates() []*Task {
	if !p.closing() {
		return nil
	}
	return waitingTasks(p)
}

// Settled reports whether the plan and all its tasks have ended, so nothing can
// change in this attempt.
func (p *Plan) Settled() bool { return p.Status.Ended() && !p.open() }

// Apply changes p by e. It returns an error and leaves p unchanged if e is not
// possible.
func (p *Plan) Apply(e Event) error {
	switch e.Kind {
	case PlanMoved:
		return p.move(e)
	case PlanStarted:
		p.Started = true
	case PlanPaused, PlanResumed:
		p.pause(e)
	case PlanStopping:
		p.Stopping = e.Reason
	case PlanChanged:
		p.change(e)
	case PlanRetried:
		return p.retry(e)
	case TasksAdded:
		for _, t := range e.Tasks {
			added := *t // later changes of the task must not change the event
			p.Tasks = append(p.Tasks, &added)
		}
	case TasksReopened:
		for _, t := range e.Tasks {
			again := *t
			p.Tasks[t.Index] = &again
		}
	case TasksOrdered:
		for _, o := range e.Order {
			t := p.Task(o.ID)
			if t == nil {
				return fmt.Errorf("task %s: %w", o.ID, ErrUnknown)
			}
			t.Dependencies = o.Dependencies
		}
	case TaskMoved, ExchangeAdded, TaskLinked, ArtifactAdded, MessageAdded:
		return p.applyTask(e)
	default:
		return fmt.Errorf("a plan cannot apply %q", e.Kind)
	}
	p.UpdatedAt = e.At
	return nil
}

func (p *Plan) move(e Event) error {
	to := PlanStatus(e.To)
	if !p.Status.serverMay(to) {
		return &MoveError{string(p.Status), e.To}
	}
	p.Status, p.Reason, p.UpdatedAt = to, e.Reason, e.At
	return nil
}

func (p *Plan) pause(e Event) {
	paused := e.Kind == PlanPaused
	if e.Reason == PausedByObjective {
		p.ObjectivePaused = paused
		return
	}
	p.Paused = paused
}

func (p *Plan) change(e Event) {
	p.Name, p.Description, p.Metadata = e.Change.apply(p.Name, p.Description, p.Metadata)
	if e.Change != nil && e.Change.Dependencies != nil {
		p.Dependencies = e.Change.Dependencies
	}
	p.UpdatedAt = e.At
}

// Who has paused a plan.
const (
	PausedByClient    = "client"
	PausedByObjective = "objective"
)

// NextRun returns the number of an attempt at p that comes after attempt of its
// objective, and after every attempt at p or at one of its tasks: the id of an A2A
// task is never used again.
func (p *Plan) NextRun(attempt int) int { return max(attempt, latestRun(p)+1, 2) }

// latestRun returns the number of the latest attempt at p.
func latestRun(p *Plan) int {
	n := p.Run
	for _, t := range p.Tasks {
		n = max(n, t.Run)
	}
	return n
}

// retry makes a plan that failed or was skipped pending in a new attempt. Completed
// tasks stay completed, and their results are used.
func (p *Plan) retry(e Event) error {
	if p.Status != PlanFailed && p.Status != PlanSkipped {
		return &MoveError{string(p.Status), string(PlanPending)}
	}
	p.Status, p.Reason, p.Started, p.Stopping, p.Report, p.UpdatedAt = PlanPending, "", false, "", nil, e.At
	p.Run, p.Paused, p.ObjectivePaused = e.Attempt, false, false
	for _, t := range p.Tasks {
		t.retry(e.Attempt)
	}
	return nil
}

func (p *Plan) applyTask(e Event) error {
	t := p.Task(cmp.Or(e.ForTask, e.TaskID))
	if t == nil {
		return fmt.Errorf("task %s: %w", e.TaskID, ErrUnknown)
	}
	switch e.Kind {
	case TaskMoved:
		if !t.State.May(TaskState(e.To)) {
			return &MoveError{string(t.State), e.To}
		}
		t.move(e)
	case ExchangeAdded:
		if t.Gate == nil || t.Gate.ID != e.Gate.ID {
			return fmt.Errorf("gate %s: %w", e.Gate.ID, ErrUnknown)
		}
		t.Gate = t.Gate.Extended(*e.Gate)
	case TaskLinked:
		if t.State != TaskPending {
			return &MoveError{string(t.State), "linked"}
		}
		t.Link, t.Follow = e.Link, e.Follow
	case ArtifactAdded:
		t.keep(*e.Chunk)
	case MessageAdded:
		t.onEvent(e)
	}
	p.UpdatedAt = e.At
	return nil
}

func (p *Plan) filter(keep func(*Task) bool) []*Task {
	var out []*Task
	for _, t := range p.Tasks {
		if keep(t) {
			out = append(out, t)
		}
	}
	return out
}
