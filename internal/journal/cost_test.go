package journal_test

import (
	"testing"
	"time"

	"longhaul/a2a"
	"longhaul/internal/journal"
	"longhaul/internal/test"
	"longhaul/opt"
	"longhaul/opt/shown"
)

// What models have used is added up for tasks, plans, objectives, contexts, models and tenants, within a
// time. It is counted once if it is recorded again, also after its task has ended or was retried, and goes with
// its objective.
func TestJournal_Costs(t *testing.T) {
	each(t, func(t *testing.T, open func() *journal.Journal) {
		j := open()
		o := newObjective()
		s := begin(t, j, o)
		used := func(task int, at, input int64, model string) opt.Event {
			e := s.moved(0, task, opt.TaskWorking)
			e.Kind, e.At, e.Usage = opt.UsageAdded, a2a.AtMillis(at), &opt.Usage{Input: input, Cached: 1, Output: 2, Cost: opt.Money(input), Model: model}
			return e
		}
		limited := used(0, 1000, 10, "main")
		limited.Budgets = &opt.Budgets{Task: opt.SpendLimit{Tokens: 100}, Objective: opt.SpendLimit{Cost: 7}, Plan: opt.SpendLimit{Tokens: 200}}
		s.record(planAdded(o, 0, 2), s.moved(0, 0, opt.TaskWorking), limited, s.moved(0, 0, opt.TaskCompleted), used(0, 2000, 20, "other"), used(1, 3000, 40, "main"))
		planner := opt.Event{Kind: opt.UsageAdded, At: a2a.AtMillis(4000), Usage: &opt.Usage{Input: 80, Model: "main"}}
		s.record(planner)
		for range 2 { // the second time it is known
			test.OK(t, j.Record(t.Context(), opt.Batch{ObjectiveID: o.ID, Source: "again", Events: []opt.Event{{N: 1, Kind: opt.UsageAdded, At: a2a.AtMillis(5000), Usage: &opt.Usage{Input: 160}}}}))
		}

		got := test.Value(j.Objective(t.Context(), o.Tenant, o.ID))(t)
		p := got.Plans[0]
		test.Equal(t, "the objective", opt.Used{Usage: opt.Usage{Input: 310, Cached: 3, Output: 6, Cost: 70}, Limit: opt.SpendLimit{Cost: 7}}, got.Used)
		test.Equal(t, "the plan", opt.Used{Usage: opt.Usage{Input: 70, Cached: 3, Output: 6, Cost: 70}, Limit: opt.SpendLimit{Tokens: 200}}, p.Used)
		test.Equal(t, "the first task", opt.Used{Usage: opt.Usage{Input: 30, Cached: 2, Output: 4, Cost: 30}, Limit: opt.SpendLimit{Tokens: 100}}, p.Tasks[0].Used)
		test.Equal(t, "its view", p.Tasks[0].Used, s.view(s.task(0, 0)).Used)
		test.Equal(t, "the view of the root task", got.Used, s.view(o.RootID()).Used)
		kept := test.Value(j.Kept(t.Context(), o.Tenant, o.ID))(t)
		test.Equal(t, "for a retry", []opt.Usage{got.Used.Usage, p.Used.Usage}, []opt.Usage{kept.Used, kept.UsedBy[p.ID]})

		other := newObjective()
		other.Tenant = "globex"
		begin(t, j, other).record(opt.Event{Kind: opt.UsageAdded, At: a2a.AtMillis(3000), Usage: &opt.Usage{Input: 1, Cost: 1000}})
		inputs := func(s shown.CostSearch) map[string]int64 {
			t.Helper()
			s.Limit = 50
			list := test.Value(j.Costs(t.Context(), o.Tenant, s))(t)
			out := map[string]int64{}
			for i, c := range list {
				if out[c.Of] = c.Usage.Input; i > 0 && list[i-1].Usage.Cost < c.Usage.Cost {
					t.Errorf("%+v comes behind %+v", c, list[i-1])
				}
			}
			return out
		}
		test.Equal(t, "by context", map[string]int64{o.ContextID: 310}, inputs(shown.CostSearch{By: shown.ByContext}))
		test.Equal(t, "by model", map[string]int64{"main": 130, "other": 20, "": 160}, inputs(shown.CostSearch{By: shown.ByModel}))
		test.Equal(t, "by tenant", map[string]int64{o.Tenant: 310, "globex": 1}, inputs(shown.CostSearch{By: shown.ByTenant, All: true}))
		test.Equal(t, "within a time", map[string]int64{"main": 40, "other": 20}, inputs(shown.CostSearch{By: shown.ByModel, Since: a2a.AtMillis(2000), Until: a2a.AtMillis(4000)}))
		fails(t, "by color", opt.ErrMalformed)(j.Costs(t.Context(), o.Tenant, shown.CostSearch{By: "color"}))

		s.record(opt.Event{Kind: opt.ObjectiveMoved, To: "completed"})
		if n, err := j.Purge(t.Context(), time.Now(), 10); n != 1 || err != nil {
			t.Fatalf("purged %d, %v", n, err)
		}
		test.Equal(t, "after the purge", map[string]int64{}, inputs(shown.CostSearch{By: shown.ByModel}))
	})
}
