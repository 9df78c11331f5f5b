package journal_test

import (
	"fmt"
	"testing"
	"time"

	"longhaul/internal/journal"
	"longhaul/internal/test"
	"longhaul/opt"
	"longhaul/opt/outbox"
)

// A clock is moved by its test.
type clock struct{ now time.Time }

func (c *clock) Now() time.Time           { return c.now }
func (c *clock) forward(by time.Duration) { c.now = c.now.Add(by) }
func newClock() *clock                    { return &clock{epoch} }

// openPush opens a journal that can keep secrets.
func openPush(t testing.TB, path string, c *clock) *journal.Journal {
	t.Helper()
	return openWith(t, journal.Config{Path: path, Sync: "normal", Sealer: boxOf(t, 7), Now: c.Now})
}

// pushed returns a journal with an objective, whose root task has push configs with
// the given ids.
func pushed(t testing.TB, c *clock, ids ...string) (j *journal.Journal, s *scribe, root string) {
	t.Helper()
	j = openPush(t, "", c)
	s = begin(t, j, newObjective())
	root = s.objective.ID
	for _, id := range ids {
		put(t, j, config(root, id))
	}
	return j, s, root
}

// config returns a config for a task, with everything set.
func config(taskID, id string) outbox.PushConfig {
	return outbox.PushConfig{
		Tenant: tenant, TaskID: taskID, ID: id, Principal: "ann", Version: "1.0", URL: "https://example.com/" + id,
		Token: "token-" + id, Scheme: "Bearer", Credentials: "credentials-" + id,
	}
}

func put(t testing.TB, j *journal.Journal, p outbox.PushConfig) {
	t.Helper()
	test.Value(j.Pushes.PutPush(t.Context(), p))(t)
}

// lines returns the deliveries of a task, one short text each.
func lines(t testing.TB, j *journal.Journal, taskID string) (list []string) {
	t.Helper()
	all := test.Value(j.Pushes.Deliveries(t.Context(), tenant, taskID))(t)
	for _, d := range all {
		list = append(list, fmt.Sprint(d.ConfigID, " ", d.State, " ", d.GateID, " ", d.Status, " ", d.Tries))
	}
	return list
}

func wantLines(t testing.TB, j *journal.Journal, taskID string, want ...string) {
	t.Helper()
	test.Equal(t, "deliveries", want, lines(t, j, taskID))
}

func TestJournal_PutPush(t *testing.T) {
	t.Parallel()
	c := newClock()
	j, _, root := pushed(t, c, "b")
	c.forward(time.Second)
	put(t, j, config(root, "a"))
	changed := config(root, "b")
	changed.URL, changed.Token = "https://example.com/other", ""
	put(t, j, changed)
	put(t, j, changed)

	got, err := j.Pushes.Pushes(t.Context(), tenant, root)
	if err != nil || len(got) != 2 {
		t.Fatalf("%d configs, %v, want 2", len(got), err)
	}
	if p := got[1].Fingerprint; len(p) != 16 || p == got[0].Fingerprint {
		t.Errorf("fingerprint %q", p)
	}
	want := []outbox.PushConfig{changed, config(root, "a")}
	want[0].CreatedAt, want[1].CreatedAt = at(0), at(1000)
	for i := range want {
		want[i].ObjectiveID, want[i].Fingerprint = root, got[i].Fingerprint
	}
	test.Equal(t, "configs", want, got)
}

// undo restores the earlier config, but reverts no later change of others.
func TestJournal_PutPush_undo(t *testing.T) {
	t.Parallel()
	mine, theirs := func(p *outbox.PushConfig) { p.URL = "https://example.com/mine" }, func(p *outbox.PushConfig) { p.URL = "https://example.com/theirs" }
	for _, tc := range []struct {
		name                string
		before, put, others func(*outbox.PushConfig) // nil for no config
		want                string                   // the path of the URL; "" for no config
	}{
		{"new", nil, mine, nil, ""},
		{"replaced", theirs, mine, nil, "theirs"},
		{"known", mine, mine, nil, "mine"},
		{"changed since", nil, mine, theirs, "theirs"},
		{"replaced and changed since", theirs, mine, func(p *outbox.PushConfig) { mine(p); p.Token = "another" }, "mine"},
	} {
		j := openPush(t, "", newClock())
		root := begin(t, j, newObjective()).objective.ID
		with := func(change func(*outbox.PushConfig)) (p outbox.PushConfig) {
			p = config(root, "a")
			change(&p)
			return p
		}
		if tc.before != nil {
			put(t, j, with(tc.before))
		}
		undo := test.Value(j.Pushes.PutPush(t.Context(), with(tc.put)))(t)
		if tc.others != nil {
			put(t, j, with(tc.others))
		}
		for range 2 {
			test.Error(t, tc.name, nil, undo(t.Context()))
		}
		got, err := j.Pushes.Pushes(t.Context(), tenant, root)
		if err != nil || len(got) != min(1, len(tc.want)) || len(got) == 1 && (got[0].URL != "https://example.com/"+tc.want || got[0].Credentials != "credentials-a") {
			t.Errorf("%s: left %v, %v, want %q", tc.name, got, err, tc.want)
		}
	}
}

func TestJournal_PutPush_refuses(t *testing.T) {
	t.Parallel()
	j, s, root := pushed(t, newClock())
	for n := range outbox.MaxPushes {
		put(t, j, config(root, fmt.Sprint(n)))
	}
	put(t, j, config(root, "7"))
	others, early, plan := config(root, "x"), config(newObjective().ID, "x"), config(s.task(0, 0), "x")
	others.Tenant, plan.Inline = "other", true
	foreign := others
	foreign.Inline = true
	for _, tc := range []struct {
		name   string
		config outbox.PushConfig
		want   error
	}{
		{"one too many", config(root, "x"), outbox.ErrPushLimit},
		{"other tenant", others, opt.ErrUnknown},
		{"other tenant, with a message", foreign, opt.ErrUnknown},
		{"no such task", early, opt.ErrUnknown},
		{"no such plan task", plan, opt.ErrUnknown},
		{"no id of ours", config("1", "x"), opt.ErrUnknown},
	} {
		fails(t, tc.name, tc.want)(j.Pushes.PutPush(t.Context(), tc.config))
	}
	without := openFile(t, file(t))
	o := begin(t, without, newObjective()).objective
	test.Fails(t, "a secret without a key: want an error", "", test.Err(without.Pushes.PutPush(t.Context(), config(o.ID, "x"))))
}

func TestJournal_RemovePush(t *testing.T) {
	t.Parallel()
	j, s, root := pushed(t, newClock(), "a")
	s.record(s.rootMoved(opt.TaskFailed))
	fails(t, "by another tenant", opt.ErrUnknown)(j.Pushes.RemovePush(t.Context(), "other", root, "a"))
	for range 2 {
		test.OK(t, j.Pushes.RemovePush(t.Context(), tenant, root, "a"))
	}
	test.Equal(t, "configs after it", 0, len(test.Value(j.Pushes.Pushes(t.Context(), tenant, root))(t)))
	fails(t, "of no task", opt.ErrUnknown)(j.Pushes.RemovePush(t.Context(), tenant, newObjective().ID, "a"))
	wantLines(t, j, root, "a failed  abandoned 0")
	fails(t, "again without its config", opt.ErrUnknown)(j.Pushes.Redeliver(t.Context(), tenant, root, "a", 2))
}

// A config that comes with the message that begins a task waits for the task, and
// misses no state of it.
func TestJournal_PutPush_beforeItsTask(t *testing.T) {
	t.Parallel()
	path, c := file(t), newClock()
	o := newObjective()
	early := config(o.ID, "a")
	early.Inline, early.States = true, outbox.PushAll
	put(t, openPush(t, path, c), early)
	put(t, openPush(t, path, c), early)

	j := openPush(t, path, c)
	fails(t, "read before the task is there", opt.ErrUnknown)(j.Pushes.Pushes(t.Context(), tenant, o.ID))
	s := begin(t, j, o)
	s.record(s.rootMoved(opt.TaskWorking), s.rootMoved(opt.TaskCompleted))
	wantLines(t, j, o.ID, "a submitted  due 0", "a working  due 0", "a completed  due 0")
	test.Is(t, "configs", 1, len(test.Value(j.Pushes.Pushes(t.Context(), tenant, o.ID))(t)))
}

func TestJournal_PutPush_pendingForAWeek(t *testing.T) {
	t.Parallel()
	c := newClock()
	j := openPush(t, "", c)
	o, other := newObjective(), newObjective()
	for _, p := range []outbox.PushConfig{config(o.ID, "a"), config(other.ID, "b")} {
		p.Inline = true
		put(t, j, p)
	}
	test.Error(t, "remove one that is pending", nil, j.Pushes.RemovePush(t.Context(), tenant, other.ID, "b"))
	begin(t, j, other)
	test.Is(t, "configs", 0, len(test.Value(j.Pushes.Pushes(t.Context(), tenant, other.ID))(t)))
	c.forward(8 * 24 * time.Hour)
	put(t, j, config(other.ID, "c"))
	begin(t, j, o)
	test.Is(t, "configs after a week", 0, len(test.Value(j.Pushes.Pushes(t.Context(), tenant, o.ID))(t)))
}

// A config whose key is gone delivers nothing, and can be seen, replaced and
// removed.
func TestJournal_Pushes_withoutTheirKey(t *testing.T) {
	t.Parallel()
	path, c := file(t), newClock()
	s := begin(t, openPush(t, path, c), newObjective())
	root := s.objective.ID
	put(t, s.j, config(root, "a"))
	s.record(s.rootMoved(opt.TaskFailed))

	j := openWith(t, journal.Config{Path: path, Sync: "normal", Sealer: boxOf(t, 8), Now: c.Now})
	if got := test.Value(j.Pushes.Pushes(t.Context(), tenant, root))(t)[0]; got.URL != "https://example.com/a" || got.Token != "" || got.Fingerprint == "" {
		t.Errorf("%+v, want it without its secrets", got)
	}
	if _, _, ok, err := j.Pushes.NextDelivery(t.Context(), root, "a"); ok || err == nil {
		t.Errorf("next delivery %v, %v, want an error", ok, err)
	}
	put(t, j, config(root, "a"))
	if got, _, ok, err := j.Pushes.NextDelivery(t.Context(), root, "a"); !ok || got.Token != "token-a" {
		t.Errorf("next delivery %v, %v, want one with the new secrets", ok, err)
	}
}
