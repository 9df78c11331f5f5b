package api_test

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"longhaul/internal/test"
	"longhaul/opt"
	"longhaul/opt/shown"
)

// Metadata is replaced, except for the server's keys.
func TestObjectiveUpdate_metadata(t *testing.T) {
	for name, tc := range map[string]struct{ metadata, want string }{
		"replaced":              {`{"a":1.0}`, `{"a":1.0,"longhaul/v1/reason":"kept","longhaul/v1/revision":2}`},
		"emptied":               {`{}`, `{"longhaul/v1/reason":"kept","longhaul/v1/revision":2}`},
		"null":                  {`null`, `{"longhaul/v1/reason":"kept","longhaul/v1/revision":1,"team":"x"}`},
		"nothing but ours":      {`{"longhaul/v1/reason":"forged","longhaul/v1/revision":1}`, `{"longhaul/v1/reason":"kept","longhaul/v1/revision":1,"team":"x"}`},
		"ours beside theirs":    {`{"longhaul/v1/reason":"forged","opt/v1/objectiveId":"x","openwop":{},"b":null}`, `{"b":null,"longhaul/v1/reason":"kept","longhaul/v1/revision":2}`},
		"what clients may wish": {`{"opt/v1/optional":true}`, `{"longhaul/v1/reason":"kept","longhaul/v1/revision":2,"opt/v1/optional":true}`},
	} {
		s := newService(t)
		s.open(t)
		n := s.call(t, "objectives/update", `{"id":"`+objectiveID+`","metadata":`+tc.metadata+`}`)
		test.Is(t, name+": metadata", tc.want, n.at("result", "objective", "metadata").String())
	}
}

// A cancellation is answered when everything has stopped, or with the current
// objective if that takes too long.
func TestObjectiveUpdate_waitsForTheEnd(t *testing.T) {
	s := newService(t)
	s.have(t)
	s.update(t, objectiveID, "working")
	s.world.Stubborn()
	test.Is(t, "with a task that does not stop the objective", "working", s.update(t, objectiveID, "canceled").at("objective", "status").String())
	s.world.Stop(taskID)
	test.Is(t, "then it", "canceled", s.objective(t).at("status").String())
	s = newService(t)
	s.have(t)
	s.update(t, objectiveID, "working")
	if got := s.update(t, objectiveID, "canceled").at("objective"); got.at("status").String() != "canceled" || got.at("plans", "1", "status").String() != "skipped" {
		t.Errorf("the objective is %v", got)
	}
}

// During a pause with an open gate the objective shows both, and an answer at the
// gate starts nothing.
func TestObjectiveUpdate_pausesAtAGate(t *testing.T) {
	s := newService(t)
	s.have(t)
	s.update(t, objectiveID, "working")
	s.world.Gate(taskID, *approval())
	m := s.update(t, objectiveID, "blocked").at("objective", "metadata")
	wantTrue(t, m.at(opt.KeyPaused))
	if m.at("longhaul/v1/blockedBy", "interruptId").String() != taskID+":1" {
		t.Errorf("the gate does not show: %v", m)
	}
	if n := s.say(t, objectiveID, "r", `{"text":"accept"}`, ""); n.has("error") {
		t.Fatal(n)
	}
	if _, running := s.running(taskID); running {
		t.Error("the answer has started the task")
	}
	o := s.objective(t)
	wantTrue(t, o.at("metadata", opt.KeyPaused))
	if o.at("status").String() != "blocked" || o.at("metadata").has("longhaul/v1/blockedBy") {
		t.Errorf("after the answer the objective is %v", o)
	}
	s.update(t, objectiveID, "working")
	if _, running := s.running(taskID); !running {
		t.Error("the task does not continue")
	}
}

// If two clients retry at the same time, one new attempt begins, and both get it
// as the answer.
func TestObjectiveUpdate_retriesOnce(t *testing.T) {
	s := newService(t)
	s.open(t)
	s.update(t, objectiveID, "canceled")
	s.world.Sleep()
	answers := make(chan node, 2)
	for range 2 {
		go func() {
			answers <- s.call(t, "objectives/update", `{"id":"`+objectiveID+`","status":"submitted"}`)
		}()
	}
	s.until(t, func() bool { return len(s.world.Commands()) == 3 })
	s.world.Wake()
	for range 2 {
		if n := <-answers; n.at("result", "objective", "status").String() != "submitted" {
			t.Errorf("the answer is %v", n)
		}
	}
	test.Is(t, "it is attempt", 2, s.world.Objective(objectiveID).Attempt)
}

// An objective is protected from the purge before the engine is asked to retry
// it.
func TestObjectiveUpdate_retryIsKept(t *testing.T) {
	s := newService(t)
	s.open(t)
	s.update(t, objectiveID, "canceled")
	s.world.Advance(1000 * tick)
	s.world.Down(opt.ErrUnavailable)
	wantCode(t, s.call(t, "objectives/update", `{"id":"`+objectiveID+`","status":"submitted"}`), "-32603")
	n, err := s.journal.Purge(t.Context(), s.world.Now(), 10)
	if err != nil || n != 0 {
		t.Errorf("%d objectives were removed: %v", n, err)
	}
	s.world.Advance(tick)
	if n, err := s.journal.Purge(t.Context(), s.world.Now(), 10); err != nil || n != 1 {
		t.Errorf("later %d were removed: %v", n, err)
	}
}

// The metadata of an objective says what blocks it.
func TestObjective_blockedBy(t *testing.T) {
	s := newService(t)
	s.have(t)
	s.update(t, objectiveID, "working")
	s.world.Gate(taskID, *approval())
	want := fmt.Sprintf(`{"interruptId":"%s:1","planId":"%s","question":"Publish?","taskId":"%s"}`, taskID, planID, taskID)
	test.Is(t, "blocked by", want, s.objective(t).at("metadata", "longhaul/v1/blockedBy").String())
	s.update(t, taskID, "working")
	if m := s.objective(t).at("metadata"); m.has("longhaul/v1/blockedBy") || m.has("opt/v1/blockedReason") {
		t.Errorf("metadata is %v", m)
	}
	s.update(t, taskID, "auth-required") // by hand, without a gate
	test.Is(t, "blocked by", `{"planId":"`+planID+`","taskId":"`+taskID+`"}`, s.objective(t).at("metadata", "longhaul/v1/blockedBy").String())
}

// The answer shows planning, even if planning has already ended. An objective without plans
// may be replanned, too.
func TestReplan(t *testing.T) {
	s := newService(t)
	id := s.send(t, "m", "slow").at("id").String()
	test.Is(t, "with a quick planner the answer shows", "planning", s.must(t, "objectives/replan", `{"id":"`+id+`"}`).at("objective", "status").String())
	test.Is(t, "then it", opt.ObjectiveWorking, s.world.Objective(id).Status)
	s.open(t)
	s.update(t, objectiveID, "working")
	test.Is(t, "without plans the objective", "planning", s.must(t, "objectives/replan", `{"id":"`+objectiveID+`"}`).at("objective", "status").String())
	s.world.Planned(objectiveID, madeOf("Found"))
	if o := s.objective(t); o.at("status").String() != "working" || o.at("plans", "0", "name").String() != "Found" {
		t.Errorf("the objective is %v", o)
	}
}

// An objective that was not started in time is canceled with that reason.
func TestObjective_expires(t *testing.T) {
	s := newServiceIn(t, func(c *worldConfig) { c.IdleFor = 10 * tick })
	s.open(t)
	s.world.Advance(20 * tick)
	o := s.objective(t)
	if got := o.at("metadata", "opt/v1/failureReason").String(); o.at("status").String() != "canceled" || got != "expired" {
		t.Errorf("the reason is %q: %v", got, o)
	}
}

// Reads of an objective and of a plan say for which worker a task waits, as far as the latest answer of Temporal says
// it: they do not wait for one, and ask for none while one is fresh.
func TestObjectiveGet_waits(t *testing.T) {
	var asked atomic.Int64
	s := newService(t, func(c *config) {
		c.Workforce = func(context.Context) (shown.Workforce, error) {
			load := shown.QueueLoad{Of: "tasks", Waiting: 3, Oldest: time.Minute, Workers: 1}
			if asked.Add(1) > 1 {
				load.Workers = 0
			}
			return shown.Workforce{Queues: []shown.QueueLoad{load}}, nil
		}
	})
	s.have(t)
	s.update(t, objectiveID, "working")
	reads := func() (seen string) {
		plan := s.must(t, "plans/get", `{"id":"`+planID+`"}`).at("plan")
		for _, p := range []node{s.objective(t).at("plans", "0"), plan} {
			for _, i := range []string{"0", "1"} {
				m := p.at("tasks", i, "metadata")
				seen += fmt.Sprintf("%s %s.", m.at("longhaul/v1/statusReason"), m.at("longhaul/v1/statusText"))
			}
		}
		return seen
	}
	const none, queue = " . .", "worker Waits for a worker of the queue of tasks, where 3 tasks wait for up to 1 min, or has just got one. ."
	s.until(t, func() bool { return reads() != none+none })
	if got := reads(); got != queue+queue {
		t.Errorf("they say %q, want %q", got, queue)
	}
	for range 20 {
		reads()
	}
	if n := asked.Load(); n != 1 {
		t.Errorf("Temporal was asked %d times", n)
	}
	s.world.Advance(4 * time.Second)
	s.until(t, func() bool {
		return strings.HasPrefix(reads(), "worker Waits for a worker, and none runs tasks now. .")
	})
}
