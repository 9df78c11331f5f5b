package opt

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"longhaul/a2a"
	"longhaul/opt/worktime"
)

// A GateKind says what a waiting task waits for.
type GateKind string

// The kinds of gate.
const (
	Approval      GateKind = "approval"      // to decide about an artifact or a step
	Clarification GateKind = "clarification" // answers to questions
	Credential    GateKind = "credential"    // an authorization from elsewhere
)

// An Action is a decision at an approval gate.
type Action string

// The five actions.
const (
	Accept     Action = "accept"
	Reject     Action = "reject"
	Refine     Action = "refine"
	EditAccept Action = "edit-accept"
	Ask        Action = "ask"
)

// actions lists the actions in the order in which texts name them.
var actions = []Action{Accept, Reject, Refine, EditAccept, Ask}

// Actions returns the names of all actions, for texts.
func Actions() string {
	names := make([]string, len(actions))
	for i, a := range actions {
		names[i] = string(a)
	}
	return strings.Join(names, ", ")
}

// Valid reports whether a is an action.
func (a Action) Valid() bool { return slices.Contains(actions, a) }

// outcomes say how an action closes a gate.
var outcomes = map[Action]string{
	Accept: "Accepted", Reject: "Rejected", Refine: "Sent back to be made better", EditAccept: "Accepted with changes", "": "Answered",
}

// Outcome returns how a closes its gate, in words at the beginning of a sentence; "" is the
// answer to questions.
func (a Action) Outcome() string { return outcomes[a] }

// A Gate is a question at which a task waits for a person. Clients see what
// [Gate.Shown] returns, under metadata.openwop.interrupt.
type Gate struct {
	Kind         GateKind        `json:"kind"`
	ID           string          `json:"interruptId"`
	TaskID       string          `json:"taskId"`
	Title        string          `json:"title,omitempty"`
	Description  string          `json:"description,omitempty"`
	ArtifactID   string          `json:"artifactId,omitempty"`
	ArtifactType string          `json:"artifactType,omitempty"`
	ArtifactData json.RawMessage `json:"artifactData,omitempty"` // an object that is JSON; executors set it or Object, not both
	Actions      []Action        `json:"actions,omitempty"`
	Questions    []Question      `json:"questions,omitempty"`
	RequestedAt  a2a.Time        `json:"requestedAt,omitzero"`
	ExpiresAt    a2a.Time        `json:"expiresAt,omitzero"`

	// ObjectDigest is the digest of the object; "" for a gate without one. A decision
	// with another digest is refused.
	ObjectDigest string `json:"objectDigest,omitempty"`

	Object  []a2a.Part `json:"object,omitempty"`  // the parts to be decided on, as they are stored
	Sources []string   `json:"sources,omitempty"` // ids of the tasks of the plan that made Object and can make it again
	Form    *GateForm  `json:"form,omitempty"`    // of a gate that is not open yet
	Budget  bool       `json:"budget,omitempty"`  // between two steps of a round: whether more may be used, which Object proposes. No executor gets the answer
	OfPlan  bool       `json:"ofPlan,omitempty"`  // with Budget: by the plan alone, not by all work on the objective
	Checks  []Finding  `json:"checks,omitempty"`  // findings about the object, from before people were asked

	Responders *Responders `json:"responders,omitempty"`   // nil for everyone with the scope
	Standing   string      `json:"standing,omitempty"`     // name of the gates of its task in all runs of a playbook, about which standing decisions may decide; "" for none
	Votes      []Vote      `json:"votes,omitempty"`        // that have not decided yet, oldest first
	Original   *Original   `json:"original,omitempty"`     // of a fork: the decision there about the object with ObjectDigest. It decides nothing at an open gate
	Keep       bool        `json:"keepDecision,omitempty"` // forks keep a decision to accept the object

	Ladder []Step `json:"ladder,omitempty"` // steps while the gate is open, in order of time
	Taken  int    `json:"taken,omitempty"`  // how many steps of Ladder have been taken
	Late   int64  `json:"late,omitempty"`   // milliseconds by which they were late together: the steps left are as much later

	Calendar *worktime.Calendar `json:"calendar,omitempty"` // by which steps of Ladder count working time; only before the gate opens

	Noted     string     `json:"noted,omitempty"`     // digest of the notes that clients have written while the gate is open; "" for none
	Exchanges []Exchange `json:"exchanges,omitempty"` // questions and comments, oldest first, the last [MostExchanges]
	Omitted   int        `json:"omitted,omitempty"`   // how many came before Exchanges. ObjectDigest covers them

	Next *NextStep `json:"nextStep,omitempty"` // only in what [Gate.Shown] returns
}

// String returns g on one line, for people: its kind, its id and what it asks.
func (g Gate) String() string { return oneLine(string(g.Kind)+" gate", g.ID, "", g.Prompt(), "") }

// An Exchange is a question or a comment at a gate. The gate stays open.
type Exchange struct {
	Question  string   `json:"question"`
	MessageID string   `json:"messageId"`
	AskedBy   string   `json:"askedBy"`
	AskedAt   a2a.Time `json:"askedAt,omitzero"`
	Cut       bool     `json:"cut,omitempty"` // the message has more than Question: a longer text, or parts that are no text
}

// Limits of the exchanges in a gate. The history of the task has all of them.
const (
	MostExchanges = 20
	maxExchange   = 2 << 10 // bytes of one
)

// With returns what changes in g with another exchange, as an event has it.
func (g *Gate) With(e Exchange) *Gate {
	if len(e.Question) > maxExchange {
		e.Question = strings.ToValidUTF8(e.Question[:maxExchange], "") + "…"
		e.Cut = true
	}
	return &Gate{Kind: g.Kind, ID: g.ID, TaskID: g.TaskID, ObjectDigest: g.ObjectDigest, Noted: g.Noted, Exchanges: []Exchange{e}}
}

// Unshown returns of how many messages g does not show all. Who decides reads them in the
// conversation of the objective.
func (g *Gate) Unshown() int {
	n := g.Omitted
	for _, e := range g.Exchanges {
		if e.Cut {
			n++
		}
	}
	return n
}

// Extended returns g after a change that With or WithNote has returned. An exchange that g has
// stays in its place: a workflow that was set back adds it again. Two messages may have the
// same id, but a repeat has the same text.
func (g *Gate) Extended(by Gate) *Gate {
	out := *g
	out.ObjectDigest, out.Noted = by.ObjectDigest, by.Noted
	if out.ObjectDigest != g.ObjectDigest {
		out.Original = nil
	}
	all := slices.Clone(g.Exchanges)
	for _, e := range by.Exchanges {
		if !slices.ContainsFunc(all, func(had Exchange) bool {
			return had.MessageID == e.MessageID && had.AskedBy == e.AskedBy && had.Question == e.Question
		}) {
			all = append(all, e)
		}
	}
	more := max(0, len(all)-MostExchanges)
	out.Exchanges, out.Omitted = all[more:], g.Omitted+more
	return &out
}

// WithNote is With for a note to the work that g is about. ObjectDigest then covers the
// note, too, so that no earlier view of g is accepted.
func (g *Gate) WithNote(e Exchange) *Gate {
	out := g.With(e)
	out.Noted = digestOf(map[string]string{"before": g.Noted, "author": e.AskedBy, "messageId": e.MessageID, "text": e.Question})
	out.ObjectDigest = digestOf(map[string]string{"object": g.Digest(), "notes": out.Noted})
	return out
}

// A Question is one of the questions of a clarification gate.
type Question struct {
	ID       string          `json:"id"`
	Question string          `json:"question"`
	Schema   json.RawMessage `json:"schema,omitempty"`
}

// Choices returns the only answers to q, as JSON, if its schema lists them.
func (q Question) Choices() []json.RawMessage {
	var s struct {
		Enum []json.RawMessage `json:"enum"`
	}
	_ = json.Unmarshal(q.Schema, &s) // none
	return s.Enum
}

// An Answer is the answer to one Question.
type Answer struct {
	ID     string          `json:"id"`
	Answer json.RawMessage `json:"answer"`
}

// A Reply is a person's decision at a gate. DecidedBy and At come from the
// server, never from the message.
type Reply struct {
	GateID    string   `json:"gateId"`
	MessageID string   `json:"messageId"`
	Action    Action   `json:"action,omitempty"` // of an approval
	Feedback  string   `json:"feedback,omitempty"`
	Answers   []Answer `json:"answers,omitempty"` // of a clarification
	DecidedBy string   `json:"decidedBy"`
	At        a2a.Time `json:"decidedAt"`

	Refine *Refinement `json:"refineFeedback,omitempty"` // of the action refine
	Edited []a2a.Part  `json:"edited,omitempty"`         // of edit-accept: replaces the object

	Attached []a2a.Part `json:"attached,omitempty"` // parts beside the text of an answer in words, such as files

	Question string `json:"question,omitempty"` // of ask, which decides nothing

	Groups       []string `json:"groups,omitempty"`       // of DecidedBy, or of For, that may decide
	For          *Seat    `json:"for,omitempty"`          // in whose place DecidedBy decides; nil for its own
	ObjectDigest string   `json:"objectDigest,omitempty"` // of the object that the sender has seen; "" if the message has none
}

// A Refinement describes the changes wanted in an object that is sent back.
type Refinement struct {
	Scope       string          `json:"scope,omitempty"` // whole, section or items
	SectionPath json.RawMessage `json:"sectionPath,omitempty"`
	ItemIDs     []string        `json:"itemIds,omitempty"`
	Tags        []string        `json:"tags,omitempty"`
	Text        string          `json:"text,omitempty"`
}

// Words returns an answer in the form in which a person gave it: as texts, data and files.
func (r Reply) Words() (out []a2a.Part) {
	for _, a := range r.Answers {
		var plain string
		switch text := json.Unmarshal(a.Answer, &plain) == nil; {
		case !text:
			out = append(out, a2a.Part{Data: a.Answer})
		case plain != "" || len(r.Attached) == 0:
			out = append(out, a2a.TextPart(plain))
		}
	}
	if r.Feedback != "" {
		out = append(out, a2a.TextPart(r.Feedback))
	}
	return append(out, r.Attached...)
}

// Remark returns the words with which an object was sent back.
func (r Reply) Remark() string {
	if r.Refine != nil && r.Refine.Text != "" {
		return r.Refine.Text
	}
	return r.Feedback
}

// GateID returns the id of the n-th gate of a task. It is the same on every replay.
func GateID(taskID string, n int) string { return taskID + ":" + strconv.Itoa(n) }

// epochGates is how many gates a task has room for in one epoch of its plan.
const epochGates = 1000

// GateIDIn is GateID in an epoch of the plan: a reply to a gate from before is none to the
// gate that opens in its place.
func GateIDIn(epoch int, taskID string, n int) string {
	return GateID(taskID, max(epoch-1, 0)*epochGates+n)
}

// BudgetGateID returns the id of a gate about a budget, which opens with the n-th event of its plan in an
// epoch. It is apart from those of the rounds.
func BudgetGateID(epoch int, taskID string, n int64) string {
	return GateID(taskID, -max(epoch, 1)*1_000_000-int(n))
}

// State returns the state of a task that waits at g.
func (g *Gate) State() TaskState {
	if g.Kind == Credential {
		return TaskAuthRequired
	}
	return TaskInputRequired
}

// Allows reports whether a is offered at g.
func (g *Gate) Allows(a Action) bool { return slices.Contains(g.Actions, a) }

// Prompt returns the text of g for people.
func (g *Gate) Prompt() string {
	lines := []string{g.Title}
	for _, q := range g.Questions {
		lines = append(lines, q.Question)
	}
	lines = append(lines, g.About())
	return strings.Join(slices.DeleteFunc(lines, func(l string) bool { return l == "" }), "\n")
}

// About returns the description of g, and the findings about its object.
func (g *Gate) About() string {
	var lines []string
	if g.Description != "" {
		lines = append(lines, g.Description)
	}
	for _, f := range g.Checks {
		lines = append(lines, "Checked, "+f.String())
	}
	return strings.Join(lines, "\n")
}

// Again returns " (2nd time)" for an approval that is the second gate of its task, as after
// a refinement, and so on; "" for the first one and for other gates. It follows the title.
func (g *Gate) Again() string {
	n, err := strconv.Atoi(g.ID[strings.LastIndexByte(g.ID, ':')+1:])
	if n %= epochGates; g.Kind != Approval || err != nil || n < 2 {
		return ""
	}
	suffix := "th"
	if tens := n / 10 % 10; tens != 1 {
		switch n % 10 {
		case 1:
			suffix = "st"
		case 2:
			suffix = "nd"
		case 3:
			suffix = "rd"
		}
	}
	return " (" + strconv.Itoa(n) + suffix + " time)"
}

// Message returns the status message of taskID, the task at g or the root task
// above it, when it begins to wait: the prompt as a text part, for clients that do
// not know gates, the gate as a data part, and the parts of the object.
func (g *Gate) Message(contextID, taskID string) *a2a.Message {
	return &a2a.Message{
		MessageID: g.ID,
		ContextID: contextID,
		TaskID:    taskID,
		Role:      a2a.RoleAgent,
		Parts:     append([]a2a.Part{a2a.TextPart(g.Prompt()), a2a.DataPart(g.Shown())}, g.Object...),
	}
}

// Voted reports whether a principal has voted at g, itself, as a deputy, or by one.
func (g *Gate) Voted(principal string) bool {
	return slices.ContainsFunc(g.Votes, func(v Vote) bool { return v.DecidedBy == principal || v.seat() == principal })
}

// DeputyFor returns the first of the seats of others in which a principal may decide at g; nil if there
// is none, or if it needs none, since g names it or no one. A seat in which another one has voted is taken.
func (g *Gate) DeputyFor(principal string, groups []string, seats []Seat, requesters ...string) *Seat {
	if !g.Responders.NamesOthers(principal, groups) {
		return nil
	}
	i := slices.IndexFunc(seats, func(s Seat) bool {
		taken := func(v Vote) bool { return v.seat() == s.Principal && v.DecidedBy != principal }
		return g.Responders.Allow(s.Principal, s.Groups, requesters...) && s.mayTake(principal, requesters) && !slices.ContainsFunc(g.Votes, taken)
	})
	if i < 0 {
		return nil
	}
	return &seats[i]
}

// Decides reports whether an action decides at g after the votes there are. Only
// accept and reject are counted: to send the object back or to ask takes one.
func (g *Gate) Decides(a Action) bool {
	need := 1
	if g.Responders.Several() && (a == Accept || a == Reject && g.Responders.NoVeto) {
		need = g.Responders.Accepts
	}
	n := 1
	for _, v := range g.Votes {
		if v.Action == a {
			n++
		}
	}
	return n >= need
}

// DecidedBy reports whether the people behind a standing decision decide at g, which is about to open:
// each of them may, they are as many as it takes, and its rule holds for this object.
func (g *Gate) DecidedBy(s StandingUse, requesters ...string) bool {
	may := func(v Vote) bool { return g.Responders.MayStand(v.DecidedBy, v.Groups, requesters...) }
	return g.passes(s.Action, s.By, may) && (s.Action == Accept || s.Action == Reject) && s.ObjectDigest == g.ObjectDigest
}

// passes reports whether votes for an action decide at g, which is about to open: g offers it, they are as
// many as it takes, of different principals, each of whom may decide.
func (g *Gate) passes(a Action, votes []Vote, may func(Vote) bool) bool {
	before := Gate{Responders: g.Responders}
	decided := false
	for _, v := range votes {
		if v.Action != a || before.Voted(v.DecidedBy) || !may(v) {
			return false
		}
		decided = before.Decides(a)
		before.Votes = append(before.Votes, v)
	}
	return decided && g.Allows(a)
}

// Keeps reports whether the decision in the original of a fork decides at g, which is about to open: the
// playbook says so, people have accepted this object there, g asks what they were asked, and each of them
// may decide now as well.
func (g *Gate) Keeps(requesters ...string) bool {
	o := g.Original
	may := func(v Vote) bool { return g.Responders.Allow(v.DecidedBy, v.Groups, requesters...) }
	return g.Keep && g.Kind == Approval && o != nil && o.Head != nil && o.ObjectDigest == g.ObjectDigest && o.Terms == g.Terms() && g.passes(Accept, o.By, may)
}

// Terms returns the digest of what g asks about its object, and of whom: its texts, its actions, who may
// decide now, and what checks have found, whichever tasks they are.
func (g *Gate) Terms() string {
	of := Gate{
		Kind: g.Kind, Title: g.Title, Description: g.Description, ArtifactType: g.ArtifactType, Actions: g.Actions, Responders: g.Responders,
		Checks: slices.Clone(g.Checks), Budget: g.Budget, Keep: g.Keep,
	}
	for i := range of.Checks {
		of.Checks[i].TaskID = ""
	}
	return digestOf(of)
}

// GateIn returns the gate that m, the status message of a task, shows, with its object.
// It is nil for other messages.
func GateIn(m a2a.Message) *Gate {
	if m.Role != a2a.RoleAgent {
		return nil
	}
	for i, p := range m.Parts {
		var g Gate
		if p.Data != nil && json.Unmarshal(p.Data, &g) == nil && g.ID != "" && g.ID == m.MessageID {
			g.Object = m.Parts[i+1:]
			return &g
		}
	}
	return nil
}

// IsGateBefore reports whether a gate opened before another one of the same task.
func IsGateBefore(gateID, other string) bool {
	return len(gateID) < len(other) || len(gateID) == len(other) && gateID < other // they end in their numbers
}

// TaskOfGate returns the id of the A2A task whose gate has an id; ok is false if no
// gate can have that id.
func TaskOfGate(gateID string) (taskID string, ok bool) {
	i := strings.LastIndexByte(gateID, ':')
	if i < 0 {
		return "", false
	}
	n, err := strconv.Atoi(gateID[i+1:])
	return gateID[:i], err == nil && GateID(gateID[:i], n) == gateID
}
