package api_test

import (
	"errors"
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"longhaul/a2a"
	"longhaul/client"
	"longhaul/internal/test"
	"longhaul/opt"
)

// newClient returns a client of a service.
func newClient(t *testing.T, s *fixture) *client.Client {
	t.Helper()
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	return client.New(client.Config{URL: server.URL, Token: "alice", Backoff: func(int) time.Duration { return 0 }})
}

// A program that was started again, with the key of its first call, gets the first
// objective; the same key for another objective is refused.
func TestClient_createsOnce(t *testing.T) {
	s := newService(t)
	c := newClient(t, s)
	first := test.Value(c.CreateObjective(t.Context(), client.NewObjective{Key: "tea-1", Name: "Tea"}))(t)
	again, err := newClient(t, s).CreateObjective(t.Context(), client.NewObjective{Key: "tea-1", Name: "Tea"})
	if err != nil || again.ID != first.ID {
		t.Errorf("a repeat: %v, %v, want %v", again, err, first)
	}
	other, err := c.CreateObjective(t.Context(), client.NewObjective{Key: "tea-2", Name: "Tea"})
	if err != nil || other.ID == first.ID {
		t.Errorf("with another key: %v, %v", other, err)
	}
	var refused *client.Error
	if _, err := c.CreateObjective(t.Context(), client.NewObjective{Key: "tea-1", Name: "Coffee"}); !errors.As(err, &refused) || refused.Code != client.CodeInvalidParams {
		t.Errorf("another objective with the key: %v", err)
	}
	for range 2 { // also if it works already
		if started, err := c.Start(t.Context(), first.ID); err != nil || started.Status != opt.ObjectiveWorking && started.Status != opt.ObjectivePlanning {
			t.Errorf("started: %v, %v", started, err)
		}
	}
}

// Wait returns when a person is needed and when the task has ended, and Answer continues
// it. Errors list the values that are allowed.
func TestClient_waitsAndAnswers(t *testing.T) {
	c := newClient(t, newService(t))
	m := a2a.Message{MessageID: "m1", Parts: []a2a.Part{a2a.TextPart("approve the report")}}
	e := test.Value(c.Send(t.Context(), m, client.SendOptions{ReturnImmediately: true, Retry: true}))(t)
	task, err := c.Wait(t.Context(), e.TaskID())
	if err != nil || task.Status.State != a2a.InputRequired {
		t.Fatalf("%v, %v", task, err)
	}
	gate, ok := client.Gate(task.Metadata)
	if !ok {
		t.Fatalf("%v has no gate", task)
	}
	for reply, want := range map[*client.Reply]string{
		{GateID: gate.ID, Action: "approve"}:      "must be one of: accept, reject",
		{GateID: gate.ID, Action: opt.EditAccept}: "must be one of: accept, reject",
	} {
		test.Fails(t, fmt.Sprintf("the action %q", reply.Action), want, test.Err(c.Answer(t.Context(), task.ID, *reply)))
	}
	if _, err := c.UpdateObjective(t.Context(), task.ID, client.ObjectiveChange{Status: "paused"}); err == nil || !strings.Contains(err.Error(), "status: must be one of: submitted, planning") {
		t.Errorf("an unknown status: %v", err)
	}
	test.OK(t, test.Err(c.Answer(t.Context(), "", client.Reply{GateID: gate.ID, Action: opt.Accept})))
	if task, err = c.Wait(t.Context(), task.ID); err != nil || task.Status.State != a2a.Completed {
		t.Errorf("%v, %v", task, err)
	}
	var refused *client.Error
	if _, err := c.Answer(t.Context(), task.ID, client.Reply{GateID: gate.ID, Action: opt.Reject}); !errors.As(err, &refused) || refused.Code != client.CodeUnsupported {
		t.Errorf("a second answer: %v", err)
	}
}
