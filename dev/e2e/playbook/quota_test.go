package playbook_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strconv"
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

const busy = `name: busy
default: true
skills: [{id: busy, name: N, description: D, tags: [t]}]
plans:
- name: P
  tasks:
  - {name: First, description: work 2s}
  - {name: Second, description: say done}
`

// A task that ran uses up the time of a day. The next step waits and says why, and new work is refused, also after the
// program was killed; quotas and costs have the same sum. With a higher limit at the next start the work continues.
func TestQuota_time(t *testing.T) {
	t.Parallel()
	site := harness.NewSite(t, harness.Dev, "--playbooks", test.File(t, "busy.yaml", busy))
	p := site.Start(harness.AllInOne, "LONGHAUL_QUOTA=time-per-day=2s")
	c := site.Client()
	id := c.MustSend(t.Context(), t, harness.Message{ID: "one", Text: "go"}).ID
	const waits = "Waits for the quota time-per-day of the tenant: "
	var first string
	for range 3 {
		c.AwaitText(t, patient, id, waits)
		task := test.Value(c.Get(t.Context(), id))(t)
		_, said, ok := strings.Cut(task.Message, waits)
		ran, until, limited := strings.Cut(said, " s of 2 s used, until ")
		if n, err := strconv.Atoi(ran); !ok || !limited || err != nil || n < 2 || !strings.HasSuffix(until, " 00:00 UTC.") {
			t.Fatalf("the step says %q", task.Message)
		}
		first = cmp.Or(first, ran)
		test.Is(t, "the seconds", first, ran)
		test.Is(t, "the quotas", "time-per-day "+ran+"s of 2s", quotas(t, c))
		test.Is(t, "the costs", id+" "+ran, costs(t, site))
		if _, err := c.Send(t.Context(), harness.Message{ID: "two", Text: "go"}); harness.Reason(err) != "QUOTA_EXCEEDED" {
			t.Errorf("above the limit: %v", err)
		}
		p.Kill()
		p = site.Start(harness.AllInOne, "LONGHAUL_QUOTA=time-per-day=2s")
	}
	p.Kill()
	site.Start(harness.AllInOne, "LONGHAUL_QUOTA=time-per-day=1m")
	if task := c.AwaitEnd(t, patient, id); task.State != "COMPLETED" {
		t.Errorf("%s: %s", task.State, task.Message)
	}
}

// quotas lists how much of the quotas is used.
func quotas(t *testing.T, c *harness.Client) string {
	t.Helper()
	var page struct {
		Quotas []struct{ Quota, Used, Limit string }
	}
	test.OK(t, c.ReadPage(t.Context(), "GET", "/v1/quotas", "", &page))
	var list []string
	for _, q := range page.Quotas {
		list = append(list, q.Quota+" "+q.Used+" of "+q.Limit)
	}
	return strings.Join(list, ", ")
}

// costs returns the context that "longhaul costs" has, and the seconds in which its tasks ran.
func costs(t *testing.T, site *harness.Site) string {
	t.Helper()
	var cost struct {
		Of      string
		Seconds int
	}
	test.OK(t, json.Unmarshal([]byte(site.Run("costs", "--json", "--url", site.URL())), &cost))
	return fmt.Sprint(cost.Of, " ", cost.Seconds)
}
