// Package operator_test lets an operator interfere with running work: through Temporal's API
// as its UI does, and with databases that are restored from copies.
package operator_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"longhaul/dev/e2e/harness"
	"longhaul/internal/test"
)

var (
	seed       = flag.Uint64("seed", 0, "of the acts; 0 for a random one")
	objectives = flag.Int("objectives", 24, "that begin while the operator acts")
	howMany    = flag.Int("acts", 40, "of the operator")
)

// acts are the [harness.Acts] that the operator does.
var acts = []string{"cancel", "delete", "reset to anywhere", "reset to first", "signal rubbish", "terminate"}

const within = 2 * time.Minute

// A random operator terminates, cancels, deletes and signals workflows while work of
// every kind runs. Afterwards everything has ended, nothing repeats in the log, and what
// clients see agrees with Temporal.
func TestOperator(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.site.Start(harness.AllInOne)
	w.connect()
	every := max(1, *howMany / *objectives)
	for n := range *objectives {
		w.begin(n)
		for range every {
			what := test.Value(w.operator.Act(t.Context(), acts...))(t)
			t.Log(what)
		}
		w.answerGates()
	}
	w.finish()
	w.checkTemporal()
	w.checkLog()
}

// Each act on each kind of workflow, with a gate open: the work ends, or works on after an
// answer.
func TestOperator_acts(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.site.Start(harness.AllInOne)
	w.connect()
	for _, name := range acts {
		for _, kind := range []string{"objective", "plan"} {
			t.Run(name+" "+kind, func(t *testing.T) {
				task := w.c.MustSendUntil(t.Context(), t, harness.Message{ID: name + kind, Text: "x", Plan: harness.NewPlan("p", "say before", "approve Go on?; say after")})
				w.roots = append(w.roots, task.ID)
				w.c.AwaitGate(t, within, task.ID)
				id := task.ID
				if kind == "plan" {
					id = planOf(task.ID)
				}
				test.OK(t, harness.Acts[name](w.operator, t.Context(), id))
				switch name {
				case "signal rubbish":
					w.c.AwaitGate(t, within, task.ID)
				case "cancel": // without an answer
					w.c.AwaitEnd(t, within, task.ID)
				}
				w.endsWhenAnswered(t, task.ID)
			})
		}
	}
	w.checkTemporal()
	w.checkLog()
}

// world is a service and its clients.
type world struct {
	*testing.T
	site     *harness.Site
	c        *harness.Client
	operator harness.Operator
	roots    []string // of objectives
	replies  int      // that were sent
}

func newWorld(t *testing.T, env ...string) *world {
	number := *seed
	if number == 0 {
		number = rand.Uint64()
	}
	t.Logf("-seed %d", number)
	site := harness.NewSite(t, harness.Crashable, "--max-events", "100")
	site.Env = append(env, "LONGHAUL_LOG_FORMAT=json")
	return &world{T: t, site: site, c: site.Client(), operator: harness.Operator{Namespace: "default", Rand: rand.New(rand.NewPCG(number, 1))}}
}

// connect connects the operator to the site's Temporal.
func (w *world) connect() {
	w.Helper()
	w.operator.Temporal = w.site.Temporal(w.T)
	w.Cleanup(w.operator.Temporal.Close)
}

// begin begins the n-th objective.
func (w *world) begin(n int) {
	w.Helper()
	test.OK(w, w.send(w.Context(), n))
}

// send sends the message of the n-th objective until it is accepted.
func (w *world) send(ctx context.Context, n int) error {
	task, err := w.c.SendUntil(ctx, message(n))
	if err == nil {
		w.roots = append(w.roots, task.ID)
	}
	return err
}

// message returns the message that begins the n-th objective.
func message(n int) harness.Message {
	m := harness.Message{ID: fmt.Sprint("m", n), Text: "x"}
	switch n % 6 {
	case 0:
		m.Plan = harness.NewPlan("list", "work 200ms", "say two", "work 300ms", "say four")
	case 1:
		m.Plan = harness.NewPlan("parallel", "work 200ms", "stream 4 100ms", "work 300ms", "say last").Unordered()
	case 2:
		m.Plan = harness.NewPlan("gate", "say before", "approve Go on?; work 100ms; say after")
	case 3:
		m.Plans = []*harness.Plan{harness.NewPlan("first", "work 200ms"), harness.NewPlan("second", "approve Second?; say second")}
	case 4:
		m.ContextID, m.Plan = "shared", harness.NewPlan("queued", "work 300ms", "approve Turn?; say turn")
	case 5:
		long := make([]string, 20)
		for i := range long {
			long[i] = fmt.Sprintf("work 20ms; say %d", i)
		}
		m.Plan = harness.NewPlan("long", long...)
	}
	return m
}

// answerGates accepts at every open gate. A refusal is no error: the gate may have been
// closed meanwhile.
func (w *world) answerGates() {
	w.Helper()
	for _, id := range w.roots {
		test.OK(w, w.answer(id))
	}
}

func (w *world) answer(id string) error {
	ctx, cancel := context.WithTimeout(w.Context(), 20*time.Second)
	defer cancel()
	task, err := w.c.Get(ctx, id)
	if err != nil || task.Gate == nil {
		return err
	}
	w.replies++ // an answer that Temporal has lost is sent again under another id
	_, err = w.c.Send(ctx, harness.Reply(fmt.Sprint("reply-", w.replies), task.Gate.TaskID, task.Gate.ID, "accept"))
	var refused *harness.RPCError
	if errors.As(err, &refused) {
		return nil
	}
	return err
}

// endsWhenAnswered waits until a task has ended, and answers its gates meanwhile.
func (w *world) endsWhenAnswered(t *testing.T, id string) {
	t.Helper()
	harness.Eventually(t, within, id+" ends", func() error {
		task, err := w.c.Get(t.Context(), id)
		switch {
		case err != nil:
			return err
		case task.Ended():
			return nil
		case task.Gate != nil:
			return errors.Join(w.answer(id), fmt.Errorf("it waits at %s: %s", task.Gate.ID, task.Message))
		}
		return fmt.Errorf("it is %s: %s", task.State, task.Message)
	})
}

// finish answers gates until everything has ended.
func (w *world) finish() {
	w.Helper()
	for _, id := range w.roots {
		w.endsWhenAnswered(w.T, id)
	}
}

func planOf(rootID string) string { return "plan-" + rootID[len("obj-"):] + "-1" }
