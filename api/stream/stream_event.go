package stream

import (
	"context"
	"fmt"
	"slices"

	"longhaul/a2a"
	"longhaul/api/read"
	"longhaul/opt"
	"longhaul/opt/shown"
)

// ofStatus are the kinds of events that are updates of the status of their task.
var ofStatus = []opt.EventKind{opt.TaskMoved, opt.ExchangeAdded, opt.TaskTried, opt.TaskProgressed}

// project returns the form of an event for clients of the stream's task; ok is
// false if they do not see it. It depends only on the event, so every client sees
// the same, wherever its stream began. An update of a root task names a place in
// a plan only if its event does, which is at a gate.
func (s *Stream) project(e opt.Event) (out a2a.Event, ok bool) {
	switch {
	case e.TaskID == s.taskID && slices.Contains(ofStatus, e.Kind):
		return a2a.Event{Status: s.status(e)}, true
	case e.Kind == opt.SourceRewound:
		return s.rewound(e)
	case e.Kind == opt.ArtifactAdded && e.Chunk != nil && (e.TaskID == s.taskID || e.RootID == s.taskID):
		return a2a.Event{Artifact: &a2a.ArtifactUpdate{
			TaskID: s.taskID, ContextID: s.contextID, Artifact: e.Chunk.Artifact,
			Append: e.Chunk.Append, LastChunk: e.Chunk.Last, Metadata: read.PlaceOf(s.objectiveID, e.TaskID).Metadata(nil),
		}}, true
	}
	return a2a.Event{}, false
}

// whole returns an event of the journal as clients see it: one with an exchange has the
// whole gate. A stream that is resumed at the gate looks for its beginning once.
func (s *Stream) whole(ctx context.Context, r shown.Recorded) (e opt.Event, err error) {
	e = r.Event
	if g, ok := s.gateAfter(e); ok {
		s.gate = g
	}
	if e.Kind != opt.ExchangeAdded || e.TaskID != s.taskID {
		return e, nil
	}
	if s.gate == nil {
		if s.gate, err = s.gateBefore(ctx, r); err != nil {
			return e, err
		}
	}
	s.gate = s.gate.Extended(*e.Gate)
	e.Gate, e.Status = s.gate, s.gate.Message(s.contextID, s.taskID)
	return e, nil
}

// gateAfter returns the gate at which the task of the stream waits after e, nil for none; ok
// is false if e does not say it.
func (s *Stream) gateAfter(e opt.Event) (g *opt.Gate, ok bool) {
	switch {
	case e.Kind == opt.TaskMoved && e.TaskID == s.taskID:
		return e.Gate, true
	case e.Kind == opt.SourceRewound && e.Plan != nil:
		if t := e.Plan.Task(s.taskID); t != nil && t.A2AID() == s.taskID {
			return t.Gate, true
		}
	}
	return nil, false
}

// gateBefore returns the gate to which an event adds an exchange, as it was before that.
func (s *Stream) gateBefore(ctx context.Context, r shown.Recorded) (*opt.Gate, error) {
	var added []*opt.Gate // the latest first
	for end := r.Seq; end > 1; end = max(1, end-eventPage) {
		after := max(0, end-1-eventPage)
		window, err := s.journal.Events(ctx, s.objectiveID, after, int(end-1-after))
		if err != nil {
			return nil, err
		}
		for _, before := range slices.Backward(window) {
			e := before.Event
			switch g, ok := s.gateAfter(e); {
			case before.Seq >= end:
			case ok && g != nil:
				for _, by := range slices.Backward(added) {
					g = g.Extended(*by)
				}
				return g, nil
			case e.Kind == opt.ExchangeAdded && e.TaskID == s.taskID:
				added = append(added, e.Gate)
			}
		}
	}
	lost := *r.Event.Gate // its beginning, with a journal that was rebuilt
	lost.Exchanges = nil
	return &lost, nil
}

func (s *Stream) status(e opt.Event) *a2a.StatusUpdate {
	u := &a2a.StatusUpdate{
		TaskID: s.taskID, ContextID: s.contextID,
		Status: a2a.TaskStatus{State: opt.TaskState(e.To).A2A(), At: e.At},
	}
	if e.Status != nil {
		m := read.WithTaskIDs(*e.Status, a2a.Task{ID: s.taskID, ContextID: s.contextID})
		u.Status.Message = &m
	}
	if e.Gate == nil {
		u.Metadata = read.PlaceOf(s.objectiveID, e.TaskID).Metadata(nil)
	} else {
		u.Metadata = read.PlaceOf(s.objectiveID, e.Gate.TaskID).Metadata(nil).With(opt.KeyInterrupt, read.Interrupt{Interrupt: e.Gate.Shown()})
	}
	u.Metadata = u.Metadata.WithIf(e.Attempt > 0, opt.KeyAttempt, e.Attempt)
	if e.Usage != nil && e.Gate == nil {
		sum := *e.Usage
		sum.Ran = 0 // the objective has that of its earlier attempts alone
		used := read.UsageOf(sum)
		u.Metadata = u.Metadata.WithIf(used != nil, opt.KeyUsage, used)
	}
	return u
}

// rewoundText is for clients of a task whose state does not follow from the one before.
const rewoundText = "The work was set back: an operator has reset it, or it was restored from an older copy. It continues from here."

// rewound returns the update for an event that sets the task of the stream back; ok is false
// for one that sets others.
func (s *Stream) rewound(e opt.Event) (out a2a.Event, ok bool) {
	moved := opt.Event{At: e.At, TaskID: s.taskID}
	switch ref, _ := opt.ParseID(s.taskID); {
	case e.Plan != nil && ref.TaskID != "":
		t := e.Plan.Task(s.taskID)
		if t == nil || t.A2AID() != s.taskID {
			return a2a.Event{}, false
		}
		moved.To, moved.Gate = string(t.State), t.Gate
	case e.Objective != nil && e.Objective.RootID() == s.taskID:
		moved.To, moved.Gate = string(e.Objective.Root), e.Gate
	default:
		return a2a.Event{}, false
	}
	if moved.Gate != nil {
		moved.Status = moved.Gate.Message(s.contextID, s.taskID)
	} else {
		moved.Status = &a2a.Message{MessageID: fmt.Sprintf("%s:rewound:%d", s.taskID, e.Epoch), Role: a2a.RoleAgent, Parts: []a2a.Part{a2a.TextPart(rewoundText)}}
	}
	u := s.status(moved)
	u.Metadata = u.Metadata.With(opt.KeyRewound, true)
	return a2a.Event{Status: u}, true
}
