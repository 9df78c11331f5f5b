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

// atGate returns the event that moves a task of the objective to a gate.
func (s *scribe) atGate(taskID, gate string) opt.Event {
	e := opt.Event{Kind: opt.TaskMoved, TaskID: taskID, To: string(opt.TaskInputRequired), Gate: &opt.Gate{ID: gate, Kind: opt.Approval, TaskID: s.task(0, 0)}}
	if taskID != s.objective.RootID() {
		e.PlanID = s.plan(0)
	}
	return e
}

func TestJournal_Record_makesDeliveries(t *testing.T) {
	t.Parallel()
	j := openPush(t, "", newClock())
	s := begin(t, j, newObjective())
	s.record(planAdded(s.objective, 0, 1))
	root, task := s.objective.ID, s.task(0, 0)
	put(t, j, config(root, "ends"))
	all := config(root, "all")
	all.States = outbox.PushAll
	put(t, j, all)
	put(t, j, config(task, "of the task"))
	s.record(
		s.rootMoved(opt.TaskWorking), s.moved(0, 0, opt.TaskWorking),
		s.atGate(task, "g1"), s.atGate(root, "g1"), s.atGate(root, "g1"), s.atGate(root, "g2"),
		s.rootMoved(opt.TaskWorking), s.atGate(root, "g2"),
	)
	wantLines(t, j, root,
		"all submitted  due 0", "all working  due 0",
		"all input-required g1 due 0", "ends input-required g1 due 0",
		"all input-required g2 due 0", "ends input-required g2 due 0",
		"all working  due 0",
		"all input-required g2 due 0", "ends input-required g2 due 0")
	wantLines(t, j, task, "of the task input-required g1 due 0")

	want := []outbox.Delivery{{
		ObjectiveID: root, TaskID: task, ContextID: s.objective.ContextID, ConfigID: "of the task", N: 5,
		State: "input-required", At: at(5), GateKind: "approval", GateID: "g1", Status: outbox.DeliveryDue, Since: at(5),
	}}
	test.Equal(t, "deliveries", want, test.Value(j.Pushes.Deliveries(t.Context(), tenant, task))(t))
}

// A retry has its own root task: configs stay with the task that they were
// made for.
func TestJournal_Record_retryHasNoConfigs(t *testing.T) {
	t.Parallel()
	j := openPush(t, "", newClock())
	s := begin(t, j, newObjective())
	put(t, j, config(s.objective.ID, "a"))
	s.record(s.rootMoved(opt.TaskFailed))
	s.record(opt.Event{Kind: opt.ObjectiveRetried, From: "failed", To: "planning", Attempt: 2, TaskID: opt.RootID(s.objective.ID, 2)})
	second := opt.RootID(s.objective.ID, 2)
	s.record(opt.Event{Kind: opt.TaskMoved, TaskID: second, To: string(opt.TaskFailed)})
	wantLines(t, j, s.objective.ID, "a failed  due 0")
	wantLines(t, j, second)
}

// A config that is made while its task waits, or after it has ended, gets that
// state; one that comes with a message gets what follows.
func TestJournal_PutPush_deliversTheState(t *testing.T) {
	t.Parallel()
	c := newClock()
	j, s, root := pushed(t, c)
	s.record(s.atGate(root, "g1"))
	put(t, j, config(root, "a"))
	put(t, j, config(root, "a"))
	moved := config(root, "a")
	moved.URL = "https://example.com/moved"
	put(t, j, moved)
	inline := config(root, "inline")
	inline.Inline = true
	put(t, j, inline)
	wantLines(t, j, root, "a input-required g1 due 0")

	s.record(s.rootMoved(opt.TaskCompleted))
	put(t, j, config(root, "late"))
	wantLines(t, j, root, "a input-required g1 due 0", "a completed  due 0", "inline completed  due 0", "late completed  due 0")
}

// An objective without configs costs as many statements as before there were any.
func TestJournal_Record_withoutConfigs(t *testing.T) {
	t.Parallel()
	j := openFile(t, file(t))
	s := begin(t, j, newObjective())
	s.record(s.rootMoved(opt.TaskWorking))
	s.record(s.rootMoved(opt.TaskCompleted))
	for _, first := range []string{"INSERT INTO deliveries", "SELECT shown, gate", "UPDATE push_configs"} {
		test.Is(t, fmt.Sprintf("%s: times", first), 0, runs(t, j, first))
	}
}

func next(t testing.TB, j *journal.Journal, task, config string) string {
	t.Helper()
	p, d, ok, err := j.Pushes.NextDelivery(t.Context(), task, config)
	test.OK(t, err)
	if !ok {
		return "none"
	}
	return fmt.Sprint(p.URL, " ", d.N, " ", d.State, " ", d.Tries)
}

func note(t testing.TB, j *journal.Journal, task, config string, s outbox.DeliveryStatus) outbox.Delivery {
	t.Helper()
	p, d, ok, err := j.Pushes.NextDelivery(t.Context(), task, config)
	if !ok || err != nil {
		t.Fatalf("next delivery: %v, %v", ok, err)
	}
	test.Value(j.Pushes.NoteDelivery(t.Context(), p, d, outbox.DeliveryAttempt{At: at(int64(100 + d.Tries)), Status: 503, Error: "status"}, s))(t)
	return d
}

func TestJournal_NoteDelivery(t *testing.T) {
	t.Parallel()
	c := newClock()
	j, s, root := pushed(t, c, "a")
	test.Is(t, "next", "none", next(t, j, root, "a"))
	s.record(s.atGate(root, "g1"), s.rootMoved(opt.TaskCompleted))
	test.Is(t, "next", "https://example.com/a 2 input-required 0", next(t, j, root, "a"))
	first := note(t, j, root, "a", outbox.DeliveryDue)
	p, _, _, _ := j.Pushes.NextDelivery(t.Context(), root, "a")
	test.Is(t, "a repeat", outbox.DeliveryDue, test.Value(j.Pushes.NoteDelivery(t.Context(), p, first, outbox.DeliveryAttempt{At: at(900)}, outbox.DeliveryDead))(t))
	note(t, j, root, "a", outbox.DeliveryDone)
	note(t, j, root, "a", outbox.DeliveryDead)
	test.Is(t, "next", "none", next(t, j, root, "a"))
	wantLines(t, j, root, "a input-required g1 delivered 2", "a completed  dead 1")
	list, err := j.Pushes.Deliveries(t.Context(), tenant, root)
	want := []outbox.DeliveryAttempt{{N: 1, At: at(100), Status: 503, Error: "status"}, {N: 2, At: at(101), Status: 503, Error: "status"}}
	test.OK(t, err)
	test.Equal(t, "attempts", want, list[0].Attempts)

	c.forward(time.Hour)
	for _, n := range []int64{2, 3, 3} {
		test.OK(t, j.Pushes.Redeliver(t.Context(), tenant, root, "a", n))
	}
	wantLines(t, j, root, "a input-required g1 due 2", "a completed  due 1")
	_, d, _, _ := j.Pushes.NextDelivery(t.Context(), root, "a")
	test.Is(t, "due since", at(3600_000).String(), d.Since.String())
	for range 25 {
		note(t, j, root, "a", outbox.DeliveryDue)
	}
	if list, err = j.Pushes.Deliveries(t.Context(), tenant, root); err != nil || len(list[0].Attempts) != 20 || list[0].Attempts[19].N != 27 {
		t.Errorf("kept %v, %v, want the latest 20 of 27", list[0].Attempts, err)
	}
}

// The outcome of an attempt that was under way when its config was removed.
func TestJournal_NoteDelivery_abandoned(t *testing.T) {
	t.Parallel()
	j, s, root := pushed(t, newClock())
	for _, id := range []string{"a", "b"} {
		put(t, j, config(root, id))
	}
	s.record(s.rootMoved(opt.TaskFailed))
	for id, status := range map[string]outbox.DeliveryStatus{"a": outbox.DeliveryDue, "b": outbox.DeliveryDone} {
		p, d, _, err := j.Pushes.NextDelivery(t.Context(), root, id)
		if err == nil {
			err = j.Pushes.RemovePush(t.Context(), tenant, root, id)
		}
		if err == nil {
			_, err = j.Pushes.NoteDelivery(t.Context(), p, d, outbox.DeliveryAttempt{At: at(9)}, status)
		}
		test.OK(t, err)
	}
	wantLines(t, j, root, "a failed  abandoned 1", "b failed  delivered 1")
}

// A receiver that is gone takes its config with it.
func TestJournal_NoteDelivery_gone(t *testing.T) {
	t.Parallel()
	j, s, root := pushed(t, newClock(), "a", "b")
	s.record(s.atGate(root, "g1"), s.rootMoved(opt.TaskCompleted))
	note(t, j, root, "a", outbox.DeliveryAbandoned)
	wantLines(t, j, root, "a input-required g1 abandoned 1", "b input-required g1 due 0", "a completed  abandoned 0", "b completed  due 0")
	if got, err := j.Pushes.Pushes(t.Context(), tenant, root); err != nil || len(got) != 1 || got[0].ID != "b" {
		t.Errorf("configs %v, %v, want b", got, err)
	}
}

// After any outcome of an attempt during which the config was replaced, the new config
// gets the state too, and is not removed with its predecessor.
func TestJournal_NoteDelivery_replaced(t *testing.T) {
	t.Parallel()
	for _, status := range []outbox.DeliveryStatus{outbox.DeliveryDone, outbox.DeliveryDead, outbox.DeliveryAbandoned, outbox.DeliveryDue} {
		j, s, root := pushed(t, newClock(), "a")
		s.record(s.rootMoved(opt.TaskCompleted))
		p, d, _, err := j.Pushes.NextDelivery(t.Context(), root, "a")
		test.OK(t, err)
		other := config(root, "a")
		other.URL = "https://example.com/other"
		put(t, j, other)
		if got, err := j.Pushes.NoteDelivery(t.Context(), p, d, outbox.DeliveryAttempt{At: at(9)}, status); got != outbox.DeliveryDue || err != nil {
			t.Errorf("%s: %s, %v, want due", status, got, err)
		}
		test.Is(t, fmt.Sprintf("%s: next", status), "https://example.com/other 2 completed 1", next(t, j, root, "a"))
	}
}

func due(t testing.TB, j *journal.Journal) (list []string) {
	t.Helper()
	keys := test.Value(j.Pushes.PushesDue(t.Context(), 10))(t)
	for _, k := range keys {
		list = append(list, fmt.Sprint(k.ConfigID, " ", k.N))
	}
	return list
}

func wantDue(t testing.TB, j *journal.Journal, want ...string) {
	t.Helper()
	test.Equal(t, "due", want, due(t, j))
}

func hand(t testing.TB, j *journal.Journal, keys ...outbox.PushKey) {
	t.Helper()
	test.OK(t, j.Pushes.PushesHanded(t.Context(), keys))
}

func TestJournal_PushesDue(t *testing.T) {
	t.Parallel()
	c := newClock()
	j, s, root := pushed(t, c, "a", "b")
	wantDue(t, j)
	s.record(s.atGate(root, "g1"))
	wantDue(t, j, "a 2", "b 2")
	test.Equal(t, "at most one", []outbox.PushKey{{TaskID: root, ConfigID: "a", N: 2, Tenant: s.objective.Tenant}}, test.Value(j.Pushes.PushesDue(t.Context(), 1))(t))
	hand(t, j, outbox.PushKey{TaskID: root, ConfigID: "a", N: 2})
	s.record(s.rootMoved(opt.TaskCompleted))
	hand(t, j, outbox.PushKey{TaskID: root, ConfigID: "b", N: 2})
	wantDue(t, j, "a 3", "b 3")
	hand(t, j, outbox.PushKey{TaskID: root, ConfigID: "a"}, outbox.PushKey{TaskID: root, ConfigID: "b", N: 3})
	wantDue(t, j)
	c.forward(9 * time.Minute)
	note(t, j, root, "b", outbox.DeliveryDue)
	c.forward(time.Minute)
	wantDue(t, j, "a 3")
	c.forward(9 * time.Minute)
	wantDue(t, j, "a 3", "b 3")
	test.OK(t, j.Pushes.RemovePush(t.Context(), tenant, root, "a"))
	wantDue(t, j, "b 3")
}

// signalled reports whether the journal has signalled. It waits until the writer
// has done so: that comes after the answer to the call.
func signalled(t testing.TB, j *journal.Journal) bool {
	t.Helper()
	test.OK(t, j.Script(t.Context(), "SELECT 1"))
	select {
	case <-j.Pushes.PushSignal():
		return true
	default:
		return false
	}
}

func TestJournal_PushSignal(t *testing.T) {
	t.Parallel()
	j, s, root := pushed(t, newClock(), "a")
	s.record(s.rootMoved(opt.TaskWorking))
	if signalled(t, j) {
		t.Error("signalled, and nothing is due")
	}
	s.record(s.rootMoved(opt.TaskCompleted))
	put(t, j, config(root, "b"))
	if !signalled(t, j) {
		t.Error("not signalled after a state")
	}
	if signalled(t, j) {
		t.Error("signalled twice")
	}
	put(t, j, config(root, "c"))
	if !signalled(t, j) {
		t.Error("not signalled after a config for a task that has ended")
	}
	note(t, j, root, "a", outbox.DeliveryDead)
	if signalled(t, j) {
		t.Error("signalled, and nothing has become due")
	}
	test.OK(t, j.Pushes.Redeliver(t.Context(), tenant, root, "a", 3))
	if !signalled(t, j) {
		t.Error("not signalled after a redelivery")
	}
}
