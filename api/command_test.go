package api_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"longhaul/a2a"
	"longhaul/api/service"
	"longhaul/api/service/servicetest"
	"longhaul/internal/test"
	"longhaul/opt"
)

// changes holds a request of each method of the extension that changes something,
// for the objective that have makes, and another one that differs in content.
// Each can be applied to it.
var changes = map[string][2]string{
	"objectives/create":  {`{"name":"Another"`, `{"name":"Yet another"`},
	"objectives/fork":    {`{"id":"OBJ","name":"New"`, `{"id":"OBJ","name":"Newer"`},
	"objectives/update":  {`{"id":"OBJ","name":"New"`, `{"id":"OBJ","name":"Newer"`},
	"objectives/replan":  {`{"id":"OBJ","reason":"a"`, `{"id":"OBJ","reason":"b"`},
	"plans/create":       {`{"objectiveId":"OBJ","name":"x"`, `{"objectiveId":"OBJ","name":"y"`},
	"plans/update":       {`{"id":"PLAN","name":"New"`, `{"id":"PLAN","status":"working"`},
	"plans/addTasks":     {`{"id":"PLAN","tasks":[{"name":"x"}]`, `{"id":"PLAN","tasks":[{"name":"y"}]`},
	"tasks/link":         {`{"id":"TASK","a2aTaskId":"t"`, `{"id":"TASK","a2aTaskId":"u"`},
	"tasks/updateStatus": {`{"id":"TASK","status":"working"`, `{"id":"TASK","status":"failed"`},
}

// isNew reports whether a method makes an objective, which is no change of another.
func isNew(method string) bool { return method == "objectives/create" || method == "objectives/fork" }

func named(params string) string {
	return strings.NewReplacer("OBJ", objectiveID, "PLAN", planID, "TASK", taskID).Replace(params)
}

// change returns the params of a change; more are further members.
func change(method string, which int, more string) string {
	return named(changes[method][which]) + more + "}"
}

// A change with a key is made once, and each repeat gets the first answer.
// Another change under the same key is refused.
func TestChanges_areIdempotent(t *testing.T) {
	for method := range changes {
		for how, key := range map[string]struct {
			more    string
			headers []string
			field   string // that the error about a reused key names
		}{
			"header":   {"", []string{"Idempotency-Key", "k 1"}, "Idempotency-Key"},
			"metadata": {`,"metadata":{"longhaul/v1/requestId":"k 1"}`, nil, "metadata.longhaul/v1/requestId"},
		} {
			t.Run(method+" by "+how, func(t *testing.T) {
				s := newService(t)
				s.have(t)
				first := s.must(t, method, change(method, 0, key.more), key.headers...)
				revision, calls := s.revision(), len(s.world.Commands())
				for range 2 {
					if again := s.must(t, method, change(method, 0, key.more), key.headers...); again.String() != first.String() {
						t.Errorf("the repeat got\n%v, not\n%v", again, first)
					}
				}
				if s.revision() != revision || len(s.world.Commands()) != calls {
					t.Errorf("repeats made revision %d of %d, and %d commands of %d", s.revision(), revision, len(s.world.Commands()), calls)
				}
				other := s.call(t, method, change(method, 1, key.more), key.headers...)
				if wantCode(t, other, "-32602"); field(other) != key.field {
					t.Errorf("other content under the same key: %v", other)
				}
				if s.revision() != revision {
					t.Errorf("other content has made revision %d of %d", s.revision(), revision)
				}
				// Another caller's key is another key.
				if n := s.call(t, method, change(method, 1, key.more), append(key.headers, "Authorization", "Bearer acme/bob")...); n.has("error") {
					t.Errorf("a colleague's change under the same key: %v", n)
				}
			})
		}
	}
}

// The workflow of an objective that is retried no longer has the content that the objective was made with: the journal
// says whether a repeat has the same.
func TestCreate_ofARetry(t *testing.T) {
	s := newService(t)
	create := func(which int) node {
		return s.call(t, "objectives/create", change("objectives/create", which, ""), "Idempotency-Key", "k 1")
	}
	first := create(0)
	s.world.Before(func(_ context.Context, call string) error {
		if call == "start" {
			return opt.ErrEnded
		}
		return nil
	})
	test.Is(t, "a repeat", first.at("result").String(), create(0).at("result").String())
	wantCode(t, create(1), "-32602")
}

// Without a key, a repeated change is made twice.
func TestChanges_withoutAKey(t *testing.T) {
	s := newService(t)
	s.have(t)
	for range 2 {
		s.must(t, "plans/create", change("plans/create", 0, ""))
	}
	test.Is(t, "plans", 4, len(s.world.Objective(objectiveID).Plans))
}

// If a change is not answered in time, its result is unknown. The error says so
// and names the id of the request. A repeat under that id gets the answer and
// does not make a second change.
func TestChanges_unanswered(t *testing.T) {
	for method := range changes {
		if isNew(method) {
			continue // needs no worker
		}
		t.Run(method, func(t *testing.T) {
			s := newService(t, func(c *config) { c.CallTimeout = 300 * time.Millisecond })
			s.have(t)
			before := s.revision()
			s.world.Sleep()
			n := s.call(t, method, change(method, 0, ""))
			if text := wantCode(t, n, "-32603"); !strings.Contains(text, "result of the change is unknown") {
				t.Errorf("the error says %q", text)
			}
			info := n.at("error", "data", "0")
			id := info.at("metadata", "requestId").String()
			if info.at("reason").String() != "UNAVAILABLE" || id == "" {
				t.Fatalf("ErrorInfo is %v", info)
			}
			more := `,"metadata":{"longhaul/v1/requestId":"` + id + `"}`
			wantCode(t, s.call(t, method, change(method, 0, more)), "-32603")
			s.world.Wake()
			first := s.must(t, method, change(method, 0, more))
			for range 2 {
				if again := s.must(t, method, change(method, 0, more)); again.String() != first.String() {
					t.Errorf("the repeat got\n%v, not\n%v", again, first)
				}
			}
			if got := s.revision(); got != before+1 {
				t.Errorf("%d changes were made", got-before)
			}
		})
	}
}

// While the events of an objective are not taken, reads show why, and a change is refused
// with the reason. Both end with the next event.
func TestChanges_stuck(t *testing.T) {
	s := newService(t, func(c *config) { c.CallTimeout = 300 * time.Millisecond })
	s.have(t)
	s.world.Sleep()
	test.OK(t, s.world.Journal().Stuck(t.Context(), objectiveID, opt.Stuck{Since: a2a.At(time.Now()), Reason: "The journal lacks events."}))
	get := `{"id":"` + objectiveID + `"}`
	shown := func() string {
		return s.must(t, "objectives/get", get).at("objective", "metadata", "longhaul/v1/stuck", "reason").String() +
			s.must(t, "GetTask", get).at("metadata", "longhaul/v1/stuck", "reason").String()
	}
	test.Is(t, "reads show", "The journal lacks events.The journal lacks events.", shown())
	if text := wantCode(t, s.call(t, "objectives/update", change("objectives/update", 0, "")), "-32603"); !strings.Contains(text, "The journal lacks events.") {
		t.Errorf("the error says %q", text)
	}
	s.world.Wake()
	s.until(t, func() bool { return shown() == "" })
}

// A change that arrives after its caller's wait is refused. A repeat is a new
// try.
func TestChanges_late(t *testing.T) {
	s := newService(t, func(c *config) { c.CallTimeout = 300 * time.Millisecond })
	s.have(t)
	before := s.revision()
	s.world.Sleep()
	more := `,"metadata":{"longhaul/v1/requestId":"k"}`
	wantCode(t, s.call(t, "plans/create", change("plans/create", 0, more)), "-32603")
	s.world.Advance(time.Minute)
	s.world.Wake()
	if got := s.revision(); got != before {
		t.Fatalf("the revision rose from %d to %d", before, got)
	}
	first := s.must(t, "plans/create", change("plans/create", 0, more))
	if again := s.must(t, "plans/create", change("plans/create", 0, more)); again.String() != first.String() {
		t.Errorf("the repeat got\n%v, not\n%v", again, first)
	}
	if got := s.revision(); got != before+1 {
		t.Errorf("%d changes were made", got-before)
	}
}

// A change is made once although the clock of the API is minutes behind or ahead of the
// workflows' clock.
func TestChanges_clock(t *testing.T) {
	for _, ahead := range []time.Duration{-5 * time.Minute, 5 * time.Minute} {
		s := newService(t, func(c *config) {
			now := c.Now
			c.Now = func() time.Time { return now().Add(ahead) }
		})
		s.have(t)
		before := s.revision()
		s.must(t, "plans/create", change("plans/create", 0, ""))
		if got := s.revision(); got != before+1 {
			t.Errorf("the clock is ahead by %v: %d changes were made", ahead, got-before)
		}
		if n := len(s.world.Commands()); n > 2*3 { // three changes, each at most twice
			t.Errorf("the clock is ahead by %v: %d commands were sent", ahead, n)
		}
	}
}

// A repeat that waits for the workers is made, though the first request is too
// late by then.
func TestChanges_repeatWaits(t *testing.T) {
	s := newService(t, func(c *config) { c.CallTimeout = 5 * time.Second })
	s.have(t)
	before := s.revision()
	s.world.Sleep()
	more := `,"metadata":{"longhaul/v1/requestId":"k"}`
	answer := make(chan node, 1)
	go func() { answer <- s.call(t, "plans/create", change("plans/create", 0, more)) }()
	s.until(t, func() bool { return len(s.world.Commands()) == 3 })
	late := s.world.Commands()[2]
	late.Deadline = a2a.At(servicetest.Start.Add(-time.Minute))
	s.world.Overtake(late) // the first request, of a minute ago
	s.world.Wake()
	if n := <-answer; n.has("error") {
		t.Errorf("the repeat: %v", n)
	}
	if got := s.revision(); got != before+1 {
		t.Errorf("%d changes were made", got-before)
	}
}

// A change that a plan has not confirmed when its time is up is made, and its answer
// names the plan.
func TestChanges_unconfirmed(t *testing.T) {
	third := opt.PlanID(objectiveID, 3)
	for name, tc := range map[string]struct{ method, params, of, plan string }{
		"pause":  {"objectives/update", `{"id":"OBJ","status":"blocked"}`, "objective", planID},
		"replan": {"objectives/replan", `{"id":"OBJ"}`, "objective", planID},
		"order":  {"plans/update", `{"id":"` + third + `","dependencies":[]}`, "plan", third},
	} {
		t.Run(name, func(t *testing.T) {
			s := newService(t, func(c *config) { c.CallTimeout = 5 * time.Second })
			s.have(t)
			for _, on := range []string{planID, third} {
				s.must(t, "plans/create", `{"objectiveId":"`+objectiveID+`","name":"x","dependencies":["`+on+`"],"tasks":[{"name":"a"}]}`)
			}
			s.update(t, objectiveID, "working")
			s.world.SleepOn(tc.plan)
			before := len(s.world.Commands())
			params := strings.TrimSuffix(named(tc.params), "}") + `,"metadata":{"longhaul/v1/requestId":"k"}}`
			answer := make(chan node, 1)
			go func() { answer <- s.call(t, tc.method, params) }()
			s.until(t, func() bool { return len(s.world.Commands()) > before })
			s.world.Advance(time.Minute)
			for i, n := range []node{<-answer, s.call(t, tc.method, params)} {
				if got, want := n.at("result", tc.of, "metadata", "longhaul/v1/unconfirmed").String(), `["`+tc.plan+`"]`; got != want {
					t.Errorf("answer %d: unconfirmed is %s, want %s: %v", i, got, want, n)
				}
			}
			if s.objective(t).at("metadata").has("longhaul/v1/unconfirmed") {
				t.Error("it is still there when the objective is read")
			}
		})
	}
}

// If two clients change the same revision, and the journal allows both, the
// objective refuses one of them.
func TestChanges_race(t *testing.T) {
	for method := range changes {
		if isNew(method) {
			continue
		}
		t.Run(method, func(t *testing.T) {
			s := newService(t)
			s.have(t)
			seen := s.revision()
			s.world.Before(func(ctx context.Context, name string) error {
				s.world.Before(nil)
				return s.world.Command(ctx, opt.Command{
					ID: "rival", Kind: opt.CreatePlan, ObjectiveID: objectiveID, Seen: seen, Plan: &opt.PlanSpec{Name: "Rival"},
				})
			})
			n := s.call(t, method, change(method, 0, fmt.Sprintf(`,"longhaul/v1/revision":%d`, seen)))
			wantCode(t, n, "-32001")
			info := n.at("error", "data", "0")
			if info.at("reason").String() != "STALE_REVISION" || info.at("metadata", "revision").String() != fmt.Sprint(seen+1) || info.at("metadata", "seen").String() != fmt.Sprint(seen) {
				t.Errorf("ErrorInfo is %v", info)
			}
			if got := s.revision(); got != seen+1 {
				t.Errorf("the revision is %d after %d", got, seen)
			}
			// A client that names no revision may change any revision.
			s.must(t, method, change(method, 0, ""))
		})
	}
}

// An overtakenJournal has none of the answers to a command yet when it is asked first, and all else
// happens before it says so.
type overtakenJournal struct {
	service.Journal
	overtake func()
}

func (j *overtakenJournal) Answer(ctx context.Context, objectiveID, commandID string) (opt.CommandAnswer, bool, error) {
	a, ok, err := j.Journal.Answer(ctx, objectiveID, commandID)
	if overtake := j.overtake; overtake != nil {
		j.overtake = nil
		overtake()
	}
	return a, ok, err
}

// A change of a revision that comes twice at the same time gets one answer, though the revision is
// another one when the journal is read for the second.
func TestChanges_twin(t *testing.T) {
	j := &overtakenJournal{}
	s := newService(t, func(c *config) { j.Journal, c.serviceConfig.Journal = c.serviceConfig.Journal, j })
	s.have(t)
	before := s.revision()
	params := change("objectives/update", 0, fmt.Sprintf(`,"longhaul/v1/revision":%d,"metadata":{"longhaul/v1/requestId":"k"}`, before))
	var first node
	j.overtake = func() { first = s.must(t, "objectives/update", params) }
	if second := s.must(t, "objectives/update", params); second.String() != first.String() {
		t.Errorf("it got\n%v, not\n%v", second, first)
	}
	if got := s.revision(); got != before+1 {
		t.Errorf("%d changes were made", got-before)
	}
}

// A start that arrives after the attempt has passed for which it took its place
// takes another place, and is made.
func TestChanges_attemptHasPassed(t *testing.T) {
	s := newService(t)
	s.have(t)
	s.world.Before(func(ctx context.Context, name string) error {
		s.world.Before(nil)
		for _, status := range []opt.ObjectiveStatus{opt.ObjectiveCanceled, opt.ObjectiveSubmitted} {
			s.update(t, objectiveID, string(status))
		}
		return nil
	})
	test.Is(t, "the objective", "working", s.update(t, objectiveID, "working").at("objective", "status").String())
	commands := s.world.Commands()
	last := commands[len(commands)-1]
	if o := s.world.Objective(objectiveID); o.Attempt != 2 || last.Attempt != 2 {
		t.Errorf("attempt %d was started with the place of attempt %d", o.Attempt, last.Attempt)
	}
}

// A client that names the current revision may change it.
func TestChanges_revision(t *testing.T) {
	s := newService(t)
	s.open(t)
	n := s.must(t, "objectives/update", `{"id":"`+objectiveID+`","name":"New","metadata":{"longhaul/v1/revision":1}}`)
	metadata := n.at("objective", "metadata")
	if metadata.at("longhaul/v1/revision").String() != "2" || metadata.at("team").String() != "x" {
		t.Fatalf("metadata is %v", metadata)
	}
}

// Invalid changes are refused before anything is written, each with its code and
// the name of the wrong field. The goldens have params of another type, and those that are
// missing, empty or too long, and unknown ids.
func TestChanges_refused(t *testing.T) {
	const id, plan, task = `"id":"OBJ"`, `"id":"PLAN"`, `"id":"TASK"`
	many := `[` + strings.Repeat(`{"name":"x"},`, 48) + `{"name":"x"}]`
	s := newService(t)
	s.have(t)
	for name, tc := range map[string]struct {
		method, params string
		code, at       string // at is the field, or the reason, of the error
	}{
		"objective, a plan's id":       {"objectives/update", `{` + plan + `}`, "-32000", "OBJECTIVE_NOT_FOUND"},
		"objective, a plan's word":     {"objectives/update", `{` + id + `,"status":"skipped"}`, "-32602", "status"},
		"objective, name of spaces":    {"objectives/update", `{` + id + `,"name":" "}`, "-32602", "name"},
		"objective, NUL in name":       {"objectives/update", `{` + id + `,"name":"a\u0000"}`, "-32602", "name"},
		"plan, NUL in description":     {"plans/update", `{` + plan + `,"description":"a\u0000"}`, "-32602", "description"},
		"tasks, name of spaces":        {"plans/addTasks", `{` + plan + `,"tasks":[{"name":" "}]}`, "-32602", "tasks[0].name"},
		"objective, optional of text":  {"objectives/update", `{` + id + `,"metadata":{"opt/v1/optional":"yes"}}`, "-32602", "metadata.opt/v1/optional"},
		"objective, revision 0":        {"objectives/update", `{` + id + `,"longhaul/v1/revision":0}`, "-32602", "longhaul/v1/revision"},
		"new plan, stale":              {"plans/create", `{"objectiveId":"OBJ","name":"x","metadata":{"longhaul/v1/revision":7}}`, "-32001", "STALE_REVISION"},
		"new plan, cycle":              {"plans/create", `{"objectiveId":"OBJ","name":"x","tasks":[{"name":"a","dependencies":["task-1"]},{"name":"b","dependencies":["task-0"]}]}`, "-32602", "tasks"},
		"new plan, on itself":          {"plans/create", `{"objectiveId":"OBJ","name":"x","tasks":[{"name":"a","dependencies":["task-0"]}]}`, "-32602", "tasks[0].dependencies[0]"},
		"new plan, on nothing":         {"plans/create", `{"objectiveId":"OBJ","name":"x","tasks":[{"name":"a","dependencies":["task-9"]}]}`, "-32602", "tasks[0].dependencies[0]"},
		"new plan, on no plan":         {"plans/create", `{"objectiveId":"OBJ","name":"x","dependencies":["plan-x"]}`, "-32602", "dependencies[0]"},
		"plan, an objective's id":      {"plans/update", `{` + id + `}`, "-32000", "PLAN_NOT_FOUND"},
		"plan, a task's id":            {"plans/update", `{` + task + `}`, "-32000", "PLAN_NOT_FOUND"},
		"plan, no id of ours":          {"plans/update", `{"id":"plan-xyz789","status":"completed"}`, "-32000", "PLAN_NOT_FOUND"},
		"plan, an objective's word":    {"plans/update", `{` + plan + `,"status":"canceled"}`, "-32602", "status"},
		"plan, stale":                  {"plans/update", `{` + plan + `,"name":"x","metadata":{"longhaul/v1/revision":7}}`, "-32001", "STALE_REVISION"},
		"plan, blocked by us alone":    {"plans/update", `{` + plan + `,"status":"blocked"}`, "-32001", "INVALID_STATE_TRANSITION"},
		"order, with a name":           {"plans/update", `{` + plan + `,"name":"x","tasks":[{` + task + `,"dependencies":[]}]}`, "-32602", "tasks"},
		"order, of no task":            {"plans/update", `{` + plan + `,"tasks":[{"id":"OTHER","dependencies":[]}]}`, "-32602", "tasks[0].id"},
		"order, without one":           {"plans/update", `{` + plan + `,"tasks":[{` + task + `}]}`, "-32602", "tasks[0].dependencies"},
		"order, on itself":             {"plans/update", `{` + plan + `,"tasks":[{` + task + `,"dependencies":["task-0"]}]}`, "-32602", "tasks[0].dependencies[0]"},
		"order, cycle":                 {"plans/update", `{` + plan + `,"tasks":[{` + task + `,"dependencies":["task-1"]}]}`, "-32602", "tasks"},
		"order, stale":                 {"plans/update", `{` + plan + `,"tasks":[{` + task + `,"dependencies":[]}],"longhaul/v1/revision":7}`, "-32001", "STALE_REVISION"},
		"tasks, empty":                 {"plans/addTasks", `{` + plan + `,"tasks":[]}`, "-32602", "tasks"},
		"tasks, without a name":        {"plans/addTasks", `{` + plan + `,"tasks":[{"name":"x"},{}]}`, "-32602", "tasks[1].name"},
		"tasks, one too many":          {"plans/addTasks", `{` + plan + `,"tasks":` + many + `}`, "-32602", "tasks"},
		"tasks, cycle":                 {"plans/addTasks", `{` + plan + `,"tasks":[{"name":"a","dependencies":["task-3"]},{"name":"b","dependencies":["task-2"]}]}`, "-32602", "tasks"},
		"tasks, on itself":             {"plans/addTasks", `{` + plan + `,"tasks":[{"name":"a","dependencies":["task-2"]}]}`, "-32602", "tasks[0].dependencies[0]"},
		"tasks, on nothing":            {"plans/addTasks", `{` + plan + `,"tasks":[{"name":"a","dependencies":["task-4"]}]}`, "-32602", "tasks[0].dependencies[0]"},
		"tasks, on another plan's":     {"plans/addTasks", `{` + plan + `,"tasks":[{"name":"a","dependencies":["OTHER"]}]}`, "-32602", "tasks[0].dependencies[0]"},
		"tasks, stale":                 {"plans/addTasks", `{` + plan + `,"tasks":[{"name":"a"}],"metadata":{"longhaul/v1/revision":7}}`, "-32001", "STALE_REVISION"},
		"link, to itself":              {"tasks/link", `{` + task + `,"a2aTaskId":"TASK"}`, "-32602", "a2aTaskId"},
		"link, to its root task":       {"tasks/link", `{` + task + `,"a2aTaskId":"OBJ"}`, "-32602", "a2aTaskId"},
		"link, to a later attempt":     {"tasks/link", `{` + task + `,"a2aTaskId":"OBJ~2"}`, "-32602", "a2aTaskId"},
		"link, to its plan":            {"tasks/link", `{` + task + `,"a2aTaskId":"PLAN"}`, "-32602", "a2aTaskId"},
		"link, to one beside it":       {"tasks/link", `{` + task + `,"a2aTaskId":"OTHER"}`, "-32602", "a2aTaskId"},
		"link, control characters":     {"tasks/link", `{` + task + `,"a2aTaskId":"a\u0000"}`, "-32602", "a2aTaskId"},
		"link, the root task":          {"tasks/link", `{` + id + `,"a2aTaskId":"t"}`, "-32000", "PLAN_TASK_NOT_FOUND"},
		"status, unspecified":          {"tasks/updateStatus", `{` + task + `,"status":"TASK_STATE_UNSPECIFIED"}`, "-32602", "status"},
		"status, small in the long":    {"tasks/updateStatus", `{` + task + `,"status":"TASK_STATE_working"}`, "-32602", "status"},
		"status, a task of attempt 2":  {"tasks/updateStatus", `{"id":"TASK~2","status":"working"}`, "-32000", "PLAN_TASK_NOT_FOUND"},
		"status, waits before working": {"tasks/updateStatus", `{` + task + `,"status":"input-required"}`, "-32001", "INVALID_STATE_TRANSITION"},
	} {
		t.Run(name, func(t *testing.T) {
			params := strings.NewReplacer("OBJ", objectiveID, "PLAN", planID, "TASK", taskID, "OTHER", opt.TaskID(secondID, 0)).Replace(tc.params)
			s.unchanged(t, func() {
				n := s.call(t, tc.method, params)
				wantCode(t, n, tc.code)
				test.Is(t, "is wrong", tc.at, field(n)+n.at("error", "data", "0", "reason").String())
			})
		})
	}
}

// A move to the current status is allowed, and needs no engine.
func TestChanges_staying(t *testing.T) {
	s := newService(t)
	s.have(t)
	for _, move := range [][2]string{
		{objectiveID, "submitted"}, {planID, "pending"}, {taskID, "pending"}, {planID, "working"}, {taskID, "working"}, {taskID, "input-required"}, {taskID, "completed"},
		{objectiveID, "working"}, {objectiveID, "blocked"}, {secondID, "skipped"}, {objectiveID, "canceled"},
	} {
		id, status := move[0], move[1]
		s.update(t, id, status)
		s.unchanged(t, func() {
			n := s.update(t, id, status)
			if got := n.at("objective", "status").String() + n.at("plan", "status").String() + n.at("task", "status").String(); !strings.Contains(got, status) {
				t.Errorf("asked to stay %s: %v", status, n)
			}
		})
	}
}

// An objective or plan that has ended or is stopping cannot be changed.
func TestChanges_ofWhatHasEnded(t *testing.T) {
	ways := map[string]func(t *testing.T, s *fixture){
		"ended": func(t *testing.T, s *fixture) { s.update(t, objectiveID, "canceled") },
		"stopping": func(t *testing.T, s *fixture) {
			s.update(t, objectiveID, "working")
			s.world.Stubborn()
			s.update(t, objectiveID, "canceled")
		},
		"plan": func(t *testing.T, s *fixture) { s.update(t, planID, "skipped") },
	}
	which := map[string]int{"tasks/updateStatus": 1} // the first one would not change a working task
	for what, way := range ways {
		s := newService(t)
		s.have(t)
		way(t, s)
		for method := range changes {
			ofPlan := !strings.HasPrefix(method, "objectives/") && method != "plans/create"
			if isNew(method) || what == "plan" && !ofPlan {
				continue
			}
			s.unchanged(t, func() {
				n := s.call(t, method, change(method, which[method], ""))
				if text := wantCode(t, n, "-32001"); what == "plan" && text != "The plan has ended" && method != "tasks/updateStatus" || n.at("error", "data", "0", "reason").String() != "INVALID_STATE_TRANSITION" {
					t.Errorf("%s, %s: %v", method, what, n)
				}
			})
		}
	}
}

// If the engine is unavailable, a change fails with an error that does not
// contain the engine's text.
func TestChanges_unavailable(t *testing.T) {
	s := newService(t)
	s.have(t)
	for name, trouble := range map[string]error{
		"no engine": fmt.Errorf("dial: %w", opt.ErrUnavailable),
		"too late":  fmt.Errorf("signal: %w", context.DeadlineExceeded),
		"broken":    errors.New("a secret"),
	} {
		s.world.Down(trouble)
		for method := range changes {
			n := s.call(t, method, change(method, 0, ""))
			text := wantCode(t, n, "-32603")
			if got := n.at("error", "data", "0", "reason").String(); (got == "UNAVAILABLE") != (name != "broken") || strings.Contains(text, "secret") {
				t.Errorf("%s, %s: reason is %q: %s", name, method, got, text)
			}
		}
	}
}

// If the journal shows an open objective whose workflow an operator has ended,
// the call tries for a while and then fails.
func TestChanges_terminated(t *testing.T) {
	s := newService(t)
	s.have(t)
	s.world.Terminate(objectiveID)
	test.Is(t, "an objective that an operator has ended", "The objective has ended", wantCode(t, s.call(t, "objectives/update", `{"id":"`+objectiveID+`","name":"New"}`), "-32001"))
}

// If two services on one journal start objectives in a free context, one begins
// and the other waits.
func TestPlaces_twoServices(t *testing.T) {
	s := newService(t)
	other := s.twin()
	s.world.Sleep()
	answers := make(chan node, 2)
	for i, from := range []*fixture{s, other} {
		go func() {
			answers <- from.call(t, "SendMessage", `{"message":`+messageJSON(fmt.Sprint("m", i), "slow", `,"contextId":"mine"`)+`,"configuration":{"returnImmediately":true}}`)
		}()
	}
	waiting := 0
	for range 2 {
		task := (<-answers).at("result", "task")
		if task.at("metadata").has("longhaul/v1/queuedAt") {
			waiting++
		}
		i := slices.IndexFunc(s.world.Openings(), func(o opt.Opening) bool { return o.Objective.ID == task.at("id").String() })
		if got, want := s.world.Openings()[i].Objective.QueuedAt, task.at("metadata", "longhaul/v1/queuedAt").String(); !got.IsZero() && got.String() != want || got.IsZero() != (want == "") {
			t.Errorf("it was started as queued at %v, and shows %q", got, want)
		}
	}
	s.world.Wake()
	working := 0
	for i := range 2 {
		if _, running := s.running("task-" + u(fmt.Sprint("m", i)) + "-1-0"); running {
			working++
		}
	}
	if waiting != 1 || working != 1 {
		t.Errorf("%d wait and %d work, want one of each", waiting, working)
	}
}

// Large contents are complete in every read, and are stored once.
func TestLargeParts(t *testing.T) {
	s := newService(t)
	url := s.listen(t)
	large := strings.Repeat("ä", 200<<10)
	send := `{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"text":"slow"},{"text":"` + large + `"},{"text":"` + large + `"}]}}`
	id := s.must(t, "SendMessage", send).at("task", "id").String()
	check := func(where string, message node) {
		t.Helper()
		for _, i := range []string{"1", "2"} {
			if got := message.at("parts", i, "text").String(); got != large {
				t.Errorf("%s: part %s has %d bytes", where, i, len(got))
			}
		}
	}
	check("a repeat", s.must(t, "SendMessage", send).at("task", "history", "0"))
	check("GetTask", s.must(t, "GetTask", `{"id":"`+id+`"}`).at("history", "0"))
	check("ListTasks", s.must(t, "ListTasks", `{"contextId":"`+id+`","historyLength":5}`).at("tasks", "1", "history", "0"))
	r := open(t, url, "1.0", "SubscribeToTask", `{"id":"`+id+`"}`)
	check("a stream", r.event().data.at("result", "task", "history", "0"))
	task := "task-" + u("m") + "-1-0"
	work, _ := s.running(task)
	stored, err := json.Marshal(work)
	if err != nil || len(stored) > 10<<10 {
		t.Errorf("the work has %d bytes: %v", len(stored), err)
	}
	for _, e := range s.world.Events(id) {
		if b, _ := json.Marshal(e); len(b) > 10<<10 {
			t.Errorf("event %d has %d bytes", e.Seq, len(b))
		}
	}
}
