package api_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"longhaul/a2a"
	"longhaul/api/call"
	"longhaul/internal/test"
	"longhaul/opt"
)

// spend records that the first task of an objective has used something.
func (s *fixture) spend(t *testing.T, source string, u opt.Usage, b *opt.Budgets) {
	t.Helper()
	e := opt.Event{N: 1, Kind: opt.UsageAdded, At: a2a.AtMillis(1_000_000), PlanID: planID, TaskID: taskID, Usage: &u, Budgets: b}
	test.OK(t, s.journal.Record(t.Context(), opt.Batch{ObjectiveID: objectiveID, Source: source, Events: []opt.Event{e}}))
}

// What work has used is shown with the objective, its plan and its task, and in lists; those of all tenants
// only to callers with the scope for it.
func TestListCosts(t *testing.T) {
	s := newService(t)
	s.have(t)
	s.spend(t, "one", opt.Usage{Input: 12_000, Cached: 100, Output: 400, Cost: 420_000, Model: "main"}, &opt.Budgets{Task: opt.SpendLimit{Tokens: 50_000}, Objective: opt.SpendLimit{Cost: 5_000_000}, Plan: opt.SpendLimit{Tokens: 90_000}})
	s.spend(t, "two", opt.Usage{Input: 1, Output: 1, Cost: 1, Ran: 90}, nil)
	o := s.must(t, "objectives/get", `{"id":"`+objectiveID+`"}`).at("objective")
	const counts = `"cachedTokens":100,"cost":"0.420001","inputTokens":12001,"outputTokens":401,"seconds":90`
	for i, tt := range []struct {
		of   node
		want string
	}{
		{o, `{"budget":{"cost":"5.00"},` + counts + `}`},
		{o.at("plans", "0"), `{"budget":{"tokens":90000},` + counts + `}`},
		{o.at("plans", "0", "tasks", "0"), `{"budget":{"tokens":50000},` + counts + `}`},
	} {
		test.Is(t, fmt.Sprint(i), tt.want, tt.of.at("metadata", opt.KeyUsage).String())
	}
	if got := s.must(t, "GetTask", `{"id":"`+opt.RootID(objectiveID, 1)+`"}`).at("metadata", opt.KeyUsage).String(); got != `{"budget":{"cost":"5.00"},`+counts+`}` {
		t.Errorf("the root task shows %s", got)
	}
	if _, run := s.page(t, http.MethodGet, "/v1/runs/"+objectiveID, ""); run.at("usage", "cost").String() != "0.420001" {
		t.Errorf("the run is %v", run)
	}
	for query, want := range map[string]string{
		"?by=model":                             `[{"cachedTokens":100,"cost":"0.42","inputTokens":12000,"of":"main","outputTokens":400},{"cost":"0.000001","inputTokens":1,"of":"","outputTokens":1}]`,
		"?by=model&pageSize=1":                  `[{"cachedTokens":100,"cost":"0.42","inputTokens":12000,"of":"main","outputTokens":400}]`,
		"?by=tenant":                            `[{` + strings.Replace(counts, `,"outputTokens"`, `,"of":"acme","outputTokens"`, 1) + `}]`,
		"?since=1970-01-01T01:00:00Z":           `[]`,
		"?by=tenant&until=1970-01-01T00:16:40Z": `[]`,
	} {
		status, n := s.page(t, http.MethodGet, "/v1/costs"+query, "")
		if status != http.StatusOK {
			t.Fatalf("%s: status %d: %v", query, status, n)
		}
		test.Equal(t, query, want, n.at("costs").String())
	}
	for i, tt := range []struct {
		query, who string
		status     int
	}{
		{"?by=tenant", limitedTo(without(call.ReadCosts)...), http.StatusForbidden},
		{"?by=tenant", "Bearer acme/ann all", http.StatusForbidden},
		{"?by=tenant", limitedTo(call.ReadCosts), http.StatusOK},
		{"", limitedTo(call.ReadRuns), http.StatusOK},
		{"", limitedTo(call.CreateRuns), http.StatusForbidden},
		{"?by=color", limitedTo(call.ReadRuns), http.StatusBadRequest},
	} {
		if status, n := s.page(t, http.MethodGet, "/v1/costs"+tt.query, "", "Authorization", tt.who); status != tt.status {
			t.Errorf("%d: status %d, want %d: %v", i, status, tt.status, n)
		}
	}
	if _, n := s.page(t, http.MethodGet, "/v1/costs", "", "Authorization", "Bearer rival/bob"); n.at("costs").String() != "[]" {
		t.Errorf("another tenant sees %v", n)
	}
}

// Work that has used time alone says so, and no model has that.
func TestListCosts_timeAlone(t *testing.T) {
	s := newService(t)
	s.have(t)
	s.spend(t, "one", opt.Usage{Ran: 90}, nil)
	const used = `"inputTokens":0,"outputTokens":0,"seconds":90}`
	for _, n := range []node{s.must(t, "objectives/get", `{"id":"`+objectiveID+`"}`).at("objective", "plans", "0", "tasks", "0"), s.must(t, "GetTask", `{"id":"`+taskID+`"}`)} {
		test.Is(t, "the task shows", "{"+used, n.at("metadata", opt.KeyUsage).String())
	}
	for by, want := range map[string]string{"model": `[]`, "tenant": `[{"inputTokens":0,"of":"acme","outputTokens":0,"seconds":90}]`} {
		_, n := s.page(t, http.MethodGet, "/v1/costs?by="+by, "")
		test.Is(t, by, want, n.at("costs").String())
	}
}
