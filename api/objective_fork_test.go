package api_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"longhaul/a2a"
	"longhaul/api/service/servicetest"
	"longhaul/internal/test"
	"longhaul/opt"
)

// writing is a service whose plans are: write, approve, publish.
func writing(t *testing.T, by *opt.Responders) *fixture {
	t.Helper()
	return newServiceIn(t, func(c *worldConfig) {
		gate := approval()
		gate.Responders = by
		c.Script = nil
		c.Planner = func(opt.Objective, *a2a.Message) (servicetest.Made, bool) {
			tasks := []opt.TaskSpec{{Name: "Write"}, {Name: "Approve", Ask: gate}, {Name: "Publish"}}
			return servicetest.Made{Plans: []opt.PlanSpec{{Name: "Plan", Tasks: tasks}}}, true
		}
	})
}

// fork has a fork made, and returns its id.
func (s *fixture) fork(t *testing.T, params string, headers ...string) string {
	t.Helper()
	return s.must(t, "objectives/fork", params, headers...).at("objective", "id").String()
}

// complete does all that an objective waits for, until it has ended: it completes tasks with texts, and
// accepts. It returns the names of the tasks that have run.
func (s *fixture) complete(t *testing.T, id string) (ran string) {
	t.Helper()
	for n := range 20 {
		o := s.world.Objective(id)
		if o.Status.Ended() {
			test.Is(t, id, opt.ObjectiveCompleted, o.Status)
			return strings.TrimSpace(ran)
		}
		for _, p := range o.Plans {
			for _, task := range p.Tasks {
				if work, running := s.running(task.A2AID()); running {
					ran += " " + task.Name
					s.world.Complete(task.A2AID(), a2a.Artifact{ArtifactID: opt.ArtifactID(task.ID, "out"), Parts: []a2a.Part{a2a.TextPart("made by " + work.TaskID)}})
				}
				if task.Gate != nil {
					s.say(t, task.A2AID(), fmt.Sprint("yes-", id, n), `{"data":{"action":"accept"}}`, "", "Authorization", "Bearer acme/carol")
				}
			}
		}
	}
	t.Fatalf("%s does not end", id)
	return ""
}

func (s *fixture) recorded(t *testing.T, id string) string {
	t.Helper()
	doc := test.Value(json.Marshal(s.world.Events(id)))(t)
	return string(doc)
}

// A fork of each event of an objective ends as that did: tasks that were finished before a decision are
// taken over, the gate asks again, and the original stays as it is. So does a fork of a fork.
func TestFork_atEveryEvent(t *testing.T) {
	s := writing(t, nil)
	id := s.send(t, "m", "write").at("id").String()
	s.complete(t, id)
	before := s.recorded(t, id)
	for _, e := range s.world.Events(id) {
		fork := s.fork(t, fmt.Sprintf(`{"id":%q,"at":%d,"repeat":true}`, id, e.Seq))
		again := s.fork(t, fmt.Sprintf(`{"id":%q,"repeat":true}`, fork))
		ran := s.complete(t, fork)
		first := s.world.Objective(fork).Plans[0].Tasks[0]
		switch {
		case first.Taken == nil && ran != "Write Publish", first.Taken != nil && ran != "Publish":
			t.Errorf("at event %d (%s): %s ran, taken over is %v", e.Seq, e.Event, ran, first.Taken)
		case first.Taken != nil && first.Taken.TaskID != opt.TaskID(opt.PlanID(id, 1), 0):
			t.Errorf("at event %d the first task is taken over from %s", e.Seq, first.Taken.TaskID)
		}
		s.complete(t, again)
	}
	if s.recorded(t, id) != before {
		t.Error("the original has changed")
	}
	last := s.fork(t, fmt.Sprintf(`{"id":%q}`, id))
	if s.complete(t, last) != "Publish" {
		t.Error("finished tasks have run again")
	}
	n := s.must(t, "objectives/get", `{"id":"`+last+`"}`).at("objective")
	test.Is(t, "it is a fork of", id, n.at("metadata", "longhaul/v1/forkOf", "objectiveId").String())
	shown := n.at("plans", "0", "tasks", "0", "metadata", "longhaul/v1/takenOver", "taskId").String()
	made := s.must(t, "GetTask", `{"id":"`+opt.TaskID(opt.PlanID(last, 1), 0)+`"}`).at("artifacts", "0", "parts", "0", "text").String()
	if shown != opt.TaskID(opt.PlanID(id, 1), 0) || made != "made by "+shown {
		t.Errorf("%s is taken over, with %q", shown, made)
	}
}

// An objective and its fork stand side by side: states, who decided, and results.
func TestCompareObjectives(t *testing.T) {
	s := writing(t, nil)
	id := s.send(t, "m", "write").at("id").String()
	s.complete(t, id)
	fork := s.fork(t, fmt.Sprintf(`{"id":%q}`, id))
	status, got := s.page(t, http.MethodGet, "/v1/objectives/"+id+"/compare?with="+fork, "")
	if status != http.StatusOK || got.at("a", "state").String() != "completed" || got.at("b", "id").String() != fork {
		t.Fatalf("%d: %v", status, got)
	}
	for i, want := range []string{"Plan / Write", "completed", "taken over", "", "Plan / Approve", "completed", "waiting", "carol", "Plan / Publish", "completed", "pending", ""} {
		task := got.at("tasks", fmt.Sprint(i/4))
		if is := []string{task.at("place").String(), task.at("a", "state").String(), task.at("b", "state").String(), task.at("a", "decidedBy").String()}[i%4]; is != want {
			t.Errorf("%q instead of %q in %v", is, want, task)
		}
	}
	if write := got.at("tasks", "0"); write.at("a", "text").String() == "" || write.at("a", "text").String() != write.at("b", "text").String() {
		t.Errorf("their results are %v", write)
	}
	if status, _ = s.page(t, http.MethodGet, "/v1/objectives/"+id+"/compare?with="+objectiveID, ""); status != http.StatusNotFound {
		t.Errorf("%d beside an unknown one", status)
	}
	if status, _ = s.page(t, http.MethodGet, "/v1/objectives/"+id+"/compare?with="+fork, "", "Authorization", "Bearer other/eve"); status != http.StatusNotFound {
		t.Errorf("%d for another tenant", status)
	}
}

// Tasks that have begun and have no recorded end are repeated only for a caller who says so.
func TestFork_repeats(t *testing.T) {
	s := newService(t)
	s.have(t)
	s.update(t, objectiveID, "working")
	n := s.call(t, "objectives/fork", `{"id":"`+objectiveID+`"}`)
	wantCode(t, n, "-32001")
	if info := n.at("error", "data", "0"); info.at("reason").String() != "INVALID_STATE_TRANSITION" || info.at("metadata", "tasks").String() != taskID {
		t.Errorf("the error is %v", n)
	}
	fork := s.fork(t, `{"id":"`+objectiveID+`","repeat":true}`)
	if _, running := s.running(opt.TaskID(opt.PlanID(fork, 1), 0)); !running {
		t.Error("the task does not run again")
	}
	for at, params := range map[string]string{"at": `"at":1000`, "tasks[0].id": `"repeat":true,"tasks":[{"id":"task-x"}]`} {
		test.Is(t, params+": the error is about", at, field(s.call(t, "objectives/fork", `{"id":"`+objectiveID+`",`+params+`}`)))
	}
}

// Who has asked for the original does not decide in a fork of it where requesters may not.
func TestFork_requesters(t *testing.T) {
	s := writing(t, &opt.Responders{NotRequester: true})
	id := s.send(t, "m", "write").at("id").String()
	s.world.Complete(opt.TaskID(opt.PlanID(id, 1), 0), a2a.Artifact{ArtifactID: "1-0-out", Parts: []a2a.Part{a2a.TextPart("text")}})
	fork := s.fork(t, `{"id":"`+id+`"}`, "Authorization", "Bearer acme/bob")
	gate := opt.TaskID(opt.PlanID(fork, 1), 1)
	for i, who := range []string{"ann", "bob"} {
		if n := s.say(t, gate, fmt.Sprint("no-", i), `{"data":{"action":"accept"}}`, "", "Authorization", "Bearer acme/"+who); !n.has("error") {
			t.Errorf("%s has decided: %v", who, n)
		}
	}
	s.complete(t, fork)
}

// A fork has copies of large contents, so that the original may be removed.
func TestFork_outlivesItsOriginal(t *testing.T) {
	s := writing(t, nil)
	large := strings.Repeat("large ", 10_000)
	id := s.send(t, "m", large).at("id").String()
	parts, blobs := a2a.Detach([]a2a.Part{a2a.TextPart(large + "made")})
	test.OK(t, s.journal.WriteBlobs(t.Context(), id, blobs))
	s.world.Complete(opt.TaskID(opt.PlanID(id, 1), 0), a2a.Artifact{ArtifactID: "1-0-out", Parts: parts})
	fork := s.fork(t, `{"id":"`+id+`"}`)
	s.forget(t, id)
	s.complete(t, fork)
	n := s.must(t, "GetTask", `{"id":"`+opt.TaskID(opt.PlanID(fork, 1), 0)+`"}`)
	if got := n.at("artifacts", "0", "parts", "0", "text").String(); got != large+"made" {
		t.Errorf("it has made %d bytes", len(got))
	}
	n = s.must(t, "GetTask", `{"id":"`+fork+`","historyLength":10}`)
	if got := n.at("history", "0", "parts", "0", "text").String(); got != large {
		t.Errorf("the request has %d bytes", len(got))
	}
}

// original returns who has decided in the original about the object of the gate at which an objective
// waits, and where, as the list of open gates has it.
func (s *fixture) original(t *testing.T, id string) (by, at string) {
	t.Helper()
	_, page := s.interrupts(t, "?objectiveId="+id)
	n := page.at("interrupts", "0")
	if n.at("objectiveId").String() != id {
		t.Fatalf("%s waits at no gate: %v", id, page)
	}
	return n.at("original", "decidedBy").String(), n.at("original", "taskId").String()
}

// A gate of a fork names who has decided about the same object in the original, to all who read it. Once
// the object is another one or has a note, it names no one.
func TestFork_original(t *testing.T) {
	s := newService(t)
	id := s.send(t, "m", "outline").at("id").String()
	s.say(t, opt.TaskID(opt.PlanID(id, 1), 1), "yes", `{"data":{"action":"accept"}}`, "", "Authorization", "Bearer acme/carol")
	fork := s.fork(t, fmt.Sprintf(`{"id":%q}`, id))
	again := s.fork(t, fmt.Sprintf(`{"id":%q}`, fork))
	claimed := s.fork(t, fmt.Sprintf(`{"id":%q,"plans":[{"name":"The plan","tasks":[{"name":"First"},`+
		`{"name":"Approve","earlier":[{"decidedBy":"ann"}],"ask":{"kind":"approval","original":{"decidedBy":"ann"}}}]}]}`, id))
	for _, of := range []string{fork, again} {
		if by, at := s.original(t, of); by != "carol" || at != opt.TaskID(opt.PlanID(id, 1), 1) {
			t.Errorf("%s was decided by %q at %s", of, by, at)
		}
	}
	if told := s.world.Objective(claimed).Plans[0].Tasks[1]; told.Name != "Approve" || told.Earlier != nil || told.Ask != nil {
		t.Errorf("a client has named a decision: %+v", told)
	}
	asks := opt.TaskID(opt.PlanID(fork, 1), 1)
	if got := s.must(t, "GetTask", `{"id":"`+asks+`"}`).at("status", "message"); !strings.Contains(fmt.Sprint(got), `"decidedBy":"carol"`) {
		t.Errorf("its status is %v", got)
	}
	s.say(t, fork, "note", `{"text":"It is for tea."}`, "")
	s.say(t, opt.TaskID(opt.PlanID(again, 1), 1), "more", `{"data":{"action":"refine","feedback":"More"}}`, "")
	for _, of := range []string{fork, again} {
		if by, _ := s.original(t, of); by != "" {
			t.Errorf("%s was decided by %q, with another object", of, by)
		}
	}
}

// Nothing that an executor says about the original is shown.
func TestFork_originalOfExecutor(t *testing.T) {
	s := newServiceIn(t, func(c *worldConfig) {
		c.Script = func(opt.Work) servicetest.Play {
			gate := approval()
			gate.Object = []a2a.Part{a2a.TextPart("The draft")}
			gate.Original = &opt.Original{ObjectDigest: gate.Digest(), Action: opt.Accept, DecidedBy: "ann"}
			return servicetest.Play{Outcome: &opt.Outcome{State: gate.State(), Gate: gate}}
		}
	})
	id := s.send(t, "m", "approve").at("id").String()
	if by, _ := s.original(t, id); by != "" {
		t.Errorf("it was decided by %q", by)
	}
}

// keeping is a service whose plans are: write, approve the text, publish. Forks keep the decision.
func keeping(t *testing.T, by *opt.Responders) *fixture {
	t.Helper()
	return newServiceIn(t, func(c *worldConfig) {
		gate := approval()
		gate.Responders, gate.Keep, gate.Form = by, true, &opt.GateForm{Object: []string{"task-0"}}
		c.Script = nil
		c.Planner = func(opt.Objective, *a2a.Message) (servicetest.Made, bool) {
			tasks := []opt.TaskSpec{{Name: "Write"}, {Name: "Approve", Ask: gate}, {Name: "Publish"}}
			return servicetest.Made{Plans: []opt.PlanSpec{{Name: "Plan", Tasks: tasks}}}, true
		}
	})
}

// records returns the decisions of an objective, whose chains verify.
func (s *fixture) records(t *testing.T, id string) (list []opt.Decision) {
	t.Helper()
	page := s.decisions(t, id, "")
	verified(t, page)
	test.OK(t, json.Unmarshal([]byte(page.at("decisions").String()), &list))
	return list
}

// A fork keeps the decision about the same object, and asks no one: its chain verifies and names the record
// in the original. A fork of the fork names the same one. All pages say so.
func TestFork_keepsDecision(t *testing.T) {
	s := keeping(t, &opt.Responders{NotRequester: true})
	id := s.send(t, "m", "write").at("id").String()
	s.complete(t, id)
	then := s.records(t, id)
	last := then[len(then)-1]
	fork := s.fork(t, fmt.Sprintf(`{"id":%q}`, id))
	test.Is(t, "has run", "Publish", s.complete(t, fork))
	again := s.fork(t, fmt.Sprintf(`{"id":%q}`, fork), "Authorization", "Bearer acme/dora")
	s.complete(t, again)
	for _, of := range []string{fork, again} {
		list := s.records(t, of)
		if len(list) != 1 || !list[0].IsAs(map[string]opt.Decision{last.Hash: last}) || list[0].DecidedBy != opt.ByOriginal || !list[0].Closed || list[0].Kept.ObjectiveID != id {
			t.Errorf("%s has the decisions %+v", of, list)
		}
		n := s.must(t, "GetTask", `{"id":"`+opt.TaskID(opt.PlanID(of, 1), 1)+`","historyLength":10}`)
		how := n.at("metadata", "openwop", "decision")
		if how.at("original", "decidedBy").String() != "carol" || how.at("original", "head", "hash").String() != last.Hash || how.at("original", "interruptId").String() != last.GateID {
			t.Errorf("its task says %v", how)
		}
	}
	if status, page := s.page(t, http.MethodGet, "/v1/objectives/"+id+"/compare?with="+fork, ""); status != http.StatusOK || page.at("tasks", "1", "b", "decidedBy").String() != "carol in the original" {
		t.Errorf("side by side: %d %v", status, page)
	}
}

// No client makes a fork keep what it must not: each of these asks again.
func TestFork_keepsDecision_hostile(t *testing.T) {
	forged := `{"interruptId":"x","objectDigest":"sha256:0","action":"accept","decidedBy":"carol","by":[{"action":"accept","decidedBy":"carol"}],"head":{"planId":"p","attempt":1,"n":1,"hash":"sha256:0"}}`
	for name, tc := range map[string]struct {
		by     *opt.Responders
		params string
		as     string
		then   func(t *testing.T, s *fixture, fork string) // before the object is there
	}{
		"the one who has decided makes the fork": {by: &opt.Responders{NotRequester: true}, as: "carol"},
		"plans of a client":                      {params: `,"plans":[{"name":"Plan","tasks":[{"name":"Write"},{"name":"Approve","keepDecision":true,"earlier":[` + forged + `],"ask":{"kind":"approval","keepDecision":true,"original":` + forged + `}},{"name":"Publish"}]}]`},
		"another message":                        {params: `,"message":"write another","metadata":{"original":` + forged + `,"longhaul/v1/original":` + forged + `}`},
		"another task before it":                 {params: `,"tasks":[{"id":"TASK0","name":"Write another"}]`},
		"a note to the fork": {params: `,"tasks":[{"id":"TASK0","name":"Write again"}]`, then: func(t *testing.T, s *fixture, fork string) {
			s.say(t, fork, "note", `{"text":"Publish it to all."}`, "")
		}},
	} {
		t.Run(name, func(t *testing.T) {
			s := keeping(t, tc.by)
			id := s.send(t, "m", "write").at("id").String()
			s.complete(t, id)
			params := strings.ReplaceAll(fmt.Sprintf(`{"id":%q%s}`, id, tc.params), "TASK0", opt.TaskID(opt.PlanID(id, 1), 0))
			fork := s.fork(t, params, "Authorization", "Bearer acme/"+cmp.Or(tc.as, "bob"))
			if tc.then != nil {
				tc.then(t, s, fork)
			}
			p := s.world.Objective(fork).Plans[0]
			if work, running := s.running(p.Tasks[0].A2AID()); running { // with the same text as in the original
				made := "made by " + opt.TaskID(opt.PlanID(id, 1), 0)
				s.world.Complete(work.TaskID, a2a.Artifact{ArtifactID: opt.ArtifactID(p.Tasks[0].ID, "out"), Parts: []a2a.Part{a2a.TextPart(made + map[bool]string{true: "", false: "!"}[tc.then != nil])}})
			}
			for _, d := range s.records(t, fork) {
				t.Errorf("it was decided: %+v", d)
			}
			if a := s.world.Objective(fork).Plans[0].Tasks[1]; tc.params == "" && a.Gate == nil || a.State == opt.TaskCompleted && a.Ask != nil {
				t.Errorf("the approval is %s", a.State)
			}
		})
	}
}
