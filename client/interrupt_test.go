package client_test

import (
	"errors"
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"

	"longhaul/client"
	"longhaul/opt"
)

func TestClient_Interrupts(t *testing.T) {
	const gate = `{"kind":"approval","interruptId":"task-x-1-0:1","taskId":"task-x-1-0","title":"Ship it?","actions":["accept"],"objectDigest":"sha256:1",` +
		`"taskName":"Approve","objectiveId":"obj-x","objectiveName":"Tea","contextId":"c","requestedBy":"ann"}`
	var query string
	a := newAgent(t, text(http.StatusServiceUnavailable, "application/json", `{"error":"unavailable","message":"Later"}`), func(w http.ResponseWriter, r *http.Request) {
		query = r.Method + " " + r.URL.String()
		text(http.StatusOK, "application/json", `{"interrupts":[`+gate+`],"nextPageToken":"p2","pageSize":1,"totalSize":7}`)(w, r)
	})
	page, err := a.client().Interrupts(t.Context(), client.InterruptOptions{Kind: opt.Approval, ObjectiveID: "obj-x", ContextID: "a b", PageSize: 1, PageToken: "p1"})
	if err != nil {
		t.Fatal(err)
	}
	if want := "GET /v1/interrupts?contextId=a+b&kind=approval&objectiveId=obj-x&pageSize=1&pageToken=p1"; query != want {
		t.Errorf("requested %s, want %s", query, want)
	}
	want := client.Interrupt{
		Gate:     opt.Gate{Kind: opt.Approval, ID: "task-x-1-0:1", TaskID: "task-x-1-0", Title: "Ship it?", Actions: []opt.Action{opt.Accept}, ObjectDigest: "sha256:1"},
		TaskName: "Approve", ObjectiveID: "obj-x", ObjectiveName: "Tea", ContextID: "c", RequestedBy: "ann",
	}
	if diff := cmp.Diff(want, page.Interrupts[0]); diff != "" {
		t.Errorf("interrupt (-want +got):\n%s", diff)
	}
	if page.NextPageToken != "p2" || page.TotalSize != 7 || string(page.Raw[0]) != gate {
		t.Errorf("page %+v", page)
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
		"no list of them": {text(http.StatusOK, "application/json", `[]`), "", 200},
	} {
		_, err := newAgent(t, tc.answer).client().Interrupts(t.Context(), client.InterruptOptions{})
		var refused *client.Error
		if !errors.As(err, &refused) || refused.Reason != tc.reason || refused.Status != tc.status {
			t.Errorf("%s: %v", name, err)
		}
	}
}
