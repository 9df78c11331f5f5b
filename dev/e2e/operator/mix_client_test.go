package operator_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"longhaul/dev/e2e/harness"
	"longhaul/opt"
)

// A mixClient begins objectives, and changes those of all clients.
type mixClient struct {
	*mix
	n    int
	rand *rand.Rand
	said int
}

func (m *mix) newClient(n int) *mixClient {
	return &mixClient{mix: m, n: n, rand: rand.New(rand.NewPCG(m.seed, 10+uint64(n)))}
}

// most is how many objectives a client begins.
const most = 14

// work does one thing after another until ctx ends.
func (c *mixClient) work(ctx context.Context) {
	does := []func(context.Context) error{c.begin, c.begin, c.begin, c.answer, c.answer, c.answer, c.cancel, c.retry, c.retry, c.replan, c.addPlan, c.movePlan}
	for ctx.Err() == nil {
		once, cancel := context.WithTimeout(c.Context(), 15*time.Second)
		err := does[c.rand.IntN(len(does))](once)
		cancel()
		if rpc, ok := errors.AsType[*harness.RPCError](err); ok && rpc.Code == -32603 && !rpc.Unavailable() {
			c.Errorf("client %d: %v", c.n, err)
		}
		pause(ctx, time.Duration(c.rand.IntN(300))*time.Millisecond)
	}
}

// message returns the message that begins the n-th objective of all clients.
func (c *mixClient) message(n int) harness.Message {
	m := message(n)
	if n%5 == 1 {
		m.ContextID = "shared"
	}
	switch n % 11 {
	case 6:
		m.Plan = harness.NewPlan("retries", "fail 1; say at last", "work 50ms", "fail")
	case 7:
		m.Plan = harness.NewPlan("legs", "legs 3; say third", "legs 2; approve Go on?; say after")
	case 8:
		m.ContextID, m.Plan = "second", harness.NewPlan("queued", "work 1s", "approve Turn?; work 1s", "work 500ms")
	case 9:
		m.Text = "await replan"
		m.Plan = harness.NewPlan("old", "work 300ms", "approve Old?; work 100ms", "work 200ms")
	case 10:
		m.ContextID, m.Plan = "second", harness.NewPlan("queued", "work 2s", "fail 1; work 500ms", "fail")
	}
	return m
}

func (c *mixClient) begin(ctx context.Context) error {
	if c.said >= most {
		return nil
	}
	n := c.said*2 + c.n
	task, err := c.c.SendUntil(ctx, c.message(n))
	if err != nil {
		return err // the message is sent again by the next call
	}
	c.said++
	c.mu.Lock()
	defer c.mu.Unlock()
	c.begun = append(c.begun, task.ID)
	c.readers = append(c.readers, c.c.Follow(c.Context(), task.ID, 0))
	return nil
}

// some returns one of the objectives, "" if there are none.
func (c *mixClient) some() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.begun) == 0 {
		return ""
	}
	return c.begun[c.rand.IntN(len(c.begun))]
}

// roots lists the root tasks of all attempts.
func (m *mix) allRoots(ctx context.Context) (ids []string, err error) {
	all, err := m.c.Objectives(ctx)
	for _, o := range all {
		for n := 1; ; n++ {
			id := opt.RootID(o.ID, n)
			_, err := m.c.Get(ctx, id)
			if harness.Code(err) == -32001 {
				break
			}
			if err != nil {
				return nil, err
			}
			ids = append(ids, id)
		}
	}
	return ids, err
}

// answer answers at the first open gate that it finds.
func (c *mixClient) answer(ctx context.Context) error {
	c.mu.Lock()
	begun := c.begun
	c.mu.Unlock()
	for range begun {
		id := begun[c.rand.IntN(len(begun))]
		task, err := c.c.Get(ctx, id)
		if err != nil {
			return err
		}
		if task.Gate != nil {
			action := []string{"accept", "accept", "accept", "accept", "reject"}[c.rand.IntN(5)]
			return c.reply(ctx, task, action)
		}
	}
	return nil
}

// reply answers the gate of a task, and notes the answer if it was judged.
func (m *mix) reply(ctx context.Context, task *harness.Task, action string) error {
	m.mu.Lock()
	m.replies++
	id := fmt.Sprint("reply-", m.replies)
	m.mu.Unlock()
	answered, err := m.c.Send(ctx, harness.Reply(id, task.Gate.TaskID, task.Gate.ID, action))
	if err == nil && !answered.Pending {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.acked[id] = task.ID
	}
	return err
}

func (c *mixClient) cancel(ctx context.Context) error {
	if id := c.some(); id != "" && c.rand.IntN(3) == 0 {
		_, err := c.c.Cancel(ctx, id)
		return err
	}
	return nil
}

// retry begins another attempt at an objective that has failed.
func (c *mixClient) retry(ctx context.Context) error {
	id := c.some()
	if id == "" {
		return nil
	}
	o, err := c.c.Objective(ctx, id)
	if err != nil || o.Status != "failed" && o.Status != "canceled" {
		return err
	}
	c.mu.Lock()
	c.retried[id] = true
	c.mu.Unlock()
	for _, status := range []string{"submitted", "working"} {
		if err := c.c.Call(ctx, "objectives/update", map[string]any{"id": id, "status": status}, nil); err != nil {
			return err
		}
	}
	return nil
}

func (c *mixClient) replan(ctx context.Context) error {
	id := c.some()
	if id == "" {
		return nil
	}
	return c.c.Call(ctx, "objectives/replan", map[string]any{"id": id, "reason": "Better ideas"}, nil)
}

func (c *mixClient) addPlan(ctx context.Context) error {
	id := c.some()
	if id == "" || c.rand.IntN(2) == 0 {
		return nil
	}
	_, err := c.c.CreatePlan(ctx, id, harness.NewPlan("added", "work 100ms", "legs 2; say added"))
	return err
}

// movePlan skips a plan, or has one that has failed or was skipped begin again.
func (c *mixClient) movePlan(ctx context.Context) error {
	id := c.some()
	if id == "" {
		return nil
	}
	o, err := c.c.Objective(ctx, id)
	if err != nil || len(o.Plans) == 0 {
		return err
	}
	to := []string{"working", "pending", "skipped"}[c.rand.IntN(3)]
	return c.c.Call(ctx, "plans/update", map[string]any{"id": o.Plans[c.rand.IntN(len(o.Plans))].ID, "status": to}, nil)
}
