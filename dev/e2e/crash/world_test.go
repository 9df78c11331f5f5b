// Package crash kills processes and tests that all acknowledged work survives, is
// done once, and is shown to all readers in one order.
package crash_test

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"

	"longhaul/dev/e2e/harness"
	"longhaul/internal/test"
	"longhaul/internal/witness"
)

// within bounds steps that take seconds, on a busy machine.
const within = 90 * time.Second

// A world is a site with the test's records: the acknowledged tasks, their
// expected ends and their followers, and what clients have seen, which is judged at the
// end. All methods are safe for concurrent use.
type world struct {
	t        *testing.T
	site     *harness.Site // nil for a topology
	c        *harness.Client
	voters   map[string]*harness.Client // by principal; nil where callers are not authenticated
	temporal func(testing.TB) client.Client
	tally    string
	push     *desk // gets deliveries
	saw      *witness.History
	patience time.Duration // of ctx; 0 for within
	behind   time.Duration // the most that a clock is, from that of the machine
	checked  int           // operations

	mu        sync.Mutex
	tasks     map[string]*expected
	sent      map[string]string // task by message
	contexts  map[string]string // by objective, those that are shared
	gates     map[string]bool   // at which clients have voted
	followers []*harness.Follower
	again     int // objectives with a second attempt
	judged    int // operations, at the end
	round     int
	next      chan struct{} // closed, and replaced, with every round
	over      bool
}

// An expected is the expected end of a task.
type expected struct {
	state string // "" for any
	text  string // of its first artifact, "" for any
}

// newWorld returns a world whose processes run the crashable with these flags.
func newWorld(t *testing.T, flags ...string) *world {
	t.Helper()
	site := harness.NewSite(t, *crashable, flags...)
	w := emptyWorld(t, site.Client())
	w.site, w.temporal, w.tally = site, site.Temporal, filepath.Join(filepath.Dir(site.Dir), "tally")
	return w
}

// emptyWorld returns a world without processes.
func emptyWorld(t *testing.T, c *harness.Client) *world {
	w := &world{
		t: t, c: c, saw: witness.NewHistory(), tasks: map[string]*expected{}, sent: map[string]string{},
		contexts: map[string]string{}, gates: map[string]bool{}, next: make(chan struct{}),
	}
	w.addUp()
	return w
}

// start starts a process, which kills itself at point unless that is "".
func (w *world) start(command, point string) *harness.Process {
	w.t.Helper()
	p := w.launch(command, point)
	p.WaitReady()
	return p
}

func (w *world) launch(command, point string) *harness.Process {
	w.t.Helper()
	return w.site.Launch(command, "CRASHABLE_TALLY="+w.tally, "CRASHABLE_POINT="+point)
}

// ctx returns the test's context with a bound.
func (w *world) ctx() context.Context {
	ctx, cancel := context.WithTimeout(w.t.Context(), cmp.Or(w.patience, within))
	w.t.Cleanup(cancel)
	return ctx
}

// ack notes that a task was acknowledged.
func (w *world) ack(id string, e expected) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.tasks[id] = &e
}

// follow follows a task until the end of the test at most.
func (w *world) follow(taskID string, after int64) *harness.Follower {
	f := w.c.Follow(w.t.Context(), taskID, after)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.followers = append(w.followers, f)
	return f
}

// acked lists the tasks that were acknowledged.
func (w *world) acked() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	var ids []string
	for id := range w.tasks {
		ids = append(ids, id)
	}
	return ids
}

// begin sends a message until it is acknowledged, and follows the task. Every third message
// is sent by two clients at the same time.
func (w *world) begin(ctx context.Context, m harness.Message, e expected) (*harness.Follower, error) {
	if w.begun()%3 == 0 {
		var twin sync.WaitGroup
		twin.Go(func() { _, _ = w.make(ctx, "twin", m) }) // which is judged
		defer twin.Wait()
	}
	task, err := w.make(ctx, "client", m)
	if err != nil {
		return nil, fmt.Errorf("send %s: %w", m.ID, err)
	}
	w.ack(task.ID, e)
	w.look(ctx, m.ID, task.ID)
	after := int64(0)
	if len(m.ID)%2 == 0 {
		after = harness.Fresh
	}
	return w.follow(task.ID, after), nil
}

// answer waits for the n-th gate of a plan task and answers it until that is
// acknowledged. The gate's id follows from the task's.
func (w *world) answer(ctx context.Context, f *harness.Follower, taskID string, n int, reply harness.Message) error {
	want := fmt.Sprintf("%s:%d", taskID, n)
	_, err := f.Until(ctx, func(e harness.Event) bool {
		g := e.Gate()
		if t := e.Task(); t != nil {
			g = t.Gate
		}
		return g != nil && g.ID == want
	})
	if err != nil {
		return fmt.Errorf("wait for gate %s: %w", want, err)
	}
	reply.ID, reply.TaskID = "reply-to-"+want, f.TaskID
	data, _ := reply.Data.(map[string]any)
	if data != nil {
		data["interruptId"] = want
	}
	if action, decides := data["action"]; decides {
		return w.vote(ctx, w.c, witness.Vote{Gate: want, Voter: w.principal(), Message: reply.ID, Accept: action == "accept", Needed: 1}, f.TaskID)
	}
	if _, err := w.c.SendUntil(ctx, reply); err != nil {
		return fmt.Errorf("answer gate %s: %w", want, err)
	}
	return nil
}

// decide is a reply with an action.
func decide(action string) harness.Message {
	return harness.Message{Data: map[string]any{"action": action}}
}

// planTask returns the id of a task of the n-th plan of an objective.
func planTask(objectiveID string, n, m int) string {
	return fmt.Sprintf("task-%s-%d-%d", strings.TrimPrefix(objectiveID, "obj-"), n, m)
}

// nextRound lets the scenarios that wait for it continue.
func (w *world) nextRound(over bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.round++
	w.over = w.over || over
	close(w.next)
	w.next = make(chan struct{})
}

// await waits for a number of rounds.
func (w *world) await(ctx context.Context, rounds int) error {
	w.mu.Lock()
	until := w.round + rounds
	w.mu.Unlock()
	for {
		w.mu.Lock()
		now, over, next := w.round, w.over, w.next
		w.mu.Unlock()
		if now >= until || over {
			return nil
		}
		select {
		case <-next:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// workflows returns how many workflows of a type there are, how many of them run,
// and how many runs continued as new, according to Temporal.
func (w *world) workflows(kind string) (all, running, renewed int64) {
	w.t.Helper()
	c := w.temporal(w.t)
	defer c.Close()
	count := func(query string) int64 {
		n := test.Value(c.CountWorkflow(w.ctx(), &workflowservice.CountWorkflowExecutionsRequest{Query: query}))(w.t)
		return n.GetCount()
	}
	kind = "WorkflowType = '" + kind + "'"
	renewed = count(kind + " AND ExecutionStatus = 'ContinuedAsNew'")
	return count(kind) - renewed, count(kind + " AND ExecutionStatus = 'Running'"), renewed
}

// resumes returns how often followers have opened their streams again.
func (w *world) resumes() (n int) {
	for _, f := range w.followers {
		n += f.Resumes()
	}
	return n
}
