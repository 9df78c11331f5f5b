package crash_test

import (
	"strings"
	"sync"
	"testing"

	"longhaul/dev/e2e/harness"
	"longhaul/internal/test"
)

// A process kills itself at a named point. The client, which may have got no
// answer, repeats its call to the next process. Nothing is lost, and no task runs
// twice whose end Temporal has recorded.
func TestCrash_namedPoints(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		point    string
		attempts map[string]int // at rounds of tasks, if the number is certain
	}{
		{point: "engine-started"},
		{point: "accepted"},
		{point: "told", attempts: map[string]int{"1-0:1": 1, "1-1:1": 1, "1-2:1": 1}},
		{point: "outcome-before-record:1", attempts: map[string]int{"1-0:1": 1}},
		{point: "outcome-before-record:3", attempts: map[string]int{"1-0:1": 1, "1-1:1": 1, "1-2:1": 1}},
		{point: "mid-record:1", attempts: map[string]int{"1-0:1": 1}},
		{point: "mid-record:4", attempts: map[string]int{"1-0:1": 1, "1-1:1": 1, "1-2:1": 1, "1-2:2": 1}},
		{point: "recorded:1", attempts: map[string]int{"1-0:1": 1}},
		{point: "recorded:3", attempts: map[string]int{"1-0:1": 1, "1-1:1": 1, "1-2:1": 1}},
		{point: "end-before-record", attempts: map[string]int{"1-0:1": 1, "1-1:1": 1, "1-2:1": 1, "1-2:2": 1}},
		{point: "streamed:1", attempts: map[string]int{"1-0:1": 1, "1-1:1": 2}},
	} {
		t.Run(tt.point, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			p := w.start(harness.AllInOne, tt.point)
			var client sync.WaitGroup
			client.Go(func() {
				plan := harness.NewPlan("plan", "work 10ms", "stream 4 80ms", "approve Go on?; "+say(0))
				f, err := w.begin(w.ctx(), harness.Message{ID: id(0), Text: "x", Plan: plan}, completes(0))
				if err == nil {
					err = w.answer(w.ctx(), f, planTask(f.TaskID, 1, 2), 1, decide("accept"))
				}
				if err != nil {
					t.Error(err)
				}
			})
			p.AwaitEnd(within)
			if !p.Killed() {
				t.Fatal("the point was not reached")
			}
			p = w.start(harness.AllInOne, "")
			client.Wait()
			streaming := planTask(w.acked()[0], 1, 1)
			w.follow(streaming, 0)
			all := w.settle()
			if task, err := w.c.Get(w.ctx(), streaming); err != nil || len(task.Artifacts) != 1 || task.Artifacts[0].Text != pieces(4) {
				t.Errorf("the streamed artifacts are %+v, %v", task, err)
			}
			p.Stop()
			w.checkStopped(all)
			w.checkAttempts(tt.attempts)
		})
	}
}

// checkAttempts checks how many attempts there were at certain rounds of tasks.
func (w *world) checkAttempts(want map[string]int) {
	w.t.Helper()
	for key, r := range harness.Rounds(harness.Tally(w.t, w.tally)) {
		place := strings.SplitN(key, "-", 3)[2]
		if n := want[place]; n != 0 && len(r) != n {
			w.t.Errorf("%d attempts at %s, want %d", len(r), key, n)
		}
	}
}

// The journal does not take the last piece that a task has streamed: the task runs again, in the same process,
// and uses up no attempt.
func TestCrash_unrecorded(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.start(harness.AllInOne, "unrecorded")
	test.OK(t, test.Err(w.begin(w.ctx(), harness.Message{ID: id(0), Text: "x", Plan: harness.NewPlan("plan", "stream 4 20ms")}, expected{state: "COMPLETED", text: pieces(4)})))
	all := w.settle()
	p.Stop()
	w.checkStopped(all)
	r := harness.Rounds(harness.Tally(t, w.tally))[planTask(w.acked()[0], 1, 0)+":1"]
	if len(r) != 2 || r[0].What != "end" || r[1].N != 1 || r[1].Try != 2 || !r[0].Unrecorded {
		t.Errorf("it ran %+v", r)
	}
}

// Twenty identical, concurrent sends begin one objective and one workflow, also
// if the process is killed meanwhile and unanswered sends are repeated.
func TestCrash_sameSendManyTimes(t *testing.T) {
	t.Parallel()
	for _, point := range []string{"", "engine-started:7", "accepted:7"} {
		t.Run("point "+point, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			p := w.start(harness.AllInOne, point)
			ids := make([]string, 20)
			var clients sync.WaitGroup
			for i := range ids {
				clients.Go(func() {
					task, err := w.c.SendUntil(w.ctx(), harness.Message{ID: id(0), Text: "work 50ms; " + say(0)})
					if err != nil {
						t.Error(err)
						return
					}
					ids[i] = task.ID
				})
			}
			if point != "" {
				p.AwaitEnd(within)
				p = w.start(harness.AllInOne, "")
			}
			clients.Wait()
			for _, id := range ids {
				if id != ids[0] {
					t.Errorf("the same message began %s and %s", ids[0], id)
				}
			}
			w.ack(ids[0], completes(0))
			w.follow(ids[0], 0)
			all := w.settle()
			p.Stop()
			w.checkStopped(all)
			if point == "" { // otherwise it may have killed the first attempt
				w.checkAttempts(map[string]int{"1-0:1": 1})
			}
		})
	}
}

// A gate stays open while no process runs. A reply is durable when the client has
// its 200: the client need not repeat it.
func TestCrash_afterReply(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.start(harness.AllInOne, "")
	plan := harness.NewPlan("plan", "approve One?; approve Two?; "+say(0))
	f, err := w.begin(w.ctx(), harness.Message{ID: id(0), Text: "x", Plan: plan}, completes(0))
	test.OK(t, err)
	for n := range 2 {
		if _, err := f.Until(w.ctx(), func(e harness.Event) bool {
			return e.Gate() != nil && strings.HasSuffix(e.Gate().ID, ":"+string(rune('1'+n)))
		}); err != nil {
			t.Fatal(err)
		}
		p.Kill()
		p = w.start(harness.AllInOne, "")
		test.OK(t, w.answer(w.ctx(), f, planTask(f.TaskID, 1, 0), n+1, decide("accept")))
		p.Kill()
		p = w.start(harness.AllInOne, "")
	}
	all := w.settle()
	p.Stop()
	w.checkStopped(all)
}
