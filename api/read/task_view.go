package read

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"longhaul/a2a"
	"longhaul/opt"
	"longhaul/opt/shown"
	"longhaul/opt/wire"
)

// keyRetriedBy is the key in the metadata of the root task of an earlier attempt
// for the id of the root task of the latest one.
const keyRetriedBy = "longhaul/v1/retriedBy"

// ToTask returns a view as an A2A task: its messages have the ids of the task, and its metadata
// has its position in the objective and its gate.
func ToTask(v shown.TaskView) a2a.Task {
	t := v.Task
	t.History = slices.Clone(t.History)
	for i, m := range t.History {
		t.History[i] = WithTaskIDs(m, t)
	}
	t.Status.Message = statusMessage(v)
	at := Interrupt{Decision: v.Decided}
	if t.Status.State.Interrupted() && len(v.Gates) > 0 {
		at.Interrupt = v.Gates[0].Shown()
	}
	m := Place{v.ObjectiveID, v.PlanID, v.Index}.Metadata(t.Metadata).
		WithIf(len(v.Dependencies) > 0, opt.KeyDependencies, v.Dependencies).
		WithIf(v.Attempt > 0, opt.KeyAttempt, v.Attempt).
		WithIf(at != (Interrupt{}), opt.KeyInterrupt, at).
		WithIf(v.Stopping != "" && !v.State.Ended(), wire.KeyStopping, v.Stopping).
		WithIf(v.Stuck != nil, opt.KeyStuck, v.Stuck).
		WithIf(v.RetriedBy != "", keyRetriedBy, v.RetriedBy).
		WithIf(v.Paused, opt.KeyPaused, true).
		WithIf(!v.Used.IsZero(), opt.KeyUsage, wire.UsageOf(v.Used)).
		WithIf(!v.QueuedAt.IsZero(), wire.KeyQueuedAt, v.QueuedAt).
		WithIf(!v.QueuedAt.IsZero(), opt.KeyQueuePosition, v.Position)
	t.Metadata, t.Status = WithProgress(m, t.Status, v.Progress, t)
	if v.Paused {
		t.Status = PausedStatus(t.Status, t)
	}
	return t
}

// statusMessage returns the status message of v with its ids. A root task has no event for
// comments, votes and steps at the gate that it shows: they are added here.
func statusMessage(v shown.TaskView) *a2a.Message {
	t := v.Task
	if t.Status.Message == nil {
		return nil
	}
	m := WithTaskIDs(*t.Status.Message, t)
	for _, g := range v.Gates {
		if v.IsRoot && v.State.Waiting() && g.ID == m.MessageID {
			return g.Message(t.ContextID, t.ID)
		}
	}
	return &m
}

// WithProgress adds the progress of a root task that works or waits to its metadata,
// and to its status if that has no message.
func WithProgress(m a2a.Metadata, s a2a.TaskStatus, p *shown.Progress, t a2a.Task) (a2a.Metadata, a2a.TaskStatus) {
	if p == nil || s.State != a2a.Working && !s.State.Interrupted() {
		return m, s
	}
	if s.State == a2a.Working && s.Message == nil && p.Text != "" {
		suffix, text := fmt.Sprintf(":progress:%d", p.Steps), p.Text
		if p.Said != "" {
			sum := sha256.Sum256([]byte(p.Said))
			suffix, text = suffix+":"+hex.EncodeToString(sum[:4]), text+": "+p.Said
		}
		s.Message = a2a.AgentMessage(t.ContextID, t.ID, suffix, text)
	}
	return m.With(opt.KeyProgress, p.Percent), s
}

// PausedStatus returns the status of a root task whose objective a client has paused. A
// question that waits for an answer stays.
func PausedStatus(s a2a.TaskStatus, t a2a.Task) a2a.TaskStatus {
	if s.State.Terminal() || s.State.Interrupted() {
		return s
	}
	s.Message = a2a.AgentMessage(t.ContextID, t.ID, ":paused", "This objective is paused: nothing new begins until a client resumes it.")
	return s
}

// ShowsGate reports whether v still shows a gate: the gate is open, or its question
// is the task's status. A plan and its objective move one after the other, so a
// root task may show a gate that is closed.
func ShowsGate(v shown.TaskView, gateID string) bool {
	if gateID == "" || !v.State.Waiting() {
		return false
	}
	message := v.Task.Status.Message
	return message != nil && message.MessageID == gateID ||
		slices.ContainsFunc(v.Gates, func(g *opt.Gate) bool { return g.ID == gateID })
}

// Interrupt is the value of opt.KeyInterrupt.
type Interrupt struct {
	Interrupt *opt.Gate    `json:"interrupt,omitempty"` // that is open
	Decision  *opt.Decided `json:"decision,omitempty"`  // how the latest one was closed
}

// WithTaskIDs returns m with the ids of its task. Messages are stored as they were
// sent, so a client may have left the ids out.
func WithTaskIDs(m a2a.Message, t a2a.Task) a2a.Message {
	if m.ContextID == "" {
		m.ContextID = t.ContextID
	}
	if m.TaskID == "" {
		m.TaskID = t.ID
	}
	return m
}

// A Place is the position of something in an objective.
type Place struct {
	ObjectiveID string
	PlanID      string // "" if it is in no plan
	index       int
}

// PlaceOf returns the place of a plan task. Its index is the last number of its
// id, since tasks are only added at the end.
func PlaceOf(objectiveID, taskID string) Place {
	ref, ok := opt.ParseID(taskID)
	if !ok || ref.TaskID == "" {
		return Place{ObjectiveID: objectiveID}
	}
	index, err := strconv.Atoi(ref.TaskID[strings.LastIndexByte(ref.TaskID, '-')+1:])
	if err != nil {
		return Place{ObjectiveID: objectiveID}
	}
	return Place{objectiveID, ref.PlanID, index}
}

func (p Place) Metadata(m a2a.Metadata) a2a.Metadata {
	m = m.With(opt.KeyObjectiveID, p.ObjectiveID)
	return m.WithIf(p.PlanID != "", opt.KeyPlanID, p.PlanID).WithIf(p.PlanID != "", opt.KeyTaskIndex, p.index)
}
