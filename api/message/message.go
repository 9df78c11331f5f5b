package message

import (
	"cmp"
	"context"
	"mime"
	"strings"
	"time"

	"longhaul/a2a"
	"longhaul/api/call"
	"longhaul/api/letter"
	"longhaul/api/push"
	"longhaul/api/read"
	"longhaul/api/stream"
	"longhaul/api/write"
	"longhaul/opt"
	"longhaul/opt/shown"
)

// SendParams are the params of a send.
type SendParams struct {
	Message      a2a.Message
	Hints        Hints
	Decision     *letter.GateDecision // in the message, nil for none
	BadDecision  *call.Fault          // of a decision that could not be read; used only if the message is for a task
	Gate         string               // the only gate that the message may answer; "" if it may answer another, or be a note
	Once         bool                 // a message with the same id is a repeat, for every [call.Idempotency]
	Metadata     a2a.Metadata         // added to the metadata of the objective that the message begins
	History      int                  // number of messages to return
	Scope        shown.HistoryScope
	Push         *push.PushRequest // a config for the task that the message begins or is for; nil for none
	ReturnAtOnce bool
	After        *int64 // resume a stream after this event

	Known *shown.TaskView // the task that Message.TaskID names, if it was just read; nil to read it

	light a2a.Message // Message with references in place of large contents, as it is stored
	blobs a2a.Blobs   // those contents
}

// Answers returns what p answers, nil if its message decides nothing.
func (p SendParams) Answers() *call.Answering {
	a := &call.Answering{TaskID: cmp.Or(p.Hints.TaskID, p.Message.TaskID), GateID: p.Gate}
	switch {
	case p.Decision != nil:
		a.GateID = cmp.Or(p.Gate, p.Decision.GateID)
	case p.BadDecision == nil && p.Gate == "" && (a.TaskID == "" || letter.DecisionWord(p.Message) == ""):
		return nil
	}
	return a
}

// Hints are the keys of the extension in the metadata of a message.
type Hints struct {
	TaskID          string // the plan task that a reply is for
	PreferObjective bool
	SuggestedName   string
	Objective       *ObjectiveHint
	Plan            *opt.PlanSpec
}

// BringsPlans reports whether the message says how the work is to be done.
func (h Hints) BringsPlans() bool {
	return h.Plan != nil || h.Objective != nil && len(h.Objective.Plans) > 0
}

// An ObjectiveHint is the objective in a message: an existing one, by its ID, or
// the properties of a new one.
type ObjectiveHint struct {
	ID          string
	Name        string
	Description string
	Metadata    a2a.Metadata
	Plans       []opt.PlanSpec
}

// Sent is the result of a send: exactly one of Task and Message is set.
type Sent struct {
	Task      *read.Task
	Message   *a2a.Message
	Objective *opt.Objective // beside the task, if the client asked for it there
}

// A Journal has the tasks that messages are for, and the verdicts on them.
type Journal interface {
	Task(ctx context.Context, tenant, id string, want shown.TaskWant) (shown.TaskView, error)
	Peek(ctx context.Context, tenant, id string) (opt.TaskState, int64, error)
	Objective(ctx context.Context, tenant, id string) (*opt.Objective, error)
	// Judgement returns the verdict on the letter for which opt.Letter.Once returns key; ok is
	// false if there is none yet.
	Judgement(ctx context.Context, objectiveID, principal, key string) (j shown.Judgement, ok bool, err error)
	// Gate returns a gate, open or closed, with the replies to it.
	Gate(ctx context.Context, tenant, gateID string) (shown.GateRecord, error)
}

// Messages delivers messages to new work and to tasks.
type Messages struct {
	Journal Journal
	Read    read.Reader
	Out     write.Writer
	Wait    call.Waiter
	IDs     call.IDs
	Streams stream.Streams
	Pushes  *push.Pushes
	Quotas  write.Quotas
	Plans   write.PlanRules
	Deputies

	Agent        Agent
	Accepts      []string // media types
	Watch        func(objectiveID string) call.Watch
	BlockingWait time.Duration // that a send waits for the work
	ReplyWait    time.Duration // for the verdict on a reply
	Observer     call.Observer
	Now          func() time.Time
}

// A Receipt is the result of delivering a message: an answer, or a task.
type Receipt struct {
	Answer  *a2a.Message  // the whole answer; nothing else is set
	TaskID  string        // that the message began or was for
	Watch   call.Watch    // of its objective, attached before anything was written
	begun   bool          // this message, and none before it, has begun the work, whose rest signals Watch
	gate    string        // that the message answered, "" if it was not a reply
	state   a2a.TaskState // of the task after that; "" if it was not read
	Pending bool          // the workflow has not judged it yet
}

// State returns the state of the task.
func (s *Messages) State(ctx context.Context, c *call.Call, d *Receipt) (a2a.TaskState, error) {
	if d.state != "" {
		return d.state, nil
	}
	state, _, err := s.Journal.Peek(ctx, c.Tenant, d.TaskID)
	return state.A2A(), err
}

// SendMessage delivers a message and returns the task that it began or was for,
// or an answer. By default it waits until the task has ended or waits for a
// person.
func (s *Messages) SendMessage(ctx context.Context, c *call.Call, p SendParams) (Sent, error) {
	d, err := s.Deliver(ctx, c, p)
	if err != nil {
		return Sent{}, err
	}
	if d.Answer != nil {
		return Sent{Message: d.Answer}, nil
	}
	defer d.Watch.Close()
	if !p.ReturnAtOnce && !d.Pending {
		if err := s.waitForWork(ctx, c, d); err != nil {
			return Sent{}, err
		}
	}
	if p.toExisting() && c.RequireScopes(call.ReadRuns) != nil {
		return s.receiptOf(ctx, c, d)
	}
	v, err := s.Read.Task(ctx, c, d.TaskID, shown.TaskWant{History: p.History, Scope: p.Scope, Artifacts: true})
	if err != nil {
		return Sent{}, err
	}
	t, err := s.Read.Show(ctx, c, v)
	if err != nil {
		return Sent{}, err
	}
	t.Metadata = t.Metadata.WithIf(d.Pending, opt.KeyReplyPending, true)
	sent := Sent{Task: &t}
	if p.Hints.PreferObjective && c.NamesOPT() {
		sent.Objective, err = s.Journal.Objective(ctx, c.Tenant, v.ObjectiveID)
	}
	return sent, err
}

// toExisting reports whether the message may be for work that exists.
func (p SendParams) toExisting() bool {
	return p.Message.TaskID != "" || p.Message.ContextID != "" || p.Hints.TaskID != "" || p.Hints.Objective != nil && p.Hints.Objective.ID != ""
}

// receiptOf returns the task of d for a caller who may write to it and not read it: its ids and
// its state, without contents.
func (s *Messages) receiptOf(ctx context.Context, c *call.Call, d *Receipt) (Sent, error) {
	v, err := s.Read.Task(ctx, c, d.TaskID, shown.TaskWant{})
	if err != nil {
		return Sent{}, err
	}
	t := read.Task{Task: a2a.Task{ID: v.Task.ID, ContextID: v.Task.ContextID, Status: a2a.TaskStatus{State: v.Task.Status.State, At: v.Task.Status.At}}}
	t.Metadata = t.Metadata.WithIf(d.Pending, opt.KeyReplyPending, true)
	return Sent{Task: &t}, nil
}

// StreamMessage delivers a message like SendMessage and streams the events after
// it. To work that exists it needs the scope to read it.
func (s *Messages) StreamMessage(ctx context.Context, c *call.Call, p SendParams) (*stream.Stream, error) {
	if p.toExisting() {
		if err := c.RequireScopes(call.ReadRuns); err != nil {
			return nil, err
		}
	}
	return stream.Permitted(c, func() (*stream.Stream, error) { return s.stream(ctx, c, p) })
}

func (s *Messages) stream(ctx context.Context, c *call.Call, p SendParams) (*stream.Stream, error) {
	d, err := s.Deliver(ctx, c, p)
	if err != nil {
		return nil, err
	}
	if d.Answer != nil {
		return stream.OfMessage(d.Answer), nil
	}
	return s.Streams.Open(ctx, c, stream.StreamStart{
		ID: d.TaskID, Watch: d.Watch, History: p.History, Scope: p.Scope, After: p.After, Send: true, Gate: d.gate, Pending: d.Pending,
	})
}

// Deliver delivers a message to new work or to the task that it names. It is
// durable when Deliver returns nil. The caller closes the watch of the receipt.
func (s *Messages) Deliver(ctx context.Context, c *call.Call, p SendParams) (*Receipt, error) {
	if err := s.Pushes.CheckInline(ctx, c, p.Push); err != nil {
		return nil, err
	}
	p.light = p.Message
	p.light.Parts, p.blobs = a2a.Detach(p.Message.Parts)
	if p.Message.TaskID == "" && p.Hints.TaskID == "" {
		return s.deliverNew(ctx, c, p)
	}
	return s.deliverToTask(ctx, c, p)
}

// waitForWork waits until the task of d has ended or waits for a person, not counting
// the gate that was just answered. It stops after the blocking wait, counted from
// the beginning of the call.
func (s *Messages) waitForWork(ctx context.Context, c *call.Call, d *Receipt) error {
	begun, changed := d.begun, d.Watch.C()
	if ref, _ := opt.ParseID(d.TaskID); ref.TaskID == "" && d.gate == "" { // a gate may close without a move of the root
		changed = d.Watch.Rests()
	}
	return s.Wait.AwaitAt(ctx, changed, s.BlockingWait-time.Since(c.Began), func() (bool, error) {
		if begun { // it rests not before a signal
			begun = false
			return false, nil
		}
		state, _, err := s.Journal.Peek(ctx, c.Tenant, d.TaskID)
		if err != nil || !state.Waiting() || d.gate == "" {
			return state.Ended() || state.Waiting(), err
		}
		v, err := s.Journal.Task(ctx, c.Tenant, d.TaskID, shown.TaskWant{})
		return v.State.Ended() || v.State.Waiting() && !read.ShowsGate(v, d.gate), err
	})
}

// acceptMedia refuses files, and other parts with a media type, that the agent
// does not accept. Text as text and data as JSON are always accepted.
func acceptMedia(accepted []string, m a2a.Message) error {
	for _, p := range m.Parts {
		if p.MediaType == "" {
			continue
		}
		media, _, err := mime.ParseMediaType(p.MediaType)
		switch {
		case err != nil:
			return call.ErrMediaType
		case p.Text != nil && strings.HasPrefix(media, "text/"), p.Data != nil && media == "application/json":
		case !acceptsMedia(accepted, media):
			return call.ErrMediaType
		}
	}
	return nil
}

// acceptsMedia reports whether a media type is accepted; accepted types may be wildcards
// like image/* and */*.
func acceptsMedia(accepted []string, media string) bool {
	kind, _, _ := strings.Cut(media, "/")
	for _, a := range accepted {
		if a == media || a == "*/*" || a == kind+"/*" {
			return true
		}
	}
	return false
}
