package grpc_test

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/a2aproject/a2a-go/v2/a2apb/v1"
	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"

	"longhaul/api/card"
	"longhaul/internal/test"
	"longhaul/opt"
)

var update = flag.Bool("update", false, "rewrite testdata/golden.txt")

// goldenRequests has a request of each method that succeeds, with as many members as it
// may have. U(m) is the common part of the ids of the work that the message m began.
var goldenRequests = []struct{ method, request string }{
	{"SendMessage", `{"tenant":"acme","message":{"messageId":"new","contextId":"ctx","role":"ROLE_USER","parts":[{"text":"write it","metadata":{"k":1}},{"data":{"k":1}},` +
		`{"raw":"aGk=","filename":"a.txt","mediaType":"text/plain"},{"url":"https://example.com/a"}],"extensions":["urn:x"],"referenceTaskIds":["obj-U(done)"],` +
		`"metadata":{"opt/v1/preferObjective":true,"opt/v1/suggestedName":"Name","opt/v1/historyScope":"plan"}},` +
		`"configuration":{"historyLength":2,"returnImmediately":true,"acceptedOutputModes":["text/plain"],"taskPushNotificationConfig":{"url":"https://push.example.com/a","token":"t","authentication":{"scheme":"Bearer","credentials":"c"}}},` +
		`"metadata":{"longhaul/v1/after":0}}`},
	{"SendMessage", `{"message":{"messageId":"greeting","role":"ROLE_USER","parts":[{"text":"hello"}]}}`},
	{"SendMessage", `{"message":{"messageId":"late","taskId":"obj-U(slow)","role":"ROLE_USER","parts":[{"data":{"action":"accept"}}]}}`},
	{"SendStreamingMessage", `{"message":{"messageId":"streamed","role":"ROLE_USER","parts":[{"text":"write"}]},"configuration":{"historyLength":1},"metadata":{"longhaul/v1/after":0}}`},
	{"GetTask", `{"tenant":"acme","id":"obj-U(done)","historyLength":1}`},
	{"ListTasks", `{"tenant":"acme","contextId":"obj-U(done)","status":"TASK_STATE_COMPLETED","pageSize":1,"historyLength":1,"statusTimestampAfter":"2026-03-01T09:30:00Z","includeArtifacts":true}`},
	{"ListTasks", `{"pageToken":"x"}`},
	{"ListTasks", `{"pageSize":0,"historyLength":0,"contextId":"obj-U(slow)"}`}, // as Go sends no size
	{"SubscribeToTask", `{"tenant":"acme","id":"obj-U(done)"}`},
	{"CreateTaskPushNotificationConfig", `{"tenant":"acme","taskId":"obj-U(slow)","id":"own","url":"https://push.example.com/own","token":"t","authentication":{"scheme":"Bearer","credentials":"c"}}`},
	{"GetTaskPushNotificationConfig", `{"tenant":"acme","taskId":"obj-U(slow)","id":"own"}`},
	{"ListTaskPushNotificationConfigs", `{"tenant":"acme","taskId":"obj-U(slow)","pageSize":1}`},
	{"DeleteTaskPushNotificationConfig", `{"tenant":"acme","taskId":"obj-U(slow)","id":"own"}`},
	{"CancelTask", `{"tenant":"acme","id":"obj-U(slow)","metadata":{"longhaul/v1/requestId":"c"}}`},
	{"GetExtendedAgentCard", `{"tenant":"acme"}`},
}

func pushOn(c *config) { c.CheckPush = func(context.Context, string) error { return nil } }

var methods = a2apb.File_a2av1_proto.Services().ByName("A2AService").Methods()

// testdata/golden.txt has all that each method answers to its requests and to spoiled
// copies of them: an answer or a status with its details, and below it the requests.
func TestGolden(t *testing.T) {
	s := newService(t, pushOn, func(c *config) {
		c.Extended, c.Rand = &card.Info{Name: "More"}, rand.NewChaCha8([32]byte{})
	})
	s.send(t, "slow", "slow work")
	s.send(t, "done", "write")
	var got strings.Builder
	asked := map[string]bool{}
	for _, r := range goldenRequests {
		asked[r.method] = true
		fmt.Fprintf(&got, "-- %s --\n%s", r.method, s.golden(t, r.method, r.request))
	}
	for i := range methods.Len() {
		if name := string(methods.Get(i).Name()); !asked[name] {
			t.Errorf("no request for %s", name)
		}
	}
	const file = "testdata/golden.txt"
	if *update {
		test.OK(t, os.WriteFile(file, []byte(got.String()), 0o644))
	}
	want := test.Value(os.ReadFile(file))(t)
	if diff := cmp.Diff(string(want), got.String()); diff != "" {
		t.Errorf("%s mismatch (-want +got):\n%s\nif that is meant: GOWORK=off go test ./api ./api/grpc -run Golden -args -update", file, diff)
	}
}

// golden returns the answers of one method, each with the requests that it answers.
func (s *fixture) golden(t *testing.T, method, request string) string {
	t.Helper()
	m := methods.ByName(protoreflect.Name(method))
	for _, id := range []string{"slow", "done"} {
		request = strings.ReplaceAll(request, "U("+id+")", strings.TrimPrefix(opt.DerivedObjectiveID("acme", "ann", id), "obj-"))
	}
	whole := newMessage(t, m.Input())
	test.OK(t, protojson.Unmarshal([]byte(request), whole))
	var order []string
	asked := map[string][]string{}
	ask := func(how string) {
		answer := s.answer(t, m, whole)
		if asked[answer] == nil {
			order = append(order, answer)
		}
		asked[answer] = append(asked[answer], how)
	}
	ask("as it is")
	spoil(whole.ProtoReflect(), "", ask)
	var b strings.Builder
	for _, answer := range order {
		fmt.Fprintf(&b, "%s\n\t<- %s\n", answer, strings.Join(asked[answer], ", "))
	}
	return b.String()
}

func newMessage(t *testing.T, of protoreflect.MessageDescriptor) proto.Message {
	t.Helper()
	typ := test.Value(protoregistry.GlobalTypes.FindMessageByName(of.FullName()))(t)
	return typ.New().Interface()
}

// spoil changes the members of m one after another, calls ask with what it has changed,
// and restores them.
func spoil(m protoreflect.Message, path string, ask func(how string)) {
	fields := m.Descriptor().Fields()
	for i := range fields.Len() {
		f := fields.Get(i)
		if !m.Has(f) {
			continue
		}
		name, value := path+f.JSONName(), kept(m, f)
		for _, s := range substitutes(f, value) {
			m.Set(f, s.with)
			ask(name + ": " + s.how)
			m.Set(f, value)
		}
		m.Clear(f)
		ask(name + ": absent")
		m.Set(f, value)
		switch {
		case f.Kind() != protoreflect.MessageKind || f.Message().FullName().Parent() == "google.protobuf":
		case f.IsList():
			for j := range value.List().Len() {
				spoil(value.List().Get(j).Message(), fmt.Sprintf("%s[%d].", name, j), ask)
			}
		default:
			spoil(value.Message(), name+".", ask)
		}
	}
}

// kept returns the value of a member that stays when the member is cleared.
func kept(m protoreflect.Message, f protoreflect.FieldDescriptor) protoreflect.Value {
	value := m.Get(f)
	if !f.IsList() {
		return value
	}
	list := m.NewField(f)
	for i := range value.List().Len() {
		list.List().Append(value.List().Get(i))
	}
	return list
}

type substitute struct {
	how  string
	with protoreflect.Value
}

// substitutes returns wrong values for a member.
func substitutes(f protoreflect.FieldDescriptor, v protoreflect.Value) []substitute {
	switch {
	case f.IsList():
		return nil
	case f.Kind() == protoreflect.StringKind:
		return []substitute{
			{"empty", protoreflect.ValueOfString("")}, {"unknown", protoreflect.ValueOfString("unknown")}, {"a control character", protoreflect.ValueOfString("a\x00")},
			{"too long", protoreflect.ValueOfString(v.String() + strings.Repeat("x", 20_000))},
		}
	case f.Kind() == protoreflect.EnumKind:
		return []substitute{{"unknown", protoreflect.ValueOfEnum(99)}}
	case f.Kind() == protoreflect.Int32Kind:
		return []substitute{{"negative", protoreflect.ValueOfInt32(-1)}, {"too large", protoreflect.ValueOfInt32(1 << 30)}}
	}
	return nil
}

// answer calls a method and returns the messages that it answers with, or its status.
func (s *fixture) answer(t *testing.T, m protoreflect.MethodDescriptor, request proto.Message) string {
	t.Helper()
	stream := test.Value(s.conn.NewStream(with(t), &grpc.StreamDesc{ServerStreams: true}, fmt.Sprintf("/%s/%s", m.Parent().FullName(), m.Name())))(t)
	if err := stream.SendMsg(request); err != nil && err != io.EOF {
		t.Fatal(err)
	}
	_ = stream.CloseSend()
	var lines []string
	for {
		answer := newMessage(t, m.Output())
		switch err := stream.RecvMsg(answer); {
		case err == nil:
			lines = append(lines, "OK "+compact(t, answer))
			continue
		case err != io.EOF:
			lines = append(lines, status.Code(err).String()+" "+compact(t, status.Convert(err).Proto()))
		}
		return strings.Join(lines, "\n")
	}
}

// pageToken has a mark that depends on a random key of the journal.
var pageToken = regexp.MustCompile(`"nextPageToken":"[^"]+"`)

// compact returns m as JSON without the spaces that protojson varies.
func compact(t *testing.T, m proto.Message) string {
	t.Helper()
	text := test.Value(protojson.Marshal(m))(t)
	var b bytes.Buffer
	test.OK(t, json.Compact(&b, text))
	return pageToken.ReplaceAllString(b.String(), `"nextPageToken":"TOKEN"`)
}
