package wire

import (
	"encoding/json"

	"longhaul/a2a"
	"longhaul/api/call"
	"longhaul/api/message"
	"longhaul/api/read"
	"longhaul/api/stream"
	"longhaul/opt"
)

type message10 struct {
	MessageID        string       `json:"messageId"`
	ContextID        string       `json:"contextId,omitempty"`
	TaskID           string       `json:"taskId,omitempty"`
	Role             string       `json:"role"`
	Parts            []any        `json:"parts"`
	Metadata         a2a.Metadata `json:"metadata,omitempty"`
	Extensions       []string     `json:"extensions,omitempty"`
	ReferenceTaskIDs []string     `json:"referenceTaskIds,omitempty"`
}

type message03 struct {
	Kind string `json:"kind"`
	message10
}

var roles10 = map[a2a.Role]string{a2a.RoleUser: "ROLE_USER", a2a.RoleAgent: "ROLE_AGENT"}

// Message returns the wire form of m.
func (v Version) Message(m a2a.Message) any {
	out := message10{
		m.MessageID, m.ContextID, m.TaskID, roles10[m.Role], newParts(v, m.Parts), m.Metadata, m.Extensions, m.ReferenceTaskIDs,
	}
	if v == V03 {
		out.Role = string(m.Role)
		return message03{"message", out}
	}
	return out
}

func (v Version) messages(messages []a2a.Message) []any {
	var out []any
	for _, m := range messages {
		out = append(out, v.Message(m))
	}
	return out
}

type task10 struct {
	ID        string       `json:"id"`
	ContextID string       `json:"contextId"`
	Status    any          `json:"status"`
	Artifacts []any        `json:"artifacts,omitempty"`
	History   []any        `json:"history,omitempty"`
	Metadata  a2a.Metadata `json:"metadata,omitempty"`
}

type task03 struct {
	Kind string `json:"kind"`
	task10
}

type status struct {
	State   string   `json:"state"`
	At      a2a.Time `json:"timestamp,omitzero"`
	Message any      `json:"message,omitempty"`
}

type artifact struct {
	ArtifactID  string       `json:"artifactId"`
	Name        string       `json:"name,omitempty"`
	Description string       `json:"description,omitempty"`
	Parts       []any        `json:"parts"`
	Metadata    a2a.Metadata `json:"metadata,omitempty"`
	Extensions  []string     `json:"extensions,omitempty"`
}

// Task returns the wire form of t.
func (v Version) Task(t read.Task) any { return v.task(WithObjective(t.Task, t.Objective)) }

func (v Version) task(t a2a.Task) any {
	out := task10{ID: t.ID, ContextID: t.ContextID, Status: v.status(t.Status), History: v.messages(t.History), Metadata: t.Metadata}
	for _, a := range t.Artifacts {
		out.Artifacts = append(out.Artifacts, v.artifact(a))
	}
	if v == V03 {
		return task03{"task", out}
	}
	return out
}

func (v Version) status(s a2a.TaskStatus) status {
	out := status{State: stateName(v, s.State), At: s.At}
	if s.Message != nil {
		out.Message = v.Message(*s.Message)
	}
	return out
}

func (v Version) artifact(a a2a.Artifact) artifact {
	return artifact{a.ArtifactID, a.Name, a.Description, newParts(v, a.Parts), a.Metadata, a.Extensions}
}

type statusUpdate10 struct {
	TaskID    string       `json:"taskId"`
	ContextID string       `json:"contextId"`
	Status    status       `json:"status"`
	Metadata  a2a.Metadata `json:"metadata,omitempty"`
}

type statusUpdate03 struct {
	Kind      string       `json:"kind"`
	TaskID    string       `json:"taskId"`
	ContextID string       `json:"contextId"`
	Status    status       `json:"status"`
	Final     bool         `json:"final"`
	Metadata  a2a.Metadata `json:"metadata,omitempty"`
}

type artifactUpdate10 struct {
	TaskID    string       `json:"taskId"`
	ContextID string       `json:"contextId"`
	Artifact  artifact     `json:"artifact"`
	Append    bool         `json:"append,omitempty"`
	LastChunk bool         `json:"lastChunk,omitempty"`
	Metadata  a2a.Metadata `json:"metadata,omitempty"`
}

type artifactUpdate03 struct {
	Kind string `json:"kind"`
	artifactUpdate10
}

// Event returns the wire form of e: in 1.0 under the name of the member that is
// set, in 0.3 without it.
func (v Version) Event(e stream.StreamEvent) any {
	switch {
	case e.Task != nil:
		return v.wrap("task", v.task(WithObjective(*e.Task, e.Objective)))
	case e.Message != nil:
		return v.wrap("message", v.Message(*e.Message))
	case e.Status != nil:
		u := e.Status
		if v == V03 {
			return statusUpdate03{"status-update", u.TaskID, u.ContextID, v.status(u.Status), isFinal(u), u.Metadata}
		}
		return v.wrap("statusUpdate", statusUpdate10{u.TaskID, u.ContextID, v.status(u.Status), u.Metadata})
	default:
		u := e.Artifact
		out := artifactUpdate10{u.TaskID, u.ContextID, v.artifact(u.Artifact), u.Append, u.LastChunk, u.Metadata}
		if v == V03 {
			return artifactUpdate03{"artifact-update", out}
		}
		return v.wrap("artifactUpdate", out)
	}
}

// noticeTypes are the media types of the bodies of deliveries.
var noticeTypes = map[Version]string{V03: "application/json", V10: "application/a2a+json"}

// Notice returns the body of a delivery that reports a status to a client of v, and its
// media type.
func (v Version) Notice(u a2a.StatusUpdate) (mediaType string, body []byte, err error) {
	body, err = json.Marshal(v.Event(stream.StreamEvent{Event: a2a.Event{Status: &u}}))
	return noticeTypes[v], body, err
}

// isFinal returns the flag final of a 0.3 status update: the stream ends with it. A stream
// stays open while an authorization elsewhere is needed, and after an update that
// only reports a change around the task.
func isFinal(u *a2a.StatusUpdate) bool {
	if u.Metadata.Has(opt.KeyEvent) {
		return false
	}
	return u.Status.State.Terminal() || u.Status.State == a2a.InputRequired
}

func (v Version) wrap(name string, value any) any {
	if v == V03 {
		return value
	}
	return map[string]any{name: value}
}

// Sent returns the wire form of the result of a send. The objective is the only
// member that we add to a core result, and only for a client that asked for it.
// In 1.0 it is beside the task; in 0.3, where the result is the task, it is a
// member of the task.
func (v Version) Sent(s message.Sent) any {
	if s.Objective == nil {
		if s.Message != nil {
			return v.wrap("message", v.Message(*s.Message))
		}
		return v.wrap("task", v.Task(*s.Task))
	}
	objective := newObjective(s.Objective, true, true)
	if v == V03 {
		return struct {
			task03
			Objective any `json:"objective"`
		}{v.Task(*s.Task).(task03), objective}
	}
	return struct {
		Task      any `json:"task"`
		Objective any `json:"objective"`
	}{v.Task(*s.Task), objective}
}

// TaskPage returns the wire form of a page, with every member.
func (v Version) TaskPage(p read.TaskPage) any {
	tasks := make([]any, 0, len(p.Tasks))
	for _, t := range p.Tasks {
		tasks = append(tasks, v.task(t))
	}
	return struct {
		Tasks         []any  `json:"tasks"`
		NextPageToken string `json:"nextPageToken"`
		PageSize      int    `json:"pageSize"`
		TotalSize     int    `json:"totalSize"`
	}{tasks, p.Next, p.Size, p.Total}
}

// Objective returns the result of a method about one objective. It is the same in
// both versions, like everything of the extension.
func (Version) Objective(o read.ShownObjective) any {
	out := newObjective(o.Objective, o.Plans, o.Tasks)
	out.Metadata = unconfirmed(out.Metadata, o.Unconfirmed)
	return struct {
		Objective objective `json:"objective"`
	}{out}
}

// unconfirmed adds the plans that have not confirmed a change.
func unconfirmed(m a2a.Metadata, plans []string) a2a.Metadata {
	if len(plans) == 0 {
		return m
	}
	return m.With(keyUnconfirmed, plans)
}

// scalars are top-level members of the result of a create in the first text of
// the extension; later texts have the object there.
type scalars struct {
	ID          string   `json:"id"`
	ObjectiveID string   `json:"objectiveId,omitempty"`
	Name        string   `json:"name"`
	Status      string   `json:"status"`
	CreatedAt   a2a.Time `json:"createdAt"`
	UpdatedAt   a2a.Time `json:"updatedAt"`
}

// NewObjective returns the result of creating o.
func (Version) NewObjective(o *opt.Objective) any {
	return struct {
		Objective objective `json:"objective"`
		scalars
	}{newObjective(o, true, true), scalars{o.ID, "", o.Name, string(o.Status), o.CreatedAt, o.UpdatedAt}}
}

// Plan returns the result of a method about one plan.
func (Version) Plan(p read.ShownPlan) any {
	out := newPlan(p.Plan, p.Tasks)
	out.Metadata = unconfirmed(out.Metadata, p.Unconfirmed)
	return struct {
		Plan plan `json:"plan"`
	}{out}
}

// NewPlan returns the result of creating p.
func (Version) NewPlan(p *opt.Plan) any {
	return struct {
		Plan plan `json:"plan"`
		scalars
	}{newPlan(p, true), scalars{p.ID, p.ObjectiveID, p.Name, string(p.Status), p.CreatedAt, p.UpdatedAt}}
}

// LinkedTask returns the result of linking a task.
func (Version) LinkedTask(t read.ShownTask) any {
	return struct {
		Task planTask `json:"task"`
	}{newPlanTask(t.Plan, t.Task)}
}

// MovedTask returns the result of moving a task: the new states of the task, its
// plan and its objective.
func (Version) MovedTask(t read.ShownTask) any {
	return struct {
		Task      planTask  `json:"task"`
		Plan      plan      `json:"plan"`
		Objective objective `json:"objective"`
	}{newPlanTask(t.Plan, t.Task), newPlan(t.Plan, true), newObjective(t.Objective, false, false)}
}

// ObjectivePage returns the wire form of a page. Unlike with tasks, the last page
// has no member for the token.
func (Version) ObjectivePage(p read.ObjectivePage) any {
	list := make([]objective, 0, len(p.Objectives))
	for _, o := range p.Objectives {
		list = append(list, newObjective(o, p.Plans, p.Tasks))
	}
	return struct {
		Objectives    []objective `json:"objectives"`
		TotalSize     int         `json:"totalSize"`
		AtLeast       bool        `json:"totalSizeIsMinimum,omitempty"`
		NextPageToken string      `json:"nextPageToken,omitempty"`
	}{list, p.Total, p.AtLeast, p.Next}
}

// Error returns the error object for f. opt says that the method is one of the
// extension's. Core methods of 0.3 get no data: some of its clients expect an
// object and some an array, and each kind fails on the other. Faults about the
// version, which 0.3 does not have, and faults before the method is known, always
// have it.
func (v Version) Error(f *call.Fault, opt bool) any {
	e := errorObject{Code: Code(f), Message: f.Message}
	if v == V03 && f.Kind == call.MissingExtension {
		e.Code = codeInvalidParams // 0.3 has no such code
	}
	if v == V03 && !opt && f.Kind != call.UnsupportedVersion && e.Code != codeNotFound {
		return e
	}
	e.Data = details(f, opt)
	return e
}
