package client_test

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/google/go-cmp/cmp"

	"longhaul/a2a"
	"longhaul/client"
	"longhaul/opt"
)

const nightly = `{"id":"nightly","text":"Write","cron":["@daily"],"overlap":"skip","catchUp":"1h0m0s","paused":false,"principal":"ann",` +
	`"createdAt":"2026-03-01T09:30:00.000Z","next":["2026-03-02T00:00:00.000Z"],"runs":[{"at":"2026-03-01T00:00:00.000Z","objectiveId":"obj-x","status":"completed"}],"skipped":1,"missed":2}`

// pages serves pages and keeps the requests.
func pages(t *testing.T, answers ...http.HandlerFunc) (*client.Client, *[]string) {
	t.Helper()
	var seen []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		seen = append(seen, r.Method+" "+r.URL.RequestURI()+" "+r.Header.Get("Content-Type")+" "+string(body))
		answer := answers[0]
		answers = answers[1:]
		answer(w, r)
	}))
	t.Cleanup(server.Close)
	return client.New(config(server.URL)), &seen
}

func TestClient_Schedules(t *testing.T) {
	page := func(body string) http.HandlerFunc { return text(http.StatusOK, "application/json", body) }
	c, seen := pages(t, page(`{"schedules":[`+nightly+`]}`), page(nightly), text(http.StatusServiceUnavailable, "text/plain", "later"), page(nightly), page(nightly), page(`{}`),
		page(`{"run":{"at":"2026-03-01T00:00:00.000Z","objectiveId":"obj-y"},"skipped":false,"pending":true}`),
		page(`{"runs":[{"at":"2026-03-01T00:00:00.000Z","objectiveId":"obj-z"}]}`))
	ctx := t.Context()
	list, err := c.Schedules(ctx)
	if err != nil || len(list) != 1 || string(list[0].Raw) != nightly {
		t.Fatalf("list %+v, %v", list, err)
	}
	s, err := c.Schedule(ctx, "night/ly")
	if err != nil {
		t.Fatal(err)
	}
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
	if err := c.DeleteSchedule(ctx, "nightly"); err != nil {
		t.Error(err)
	}
	if got, err := c.TriggerSchedule(ctx, "nightly", opt.OverlapAllow); err != nil || !got.Pending || got.Run.ObjectiveID != "obj-y" {
		t.Errorf("triggered %+v, %v", got, err)
	}
	if got, err := c.BackfillSchedule(ctx, "nightly", day(1), day(2), ""); err != nil || len(got) != 1 || got[0].ObjectiveID != "obj-z" {
		t.Errorf("backfilled %+v, %v", got, err)
	}
	const create = `POST /v1/schedules application/json {"id":"nightly","text":"Write","cron":["@daily"]}`
	want := []string{
		"GET /v1/schedules  ", "GET /v1/schedules/night%2Fly  ", create, create,
		`PATCH /v1/schedules/nightly application/json {"cron":[],"every":"2h","paused":true}`, "DELETE /v1/schedules/nightly  ",
		`POST /v1/schedules/nightly/trigger application/json {"overlap":"allow-all"}`,
		`POST /v1/schedules/nightly/backfill application/json {"from":"2026-03-01T00:00:00.000Z","until":"2026-03-02T00:00:00.000Z"}`,
	}
	if diff := cmp.Diff(want, *seen); diff != "" {
		t.Errorf("requests (-want +got):\n%s", diff)
	}
}

// A trigger is not repeated: it might start two objectives.
func TestClient_TriggerSchedule_once(t *testing.T) {
	c, seen := pages(t, text(http.StatusServiceUnavailable, "application/json", `{"error":"unavailable","message":"Later"}`))
	_, err := c.TriggerSchedule(t.Context(), "nightly", "")
	var refused *client.Error
	if !errors.As(err, &refused) || refused.Reason != client.ReasonUnavailable || len(*seen) != 1 {
		t.Errorf("%v after %q", err, *seen)
	}
}

func day(n int) a2a.Time {
	return a2a.AtMillis(1772323200000 + int64(n-1)*86400000)
}
