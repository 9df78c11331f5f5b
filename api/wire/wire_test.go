package wire_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"longhaul/a2a"
	"longhaul/api/card"
	"longhaul/api/message"
	"longhaul/api/read"
	"longhaul/api/stream"
	"longhaul/api/wire"
	"longhaul/internal/test"
	"longhaul/opt"
)

// readSend reads params of a send whose message has the given parts.
func readSend(t *testing.T, v wire.Version, parts string) message.SendParams {
	t.Helper()
	role := map[wire.Version]string{wire.V03: "user", wire.V10: "ROLE_USER"}[v]
	body := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"x","params":{"message":{"messageId":"m","taskId":"t","role":%q,"parts":[%s]}}}`, role, parts)
	req, fault := wire.ReadRequest([]byte(body))
	if fault != nil {
		t.Fatalf("%s: %v", parts, fault)
	}
	r := wire.NewReader(v, req.Params)
	p := wire.ReadSend(r)
	if fault := r.Fault(); fault != nil {
		t.Fatalf("%s: %v", parts, fault)
	}
	return p
}

func write(t *testing.T, v any) string {
	t.Helper()
	b := test.Value(wire.Marshal(v))(t)
	return string(b)
}

// partsOf returns the parts of m as v writes them.
func partsOf(t *testing.T, v wire.Version, m a2a.Message) string {
	t.Helper()
	var out struct{ Parts json.RawMessage }
	test.OK(t, json.Unmarshal([]byte(write(t, v.Message(m))), &out))
	return strings.TrimSuffix(strings.TrimPrefix(string(out.Parts), "["), "]")
}

// Parts in all forms that clients are known to send, and their forms in the two
// versions.
func TestParts(t *testing.T) {
	for _, tc := range []struct {
		v              wire.Version
		in, as03, as10 string
	}{
		{wire.V10, `{"text":""}`, `{"kind":"text","text":""}`, `{"text":""}`},
		{wire.V10, `{"data":null}`, `{"kind":"data","data":{"value":null},"metadata":{"data_part_compat":true}}`, `{"data":null}`},
		{wire.V10, `{"data":false}`, `{"kind":"data","data":{"value":false},"metadata":{"data_part_compat":true}}`, `{"data":false}`},
		{wire.V10, `{"data":0}`, `{"kind":"data","data":{"value":0},"metadata":{"data_part_compat":true}}`, `{"data":0}`},
		{wire.V10, `{"data":[1, 2]}`, `{"kind":"data","data":{"value":[1,2]},"metadata":{"data_part_compat":true}}`, `{"data":[1,2]}`},
		{wire.V10, `{"data":{"n":1e400,"m":12345678901234567890,"k":1.0}}`, `{"kind":"data","data":{"n":1e400,"m":12345678901234567890,"k":1.0}}`, `{"data":{"n":1e400,"m":12345678901234567890,"k":1.0}}`},
		{wire.V10, `{"text":"x","raw":null,"url":null}`, `{"kind":"text","text":"x"}`, `{"text":"x"}`},
		{wire.V10, `{"raw":""}`, `{"kind":"file","file":{"bytes":""}}`, `{"raw":""}`},
		{wire.V10, `{"raw":"-_8=","filename":"f","mediaType":"t/p"}`, `{"kind":"file","file":{"name":"f","mimeType":"t/p","bytes":"+/8="}}`, `{"raw":"+/8=","filename":"f","mediaType":"t/p"}`},
		{wire.V10, `{"raw":"+/8"}`, `{"kind":"file","file":{"bytes":"+/8="}}`, `{"raw":"+/8="}`},
		{wire.V10, `{"url":"u","media_type":"t/p"}`, `{"kind":"file","file":{"mimeType":"t/p","uri":"u"}}`, `{"url":"u","mediaType":"t/p"}`},
		{wire.V10, `{"text":"x","mediaType":"t/p","metadata":{"a":null}}`, `{"kind":"text","text":"x","metadata":{"a":null,"mediaType":"t/p"}}`, `{"text":"x","mediaType":"t/p","metadata":{"a":null}}`},
		{wire.V10, `{"kind":"text","text":"x","unknown":{}}`, `{"kind":"text","text":"x"}`, `{"text":"x"}`},
		{wire.V10, `{"text":"<&>\u2028"}`, `{"kind":"text","text":"<&>\u2028"}`, `{"text":"<&>\u2028"}`},
		{wire.V03, `{"kind":"text","text":""}`, `{"kind":"text","text":""}`, `{"text":""}`},
		{wire.V03, `{"type":"text","text":"x"}`, `{"kind":"text","text":"x"}`, `{"text":"x"}`},
		{wire.V03, `{"text":"x"}`, `{"kind":"text","text":"x"}`, `{"text":"x"}`},
		{wire.V03, `{"data":{}}`, `{"kind":"data","data":{}}`, `{"data":{}}`},
		{wire.V03, `{"file":{"uri":"u","mimeType":"t/p"}}`, `{"kind":"file","file":{"mimeType":"t/p","uri":"u"}}`, `{"url":"u","mediaType":"t/p"}`},
		{wire.V03, `{"kind":"data","data":{"value":[1]},"metadata":{"data_part_compat":true}}`, `{"kind":"data","data":{"value":[1]},"metadata":{"data_part_compat":true}}`, `{"data":[1]}`},
		{wire.V03, `{"kind":"data","data":{"value":[1]}}`, `{"kind":"data","data":{"value":[1]}}`, `{"data":{"value":[1]}}`},
	} {
		m := readSend(t, tc.v, tc.in).Message
		test.Is(t, fmt.Sprintf("%s: members", tc.in), 1, m.Parts[0].Members())
		test.Is(t, fmt.Sprintf("%s is in 0.3", tc.in), tc.as03, partsOf(t, wire.V03, m))
		test.Is(t, fmt.Sprintf("%s is in 1.0", tc.in), tc.as10, partsOf(t, wire.V10, m))
	}
}

// The tags of a type say how its fields are read. A member may be in snake_case, null is absent,
// and every mistake is reported with its member.
func TestRead(t *testing.T) {
	type filter struct {
		Kind  opt.GateKind `param:"kind"`
		Limit int          `param:"pageSize,page of 50"`
	}
	type params struct {
		ID     string `param:"planId,needed"`
		Filter filter
		Shown  bool      `param:"shown,else true"`
		Name   *string   `param:"name"`
		Cron   *[]string `param:"cron"`
		Every  *int64    `param:"every,span"`
		Own    string    // not a param
	}
	for in, want := range map[string]params{
		`{"planId":"p"}`:                                                 {ID: "p", Shown: true, Filter: filter{Limit: 50}},
		`{"plan_id":"p","Own":"x","name":null}`:                          {ID: "p", Shown: true, Filter: filter{Limit: 50}},
		`{"planId":"p","name":"","cron":[],"every":"2m"}`:                {ID: "p", Shown: true, Filter: filter{Limit: 50}, Name: new(""), Cron: new([]string(nil)), Every: new(int64(120))},
		`{"planId":"p","kind":"approval","page_size":"7","shown":false}`: {ID: "p", Filter: filter{opt.Approval, 7}},
	} {
		r := wire.NewReader(wire.V10, json.RawMessage(in))
		if diff := cmp.Diff(want, wire.Read[params](r)); diff != "" || r.Fault() != nil {
			t.Errorf("%s: %v (-want +got):\n%s", in, r.Fault(), diff)
		}
	}
	r := wire.NewReader(wire.V10, json.RawMessage(`{"kind":"x","pageSize":0,"shown":1,"name":2,"cron":["a",3],"every":"1ms"}`))
	wire.Read[params](r)
	var fields []string
	for _, v := range r.Fault().Violations {
		fields = append(fields, v.Field)
	}
	test.Equal(t, "wrong members", []string{"planId", "kind", "pageSize", "shown", "name", "cron[1]", "every"}, fields)
}

// The words for states are a bijection.
func TestStates(t *testing.T) {
	for _, s := range a2a.TaskStates {
		for v, word := range map[wire.Version]string{wire.V03: string(s), wire.V10: "TASK_STATE_" + strings.ToUpper(strings.ReplaceAll(string(s), "-", "_"))} {
			if got := write(t, wire.Task(v, read.Task{Task: a2a.Task{Status: a2a.TaskStatus{State: s}}})); !strings.Contains(got, `"state":"`+word+`"`) {
				t.Errorf("%s: %s is not in %s", v, word, got)
			}
			r := wire.NewReader(v, json.RawMessage(`{"status":"`+word+`"}`))
			if got := wire.Read[read.TaskListParams](r).Filter.State; got != s || r.Fault() != nil {
				t.Errorf("%s: %s is read as %q, %v", v, word, got, r.Fault())
			}
		}
	}
	for n, want := range map[int]a2a.TaskState{0: "", 1: a2a.Submitted, 6: a2a.InputRequired, 8: a2a.AuthRequired} {
		r := wire.NewReader(wire.V10, json.RawMessage(fmt.Sprintf(`{"status":%d}`, n)))
		if got := wire.Read[read.TaskListParams](r).Filter.State; got != want || r.Fault() != nil {
			t.Errorf("%d is read as %q, %v", n, got, r.Fault())
		}
	}
}

// Empty arrays and objects are never written as null, and required members are
// always there.
func TestNothingIsNull(t *testing.T) {
	for _, v := range []wire.Version{wire.V03, wire.V10} {
		for _, value := range []any{
			wire.Task(v, read.Task{}), v.Message(a2a.Message{}), wire.TaskPage(v, read.TaskPage{}), v.Card(card.Card{Interfaces: []card.Interface{}}),
			wire.ObjectivePage(v, read.ObjectivePage{}),
			wire.Event(v, stream.StreamEvent{Event: a2a.Event{Status: &a2a.StatusUpdate{}}}), wire.Event(v, stream.StreamEvent{Event: a2a.Event{Artifact: &a2a.ArtifactUpdate{}}}),
		} {
			if got := write(t, value); strings.Contains(got, "null") {
				t.Errorf("%s writes null: %s", v, got)
			}
		}
	}
	want := `{"kind":"status-update","taskId":"","contextId":"","status":{"state":""},"final":false}`
	test.Equal(t, "status update", want, write(t, wire.Event(wire.V03, stream.StreamEvent{Event: a2a.Event{Status: &a2a.StatusUpdate{}}})))
}

func TestNegotiate(t *testing.T) {
	for _, tc := range []struct {
		headers, query []string
		want           wire.Version
		named, fails   bool
	}{
		{nil, nil, "0.3", false, false},
		{[]string{""}, []string{" "}, "0.3", false, false},
		{[]string{" 1.0 "}, nil, "1.0", true, false},
		{[]string{"1.0.1"}, nil, "1.0", true, false},
		{[]string{"0.3.0"}, nil, "0.3", true, false},
		{nil, []string{"1.0"}, "1.0", true, false},
		{[]string{""}, []string{"1.0"}, "1.0", true, false},
		{[]string{"1.0"}, []string{"1.0.0"}, "1.0", true, false},
		{[]string{"1.0"}, []string{"0.3"}, "", true, true},
		{[]string{"1.0", "0.3"}, nil, "", true, true},
		{[]string{"1"}, nil, "", true, true},
		{[]string{"1.1"}, nil, "", true, true},
		{[]string{"0.2"}, nil, "", true, true},
		{[]string{"v1.0"}, nil, "", true, true},
		{[]string{"1.0, 0.3"}, nil, "", true, true},
		{[]string{strings.Repeat("1", 5000) + ".0"}, nil, "", true, true},
	} {
		v, named, fault := wire.Negotiate(tc.headers, map[string][]string{"A2A-Version": tc.query})
		if (fault != nil) != tc.fails || named != tc.named || fault == nil && v != tc.want {
			t.Errorf("%q %q: %s, %v, %v", tc.headers, tc.query, v, named, fault)
		}
		if fault != nil && (fault.Info["supportedVersions"] == "" || len(fault.Message) > 200) {
			t.Errorf("%q: fault is %+v", tc.headers, fault)
		}
	}
}
