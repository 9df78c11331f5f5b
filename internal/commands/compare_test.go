package commands

import (
	"fmt"
	"strings"
	"testing"
)

// Two objectives are shown side by side: tasks that one of them does not have, too, and results as a
// difference.
func TestCompare(t *testing.T) {
	a, b := strings.Repeat("a", 26), strings.Repeat("b", 26)
	f := newFakeAgent(t, answerWith(fmt.Sprintf(`{"a":{"id":"obj-%s","name":"Tea","state":"completed","seconds":9},"b":{"id":"obj-%s","name":"Tea","state":"completed","seconds":9},"tasks":[
		{"place":"Make / Boil","a":{"state":"completed","seconds":4,"text":"hot"},"b":{"state":"taken over","text":"hot"}},
		{"place":"Make / Taste","a":{"state":"completed","seconds":5,"decidedBy":"ann"},"b":{"state":"waiting"}},
		{"place":"Make / Pour","a":{"state":"completed","seconds":4,"usage":{"inputTokens":5,"outputTokens":2},"text":"black\ntea"},"b":{"state":"completed","seconds":4,"text":"green\ntea"}},
		{"place":"Make / Drink","a":{"state":"pending"}}]}`, a, b)))
	r := f.run(&compareCommand{A: "obj-" + a, B: "obj-" + b})
	want := fmt.Sprintf(`
 obj-%[1]s obj-%[2]s
Tea completed, 9.0s completed, 9.0s
 Make / Boil completed, after 4.0s taken over
 Make / Taste completed, decided by ann, after 5.0s waiting
 Make / Pour completed, after 4.0s, 7 tokens completed, after 4.0s
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
