package commands

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// Two objectives are shown side by side: tasks that one of them does not have, too, and results as a
// difference.
func TestCompare(t *testing.T) {
	objective := func(u, metadata, more string) string {
		task := func(n int, name, status, metadata string) string {
			return fmt.Sprintf(`{"id":"task-%s-1-%d","planId":"plan-%s-1","name":%q,"status":%q,"a2aTaskId":"task-%s-1-%d","metadata":{%s}}`, u, n, u, name, status, u, n, metadata)
		}
		return fmt.Sprintf(`{"id":"obj-%s","name":"Tea","status":"completed","createdAt":"2026-03-01T09:30:00.000Z","updatedAt":"2026-03-01T09:30:09.000Z","plans":[{"name":"Make","tasks":[%s,%s%s]}]}`,
			u, task(0, "Boil", "completed", metadata), task(1, "Pour", "completed", `"longhaul/v1/usage":{"inputTokens":5,"outputTokens":2}`), more)
	}
	made := func(text string) func(http.ResponseWriter) {
		return sendResult(`{"id":"task","status":{"state":"TASK_STATE_COMPLETED","timestamp":"2026-03-01T09:30:04.000Z"},"artifacts":[{"artifactId":"a","parts":[{"text":"` + text + `"}]}]}`)
	}
	a, b := strings.Repeat("a", 26), strings.Repeat("b", 26)
	f := newFakeAgent(t, made("hot"), made(`black\ntea`), made("hot"), made(`green\ntea`))
	f.objective = []string{
		objective(a, "", `,{"id":"task-`+a+`-1-2","planId":"plan-`+a+`-1","name":"Drink","status":"pending"}`),
		objective(b, `"longhaul/v1/takenOver":{"taskId":"x"}`, ""),
	}
	r := f.run(&compareCommand{A: "obj-" + a, B: "obj-" + b})
	want := fmt.Sprintf(`
 obj-%[1]s obj-%[2]s
Tea completed, 9.0s completed, 9.0s
 Make / Boil completed, after 4.0s taken over
 Make / Pour completed, after 4.0s, 7 tokens completed, after 4.0s, 7 tokens
 Make / Drink pending
--- Make / Pour of obj-%[1]s
+++ Make / Pour of obj-%[2]s
@@ -1,2 +1,2 @@
-black
+green
 tea
`, a, b)
	if got := strings.Join(strings.Fields(r.stdout.String()), " "); got != strings.Join(strings.Fields(want), " ") || r.err != nil {
		t.Errorf("%v; printed\n%s", r.err, r.stdout.String())
	}
}
