package playbook_test

import (
	"strings"
	"testing"

	"longhaul/dev/e2e/harness"
	"longhaul/internal/test"
)

// patient is for what waits until a held task looks again.
const patient = 3 * within

const twice = `name: twice
default: true
skills: [{id: twice, name: N, description: D, tags: [t]}]
plans:
- name: P
  tasks:
  - {name: First, human: {approve: 'First?'}}
  - {name: Second, human: {approve: 'Second?'}}
`

// Human tasks wait for a quota of questions, and say so, also after the program was killed. Gates that are open stay
// open, and their answers count. With a higher limit at the next start all continue.
func TestQuota_questions(t *testing.T) {
	t.Parallel()
	site := harness.NewSite(t, harness.Dev, "--playbooks", test.File(t, "twice.yaml", twice))
	p := site.Start(harness.AllInOne, "LONGHAUL_QUOTA=questions-in-all=2")
	c := site.Client()
	var ids []string
	for _, id := range []string{"one", "two"} {
		ids = append(ids, c.MustSend(t.Context(), t, harness.Message{ID: id, Text: "go"}).ID)
		c.AwaitGate(t, patient, ids[len(ids)-1])
	}
	if _, err := c.Send(t.Context(), harness.Message{ID: "three", Text: "go"}); harness.Reason(err) != "QUOTA_EXCEEDED" {
		t.Errorf("above the limit: %v", err)
	}
	answer := func(id, gate string) {
		t.Helper()
		g := c.AwaitGate(t, patient, id)
		if g.Title != gate {
			t.Fatalf("%s asks %q", id, g.Title)
		}
		c.MustSend(t.Context(), t, harness.Reply(id+gate, g.TaskID, g.ID, "accept"))
	}
	const waits = "Waits for the quota questions-in-all of the tenant: 2 of 2 used, until the limit is raised."
	answer(ids[0], "First?")
	c.AwaitText(t, patient, ids[0], waits)
	p.Kill()
	p = site.Start(harness.AllInOne, "LONGHAUL_QUOTA=questions-in-all=2")
	c.AwaitText(t, patient, ids[0], waits)
	answer(ids[1], "First?")
	c.AwaitText(t, patient, ids[1], waits)
	p.Kill()
	site.Start(harness.AllInOne, "LONGHAUL_QUOTA=questions-in-all=4")
	for _, id := range ids {
		answer(id, "Second?")
		if task := c.AwaitEnd(t, patient, id); task.State != "COMPLETED" || strings.Contains(task.Message, "quota") {
			t.Errorf("%s: %s %s", id, task.State, task.Message)
		}
	}
}
