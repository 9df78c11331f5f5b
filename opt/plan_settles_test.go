package opt_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"longhaul/a2a"
	"longhaul/internal/test"
	"longhaul/opt"
)

// A plan settles for any ends of its tasks and any interference, by moves that
// the tables allow, and always shows what the rules say. The plan workflow relies
// on this: it waits forever otherwise.
func TestPlan_alwaysSettles(t *testing.T) {
	ends := map[opt.PlanStatus]int{}
	for seed := range uint64(600) {
		s := newPlanSim(t, seed)
		s.run()
		if t.Failed() {
			t.Fatalf("seed %d, plan:\n%s", seed, snapshot(t, s.p))
		}
		ends[s.p.Status]++
	}
	for _, status := range []opt.PlanStatus{opt.PlanCompleted, opt.PlanFailed, opt.PlanSkipped} {
		if ends[status] < 20 {
			t.Errorf("only %d plans ended %s, which tests little", ends[status], status)
		}
	}
}

// A planSim does with a plan what its machine does, with random executors and
// clients.
type planSim struct {
	t       *testing.T
	r       *rand.Rand
	p       *opt.Plan
	now     int64
	list    bool                // none of the tasks declares dependencies
	after   map[string][]string // what each task depends on
	before  map[string]bool     // tasks that were dispatched
	back    map[string]bool     // tasks that work again after a gate
	paused  map[string]bool     // who has paused it
	stopped opt.PlanStatus      // the status when it was directed to stop, "" if it was not
	why     string              // it was directed to stop
	ended   opt.PlanStatus      // the status that a client ended it with, "" if none did
	meddled bool                // a client has moved tasks by hand
	ends    map[string][]opt.TaskState
}

func newPlanSim(t *testing.T, seed uint64) *planSim {
	r := rand.New(rand.NewPCG(seed, 1))
	s := &planSim{t: t, r: r, after: map[string][]string{}, before: map[string]bool{}, back: map[string]bool{}, paused: map[string]bool{}, list: true}
	s.p = randomPlan(t, r)
	for i, task := range s.p.Tasks {
		s.after[task.ID] = task.Dependencies
		for j := i; j > 0 && s.p.Tasks[j].Dependencies == nil; j-- {
			s.after[task.ID] = append(s.after[task.ID], s.p.Tasks[j-1].ID)
		}
		if task.Dependencies != nil {
			s.list = false
		}
		if r.IntN(8) == 0 {
			s.p.Tasks[i].Metadata = a2a.Metadata{}.With(opt.KeyOptional, true)
		}
	}
	s.ends = map[string][]opt.TaskState{}
	return s
}

// randomPlan makes a plan in list order or with dependencies, in either
// direction of the list.
func randomPlan(t *testing.T, r *rand.Rand) *opt.Plan {
	n := r.IntN(9)
	if r.IntN(40) == 0 {
		n = maxTasks
	}
	refs := make([]string, n)
	if r.IntN(2) == 0 {
		place, density := r.Perm(n), r.Float64()
		for i := range n {
			for j := range n {
				if place[j] < place[i] && r.Float64() < density {
					refs[i] += fmt.Sprintf("task-%d ", j)
				}
			}
			if follows := i > 0 && place[i-1] < place[i] && r.IntN(2) == 0; refs[i] == "" && !follows {
				refs[i] = "-"
			}
		}
	}
	p := test.Value(newPlan(refs...))(t)
	return p
}

// run makes random changes until none is possible.
func (s *planSim) run() {
	limit := 40 + 20*len(s.p.Tasks)
	for step := 0; ; step++ {
		s.settle()
		s.check()
		if s.t.Failed() {
			return
		}
		happenings := s.happenings()
		if s.p.Settled() || len(happenings) == 0 {
			break
		}
		if step > limit {
			s.t.Errorf("not settled after %d steps", step)
			return
		}
		happenings[s.r.IntN(len(happenings))]()
	}
	if !s.p.Settled() {
		s.t.Errorf("nothing can happen, but the plan is %s", s.p.Status)
	}
	s.checkEnd()
}

// settle applies all consequences, as the machine does.
func (s *planSim) settle() {
	for turn, more := 0, true; more; turn++ {
		if turn > 5+len(s.p.Tasks) {
			s.t.Fatalf("Next never ends: %+v", s.p.Next(s.at()))
		}
		more = false
		for _, e := range s.p.Next(s.at()) {
			s.apply(e)
			more = true
		}
		for _, task := range s.p.Ready() {
			s.dispatch(task)
			more = true
		}
	}
}

func (s *planSim) dispatch(task *opt.Task) {
	for _, id := range s.after[task.ID] {
		if d := s.p.Task(id); d.State != opt.TaskCompleted && (!d.Optional() || !d.State.Ended()) {
			s.t.Errorf("%s starts while %s is %s", task.ID, id, d.State)
		}
	}
	if s.before[task.ID] && !s.meddled {
		s.t.Errorf("%s starts twice", task.ID)
	}
	if len(s.paused) > 0 {
		s.t.Errorf("%s starts while the plan is paused", task.ID)
	}
	s.before[task.ID] = true
	s.move(task, opt.TaskWorking, nil)
	most := s.p.Limits.OrDefault().Parallel
	if s.list {
		most = 1
	}
	fresh := 0
	for _, r := range s.p.Running() {
		if !s.back[r.ID] {
			fresh++
		}
	}
	if fresh > most {
		s.t.Errorf("%d tasks run at a time", fresh)
	}
}

// happenings lists the possible changes. Each brings the plan nearer to its end,
// or is limited in number.
func (s *planSim) happenings() (out []func()) {
	if !s.p.Started && s.p.Stopping == "" {
		out = append(out, func() { s.apply(opt.Event{Kind: opt.PlanStarted}) })
	}
	for _, task := range s.p.Running() {
		out = append(out, func() { s.end(task) })
		if task.State == opt.TaskWorking && task.Gates < 3 {
			out = append(out, func() { s.open(task) })
		}
	}
	for _, task := range s.p.Waiting() {
		out = append(out, func() { s.answer(task) })
	}
	rare := func(n int, f func()) {
		if len(s.p.Tasks) == 0 || s.r.IntN(n) == 0 {
			out = append(out, f)
		}
	}
	if s.p.Stopping == "" {
		rare(10, func() {
			s.stopped, s.why = s.p.Status, []string{"canceled", "completed", opt.Replanned}[s.r.IntN(3)]
			s.apply(opt.Event{Kind: opt.PlanStopping, Reason: s.why})
		})
	}
	for _, by := range []string{opt.PausedByClient, opt.PausedByObjective} {
		switch {
		case s.p.Status.Ended() || s.p.Stopping != "":
		case s.paused[by]:
			out = append(out, func() { s.pause(by, false) })
		default:
			rare(25, func() { s.pause(by, true) })
		}
	}
	rare(20, s.endByClient)
	rare(15, s.meddle)
	return out
}

// end ends a running task, mostly as canceled if it was directed to stop.
func (s *planSim) end(task *opt.Task) {
	to := opt.TaskCompleted
	switch doomed := slices.Contains(s.p.Doomed(), task); {
	case doomed && s.r.IntN(4) > 0:
		to = opt.TaskCanceled
	case s.r.IntN(8) == 0:
		to = opt.TaskFailed
	case s.r.IntN(20) == 0:
		to = opt.TaskRejected
	}
	s.move(task, to, nil)
}

// pause has a client or the objective pause or resume the plan.
func (s *planSim) pause(by string, on bool) {
	kind := opt.PlanResumed
	delete(s.paused, by)
	if on {
		kind, s.paused[by] = opt.PlanPaused, true
	}
	s.apply(opt.Event{Kind: kind, Reason: by})
}

func (s *planSim) open(task *opt.Task) {
	gate := &opt.Gate{Kind: opt.Approval, ID: opt.GateID(task.ID, task.Gates+1), TaskID: task.ID}
	if s.r.IntN(3) == 0 {
		gate.Kind = opt.Credential
	}
	delete(s.back, task.ID)
	s.move(task, gate.State(), gate)
}

func (s *planSim) answer(task *opt.Task) {
	if s.r.IntN(4) == 0 {
		s.move(task, opt.TaskFailed, nil)
		return
	}
	s.back[task.ID] = true
	s.move(task, opt.TaskWorking, nil)
}

// endByClient ends the plan from outside.
func (s *planSim) endByClient() {
	for _, to := range s.r.Perm(6) {
		to := []opt.PlanStatus{opt.PlanCompleted, opt.PlanFailed, opt.PlanSkipped, "", "", ""}[to]
		if to.Ended() && !s.p.Status.Ended() && s.p.Status.May(to) {
			s.ended = to
			s.movePlan(to, "")
			return
		}
	}
}

// meddle has a client move a task that is not running.
func (s *planSim) meddle() {
	for _, task := range s.p.Tasks {
		if task.State == opt.TaskPending && s.r.IntN(3) == 0 {
			s.meddled = true
			s.move(task, []opt.TaskState{opt.TaskCompleted, opt.TaskCanceled, opt.TaskFailed}[s.r.IntN(3)], nil)
			return
		}
	}
}

func (s *planSim) move(task *opt.Task, to opt.TaskState, gate *opt.Gate) {
	s.apply(opt.Event{Kind: opt.TaskMoved, TaskID: task.ID, From: string(task.State), To: string(to), Gate: gate})
}

func (s *planSim) movePlan(to opt.PlanStatus, reason string) {
	s.apply(opt.Event{Kind: opt.PlanMoved, From: string(s.p.Status), To: string(to), Reason: reason})
}

func (s *planSim) at() a2a.Time { return a2a.AtMillis(s.now + 1) }

var (
	_, planTableMoves   = table(planTable)
	_, serverTableMoves = table(serverPlanTable)
	_, taskTableMoves   = table(taskTable)
)

// apply applies e, and checks that the tables allow it from the current state of
// the plan and that other moves are refused.
func (s *planSim) apply(e opt.Event) {
	s.t.Helper()
	s.now++
	e.At = s.at()
	switch move := e.From + ">" + e.To; e.Kind {
	case opt.PlanMoved:
		if e.From != string(s.p.Status) {
			s.t.Errorf("event %+v, but the plan is %s", e, s.p.Status)
		}
		if e.From != e.To && !planTableMoves[move] && !serverTableMoves[move] {
			s.t.Errorf("plan moves %s", move)
		}
	case opt.TaskMoved:
		if task := s.p.Task(e.TaskID); e.From != string(task.State) || task.State.Ended() {
			s.t.Errorf("event %+v, but the task is %s", e, task.State)
		}
		if !taskTableMoves[move] {
			s.t.Errorf("task moves %s", move)
		}
		s.refused(e)
	}
	if err := s.p.Apply(e); err != nil {
		s.t.Errorf("Apply %+v: %v", e, err)
	}
}

// refused checks that a move of the task that is not allowed is refused and does
// not change the plan.
func (s *planSim) refused(e opt.Event) {
	states, _ := table(taskTable)
	e.To = states[s.r.IntN(len(states))]
	if e.From == e.To || taskTableMoves[e.From+">"+e.To] {
		return
	}
	before := snapshot(s.t, s.p)
	if err := s.p.Apply(e); !errors.Is(err, opt.ErrMove) {
		s.t.Errorf("Apply %s → %s: %v", e.From, e.To, err)
	}
	test.Equal(s.t, "a refused event changed the plan", before, snapshot(s.t, s.p))
}

// check compares what the plan shows with an independent form of the rules.
func (s *planSim) check() {
	s.t.Helper()
	if next := s.p.Next(s.at()); next != nil {
		s.t.Errorf("Next after the last one: %+v", next)
	}
	status, reason := s.should()
	if s.p.Status != status || reason != "?" && s.p.Reason != reason {
		s.t.Errorf("plan is %s %q, want %s %q", s.p.Status, s.p.Reason, status, reason)
	}
	for _, task := range s.p.Tasks {
		if (task.Gate != nil) != task.State.Waiting() {
			s.t.Errorf("%s is %s and has gate %v", task.ID, task.State, task.Gate)
		}
		if was := s.ends[task.ID]; task.State.Ended() && len(was) == 0 {
			s.ends[task.ID] = append(was, task.State)
		} else if len(was) > 0 && was[0] != task.State {
			s.t.Errorf("%s has left %s", task.ID, was[0])
		}
	}
}

// should returns the status of the plan by D12 to D17. The reason is "?" if they
// do not name one.
func (s *planSim) should() (opt.PlanStatus, string) {
	var bad, open, works, input, auth, begun bool
	for _, task := range s.p.Tasks {
		begun = begun || task.State != opt.TaskPending
		open = open || !task.State.Ended()
		bad = bad || task.State.Ended() && task.State != opt.TaskCompleted && !task.Optional()
		works = works || task.State == opt.TaskWorking
		input = input || task.State == opt.TaskInputRequired
		auth = auth || task.State == opt.TaskAuthRequired
	}
	done := len(s.p.Tasks) > 0 && !open
	switch {
	case s.ended != "":
		return s.ended, "?"
	case s.stopped.Ended():
		return s.stopped, "?"
	case s.stopped != "" && open:
		return s.stopped, "?"
	case s.stopped != "" && s.why == opt.Replanned, s.stopped != "" && s.stopped != opt.PlanWorking:
		return opt.PlanSkipped, s.why
	case s.stopped != "" && s.why == "completed":
		return opt.PlanFailed, opt.ObjectiveEnded
	case s.stopped != "":
		return opt.PlanFailed, s.why
	case !s.p.Started && !begun:
		return opt.PlanPending, ""
	case done && bad:
		return opt.PlanFailed, "?"
	case done:
		return opt.PlanCompleted, ""
	case len(s.paused) > 0 && (works || !input && !auth):
		return opt.PlanBlocked, opt.BlockedByOperator
	case len(s.paused) > 0 && input:
		return opt.PlanBlocked, opt.BlockedByInput
	case len(s.paused) > 0:
		return opt.PlanBlocked, opt.BlockedByAuth
	case !s.p.Started && !input && !auth:
		return opt.PlanWorking, opt.ByHand
	case works || len(s.p.Tasks) == 0:
		return opt.PlanWorking, ""
	case input:
		return opt.PlanBlocked, opt.BlockedByInput
	case auth:
		return opt.PlanBlocked, opt.BlockedByAuth
	}
	return "stuck", "" // nothing works, and no person is asked
}

func (s *planSim) checkEnd() {
	for _, task := range s.p.Tasks {
		if !task.State.Ended() {
			s.t.Errorf("the plan has ended and %s is %s", task.ID, task.State)
		}
		if s.stopped == "" && s.ended == "" && s.p.Status == opt.PlanCompleted && task.State != opt.TaskCompleted && !task.Optional() {
			s.t.Errorf("the plan is completed and %s is %s", task.ID, task.State)
		}
	}
}
