package console_test

import (
	"context"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"longhaul/a2a"
	"longhaul/api/service"
	"longhaul/api/service/servicetest"
	"longhaul/internal/test"
	"longhaul/opt"
	"longhaul/opt/access"
	"longhaul/opt/shown"
)

func TestOverview(t *testing.T) {
	s := beginWork(t, planning{})
	b := s.signedIn(t, "acme/ann")
	empty := b.get("/console/")
	if empty.status != http.StatusOK || !strings.Contains(empty.text, "Nothing has been asked for yet") || strings.Contains(empty.text, "longest") {
		t.Fatalf("the empty overview: %d %s", empty.status, empty.text)
	}
	s.send(t, "acme/ann", "Approve it")
	s.send(t, "acme/ann", "Plan it")
	s.end(t, "acme", opt.TaskCompleted, time.Hour)
	s.end(t, "acme", opt.TaskCompleted, time.Hour)
	s.end(t, "acme", opt.TaskFailed, 2*time.Hour)
	s.end(t, "acme", opt.TaskCanceled, 2*time.Hour)
	s.end(t, "acme", opt.TaskFailed, 30*time.Hour)
	for range 3 {
		s.send(t, "umbrella/eve", "Approve a secret")
		s.end(t, "umbrella", opt.TaskFailed, time.Hour)
	}
	s.later()
	p := b.get("/console/")
	p.wants(t, "1 waits for an answer", "Really? for anyone who may answer", "under an hour 2", "2 completed in the last 24 hours", "1 failed in", "1 canceled in", "planning 1", "waiting or paused 1", "working 0", "main 4,800 136 0.20")
	p.holds(t, "A bar for each hour, at most 2.")
	bars := regexp.MustCompile(`<rect class="(completed|failed|canceled)"(?: fill="url\(#hatch-hour\)")? x="\d+" y="(\d+)" width="10" height="(\d+)"/>`).FindAllStringSubmatch(p.html, -1)
	if len(bars) != 3 {
		t.Fatalf("the picture has the bars %v", bars)
	}
	b.get("/console/objectives/"+opt.NewObjectiveID([16]byte{2, 1})).wants(t, "1,234 tokens, cost 0.05")
	if again := b.get("/console/"); again.html != p.html {
		t.Error("the page differs though nothing has happened")
	}
}

func TestOverview_isOfOneTenant(t *testing.T) {
	s := beginWork(t, planning{})
	s.send(t, "umbrella/eve", "Approve it")
	s.end(t, "umbrella", opt.TaskCompleted, time.Hour)
	s.signedIn(t, "umbrella/eve").get("/console/")
	s.signedIn(t, "acme/ann").get("/console/").wants(t, "Nothing has been asked for yet", "!main 1,200")
}

// end records an objective that ended a time ago.
func (s *workplace) end(t *testing.T, tenant string, as opt.TaskState, ago time.Duration) {
	t.Helper()
	s.ended++
	id := opt.NewObjectiveID([16]byte{2, byte(s.ended)})
	at := a2a.At(s.world.Now().Add(-ago))
	o := opt.Objective{
		ID: id, ContextID: id, Tenant: tenant, Principal: "ann", Name: "Ended", Status: opt.ObjectiveSubmitted, Root: opt.TaskSubmitted,
		CreatedAt: at, UpdatedAt: at, Attempt: 1, Revision: 1,
	}
	opened := opt.Opening{Objective: o, Idle: true}.Event()
	head := *o.Head()
	head.Status = opt.ObjectiveStatus(as)
	moved := opt.Event{N: 2, Kind: opt.ObjectiveMoved, At: at, To: string(as), Head: &head}
	root := opt.Event{N: 3, Kind: opt.TaskMoved, At: at, TaskID: id, From: string(opt.TaskSubmitted), To: string(as)}
	used := opt.Event{N: 4, Kind: opt.UsageAdded, At: at, Usage: &opt.Usage{Input: 1200, Output: 34, Cost: 50_000, Model: "main"}}
	test.OK(t, s.world.Journal().Record(t.Context(), opt.Batch{ObjectiveID: id, Source: id, Events: []opt.Event{opened, moved, root, used}}))
}

// The overview shows what waits for workers and how busy these are, without their names for most, and
// which open objective is nearest to the end of its budget.
func TestOverview_capacity(t *testing.T) {
	ask := func(context.Context) (shown.Workforce, error) {
		return shown.Workforce{
			Queues:  []shown.QueueLoad{{Of: "tasks", Waiting: 1200, Oldest: 90 * time.Second, Workers: 2}, {Of: "records"}},
			Workers: []shown.WorkerLoad{{Name: "7@one", Used: 150, Free: 50}},
		}, nil
	}
	s := beginService(t, servicetest.Config{Planner: approving, Script: func(opt.Work) servicetest.Play {
		return servicetest.Play{Outcome: &opt.Outcome{State: opt.TaskWorking, Usage: &opt.Usage{Input: 4000, Cost: 100_000}, Park: &opt.Park{Wait: 1_000_000}}}
	}}, func(c *service.Config) { c.Workforce = ask })
	s.say(t, "acme/ann", `{"messageId":"m-budget","role":"ROLE_USER","extensions":["`+a2a.ExtensionBudget+`"],"parts":[{"text":"Do it"}],"metadata":{"`+a2a.ExtensionBudget+`":{"tokens":5000,"cost":1,"time":60}}}`)
	s.say(t, "acme/ann", `{"messageId":"m-free","role":"ROLE_USER","parts":[{"text":"Spend it"}]}`)
	p := s.signedIn(t, "acme/ann runs:read").get("/console/")
	p.wants(t, "tasks 1,200 for up to 1 min 30 s 2", "records 0 none", "Worker 1 150 of 200", "!7@one", "Budgets of open objectives, the least left first Do it 4,000 of 5,000 tokens, cost 0.10 of 1.00", "!Spend it")
	s.signedIn(t, "acme/ann runs:read costs:read").get("/console/").wants(t, "7@one 150 of 200")
}

// A step that a quota holds back says why on the pages of its objective, and the overview shows the quotas of the tenant
// and what waits, of its own alone.
func TestOverview_quotas(t *testing.T) {
	quotas := test.Value(access.Quotas{}.With("acme:tokens-per-day=5000", "cost-in-all=9", "context-calls-in-all=1", "time-in-all=8h"))(t)
	const why = "Waits for the quota tokens-per-day of the tenant: 5,000 of 5,000 used."
	s := beginService(t, servicetest.Config{Planner: approving, Script: func(w opt.Work) servicetest.Play {
		if w.Leg > 0 {
			return servicetest.Play{Held: why}
		}
		return servicetest.Play{Outcome: &opt.Outcome{State: opt.TaskWorking, Usage: &opt.Usage{Input: 5000}, Ran: 12_000_000, Park: &opt.Park{}}}
	}}, func(c *service.Config) {
		c.Quotas = quotas
		c.Workforce = func(context.Context) (shown.Workforce, error) {
			return shown.Workforce{Queues: []shown.QueueLoad{{Of: "tasks", Waiting: 3, Oldest: time.Minute, Workers: 1}}}, nil
		}
	})
	id := s.send(t, "acme/ann", "Do it")
	b := s.signedIn(t, "acme/ann runs:read")
	b.get("/console/objectives/"+id).wants(t, why+" This holds back Approve", "!Works on")
	b.get("/console/").wants(t, "Quotas, the least left first tokens-per-day 5000 of 5000: new work is refused, and next steps wait until ", "time-in-all 3 h 20 min of 8 h", "cost-in-all 0.00 of 9.00", "!context-calls", "Wait for quotas, by context 1 ")
	s.signedIn(t, "umbrella/eve runs:read").get("/console/").wants(t, "!tokens-per-day", "!by context 1")
}

// The overview says if Temporal does not answer, and shows the rest.
func TestOverview_withoutTemporal(t *testing.T) {
	s := beginService(t, servicetest.Config{Planner: approving}, func(c *service.Config) {
		c.Workforce = func(context.Context) (shown.Workforce, error) { return shown.Workforce{}, opt.ErrUnavailable }
	})
	s.send(t, "acme/ann", "Do it")
	s.signedIn(t, "acme/ann").get("/console/").wants(t, "Temporal has not answered", "working 1")
}

// The sentence about a task that runs says if there are no workers.
func TestOverview_withoutWorkers(t *testing.T) {
	s := beginService(t, servicetest.Config{Planner: approving}, func(c *service.Config) {
		c.Workforce = func(context.Context) (shown.Workforce, error) {
			return shown.Workforce{Queues: []shown.QueueLoad{{Of: "tasks", Waiting: 1}}}, nil
		}
	})
	id := s.send(t, "acme/ann", "Do it")
	s.signedIn(t, "acme/ann").get("/console/objectives/"+id).wants(t, "Waits for a worker, and none runs tasks now: Approve")
}

// It says in which queue a task may wait for a worker: if the oldest there waits for as long, and not if that came later.
func TestOverview_queue(t *testing.T) {
	for oldest, want := range map[time.Duration]string{
		time.Minute: "Waits for a worker of the queue of tasks, where 3 tasks wait for up to 1 min, or has just got one: ", 10 * time.Second: "Works on ",
	} {
		s := beginService(t, servicetest.Config{Planner: approving, Script: func(opt.Work) servicetest.Play {
			return servicetest.Play{Outcome: &opt.Outcome{State: opt.TaskWorking, Park: &opt.Park{Wait: 1_000_000}}}
		}}, func(c *service.Config) {
			c.Workforce = func(context.Context) (shown.Workforce, error) {
				return shown.Workforce{Queues: []shown.QueueLoad{{Of: "tasks", Waiting: 3, Oldest: oldest, Workers: 1}}}, nil
			}
		})
		id := s.send(t, "acme/ann", "Do it")
		s.world.Advance(50 * time.Second)
		s.signedIn(t, "acme/ann").get("/console/objectives/"+id).wants(t, want)
	}
}
