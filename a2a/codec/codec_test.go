package codec_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"longhaul/a2a"
	"longhaul/a2a/codec"
	"longhaul/internal/test"
)

var versions = []codec.Version{codec.V03, codec.V10}

func write(t *testing.T, v any) json.RawMessage {
	t.Helper()
	b := test.Value(json.Marshal(v))(t)
	return b
}

func ptr[T any](v T) *T { return &v }

// whole is a task with everything that a task can have.
func whole() a2a.Task {
	at := a2a.AtMillis(1772357404123)
	message := func(role a2a.Role, parts ...a2a.Part) a2a.Message {
		return a2a.Message{
			MessageID: "m", ContextID: "c", TaskID: "t", Role: role, Parts: parts, Metadata: a2a.Metadata{}.With("k", "v"),
			Extensions: []string{a2a.ExtensionOPT}, ReferenceTaskIDs: []string{"other"},
		}
	}
	said := message(a2a.RoleAgent, a2a.TextPart(""), a2a.Part{Data: json.RawMessage(`[1,2]`)})
	return a2a.Task{
		ID: "t", ContextID: "c", Status: a2a.TaskStatus{State: a2a.InputRequired, Message: &said, At: at},
		Artifacts: []a2a.Artifact{{
			ArtifactID: "a", Name: "A", Description: "the first", Metadata: a2a.Metadata{}.With("n", 1.5), Extensions: []string{"x"},
			Parts: []a2a.Part{{Raw: []byte{}, Filename: "f", MediaType: "t/p"}, {URL: ptr("https://example.com")}, {Data: json.RawMessage(`null`)}, {Data: json.RawMessage(`{"a":1}`)}},
		}},
		History:  []a2a.Message{message(a2a.RoleUser, a2a.TextPart("go"))},
		Metadata: a2a.Metadata{}.With("k", []string{"v"}),
	}
}

// What a version writes, a peer reads as it was.
func TestPeer_readsWhatIsWritten(t *testing.T) {
	task := whole()
	update := a2a.StatusUpdate{TaskID: "t", ContextID: "c", Status: task.Status, Metadata: task.Metadata}
	piece := a2a.ArtifactUpdate{TaskID: "t", ContextID: "c", Artifact: task.Artifacts[0], Append: true, LastChunk: true, Metadata: task.Metadata}
	for _, v := range versions {
		for _, e := range []a2a.Event{{Task: &task}, {Message: &task.History[0]}, {Status: &update}, {Artifact: &piece}} {
			raw := write(t, v.Event(e, true))
			got, err := codec.Peer.Event(raw)
			if err != nil {
				t.Errorf("%s: %v", raw, err)
			}
			test.Equal(t, fmt.Sprintf("%s: %s", v, raw), e, got.Event)
		}
		got, err := codec.Peer.Task(write(t, v.Task(task)))
		if err != nil {
			t.Error(err)
		}
		test.Equal(t, fmt.Sprintf("%s: task", v), task, got.Task)
	}
}

// Strangers cannot use the keys by which this server knows its own, and cannot refer to stored
// contents. Parts of unknown forms are left out.
func TestForeign_leavesOut(t *testing.T) {
	ours := `{"openwop":{"interrupt":{}},"opt/v1/objectiveId":"o","longhaul/v1/hop":1,"theirs":2}`
	raw := `{"id":"t","contextId":"c","metadata":` + ours + `,"status":{"state":"TASK_STATE_PURRING","timestamp":"now",
		"message":{"messageId":"m","role":"ROLE_AGENT","extensions":{},"metadata":` + ours + `,"parts":[{"ref":{"id":"x","member":"text"}},{"text":"x","metadata":` + ours + `},{"video":1},{"raw":"%"}]}},
		"artifacts":[{"artifactId":"a","metadata":` + ours + `,"parts":[{"text":"x","data":1},{"kind":"file","file":{"name":"f","bytes":"_-8"}}]}]}`
	got := test.Value(codec.Foreign.Task(json.RawMessage(raw)))(t)
	theirs := a2a.Metadata{}.With("theirs", 2)
	want := a2a.Task{
		ID: "t", ContextID: "c", Metadata: theirs,
		Status:    a2a.TaskStatus{Message: &a2a.Message{MessageID: "m", Role: a2a.RoleAgent, Metadata: theirs, Parts: []a2a.Part{{Text: ptr("x"), Metadata: theirs}}}},
		Artifacts: []a2a.Artifact{{ArtifactID: "a", Metadata: theirs, Parts: []a2a.Part{a2a.TextPart("x"), {Raw: []byte{0xff, 0xef}, Filename: "f"}}}},
	}
	test.Equal(t, "task", want, got.Task)
	if got.Received.Word != "TASK_STATE_PURRING" || !strings.Contains(string(got.Received.Status), `"timestamp":"now"`) {
		t.Errorf("received %+v", got.Received)
	}
	test.Fails(t, "a peer may send an unknown state", "", test.Err(codec.Peer.Task(json.RawMessage(raw))))
}

// A peer that sends bytes that are no base64 has sent no answer, in either version.
func TestPeer_refusesBrokenBytes(t *testing.T) {
	for _, part := range []string{`{"raw":"%"}`, `{"kind":"file","file":{"name":"f","bytes":"%"}}`} {
		for _, raw := range []string{
			`{"message":{"messageId":"m","role":"ROLE_AGENT","parts":[` + part + `]}}`,
			`{"task":{"id":"t","contextId":"c","status":{"state":"completed"},"artifacts":[{"artifactId":"a","parts":[{"text":"x"},` + part + `]}]}}`,
			`{"artifactUpdate":{"taskId":"t","contextId":"c","artifact":{"artifactId":"a","parts":[` + part + `]}}}`,
		} {
			if got, err := codec.Peer.Event(json.RawMessage(raw)); err == nil {
				t.Errorf("%s is read as %+v", raw, got.Event)
			}
		}
	}
}

// The words for states are a bijection, and 0.3 has its own.
func TestVersion_State(t *testing.T) {
	for _, s := range a2a.TaskStates {
		for v, word := range map[codec.Version]string{codec.V03: string(s), codec.V10: "TASK_STATE_" + strings.ToUpper(strings.ReplaceAll(string(s), "-", "_"))} {
			test.Is(t, fmt.Sprintf("%s writes %s as", v, s), word, v.State(s))
			got, err := codec.Peer.Task(json.RawMessage(fmt.Sprintf(`{"status":{"state":%q}}`, word)))
			if err != nil || got.Status.State != s {
				t.Errorf("%s is read as %q, %v", word, got.Status.State, err)
			}
		}
	}
}

// Cards of both versions are read, in all forms that are written here; members of a wrong type
// do not matter.
func TestReadCard(t *testing.T) {
	in := codec.Card{
		Name: "A", Description: "agent", Version: "7", Skills: []codec.Skill{{ID: "s", Name: "S", Tags: []string{}}}, InputModes: []string{"text/plain"}, OutputModes: []string{},
		Interfaces:   []codec.Interface{{URL: "https://a/x", Binding: "HTTP+JSON", Version: "1.0", Tenant: "acme"}, {URL: "https://a", Binding: "JSONRPC", Version: "0.3"}},
		Capabilities: codec.Capabilities{Streaming: true, Push: true, Extensions: []codec.Extension{{URI: "u", Params: map[string]any{"k": 1.0}}}},
	}
	for _, form := range []any{codec.V03.Card(in), codec.V10.Card(in)} {
		got := test.Value(codec.ReadCard(write(t, form)))(t)
		test.Equal(t, "card", in, got)
	}
	got, err := codec.ReadCard([]byte(` {"protocolVersion":"0.3.1","url":"https://a","additionalInterfaces":[{"url":"https://b","transport":"GRPC"}],"skills":7,"description":3,"capabilities":{"streaming":true}}`))
	want := codec.Card{
		Interfaces:   []codec.Interface{{URL: "https://a", Binding: "JSONRPC", Version: "0.3.1"}, {URL: "https://b", Binding: "GRPC", Version: "0.3.1"}},
		Capabilities: codec.Capabilities{Streaming: true},
	}
	test.OK(t, err)
	test.Equal(t, "card", want, got)
	for _, wrong := range []string{`[]`, `{`, `"x"`, `null`, ``} {
		if _, err := codec.ReadCard([]byte(wrong)); err == nil {
			t.Errorf("%s is read as a card", wrong)
		}
	}
}
