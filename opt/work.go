package opt

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	"longhaul/a2a"
)

// Work is the input of an executor. It is the input of the Run activity in any
// language, so its JSON is a public contract.
type Work struct {
	Tenant      string `json:"tenant"`
	ContextID   string `json:"contextId"`
	ObjectiveID string `json:"objectiveId"`
	PlanID      string `json:"planId"`
	TaskID      string `json:"taskId"`
	RootID      string `json:"rootId,omitempty"` // the root task, if it shows this task's artifacts as its own

	Objective   string          `json:"objective"` // name, for people and models
	Plan        string          `json:"plan"`
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Executor    string          `json:"executor,omitempty"`
	Input       json.RawMessage `json:"input,omitempty"` // from the plan, for this executor

	Messages []a2a.Message `json:"messages,omitempty"` // from clients: the request, notes for the objective, notes for this task, each oldest first; untrusted
	Notes    int           `json:"notes,omitempty"`    // how many of Messages, the last ones, came after the request
	NotesTo  int           `json:"notesTo,omitempty"`  // how many of those, the last ones, are to this task alone
	Results  []Result      `json:"results,omitempty"`  // of the tasks before this one
	Replies  []Reply       `json:"replies,omitempty"`  // to the gates this task has opened, oldest first
	Refined  []Reply       `json:"refined,omitempty"`  // that sent back what this task made before, at gates of later tasks, oldest first

	Round    int      `json:"round"`              // 1, and one more after each gate
	Attempt  int      `json:"attempt"`            // within the round: 1, and one more after each failure
	Leg      int      `json:"leg,omitempty"`      // within the attempt: 0, and one more after each park
	Streamed []string `json:"streamed,omitempty"` // ids of artifacts that earlier legs of the attempt have streamed: the first piece of this one replaces them
	Try      int      `json:"try,omitempty"`      // of the leg: more than 1 if a worker that may have begun it was lost
	Epoch    int      `json:"epoch,omitempty"`    // of the plan: more than 1 after it was set back in Temporal
	Key      string   `json:"key"`                // idempotency key: the same for every attempt of a round
	Trust    string   `json:"contentTrust"`

	Memo        json.RawMessage `json:"memo,omitempty"`        // the latest one of an outcome of this task
	Cancel      bool            `json:"cancel,omitempty"`      // the task was canceled: cancel the work that Memo names, and return an ended outcome
	Reason      string          `json:"reason,omitempty"`      // with Cancel: that of the client who canceled it; "" for none
	CallbackURL string          `json:"callbackUrl,omitempty"` // for callbacks of programs that work on the task; "" if there is none. It is a credential
	WakeURL     string          `json:"wakeUrl,omitempty"`     // a callback URL that can only wake the task
	Spent       Usage           `json:"spent,omitzero"`        // by the objective so far, as far as the plan knows
	Reserved    Usage           `json:"reserved,omitzero"`     // of Limits, for other plans at the same time
	SpentHere   Usage           `json:"spentHere,omitzero"`    // by this task so far
	Limits      *Budget         `json:"limits,omitempty"`      // of the request, as people have raised it, which the plan keeps; nil for none
}

// Request lists the messages that began w.
func (w Work) Request() []a2a.Message { return w.Messages[:len(w.Messages)-w.Notes] }

// Budget returns the budget of w, zero for none.
func (w Work) Budget() Budget {
	if w.Limits != nil {
		return *w.Limits
	}
	return BudgetOf(w.Request()...)
}

// Counted returns what counts in the budget of w.
func (w Work) Counted() Usage { return w.Spent.Plus(w.Reserved) }

// Authors lists the principals who sent the request that began w, none where callers are not known.
func (w Work) Authors() []string { return AuthorsOf(w.Request()...) }

// RequestText returns the text of the request that began the work, "" if there is none.
func (w Work) RequestText() string { return textOf(w.Request()) }

// NotesText returns the texts of the notes, one below the other.
func (w Work) NotesText() string { return textOf(w.Messages[len(w.Messages)-w.Notes:]) }

// ResultsText returns the texts that a task before this one has made, one below the other; those
// of all for "".
func (w Work) ResultsText(taskID string) string {
	var made []a2a.Artifact
	for _, r := range w.Results {
		if taskID == "" || taskID == r.TaskID {
			made = append(made, r.Artifacts...)
		}
	}
	return textOf(made)
}

// Answer returns the answer of people to a question of a task before this one, as JSON; nil if there
// is none.
func (w Work) Answer(taskID, questionID string) json.RawMessage {
	for _, r := range w.Results {
		if r.TaskID == taskID {
			return r.Answer(questionID)
		}
	}
	return nil
}

func textOf[T interface{ Text() string }](list []T) string {
	var texts []string
	for _, one := range list {
		if text := one.Text(); text != "" {
			texts = append(texts, text)
		}
	}
	return strings.Join(texts, "\n")
}

// Untrusted is the trust tag of all content from clients.
const Untrusted = "untrusted"

// A Result holds the artifacts of an earlier task.
type Result struct {
	TaskID    string         `json:"taskId"`
	Name      string         `json:"name"`
	Artifacts []a2a.Artifact `json:"artifacts"`
}

// Answer returns what people have answered to a question of the task, as JSON; nil if they have not.
// It is "…" where the answers are so large that they are stored elsewhere.
func (r Result) Answer(questionID string) json.RawMessage {
	for _, a := range r.Artifacts {
		if a.ArtifactID != AnswersID(r.TaskID) || len(a.Parts) == 0 {
			continue
		}
		if a.Parts[0].Ref != nil {
			return json.RawMessage(`"…"`)
		}
		var answers map[string]json.RawMessage
		_ = json.Unmarshal(a.Parts[0].Data, &answers) // there is none
		return answers[questionID]
	}
	return nil
}

// AnswersID returns the id of the artifact with the answers to the questions of a task.
func AnswersID(taskID string) string { return ArtifactID(taskID, "answers") }

// An Outcome is the result of an executor: the task is completed, failed without
// retry, rejected, or waits at a gate.
type Outcome struct {
	State     TaskState      `json:"state"`
	Artifacts []a2a.Artifact `json:"artifacts,omitempty"` // of a completed task, or of one that parks or waits
	Streamed  []string       `json:"streamed,omitempty"`  // ids of artifacts that were already streamed to the journal
	Code      string         `json:"code,omitempty"`      // of the failure or rejection
	Message   string         `json:"message,omitempty"`   // the same as text for clients
	Gate      *Gate          `json:"gate,omitempty"`      // that it waits at; the plan sets its id and times
	Try       int            `json:"try,omitempty"`       // number of the run of the activity that returned it; more than 1 after a lost worker
	Refused   *RewoundError  `json:"refused,omitempty"`   // the journal has refused the events that the activity had to record

	Park     *Park           `json:"park,omitempty"`     // with the state working: the next leg runs later. With a waiting one: it runs while the task waits, at Gate or, without one, at the gate that is open
	Memo     json.RawMessage `json:"memo,omitempty"`     // kept for the next Work of the task, through gates and failed attempts; nil keeps the one before
	OnCancel bool            `json:"onCancel,omitempty"` // with Memo: if the task is canceled, its executor runs again, with Work.Cancel
	Usage    *Usage          `json:"usage,omitempty"`    // of this leg
	Ran      int64           `json:"ran,omitempty"`      // milliseconds that a worker of this server has run the leg; 0 if it is not known
	Budgets  *Budgets        `json:"budgets,omitempty"`  // that limit the usage; only an executor of this server says it
}

// A Park is the wait of a task between two legs of an attempt, without a worker. The next
// leg begins when the time is over or when a callback wakes the task. A callback that has
// an outcome ends the round at once. A leg may also run while the task waits at a gate: an
// outcome that does not wait closes that, and an answer to it begins the next round.
type Park struct {
	Wait      int64      `json:"wait,omitempty"`      // milliseconds at most; 0 for at once, or for as long as Elsewhere takes
	Text      string     `json:"text,omitempty"`      // the reason for the wait, for clients; "" shows no text
	Elsewhere *Elsewhere `json:"elsewhere,omitempty"` // an activity in place of the wait
	Needs     Usage      `json:"needs,omitzero"`      // of the next leg, as far as it is known: 1 of what it may use. It begins when the budget has room; its calls count then
	Notes     bool       `json:"notes,omitempty"`     // a note of a client ends the wait, too
}

// Elsewhere is an activity on another task queue, in any language. Its result is the
// outcome of the task.
type Elsewhere struct {
	Queue     string          `json:"queue"`
	Activity  string          `json:"activity"`            // the type
	Input     json.RawMessage `json:"input"`               // its one argument
	Heartbeat int             `json:"heartbeat,omitempty"` // seconds without a heartbeat after which its worker counts as lost; 0 for no heartbeats
}

// A Beat is the part of a heartbeat of an activity elsewhere that is for clients.
type Beat struct {
	Digest string `json:"digest,omitempty"` // of the details; "" if there was no new heartbeat
	Text   string `json:"text,omitempty"`   // as in a [Callback]
	Chunk  *Chunk `json:"chunk,omitempty"`

	Untaken bool `json:"untaken,omitempty"` // there was none: no worker has taken the activity yet
}

// A CallbackRef names the round of a task that a callback URL is for.
type CallbackRef struct {
	Tenant string `json:"o"`
	TaskID string `json:"t"` // the A2A task
	Round  int    `json:"r"`
	Wake   bool   `json:"w,omitempty"` // its bearer may only wake the task
}

// A Memo is the data of an executor for the next leg of its task.
type Memo struct {
	Data     json.RawMessage `json:"data,omitempty"`
	OnCancel bool            `json:"onCancel,omitempty"` // the executor runs again if the task is canceled
}

// MaxProgress is the most that a text about progress has, in bytes.
const MaxProgress = 4 << 10

// ProgressPause returns how long the next text about the progress of a task waits after the n-th, so
// that thousands of them fit into journals and histories: longer and longer.
func ProgressPause(n int) time.Duration {
	return min(time.Duration(n)*100*time.Millisecond, 30*time.Second)
}

// A Callback is a request to the [Work.CallbackURL] of a task: progress, a chunk of an
// artifact or the outcome. Without Text, Chunk and Outcome it only wakes a parked task.
type Callback struct {
	ID      string   `json:"id"`                // equal for repeats
	TaskID  string   `json:"taskId"`            // the A2A task
	Round   int      `json:"round"`             // of the work that the URL was made for
	Text    string   `json:"text,omitempty"`    // progress, for clients
	Chunk   *Chunk   `json:"chunk,omitempty"`   // of an artifact, whose id is local to the task
	Outcome *Outcome `json:"outcome,omitempty"` // ends the round
}

// CheckExecutor is the executor of checks that need no program of their own. What they judge has to be one value of
// JSON, or texts alone: see [Contents].
const CheckExecutor = "check"

// Object returns the parts of those results that a check is about, as [Piece.Results] names them.
func (w Work) Object(of []string) (parts []a2a.Part) {
	for _, r := range w.Results {
		named := func(place string) bool {
			id, _ := TaskPlaced(w.PlanID, place)
			return place == AllResults || id == r.TaskID
		}
		if !slices.ContainsFunc(of, named) {
			continue
		}
		for _, a := range r.Artifacts {
			parts = append(parts, a.Parts...)
		}
	}
	return parts
}
