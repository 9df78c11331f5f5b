package message_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"longhaul/a2a"
	"longhaul/api/call"
	"longhaul/api/message"
	"longhaul/api/read"
	"longhaul/api/write"
	"longhaul/opt"
	"longhaul/opt/shown"
)

// planning plans one task for each request.
type planning struct{}

func (planning) Decide(context.Context, a2a.Message) (message.Decision, error) {
	return message.Decision{Planner: "playbook build", Plans: []opt.PlanSpec{{Name: "Plan", Tasks: []opt.TaskSpec{{Name: "Build"}}}}}, nil
}

// A slowFinder finds no runs, and says when it is asked.
type slowFinder struct{ asked, answers chan struct{} }

func (f slowFinder) SearchObjectives(context.Context, string, shown.ObjectiveSearch) (out shown.ObjectivesFound, err error) {
	f.asked <- struct{}{}
	<-f.answers
	return out, nil
}

// While a tenant rehearses it gets no other rehearsal, and others wait for their turn, as long as they want.
func TestRehearsals_turns(t *testing.T) {
	finder := slowFinder{make(chan struct{}), make(chan struct{})}
	s := message.NewRehearsals(&message.Messages{Agent: planning{}, Now: time.Now, Plans: write.PlanRules{Executor: func(string) error { return nil }}}, finder, opt.Limits{}, read.Quotas{})
	rehearse := func(ctx context.Context, tenant string) error {
		c := &call.Call{Caller: call.Caller{Tenant: tenant, Principal: "ann", Scopes: []call.Scope{call.CreateRuns, call.ReadRuns}}}
		_, err := s.RehearseObjective(ctx, c, message.SendParams{Message: a2a.Message{MessageID: "m", Role: a2a.RoleUser, Parts: []a2a.Part{a2a.TextPart("go")}}})
		return err
	}
	first, second := make(chan error, 1), make(chan error, 1)
	go func() { first <- rehearse(t.Context(), "acme") }()
	<-finder.asked
	if err := rehearse(t.Context(), "acme"); !call.Is(err, call.RateLimited) {
		t.Errorf("a second one: %v", err)
	}
	left, leave := context.WithCancel(t.Context())
	leave()
	if err := rehearse(left, "other"); !errors.Is(err, context.Canceled) {
		t.Errorf("of another tenant, which has left: %v", err)
	}
	go func() { second <- rehearse(t.Context(), "other") }()
	finder.answers <- struct{}{}
	<-finder.asked
	finder.answers <- struct{}{}
	if err := errors.Join(<-first, <-second); err != nil {
		t.Error(err)
	}
}
