package hostile_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"longhaul/dev/e2e/harness"
	"longhaul/internal/test"
)

// At a site of api and worker, a caller who may start work cannot have it hold slots or ask
// people questions: the executor echo is off. If it is on in the API alone, the workers fail
// such tasks at once, and if it is on in both, it works.
func TestHostile_echo(t *testing.T) {
	t.Parallel()
	i := installation{Site: harness.NewSite(t, harness.Dev)}
	i.Env = []string{"LONGHAUL_ECHO=false", "LONGHAUL_FALLBACK=reject"}
	i.Start(harness.Temporal)
	worker := i.Start(harness.Worker)
	api := i.Start(harness.API, "LONGHAUL_AUTH=keys")
	c := i.Client().With("X-API-Key", i.Key("ann", "--scopes", "runs:create,runs:read"))
	plan := harness.NewPlan("Evil", "work 1h", "approve Pay 10,000 to Eve?")
	t.Run("plans", func(t *testing.T) { refusesPlans(t, c, plan) })
	t.Run("messages", func(t *testing.T) {
		for _, text := range []string{"work 1h", "approve Pay 10,000 to Eve?", "Research tea and write an article"} {
			task := c.MustSend(t.Context(), t, harness.Message{ID: text, Text: text})
			if ended := c.AwaitEnd(t, within, task.ID); ended.State != "REJECTED" {
				t.Errorf("%s: %s, want REJECTED", text, ended.Raw)
			}
		}
	})
	test.Error(t, "the log of the API", nil, api.Logged("No playbooks: messages are rejected"))

	api.Stop()
	i.Start(harness.API, "LONGHAUL_AUTH=keys", "LONGHAUL_ECHO=true")
	task := c.MustSend(t.Context(), t, harness.Message{ID: "half", Text: "x", Plan: plan})
	ended := c.AwaitEnd(t, within, task.ID)
	if ended.State != "FAILED" || !strings.Contains(string(ended.Raw), "the worker has no default") {
		t.Errorf("echo in the API alone: %s", ended.Raw)
	}

	worker.Stop()
	i.Start(harness.Worker, "LONGHAUL_ECHO=true")
	task = c.MustSend(t.Context(), t, harness.Message{ID: "whole", Text: "x", Plan: harness.NewPlan("Trial", "say hello")})
	if ended := c.AwaitEnd(t, within, task.ID); ended.State != "COMPLETED" {
		t.Errorf("echo in both: %s", ended.Raw)
	}
}

// refusesPlans tries all ways to have tasks of a caller begin.
func refusesPlans(t *testing.T, c *harness.Client, plan *harness.Plan) {
	o := c.MustCreateObjective(t.Context(), t, "work 1h")
	empty, err := c.CreatePlan(t.Context(), o.ID, &harness.Plan{Name: "Empty"})
	test.OK(t, err)
	tries := map[string]func() error{
		"plans/create": func() error { _, err := c.CreatePlan(t.Context(), o.ID, plan); return err },
		"plans/addTasks": func() error {
			return c.Call(t.Context(), "plans/addTasks", map[string]any{"id": empty.ID, "tasks": plan.Tasks}, nil)
		},
		"a plan": func() error {
			_, err := c.Send(t.Context(), harness.Message{ID: "plan", Text: "x", Plan: plan})
			return err
		},
		"an objective": func() error {
			_, err := c.Send(t.Context(), harness.Message{ID: "objective", Text: "x", Plans: []*harness.Plan{plan}})
			return err
		},
		"a plan in 0.3": func() error {
			metadata, _ := json.Marshal(map[string]any{"opt/v1/plan": plan})
			message := json.RawMessage(fmt.Sprintf(`{"kind":"message","messageId":"old","role":"user","parts":[{"kind":"text","text":"x"}],"metadata":%s}`, metadata))
			return c.With("A2A-Version", "0.3").Call(t.Context(), "message/send", map[string]any{"message": message}, nil)
		},
	}
	for name, try := range tries {
		err := try()
		if err == nil || harness.Code(err) != -32602 || !strings.Contains(err.Error(), "turns on echo for trials, with --echo") {
			t.Errorf("%s: error %v", name, err)
		}
	}
	all, err := c.Objectives(t.Context())
	if err != nil || len(all) != 1 {
		t.Errorf("there are the objectives %+v, %v, want that without plans alone", all, err)
	}
}
