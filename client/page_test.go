package client_test

import (
	"errors"
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"

	"longhaul/a2a"
	"longhaul/client"
	"longhaul/internal/test"
	"longhaul/opt"
	"longhaul/opt/timetable"
)

const nightly = `{"id":"nightly","text":"Write","cron":["@daily"],"overlap":"skip","catchUp":"1h0m0s","paused":false,"principal":"ann",` +
	`"createdAt":"2026-03-01T09:30:00.000Z","next":["2026-03-02T00:00:00.000Z"],"runs":[{"at":"2026-03-01T00:00:00.000Z","objectiveId":"obj-x","status":"completed"}],"skipped":1,"missed":2}`

// later is the answer of an agent that cannot serve a page yet.
var later = text(http.StatusServiceUnavailable, "application/json", `{"error":"unavailable","message":"Later"}`)

func page(body string) http.HandlerFunc { return text(http.StatusOK, "application/json", body) }

func TestClient_Schedules(t *testing.T) {
	a := newAgent(t, page(`{"schedules":[`+nightly+`]}`), page(nightly), text(http.StatusServiceUnavailable, "text/plain", "later"), page(nightly), page(nightly), page(`{"dropped":3}`),
		page(`{"run":{"at":"2026-03-01T00:00:00.000Z","objectiveId":"obj-y"},"skipped":false,"pending":true}`),
		page(`{"runs":[{"at":"2026-03-01T00:00:00.000Z","objectiveId":"obj-z"}]}`))
	c, ctx := a.client(), t.Context()
	list, err := c.Schedules(ctx)
	if err != nil || len(list.Items) != 1 || string(list.Raw[0]) != nightly {
		t.Fatalf("list %+v, %v", list, err)
	}
	s := test.Value(c.Schedule(ctx, "night/ly"))(t)
	if diff := cmp.Diff([]client.ScheduleRun{{At: day(1), ObjectiveID: "obj-x", Status: opt.ObjectiveCompleted}}, s.Runs); diff != "" || s.Skipped != 1 || s.Missed != 2 || s.Next[0] != day(2) {
		t.Errorf("schedule %+v", s)
	}
	if _, err := c.CreateSchedule(ctx, "nightly", client.ScheduleChange{Text: "Write", Cron: []string{"@daily"}}); err != nil {
		t.Error(err)
	}
	paused := true
	if _, err := c.UpdateSchedule(ctx, "nightly", client.ScheduleChange{Paused: &paused, Cron: []string{}, Every: "2h"}); err != nil {
		t.Error(err)
	}
	if dropped, err := c.DeleteSchedule(ctx, "nightly"); err != nil || dropped != 3 {
		t.Errorf("deleted, %d dropped: %v", dropped, err)
	}
	if got, err := c.TriggerSchedule(ctx, "nightly", timetable.OverlapAllow); err != nil || !got.Pending || got.Run.ObjectiveID != "obj-y" {
		t.Errorf("triggered %+v, %v", got, err)
	}
	if got, err := c.BackfillSchedule(ctx, "nightly", day(1), day(2), ""); err != nil || len(got) != 1 || got[0].ObjectiveID != "obj-z" {
		t.Errorf("backfilled %+v, %v", got, err)
	}
	const create = `POST /v1/schedules {"id":"nightly","text":"Write","cron":["@daily"]}`
	want := []string{
		"GET /v1/schedules", "GET /v1/schedules/night%2Fly", create, create,
		`PATCH /v1/schedules/nightly {"cron":[],"every":"2h","paused":true}`, "DELETE /v1/schedules/nightly",
		`POST /v1/schedules/nightly/trigger {"overlap":"allow-all"}`,
		`POST /v1/schedules/nightly/backfill {"from":"2026-03-01T00:00:00.000Z","until":"2026-03-02T00:00:00.000Z"}`,
	}
	test.Equal(t, "requests", want, a.seen())
}

// A trigger is not repeated: it might start two objectives.
func TestClient_TriggerSchedule_once(t *testing.T) {
	a := newAgent(t, later)
	_, err := a.client().TriggerSchedule(t.Context(), "nightly", "")
	var refused *client.Error
	if !errors.As(err, &refused) || refused.Reason != client.ReasonUnavailable || len(a.calls) != 1 {
		t.Errorf("%v after %q", err, a.seen())
	}
}

func day(n int) a2a.Time {
	return a2a.AtMillis(1772323200000 + int64(n-1)*86400000)
}

func TestClient_Interrupts(t *testing.T) {
	const gate = `{"kind":"approval","interruptId":"task-x-1-0:1","taskId":"task-x-1-0","title":"Ship it?","actions":["accept"],"objectDigest":"sha256:1",` +
		`"taskName":"Approve","objectiveId":"obj-x","objectiveName":"Tea","contextId":"c","requestedBy":"ann"}`
	a := newAgent(t, later, page(`{"interrupts":[`+gate+`],"nextPageToken":"p2","pageSize":1,"totalSize":7}`))
	got := test.Value(a.client().Interrupts(t.Context(), client.InterruptOptions{Kind: opt.Approval, ObjectiveID: "obj-x", ContextID: "a b", PageSize: 1, PageToken: "p1"}))(t)
	if want := "GET /v1/interrupts?contextId=a+b&kind=approval&objectiveId=obj-x&pageSize=1&pageToken=p1"; a.seen()[1] != want {
		t.Errorf("requested %s, want %s", a.seen(), want)
	}
	want := client.Interrupt{
		Gate:     opt.Gate{Kind: opt.Approval, ID: "task-x-1-0:1", TaskID: "task-x-1-0", Title: "Ship it?", Actions: []opt.Action{opt.Accept}, ObjectDigest: "sha256:1"},
		TaskName: "Approve", ObjectiveID: "obj-x", ObjectiveName: "Tea", ContextID: "c", RequestedBy: "ann",
	}
	test.Equal(t, "interrupt", want, got.Items[0])
	if got.NextPageToken != "p2" || got.TotalSize != 7 || string(got.Raw[0]) != gate {
		t.Errorf("page %+v", got)
	}
}

func TestClient_Interrupts_refused(t *testing.T) {
	for name, tc := range map[string]struct {
		answer http.HandlerFunc
		reason string
		status int
	}{
		"forbidden":       {text(http.StatusForbidden, "application/json", `{"error":"permission_denied","message":"Permission denied"}`), "PERMISSION_DENIED", 403},
		"no such page":    {http.NotFound, "", 404},
		"no JSON":         {text(http.StatusOK, "text/html", "<html>"), "", 200},
		"no list of them": {page(`[]`), "", 200},
	} {
		_, err := newAgent(t, tc.answer).client().Interrupts(t.Context(), client.InterruptOptions{})
		var refused *client.Error
		if !errors.As(err, &refused) || refused.Reason != tc.reason || refused.Status != tc.status {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestClient_Decisions(t *testing.T) {
	const decision = `{"n":1,"objectiveId":"obj-x","planId":"plan-x-1","attempt":1,"taskId":"task-x-1-0","interruptId":"task-x-1-0:1","verdict":"accepted",` +
		`"decidedBy":"ann","decidedAt":"1970-01-01T00:00:01.000Z","previous":"","hash":"sha256:1","later":"x"}`
	a := newAgent(t, later, page(`{"objectiveId":"obj-x","decisions":[`+decision+`],"head":{"objectiveId":"obj-x","count":7,`+
		`"chains":[{"planId":"plan-x-1","attempt":1,"n":7,"hash":"sha256:7"}],"signature":"s"},"nextPageToken":"p2","pageSize":1,"totalSize":7}`))
	got := test.Value(a.client().Decisions(t.Context(), "obj-x", client.DecisionOptions{PageSize: 1, PageToken: "p 1"}))(t)
	if want := "GET /v1/objectives/obj-x/decisions?pageSize=1&pageToken=p+1"; a.seen()[1] != want {
		t.Errorf("requested %s, want %s", a.seen(), want)
	}
	head := opt.DecisionHead{ObjectiveID: "obj-x", Count: 7, Signature: "s", Chains: []opt.ChainHead{{PlanID: "plan-x-1", Attempt: 1, Chain: opt.Chain{N: 7, Hash: "sha256:7"}}}}
	test.Equal(t, "head", &head, got.Head)
	if d := got.Items[0]; d.N != 1 || d.DecidedBy != "ann" || d.Hash != "sha256:1" {
		t.Errorf("decision %+v", d)
	}
	if got.NextPageToken != "p2" || got.TotalSize != 7 || string(got.Raw[0]) != decision {
		t.Errorf("page %+v", got)
	}
}
