package api_test

import (
	"strings"
	"testing"

	"longhaul/internal/test"
	"longhaul/opt"
	"longhaul/opt/shown"
)

// The history scope is in the metadata of a request or of its message, and is
// stored with the message.
func TestHistoryScope(t *testing.T) {
	const key = `"metadata":{"opt/v1/historyScope":"plan"}`
	for name, tc := range map[string]struct {
		method, params string
		want, kept     string
	}{
		"not asked for":         {"SendMessage", `{"message":` + messageJSON("m-2", "quiet", "") + `}`, "", ""},
		"by the message":        {"SendMessage", `{"message":` + messageJSON("m-2", "quiet", ","+key) + `}`, "plan", `"plan"`},
		"beside it":             {"SendMessage", `{"message":` + messageJSON("m-2", "quiet", "") + `,` + key + `}`, "plan", `"plan"`},
		"by both":               {"SendMessage", `{"message":` + messageJSON("m-2", "quiet", `,"metadata":{"opt/v1/historyScope":"objective"}`) + `,` + key + `}`, "objective", `"objective"`},
		"beside it, for nobody": {"SendMessage", `{"message":` + messageJSON("m-2", "quiet", "") + `,"metadata":{"opt/v1/historyScope":"all"}}`, "", ""},
		"get":                   {"GetTask", `{"id":"ROOT",` + key + `}`, "plan", ""},
		"get, not asked for":    {"GetTask", `{"id":"ROOT"}`, "", ""},
		"get, for nobody":       {"GetTask", `{"id":"ROOT","metadata":{"opt/v1/historyScope":5}}`, "", ""},
		"cancel":                {"CancelTask", `{"id":"ROOT",` + key + `}`, "plan", ""},
		"list":                  {"ListTasks", `{}`, "task", ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := newService(t)
			id := s.send(t, "m-1", "slow").at("id").String()
			params := strings.ReplaceAll(tc.params, "ROOT", id)
			n := s.call(t, tc.method, params)
			if n.has("error") {
				t.Fatal(n)
			}
			if got := s.journal.scope(); got != shown.HistoryScope(tc.want) {
				t.Errorf("the journal was asked for %q, want %q", got, tc.want)
			}
			if tc.method != "SendMessage" {
				return
			}
			openings := s.world.Openings()
			last := openings[len(openings)-1].Message
			test.Is(t, "is kept with the message", tc.kept, string(last.Metadata[opt.KeyHistoryScope]))
		})
	}
}
