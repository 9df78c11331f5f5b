package opt

import (
	"fmt"
	"slices"

	"longhaul/a2a"
)

// A Plan is an ordered set of tasks. Its tasks run one after another in list
// order, unless any of them declares dependencies: then they run as those
// allow, a few at a time.
type Plan struct {
	ID           string       `json:"id"`
	ObjectiveID  string       `json:"objectiveId"`
	Name         string       `json:"name"`
	Description  string       `json:"description,omitempty"`
	Status       PlanStatus   `json:"status"`
	Reason       string       `json:"reason,omitempty"` // why it is blocked or failed, in one word
	Dependencies []string     `json:"dependencies,omitempty"`
	Metadata     a2a.Metadata `json:"metadata,omitempty"`
	Tasks        []*Task      `json:"tasks,omitempty"`
	CreatedAt    a2a.Time     `json:"createdAt"`
	UpdatedAt    a2a.Time     `json:"updatedAt"`
	Limits       Limits       `json:"limits,omitzero"` // of its objective

	Started         bool   `json:"started,omitempty"`         // its tasks may run
	Paused          bool   `json:"paused,omitempty"`          // a client has paused it
	ObjectivePaused bool   `json:"objectivePaused,omitempty"` // its objective is paused, or is being planned anew
	Stopping        string `json:"stopping,omitempty"`        // why it is being stopped, "" if it is not

	Kept bool `json:"kept,omitempty"` // completed in an earlier attempt
	Run  int  `json:"run,omitempty"`  // its latest attempt, which its open tasks go by; 0 for the first

	// In an Objective, which leaves the tasks to the plan, the latest Report.
	Report *Report `json:"report,omitempty"`
}

// Head returns the part of p that changes as work goes on.
func (p *Plan) Head() *PlanHead {
	return &PlanHead{Status: p.Status, Reason: p.Reason, Stopping: p.Stopping, Started: p.Started, Paused: p.Paused, Run: p.Run}
}

// Text returns what p is called and depends on.
func (p *Plan) Text() *Text {
	return &Text{Name: p.Name, Description: p.Description, Metadata: p.Metadata, Dependencies: p.Dependencies}
}

// Optional reports whether the objective may go on if the plan fails.
func (p *Plan) Optional() bool { return p.Metadata.Bool(KeyOptional) }

// Done reports whether what depends on the plan may start.
func (p *Plan) Done() bool { return p.Over() && !p.Broken() }

// Over reports whether the plan has ended, as its objective knows it, and its tasks
// have, too.
func (p *Plan) Over() bool { return p.Status.Ended() && (p.Report == nil || !p.Report.Closing) }

// Broken reports whether the plan ended in a way that fails its objective.
func (p *Plan) Broken() bool { return p.Status == PlanFailed && !p.Optional() }

// Task returns the task with an id, its own or that of its A2A task, nil if there
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

// Unordered reports whether the tasks run as their dependencies allow, not in
// list order.
func (p *Plan) Unordered() bool {
	return slices.ContainsFunc(p.Tasks, func(t *Task) bool { return len(t.Dependencies) > 0 })
}

// Before lists the tasks that must be done before t may start.
func (p *Plan) Before(t *Task) []*Task {
	if p.Unordered() {
		return p.filter(func(b *Task) bool { return slices.Contains(t.needs(), b.ID) })
	}
	if t.Index == 0 {
		return nil
	}
	return p.Tasks[t.Index-1 : t.Index]
}

// Leaf reports whether no other task of the plan comes after t.
func (p *Plan) Leaf(t *Task) bool {
	return !slices.ContainsFunc(p.Tasks, func(o *Task) bool { return slices.Contains(p.Before(o), t) })
}

// Inputs lists the tasks whose results t builds on: those before it, and in
// place of one that made nothing, such as an approval, those before that one.
func (p *Plan) Inputs(t *Task) []*Task { return p.makers(p.Before(t)) }

// Results lists the artifacts of the plan: those of its leaf tasks, or what
// they build on where a leaf made nothing.
func (p *Plan) Results() []a2a.Artifact {
	var out []a2a.Artifact
	for _, t := range p.makers(p.filter(p.Leaf)) {
		out = append(out, t.Artifacts...)
	}
	return out
}

// makers returns from, with what a task builds on in place of a task that made
// nothing. It looks at each task once: a plan can have more ways through it
// than there is time for.
func (p *Plan) makers(from []*Task) []*Task {
	var out []*Task
	seen := map[*Task]bool{}
	var visit func([]*Task)
	visit = func(tasks []*Task) {
		for _, t := range tasks {
			switch {
			case seen[t]:
			case len(t.Artifacts) > 0:
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

// Ready lists the tasks that may start now, in list order.
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
		before := p.Before(t)
		if !p.Unordered() {
			before = p.Tasks[:t.Index] // a client may have moved the last of them by hand
		}
		if t.State == TaskPending && !slices.ContainsFunc(before, func(b *Task) bool { return !b.Done() }) {
			ready = append(ready, t)
		}
	}
	return ready
}

// Doomed lists the running tasks whose work must be stopped.
func (p *Plan) Doomed() []*Task {
	if !p.closing() {
		return nil
	}
	return p.Running()
}

// Settled reports whether nothing can happen to the plan any more: it has
// ended, and so have its tasks.
func (p *Plan) Settled() bool { return p.Status.Ended() && !p.open() }

// Apply changes p as e says, or reports why it cannot and leaves p alone.
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
			added := *t // e stays what happened, whatever becomes of the task
			p.Tasks = append(p.Tasks, &added)
		}
	case TaskMoved, TaskLinked, ArtifactAdded, MessageAdded:
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
func (p *Plan) NextRun(attempt int) int { return max(attempt, p.latest()+1, 2) }

// latest returns the number of the latest attempt at p.
func (p *Plan) latest() int {
	n := p.Run
	for _, t := range p.Tasks {
		n = max(n, t.Run)
	}
	return n
}

// retry makes a plan that failed or was skipped pending in a new attempt. What
// was completed stays so, and its results are used.
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
	t := p.Task(e.TaskID)
	if t == nil {
		return fmt.Errorf("task %s: %w", e.TaskID, ErrUnknown)
	}
	switch e.Kind {
	case TaskMoved:
		if !t.State.May(TaskState(e.To)) {
			return &MoveError{string(t.State), e.To}
		}
		t.move(e)
	case TaskLinked:
		if t.State != TaskPending {
			return &MoveError{string(t.State), "linked"}
		}
		t.Link, t.Follow = e.Link, e.Follow
	case ArtifactAdded:
		t.keep(*e.Chunk)
	case MessageAdded:
		t.hear(e)
	}
	p.UpdatedAt = e.At
	return nil
}

// Next lists the events that follow from what p has come to: open tasks of a
// plan that fails, stops or was ended are canceled, and the plan's status
// follows its tasks. Apply each in turn; then Next is empty until something
// else happens.
func (p *Plan) Next(at a2a.Time) []Event {
	var events []Event
	if p.closing() {
		for _, t := range p.Tasks {
			if t.State == TaskPending || t.State.Waiting() {
				events = append(events, Event{Kind: TaskMoved, At: at, PlanID: p.ID, TaskID: t.A2AID(), From: string(t.State), To: string(TaskCanceled), Reason: p.why()})
			}
		}
	}
	if len(events) > 0 {
		return events // the status follows once they are applied
	}
	to, reason := p.wants()
	if to == p.Status && reason == p.Reason {
		return nil
	}
	if !p.Status.serverMay(to) {
		to, reason = p.step()
	}
	return []Event{{Kind: PlanMoved, At: at, PlanID: p.ID, From: string(p.Status), To: string(to), Reason: reason}}
}

// step returns the status on the way to one that the table does not allow from
// the present one: a plan that is replaced while it works is blocked first, any
// other one works first.
func (p *Plan) step() (PlanStatus, string) {
	if p.Status == PlanWorking {
		return PlanBlocked, BlockedByOperator
	}
	return PlanWorking, p.byHand()
}

// wants returns the status that p should have, going by its tasks.
func (p *Plan) wants() (PlanStatus, string) {
	done := len(p.Tasks) > 0 && !p.open() // a plan without tasks waits for some
	switch {
	case p.Status.Ended(), p.Stopping != "" && p.open():
		return p.Status, p.Reason
	case p.Stopping == Replanned, p.Stopping != "" && p.Status != PlanWorking:
		return PlanSkipped, p.Stopping
	case p.Stopping != "":
		return PlanFailed, p.stoppedBy()
	case !p.Started && !p.begun():
		return p.Status, p.Reason
	case p.OnHold() && !done:
		return PlanBlocked, p.heldBy()
	case done && p.broken() != nil:
		return PlanFailed, p.why()
	case done:
		return PlanCompleted, ""
	case !p.Started && len(p.Running()) > 0:
		return PlanWorking, ByHand
	case len(p.Tasks) == 0, len(p.Running()) > 0, len(p.Ready()) > 0:
		return PlanWorking, ""
	case !p.Started && len(p.waiting()) == 0:
		return PlanWorking, ByHand // between two tasks that a client moves
	default:
		return PlanBlocked, p.blockedBy()
	}
}

// begun reports whether a client has begun the work of p by hand. What was
// completed in an earlier attempt does not count.
func (p *Plan) begun() bool {
	latest := p.latest()
	return slices.ContainsFunc(p.Tasks, func(t *Task) bool { return t.State != TaskPending && t.Run == latest })
}

// byHand returns the reason of a move to working: that of a client while p has
// not been started, none after.
func (p *Plan) byHand() string {
	if p.Started {
		return ""
	}
	return ByHand
}

// waiting lists the tasks that wait for somebody, at a gate or not.
func (p *Plan) waiting() []*Task { return p.filter(func(t *Task) bool { return t.State.Waiting() }) }

// open reports whether any task has not ended.
func (p *Plan) open() bool {
	return slices.ContainsFunc(p.Tasks, func(t *Task) bool { return !t.State.Ended() })
}

// OnHold reports whether p begins no task since p or its objective is paused.
func (p *Plan) OnHold() bool { return p.Paused || p.ObjectivePaused }

// heldBy returns why a plan on hold is blocked: what a person has to do comes
// first, since the pause shows by itself.
func (p *Plan) heldBy() string {
	if len(p.waiting()) > 0 && len(p.Running()) == 0 {
		return p.blockedBy()
	}
	return BlockedByOperator
}

// stoppedBy says why p failed that was stopped. One that was stopped since its
// objective was completed by a client did not complete.
func (p *Plan) stoppedBy() string {
	if p.Stopping == string(ObjectiveCompleted) {
		return ObjectiveEnded
	}
	return p.Stopping
}

// closing reports whether the open tasks of p must end: it is being stopped, a
// task has failed it, or a client has ended it.
func (p *Plan) closing() bool { return p.Stopping != "" || p.broken() != nil || p.Status.Ended() }

// broken returns the task that fails the plan, nil if none does: the first, if
// possible one that was not canceled for another's sake.
func (p *Plan) broken() *Task {
	broken := p.filter((*Task).Broken)
	for _, t := range broken {
		if t.State != TaskCanceled {
			return t
		}
	}
	if len(broken) > 0 {
		return broken[0]
	}
	return nil
}

// why says in one word why p fails, stops or has ended.
func (p *Plan) why() string {
	switch t := p.broken(); {
	case p.Stopping != "":
		return p.Stopping
	case p.Status.Ended():
		return string(p.Status)
	case t.Reason != "" && t.State != TaskRejected && t.Reason != ReasonRejected:
		return t.Reason
	default:
		return string(t.State)
	}
}

func (p *Plan) blockedBy() string {
	if slices.ContainsFunc(p.Tasks, func(t *Task) bool { return t.State == TaskInputRequired }) {
		return BlockedByInput
	}
	return BlockedByAuth
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
