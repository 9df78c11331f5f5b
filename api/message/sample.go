package message

import (
	"context"
	"strings"

	"longhaul/a2a"
	"longhaul/api/call"
	"longhaul/api/push"
	"longhaul/opt"
	"longhaul/opt/outbox"
)

// PausedAtApproval is the scenario of a task that waits for an approval.
const PausedAtApproval = "paused-at-approval"

// A SampleParams asks for a task in a known state.
type SampleParams struct {
	Scenario string `param:"scenario,needed"`
}

// A SampleStarted names the task that was started.
type SampleStarted struct {
	TaskID string `json:"taskId"`
}

// Samples serve the seams of the OpenWOP conformance suite. They use the operations
// for clients, and have the same effects.
type Samples struct {
	Messages *Messages
	Pushes   *push.Pushes
	IDs      call.IDs
	CheckURL func(ctx context.Context, rawURL string) error // by the rules of production
}

// StartSample starts the task of a scenario and waits until it is in its state.
func (s Samples) StartSample(ctx context.Context, c *call.Call, p SampleParams) (SampleStarted, error) {
	if p.Scenario != PausedAtApproval {
		return SampleStarted{}, call.InvalidField("scenario", "must be "+PausedAtApproval)
	}
	id, err := s.IDs.Random()
	if err != nil {
		return SampleStarted{}, err
	}
	gate := &opt.Gate{Kind: opt.Approval, Title: "Continue?", Actions: []opt.Action{opt.Accept, opt.Reject}}
	sent, err := s.Messages.SendMessage(ctx, c, SendParams{
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
func (s Samples) CreateSamplePush(ctx context.Context, c *call.Call, p push.PushCreateParams) (outbox.PushConfig, error) {
	if !s.Pushes.Pushes() {
		return outbox.PushConfig{}, call.ErrNoPush
	}
	if err := s.CheckURL(ctx, p.Config.URL); err != nil {
		f := call.InvalidField("url", err.Error())
		f.Reason = call.ReasonEgress
		return outbox.PushConfig{}, f
	}
	return s.Pushes.CreatePush(ctx, c, p)
}
