package client_test

import (
	"encoding/json"
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"

	"longhaul/a2a"
	"longhaul/client"
	"longhaul/internal/test"
	"longhaul/opt"
)

const planJSON = `{"id":"plan-1","objectiveId":"obj-1","name":"Research","status":"working","dependencies":[],"metadata":{},
	"createdAt":"2026-03-01T09:30:00.000Z","updatedAt":"2026-03-01T09:30:01.000Z",
	"tasks":[{"id":"task-1","planId":"plan-1","objectiveId":"obj-1","name":"Search","taskIndex":0,"dependencies":[],"a2aTaskId":"task-1","status":"working","metadata":{}},
	         {"id":"task-2","planId":"plan-1","objectiveId":"obj-1","name":"Sum up","taskIndex":1,"dependencies":["task-1"],"status":"pending","metadata":{"k":1.0}}]}`

const objectiveJSON = `{"id":"obj-1","name":"Tea","description":"all of it","status":"planning","metadata":{},
	"createdAt":"2026-03-01T09:30:00.000Z","updatedAt":"2026-03-01T09:30:00.000Z","plans":[` + planJSON + `]}`

func TestClient_objectives(t *testing.T) {
	a := newAgent(t,
		result(`{"objective":`+objectiveJSON+`,"id":"obj-1","name":"Tea"}`),
		result(`{"objective":`+objectiveJSON+`}`),
		result(`{"objectives":[{"id":"obj-1","name":"Tea","status":"submitted","metadata":{},"createdAt":"2026-03-01T09:30:00.000Z","updatedAt":"2026-03-01T09:30:00.000Z"}],"totalSize":3,"nextPageToken":"p2"}`),
		result(`{"plan":`+planJSON+`,"id":"plan-1"}`),
		result(`{"plan":`+planJSON+`}`),
	)
	c := a.client()
	created, err := c.CreateObjective(t.Context(), client.NewObjective{Name: "Tea", Description: "all of it", Metadata: a2a.Metadata{}.With(opt.KeyAutoStart, true)})
	check(t, "CreateObjective", err)
	read, err := c.GetObjective(t.Context(), "obj-1")
	check(t, "GetObjective", err)
	if diff := cmp.Diff(created, read); diff != "" || read.Status != opt.ObjectivePlanning || len(read.Plans) != 1 {
		t.Errorf("GetObjective gave %+v, difference:\n%s", read, diff)
	}
	page, err := c.ListObjectives(t.Context(), client.ObjectiveOptions{Status: opt.ObjectiveSubmitted, PageSize: 1, PageToken: "p1", Plans: true, Tasks: true})
	check(t, "ListObjectives", err)
	if len(page.Items) != 1 || page.Items[0].Plans != nil || page.TotalSize != 3 || page.NextPageToken != "p2" {
		t.Errorf("ListObjectives gave %+v", page)
	}
	plan, err := c.CreatePlan(t.Context(), client.NewPlan{
		ObjectiveID: "obj-1", Name: "Research", Tasks: []client.NewPlanTask{{Name: "Search"}, {Name: "Sum up", Description: "short", Dependencies: []string{"task-0"}}},
	})
	check(t, "CreatePlan", err)
	again, err := c.GetPlan(t.Context(), "plan-1")
	check(t, "GetPlan", err)
	test.Equal(t, "GetPlan", plan, again)
	if diff := cmp.Diff(read.Plans[0], *plan); diff != "" || plan.Tasks[1].Status != opt.TaskPending || plan.Tasks[1].TaskIndex != 1 {
		t.Errorf("plan %+v, difference from that of the objective:\n%s", plan, diff)
	}
	want := []string{
		`objectives/create {"name":"Tea","description":"all of it","metadata":{"opt/v1/autoStart":true}}`,
		`objectives/get {"id":"obj-1"}`,
		`objectives/list {"status":"submitted","pageSize":1,"pageToken":"p1","includePlans":true,"includeTasks":true}`,
		`plans/create {"objectiveId":"obj-1","name":"Research","tasks":[{"name":"Search"},{"name":"Sum up","description":"short","dependencies":["task-0"]}]}`,
		`plans/get {"id":"plan-1"}`,
	}
	test.Equal(t, "calls", want, a.seen())
}

func TestClient_changes(t *testing.T) {
	a := newAgent(t,
		result(`{"objective":`+objectiveJSON+`}`),
		result(`{"objective":`+objectiveJSON+`}`),
		result(`{"objective":`+objectiveJSON+`}`),
		result(`{"plan":`+planJSON+`}`),
		result(`{"plan":`+planJSON+`}`),
		result(`{"task":{"id":"task-2","name":"Sum up","taskIndex":1,"a2aTaskId":"elsewhere","status":"pending"}}`),
		result(`{"task":{"id":"task-2","name":"Sum up","taskIndex":1,"status":"completed"},"plan":`+planJSON+`,"objective":`+objectiveJSON+`}`),
		text(http.StatusOK, "application/json", `{"jsonrpc":"2.0","id":8,"error":{"code":-32001,"message":"Stale revision: the objective is at revision 4","data":[
			{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"STALE_REVISION","domain":"d","metadata":{"revision":"4"}}]}}`),
		result(`{"plan":`+planJSON+`}`),
	)
	c, none := a.client(), ""
	o, err := c.UpdateObjective(t.Context(), "obj-1", client.ObjectiveChange{Name: "Tea", Description: &none, Status: opt.ObjectivePlanning, Metadata: a2a.Metadata{}, Seen: 3})
	check(t, "UpdateObjective", err)
	if o.Status != opt.ObjectivePlanning || len(o.Plans) != 1 {
		t.Errorf("UpdateObjective gave %+v", o)
	}
	_, err = c.UpdateObjective(t.Context(), "obj-1", client.ObjectiveChange{Status: opt.ObjectiveWorking})
	check(t, "UpdateObjective", err)
	_, err = c.Replan(t.Context(), "obj-1", "too slow")
	check(t, "Replan", err)
	p, err := c.UpdatePlan(t.Context(), "plan-1", client.PlanChange{Status: opt.PlanSkipped, Metadata: a2a.Metadata{}.With("k", 1)})
	check(t, "UpdatePlan", err)
	again, err := c.AddTasks(t.Context(), "plan-1", client.NewPlanTask{Name: "Check", Dependencies: []string{"task-0"}})
	check(t, "AddTasks", err)
	if diff := cmp.Diff(p, again); diff != "" || len(p.Tasks) != 2 {
		t.Errorf("UpdatePlan gave %+v, AddTasks another:\n%s", p, diff)
	}
	linked, err := c.LinkTask(t.Context(), "task-2", "elsewhere")
	check(t, "LinkTask", err)
	moved, err := c.UpdateTaskStatus(t.Context(), "task-2", opt.TaskCompleted, "Done.")
	check(t, "UpdateTaskStatus", err)
	if linked.A2ATaskID != "elsewhere" || moved.Task.Status != opt.TaskCompleted || moved.Plan.ID != "plan-1" || moved.Objective.ID != "obj-1" {
		t.Errorf("LinkTask gave %+v, UpdateTaskStatus %+v", linked, moved)
	}
	if _, err = c.UpdatePlan(t.Context(), "plan-1", client.PlanChange{Name: "New", Seen: 3}); !client.HasReason(err, client.ReasonStale) {
		t.Errorf("UpdatePlan of another revision: %v", err)
	}
	_, err = c.UpdatePlan(t.Context(), "plan-1", client.PlanChange{Tasks: []client.TaskOrder{{ID: "task-2", Dependencies: []string{}}}})
	check(t, "UpdatePlan with an order", err)
	want := []string{
		`objectives/update {"id":"obj-1","name":"Tea","description":"","status":"planning","metadata":{},"longhaul/v1/revision":3}`,
		`objectives/update {"id":"obj-1","status":"working"}`,
		`objectives/replan {"id":"obj-1","reason":"too slow"}`,
		`plans/update {"id":"plan-1","status":"skipped","metadata":{"k":1}}`,
		`plans/addTasks {"id":"plan-1","tasks":[{"name":"Check","dependencies":["task-0"]}]}`,
		`tasks/link {"id":"task-2","a2aTaskId":"elsewhere"}`,
		`tasks/updateStatus {"id":"task-2","status":"completed","message":"Done."}`,
		`plans/update {"id":"plan-1","name":"New","longhaul/v1/revision":3}`,
		`plans/update {"id":"plan-1","tasks":[{"id":"task-2","dependencies":[]}]}`,
	}
	test.Equal(t, "calls", want, a.seen())
}

func check(t *testing.T, what string, err error) {
	t.Helper()
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
}

func TestObjectiveOf(t *testing.T) {
	o := client.Objective{Name: "Tea", Plans: []client.Plan{{Name: "Research", Tasks: []client.PlanTask{{Name: "Search"}}}}}
	got, ok := client.ObjectiveOf(metadata(t, `{"mine":1}`).With(opt.KeyObjective, o))
	if diff := cmp.Diff(&o, got); diff != "" || !ok {
		t.Errorf("objective: ok %v (-want +got):\n%s", ok, diff)
	}
	for _, value := range []string{`"obj-1"`, `null`, `[]`, `7`, `{"name":7}`} {
		if _, ok := client.ObjectiveOf(metadata(t, `{"opt/v1/objective":`+value+`}`)); ok {
			t.Errorf("%s is read as an objective", value)
		}
	}
	if _, ok := client.ObjectiveOf(nil); ok {
		t.Error("empty metadata is read as an objective")
	}
}

func TestGate(t *testing.T) {
	g, ok := client.Gate(metadata(t, `{"openwop":{"interrupt":{"kind":"approval","interruptId":"task-1:1","taskId":"task-1","title":"Ship?","actions":["accept","reject"],"requestedAt":"2026-03-01T09:30:00.000Z"}}}`))
	if !ok || g.Kind != opt.Approval || g.ID != "task-1:1" || !g.Allows(opt.Reject) || g.Allows(opt.Ask) {
		t.Errorf("gate %+v, %v", g, ok)
	}
	for _, text := range []string{`null`, `{}`, `{"openwop":null}`, `{"openwop":7}`, `{"openwop":{}}`, `{"openwop":{"interrupt":{}}}`} {
		if _, ok := client.Gate(metadata(t, text)); ok {
			t.Errorf("%s has a gate", text)
		}
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

func TestChangeOf(t *testing.T) {
	c, ok := client.ChangeOf(metadata(t, `{"opt/v1/event":{"kind":"plan","id":"plan-1","from":"pending","to":"working","revision":3}}`))
	if want := (client.Change{Kind: "plan", ID: "plan-1", From: "pending", To: "working", Revision: 3}); !ok || c != want {
		t.Errorf("change %+v, %v, want %+v", c, ok, want)
	}
	for _, text := range []string{`null`, `{}`, `{"opt/v1/event":null}`, `{"opt/v1/event":"x"}`, `{"opt/v1/event":{}}`} {
		if _, ok := client.ChangeOf(metadata(t, text)); ok {
			t.Errorf("%s has a change", text)
		}
	}
}

func TestReplyPending(t *testing.T) {
	for text, want := range map[string]bool{`{}`: false, `{"longhaul/v1/replyPending":true}`: true, `{"longhaul/v1/replyPending":false}`: false, `{"longhaul/v1/replyPending":{"messageId":"m"}}`: true} {
		test.Is(t, text, want, client.ReplyPending(metadata(t, text)))
	}
}

func TestCard(t *testing.T) {
	a := newAgent(t, text(200, "application/json", `{"name":"Longhaul","description":"d","version":"1","supportedInterfaces":[
		{"url":"grpc:443","protocolBinding":"GRPC","protocolVersion":"1.0"},{"url":"http://h/a2a","protocolBinding":"JSONRPC","protocolVersion":"1.0"},{"url":"http://h/old","protocolBinding":"JSONRPC","protocolVersion":"0.3"}],
		"capabilities":{"streaming":true},"skills":[{"id":"s","name":"S","description":"d","tags":["t"]}]}`))
	card, err := a.client().Card(t.Context())
	check(t, "Card", err)
	if url, ok := client.Endpoint(card); !ok || url != "http://h/a2a" || !card.Capabilities.Streaming || card.Skills[0].ID != "s" {
		t.Errorf("endpoint %q, %v, card %+v", url, ok, card)
	}
	if _, ok := client.Endpoint(&client.Card{}); ok {
		t.Error("an empty card has an endpoint")
	}
	for _, answer := range []http.HandlerFunc{text(404, "text/html", ""), text(200, "application/json", "[]")} {
		test.Fails(t, "no card: no error", "", test.Err(newAgent(t, answer).client().Card(t.Context())))
	}
}

func metadata(t *testing.T, text string) a2a.Metadata {
	t.Helper()
	var m a2a.Metadata
	check(t, "decode "+text, json.Unmarshal([]byte(text), &m))
	return m
}
