package wire

import (
	"encoding/json"

	"longhaul/a2a"
	"longhaul/a2a/codec"
	"longhaul/api/call"
	"longhaul/api/message"
	"longhaul/api/read"
	"longhaul/api/stream"
	"longhaul/opt"
	optwire "longhaul/opt/wire"
)

// Task returns the wire form of t.
func Task(v Version, t read.Task) any { return task(v, t) }

func task(v Version, t read.Task) codec.Task { return v.Task(WithObjective(t.Task, t.Objective)) }

// Event returns the wire form of e.
func Event(v Version, e stream.StreamEvent) any {
	if e.Task != nil {
		e.Task = new(WithObjective(*e.Task, e.Objective))
	}
	return v.Event(e.Event, e.Status != nil && isFinal(e.Status))
}

// noticeTypes are the media types of the bodies of deliveries.
var noticeTypes = map[Version]string{V03: "application/json", V10: "application/a2a+json"}

// Notice returns the body of a delivery that reports a status to a client of v, and its
// media type.
func Notice(v Version, u a2a.StatusUpdate) (mediaType string, body []byte, err error) {
	body, err = json.Marshal(v.Event(a2a.Event{Status: &u}, isFinal(&u)))
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

// Sent returns the wire form of the result of a send. The objective is the only
// member that we add to a core result, and only for a client that asked for it.
// In 1.0 it is beside the task; in 0.3, where the result is the task, it is a
// member of the task.
func Sent(v Version, s message.Sent) any {
	if s.Objective == nil {
		if s.Message != nil {
			return v.Wrap("message", v.Message(*s.Message))
		}
		return v.Wrap("task", task(v, *s.Task))
	}
	objective := optwire.ObjectiveOf(s.Objective, true, true)
	if v == V03 {
		return struct {
			codec.Task
			Objective any `json:"objective"`
		}{task(v, *s.Task), objective}
	}
	return struct {
		Task      any `json:"task"`
		Objective any `json:"objective"`
	}{task(v, *s.Task), objective}
}

// TaskPage returns the wire form of a page, with every member.
func TaskPage(v Version, p read.TaskPage) any {
	return struct {
		Tasks         []codec.Task `json:"tasks"`
		NextPageToken string       `json:"nextPageToken"`
		PageSize      int          `json:"pageSize"`
		TotalSize     int          `json:"totalSize"`
	}{optwire.Each(p.Tasks, v.Task), p.Next, p.Size, p.Total}
}

// Objective returns the result of a method about one objective. It is the same in
// both versions, like everything of the extension.
func Objective(_ Version, o read.ShownObjective) any {
	out := optwire.ObjectiveOf(o.Objective, o.Plans, o.Tasks)
	out.Metadata = out.Metadata.WithIf(len(o.Unconfirmed) > 0, optwire.KeyUnconfirmed, o.Unconfirmed)
	return optwire.ObjectiveResult{Objective: out}
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
func NewObjective(_ Version, o *opt.Objective) any {
	return struct {
		optwire.ObjectiveResult
		scalars
	}{optwire.ObjectiveResult{Objective: optwire.ObjectiveOf(o, true, true)}, scalars{o.ID, "", o.Name, string(o.Status), o.CreatedAt, o.UpdatedAt}}
}

// Plan returns the result of a method about one plan.
func Plan(_ Version, p read.ShownPlan) any {
	out := optwire.PlanOf(p.Plan, p.Tasks)
	out.Metadata = out.Metadata.WithIf(len(p.Unconfirmed) > 0, optwire.KeyUnconfirmed, p.Unconfirmed)
	return optwire.PlanResult{Plan: out}
}

// NewPlan returns the result of creating p.
func NewPlan(_ Version, p *opt.Plan) any {
	return struct {
		optwire.PlanResult
		scalars
	}{optwire.PlanResult{Plan: optwire.PlanOf(p, true)}, scalars{p.ID, p.ObjectiveID, p.Name, string(p.Status), p.CreatedAt, p.UpdatedAt}}
}

// LinkedTask returns the result of linking a task.
func LinkedTask(_ Version, t read.ShownTask) any {
	return optwire.TaskResult{Task: optwire.PlanTaskOf(t.Plan, t.Task)}
}

// MovedTask returns the result of moving a task: the new states of the task, its
// plan and its objective.
func MovedTask(_ Version, t read.ShownTask) any {
	return optwire.MovedTask{
		Task: optwire.PlanTaskOf(t.Plan, t.Task), Plan: optwire.PlanOf(t.Plan, true), Objective: optwire.ObjectiveOf(t.Objective, false, false),
	}
}

// ObjectivePage returns the wire form of a page. Unlike with tasks, the last page
// has no member for the token.
func ObjectivePage(_ Version, p read.ObjectivePage) any {
	list := optwire.Each(p.Objectives, func(o *opt.Objective) optwire.Objective { return optwire.ObjectiveOf(o, p.Plans, p.Tasks) })
	return optwire.ObjectivePage{Objectives: list, TotalSize: p.Total, AtLeast: p.AtLeast, NextPageToken: p.Next}
}

// Error returns the error object for f. opt says that the method is one of the
// extension's. Core methods of 0.3 get no data: some of its clients expect an
// object and some an array, and each kind fails on the other. Faults about the
// version, which 0.3 does not have, and faults before the method is known, always
// have it.
func Error(v Version, f *call.Fault, opt bool) any {
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

// WithObjective returns t with an objective in its metadata, unless that is nil.
func WithObjective(t a2a.Task, o *opt.Objective) a2a.Task {
	if o != nil {
		t.Metadata = t.Metadata.With(opt.KeyObjective, optwire.ObjectiveOf(o, true, true))
	}
	return t
}
