package wire_test

import (
	"encoding/json"
	"testing"

	"longhaul/a2a"
	"longhaul/api/call"
	"longhaul/api/read"
	"longhaul/api/schedule"
	"longhaul/api/wire"
	"longhaul/api/work"
	"longhaul/internal/test"
)

// seeds are requests that exercise every branch of the readers.
var seeds = []string{
	`{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"text":"x"},{"raw":"aGk="},{"url":"u"},{"data":null}],"metadata":{"opt/v1/plan":{"name":"P","tasks":[{"id":"a","name":"A"},{"name":"B","dependencies":["a"]}]}}}}`,
	`{"message":{"kind":"message","messageId":"m","role":"user","parts":[{"kind":"text","text":"x"},{"type":"file","file":{"bytes":"aGk"}},{"data":{"value":1},"metadata":{"data_part_compat":true}}]},"configuration":{"blocking":false,"historyLength":1e1}}`,
	`{"message":{"message_id":"m","role":1,"parts":[{"data":{"action":"accept","interruptId":"g"}}],"task_id":"t","extensions":["x"]},"metadata":{"longhaul/v1/after":5}}`,
	`{"id":"x","historyLength":-1,"status":"TASK_STATE_WORKING","pageSize":101,"statusTimestampAfter":"2026-01-01T00:00:00Z"}`,
	`{"name":"x","objectiveId":"o","tasks":[{}],"dependencies":[null],"metadata":{"opt/v1/autoStart":1}}`,
	`{"message":{"parts":[{"data":{"answers":[{"id":"a","answer":null}]}},{"data":{"decision":"rejected","feedback":"f"}}]}}`,
	`[]`, `{"message":{"parts":[[]]}}`, `{"a":"\ud800","a":{"b":[{"c":"\\\"}"}]}}`, "\xff", `{"id":1}{}`,
}

// No input makes a reader panic, and an accepted message is the same after it was
// written and read again.
func fuzzRead(f *testing.F, v wire.Version) {
	for _, seed := range seeds {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, params []byte) {
		body := append(append([]byte(`{"jsonrpc":"2.0","id":1,"method":"x","params":`), params...), '}')
		req, fault := wire.ReadRequest(body)
		if fault != nil {
			return
		}
		for _, read := range []func(*wire.Reader){
			func(r *wire.Reader) { wire.Read[read.TaskParams](r) },
			func(r *wire.Reader) { wire.Read[read.TaskListParams](r) },
			func(r *wire.Reader) { wire.Read[work.CreateObjectiveParams](r) },
			func(r *wire.Reader) { wire.Read[read.GetObjectiveParams](r) },
			func(r *wire.Reader) { wire.Read[read.ListObjectivesParams](r) },
			func(r *wire.Reader) { wire.Read[work.CreatePlanParams](r) },
			func(r *wire.Reader) { wire.Read[read.GetPlanParams](r) },
			func(r *wire.Reader) { wire.Read[schedule.CreateScheduleParams](r) },
		} {
			read(wire.NewReader(v, req.Params))
		}
		r := wire.NewReader(v, req.Params)
		m := wire.ReadSend(r).Message
		if r.Fault() != nil {
			return
		}
		again := reread(t, v, m)
		if again.Digest() != m.Digest() {
			t.Errorf("%s reads %+v, and then %+v", v, m, again)
		}
	})
}

func reread(t *testing.T, v wire.Version, m a2a.Message) a2a.Message {
	t.Helper()
	b := test.Value(wire.Marshal(map[string]any{"message": v.Message(m)}))(t)
	if !json.Valid(b) {
		t.Fatalf("not JSON: %s", b)
	}
	r := wire.NewReader(v, b)
	again := wire.ReadSend(r).Message
	if fault := r.Fault(); fault != nil {
		t.Fatalf("%v: %s", fault, b)
	}
	return again
}

func FuzzRead03(f *testing.F) { fuzzRead(f, wire.V03) }

func FuzzRead10(f *testing.F) { fuzzRead(f, wire.V10) }

// Any bytes are read as a request or a fault, and the id is JSON that can be sent
// back unchanged.
func FuzzEnvelope(f *testing.F) {
	for _, seed := range append(seeds, `{"jsonrpc":"2.0","id":1e5,"method":"x"}`, ` {"id":"\u0000","method":1}`, `{"id":null}`) {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		req, fault := wire.ReadRequest(body)
		if fault == nil && (req.Method == "" || !json.Valid(body)) {
			t.Errorf("accepted %s as %+v", body, req)
		}
		for _, v := range []wire.Version{wire.V03, wire.V10} {
			answer, err := wire.Failure(req.ID, wire.Error(v, &call.Fault{Kind: call.Internal}, false))
			if err != nil || !json.Valid(answer) {
				t.Errorf("answer is %s, %v", answer, err)
			}
		}
	})
}
