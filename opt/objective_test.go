package opt_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"longhaul/a2a"
	"longhaul/internal/test"
	"longhaul/opt"
)

// In a table, an objective is a row of its plans' statuses, each with "?" if
// the plan is optional, "!" if it was started, "/" before the reason, and ":"
// before the indexes of the plans it depends on.
func TestObjective_Startable(t *testing.T) {
	tests := []struct{ name, plans, startable string }{
		{"none", "", ""},
		{"first of a list", "pending pending", "0"},
		{"next of a list", "completed! pending pending", "1"},
		{"one at a time", "working! pending", ""},
		{"a list waits at a gate", "blocked!/input pending", ""},
		{"past a skipped plan", "skipped pending", "1"},
		{"past an optional plan that failed", "failed?! pending", "1"},
		{"nothing after a failure", "failed! pending: pending:0", ""},
		{"nothing beside a failure", "failed! pending: pending:1", ""},
		{"a list waits for the first, though a client began the second", "pending working!", ""},
		{"and then the first has its turn", "pending completed! pending", "0"},
		{"a list stops at the first that failed", "failed! completed! pending", ""},
		{"the others of a list with dependencies keep their place", "working! pending pending pending:1", ""},
		{"beside what follows it", "completed! completed! pending pending:1", "2 3"},
		{"at once, and what follows that", "working! pending: pending", "1"},
		{"behind what was skipped by hand", "working! pending skipped pending pending:0", ""},
		{"roots together", "pending pending: pending:0", "0 1"},
		{"at most four", "pending pending: pending: pending: pending: pending:0", "0 1 2 3"},
		{"four with those begun", "working! blocked!/input: working!: pending: pending: pending:0", "3"},
		{"join waits for both", "completed! working!: pending:0,1", ""},
		{"join of both", "completed! skipped: blocked/dependencies:0,1", "2"},
		{"shown already", "working! blocked/dependencies:0", ""},
		{"past an optional failure", "failed?! pending:0", "1"},
		{"begun by hand, and waits", "blocked/input pending", "0"},
		{"begun by hand out of turn", "working! blocked/input pending", ""},
		{"begun by hand, beside others", "blocked/input pending: pending:1", "0 1"},
		{"begun by hand, and paused", "blocked/operator pending", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			o := objectiveOf(t, tt.plans)
			test.Is(t, "startable", tt.startable, places(o, o.Startable()))
			for name, spoil := range map[string]func(*opt.Objective){
				"not started":  func(o *opt.Objective) { o.Started = false },
				"stopping":     func(o *opt.Objective) { o.Stopping = "canceled" },
				"paused":       paused,
				"planned anew": replanning,
				"ended":        func(o *opt.Objective) { o.Status = opt.ObjectiveCompleted },
			} {
				o := objectiveOf(t, tt.plans)
				spoil(o)
				if got := places(o, o.Startable()); got != "" {
					t.Errorf("startable %q of an objective that is %s", got, name)
				}
			}
		})
	}
}

// The status and root task of an objective after all its events.
func TestObjective_Next(t *testing.T) {
	tests := []struct {
		name, plans string
		set         func(*opt.Objective)
		status      string // with its reason, if any
		root        string
	}{
		{"not started", "pending", unstarted, "submitted", "submitted"},
		{"without plans", "", nil, "working nothing-to-do", "working"},
		{"without plans, while some are made", "", func(o *opt.Objective) { o.Planning = true }, "working", "working"},
		{"with a new plan", "pending", func(o *opt.Objective) { o.Reason = opt.NothingToDo }, "working", "working"},
		{"planning", "", func(o *opt.Objective) { o.Status = opt.ObjectivePlanning }, "planning", "working"},
		{"a client has ended the last plan, and its tasks have yet to end", "completed!", busy, "working", "working"},
		{"a client has failed the last plan, and its tasks have yet to end", "failed!", busy, "working", "working"},
		{"one waits, and the tasks of another have yet to end", "completed! blocked!/input", busy, "working", "working"},
		{"canceled while tasks have yet to end", "completed!", func(o *opt.Objective) { busy(o); o.Stopping = "canceled" }, "working", "working"},
		{"replanned", "blocked!/operator pending", replanning, "planning replan", "working"},
		{"replanned, and all have ended", "completed! skipped", replanning, "planning replan", "working"},
		{"replanned no more", "blocked!/operator pending", func(o *opt.Objective) {
			replanning(o)
			if err := o.Apply(opt.Event{Kind: opt.ObjectiveMoved, From: "planning", To: "working"}); err != nil {
				panic(err)
			}
		}, "blocked plan-paused", "working"},
		{"planned", "pending", func(o *opt.Objective) { o.Status = opt.ObjectivePlanning }, "working", "working"},
		{"completed", "completed! completed!", nil, "completed", "completed"},
		{"completed past a gate", "completed!", func(o *opt.Objective) { o.Status, o.Reason = opt.ObjectiveBlocked, "input" }, "completed", "completed"},
		{"completed without a skipped plan", "completed! skipped", nil, "completed", "completed"},
		{"completed without an optional plan", "failed?!/x completed!", nil, "completed", "completed"},
		{"all skipped", "skipped skipped", nil, "working nothing-to-do", "working"},
		{"only optional plans, and none completed", "failed?!/x skipped", nil, "failed nothing-completed", "failed"},
		{"failed", "failed!/timeout", nil, "failed timeout", "failed"},
		{"rejected", "failed!/rejected", nil, "failed rejected", "rejected"},
		{"rejected by the second of two", "completed! failed!/rejected skipped/failed", nil, "failed rejected", "rejected"},
		{"rejected by an optional plan", "failed?!/rejected completed!", nil, "completed", "completed"},
		{"rejected by the only plan, an optional one", "failed?!/rejected", nil, "failed nothing-completed", "failed"},
		{"canceled after a rejection", "failed!/rejected", ending("canceled"), "canceled", "canceled"},
		{"failed before it was started", "failed!/timeout", unstarted, "failed timeout", "failed"},
		{"failing while others work", "failed!/timeout working!", nil, "working", "working"},
		{"the reason is that of the cause", "failed!/failed failed!/timeout", nil, "failed timeout", "failed"},
		{"a plan at a gate", "blocked!/input", nil, "blocked input", "working"},
		{"a plan at a credential", "blocked!/auth pending", nil, "blocked auth", "working"},
		{"a plan at a gate while another works", "blocked!/input working!: pending:0", nil, "working", "working"},
		{"a plan at a gate while another can start", "blocked!/input pending: pending:0", nil, "working", "working"},
		{"a plan was directed to start", "pending!", nil, "working", "working"},
		{"a plan that was held was directed to start", "completed! blocked!/dependencies:0", nil, "working", "working"},
		{"back from a gate", "working!", func(o *opt.Objective) { o.Status, o.Reason = opt.ObjectiveBlocked, "input" }, "working", "working"},
		{"the only plan is paused", "blocked!/operator", nil, "blocked plan-paused", "working"},
		{"one paused, one at a gate", "blocked!/operator blocked!/input: pending:0", nil, "blocked input", "working"},
		{"a plan was skipped by hand", "skipped pending", func(o *opt.Objective) { unstarted(o); o.Plans[0].Report = &opt.Report{ByHand: true} }, "submitted", "submitted"},
		{"begun by hand", "working/by-hand pending", unstarted, "working by-hand", "working"},
		{"begun by hand, and waits", "blocked/input pending", unstarted, "blocked input", "working"},
		{"begun by hand, and paused", "blocked/operator", unstarted, "blocked plan-paused", "working"},
		{"one waits, one works by hand", "blocked/auth working/by-hand", unstarted, "working by-hand", "working"},
		{"one waits, one could be started", "blocked/auth pending: pending:0", unstarted, "working by-hand", "working"},
		{"one waits, the others come after it", "pending:1 blocked/auth:", unstarted, "blocked auth", "working"},
		{"begun by hand and completed, the next waits", "completed blocked/input", unstarted, "blocked input", "working"},
		{"begun by hand, and works again", "working/by-hand", func(o *opt.Objective) { unstarted(o); o.Status, o.Reason = opt.ObjectiveBlocked, "input" }, "working by-hand", "working"},
		{"begun by hand and completed", "completed", func(o *opt.Objective) { unstarted(o); o.Status, o.Reason = opt.ObjectiveBlocked, "input" }, "completed", "completed"},
		{"paused", "completed! pending", paused, "blocked operator", "working"},
		{"paused without plans", "", paused, "blocked operator", "working"},
		{"paused at its end", "completed!", paused, "completed", "completed"},
		{"paused at a gate", "blocked!/input pending", paused, "blocked input", "working"},
		{"paused at a credential, while another works", "working! blocked!/auth: pending:0", paused, "blocked auth", "working"},
		{"paused while a plan works", "working! pending", paused, "blocked operator", "working"},
		{"paused and failed", "failed!/timeout", paused, "failed timeout", "failed"},
		{"canceled without plans", "", ending("canceled"), "canceled", "canceled"},
		{"canceled", "failed!/canceled skipped/canceled", ending("canceled"), "canceled", "canceled"},
		{"canceled too late", "completed!", ending("canceled"), "canceled", "canceled"},
		{"being canceled", "working! skipped/canceled", ending("canceled"), "working", "working"},
		{"expired", "skipped/canceled", expired, "canceled expired", "canceled"},
		{"expiring, while a plan has yet to stop", "pending", expired, "submitted", "submitted"},
		{"failed by a client", "skipped/failed", ending("failed"), "failed failed", "failed"},
		{"completed by a client", "failed!/completed skipped/completed", ending("completed"), "completed", "completed"},
		{"the root task was rejected", "", func(o *opt.Objective) { o.Root = opt.TaskRejected }, "working nothing-to-do", "rejected"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			o := objectiveOf(t, tt.plans)
			if tt.set != nil {
				tt.set(o)
			}
			come(t, o)
			test.Is(t, "objective", tt.status, strings.TrimSpace(string(o.Status)+" "+o.Reason))
			test.Is(t, "root task is", tt.root, string(o.Root))
			test.Is(t, "Settled()", o.Status.Ended(), o.Settled())
		})
	}
}

func unstarted(o *opt.Objective) { o.Started, o.Status = false, opt.ObjectiveSubmitted }

// busy makes the first plan one that a client has ended while one of its tasks
// runs.
func busy(o *opt.Objective) {
	o.Plans[0].Report = &opt.Report{Status: o.Plans[0].Status, Closing: true}
}

func replanning(o *opt.Objective) { o.Status, o.Reason = opt.ObjectivePlanning, opt.Replanning }

func paused(o *opt.Objective) {
	o.Status, o.Reason, o.Paused = opt.ObjectiveBlocked, opt.BlockedByOperator, true
}

func expired(o *opt.Objective) {
	o.Started, o.Status, o.Root, o.Stopping, o.Cause = false, opt.ObjectiveSubmitted, opt.TaskSubmitted, "canceled", opt.Expired
}

func ending(as string) func(*opt.Objective) { return func(o *opt.Objective) { o.Stopping = as } }

// An expired objective has a text for clients; an objective that a client
// canceled needs none. Neither was started: its next attempt begins with the original request, and
// without the reason.
func TestObjective_expires(t *testing.T) {
	for cause, text := range map[string]string{opt.Expired: "Nobody came.", "": ""} {
		o := objectiveOf(t, "")
		o.Started, o.Status, o.Root = false, opt.ObjectiveSubmitted, opt.TaskSubmitted
		e := opt.Event{Kind: opt.ObjectiveStopping, Reason: "canceled", Cause: cause}
		if text != "" {
			e.Status = &a2a.Message{Parts: []a2a.Part{a2a.TextPart(text)}}
		}
		test.OK(t, o.Apply(e))
		events := come(t, o)
		said := ""
		if last := events[len(events)-1]; last.Status != nil {
			said = last.Status.Text()
		}
		if o.Reason != cause || said != text || o.Root != opt.TaskCanceled || o.Started {
			t.Errorf("the reason is %q and the root task is %s and says %q, want %q and %q", o.Reason, o.Root, said, cause, text)
		}
		test.OK(t, o.Apply(opt.Event{Kind: opt.ObjectiveRetried, To: "submitted", Attempt: 2}))
		if o.Cause != "" || o.Reason != "" || o.Failure != "" {
			t.Errorf("the next attempt begins with %q, %q, %q", o.Cause, o.Reason, o.Failure)
		}
	}
}

// The root task shows the gate that was opened first, in any plan (D15), also while the
// objective is paused, and none while it is being stopped.
func TestObjective_Next_gates(t *testing.T) {
	o := objectiveOf(t, "working! working!: pending:0")
	gate := func(id string, kind opt.GateKind, ms int64) *opt.Gate {
		return &opt.Gate{ID: id, Kind: kind, Title: "About " + id, RequestedAt: a2a.AtMillis(ms)}
	}
	a, b, c := gate("a", opt.Approval, 20), gate("b", opt.Credential, 10), gate("c", opt.Clarification, 10)
	steps := []struct {
		plan int
		open []*opt.Gate
		want string
	}{
		{0, nil, "working"},
		{0, []*opt.Gate{a}, "input-required a"},
		{1, []*opt.Gate{b, c}, "auth-required b"},
		{0, nil, "auth-required b"},
		{1, []*opt.Gate{c}, "input-required c"},
		{0, []*opt.Gate{a}, "input-required c"},
		{1, nil, "input-required a"},
		{0, nil, "working"},
		{0, []*opt.Gate{a}, "input-required a"},
	}
	for n, s := range steps {
		report := &opt.Report{N: int64(n), Status: opt.PlanWorking, Open: s.open}
		show(o.Plans[s.plan], *report)
		for _, e := range come(t, o) {
			if e.Gate != nil && (e.Status == nil || e.Status.TaskID != o.RootID() || e.Status.Text() != "About "+e.Gate.ID) {
				t.Errorf("step %d: the root task says %+v at gate %s", n, e.Status, e.Gate.ID)
			}
		}
		test.Is(t, fmt.Sprintf("step %d: root task", n), s.want, strings.TrimSpace(string(o.Root)+" "+o.RootGate))
	}
	for _, s := range []struct {
		event opt.Event
		want  string
	}{
		{opt.Event{Kind: opt.ObjectivePaused}, "blocked operator, input-required a"},
		{opt.Event{Kind: opt.ObjectiveResumed}, "working , input-required a"},
		{opt.Event{Kind: opt.ObjectiveStopping, Reason: "canceled"}, "working , working "},
	} {
		test.OK(t, o.Apply(s.event))
		come(t, o)
		test.Is(t, fmt.Sprintf("after %s at a gate the objective and its root task", s.event.Kind), s.want, fmt.Sprintf("%s %s, %s %s", o.Status, o.Reason, o.Root, o.RootGate))
	}
}

// The root task also waits if a client has moved a task to a waiting state
// without a gate. An open gate takes precedence, since it can be answered.
func TestObjective_Next_waits(t *testing.T) {
	o := objectiveOf(t, "working! working!: pending:0")
	gate := &opt.Gate{ID: "a", Kind: opt.Approval, RequestedAt: a2a.AtMillis(20)}
	steps := []struct {
		plan  int
		waits opt.TaskState
		open  []*opt.Gate
		want  string
	}{
		{1, opt.TaskAuthRequired, nil, "auth-required"},
		{0, opt.TaskInputRequired, nil, "input-required"},
		{1, "", []*opt.Gate{gate}, "input-required a"},
		{1, "", nil, "input-required"},
		{0, "", nil, "working"},
	}
	for n, s := range steps {
		report := &opt.Report{N: int64(n), Status: opt.PlanWorking, Open: s.open, Waits: s.waits}
		show(o.Plans[s.plan], *report)
		come(t, o)
		test.Is(t, fmt.Sprintf("step %d: root task", n), s.want, strings.TrimSpace(string(o.Root)+" "+o.RootGate))
	}
}

// Tasks that a client moves by hand do not start an objective (D11); a start
// does.
func TestObjective_Apply_byHand(t *testing.T) {
	o := objectiveOf(t, "pending pending")
	unstarted(o)
	steps := []struct {
		report  opt.Report
		want    string
		started bool // the plan and the objective
	}{
		{opt.Report{Status: opt.PlanWorking, Reason: opt.ByHand, ByHand: true}, "working by-hand, working", false},
		{opt.Report{Status: opt.PlanBlocked, Reason: "input", ByHand: true, Waits: opt.TaskInputRequired}, "blocked input, input-required", false},
		{opt.Report{Status: opt.PlanWorking, Reason: opt.ByHand, ByHand: true}, "working by-hand, working", false},
		{opt.Report{Status: opt.PlanBlocked, Reason: "operator", Paused: true, ByHand: true}, "blocked plan-paused, working", false},
		{opt.Report{Status: opt.PlanBlocked, Reason: "input", Waits: opt.TaskInputRequired, Started: true}, "blocked input, input-required", true}, // a client has started the plan
	}
	for n, s := range steps {
		s.report.N = int64(n)
		show(o.Plans[0], s.report)
		come(t, o)
		if got := fmt.Sprintf("%s %s, %s", o.Status, o.Reason, o.Root); got != s.want || o.Started || o.Plans[0].Started != s.started {
			t.Errorf("step %d: objective is %s, started %v, its plan %v", n, got, o.Started, o.Plans[0].Started)
		}
	}
	if err := o.Apply(opt.Event{Kind: opt.ObjectiveMoved, From: "blocked", To: "working"}); err != nil || !o.Started {
		t.Errorf("started %v: %v", o.Started, err)
	}
}

// Before it completes, the root task shows the results of the leaf plans that it
// has not shown yet.
func TestObjective_Next_results(t *testing.T) {
	o := objectiveOf(t, "working! working!:0 working!:")
	results := map[int]*opt.Report{
		0: {N: 1, Status: opt.PlanCompleted, Results: []a2a.Artifact{{ArtifactID: "research"}}},
		1: {N: 1, Status: opt.PlanCompleted, Results: []a2a.Artifact{{ArtifactID: "shown"}, {ArtifactID: "letter"}}, Shown: []string{"shown"}},
		2: {N: 1, Status: opt.PlanCompleted, Results: []a2a.Artifact{{ArtifactID: "photo"}}},
	}
	var got []string
	for i := range 3 {
		show(o.Plans[i], *results[i])
		for _, e := range come(t, o) {
			line := fmt.Sprint(i, " ", e.To)
			if e.Chunk != nil {
				line = fmt.Sprint(i, " ", e.Chunk.Artifact.ArtifactID, " on ", e.TaskID == o.RootID())
			}
			got = append(got, line)
		}
	}
	want := []string{"0 working", "2 completed", "2 letter on true", "2 photo on true", "2 completed"}
	test.Equal(t, "events, each after the index of the report", want, got)
}

func TestObjective_Next_failure(t *testing.T) {
	o := objectiveOf(t, "working! working!: pending:0")
	for _, s := range []struct {
		plan   int
		report opt.Report
	}{
		{1, opt.Report{Status: opt.PlanFailed, Reason: "timeout", Failure: "It took too long."}},
		{0, opt.Report{Status: opt.PlanFailed, Reason: "failed", Failure: "Stopped."}},
		{2, opt.Report{Status: opt.PlanSkipped, Reason: "failed"}},
	} {
		show(o.Plans[s.plan], s.report)
		for _, e := range come(t, o) {
			if opt.TaskState(e.To) == opt.TaskFailed && e.Status.Text() != "It took too long." {
				t.Errorf("clients see %q", e.Status.Text())
			}
		}
	}
	if o.Status != opt.ObjectiveFailed || o.Reason != "timeout" || o.Failure != "It took too long." || o.Root != opt.TaskFailed {
		t.Errorf("objective is %s %s %q, its root task %s", o.Status, o.Reason, o.Failure, o.Root)
	}
}

func TestObjective_Apply_refuses(t *testing.T) {
	o := objectiveOf(t, "pending")
	before := snapshot(t, o)
	for _, e := range []opt.Event{
		{Kind: opt.PlanMoved, PlanID: plan(9), To: "failed"},
		{Kind: opt.PlanChanged, PlanID: plan(9), Change: &opt.Change{}},
		{Kind: opt.PlanRetried, PlanID: plan(9), Attempt: 2},
		{Kind: opt.TaskMoved, TaskID: opt.RootID(objectiveID, 2), To: "working"},
		{Kind: opt.TaskMoved, TaskID: task(1, 0), To: "working"},
	} {
		if err := o.Apply(e); !errors.Is(err, opt.ErrUnknown) {
			t.Errorf("Apply %s %s%s: %v", e.Kind, e.PlanID, e.TaskID, err)
		}
	}
	for _, e := range []opt.Event{
		{Kind: opt.PlanAdded, PlanID: plan(1), Plan: &opt.Plan{}}, {Kind: opt.PlanMoved}, {Kind: opt.PlanStopping}, {Kind: opt.PlanStarted},
		{Kind: opt.PlanPaused}, {Kind: opt.TasksAdded}, {Kind: opt.PlanMoved, PlanID: plan(1), To: "completed"},
		{Kind: opt.PlanRetried, PlanID: plan(1), Attempt: 2}, {Kind: opt.ObjectiveRetried, To: "submitted", Attempt: 2}, {},
	} {
		e.At = a2a.AtMillis(9)
		if err := o.Apply(e); err == nil {
			t.Errorf("an objective applied %+v", e)
		}
	}
	test.Equal(t, "refused events changed the objective", before, snapshot(t, o))
}

// An objective does not hold the tasks of its plans.
func TestObjective_Apply_planAdded(t *testing.T) {
	p := test.Value(newPlan("", ""))(t)
	o := objectiveOf(t, "")
	test.OK(t, o.Apply(opt.Event{Kind: opt.PlanAdded, PlanID: p.ID, Plan: p, At: a2a.AtMillis(5)}))
	if len(o.Plans) != 1 || o.Plan(p.ID) == nil || len(o.Plan(p.ID).Tasks) != 0 || len(p.Tasks) != 2 {
		t.Errorf("plans of the objective: %s", snapshot(t, o.Plans))
	}
	if !o.UpdatedAt.Equal(a2a.AtMillis(5)) {
		t.Errorf("updated at %s", o.UpdatedAt)
	}
}

func TestOpening_Event(t *testing.T) {
	message := &a2a.Message{MessageID: "m"}
	opening := opt.Opening{
		Objective: opt.Objective{ID: objectiveID, Attempt: 2, Principal: "p", CreatedAt: a2a.AtMillis(1), Status: opt.ObjectiveSubmitted, Root: opt.TaskSubmitted},
		Message:   message,
		Plans:     []opt.PlanSpec{{Name: "given"}},
	}
	e := opening.Event()
	var o opt.Objective
	test.OK(t, o.Apply(e))
	want := opening.Objective
	want.UpdatedAt = want.CreatedAt
	test.Equal(t, "objective", want, o)
	if e.N != 1 || e.TaskID != objectiveID+"~2" || e.To != "submitted" || e.Message != message || e.Principal != "p" || len(e.Given) != 1 || e.Given[0].Name != "given" {
		t.Errorf("event %+v", e)
	}
}

// A plan that is stopped before it has begun does not begin.
func TestObjective_Startable_stoppedPlan(t *testing.T) {
	o := objectiveOf(t, "pending pending: pending:0")
	o.Plans[0].Stopping = opt.Replanned
	test.Is(t, "startable", "1", places(o, o.Startable()))
}

// The place in the queue is as in the event, and is cleared by the start.
func TestObjective_Apply_queued(t *testing.T) {
	o := objectiveOf(t, "")
	unstarted(o)
	for _, e := range []opt.Event{
		{Kind: opt.ObjectiveQueued, QueuedAt: a2a.AtMillis(3), At: a2a.AtMillis(7)},
		{Kind: opt.ObjectiveMoved, From: "submitted", To: "working"},
	} {
		test.OK(t, o.Apply(e))
		test.Is(t, fmt.Sprintf("after %s: queued at", e.Kind), e.QueuedAt, o.QueuedAt)
	}
}

// An event has a client's change or the resulting text. The revision never
// decreases.
func TestObjective_Apply_changed(t *testing.T) {
	name := "by a client"
	o := objectiveOf(t, "")
	for _, s := range []struct {
		event    opt.Event
		name     string
		keys     int
		revision int64
	}{
		{opt.Event{Text: &opt.Text{Name: "planned", Metadata: a2a.Metadata{}.With(opt.KeyPlanner, "p")}, Revision: 4}, "planned", 1, 4},
		{opt.Event{Change: &opt.Change{Name: &name}, Revision: 5}, name, 1, 5},
		{opt.Event{Change: &opt.Change{Metadata: a2a.Metadata{}.With("k", 1)}, Text: &opt.Text{Name: "not this"}, Revision: 3}, name, 2, 5},
		{opt.Event{Revision: 6}, name, 2, 6},
	} {
		s.event.Kind = opt.ObjectiveChanged
		test.OK(t, o.Apply(s.event))
		if o.Name != s.name || len(o.Metadata) != s.keys || o.Revision != s.revision {
			t.Errorf("objective %q with metadata %v at revision %d, want %q, %d keys, %d", o.Name, o.Metadata, o.Revision, s.name, s.keys, s.revision)
		}
	}
}

// Repeats of a letter have the same key, with any other members.
func TestLetter_Once(t *testing.T) {
	message := a2a.Message{MessageID: "m"}
	for want, l := range map[string]opt.Letter{"m": {Message: message}, "k": {Message: message, Key: "k"}} {
		test.Is(t, "Once()", want, l.Once())
	}
}

// come applies all events of Next, and returns them.
func come(t *testing.T, o *opt.Objective) (all []opt.Event) {
	t.Helper()
	for range 6 {
		for _, e := range o.Next(a2a.AtMillis(1)) {
			test.OK(t, o.Apply(e))
			all = append(all, e)
		}
	}
	if next := o.Next(a2a.AtMillis(1)); next != nil {
		t.Errorf("Next does not come to an end: %+v", next)
	}
	return all
}

// show updates the copy of p in an objective from r, as machine.Objective does.
func show(p *opt.Plan, r opt.Report) {
	p.Report, p.Status, p.Reason, p.Paused = &r, r.Status, r.Reason, r.Paused
	p.Started = p.Started || r.Started
}

// objectiveOf makes a started objective from a row of a table.
func objectiveOf(t *testing.T, row string) *opt.Objective {
	t.Helper()
	o := &opt.Objective{ID: objectiveID, Attempt: 1, Status: opt.ObjectiveWorking, Started: true, Root: opt.TaskSubmitted}
	for i, word := range strings.Fields(row) {
		word, on, declares := strings.Cut(word, ":")
		word, reason, _ := strings.Cut(word, "/")
		p := &opt.Plan{ID: plan(i + 1), Reason: reason}
		if declares {
			p.Dependencies = []string{}
		}
		if on != "" {
			for j := range strings.SplitSeq(on, ",") {
				p.Dependencies = append(p.Dependencies, plan(number(t, j)+1))
			}
		}
		word, p.Started = strings.CutSuffix(word, "!")
		word, optional := strings.CutSuffix(word, "?")
		if optional {
			p.Metadata = p.Metadata.With(opt.KeyOptional, true)
		}
		p.Status, p.Paused = opt.PlanStatus(word), reason == opt.BlockedByOperator
		o.Plans = append(o.Plans, p)
	}
	return o
}

func places(o *opt.Objective, plans []*opt.Plan) string {
	var out []string
	for i, p := range o.Plans {
		for _, q := range plans {
			if p == q {
				out = append(out, fmt.Sprint(i))
			}
		}
	}
	return strings.Join(out, " ")
}
