package api_test

import (
	"net/http"
	"testing"
	"time"

	"longhaul/a2a"
	"longhaul/api/call"
	"longhaul/internal/test"
	"longhaul/opt"
)

// A caller sees how much of its quotas the work of its tenant has used, and of one context if it asks, and of no other
// tenant.
func TestListQuotas(t *testing.T) {
	s := limited(t, "cost-in-all=2", "context-tokens-in-all=10", "open-gates=3", "time-in-all=8h")
	s.have(t)
	context := objectiveID
	used := opt.Event{N: 1, Kind: opt.UsageAdded, At: a2a.At(time.Now()), PlanID: planID, TaskID: taskID, Usage: &opt.Usage{Input: 9, Cost: 1_500_000, Ran: 12_000}}
	test.OK(t, s.journal.Record(t.Context(), opt.Batch{ObjectiveID: objectiveID, Source: "one", Events: []opt.Event{used}}))
	const cost = `{"limit":"2.00","quota":"cost-in-all","used":"1.50"},{"limit":"28800s","quota":"time-in-all","used":"12000s"}`
	for query, want := range map[string]string{
		"":                      `[` + cost + `]`,
		"?contextId=" + context: `[{"limit":"10","quota":"context-tokens-in-all","used":"9"},` + cost + `]`,
		"?contextId=other":      `[` + cost + `,{"limit":"10","quota":"context-tokens-in-all","used":"0"}]`,
	} {
		if status, n := s.page(t, http.MethodGet, "/v1/quotas"+query, ""); status != http.StatusOK || n.at("quotas").String() != want {
			t.Errorf("%q: status %d, %v, want %s", query, status, n, want)
		}
	}
	for who, want := range map[string]int{"Bearer globex/eve": http.StatusOK, limitedTo(without(call.ReadRuns)...): http.StatusForbidden} {
		if status, n := s.page(t, http.MethodGet, "/v1/quotas", "", "Authorization", who); status != want || status == http.StatusOK && n.at("quotas").String() != "[]" {
			t.Errorf("%s: status %d, %v", who, status, n)
		}
	}
}
