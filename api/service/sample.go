package service

import (
	"context"
	"strings"

	"longhaul/a2a"
	"longhaul/opt"
)

// PausedAtApproval is the scenario of a task that waits for an approval.
const PausedAtApproval = "paused-at-approval"

// A SampleParams asks for a task in a known state.
type SampleParams struct{ Scenario string }

// A SampleStarted names the task that was started.
type SampleStarted struct{ TaskID string }

// samples serve the seams of the OpenWOP conformance suite. They use the operations
// for clients, and have the same effects.
type samples struct {
	messages *messages
	pushes   *pushes
}

// StartSample starts the task of a scenario and waits until it is in its state.
func (s samples) StartSample(ctx context.Context, c *Call, p SampleParams) (SampleStarted, error) {
	if p.Scenario != PausedAtApproval {
		return SampleStarted{}, invalid("scenario", "must be "+PausedAtApproval)
	}
	id, err := s.messages.ids.random()
	if err != nil {
		return SampleStarted{}, err
	}
	gate := &opt.Gate{Kind: opt.Approval, Title: "Continue?", Actions: []opt.Action{opt.Accept, opt.Reject}}
	sent, err := s.messages.SendMessage(ctx, c, SendParams{
		Message: a2a.Message{
			MessageID: "sample-" + strings.TrimPrefix(id, "obj-"), Role: a2a.RoleUser, Parts: []a2a.Part{a2a.TextPart("A sample: " + p.Scenario)},
		},
		Hints: Hints{Plan: &opt.PlanSpec{Name: "Sample", Tasks: []opt.TaskSpec{{Name: "Approve", Ask: gate}}}},
	})
	if err != nil {
		return SampleStarted{}, err
	}
	return SampleStarted{sent.Task.ID}, nil
}

// CreateSamplePush is CreatePush under the rules for URLs in production, even if the
// operator allows more.
func (s samples) CreateSamplePush(ctx context.Context, c *Call, p PushCreateParams) (opt.PushConfig, error) {
	if !s.pushes.Pushes() {
		return opt.PushConfig{}, ErrNoPush
	}
	if err := s.pushes.cfg.CheckSample(ctx, p.Config.URL); err != nil {
		f := invalid("url", err.Error())
		f.Reason = reasonEgress
		return opt.PushConfig{}, f
	}
	return s.pushes.CreatePush(ctx, c, p)
}
