package hostile_test

import (
	"fmt"
	"testing"

	"longhaul/dev/e2e/harness"
)

// tenant returns a client of a tenant.
func (i installation) tenant(t *testing.T, name string) *harness.Client {
	t.Helper()
	return i.Client().With("X-API-Key", i.Key(name, "--tenant", name, "--scopes", "all"))
}

// A tenant begins as much work as it may, and more, all of which would occupy the worker for
// hours. It is refused at its limit, its tasks wait and none fails, and the work of another
// tenant is done meanwhile. When its work has ended, it begins more.
func TestHostile_tenant(t *testing.T) {
	t.Parallel()
	const most = 8
	i := newInstallation(t, "--max-tasks", "3", "--quota", fmt.Sprintf("large:open-objectives=%d,running-tasks=2", most))
	large, small := i.tenant(t, "large"), i.tenant(t, "small")
	var ids []string
	for n := range most {
		task := large.MustSend(t.Context(), t, harness.Message{ID: fmt.Sprint("long-", n), Text: "work 1h"})
		ids = append(ids, task.ID)
	}
	for n := range 3 {
		if _, err := large.Send(t.Context(), harness.Message{ID: fmt.Sprint("more-", n), Text: "work 1h"}); harness.Reason(err) != "QUOTA_EXCEEDED" {
			t.Errorf("above the limit: %v", err)
		}
	}
	if again, err := large.Send(t.Context(), harness.Message{ID: "long-0", Text: "work 1h"}); err != nil || again.ID != ids[0] {
		t.Errorf("a repeat: %+v, %v", again, err)
	}
	for n := range 3 {
		task := small.MustSend(t.Context(), t, harness.Message{ID: fmt.Sprint("short-", n), Text: "work 1ms; say done"})
		if ended := small.AwaitEnd(t, within, task.ID); ended.State != "COMPLETED" {
			t.Errorf("the other tenant: %+v", ended)
		}
	}
	for _, id := range ids {
		if task, err := large.Get(t.Context(), id); err != nil || task.Ended() {
			t.Errorf("a task of the large tenant: %+v, %v", task, err)
		}
		if _, err := large.Cancel(t.Context(), id); err != nil {
			t.Errorf("cancel: %v", err)
		}
		large.AwaitEnd(t, within, id)
	}
	task := large.MustSend(t.Context(), t, harness.Message{ID: "last", Text: "work 1ms; say done"})
	if ended := large.AwaitEnd(t, within, task.ID); ended.State != "COMPLETED" {
		t.Errorf("after its work has ended: %+v", ended)
	}
}
