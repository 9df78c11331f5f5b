package crash_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"longhaul/dev/e2e/harness"
	"longhaul/internal/test"
)

// apart starts Temporal, a worker and an API as separate processes, with short
// waits.
func apart(t *testing.T) (*world, map[string]*harness.Process) {
	t.Helper()
	w := newWorld(t)
	w.site.Env = []string{"LONGHAUL_REPLY_WAIT=300ms", "LONGHAUL_CANCEL_WAIT=300ms", "LONGHAUL_CALL_TIMEOUT=2s"}
	processes := map[string]*harness.Process{}
	for _, command := range []string{harness.Temporal, harness.Worker, harness.API} {
		processes[command] = w.start(command, "")
	}
	return w, processes
}

func stop(processes map[string]*harness.Process) {
	for _, command := range []string{harness.API, harness.Worker, harness.Temporal} {
		processes[command].Stop()
	}
}

// While no worker runs, reads and streams work, and sends and replies are
// accepted; a worker handles them later. The id of a gate does not change.
func TestStopped_workers(t *testing.T) {
	t.Parallel()
	w, processes := apart(t)
	ctx := w.ctx()
	plan := harness.NewPlan("plan", "say first", "approve Go on?; "+say(0))
	f, err := w.begin(ctx, harness.Message{ID: id(0), Text: "x", Plan: plan}, completes(0))
	test.OK(t, err)
	test.OK(t, test.Err(f.UntilState(ctx, "INPUT_REQUIRED")))
	processes[harness.Worker].Stop()

	task := w.reads(f.TaskID, "INPUT_REQUIRED")
	gate := planTask(f.TaskID, 1, 1) + ":1"
	if task.Gate == nil || task.Gate.ID != gate {
		t.Errorf("the gate is %+v, want %s", task.Gate, gate)
	}
	reply := harness.Reply("reply", f.TaskID, gate, "accept")
	for range 2 { // as a client that repeats its call
		task, err = w.c.Send(ctx, reply)
		if err != nil || !task.Pending || task.State != "INPUT_REQUIRED" {
			t.Fatalf("a reply while no worker runs: %+v, %v", task, err)
		}
	}
	began, err := w.begin(ctx, harness.Message{ID: "later", Text: "say later"}, expected{state: "COMPLETED", text: "later"})
	if err != nil {
		t.Fatalf("a send while no worker runs: %v", err)
	}
	w.reads(began.TaskID, "SUBMITTED")
	if _, err := w.c.CreatePlan(ctx, began.TaskID, harness.NewPlan("more", "say more")); !unavailable(err) {
		t.Errorf("plans/create while no worker runs: %v", err)
	}

	for _, command := range []string{harness.API, harness.Temporal} {
		processes[command].Kill()
	}
	for _, command := range []string{harness.Temporal, harness.API, harness.Worker} {
		processes[command] = w.start(command, "")
	}
	all := w.settle()
	if got := gates(all[f.TaskID]); !slices.Equal(got, []string{gate}) {
		t.Errorf("gates = %q, want %q once", got, gate)
	}
	stop(processes)
	w.checkStopped(all)
}

// While Temporal is down, reads and streams work. Writes fail with an error that
// allows a repeat, and change nothing.
func TestStopped_temporal(t *testing.T) {
	t.Parallel()
	w, processes := apart(t)
	ctx := w.ctx()
	plan := harness.NewPlan("plan", "approve Go on?; "+say(0))
	f, err := w.begin(ctx, harness.Message{ID: id(0), Text: "x", Plan: plan}, completes(0))
	test.OK(t, err)
	test.OK(t, test.Err(f.UntilState(ctx, "INPUT_REQUIRED")))
	idle := w.c.MustCreateObjective(ctx, t, "idle")
	w.ack(idle.ID, expected{state: "COMPLETED", text: "awake"})
	processes[harness.Temporal].Stop()

	task := w.reads(f.TaskID, "INPUT_REQUIRED")
	later := harness.Message{ID: "later", Text: "say later"}
	reply := harness.Reply("reply", f.TaskID, task.Gate.ID, "accept")
	wake := harness.Message{ID: "wake", Text: "say awake", ContextID: idle.ID}
	for _, tt := range []struct {
		name string
		call func() error
	}{
		{"a send", func() error { _, err := w.c.Send(ctx, later); return err }},
		{"a reply", func() error { _, err := w.c.Send(ctx, reply); return err }},
		{"a start", func() error { _, err := w.c.Send(ctx, wake); return err }},
		{"a cancel", func() error { _, err := w.c.Cancel(ctx, f.TaskID); return err }},
		{"objectives/create", func() error { _, err := w.c.CreateObjective(ctx, "lost"); return err }},
		{"plans/create", func() error { _, err := w.c.CreatePlan(ctx, idle.ID, plan); return err }},
	} {
		if err := tt.call(); !unavailable(err) {
			t.Errorf("%s while Temporal is down: %v", tt.name, err)
		}
	}
	if list, err := w.c.Objectives(ctx); err != nil || len(list) != 2 {
		t.Errorf("%d objectives are left, want 2: %v", len(list), err)
	}
	if after := w.reads(f.TaskID, "INPUT_REQUIRED"); string(after.Raw) != string(task.Raw) {
		t.Errorf("the task was\n%s\nand became\n%s", task.Raw, after.Raw)
	}

	processes[harness.Temporal] = w.start(harness.Temporal, "")
	harness.Eventually(t, within, "the API is ready again", func() error { return w.site.Answers("/readyz") })
	w.objectives2(t, 2, 2)
	test.Error(t, "the call", nil, test.Err(w.begin(ctx, later, expected{state: "COMPLETED", text: "later"})))
	w.follow(idle.ID, 0)
	for _, m := range []harness.Message{reply, wake} {
		test.Error(t, "the call", nil, test.Err(w.c.SendUntil(ctx, m)))
	}
	all := w.settle()
	stop(processes)
	w.checkStopped(all)
}

// reads checks that all reads work, and returns the task.
func (w *world) reads(taskID, state string) *harness.Task {
	w.t.Helper()
	task, err := w.c.Get(w.ctx(), taskID)
	if err != nil || task.State != state {
		w.t.Fatalf("task %s: %+v, %v; want %s", taskID, task, err, state)
	}
	s := test.Value(w.c.Subscribe(w.ctx(), taskID, harness.Fresh))(w.t)
	defer s.Close()
	e, err := s.Next()
	if err != nil || e.State() != state {
		w.t.Fatalf("the stream of %s begins with %s, %v", taskID, e.Data, err)
	}
	if list, err := w.c.List(w.ctx(), nil); err != nil || list.TotalSize == 0 {
		w.t.Errorf("tasks: %+v, %v", list, err)
	}
	if o, err := w.c.Objective(w.ctx(), taskID); err != nil || o.ID != taskID {
		w.t.Errorf("objective: %+v, %v", o, err)
	}
	return task
}

func unavailable(err error) bool {
	var rpc *harness.RPCError
	return errors.As(err, &rpc) && rpc.Unavailable()
}

// gates lists the gates in a stream.
func gates(events []harness.Event) []string {
	var ids []string
	for _, e := range events {
		if g := e.Gate(); g != nil {
			ids = append(ids, g.ID)
		}
	}
	return ids
}

// objectives2 checks how many objectives there are, and how many workflows run.
func (w *world) objectives2(t *testing.T, want, wantRunning int64) {
	t.Helper()
	harness.Eventually(t, within, "Temporal has them", func() error {
		if all, running, _ := w.workflows("Objective"); all != want || running != wantRunning {
			return fmt.Errorf("%d objectives, of which %d run", all, running)
		}
		return nil
	})
}
