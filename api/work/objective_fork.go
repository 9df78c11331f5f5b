package work

import (
	"context"
	"errors"
	"fmt"
	"sort"
	"strings"

	"longhaul/a2a"
	"longhaul/api/call"
	"longhaul/api/write"
	"longhaul/opt"
	"longhaul/opt/fork"
	"longhaul/opt/shown"
)

// ForkParams are the params of objectives/fork. Absent ones change nothing.
type ForkParams struct {
	ID      string            `param:"id,needed"`
	At      int               `param:"at,event"` // the number of an event in the journal; 0 for the latest
	Name    string            `param:"name,new name"`
	Message string            `param:"message"`
	Plans   []opt.PlanSpec    `param:"plans"`
	Tasks   []fork.TaskChange `param:"tasks"`
	Repeat  bool              `param:"repeat"`
}

// Forks makes objectives of others.
type Forks struct {
	*Maker
	Journal eventReader
	Plans   write.PlanRules
}

// An eventReader reads at most limit events of an objective that come after one.
type eventReader interface {
	Events(ctx context.Context, objectiveID string, after int64, limit int) ([]shown.Recorded, error)
}

// ForkObjective starts a new objective, in a context of its own, from an event of another one, which
// it does not change. It has copies of all that it needs, so that the original may be removed. A
// repeat with the same key returns the objective of the first request.
func (s Forks) ForkObjective(ctx context.Context, c *call.Call, p ForkParams) (*opt.Objective, error) {
	if err := c.RequireScopes(call.ReadRuns, call.CreateRuns); err != nil {
		return nil, err
	}
	id, err := s.IDs.Made(c, "fork")
	if err != nil {
		return nil, err
	}
	digest, err := digestOf(p)
	if err != nil {
		return nil, err
	}
	if known, _ := s.Read.Objective(ctx, c, id); known != nil {
		if known.Digest != digest {
			err = opt.ErrConflict
		}
		return known, err
	}
	from, err := s.Read.Objective(ctx, c, p.ID)
	if err == nil {
		err = s.Quotas.AdmitWork(ctx, c.Tenant, id, write.OfNewWork...)
	}
	if err != nil {
		return nil, err
	}
	now := a2a.At(s.Now())
	o, blobs, err := s.opening(ctx, p, opt.Objective{
		ID: id, ContextID: id, Tenant: c.Tenant, Principal: c.Principal, Name: p.Name, Digest: digest, Status: opt.ObjectiveSubmitted, Root: opt.TaskSubmitted,
		CreatedAt: now, UpdatedAt: now, Attempt: 1, Revision: 1, Limits: s.Quotas.Counted(s.Limits, c.Tenant),
	})
	if err != nil {
		return nil, err
	}
	c.SetIDs(id, "")
	if err := s.copyBlobs(ctx, from.ID, o, blobs); err != nil {
		return nil, err
	}
	if _, err := s.Out.Start(ctx, o); err != nil && !errors.Is(err, opt.ErrEnded) { // that of the first request
		return nil, err
	}
	return s.Read.Objective(ctx, c, id)
}

// opening returns the opening of o as a fork, and the large contents of its message.
func (s Forks) opening(ctx context.Context, p ForkParams, o opt.Objective) (opt.Opening, a2a.Blobs, error) {
	list, err := s.Journal.Events(ctx, p.ID, 0, 0)
	if err != nil {
		return opt.Opening{}, nil, err
	}
	n, events := len(list), make([]opt.Event, len(list))
	for i, e := range list {
		events[i] = e.Event
	}
	if p.At > 0 {
		n = sort.Search(n, func(i int) bool { return list[i].Seq > int64(p.At) })
	}
	if n == 0 || int64(p.At) > list[len(list)-1].Seq {
		return opt.Opening{}, nil, call.InvalidField("at", "the objective has no such event")
	}
	if err := s.Plans.Check("plans[%d].", p.Plans); err != nil {
		return opt.Opening{}, nil, err
	}
	change := fork.Change{Plans: p.Plans, Tasks: p.Tasks, Repeat: p.Repeat}
	var blobs a2a.Blobs
	if p.Message != "" {
		change.Message, blobs = a2a.Detach([]a2a.Part{a2a.TextPart(p.Message)})
	}
	opening, err := fork.At(events, n).Fork(o, change)
	if begun, ok := errors.AsType[*fork.BegunError](err); ok {
		return opening, nil, &call.Fault{
			Kind: call.InvalidState, Reason: call.ReasonTransition, Info: map[string]string{"tasks": strings.Join(begun.Tasks, " ")},
			Message: "A fork would repeat what tasks do outside, unless its params have repeat: " + begun.Error(),
		}
	}
	opening.Objective.Metadata = opening.Objective.Metadata.With(opt.KeyForkOf, opt.ForkOf{ObjectiveID: p.ID, Event: list[max(n, 1)-1].Seq})
	return opening, blobs, err
}

// copyBlobs copies the large contents of an opening that are those of its original, one after
// another, and stores those of its own.
func (s Forks) copyBlobs(ctx context.Context, from string, o opt.Opening, own a2a.Blobs) error {
	stored := map[string]bool{}
	for _, part := range fork.Parts(o) {
		if part.Ref == nil || stored[part.Ref.ID] || own[part.Ref.ID] != nil {
			continue
		}
		data, err := s.Read.Journal.ReadBlob(ctx, from, part.Ref.ID)
		if err == nil {
			err = s.Out.StoreBlobs(ctx, o.Objective.ID, a2a.Blobs{part.Ref.ID: data})
		}
		if err != nil {
			return fmt.Errorf("copy a large content of %s: %w", from, err)
		}
		stored[part.Ref.ID] = true
	}
	return s.Out.StoreBlobs(ctx, o.Objective.ID, own)
}
