package grpc_test

import (
	"strings"
	"testing"

	"github.com/a2aproject/a2a-go/v2/a2apb/v1"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/structpb"

	"longhaul/a2a"
	"longhaul/api/call"
	"longhaul/internal/test"
	"longhaul/opt"
)

// wantFault checks the code of an error and the reason in its details, "" for
// none, and returns it.
func wantFault(t *testing.T, name string, err error, code codes.Code, reason string) *status.Status {
	t.Helper()
	got, s := "", status.Convert(err)
	for _, d := range s.Details() {
		if info, ok := d.(*errdetails.ErrorInfo); ok {
			got = info.GetReason()
			test.Is(t, name+": domain", "a2a-protocol.org", info.GetDomain())
		}
	}
	if s.Code() != code || got != reason {
		t.Errorf("%s: %v with reason %q, want %v with %q: %v", name, s.Code(), got, code, reason, err)
	}
	return s
}

// Faults that no request of the goldens causes.
func TestFaults(t *testing.T) {
	s := newService(t)
	ended := s.send(t, "m", "write").GetId()
	send := func(change func(*a2apb.Message)) error {
		req := said("m2", "write")
		change(req.Message)
		_, err := s.SendMessage(with(t), req)
		return err
	}
	wantFault(t, "ended", send(func(m *a2apb.Message) { m.TaskId = ended }), codes.FailedPrecondition, "UNSUPPORTED_OPERATION")
	wantFault(t, "no value", send(func(m *a2apb.Message) { m.Parts[0].Content = &a2apb.Part_Data{Data: &structpb.Value{}} }), codes.InvalidArgument, "")
	wantFault(t, "panic", send(func(m *a2apb.Message) { m.Parts[0].Content = &a2apb.Part_Text{Text: "panic"} }), codes.Internal, "")
	wantFault(t, "too large", send(func(m *a2apb.Message) { m.MessageId = strings.Repeat("x", 70<<10) }), codes.ResourceExhausted, "")
	deep := structpb.NewNullValue()
	for range 200 {
		deep = structpb.NewListValue(&structpb.ListValue{Values: []*structpb.Value{deep}})
	}
	wantFault(t, "too deep", send(func(m *a2apb.Message) { m.Parts[0].Content = &a2apb.Part_Data{Data: deep} }), codes.InvalidArgument, "")

	bad := wantFault(t, "invalid", send(func(m *a2apb.Message) { m.Role, m.Parts = 0, nil }), codes.InvalidArgument, "")
	var fields []string
	for _, d := range bad.Details() {
		for _, v := range d.(*errdetails.BadRequest).GetFieldViolations() {
			fields = append(fields, v.GetField()+" "+v.GetDescription())
		}
	}
	test.Equal(t, "violations", []string{"message.role is required", "message.parts must contain at least one part"}, fields)
	s.world.Down(opt.ErrUnavailable)
	later := wantFault(t, "unavailable", send(func(*a2apb.Message) {}), codes.Unavailable, "UNAVAILABLE")
	if retry, ok := later.Details()[1].(*errdetails.RetryInfo); !ok || retry.GetRetryDelay().GetSeconds() != 2 {
		t.Errorf("details %v", later.Details())
	}
}

// A request that names no version is one of 0.3, which this service does not
// serve.
func TestVersion(t *testing.T) {
	strict, lenient := newService(t), newService(t, func(c *config) { c.LenientVersion = true })
	for _, tc := range []struct {
		version         []string
		strict, lenient bool // accepted
	}{
		{[]string{"1.0"}, true, true},
		{[]string{"1.0.1"}, true, true},
		{nil, false, true},
		{[]string{""}, false, true},
		{[]string{"0.3"}, false, false},
		{[]string{"2.0"}, false, false},
		{[]string{"one"}, false, false},
		{[]string{"1.0", "0.3"}, false, false},
	} {
		ctx := metadata.NewOutgoingContext(t.Context(), metadata.MD{"a2a-version": tc.version})
		for s, let := range map[*fixture]bool{strict: tc.strict, lenient: tc.lenient} {
			_, err := s.GetTask(ctx, &a2apb.GetTaskRequest{Id: "x"})
			if let {
				wantFault(t, strings.Join(tc.version, ","), err, codes.NotFound, "TASK_NOT_FOUND")
				continue
			}
			f := wantFault(t, strings.Join(tc.version, ","), err, codes.FailedPrecondition, "VERSION_NOT_SUPPORTED")
			if info := f.Details()[0].(*errdetails.ErrorInfo).GetMetadata(); info["supportedVersions"] != "1.0" {
				t.Errorf("details %v", info)
			}
		}
	}
}

func TestExtensions(t *testing.T) {
	s := newService(t, func(c *config) { c.Card.Extensions = []call.Extension{{URI: "urn:must", Required: true}} })
	var head metadata.MD
	_, err := s.SendMessage(with(t, "a2a-extensions", a2a.ExtensionOPT), said("m", "write"), grpc.Header(&head))
	wantFault(t, "missing", err, codes.FailedPrecondition, "EXTENSION_SUPPORT_REQUIRED")
	if list, _ := s.ListTasks(with(t, "a2a-extensions", "urn:must"), &a2apb.ListTasksRequest{}); list.GetTotalSize() != 0 {
		t.Error("a refused send began something")
	}
	ctx := with(t, "a2a-extensions", "urn:other, urn:must", "a2a-extensions", a2a.ExtensionOPT)
	answer := test.Value(s.SendMessage(ctx, said("m", "write"), grpc.Header(&head)))(t)
	if got := head.Get("a2a-extensions"); len(got) != 1 || got[0] != a2a.ExtensionOPT+", urn:must" {
		t.Errorf("extensions %q", got)
	}
	if answer.GetTask().GetMetadata().GetFields()["opt/v1/objective"] == nil {
		t.Errorf("metadata %v", answer.GetTask().GetMetadata())
	}
	stream, err := s.SendStreamingMessage(with(t, "a2a-extensions", "urn:must"), said("m2", "slow"))
	test.OK(t, err)
	if head, err = stream.Header(); err != nil || head.Get("a2a-extensions")[0] != "urn:must" || head.Get("a2a-version")[0] != "1.0" {
		t.Errorf("header %v, error %v", head, err)
	}
}

func TestAuthenticate(t *testing.T) {
	s := newService(t)
	id := s.send(t, "m", "write").GetId()
	for token, want := range map[string]struct {
		code   codes.Code
		reason string
	}{
		"nobody":  {codes.Unauthenticated, "UNAUTHENTICATED"},
		"guest":   {codes.PermissionDenied, "PERMISSION_DENIED"},
		"later":   {codes.Unavailable, "UNAVAILABLE"},
		"acme/bo": {codes.OK, ""},
		"else/al": {codes.NotFound, "TASK_NOT_FOUND"},
	} {
		ctx := with(t, "authorization", "Bearer "+token, "x-key-bin", "\x00")
		_, err := s.GetTask(ctx, &a2apb.GetTaskRequest{Id: id})
		wantFault(t, token, err, want.code, want.reason)
		stream, err := s.SubscribeToTask(ctx, &a2apb.SubscribeToTaskRequest{Id: "nobody's"})
		if err == nil {
			_, err = stream.Recv()
		}
		if token == "acme/bo" {
			want.code, want.reason = codes.NotFound, "TASK_NOT_FOUND"
		}
		wantFault(t, token+" streaming", err, want.code, want.reason)
	}
	if r := s.seen.Load(); r.RemoteAddr == "" || r.Host == "" || r.URL.Path != "/lf.a2a.v1.A2AService/SubscribeToTask" && r.URL.Path != "/lf.a2a.v1.A2AService/GetTask" || r.Header["X-Key-Bin"] != nil {
		t.Errorf("asked about %+v", r)
	}
}

// The log has the same entry for a call as over HTTP, and a client may choose its
// request id.
func TestLog(t *testing.T) {
	s := newService(t)
	var head metadata.MD
	_, err := s.GetTask(with(t, "x-request-id", "req-7"), &a2apb.GetTaskRequest{Id: "nobody's"}, grpc.Header(&head))
	wantFault(t, "get", err, codes.NotFound, "TASK_NOT_FOUND")
	if got := head.Get("x-request-id"); len(got) != 1 || got[0] != "req-7" {
		t.Errorf("request id %q", got)
	}
	entry := s.logs.FilterMessage("Served a request").All()[0].ContextMap()
	delete(entry, "took")
	want := map[string]any{
		"requestId": "req-7", "method": "GetTask", "tenant": "acme", "principal": "ann",
		"code": int64(-32001), "path": "/lf.a2a.v1.A2AService/GetTask", "outcome": "NOT_FOUND",
	}
	test.Equal(t, "log", want, entry)
}
