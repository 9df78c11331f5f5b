package console_test

import (
	"net/http"
	"strings"
	"testing"

	"longhaul/internal/test"
	"longhaul/opt"
)

// The search of all pages finds objectives, tasks, questions and people, of the own tenant
// alone. Ids lead to what they name.
func TestFind(t *testing.T) {
	s := beginWork(t, planning{})
	s.send(t, "umbrella/eve", "Approve a secret report")
	id := s.send(t, "acme/bob", "Approve the report")
	b := s.signedIn(t, "acme/ann")
	gate := opt.GateID(opt.TaskID(opt.PlanID(id, 1), 0), 1)
	for query, want := range map[string][]string{
		"REPORT":  {"Objectives waiting Approve the report · bob", "!secret", "!Nothing has"},
		"really":  {"Questions waiting Really? · Approve the report"},
		"approve": {"Tasks waiting Approve"},
		"bob":     {"1 objective that bob has asked for"},
		"eve":     {"Nothing has this text."},
		"":        {"Type a part of a name"},
	} {
		b.get("/console/find?q="+query).wants(t, want...)
	}
	for query, path := range map[string]string{
		id: "/console/objectives/" + id, opt.PlanID(id, 1): "/console/objectives/" + id + "?plan=1",
		opt.TaskID(opt.PlanID(id, 1), 0): "/console/objectives/" + id + "?task=1-0", gate: "/console/inbox/" + gate,
	} {
		p := b.get("/console/find?q=" + query)
		if at := strings.TrimSuffix(p.path+"?"+p.query, "?"); at != path || p.status != http.StatusOK {
			t.Errorf("%s leads to %s: %d", query, at, p.status)
		}
	}
	b.get("/console/find?q="+strings.Repeat("x", 3000)).shows(t, http.StatusOK)
}

// The list shows the columns that the address names, in its order.
func TestObjectives_columnsAndOrder(t *testing.T) {
	s := beginWork(t, planning{})
	s.send(t, "acme/ann", "Approve the report")
	s.send(t, "acme/bob", "Approve the trip")
	b := s.signedIn(t, "acme/ann")
	for query, want := range map[string]string{
		"sort=oldest": "Approve the report, Approve the trip", "sort=": "Approve the trip, Approve the report", "by=bob": "Approve the trip", "by=bo": "",
		"code=broken": "", "age=1h": "Approve the trip, Approve the report", "by=ann&sort=unchanged": "Approve the report",
	} {
		test.Is(t, query+" lists", want, rows(b.get("/console/objectives?"+query)))
	}
	b.get("/console/objectives?cols=changed&cols=failure").wants(t, "State Objective Failure Changed", "!Progress waiting", "!Created waiting")
	for _, query := range []string{"sort=x", "age=3h", "cols=" + strings.Repeat("x", 3000)} {
		b.get("/console/objectives?"+query).shows(t, http.StatusBadRequest)
	}
}
