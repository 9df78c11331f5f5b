package crash_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"time"

	"longhaul/dev/e2e/harness"
	"longhaul/internal/witness"
)

// A scenario drives the n-th objective to its end, through any number of crashes.
// It repeats only unacknowledged calls.
type scenario struct {
	name string
	run  func(w *world, ctx context.Context, n int) error
}

// scenarios put objectives into every state.
var scenarios = []scenario{
	{"one task", (*world).oneTask},
	{"tasks in list order", (*world).list},
	{"tasks at a time", (*world).parallel},
	{"plans in list order", (*world).plans},
	{"streaming", (*world).streaming},
	{"failing", (*world).failing},
	{"retrying", (*world).retrying},
	{"canceled", (*world).canceled},
	{"one task canceled", (*world).taskCanceled},
	{"approved", (*world).approved},
	{"rejected", (*world).rejected},
	{"asked", (*world).asked},
	{"two gates", (*world).twoGates},
	{"idle with a plan", (*world).idleWithPlan},
	{"idle, then planned", (*world).idleThenPlanned},
	{"in turn", (*world).inTurn},
	{"in turn, and approved", (*world).inTurnApproved},
}

func id(n int) string   { return fmt.Sprintf("m%d", n) }
func done(n int) string { return fmt.Sprintf("done %d", n) }
func say(n int) string  { return "say " + done(n) }

// completes is the expected end of most scenarios.
func completes(n int) expected { return expected{state: "COMPLETED", text: done(n)} }

func (w *world) oneTask(ctx context.Context, n int) error {
	_, err := w.begin(ctx, harness.Message{ID: id(n), Text: "work 300ms; " + say(n)}, completes(n))
	return err
}

func (w *world) list(ctx context.Context, n int) error {
	plan := harness.NewPlan("list", "work 100ms", "work 50ms; say 2", "work 100ms", "work 200ms; "+say(n))
	f, err := w.begin(ctx, harness.Message{ID: id(n), Text: "list", Plan: plan}, completes(n))
	if err != nil {
		return err
	}
	return w.followTask(ctx, planTask(f.TaskID, 1, 2))
}

// followTask follows a plan task when it exists.
func (w *world) followTask(ctx context.Context, taskID string) error {
	err := harness.Repeat(ctx, func(ctx context.Context) error {
		_, err := w.c.Get(ctx, taskID)
		if harness.Code(err) == -32001 {
			return errors.New("not there yet")
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("wait for task %s: %w", taskID, err)
	}
	w.follow(taskID, 0)
	return nil
}

func (w *world) parallel(ctx context.Context, n int) error {
	plan := harness.NewPlan("parallel", "work 200ms", "stream 4 50ms", "work 100ms", say(n)).Unordered()
	_, err := w.begin(ctx, harness.Message{ID: id(n), Text: "parallel", Plan: plan}, completes(n))
	return err
}

func (w *world) plans(ctx context.Context, n int) error {
	plans := []*harness.Plan{harness.NewPlan("first", "work 100ms"), harness.NewPlan("second", "work 100ms; "+say(n))}
	_, err := w.begin(ctx, harness.Message{ID: id(n), Text: "plans", Plans: plans}, expected{state: "COMPLETED"})
	return err
}

// pieces is the text of "stream 20 100ms", the same after any number of tries.
func pieces(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "piece %d of %d\n", i+1, n)
	}
	return b.String()
}

func (w *world) streaming(ctx context.Context, n int) error {
	plan := harness.NewPlan("stream", "stream 20 100ms")
	f, err := w.begin(ctx, harness.Message{ID: id(n), Text: "stream", Plan: plan}, expected{state: "COMPLETED", text: pieces(20)})
	if err != nil {
		return err
	}
	taskID := planTask(f.TaskID, 1, 0)
	if err := w.followTask(ctx, taskID); err != nil {
		return err
	}
	var late sync.WaitGroup
	for range 3 {
		late.Go(func() { w.join(ctx, taskID) })
	}
	late.Wait()
	return nil
}

// joinsFor is how long a subscription of join lasts at most: a few events.
const joinsFor = 500 * time.Millisecond

// join subscribes to a task again and again until it has ended, each time for a moment, and gets the events
// after each snapshot.
func (w *world) join(ctx context.Context, taskID string) {
	for ctx.Err() == nil {
		switch err := w.joinOnce(ctx, taskID, rand.N(joinsFor)); {
		case harness.MayRepeat(err): // no process runs
			time.Sleep(joinsFor / 10)
		case err != nil:
			return
		}
	}
}

func (w *world) joinOnce(ctx context.Context, taskID string, lasts time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, lasts)
	defer cancel()
	s, err := w.c.Subscribe(ctx, taskID, harness.Fresh)
	if err != nil {
		return err
	}
	defer s.Close()
	var events []harness.Event
	for e, err := s.Next(); err == nil; e, err = s.Next() {
		events = append(events, e)
	}
	if len(events) > 0 {
		w.saw.Saw(witness.Stream{Subscriber: "late reader", Subject: taskID, After: events[0].ID, Events: told(events[1:])})
	}
	return nil
}

func (w *world) failing(ctx context.Context, n int) error {
	plan := harness.NewPlan("fail", "work 100ms", "work 50ms; fail", say(n))
	_, err := w.begin(ctx, harness.Message{ID: id(n), Text: "fail", Plan: plan}, expected{state: "FAILED"})
	return err
}

func (w *world) retrying(ctx context.Context, n int) error {
	plan := harness.NewPlan("retry", "work 50ms; fail 1; "+say(n))
	_, err := w.begin(ctx, harness.Message{ID: id(n), Text: "retry", Plan: plan}, completes(n))
	return err
}

func (w *world) canceled(ctx context.Context, n int) error {
	f, err := w.begin(ctx, harness.Message{ID: id(n), Text: "work 10m; " + say(n)}, expected{state: "CANCELED"})
	if err != nil {
		return err
	}
	if n%2 == 0 {
		if err := w.await(ctx, 1); err != nil {
			return err
		}
	}
	return w.cancel(ctx, f.TaskID)
}

// cancel cancels a task, repeated until it is acknowledged. A repeat may find that an
// attempt whose answer was lost has canceled it.
func (w *world) cancel(ctx context.Context, taskID string) error {
	lost := false
	err := harness.Repeat(ctx, func(ctx context.Context) error {
		_, err := w.c.Cancel(ctx, taskID)
		if lost && harness.Code(err) == -32002 && strings.Contains(err.Error(), "it is canceled") {
			return nil
		}
		lost = lost || harness.MayRepeat(err)
		return err
	})
	if err != nil {
		return fmt.Errorf("cancel %s: %w", taskID, err)
	}
	return nil
}

func (w *world) taskCanceled(ctx context.Context, n int) error {
	plan := harness.NewPlan("one canceled", "work 50ms", "work 10m", say(n))
	f, err := w.begin(ctx, harness.Message{ID: id(n), Text: "x", Plan: plan}, expected{state: "FAILED"})
	if err != nil {
		return err
	}
	taskID := planTask(f.TaskID, 1, 1)
	if err := w.followTask(ctx, taskID); err != nil {
		return err
	}
	return w.cancel(ctx, taskID)
}

func (w *world) approved(ctx context.Context, n int) error {
	plan := harness.NewPlan("approve", "work 50ms", "approve Go on?; "+say(n))
	f, err := w.begin(ctx, harness.Message{ID: id(n), Text: "approve", Plan: plan}, completes(n))
	if err != nil {
		return err
	}
	if err := w.await(ctx, rand.IntN(8)); err != nil {
		return err
	}
	return w.answer(ctx, f, planTask(f.TaskID, 1, 1), 1, decide("accept"))
}

func (w *world) rejected(ctx context.Context, n int) error {
	plan := harness.NewPlan("reject", "approve Go on?; "+say(n))
	f, err := w.begin(ctx, harness.Message{ID: id(n), Text: "reject", Plan: plan}, expected{state: "FAILED"})
	if err != nil {
		return err
	}
	if err := w.await(ctx, rand.IntN(6)); err != nil {
		return err
	}
	return w.answer(ctx, f, planTask(f.TaskID, 1, 0), 1, decide("reject"))
}

func (w *world) asked(ctx context.Context, n int) error {
	plan := harness.NewPlan("ask", "ask Which?")
	f, err := w.begin(ctx, harness.Message{ID: id(n), Text: "ask", Plan: plan}, expected{state: "COMPLETED", text: "Which? " + done(n)})
	if err != nil {
		return err
	}
	return w.answer(ctx, f, planTask(f.TaskID, 1, 0), 1, harness.Message{Text: done(n)})
}

func (w *world) twoGates(ctx context.Context, n int) error {
	plan := harness.NewPlan("gates", "approve One?; work 50ms; approve Two?; "+say(n))
	f, err := w.begin(ctx, harness.Message{ID: id(n), Text: "gates", Plan: plan}, completes(n))
	if err != nil {
		return err
	}
	for gate := range 2 {
		if err := w.await(ctx, rand.IntN(2)); err != nil {
			return err
		}
		if err := w.answer(ctx, f, planTask(f.TaskID, 1, 0), gate+1, decide("accept")); err != nil {
			return err
		}
	}
	return nil
}

// shared names a context for several objectives, of which one works at a time.
func shared(n int) string { return fmt.Sprint("shared-", n/60) }

func (w *world) inTurn(ctx context.Context, n int) error {
	plan := harness.NewPlan("in turn", "work 100ms", say(n))
	_, err := w.begin(ctx, harness.Message{ID: id(n), Text: "in turn", ContextID: shared(n), Plan: plan}, completes(n))
	return err
}

// inTurnApproved waits for its turn, gives the turn up while it waits for a
// person, and waits for its turn again.
func (w *world) inTurnApproved(ctx context.Context, n int) error {
	plan := harness.NewPlan("in turn", "approve Go on?; work 100ms; "+say(n))
	f, err := w.begin(ctx, harness.Message{ID: id(n), Text: "in turn", ContextID: shared(n), Plan: plan}, completes(n))
	if err != nil {
		return err
	}
	return w.answer(ctx, f, planTask(f.TaskID, 1, 0), 1, decide("accept"))
}

// create makes an idle objective. Two clients do so at the same time, with one key.
func (w *world) create(ctx context.Context, n int, e expected) (objectiveID string, err error) {
	create := func(client string, made func(id string)) error {
		return w.recorded(ctx, client, witness.Make{Key: "objective " + id(n)}, func(ctx context.Context) (any, error) {
			o, err := w.c.With("Idempotency-Key", "create-"+id(n)).CreateObjective(ctx, id(n))
			if err != nil {
				return nil, err
			}
			made(o.ID)
			return witness.Made{ID: o.ID}, nil
		})
	}
	var twin sync.WaitGroup
	twin.Go(func() { _ = create("twin", func(string) {}) }) // which is judged
	defer twin.Wait()
	if err := create("client", func(id string) { objectiveID = id }); err != nil {
		return "", fmt.Errorf("create objective %d: %w", n, err)
	}
	w.ack(objectiveID, e)
	w.follow(objectiveID, 0)
	return objectiveID, w.await(ctx, rand.IntN(6))
}

func (w *world) idleWithPlan(ctx context.Context, n int) error {
	objectiveID, err := w.create(ctx, n, expected{state: "COMPLETED"})
	if err != nil {
		return err
	}
	err = harness.Repeat(ctx, func(ctx context.Context) error {
		if o, err := w.c.Objective(ctx, objectiveID); err != nil || len(o.Plans) > 0 {
			return err // an earlier call succeeded
		}
		_, err := w.c.CreatePlan(ctx, objectiveID, harness.NewPlan("later", "work 50ms; "+say(n)))
		return err
	})
	if err != nil {
		return fmt.Errorf("add a plan to %s: %w", objectiveID, err)
	}
	if err := w.await(ctx, rand.IntN(2)); err != nil {
		return err
	}
	return w.wake(ctx, n, objectiveID, "go")
}

func (w *world) idleThenPlanned(ctx context.Context, n int) error {
	objectiveID, err := w.create(ctx, n, completes(n))
	if err != nil {
		return err
	}
	return w.wake(ctx, n, objectiveID, "work 50ms; "+say(n))
}

// wake starts an idle objective by a message in its context.
func (w *world) wake(ctx context.Context, n int, objectiveID, text string) error {
	task, err := w.make(ctx, "client", harness.Message{ID: id(n), Text: text, ContextID: objectiveID})
	if err != nil {
		return fmt.Errorf("start %s: %w", objectiveID, err)
	}
	if task.ID != objectiveID {
		return fmt.Errorf("a message to the idle objective %s began %s", objectiveID, task.ID)
	}
	return nil
}
