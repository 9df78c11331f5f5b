package grpc

import (
	"github.com/a2aproject/a2a-go/v2/a2apb/v1"
	"google.golang.org/protobuf/types/known/timestamppb"

	"longhaul/a2a"
	"longhaul/api/message"
	"longhaul/api/read"
	"longhaul/api/stream"
	"longhaul/api/wire"
)

var states = map[a2a.TaskState]a2apb.TaskState{
	a2a.Submitted:     a2apb.TaskState_TASK_STATE_SUBMITTED,
	a2a.Working:       a2apb.TaskState_TASK_STATE_WORKING,
	a2a.InputRequired: a2apb.TaskState_TASK_STATE_INPUT_REQUIRED,
	a2a.AuthRequired:  a2apb.TaskState_TASK_STATE_AUTH_REQUIRED,
	a2a.Completed:     a2apb.TaskState_TASK_STATE_COMPLETED,
	a2a.Failed:        a2apb.TaskState_TASK_STATE_FAILED,
	a2a.Canceled:      a2apb.TaskState_TASK_STATE_CANCELED,
	a2a.Rejected:      a2apb.TaskState_TASK_STATE_REJECTED,
}

var roles = map[a2a.Role]a2apb.Role{a2a.RoleUser: a2apb.Role_ROLE_USER, a2a.RoleAgent: a2apb.Role_ROLE_AGENT}

// newSent returns the result of a send. The proto has no member for the
// objective; with the extension on, the task's metadata has it.
func newSent(s message.Sent) *a2apb.SendMessageResponse {
	if s.Message != nil {
		return &a2apb.SendMessageResponse{Payload: &a2apb.SendMessageResponse_Message{Message: newMessage(*s.Message)}}
	}
	return &a2apb.SendMessageResponse{Payload: &a2apb.SendMessageResponse_Task{Task: newShown(*s.Task)}}
}

func newPage(p read.TaskPage) *a2apb.ListTasksResponse {
	return &a2apb.ListTasksResponse{
		Tasks: convertAll(p.Tasks, newTask), NextPageToken: p.Next, PageSize: int32(p.Size), TotalSize: int32(p.Total),
	}
}

func newEvent(e stream.StreamEvent) *a2apb.StreamResponse {
	switch {
	case e.Task != nil:
		return &a2apb.StreamResponse{Payload: &a2apb.StreamResponse_Task{Task: newTask(wire.WithObjective(*e.Task, e.Objective))}}
	case e.Message != nil:
		return &a2apb.StreamResponse{Payload: &a2apb.StreamResponse_Message{Message: newMessage(*e.Message)}}
	case e.Status != nil:
		u := e.Status
		return &a2apb.StreamResponse{Payload: &a2apb.StreamResponse_StatusUpdate{StatusUpdate: &a2apb.TaskStatusUpdateEvent{
			TaskId: u.TaskID, ContextId: u.ContextID, Status: newStatus(u.Status), Metadata: newStruct(u.Metadata),
		}}}
	default:
		u := e.Artifact
		return &a2apb.StreamResponse{Payload: &a2apb.StreamResponse_ArtifactUpdate{ArtifactUpdate: &a2apb.TaskArtifactUpdateEvent{
			TaskId: u.TaskID, ContextId: u.ContextID, Artifact: newArtifact(u.Artifact),
			Append: u.Append, LastChunk: u.LastChunk, Metadata: newStruct(u.Metadata),
		}}}
	}
}

func newShown(t read.Task) *a2apb.Task { return newTask(wire.WithObjective(t.Task, t.Objective)) }

func newTask(t a2a.Task) *a2apb.Task {
	return &a2apb.Task{
		Id: t.ID, ContextId: t.ContextID, Status: newStatus(t.Status), Metadata: newStruct(t.Metadata),
		Artifacts: convertAll(t.Artifacts, newArtifact), History: convertAll(t.History, newMessage),
	}
}

func newStatus(s a2a.TaskStatus) *a2apb.TaskStatus {
	out := &a2apb.TaskStatus{State: states[s.State]}
	if s.Message != nil {
		out.Message = newMessage(*s.Message)
	}
	if !s.At.IsZero() {
		out.Timestamp = timestamppb.New(s.At.Time())
	}
	return out
}

func newMessage(m a2a.Message) *a2apb.Message {
	return &a2apb.Message{
		MessageId: m.MessageID, ContextId: m.ContextID, TaskId: m.TaskID, Role: roles[m.Role], Parts: convertAll(m.Parts, newPart),
		Metadata: newStruct(m.Metadata), Extensions: m.Extensions, ReferenceTaskIds: m.ReferenceTaskIDs,
	}
}

func newArtifact(a a2a.Artifact) *a2apb.Artifact {
	return &a2apb.Artifact{
		ArtifactId: a.ArtifactID, Name: a.Name, Description: a.Description, Parts: convertAll(a.Parts, newPart),
		Metadata: newStruct(a.Metadata), Extensions: a.Extensions,
	}
}

func newPart(p a2a.Part) *a2apb.Part {
	out := &a2apb.Part{Filename: p.Filename, MediaType: p.MediaType, Metadata: newStruct(p.Metadata)}
	switch {
	case p.Text != nil:
		out.Content = &a2apb.Part_Text{Text: *p.Text}
	case p.Raw != nil:
		out.Content = &a2apb.Part_Raw{Raw: p.Raw}
	case p.URL != nil:
		out.Content = &a2apb.Part_Url{Url: *p.URL}
	case p.Data != nil:
		out.Content = &a2apb.Part_Data{Data: newValue(p.Data)}
	}
	return out
}

func convertAll[T, M any](list []T, convert func(T) M) []M {
	var out []M
	for _, v := range list {
		out = append(out, convert(v))
	}
	return out
}
