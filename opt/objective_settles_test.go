package opt_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"longhaul/a2a"
	"longhaul/opt"
)

// An objective settles for any ends of its plans, any order of reports and any
// interference, and always shows what the rules say. The objective workflow
// relies on this: it waits forever otherwise.
func TestObjective_alwaysSettles(t *testing.T) {
	ends := map[opt.ObjectiveStatus]int{}
	for seed := range uint64(600) {
		s := newObjectiveSim(t, seed)
		s.run()
		if t.Failed() {
			t.Fatalf("seed %d, objective:\n%s", seed, snapshot(t, s.o))
		}
		ends[s.o.Status]++
	}
	for _, status := range []opt.ObjectiveStatus{opt.ObjectiveCompleted, opt.ObjectiveFailed, opt.ObjectiveCanceled} {
		if ends[status] < 50 {
			t.Errorf("only %d objectives ended %s, which tests little", ends[status], status)
		}
	}
}

// maxPlans is the default limit of plans in one objective.
const maxPlans = 10

// An objectiveSim does with an objective what its machine does, with random plans
// and clients.
type objectiveSim struct {
	t      *testing.T
	r      *rand.Rand
	o      *opt.Objective
	now    int64
	plans  map[string]*simPlan
	paused bool // by a client

	stop      opt.ObjectiveStatus // the status in which it will end, "" if it is not being stopped
	stoppedAt opt.ObjectiveStatus // its status when it was stopped
	text      string              // the text of its failure for clients
	shown     map[string]int      // artifacts of the root task
}

// A simPlan is the true state of a plan.
type simPlan struct {
	report          opt.Report
	sent            []opt.Report // not arrived yet
	known           opt.Report   // the latest that has arrived, or what the objective has asked for since
	begun, directed bool         // it was started, and the objective has directed it to start
	retries         int
	gates, hands    int // how often it has waited, and how often a client has moved its tasks before it was started
}

func newObjectiveSim(t *testing.T, seed uint64) *objectiveSim {
	s := &objectiveSim{t: t, r: rand.New(rand.NewPCG(seed, 2)), plans: map[string]*simPlan{}, shown: map[string]int{}}
	opening := opt.Opening{Objective: opt.Objective{ID: objectiveID, ContextID: "c", Status: opt.ObjectiveSubmitted, Root: opt.TaskSubmitted, Attempt: 1}}
	s.o = &opt.Objective{}
	if err := s.o.Apply(opening.Event()); err != nil {
		t.Fatal(err)
	}
	n := s.r.IntN(6)
	refs := make([]string, n)
	if s.r.IntN(2) == 0 {
		place, density := s.r.Perm(n), s.r.Float64()
		for i := range n {
			for j := range n {
				if place[j] < place[i] && s.r.Float64() < density {
					refs[i] += fmt.Sprintf("plan-%d ", j)
				}
			}
			if follows := i > 0 && place[i-1] < place[i] && s.r.IntN(2) == 0; refs[i] == "" && !follows {
				refs[i] = "-"
			}
		}
	}
	plans, err := newPlans(refs...)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range plans {
		s.add(p)
	}
	return s
}

func (s *objectiveSim) add(p *opt.Plan) {
	if s.r.IntN(5) == 0 {
		p.Metadata = a2a.Metadata{}.With(opt.KeyOptional, true)
	}
	s.plans[p.ID] = &simPlan{report: opt.Report{Status: opt.PlanPending}, known: opt.Report{Status: opt.PlanPending}}
	s.apply(opt.Event{Kind: opt.PlanAdded, PlanID: p.ID, Plan: p})
}

func (s *objectiveSim) run() {
	for step := 0; !s.o.Settled() || s.open(); step++ {
		s.settle()
		s.check()
		happenings := s.happenings()
		if s.t.Failed() || s.o.Settled() && len(happenings) == 0 {
			return
		}
		if step > 400 {
			s.t.Errorf("not settled after %d steps", step)
			return
		}
		if len(happenings) == 0 {
			s.t.Errorf("nothing can happen, but the objective is %s", s.o.Status)
			return
		}
		happenings[s.r.IntN(len(happenings))]()
	}
	s.settle()
	s.check()
}

// settle applies all consequences, as the machine does.
func (s *objectiveSim) settle() {
	for turn, more := 0, true; more; turn++ {
		if turn > 40 {
			s.t.Fatalf("Next never ends: %+v", s.o.Next(s.at()))
		}
		more = s.direct()
		for _, e := range s.o.Next(s.at()) {
			s.apply(e)
			more = true
		}
	}
}

// direct starts and holds plans, and shows them as started or held at once.
func (s *objectiveSim) direct() (changed bool) {
	for _, p := range s.o.Startable() {
		for i, q := range s.o.Plans {
			before := s.before(i, slices.Index(s.o.Plans, p))
			if known := s.plans[q.ID].known.Status; before && known != opt.PlanCompleted && known != opt.PlanSkipped && (known != opt.PlanFailed || !q.Optional()) {
				s.t.Errorf("%s starts while %s is %s", p.ID, q.ID, known)
			}
		}
		if s.plans[p.ID].directed {
			s.t.Errorf("%s starts twice", p.ID)
		}
		s.plans[p.ID].directed = true
		s.assume(p, opt.PlanWorking, "")
		most, active := 1, 0
		if s.o.Unordered() {
			most = s.o.Limits.OrDefault().Parallel
		}
		for _, q := range s.plans {
			if (q.directed || q.known.Started) && !q.known.Status.Ended() {
				active++
			}
		}
		if active > most {
			s.t.Errorf("%d plans at a time", active)
		}
		changed = true
	}
	for _, p := range s.o.Held() {
		s.assume(p, opt.PlanBlocked, opt.BlockedByDependencies)
		changed = true
	}
	return changed
}

// assume directs p to a status, which the objective shows from then on if the plan
// was at none itself.
func (s *objectiveSim) assume(p *opt.Plan, status opt.PlanStatus, reason string) {
	plan := s.plans[p.ID]
	if !plan.begun && !plan.report.Status.Ended() { // else its own report is on the way
		plan.begun = plan.directed
		if fresh(plan.report) {
			plan.report.Status, plan.report.Reason = status, reason
		} else {
			s.send(plan, plan.report.Status, strings.TrimPrefix(plan.report.Reason, opt.ByHand))
		}
		plan.report.ByHand, plan.report.Started = false, plan.begun
	}
	if fresh(plan.known) {
		plan.known.Status, plan.known.Reason = status, reason
	}
	s.show(p)
}

// fresh reports whether a plan has not begun, according to r.
func fresh(r opt.Report) bool {
	return r.Status == opt.PlanPending || r.Status == opt.PlanBlocked && r.Reason == opt.BlockedByDependencies
}

// show updates the objective's copy of p from the latest report.
func (s *objectiveSim) show(p *opt.Plan) {
	plan := s.plans[p.ID]
	show(p, plan.known)
	p.Started = plan.directed || plan.known.Started
}

// open reports whether any plan has not ended or not reported its end.
func (s *objectiveSim) open() bool {
	for _, p := range s.plans {
		if !p.report.Status.Ended() || p.report.Closing || len(p.sent) > 0 {
			return true
		}
	}
	return false
}

func (s *objectiveSim) happenings() (out []func()) {
	for _, p := range s.o.Plans {
		plan := s.plans[p.ID]
		if len(plan.sent) > 0 {
			out = append(out, func() { s.deliver(p) })
		}
		if plan.begun && !plan.report.Status.Ended() && plan.report.Reason != opt.BlockedByOperator {
			out = append(out, func() { s.work(p, plan) })
		}
		if plan.report.Reason == opt.BlockedByOperator && plan.report.Status == opt.PlanBlocked {
			out = append(out, func() {
				plan.begun, plan.report.ByHand = true, false
				s.send(plan, opt.PlanWorking, "")
			})
		}
		if plan.report.ByHand && !plan.report.Status.Ended() && plan.report.Reason != opt.BlockedByOperator {
			out = append(out, func() { s.byHand(plan) })
		}
		if plan.report.Closing {
			out = append(out, func() {
				plan.report.Closing = false
				s.send(plan, plan.report.Status, plan.report.Reason)
			})
		}
		if s.o.Stopping != "" && !plan.report.Status.Ended() {
			out = append(out, func() { s.stopPlan(plan) })
		}
	}
	if s.o.Status.Ended() {
		return out
	}
	if !s.o.Started && !s.paused && s.stop == "" {
		out = append(out, func() { s.begin() })
	}
	if s.paused && s.stop == "" {
		out = append(out, s.resume)
	}
	rare := func(n int, may bool, f func()) {
		if may && (s.idle() || s.r.IntN(n) == 0) {
			out = append(out, f)
		}
	}
	rare(25, s.stop == "", s.stopAll)
	rare(20, s.stop == "" && !s.paused && (s.o.Status == opt.ObjectiveWorking || s.o.Status == opt.ObjectiveBlocked), s.pause)
	rare(10, s.stop == "" && len(s.o.Plans) < maxPlans, s.addLate)
	rare(6, len(s.o.Plans) > 0, s.meddle)
	rare(8, s.stop == "" && len(s.o.Plans) > 1, s.reorder)
	for _, p := range s.o.Plans {
		plan := s.plans[p.ID]
		rare(5, s.stop == "" && p.Optional() && plan.known.Status == opt.PlanFailed && !plan.known.Closing && len(plan.sent) == 0 && plan.retries < 2, func() { s.retry(p) })
	}
	return out
}

// idle reports whether the objective waits for a client: it has no plans, or none
// with which it could complete.
func (s *objectiveSim) idle() bool {
	for _, p := range s.plans {
		if p.known.Status != opt.PlanSkipped {
			return false
		}
	}
	return true
}

func (s *objectiveSim) begin() {
	to := []opt.ObjectiveStatus{opt.ObjectiveWorking, opt.ObjectivePlanning}[s.r.IntN(2)]
	if s.o.Status != opt.ObjectiveSubmitted { // begun by hand
		to = opt.ObjectiveWorking
	}
	s.move(to, "")
	if to == opt.ObjectivePlanning && len(s.o.Plans) == 0 {
		s.addLate()
	}
}

// pause has a client pause the objective, also while it waits for a person.
func (s *objectiveSim) pause() {
	s.paused = true
	s.apply(opt.Event{Kind: opt.ObjectivePaused})
	if s.o.Status != opt.ObjectiveBlocked {
		s.move(opt.ObjectiveBlocked, opt.BlockedByOperator)
	}
}

func (s *objectiveSim) resume() {
	s.paused = false
	s.apply(opt.Event{Kind: opt.ObjectiveResumed})
	s.move(opt.ObjectiveWorking, "")
}

func (s *objectiveSim) addLate() {
	if len(s.o.Plans) >= maxPlans {
		return
	}
	spec := opt.PlanSpec{Name: "late"}
	for _, p := range s.o.Plans {
		if s.r.IntN(4) == 0 {
			spec.Dependencies = append(spec.Dependencies, p.ID)
		}
	}
	p, err := s.o.NewPlan(spec, s.at())
	if err != nil {
		s.t.Fatal(err)
	}
	s.add(p)
}

// work makes a random change in a running plan.
func (s *objectiveSim) work(p *opt.Plan, plan *simPlan) {
	switch n := s.r.IntN(10); {
	case plan.report.Waits != "" && n < 7: // a client lets a task work again
		plan.report.Waits = ""
		s.send(plan, opt.PlanWorking, "")
	case len(plan.report.Open) > 0 && n < 7: // a gate closes
		i := s.r.IntN(len(plan.report.Open))
		plan.report.Open = slices.Delete(slices.Clone(plan.report.Open), i, i+1)
		s.send(plan, opt.PlanWorking, "")
	case plan.gates < 3 && n < 5: // a gate opens, and perhaps nothing else can run
		plan.gates++
		if s.r.IntN(4) == 0 { // or a client lets a task wait
			plan.report.Waits = []opt.TaskState{opt.TaskInputRequired, opt.TaskAuthRequired}[s.r.IntN(2)]
			s.send(plan, opt.PlanBlocked, opt.BlockedByInput)
			return
		}
		gate := &opt.Gate{Kind: opt.Approval, ID: fmt.Sprintf("%s:%d", p.ID, plan.gates), RequestedAt: a2a.AtMillis(s.now/3 + 1)}
		reason := opt.BlockedByInput
		if s.r.IntN(3) == 0 {
			gate.Kind, reason = opt.Credential, opt.BlockedByAuth
		}
		plan.report.Open = append(slices.Clone(plan.report.Open), gate)
		if s.r.IntN(2) == 0 {
			s.send(plan, opt.PlanWorking, "")
		} else {
			s.send(plan, opt.PlanBlocked, reason)
		}
	case n == 9:
		plan.report.Failure = "Boom in " + p.ID
		s.send(plan, opt.PlanFailed, []string{"boom " + p.ID, opt.ReasonRejected}[s.r.IntN(2)])
	default:
		for i := range s.r.IntN(3) {
			id := fmt.Sprintf("%s/%d", p.ID, i)
			plan.report.Results = append(plan.report.Results, a2a.Artifact{ArtifactID: id})
			if s.r.IntN(2) == 0 && s.o.Leaf(p) {
				plan.report.Shown = append(plan.report.Shown, id)
				s.shown[id]++
			}
		}
		s.send(plan, opt.PlanCompleted, "")
	}
}

// byHand lets a client move the tasks of a plan that was not started.
func (s *objectiveSim) byHand(plan *simPlan) {
	plan.hands++
	plan.report.ByHand, plan.report.Waits = true, ""
	switch n := s.r.IntN(6); {
	case plan.hands > 4 || n == 0:
		s.send(plan, opt.PlanCompleted, "")
	case n == 1:
		s.send(plan, opt.PlanBlocked, opt.BlockedByOperator)
	case n < 4:
		plan.report.Waits = []opt.TaskState{opt.TaskInputRequired, opt.TaskAuthRequired}[s.r.IntN(2)]
		s.send(plan, opt.PlanBlocked, []string{opt.BlockedByInput, opt.BlockedByAuth}[s.r.IntN(2)])
	default:
		s.send(plan, opt.PlanWorking, opt.ByHand)
	}
}

// reorder has a client change the dependencies of a plan.
func (s *objectiveSim) reorder() {
	p := s.o.Plans[s.r.IntN(len(s.o.Plans))]
	var on []string
	for _, q := range s.o.Plans {
		if s.r.IntN(3) == 0 {
			on = append(on, q.ID)
		}
	}
	ids, err := s.o.Reordered(p, on)
	if err != nil {
		return
	}
	s.apply(opt.Event{Kind: opt.PlanChanged, PlanID: p.ID, Change: &opt.Change{Dependencies: ids}})
	if s.leadsTo(p, p, map[*opt.Plan]bool{}) {
		s.t.Errorf("%s depends on itself by way of %v", p.ID, ids)
	}
	if p.Status == opt.PlanBlocked && s.o.Met(p) {
		s.assume(p, opt.PlanPending, "")
	}
}

// leadsTo reports whether p depends on another plan, directly or not.
func (s *objectiveSim) leadsTo(to, p *opt.Plan, seen map[*opt.Plan]bool) bool {
	for _, q := range s.o.Before(p) {
		if q == to {
			return true
		}
		if !seen[q] {
			seen[q] = true
			if s.leadsTo(to, q, seen) {
				return true
			}
		}
	}
	return false
}

// retry has a plan retried that failed.
func (s *objectiveSim) retry(p *opt.Plan) {
	pending := opt.Report{Status: opt.PlanPending}
	s.plans[p.ID] = &simPlan{report: pending, known: pending, retries: s.plans[p.ID].retries + 1}
	s.apply(opt.Event{Kind: opt.PlanRetried, PlanID: p.ID, Attempt: p.NextRun(2)})
}

// stopPlan ends a plan that was directed to stop.
func (s *objectiveSim) stopPlan(plan *simPlan) {
	if plan.report.Status == opt.PlanWorking {
		s.send(plan, opt.PlanFailed, s.o.Stopping)
	} else {
		s.send(plan, opt.PlanSkipped, s.o.Stopping)
	}
}

// meddle has a client change a plan.
func (s *objectiveSim) meddle() {
	p := s.o.Plans[s.r.IntN(len(s.o.Plans))]
	plan := s.plans[p.ID]
	switch n := s.r.IntN(5); {
	case plan.report.Status.Ended():
	case n == 4 && plan.report.Status == opt.PlanPending && s.stop == "":
		s.byHand(plan)
	case n == 0 && plan.report.Status == opt.PlanPending && s.o.Started && s.stop == "":
		plan.begun = true
		s.send(plan, opt.PlanWorking, "")
	case n == 1 && plan.report.Status == opt.PlanWorking && s.stop == "":
		s.send(plan, opt.PlanBlocked, opt.BlockedByOperator)
	case n == 2 && plan.report.Status != opt.PlanWorking:
		s.send(plan, opt.PlanSkipped, "")
	case n == 3 && plan.report.Status == opt.PlanWorking:
		plan.report.Closing = s.r.IntN(2) == 0
		s.send(plan, []opt.PlanStatus{opt.PlanCompleted, opt.PlanFailed}[s.r.IntN(2)], "")
	}
}

// send has a plan report a status. Its gates close.
func (s *objectiveSim) send(plan *simPlan, status opt.PlanStatus, reason string) {
	plan.report.N++
	plan.report.Status, plan.report.Reason, plan.report.Started = status, reason, plan.begun
	plan.report.Paused = status == opt.PlanBlocked && reason == opt.BlockedByOperator
	if status.Ended() {
		plan.report.Open, plan.report.Waits = nil, ""
	}
	plan.sent = append(plan.sent, plan.report)
}

// deliver delivers one of the reports of p, not always the oldest. An older
// report after a newer one comes too late.
func (s *objectiveSim) deliver(p *opt.Plan) {
	plan := s.plans[p.ID]
	i := s.r.IntN(len(plan.sent))
	report := plan.sent[i]
	plan.sent = slices.Delete(plan.sent, i, i+1)
	if report.N >= plan.known.N {
		plan.known = report
		s.show(p)
	}
}

func (s *objectiveSim) stopAll() {
	to := []opt.ObjectiveStatus{opt.ObjectiveCanceled, opt.ObjectiveCanceled, opt.ObjectiveFailed, opt.ObjectiveCompleted}[s.r.IntN(4)]
	e := opt.Event{Kind: opt.ObjectiveStopping, Reason: string(to)}
	if to == opt.ObjectiveFailed {
		e.Status = &a2a.Message{Parts: []a2a.Part{a2a.TextPart("Given up.")}}
	}
	s.apply(e)
}

func (s *objectiveSim) move(to opt.ObjectiveStatus, reason string) {
	s.apply(opt.Event{Kind: opt.ObjectiveMoved, From: string(s.o.Status), To: string(to), Reason: reason})
}

func (s *objectiveSim) at() a2a.Time { return a2a.AtMillis(s.now + 1) }

var _, objectiveTableMoves = table(objectiveTable)

// apply applies e and checks that the tables allow it from the current state of
// the objective.
func (s *objectiveSim) apply(e opt.Event) {
	s.t.Helper()
	s.now++
	e.At = s.at()
	switch e.Kind {
	case opt.ObjectiveMoved:
		if e.From != string(s.o.Status) || e.From != e.To && !objectiveTableMoves[e.From+">"+e.To] || s.o.Status.Ended() {
			s.t.Errorf("event %+v, but the objective is %s", e, s.o.Status)
		}
	case opt.ObjectiveStopping:
		s.stop, s.stoppedAt = opt.ObjectiveStatus(e.Reason), s.o.Status
		if e.Status != nil {
			s.text = e.Status.Text()
		}
	case opt.TaskMoved:
		if e.From != string(s.o.Root) || s.o.Root.Ended() || e.TaskID != s.o.RootID() {
			s.t.Errorf("event %+v, but the root task is %s", e, s.o.Root)
		}
		if to := opt.TaskState(e.To); to == opt.TaskFailed || to == opt.TaskRejected {
			s.checkFailure(e)
		}
	case opt.ArtifactAdded:
		s.shown[e.Chunk.Artifact.ArtifactID]++
	}
	if err := s.o.Apply(e); err != nil {
		s.t.Errorf("Apply %+v: %v", e, err)
	}
}

// checkFailure checks that the failure names a plan that was the cause, not one
// that was stopped because of it.
func (s *objectiveSim) checkFailure(e opt.Event) {
	want := s.text
	if want == "" {
		want = "No plan was completed: only optional plans were left, and they failed."
	}
	for _, p := range s.o.Plans {
		told := strings.HasPrefix(s.o.Reason, "boom") || s.o.Reason == opt.ReasonRejected
		if r := s.plans[p.ID].known; r.Failure != "" && !p.Optional() && s.stop == opt.ObjectiveFailed && !told {
			s.t.Errorf("%s failed, but the objective did so with reason %q", p.ID, s.o.Reason)
		}
	}
	if got := e.Status.Text(); got != want || s.o.Failure != want {
		s.t.Errorf("clients see %q, %q, want %q", got, s.o.Failure, want)
	}
}

// check compares what the objective shows with an independent form of the rules.
func (s *objectiveSim) check() {
	s.t.Helper()
	if next := s.o.Next(s.at()); next != nil {
		s.t.Errorf("Next after the last one: %+v", next)
	}
	if s.o.Paused != s.paused {
		s.t.Errorf("paused %v, want %v", s.o.Paused, s.paused)
	}
	if got := s.o.Reason == opt.NothingToDo; got != s.nothingToDo() {
		s.t.Errorf("objective is %s %q, nothing to do: %v", s.o.Status, s.o.Reason, s.nothingToDo())
	}
	status := s.should()
	if s.o.Status != status {
		s.t.Errorf("objective is %s, want %s", s.o.Status, status)
	}
	root, gate := s.rootShould(status)
	if s.o.Root != root || s.o.RootGate != gate {
		s.t.Errorf("root task is %s at %q, want %s at %q", s.o.Root, s.o.RootGate, root, gate)
	}
	for _, p := range s.o.Plans {
		want := 0
		for _, a := range s.plans[p.ID].known.Results {
			if status == opt.ObjectiveCompleted && s.o.Leaf(p) {
				want = 1
			}
			if got := s.shown[a.ArtifactID]; got > 1 || got < want {
				s.t.Errorf("artifact %s was shown %d times, want %d", a.ArtifactID, got, want)
			}
		}
	}
}

// should returns the status of the objective by D11 to D18.
func (s *objectiveSim) should() opt.ObjectiveStatus {
	var open, completed, failed, works, asks, begun bool
	for _, p := range s.plans {
		begun = begun || p.known.Status != opt.PlanPending && p.known.Reason != opt.BlockedByDependencies
		open = open || !p.known.Status.Ended() || p.known.Closing
		completed = completed || p.known.Status == opt.PlanCompleted
		failed = failed || p.known.Status == opt.PlanFailed
		works = works || p.known.Status == opt.PlanWorking || p.known.Closing
		asks = asks || p.known.Status == opt.PlanBlocked && p.known.Reason != opt.BlockedByDependencies
	}
	switch {
	case s.o.Status.Ended() && s.stop == "" && !completed && !failed:
		return "ended for nothing"
	case s.stop != "" && open && !s.o.Status.Ended():
		return s.stoppedAt
	case s.stop != "":
		return s.stop
	case !s.o.Started && !begun:
		return opt.ObjectiveSubmitted
	case !open && completed:
		return opt.ObjectiveCompleted
	case !open && failed:
		return opt.ObjectiveFailed
	case s.paused:
		return opt.ObjectiveBlocked
	case len(s.plans) == 0 && s.o.Status == opt.ObjectivePlanning:
		return opt.ObjectivePlanning
	case !s.o.Started && asks && !works && !s.next():
		return opt.ObjectiveBlocked
	case !s.o.Started:
		return opt.ObjectiveWorking
	case !open, works:
		return opt.ObjectiveWorking
	case asks:
		return opt.ObjectiveBlocked
	}
	return "stuck" // nothing works, and no person is asked
}

// before reports whether the plan at i waits for the one at j: it declares that, or no
// plan from j on to i declares anything.
func (s *objectiveSim) before(j, i int) bool {
	p := s.o.Plans[i]
	follows := j < i && !slices.ContainsFunc(s.o.Plans[j+1:i+1], func(q *opt.Plan) bool { return q.Dependencies != nil })
	return follows || slices.Contains(p.Dependencies, s.o.Plans[j].ID)
}

// nothingToDo reports whether the objective waits for a plan.
func (s *objectiveSim) nothingToDo() bool {
	planning := s.o.Status == opt.ObjectivePlanning || s.o.Status == opt.ObjectiveSubmitted
	return s.idle() && s.o.Started && !s.paused && s.stop == "" && !planning
}

// next reports whether a plan that was not begun could start.
func (s *objectiveSim) next() bool {
	for i, p := range s.o.Plans {
		turn := s.plans[p.ID].known.Status == opt.PlanPending
		for j, q := range s.o.Plans {
			before := s.before(j, i)
			known := s.plans[q.ID].known.Status
			if before && known != opt.PlanCompleted && known != opt.PlanSkipped && (known != opt.PlanFailed || !q.Optional()) {
				turn = false
			}
		}
		if turn {
			return true
		}
	}
	return false
}

// rootShould returns the state of the root task by D15.
func (s *objectiveSim) rootShould(status opt.ObjectiveStatus) (opt.TaskState, string) {
	switch status {
	case opt.ObjectiveFailed:
		for _, p := range s.o.Plans {
			if known := s.plans[p.ID].known; known.Failure != "" && !p.Optional() && known.Reason == s.o.Reason && known.Reason == opt.ReasonRejected {
				return opt.TaskRejected, ""
			}
		}
		return opt.TaskFailed, ""
	case opt.ObjectiveSubmitted, opt.ObjectiveCompleted, opt.ObjectiveCanceled:
		return opt.TaskState(status), ""
	}
	var gates []*opt.Gate
	var waits []opt.TaskState
	for _, p := range s.o.Plans {
		gates = append(gates, s.plans[p.ID].known.Open...)
		if known := s.plans[p.ID].known; known.Waits != "" {
			waits = append(waits, known.Waits)
		}
	}
	slices.SortStableFunc(gates, func(a, b *opt.Gate) int { return int(a.RequestedAt.Millis() - b.RequestedAt.Millis()) })
	switch {
	case s.stop != "":
		return opt.TaskWorking, ""
	case len(gates) == 0 && len(waits) > 0:
		return waits[0], ""
	case len(gates) == 0:
		return opt.TaskWorking, ""
	case gates[0].Kind == opt.Credential:
		return opt.TaskAuthRequired, gates[0].ID
	}
	return opt.TaskInputRequired, gates[0].ID
}
