package grpc_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/a2aproject/a2a-go/v2/a2apb/v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/testing/protocmp"
	"google.golang.org/protobuf/types/known/structpb"

	"longhaul/a2a"
	"longhaul/api/card"
	"longhaul/internal/test"
	"longhaul/opt"
)

// Answers in the extension for people are read from the metadata of a message.
func TestSendMessage_hitl(t *testing.T) {
	s := newService(t)
	root := s.send(t, "m", "slow").GetId()
	s.world.Gate(taskOf(root), opt.Gate{Kind: opt.Approval, Title: "Publish?", Actions: []opt.Action{opt.Accept, opt.Reject}})
	reply := func(id string, approval map[string]any) (string, error) {
		req := said(id, "Rejected")
		req.Message.TaskId, req.Message.Extensions = root, []string{a2a.ExtensionHITL}
		req.Message.Metadata = fields(t, map[string]any{a2a.ExtensionHITL: map[string]any{"type": "tool_approval_response", "approvals": []any{approval}}})
		var head metadata.MD
		_, err := s.SendMessage(with(t), req, grpc.Header(&head))
		return strings.Join(head.Get("a2a-extensions"), ","), err
	}
	_, err := reply("r1", map[string]any{"id": taskOf(root) + ":1"})
	wantFault(t, "no approval", err, codes.InvalidArgument, "")
	active, err := reply("r2", map[string]any{"id": taskOf(root) + ":1", "approved": false, "rejection_reason": "Too long."})
	if err != nil || active != a2a.ExtensionHITL {
		t.Fatalf("active %q, error %v", active, err)
	}
	if got := s.world.Letters()[0].Reply; got.Action != opt.Reject || got.Feedback != "Too long." {
		t.Errorf("the reply is %+v", got)
	}
}

// A task over gRPC is the same message as the JSON of JSON-RPC makes.
func TestGetTask_sameAsJSON(t *testing.T) {
	s := newService(t)
	req := said("m", "write")
	req.Message.Extensions, req.Message.ReferenceTaskIds = []string{"urn:x", a2a.ExtensionOPT}, []string{"other"}
	req.Message.Metadata = fields(t, map[string]any{"n": 1.0, "opt/v1/suggestedName": "It"})
	req.Message.Parts = append(req.Message.Parts,
		&a2apb.Part{Content: &a2apb.Part_Raw{Raw: []byte{1, 2, 255}}, Filename: "a.json", MediaType: "application/json"},
		&a2apb.Part{Content: &a2apb.Part_Raw{}, MediaType: "text/plain"},
		&a2apb.Part{Content: &a2apb.Part_Data{Data: structpb.NewNullValue()}},
		&a2apb.Part{Content: &a2apb.Part_Data{Data: structpb.NewStructValue(fields(t, map[string]any{"a": []any{1.5, "b", nil, true}}))}},
		&a2apb.Part{Content: &a2apb.Part_Url{Url: "https://example.com/x"}, Metadata: fields(t, map[string]any{"k": "v"})},
	)
	sent := test.Value(s.SendMessage(with(t, "a2a-extensions", a2a.ExtensionOPT), req))(t)
	id := sent.GetTask().GetId()
	got := test.Value(s.GetTask(with(t, "a2a-extensions", a2a.ExtensionOPT), &a2apb.GetTaskRequest{Id: id}))(t)
	want := &a2apb.Task{}
	test.OK(t, protojson.Unmarshal(s.result(t, "GetTask", `{"id":"`+id+`"}`), want))
	for name, task := range map[string]*a2apb.Task{"GetTask": got, "SendMessage": sent.GetTask()} {
		test.Equal(t, name, want, task, protocmp.Transform())
	}
	message := proto.CloneOf(req.Message)
	message.ContextId, message.TaskId = got.GetContextId(), id
	test.Equal(t, "message", message, got.GetHistory()[0], protocmp.Transform())
	if got.GetMetadata().GetFields()["opt/v1/objective"].GetStructValue().GetFields()["name"].GetStringValue() != "It" {
		t.Errorf("metadata %v", got.GetMetadata())
	}
}

// A JSON number that is more precise than a double is rounded; one that no double
// can hold becomes its text.
func TestGetTask_numbers(t *testing.T) {
	s := newService(t)
	id := s.result(t, "SendMessage", `{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"data":
		[9007199254740993, 1e400, 0.1000000000000000055511151231257827, 1.0, {"a":1,"a":2}, "\ud800"]}]}}`)
	var sent a2apb.SendMessageResponse
	test.Fails(t, "a strict reader takes it: nothing is tested", "", protojson.Unmarshal(id, &sent))
	list := test.Value(s.ListTasks(with(t), &a2apb.ListTasksRequest{HistoryLength: proto.Int32(1)}))(t)
	got := list.GetTasks()[0].GetHistory()[0].GetParts()[0].GetData().GetListValue().AsSlice()
	want := []any{9007199254740992.0, "1e400", 0.1, 1.0, map[string]any{"a": 2.0}, "\ufffd"}
	test.Equal(t, "data", want, got)
}

func TestGetExtendedAgentCard(t *testing.T) {
	s := newService(t, func(c *config) {
		c.Card.Skills = []card.Skill{{ID: "plan", Name: "Plan", Description: "Plans"}}
		extended := c.Card
		extended.Schemes = map[string]card.SecurityScheme{"bearer": {Type: "http", Scheme: "Bearer"}}
		extended.Requirements = []map[string][]string{{"bearer": {"read"}}}
		c.Extended = &extended
	})
	card := test.Value(s.GetExtendedAgentCard(with(t), &a2apb.GetExtendedAgentCardRequest{}))(t)
	want := &a2apb.AgentCard{}
	test.OK(t, protojson.Unmarshal(s.result(t, "GetExtendedAgentCard", `{}`), want))
	test.Equal(t, "card", want, card, protocmp.Transform())
	listed := false
	for _, i := range card.GetSupportedInterfaces() {
		listed = listed || i.GetProtocolBinding() == "GRPC" && i.GetUrl() == "agent.example.com:443" && i.GetProtocolVersion() == "1.0"
	}
	if !listed {
		t.Errorf("interfaces %v", card.GetSupportedInterfaces())
	}
}

// Every method that the agent does not offer fails with that error.
func TestRefusedMethods(t *testing.T) {
	s := newService(t)
	for name, call := range map[string]func(context.Context) error{
		"create": func(ctx context.Context) error {
			_, err := s.CreateTaskPushNotificationConfig(ctx, &a2apb.TaskPushNotificationConfig{TaskId: "t", Url: "https://example.com"})
			return err
		},
		"get": func(ctx context.Context) error {
			_, err := s.GetTaskPushNotificationConfig(ctx, &a2apb.GetTaskPushNotificationConfigRequest{TaskId: "t", Id: "c"})
			return err
		},
		"list": func(ctx context.Context) error {
			_, err := s.ListTaskPushNotificationConfigs(ctx, &a2apb.ListTaskPushNotificationConfigsRequest{TaskId: "t"})
			return err
		},
		"delete": func(ctx context.Context) error {
			_, err := s.DeleteTaskPushNotificationConfig(ctx, &a2apb.DeleteTaskPushNotificationConfigRequest{TaskId: "t", Id: "c"})
			return err
		},
	} {
		wantFault(t, name, call(with(t)), codes.FailedPrecondition, "PUSH_NOTIFICATION_NOT_SUPPORTED")
	}
	_, err := s.GetExtendedAgentCard(with(t), &a2apb.GetExtendedAgentCardRequest{})
	wantFault(t, "card", err, codes.FailedPrecondition, "UNSUPPORTED_OPERATION")
}

func fields(t *testing.T, m map[string]any) *structpb.Struct {
	t.Helper()
	s := test.Value(structpb.NewStruct(m))(t)
	return s
}

// result calls a method of 1.0 by JSON-RPC, with OPT, and returns its result.
func (s *fixture) result(t *testing.T, method, params string) []byte {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/a2a", strings.NewReader(
		`{"jsonrpc":"2.0","id":1,"method":"`+method+`","params":`+params+`}`))
	r.Header.Set("A2A-Version", "1.0")
	r.Header.Set("A2A-Extensions", a2a.ExtensionOPT)
	w := httptest.NewRecorder()
	s.api.ServeHTTP(w, r)
	body, ok := strings.CutPrefix(w.Body.String(), `{"jsonrpc":"2.0","id":1,"result":`)
	if !ok {
		t.Fatalf("%s answered %s", method, w.Body)
	}
	return []byte(strings.TrimSuffix(body, "}"))
}
