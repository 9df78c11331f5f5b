package api_test

import (
	"fmt"
	"testing"

	"longhaul/a2a"
	"longhaul/internal/test"
	"longhaul/opt"
)

// The ids of the objective that have makes, of its first plan, and of that plan's
// first task.
var (
	objectiveID = opt.NewObjectiveID([16]byte{9})
	planID      = opt.PlanID(objectiveID, 1)
	secondID    = opt.PlanID(objectiveID, 2)
	taskID      = opt.TaskID(planID, 0)
)

// have makes an objective that waits to be started, with two plans of two tasks
// each. change may alter the objective before it is opened. Its tasks run until
// the test ends them.
func (s *fixture) have(t *testing.T, change ...func(*opt.Objective)) {
	t.Helper()
	s.open(t, change...)
	for n := range 2 {
		s.must(t, "plans/create", fmt.Sprintf(`{"objectiveId":%q,"name":"Plan %d","tasks":[{"name":"First"},{"name":"Second"}]}`, objectiveID, n+1))
	}
}

// open makes an objective without plans that waits to be started.
func (s *fixture) open(t *testing.T, change ...func(*opt.Objective)) {
	t.Helper()
	now := a2a.At(s.world.Now())
	o := opt.Objective{
		ID: objectiveID, ContextID: objectiveID, Tenant: "acme", Principal: "ann", Name: "Launch", Status: opt.ObjectiveSubmitted, Root: opt.TaskSubmitted,
		Metadata: a2a.Metadata{}.With("team", "x").With(opt.KeyReason, "kept"), CreatedAt: now, UpdatedAt: now, Attempt: 1, Revision: 1,
	}
	for _, f := range change {
		f(&o)
	}
	test.OK(t, test.Err(s.world.Start(t.Context(), opt.Opening{Objective: o, Idle: true})))
}

// must calls a method that has to succeed, and returns the result.
func (s *fixture) must(t *testing.T, method, params string, headers ...string) node {
	t.Helper()
	n := s.call(t, method, params, headers...)
	if n.has("error") {
		t.Fatalf("%s %s: %v", method, params, n)
	}
	return n.at("result")
}

// update has the status of an objective, a plan or a plan task changed, by the
// kind of its id.
func (s *fixture) update(t *testing.T, id, status string) node {
	t.Helper()
	method := "objectives/update"
	switch ref, _ := opt.ParseID(id); {
	case ref.TaskID != "":
		method = "tasks/updateStatus"
	case ref.PlanID != "":
		method = "plans/update"
	}
	return s.must(t, method, fmt.Sprintf(`{"id":%q,"status":%q}`, id, status))
}

// objective returns the objective that have made, with plans and tasks.
func (s *fixture) objective(t *testing.T) node {
	t.Helper()
	return s.must(t, "objectives/get", `{"id":"`+objectiveID+`"}`).at("objective")
}

// revision returns the revision of the objective that have made.
func (s *fixture) revision() int64 { return s.world.Objective(objectiveID).Revision }

// unchanged runs f, which must change nothing.
func (s *fixture) unchanged(t *testing.T, f func()) {
	t.Helper()
	events, calls := s.events(objectiveID), len(s.world.Calls())
	f()
	test.Is(t, "events were recorded", 0, s.events(objectiveID)-events)
	if got := s.world.Calls()[calls:]; len(got) != 0 {
		t.Errorf("the engine was called: %+v", got)
	}
}
