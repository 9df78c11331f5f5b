package opt

import (
	"cmp"
	"errors"

	"longhaul/a2a"
)

// An Opening is a request for a new objective, made from a message that starts
// work or from objectives/create.
type Opening struct {
	Objective Objective    `json:"objective"`         // in its first state: submitted, without plans
	Message   *a2a.Message `json:"message,omitempty"` // that starts the work; nil for objectives/create
	Plans     []PlanSpec   `json:"plans,omitempty"`   // given by the client; if nil, a planner makes them
	Idle      bool         `json:"idle,omitempty"`    // do not start before a client asks for it
	Planner   string       `json:"planner,omitempty"` // who made Plans
	Notes     []Letter     `json:"notes,omitempty"`   // of a fork: those to the root task of the original

	Found bool `json:"-"` // an equal one has begun the objective before
}

// Event returns the first event of the objective. The API and the workflow both
// record it, with the same content.
func (o Opening) Event() Event {
	objective := o.Objective
	return Event{
		N: 1, Kind: ObjectiveOpened, At: objective.CreatedAt, TaskID: objective.RootID(), To: string(TaskSubmitted),
		Objective: &objective, Given: o.Plans, Message: o.Message, Principal: objective.Principal, Verdict: Noted,
	}
}

// Batch returns the batch with the first event of the objective.
func (o Opening) Batch() Batch {
	return Batch{ObjectiveID: o.Objective.ID, Source: o.Objective.ID, Events: []Event{o.Event()}}
}

// A Letter carries a message from a client to the workflow that decides about it:
// the plan's for a plan task or a gate, otherwise the objective's.
type Letter struct {
	ObjectiveID string      `json:"objectiveId"`
	PlanID      string      `json:"planId,omitempty"`
	TaskID      string      `json:"taskId"`            // the A2A task that the message names
	ForTask     string      `json:"forTask,omitempty"` // the plan task that waits, if it is another one
	Message     a2a.Message `json:"message"`
	Principal   string      `json:"principal"`
	Reply       *Reply      `json:"reply,omitempty"` // the decision in the message; nil for a note
	Key         string      `json:"key,omitempty"`   // equal for repeats of a letter; "" for the id of Message

	Groups  []string `json:"groups,omitempty"`  // of Principal
	Seats   []Seat   `json:"seats,omitempty"`   // in which Principal may decide now as a deputy
	Comment bool     `json:"comment,omitempty"` // it was sent to a gate and decides nothing

	Begins   bool     `json:"begins,omitempty"`  // it asks for work: it starts an idle objective, or is refused as NotIdle
	QueuedAt a2a.Time `json:"queuedAt,omitzero"` // with Begins: the place in the queue of the context
	Shapers  []string `json:"shapers,omitempty"` // with Begins: others than Principal who have a part in that
}

// Once returns a key that is equal for repeats of a letter from one sender.
func (l Letter) Once() string { return cmp.Or(l.Key, l.Message.MessageID) }

// SameContent reports whether digest, which is recorded, is the digest of a message. Under a
// separate key, a message may have another id in each attempt; records from
// before that rule have the digest of the whole message.
func SameContent(digest string, m a2a.Message, key string) bool {
	return digest == m.Digest() || key != "" && digest == m.ContentDigest()
}

// DigestUnder returns the digest of a message to record with the key of its
// letter, "" for the id of the message.
func DigestUnder(key string, m a2a.Message) string {
	if key != "" {
		return m.ContentDigest()
	}
	return m.Digest()
}

// ID returns what names l among the letters of its objective: the sender, and what
// Once returns.
func (l Letter) ID() string { return l.Principal + "\x00" + l.Once() }

// Errors that callers branch on.
var (
	// ErrUnavailable is wrapped by errors of calls that may be repeated once
	// the engine or its workers are back; nothing was done, or a repeat is
	// safe.
	ErrUnavailable = errors.New("unavailable")
	// ErrConflict is wrapped when the same id was used for other content.
	ErrConflict = errors.New("same id, other content")
	// ErrStale is wrapped when a client asks for a change and has not seen the
	// latest revision.
	ErrStale = errors.New("stale revision")
	// ErrEnded is wrapped when the objective or plan has ended.
	ErrEnded = errors.New("ended")
	// ErrQueueFull is wrapped when too many objectives wait in a context.
	ErrQueueFull = errors.New("context queue is full")
)
