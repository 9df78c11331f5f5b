package rehearse_test

import (
	"testing"
	"time"

	"longhaul/a2a"
	"longhaul/internal/test"
	"longhaul/opt"
	"longhaul/opt/access"
	"longhaul/opt/rehearse"
)

// A quota of what work uses is reached by this work alone, or with others before it; each day has its own.
func TestRun_quotasOfUse(t *testing.T) {
	plan := func(opt.Objective, *a2a.Message) rehearse.Planned {
		return rehearse.Planned{Plans: []opt.PlanSpec{{Name: "Plan", Tasks: []opt.TaskSpec{{Name: "One"}, {Name: "Two"}}}}}
	}
	quotas := test.Value(access.Quotas{}.With("cost-per-day=5", "tokens-in-all=3"))(t)
	contexts := test.Value(access.Quotas{}.With("cost-per-day=7", "context-cost-in-all=2"))(t)
	times := test.Value(access.Quotas{}.With("time-per-day=30m", "context-time-in-all=1h"))(t)
	cost, _ := access.Quota("cost-per-day").Spending()
	work := rehearse.Work{Takes: rehearse.SpreadOf(20 * time.Minute), Cost: rehearse.SpreadOf(opt.Money(3_000_000))}
	late := time.Date(2026, 3, 1, 23, 30, 0, 0, time.UTC)
	for name, tt := range map[string]struct {
		a    rehearse.Assumptions
		want string
	}{
		"alone":         {rehearse.Assumptions{Quotas: quotas}, "cost-per-day at 40m0s: 6.00 of 5.00 used: what comes then waits until 2000-01-02 00:00 UTC."},
		"over midnight": {rehearse.Assumptions{Quotas: quotas, At: late}, ""},
		"with others":   {rehearse.Assumptions{Used: []access.Use{{Spending: cost, Used: 3_000_000, Limit: 5_000_000}}, At: late}, "cost-per-day at 20m0s: 6.00 of 5.00 used: what comes then waits until 2026-03-02 00:00 UTC."},
		"of contexts":   {rehearse.Assumptions{Quotas: contexts, Used: []access.Use{{Spending: cost, Limit: 7_000_000}}}, "context-cost-in-all at 20m0s: 3.00 of 2.00 used: what comes then waits until the limit is raised."},
		"of time":       {rehearse.Assumptions{Quotas: times}, "time-per-day at 40m0s: 40 min of 30 min used: what comes then waits until 2000-01-02 00:00 UTC."},
		"room":          {rehearse.Assumptions{Quotas: quotas, Used: []access.Use{{Spending: cost, Limit: 7_000_000}}}, ""},
	} {
		tt.a.Executors = map[string]rehearse.Work{"": work}
		r := test.Value(rehearse.Run(plan, a2a.Message{MessageID: "m", Parts: []a2a.Part{a2a.TextPart("go")}}, tt.a))(t)
		got := ""
		for _, w := range r.Warnings {
			got += w.Of + " at " + w.At.String() + ": " + w.Text
		}
		test.Is(t, name, tt.want, got)
	}
}
