package rehearse_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"longhaul/a2a"
	"longhaul/activities"
	"longhaul/activities/planner"
	"longhaul/internal/test"
	"longhaul/opt"
	"longhaul/opt/access"
	"longhaul/opt/rehearse"
)

// planOf returns the planner of a playbook.
func planOf(t testing.TB, yaml string) rehearse.Planner {
	t.Helper()
	books, err := planner.Load(fstest.MapFS{"book.yaml": {Data: []byte(yaml)}}, "book.yaml")
	if err != nil {
		t.Fatalf("%v in\n%s", err, yaml)
	}
	return func(o opt.Objective, m *a2a.Message) rehearse.Planned {
		made, err := books.Plan(context.Background(), activities.Request{ObjectiveID: o.ID, Tenant: o.Tenant, Name: o.Name, Message: m})
		if err != nil {
			return rehearse.Planned{Failure: err.Error()}
		}
		return rehearse.Planned{Plans: made.Plans, Planner: made.Planner, Reason: made.Reason}
	}
}

func message(text string) a2a.Message {
	return a2a.Message{MessageID: "m", Role: a2a.RoleUser, Parts: []a2a.Part{a2a.TextPart(text)}}
}

func rehearsed(t testing.TB, yaml string, a rehearse.Assumptions) *rehearse.Report {
	t.Helper()
	r := test.Value(rehearse.Run(planOf(t, yaml), message("go"), a))(t)
	return r
}

// lines returns a report in short.
func lines(r *rehearse.Report) string {
	var out []string
	for _, t := range r.Tasks {
		mark := ""
		if t.Critical {
			mark = " *"
		}
		out = append(out, fmt.Sprintf("%s %s %v-%v%s", t.Name, t.State, t.Began, t.Ended, mark))
	}
	for _, g := range r.Gates {
		var asked []string
		for _, a := range slices.Concat(g.Asked, g.Later) {
			asked = append(asked, fmt.Sprintf("%v%s", a.At, a.Step))
		}
		out = append(out, fmt.Sprintf("%s? %s: %s %s at %v", g.Task, strings.Join(asked, " "), g.Action, g.By, g.Closed))
	}
	for _, w := range r.Warnings {
		out = append(out, fmt.Sprintf("%s %s: %s", w.Kind, w.Of, w.Text))
	}
	return strings.Join(append(out, fmt.Sprintf("%s %v", r.Status, r.Took.Likely)), "\n")
}

const book = `
name: ship
default: true
plans:
  - name: Ship
    tasks:
      - {name: Build, executor: shell, timeout: 30m, dependencies: []}
      - {name: Test, executor: shell, dependencies: [Build]}
      - {name: Scan, executor: shell, dependencies: [Build]}
      - name: Release
        dependencies: [Test, Scan]
        human:
          approve: Release it?
          responders: {groups: [release], accepts: 2, not-requester: true}
          wait:
            - {after: 1h, do: remind}
            - {after: 4h, do: escalate, to: {principals: [head]}}
            - {after: 2d, do: expire}
      - {name: Publish, executor: shell, dependencies: [Release]}
`

func takes(n ...time.Duration) rehearse.Work { return rehearse.Work{Takes: rehearse.SpreadOf(n...)} }

// A rehearsal has the order, the critical path, who is asked when, by which step of the ladder, and
// what goes wrong.
func TestRun(t *testing.T) {
	tasks := map[string]rehearse.Work{"Build": takes(10 * time.Minute), "Test": takes(5 * time.Minute), "Scan": takes(20 * time.Minute)}
	quotas := test.Value(access.Quotas{}.With("running-tasks=1", "open-gates=1"))(t)
	person := func(name string, after time.Duration, groups ...string) rehearse.Person {
		return rehearse.Person{Name: name, Groups: groups, After: rehearse.SpreadOf(after)}
	}
	ann, bob := person("ann", 2*time.Hour, "release"), person("bob", 5*time.Hour, "release")
	for name, tt := range map[string]struct {
		a    rehearse.Assumptions
		want string
	}{
		"defaults": {rehearse.Assumptions{}, `
Build completed 0s-1s *
Test completed 1s-2s
Scan completed 1s-2s *
Release completed 2s-1h0m2s *
Publish completed 1h0m2s-1h0m3s *
Release? 2s 1h0m2sremind 4h0m2sescalate 48h0m2sexpire: accept one of release (2) at 1h0m2s
completed 1h0m3s`},
		"people, quotas and a deadline": {rehearse.Assumptions{Tasks: tasks, People: []rehearse.Person{ann, bob}, Quotas: quotas, Within: 5 * time.Hour}, `
Build completed 0s-10m0s *
Test completed 10m0s-15m0s
Scan completed 10m0s-35m0s *
Release completed 35m0s-5h35m0s *
Publish completed 5h35m0s-5h35m1s *
Release? 35m0s 1h35m0sremind 4h35m0sescalate 48h35m0sexpire: accept bob at 5h35m0s
late : It does not end within 5 hours.
over-quota running-tasks: 2 at a time, of 1.
completed 5h35m1s`},
		"the head, who is asked by the ladder": {rehearse.Assumptions{Tasks: tasks, People: []rehearse.Person{ann, person("head", time.Hour)}}, `
Build completed 0s-10m0s *
Test completed 10m0s-15m0s
Scan completed 10m0s-30m0s *
Release completed 30m0s-5h30m0s *
Publish completed 5h30m0s-5h30m1s *
Release? 30m0s 1h30m0sremind 4h30m0sescalate 48h30m0sexpire: accept head at 5h30m0s
completed 5h30m1s`},
		"an approval that the requester and too few others may give": {rehearse.Assumptions{Requester: "bob", People: []rehearse.Person{ann, bob}}, `
Build completed 0s-1s *
Test completed 1s-2s
Scan completed 1s-2s *
Release failed 2s-48h0m2s *
Release? 2s 1h0m2sremind 4h0m2sescalate 48h0m2sexpire: reject longhaul:timer at 48h0m2s
unanswerable Release: 2 have to answer, and only ann may.
failed 48h0m2s`},
		"people who are too slow": {rehearse.Assumptions{People: []rehearse.Person{person("ann", 72*time.Hour, "release"), bob}}, `
Build completed 0s-1s *
Test completed 1s-2s
Scan completed 1s-2s *
Release failed 2s-48h0m2s *
Release? 2s 1h0m2sremind 4h0m2sescalate 48h0m2sexpire: reject longhaul:timer at 48h0m2s
unanswered Release: No answer comes before the question expires.
failed 48h0m2s`},
		"attempts that fail, and a task that takes too long": {rehearse.Assumptions{Tasks: map[string]rehearse.Work{"Build": takes(time.Hour), "Test": {Fails: 2}}}, `
Build failed 0s-1h30m3s *
timed-out Build: An attempt takes longer than the task may.
failed 1h30m3s`},
		"costs": {rehearse.Assumptions{Executors: map[string]rehearse.Work{"shell": {Cost: rehearse.SpreadOf[opt.Money](2_000_000)}}, Budget: opt.Budget{SpendLimit: opt.SpendLimit{Cost: 5_000_000}}, Tasks: map[string]rehearse.Work{"Publish": {Ends: opt.TaskFailed}}}, `
Build completed 0s-1s *
Test completed 1s-2s
Scan completed 1s-2s *
Release completed 2s-1h0m2s *
Publish failed 1h0m2s-1h0m3s *
Release? 2s 1h0m2sremind 4h0m2sescalate 48h0m2sexpire: accept one of release (2) at 1h0m2s
over-budget Scan: The budget is spent with it.
failed 1h0m3s`},
	} {
		if got := lines(rehearsed(t, book, tt.a)); got != strings.TrimSpace(tt.want) {
			t.Errorf("%s: got\n%s", name, got)
		}
	}
}

// Plans at the same time share the rest of a budget, and one of them asks for more; the budget of a plan is its own.
func TestRun_budgets(t *testing.T) {
	const book = `
name: pay
default: true
budget: {questions: 1}
plans:
  - {name: A, dependencies: [], budget: {tokens: 10}, tasks: [{name: Build, executor: shell}, {name: Ask, human: {approve: "Good?"}}]}
  - {name: B, dependencies: [], tasks: [{name: Also, human: {approve: "Good?"}}]}
`
	costs := rehearse.Work{Tokens: rehearse.SpreadOf(int64(10))}
	got := lines(rehearsed(t, book, rehearse.Assumptions{Tasks: map[string]rehearse.Work{"Build": costs}}))
	const want = `
Build completed 0s-1s *
Also completed 0s-1h0m0s
Ask completed 1s-2h0m1s *
Also? 0s: accept anyone at 1h0m0s
Ask? 1s: accept requester at 1h0m1s
Ask? 1h0m1s: accept anyone at 2h0m1s
over-budget Build: The budget of its plan is spent with it.
completed 2h0m1s`
	if got != strings.TrimSpace(want) {
		t.Errorf("got\n%s", got)
	}
}

// Checks decide before people are asked, as they are assumed to; what they send back is made again.
func TestRun_checks(t *testing.T) {
	const book = `
name: pay
default: true
plans:
  - name: Pay
    tasks:
      - name: Order
        executor: shell
        accept:
          checks: [{name: Form, schema: {type: object}}]
          responders: {groups: [buyers]}
`
	for verdict, want := range map[opt.Action]string{
		opt.Accept: `
Order completed 0s-1s *
Form completed 1s-2s *
Accept: Order completed 2s-2s *
Accept: Order? : accept longhaul:checks at 2s
completed 2s`,
		opt.Ask: `
Order completed 0s-1s *
Form completed 1s-2s *
Accept: Order completed 2s-2h0m4s *
Order completed 1h0m2s-1h0m3s
Form completed 1h0m3s-1h0m4s
Accept: Order? 2s: refine ann at 1h0m2s
Accept: Order? 1h0m4s: accept ann at 2h0m4s
completed 2h0m4s`,
	} {
		a := rehearse.Assumptions{Tasks: map[string]rehearse.Work{"Form": {Verdict: verdict}}, People: []rehearse.Person{{Name: "ann", Groups: []string{"buyers"}, Action: opt.Refine}}}
		if got := lines(rehearsed(t, book, a)); got != strings.TrimSpace(want) {
			t.Errorf("%s: got\n%s", verdict, got)
		}
	}
}

// A planner that finds no plan ends it.
func TestRun_unplanned(t *testing.T) {
	r, err := rehearse.Run(func(opt.Objective, *a2a.Message) rehearse.Planned { return rehearse.Planned{Failure: "No plan."} }, message("go"), rehearse.Assumptions{})
	if err != nil || r.Status != opt.ObjectiveFailed || r.Failure != "No plan could be made. No plan." {
		t.Errorf("got %+v, error %v", r, err)
	}
}
