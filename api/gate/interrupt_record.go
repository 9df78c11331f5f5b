package gate

import (
	"context"
	"errors"
	"slices"

	"longhaul/a2a"
	"longhaul/api/call"
	"longhaul/opt"
	"longhaul/opt/shown"
)

// A ShownInterrupt is a gate, open or closed, as the caller may see it.
type ShownInterrupt struct {
	shown.GateRecord             // its parts have their contents
	Before           *GateBefore // the gate of the same task whose object was sent back; nil for none
	MayAnswer        bool        // the gate is open, and waits for the caller, who has the scope
}

// A GateBefore is the gate before another one of the same task, at which the object was
// sent back for changes.
type GateBefore struct {
	ID     string
	Object []a2a.Part
	Reply  shown.GateReply
}

// GetInterrupt returns a gate, open or closed, to those who may read the work.
func (s Gates) GetInterrupt(ctx context.Context, c *call.Call, id string) (ShownInterrupt, error) {
	out := ShownInterrupt{}
	var err error
	if out.GateRecord, err = s.record(ctx, c, id); err != nil {
		return out, err
	}
	c.SetIDs(out.ObjectiveID, out.TaskID)
	reader, err := s.reader(ctx, c, out.Interrupt)
	if err != nil {
		return out, err
	}
	if out.MayAnswer = out.Open && slices.Contains(c.Scopes, call.RespondApprovals) && out.WaitsFor(reader); out.MayAnswer {
		out.For = out.DeputyFor(reader)
	}
	out.Before, err = s.gateBefore(ctx, c, out.SentBack)
	return out, err
}

// record reads a gate with its contents.
func (s Gates) record(ctx context.Context, c *call.Call, id string) (shown.GateRecord, error) {
	if taskID, ok := opt.TaskOfGate(id); !ok || !call.IsValidID(taskID) {
		return shown.GateRecord{}, interruptUnknown(id)
	}
	r, err := s.Journal.Gate(ctx, c.Tenant, id)
	if errors.Is(err, opt.ErrUnknown) {
		return r, interruptUnknown(id)
	}
	if err != nil {
		return r, err
	}
	if r.Gate.Object, err = s.Read.Parts(ctx, r.ObjectiveID, r.Gate.Object); err != nil {
		return r, err
	}
	if len(r.Gate.Object) == 0 && r.Gate.ArtifactData != nil {
		r.Gate.Object = []a2a.Part{opt.EditedPart(r.Gate.ArtifactData)}
	}
	for i, reply := range r.Replies {
		if r.Replies[i].Reply, err = s.wholeReply(ctx, r.ObjectiveID, reply.Reply); err != nil {
			return r, err
		}
	}
	return r, nil
}

func (s Gates) wholeReply(ctx context.Context, objectiveID string, reply *opt.Reply) (_ *opt.Reply, err error) {
	if reply == nil {
		return nil, nil
	}
	whole := *reply
	for _, parts := range []*[]a2a.Part{&whole.Edited, &whole.Attached} {
		if *parts, err = s.Read.Parts(ctx, objectiveID, *parts); err != nil {
			return nil, err
		}
	}
	return &whole, nil
}

// gateBefore returns the gate with an id, at which the object of a task was sent back; nil for
// "", and if the journal has no more of it than its decision.
func (s Gates) gateBefore(ctx context.Context, c *call.Call, id string) (*GateBefore, error) {
	if id == "" {
		return nil, nil
	}
	r, err := s.record(ctx, c, id)
	if fault, ok := errors.AsType[*call.Fault](err); ok && fault.Reason == gateUnknown {
		return nil, nil
	}
	last := r.Closed()
	if err != nil || last == nil {
		return nil, err
	}
	return &GateBefore{r.Gate.ID, r.Gate.Object, *last}, nil
}
