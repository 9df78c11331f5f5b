package harness_test

import (
	"strings"
	"testing"

	"longhaul/dev/e2e/harness"
	"longhaul/internal/test"
)

// A site starts, works and stops without an error.
func TestSite(t *testing.T) {
	site := harness.NewSite(t, harness.Dev)
	p := site.Start(harness.AllInOne)
	c := site.Client()

	task := c.MustSend(t.Context(), t, harness.Message{ID: "m", Text: "x", Plan: harness.NewPlan("p", "stream 3 5ms", "approve Go on?", "say done")})
	f := c.Follow(t.Context(), task.ID, 0)
	e := test.Value(f.UntilState(t.Context(), "INPUT_REQUIRED"))(t)
	gate := e.Gate()
	if gate == nil || gate.Kind != "approval" {
		t.Fatalf("gate = %+v in %s", gate, e.Data)
	}
	c.MustSend(t.Context(), t, harness.Reply("r", task.ID, gate.ID, "accept"))
	events, err := f.Wait(t.Context())
	test.OK(t, err)
	test.Is(t, "the last state", "COMPLETED", events[len(events)-1].State())
	if task, err = c.Get(t.Context(), task.ID); err != nil || task.State != "COMPLETED" || len(task.Artifacts) == 0 || task.Artifacts[0].Text != "done" {
		t.Errorf("task = %+v, %v", task, err)
	}
	all, err := c.Objectives(t.Context())
	if err != nil || len(all) != 1 || all[0].Status != "completed" || len(all[0].Plans[0].Tasks) != 3 {
		t.Errorf("objectives = %+v, %v", all, err)
	}
	if _, err := c.Get(t.Context(), "obj-unknown"); harness.Code(err) != -32001 {
		t.Errorf("an unknown task: %v", err)
	}
	p.Stop()
	site.CheckFiles(t)
}

// A control holds back a task and a planner, and notices when their work is
// stopped.
func TestControl(t *testing.T) {
	site := harness.NewSite(t, harness.Crashable)
	control := harness.NewControl(t)
	p := site.Start(harness.AllInOne, control.Env())
	c := site.Client()

	first := c.MustSend(t.Context(), t, harness.Message{ID: "m", Text: "x", Plan: harness.NewPlan("p", "await a; say done")})
	f := c.Follow(t.Context(), first.ID, harness.Fresh)
	test.OK(t, control.Await(t.Context(), "a"))
	control.Open("a", "")
	test.Error(t, "the call", nil, test.Err(f.UntilState(t.Context(), "COMPLETED")))
	if got := control.Knocked("a"); len(got) != 1 || got[0] != strings.Replace(first.ID, "obj-", "task-", 1)+"-1-0:1" {
		t.Errorf("at the door there were %q", got)
	}

	second := c.MustSend(t.Context(), t, harness.Message{ID: "n", Text: "await b"})
	test.OK(t, control.Await(t.Context(), "b"))
	test.Error(t, "the call", nil, test.Err(c.Cancel(t.Context(), second.ID)))
	test.Error(t, "the call", nil, control.AwaitLeft(t.Context(), "b"))
	p.Stop()
}
