package api_test

import (
	"fmt"
	"strings"
	"testing"

	"longhaul/opt"
)

// A plan whose dependencies are met can be started before its turn, and starts
// its objective. A plan with unmet dependencies cannot be started.
func TestPlanUpdate_dependencies(t *testing.T) {
	s := newService(t)
	s.have(t)
	s.must(t, "plans/update", `{"id":"`+secondID+`","dependencies":["`+planID+`"]}`)
	wantRefusal(t, s.call(t, "plans/update", `{"id":"`+secondID+`","status":"working"}`), "pending", "working")
	for i := range 2 {
		s.update(t, opt.TaskID(planID, i), "completed")
	}
	if got := s.update(t, secondID, "working").at("plan", "status").String(); got != "working" {
		t.Fatalf("status is %q", got)
	}
	o := s.objective(t)
	if o.at("status").String() != "working" || o.at("plans", "1", "tasks", "0", "status").String() != "working" {
		t.Errorf("the objective is %v", o)
	}
}

// The limit on plans is the service's, and counts no plan that was skipped.
func TestCreatePlan_limit(t *testing.T) {
	s := newService(t)
	s.have(t)
	create := `{"objectiveId":"` + objectiveID + `","name":"x"}`
	for range (opt.Limits{}).OrDefault().Plans - 2 {
		s.must(t, "plans/create", create)
	}
	s.unchanged(t, func() {
		if text := wantCode(t, s.call(t, "plans/create", create), "-32602"); !strings.Contains(text, "maxPlansPerObjective") {
			t.Errorf("the error does not name the limit: %q", text)
		}
	})
	s.update(t, planID, "skipped")
	s.must(t, "plans/create", create)
}

// The limits on the card apply to new work.
func TestLimits_followTheService(t *testing.T) {
	s := newService(t, func(c *config) { c.Limits = opt.Limits{Plans: 1, Tasks: 2} })
	params := parse(t, s.get(t, "/.well-known/agent-card.json", "A2A-Version", "1.0").Body.Bytes()).at("capabilities", "extensions", "0", "params")
	if params.at("maxPlansPerObjective").String() != "1" || params.at("maxTasksPerPlan").String() != "2" {
		t.Errorf("the card says %v", params)
	}
	id := s.must(t, "objectives/create", `{"name":"x"}`).at("id").String()
	create := func(tasks string) node {
		return s.call(t, "plans/create", `{"objectiveId":"`+id+`","name":"x","tasks":[`+tasks+`]}`)
	}
	const three = `{"name":"a"},{"name":"b"},{"name":"c"}`
	if text := wantCode(t, create(three), "-32602"); !strings.Contains(text, "maxTasksPerPlan") {
		t.Errorf("the error does not name the limit: %q", text)
	}
	if n := create(`{"name":"a"}`); n.has("error") {
		t.Fatal(n)
	}
	if text := wantCode(t, create(`{"name":"a"}`), "-32602"); !strings.Contains(text, "maxPlansPerObjective") {
		t.Errorf("the error does not name the limit: %q", text)
	}
	n := s.call(t, "SendMessage", `{"message":`+messageJSON("m", "x", `,"metadata":{"opt/v1/plan":{"name":"P","tasks":[`+three+`]}}`)+`}`)
	if wantCode(t, n, "-32602"); field(n) != "message.metadata.opt/v1/plan.tasks" {
		t.Errorf("a plan in a message: %v", n)
	}
}

// The indexes of added tasks follow the existing ones.
func TestAddTasks(t *testing.T) {
	s := newService(t)
	s.have(t)
	n := s.must(t, "plans/addTasks", `{"planId":"`+planID+`","tasks":[{"name":"Third","dependencies":["task-1"]},{"id":"task-0","name":"Fourth","dependencies":["task-2","`+taskID+`"]}]}`)
	for i, want := range []string{`[]`, `[]`, `["` + opt.TaskID(planID, 1) + `"]`, `["` + opt.TaskID(planID, 2) + `","` + taskID + `"]`} {
		if got := n.at("plan", "tasks", fmt.Sprint(i), "dependencies").String(); got != want {
			t.Errorf("task %d depends on %s, want %s: %v", i, got, want, n)
		}
	}
}

// In a request an empty list of dependencies, by which a task or a plan begins at once, differs
// from none, by which it keeps its place in the list.
func TestPlanCreate_order(t *testing.T) {
	s := newService(t)
	s.have(t)
	for on, want := range map[string]bool{``: true, `,"dependencies":null`: true, `,"dependencies":[]`: false} {
		n := s.must(t, "plans/create", `{"objectiveId":"`+objectiveID+`","name":"x"`+on+`,"tasks":[{"name":"a"},{"name":"b"`+on+`}]}`)
		more := s.must(t, "plans/addTasks", `{"id":"`+n.at("plan", "id").String()+`","tasks":[{"name":"c"`+on+`}]}`)
		o := s.world.Objective(objectiveID)
		p := o.Plan(more.at("plan", "id").String())
		for i, b := range map[int]int{1: len(p.Before(p.Tasks[1])), 2: len(p.Before(p.Tasks[2])), 3: len(o.Before(p))} {
			if (b == 1) != want {
				t.Errorf("with %q, %d waits for %d others", on, i, b)
			}
		}
		for _, path := range [][]string{{"plan"}, {"plan", "tasks", "1"}, {"plan", "tasks", "2"}} {
			if shown := more.at(append(path, "metadata", "longhaul/v1/atOnce")...).String(); (shown != "true") != want {
				t.Errorf("with %q, %v is shown as %v", on, path, more.at(path...))
			}
		}
	}
}

// failedOptional makes a working objective whose first plan was optional and
// failed after its first task.
func (s *fixture) failedOptional(t *testing.T) {
	t.Helper()
	s.open(t)
	for _, more := range []string{`,"metadata":{"opt/v1/optional":true}`, ""} {
		s.must(t, "plans/create", `{"objectiveId":"`+objectiveID+`","name":"P","tasks":[{"name":"First"},{"name":"Second"}]`+more+`}`)
	}
	s.update(t, objectiveID, "working")
	s.world.Complete(taskID)
	s.world.Fail(opt.TaskID(planID, 1), "broken", "It broke.")
}

// A retried plan continues after its completed tasks, with new A2A tasks.
func TestPlanUpdate_retries(t *testing.T) {
	for _, to := range []string{"pending", "working"} {
		s := newService(t)
		s.failedOptional(t)
		seen := s.revision()
		p := s.must(t, "plans/update", fmt.Sprintf(`{"id":%q,"status":%q,"longhaul/v1/revision":%d}`, planID, to, seen)).at("plan")
		if got := p.at("status").String(); got != to && got != "working" || p.at("metadata").has("opt/v1/failureReason") {
			t.Errorf("%s: the plan is %v", to, p)
		}
		tasks := s.must(t, "plans/get", `{"id":"`+planID+`"}`).at("plan", "tasks")
		again := opt.TaskID(planID, 1) + "~2"
		if tasks.at("0", "status").String() != "completed" || tasks.at("0", "a2aTaskId").String() != taskID {
			t.Errorf("%s: the tasks are %v", to, tasks)
		}
		if _, running := s.running(again); to == "working" && (!running || tasks.at("1", "a2aTaskId").String() != again) {
			t.Errorf("%s: the task that failed does not run again: %v", to, tasks)
		}
		if state := s.must(t, "GetTask", `{"id":"`+opt.TaskID(planID, 1)+`"}`).at("status", "state").String(); state != "TASK_STATE_FAILED" {
			t.Errorf("%s: the task of the first attempt is %s", to, state)
		}
		if s.revision() != seen+1 {
			t.Errorf("%s: the revision is %d after %d", to, s.revision(), seen)
		}
	}
}

func TestPlanUpdate_retryRefused(t *testing.T) {
	for name, tc := range map[string]struct {
		params  string
		spoil   func(t *testing.T, s *fixture)
		message string
	}{
		"and renamed":   {`"status":"pending","name":"New"`, nil, "The plan has ended"},
		"renamed alone": {`"name":"New"`, nil, "The plan has ended"},
		"to skipped":    {`"status":"skipped"`, nil, "Invalid status transition: failed → skipped"},
		"of an ended objective": {`"status":"pending"`, func(t *testing.T, s *fixture) { s.update(t, objectiveID, "failed") },
			"Invalid status transition: failed → pending"},
		"of one that is stopping": {`"status":"working"`, func(t *testing.T, s *fixture) {
			s.world.Stubborn()
			s.update(t, objectiveID, "canceled")
		}, "Invalid status transition: failed → working"},
	} {
		s := newService(t)
		s.failedOptional(t)
		if tc.spoil != nil {
			tc.spoil(t, s)
		}
		s.unchanged(t, func() {
			if text := wantCode(t, s.call(t, "plans/update", `{"id":"`+planID+`",`+tc.params+`}`), "-32001"); text != tc.message {
				t.Errorf("%s: %q, want %q", name, text, tc.message)
			}
		})
	}
}

// The dependencies of a plan can be changed before it has begun.
func TestPlanUpdate_reorders(t *testing.T) {
	works := func(t *testing.T, s *fixture) { s.update(t, objectiveID, "working") }
	depends := func(t *testing.T, s *fixture) {
		s.must(t, "plans/update", `{"id":"`+secondID+`","dependencies":["`+planID+`"]}`)
	}
	for name, tc := range map[string]struct {
		set    func(t *testing.T, s *fixture)
		change string
		want   string // the second plan, and by how much the revision rises
	}{
		"before the start": {nil, `"dependencies":["PLAN"],"name":"New"`, `["PLAN"] pending New 1`},
		"while it waits":   {works, `"dependencies":["PLAN"]`, `["PLAN"] blocked Plan 2 1`},
		"held no more": {func(t *testing.T, s *fixture) { depends(t, s); works(t, s) }, `"dependencies":[]`,
			`[] working Plan 2 1`},
		"free, after a place in the list": {nil, `"dependencies":[]`, `[] pending Plan 2 1`},
		"free again": {func(t *testing.T, s *fixture) { s.must(t, "plans/update", `{"id":"`+secondID+`","dependencies":[]}`) },
			`"dependencies":[]`, `[] pending Plan 2 0`},
		"free at once":      {works, `"dependencies":[]`, `[] working Plan 2 1`},
		"with a status":     {nil, `"dependencies":[],"status":"skipped"`, `[] skipped Plan 2 1`},
		"null":              {nil, `"dependencies":null,"name":"New"`, `[] pending New 1`},
		"none":              {depends, `"dependencies":[]`, `[] pending Plan 2 1`},
		"sent back as read": {depends, `"dependencies":["PLAN"]`, `["PLAN"] pending Plan 2 0`},
		"as read, of one that works": {func(t *testing.T, s *fixture) { s.update(t, secondID, "working") },
			`"dependencies":[],"name":"New","status":"working"`, `[] working New 1`},
		"by a client that has seen it": {nil, `"dependencies":["PLAN"],"longhaul/v1/revision":3`, `["PLAN"] pending Plan 2 1`},
	} {
		s := newService(t)
		s.have(t)
		if tc.set != nil {
			tc.set(t, s)
		}
		before := s.revision()
		ids := strings.NewReplacer("PLAN", planID)
		p := s.must(t, "plans/update", ids.Replace(`{"id":"`+secondID+`",`+tc.change+`}`)).at("plan")
		got := fmt.Sprintf("%s %s %s %d", p.at("dependencies"), p.at("status"), p.at("name"), s.revision()-before)
		if want := ids.Replace(tc.want); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}

func TestPlanUpdate_reordersNothing(t *testing.T) {
	update := func(id, status string) func(*testing.T, *fixture) {
		return func(t *testing.T, s *fixture) { s.update(t, id, status) }
	}
	for name, tc := range map[string]struct {
		set      func(t *testing.T, s *fixture)
		change   string
		code, at string // at is the field, or the reason, of the error
	}{
		"itself":       {nil, `"dependencies":["PLAN"]`, "-32602", "dependencies[0]"},
		"nothing here": {nil, `"dependencies":["SECOND","plan-x"]`, "-32602", "dependencies[1]"},
		"a task":       {nil, `"dependencies":["TASK"]`, "-32602", "dependencies[0]"},
		"no list":      {nil, `"dependencies":"SECOND"`, "-32602", "dependencies"},
		"no text":      {nil, `"dependencies":[5]`, "-32602", "dependencies[0]"},
		"a cycle": {func(t *testing.T, s *fixture) {
			s.must(t, "plans/update", `{"id":"`+secondID+`","dependencies":["`+planID+`"]}`)
		}, `"dependencies":["SECOND"]`, "-32602", "dependencies"},
		"on what follows it in the list": {nil, `"dependencies":["SECOND"]`, "-32602", "dependencies"},
		"begun":                          {update(planID, "working"), `"dependencies":["SECOND"]`, "-32001", "INVALID_STATE_TRANSITION"},
		"ended":                          {update(planID, "skipped"), `"dependencies":["SECOND"]`, "-32001", "INVALID_STATE_TRANSITION"},
		"of an ended objective":          {update(objectiveID, "canceled"), `"dependencies":["SECOND"]`, "-32001", "INVALID_STATE_TRANSITION"},
		"together with a status":         {nil, `"dependencies":["SECOND"],"status":"working"`, "-32602", "dependencies"},
		"by one that has not seen":       {nil, `"dependencies":["SECOND"],"longhaul/v1/revision":7`, "-32001", "STALE_REVISION"},
	} {
		s := newService(t)
		s.have(t)
		if tc.set != nil {
			tc.set(t, s)
		}
		s.unchanged(t, func() {
			n := s.call(t, "plans/update", `{"id":"`+planID+`",`+strings.NewReplacer("PLAN", planID, "SECOND", secondID, "TASK", taskID).Replace(tc.change)+`}`)
			wantCode(t, n, tc.code)
			if got := field(n) + n.at("error", "data", "0", "reason").String(); got != tc.at {
				t.Errorf("%s: %q is wrong, want %q", name, got, tc.at)
			}
		})
	}
}
