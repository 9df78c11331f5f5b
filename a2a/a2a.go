package a2a

// A Task is the client's handle on a piece of work.
type Task struct {
	ID        string     `json:"id"`
	ContextID string     `json:"contextId"`
	Status    TaskStatus `json:"status"`
	Artifacts []Artifact `json:"artifacts,omitempty"`
	History   []Message  `json:"history,omitempty"`
	Metadata  Metadata   `json:"metadata,omitempty"`
}

// A TaskStatus is the state of a task, the time of its last change and the
// agent's message about it.
type TaskStatus struct {
	State   TaskState `json:"state"`
	Message *Message  `json:"message,omitempty"`
	At      Time      `json:"at"`
}

// A Role says who sent a message.
type Role string

// The two roles.
const (
	RoleUser  Role = "user"
	RoleAgent Role = "agent"
)

// A Message is one turn of the conversation about a task.
type Message struct {
	MessageID        string   `json:"messageId"`
	ContextID        string   `json:"contextId,omitempty"`
	TaskID           string   `json:"taskId,omitempty"`
	Role             Role     `json:"role"`
	Parts            []Part   `json:"parts"`
	Metadata         Metadata `json:"metadata,omitempty"`
	Extensions       []string `json:"extensions,omitempty"`
	ReferenceTaskIDs []string `json:"referenceTaskIds,omitempty"`
}

// Text returns the text parts of m, joined by line breaks.
func (m Message) Text() string { return textOf(m.Parts) }

// An Artifact is a result of a task.
type Artifact struct {
	ArtifactID  string   `json:"artifactId"`
	Name        string   `json:"name,omitempty"`
	Description string   `json:"description,omitempty"`
	Parts       []Part   `json:"parts"`
	Metadata    Metadata `json:"metadata,omitempty"`
	Extensions  []string `json:"extensions,omitempty"`
}

// Text returns the text parts of a, joined by line breaks.
func (a Artifact) Text() string { return textOf(a.Parts) }

// A StatusUpdate is the stream event for a change of a task's status.
type StatusUpdate struct {
	TaskID    string     `json:"taskId"`
	ContextID string     `json:"contextId"`
	Status    TaskStatus `json:"status"`
	Metadata  Metadata   `json:"metadata,omitempty"`
}

// An ArtifactUpdate is the stream event for an artifact or a piece of one.
type ArtifactUpdate struct {
	TaskID    string   `json:"taskId"`
	ContextID string   `json:"contextId"`
	Artifact  Artifact `json:"artifact"`
	Append    bool     `json:"append,omitempty"`
	LastChunk bool     `json:"lastChunk,omitempty"`
	Metadata  Metadata `json:"metadata,omitempty"`
}

// An Event is one element of a stream: exactly one member is set.
type Event struct {
	Task     *Task           `json:"task,omitempty"`
	Message  *Message        `json:"message,omitempty"`
	Status   *StatusUpdate   `json:"statusUpdate,omitempty"`
	Artifact *ArtifactUpdate `json:"artifactUpdate,omitempty"`
}

// TaskStatus returns the status of the task in e; ok is false if e has none.
func (e Event) TaskStatus() (s TaskStatus, ok bool) {
	switch {
	case e.Task != nil:
		return e.Task.Status, true
	case e.Status != nil:
		return e.Status.Status, true
	}
	return TaskStatus{}, false
}
