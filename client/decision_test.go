package client_test

import (
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"

	"longhaul/a2a"
	"longhaul/client"
	"longhaul/opt"
)

func TestClient_Decisions(t *testing.T) {
	const decision = `{"n":1,"objectiveId":"obj-x","planId":"plan-x-1","attempt":1,"taskId":"task-x-1-0","interruptId":"task-x-1-0:1","verdict":"accepted",` +
		`"decidedBy":"ann","decidedAt":"1970-01-01T00:00:01.000Z","previous":"","hash":"sha256:1","later":"x"}`
	var query string
	a := newAgent(t, text(http.StatusServiceUnavailable, "application/json", `{"error":"unavailable","message":"Later"}`), func(w http.ResponseWriter, r *http.Request) {
		query = r.Method + " " + r.URL.String()
		text(http.StatusOK, "application/json", `{"objectiveId":"obj-x","decisions":[`+decision+`],"head":{"objectiveId":"obj-x","count":7,`+
			`"chains":[{"planId":"plan-x-1","attempt":1,"n":7,"hash":"sha256:7"}],"signature":"s"},"nextPageToken":"p2","pageSize":1,"totalSize":7}`)(w, r)
	})
	page, err := a.client().Decisions(t.Context(), "obj-x", client.DecisionOptions{PageSize: 1, PageToken: "p 1"})
	if err != nil {
		t.Fatal(err)
	}
	if want := "GET /v1/objectives/obj-x/decisions?pageSize=1&pageToken=p+1"; query != want {
		t.Errorf("requested %s, want %s", query, want)
	}
	head := opt.DecisionHead{ObjectiveID: "obj-x", Count: 7, Signature: "s", Chains: []opt.ChainHead{{PlanID: "plan-x-1", Attempt: 1, Chain: opt.Chain{N: 7, Hash: "sha256:7"}}}}
	if diff := cmp.Diff(head, page.Head); diff != "" {
		t.Errorf("head (-want +got):\n%s", diff)
	}
	if d := page.Decisions[0]; d.N != 1 || d.DecidedBy != "ann" || d.Hash != "sha256:1" {
		t.Errorf("decision %+v", d)
	}
	if page.NextPageToken != "p2" || page.TotalSize != 7 || string(page.Raw[0]) != decision {
		t.Errorf("page %+v", page)
	}
}

func TestDecided(t *testing.T) {
	metadata := func(text string) a2a.Metadata { return a2a.Metadata{opt.KeyInterrupt: []byte(text)} }
	want := &opt.Decided{GateID: "g:1", Action: opt.Reject, DecidedBy: "ann", At: a2a.AtMillis(1_000), Feedback: "no"}
	got, ok := client.Decided(metadata(`{"decision":{"interruptId":"g:1","action":"reject","decidedBy":"ann","decidedAt":"1970-01-01T00:00:01.000Z","feedback":"no"}}`))
	if diff := cmp.Diff(want, got); diff != "" || !ok {
		t.Errorf("%v (-want +got):\n%s", ok, diff)
	}
	for _, m := range []a2a.Metadata{nil, metadata(`{}`), metadata(`[]`), metadata(`{"decision":{}}`), metadata(`{"interrupt":{"interruptId":"g:1"}}`)} {
		if d, ok := client.Decided(m); ok {
			t.Errorf("%s has %+v", m, d)
		}
	}
	if g, ok := client.Gate(metadata(`{"decision":{"interruptId":"g:1"}}`)); ok {
		t.Errorf("a decision is taken for the gate %+v", g)
	}
}
