package commands

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"longhaul/internal/test"
)

func TestFork(t *testing.T) {
	f := newFakeAgent(t, sendResult(`{"objective":{"id":"obj-f","name":"Tea"}}`), func(w http.ResponseWriter) {
		fmt.Fprint(w, `{"jsonrpc":"2.0","error":{"code":-32001,"message":"task-a had begun, and has no recorded end"}}`)
	})
	f.want(f.run(&forkCommand{Objective: rootID + "~2", At: 7, Task: map[string]string{"task-a": "x"}, Key: "k"}), 0, "Objective obj-f: Tea\n\n  longhaul watch --url URL obj-f\n")
	r := f.run(&forkCommand{Objective: rootID})
	if r.code != 1 || !strings.Contains(fmt.Sprint(r.err), "add --repeat") {
		t.Errorf("exit code %d: %v", r.code, r.err)
	}
	calls := []string{`objectives/fork {"id":"` + rootID + `","at":7,"tasks":[{"id":"task-a","description":"x"}]}`, `objectives/fork {"id":"` + rootID + `"}`}
	test.Equal(t, "calls", calls, f.calls)
}
