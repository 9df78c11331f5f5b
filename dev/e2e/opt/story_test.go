package opt_test

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"longhaul/a2a"
	"longhaul/opt"
	"longhaul/opt/shown"
)

// A story applies the events of an objective to the model: it has the resulting
// states and the violations of the rules.
type story struct {
	o     opt.Objective
	plans map[string]*opt.Plan
	seq   int64
	wrong []error

	again   map[string]bool // plans that were retried while their objective was open
	began   map[string]bool // A2A tasks that were dispatched to an executor
	replies map[string]int  // accepted, by A2A task
	tries   map[string]int  // of an attempt at a round, after the first: by round and attempt
	hands   map[string]bool // A2A tasks that a client has moved
	// runs reports whether an attempt at a round of a task is under way. One that
	// is not may have to wait for the end of a pause, as may the next round.
	runs func(taskID string, round int) bool
}

func newStory() *story {
	return &story{
		plans: map[string]*opt.Plan{}, again: map[string]bool{}, began: map[string]bool{}, replies: map[string]int{}, tries: map[string]int{}, hands: map[string]bool{},
		runs: func(string, int) bool { return true },
	}
}

// tell applies events.
func (s *story) tell(events []shown.Recorded) {
	for _, r := range events {
		if r.Seq != s.seq+1 {
			s.complain(r.Event, "has number %d, after %d", r.Seq, s.seq)
		}
		s.seq = r.Seq
		s.take(r.Event)
	}
}

func (s *story) complain(e opt.Event, format string, args ...any) {
	what := fmt.Sprintf("event %d (%s %s%s %s → %s)", s.seq, e.Kind, e.PlanID, e.TaskID, e.From, e.To)
	s.wrong = append(s.wrong, fmt.Errorf("%s "+format, append([]any{what}, args...)...))
}

func (s *story) take(e opt.Event) {
	ref, _ := opt.ParseID(e.TaskID)
	switch e.Kind {
	case opt.ObjectiveOpened, opt.ObjectiveMoved, opt.ObjectiveStopping, opt.ObjectivePaused, opt.ObjectiveResumed,
		opt.ObjectiveChanged, opt.ObjectiveRetried, opt.ObjectiveQueued:
		if e.Kind == opt.ObjectiveMoved && e.From != string(s.o.Status) {
			s.complain(e, "and the objective is %s", s.o.Status)
		}
		s.apply(e)
	case opt.PlanAdded:
		plan := *e.Plan
		plan.Tasks = copied(plan.Tasks)
		s.plans[e.PlanID] = &plan
		s.apply(e)
	case opt.MessageAdded:
		s.onEvent(e)
	case opt.TaskTried:
		s.tries[fmt.Sprintf("%s:%d:%d", e.TaskID, e.Round, e.Attempt)]++
	case opt.TaskMoved:
		if ref.TaskID == "" {
			s.moveRoot(e)
			return
		}
		s.inPlan(e)
	case opt.PlanMoved, opt.PlanChanged, opt.PlanRetried, opt.PlanStarted, opt.PlanPaused, opt.PlanResumed, opt.PlanStopping,
		opt.TasksAdded, opt.TaskLinked, opt.ExchangeAdded:
		s.inPlan(e)
	}
}

func copied(tasks []*opt.Task) (out []*opt.Task) {
	for _, t := range tasks {
		c := *t
		out = append(out, &c)
	}
	return out
}

// apply changes the objective itself.
func (s *story) apply(e opt.Event) {
	if err := s.o.Apply(e); err != nil {
		s.complain(e, "%v", err)
	}
}

func (s *story) moveRoot(e opt.Event) {
	if e.From != string(s.o.Root) {
		s.complain(e, "and the root task is %s", s.o.Root)
	}
	s.apply(e)
}

// onEvent counts the replies that were accepted.
func (s *story) onEvent(e opt.Event) {
	if e.Verdict != opt.Accepted {
		return
	}
	task := e.TaskID
	if e.ForTask != "" {
		task = e.ForTask
	}
	s.replies[task]++
}

// inPlan changes a plan and reports it to the objective.
func (s *story) inPlan(e opt.Event) {
	p := s.plans[e.PlanID]
	if p == nil {
		s.complain(e, "and there is no such plan")
		return
	}
	s.check(p, e)
	switch e.Kind {
	case opt.TasksAdded:
		e.Tasks = copied(e.Tasks)
	case opt.PlanRetried: // also if other plans were to replace it
		s.o.Plan(p.ID).Stopping = ""
	}
	if err := p.Apply(e); err != nil {
		s.complain(e, "%v", err)
	}
	switch header := s.o.Plan(p.ID); {
	case e.Kind == opt.PlanRetried && header.Status == opt.PlanFailed: // its objective continues
		s.again[p.ID] = true
		s.apply(e)
	case e.Kind == opt.PlanChanged && e.Change.Dependencies != nil:
		s.reorder(p, e)
	}
	header, report := s.o.Plan(p.ID), p.Brief()
	header.Status, header.Reason, header.Started, header.Paused, header.Report = p.Status, p.Reason, p.Started, p.Paused, &report
}

// reorder lets a plan depend on others.
func (s *story) reorder(p *opt.Plan, e opt.Event) {
	s.apply(e)
	if cyclic(s.o.Plans, s.o.Before) {
		s.complain(e, "and the plans form a cycle")
	}
}

// check checks an event of a plan before it is applied.
func (s *story) check(p *opt.Plan, e opt.Event) {
	switch e.Kind {
	case opt.PlanMoved:
		if e.From != string(p.Status) {
			s.complain(e, "and the plan is %s", p.Status)
		}
		starts := e.To == string(opt.PlanWorking) && e.Reason != opt.ByHand && !p.Started
		if starts && !s.met(p) {
			s.complain(e, "and its dependencies are not done")
		}
	case opt.TaskMoved:
		t := p.Task(e.TaskID)
		if t == nil || e.From != string(t.State) {
			s.complain(e, "and the task is %+v", t)
			return
		}
		if e.Reason == opt.ByHand {
			s.hands[e.TaskID] = true
		}
		if e.To == string(opt.TaskWorking) && t.State == opt.TaskPending && e.Reason != opt.ByHand {
			s.dispatch(p, t, e)
		}
	}
}

// dispatch notes the dispatch of a task. It must be the task's turn, and happens
// only once.
func (s *story) dispatch(p *opt.Plan, t *opt.Task, e opt.Event) {
	if !slices.Contains(p.Ready(), t) {
		s.complain(e, "and it was not its turn, in %s", describe(p))
	}
	if s.began[e.TaskID] {
		s.complain(e, "and it was dispatched before")
	}
	s.began[e.TaskID] = true
}

// met reports whether the dependencies of p are done, or were done before a
// retry: p may have been directed to start just before that.
func (s *story) met(p *opt.Plan) bool {
	return !slices.ContainsFunc(p.Dependencies, func(id string) bool { return s.plans[id] == nil || !s.plans[id].Done() && !s.again[id] })
}

func describe(v any) string {
	raw, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(raw)
}

// ordered lists the plans in the order of their objective.
func (s *story) ordered() (plans []*opt.Plan) {
	for _, p := range s.o.Plans {
		plans = append(plans, s.plans[p.ID])
	}
	return plans
}

// busy returns an error that names work that can continue without clients, nil if
// there is none. Then everything open waits for a client.
func (s *story) busy() error {
	now := a2a.Time{}
	for _, p := range s.ordered() {
		switch next := p.Next(now); {
		case s.o.Plan(p.ID).Stopping != "" && !p.Status.Ended():
			return fmt.Errorf("plan %s is being stopped", p.ID)
		case len(next) > 0:
			return fmt.Errorf("plan %s continues with %s", p.ID, describe(next))
		case len(p.Ready()) > 0:
			return fmt.Errorf("plan %s begins %s", p.ID, describe(p.Ready()))
		}
		for _, t := range p.Tasks {
			waits := p.OnHold() && !s.runs(t.A2AID(), 1+s.replies[t.A2AID()])
			if t.Running() && !byHand(t) && !waits {
				return fmt.Errorf("task %s is %s", t.ID, t.State)
			}
		}
	}
	switch next := s.o.Next(now); {
	case len(next) > 0:
		return fmt.Errorf("the objective continues with %s", describe(next))
	case len(s.o.Startable()) > 0:
		return fmt.Errorf("the objective starts %s", describe(s.o.Startable()))
	case s.o.Started && s.o.Stopping == "" && slices.ContainsFunc(s.o.Plans, func(p *opt.Plan) bool { return p.Status == opt.PlanPending && !s.o.Met(p) }):
		return errors.New("a plan that waits for others is not shown as blocked")
	case s.o.Status == opt.ObjectivePlanning:
		return errors.New("plans are being made")
	case s.o.Stopping != "" && !s.o.Status.Ended():
		return errors.New("the objective is being stopped")
	}
	return nil
}

// byHand reports whether a client has to move t.
func byHand(t *opt.Task) bool { return t.ByHand || t.Link != "" && !t.Follow }

// A need is something that a client has to do before the work can continue.
type need struct{ what, id string }

// needs lists what an open objective waits for, given that busy returns nil.
func (s *story) needs() (all []need) {
	for _, p := range s.ordered() {
		for _, t := range p.Tasks {
			switch {
			case t.State.Ended(), t.State == opt.TaskPending, p.OnHold() && t.Running() && !byHand(t):
			case t.Gate != nil:
				all = append(all, need{"answer", t.Gate.ID})
			default:
				all = append(all, need{"move", t.ID})
			}
		}
		paused := p.Paused && p.Status == opt.PlanBlocked && p.Reason == opt.BlockedByOperator
		switch {
		case p.Status.Ended():
		case paused:
			all = append(all, need{"resume", p.ID})
		case p.Started && len(p.Tasks) == 0:
			all = append(all, need{"fill", p.ID})
		}
	}
	switch open := slices.ContainsFunc(s.o.Plans, func(p *opt.Plan) bool { return !p.Status.Ended() }); {
	case s.o.Status.Ended():
	case s.o.Status == opt.ObjectiveBlocked && s.o.Reason == opt.BlockedByOperator:
		all = append(all, need{"resume", s.o.ID})
	case !s.o.Started:
		all = append(all, need{"start", s.o.ID})
	case !open:
		all = append(all, need{"plan", s.o.ID})
	}
	return all
}

// agrees returns an error if the states break the rules, checked independently of
// the model, given that busy returns nil.
func (s *story) agrees() error {
	var open, completed int
	for _, p := range s.ordered() {
		if !p.Status.Ended() {
			open++
		}
		if p.Status == opt.PlanCompleted {
			completed++
		}
		if err := planAgrees(p); err != nil {
			return err
		}
	}
	switch status := s.o.Status; {
	case cyclic(s.o.Plans, s.o.Before):
		return errors.New("the plans form a cycle")
	case status.Ended() && open > 0:
		return fmt.Errorf("the objective is %s with %d open plans", status, open)
	case status.Ended() && !s.o.Root.Ended():
		return fmt.Errorf("the objective is %s and the root task %s", status, s.o.Root)
	case status == opt.ObjectiveCompleted && completed == 0 && s.o.Stopping == "":
		return errors.New("the objective is completed without a completed plan")
	case !status.Ended() && len(s.needs()) == 0:
		return fmt.Errorf("the objective waits for nothing: %s", describe(s.ordered()))
	}
	if root := s.rootShould(); root != s.o.Root {
		return fmt.Errorf("the root task is %s, want %s", s.o.Root, root)
	}
	return nil
}

func planAgrees(p *opt.Plan) error {
	for _, t := range p.Tasks {
		if p.Status.Ended() && !t.State.Ended() {
			return fmt.Errorf("plan %s is %s and task %s %s", p.ID, p.Status, t.ID, t.State)
		}
	}
	if cyclic(p.Tasks, p.Before) {
		return fmt.Errorf("the tasks of %s form a cycle", p.ID)
	}
	return nil
}

// rootShould returns the state of the root task by D15.
func (s *story) rootShould() opt.TaskState {
	switch s.o.Status {
	case opt.ObjectiveSubmitted, opt.ObjectiveCompleted, opt.ObjectiveCanceled:
		return opt.TaskState(s.o.Status)
	case opt.ObjectiveFailed:
		if s.o.Reason == opt.ReasonRejected {
			return opt.TaskRejected
		}
		return opt.TaskFailed
	}
	var oldest *opt.Gate
	var waits opt.TaskState
	for _, p := range s.ordered() {
		for _, t := range p.Tasks {
			switch {
			case !t.State.Waiting():
			case t.Gate == nil && waits == "":
				waits = t.State // by hand
			case t.Gate != nil && (oldest == nil || t.Gate.RequestedAt.Millis() < oldest.RequestedAt.Millis()):
				oldest = t.Gate
			}
		}
	}
	switch {
	case s.o.Stopping != "":
		return opt.TaskWorking
	case oldest != nil:
		return oldest.State()
	}
	return cmp.Or(waits, opt.TaskWorking)
}

// cyclic reports whether a way from any node to those before it leads back to it.
func cyclic[T comparable](nodes []T, before func(T) []T) bool {
	state := map[T]int{} // 1 while it is visited, 2 after that
	var visit func(T) bool
	visit = func(n T) bool {
		if state[n] != 0 {
			return state[n] == 1
		}
		state[n] = 1
		found := slices.ContainsFunc(before(n), visit)
		state[n] = 2
		return found
	}
	return slices.ContainsFunc(nodes, visit)
}

// shape is shape of a story.
func (s *story) shape() string {
	words := []string{string(s.o.Status)}
	for _, p := range s.ordered() {
		var tasks []string
		for _, t := range p.Tasks {
			tasks = append(tasks, string(t.State))
		}
		words = append(words, fmt.Sprintf("%s%v", p.Status, tasks))
	}
	return strings.Join(words, " ")
}
