package cost

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"longhaul/dev/e2e/harness"
	"longhaul/dev/temporald"
	"longhaul/internal/cli"
	"longhaul/internal/freeport"
	"longhaul/internal/serve"
)

// gateBook makes a plan of one gate of a message without a plan.
const gateBook = `name: gate
default: true
skills: [{id: gate, name: Gate, description: Waits for a person, tags: [test]}]
plans:
- name: Plan
  tasks:
  - {name: Ask, human: {approve: 'Publish?'}}
`

// A Service is Longhaul, all in this process.
type Service struct {
	Log          Log
	TemporalAddr string

	client *harness.Client
	n      atomic.Int64 // of the last message
	cancel context.CancelFunc
	ended  sync.WaitGroup
}

// StartService starts Longhaul with its databases in dir and waits until it has
// completed an objective. sync is what the databases wait for: full or normal.
func StartService(ctx context.Context, dir, sync string) (*Service, error) {
	addr, err := freeport.Addr()
	if err != nil {
		return nil, err
	}
	temporal, err := freeport.Addr()
	if err != nil {
		return nil, err
	}
	s := &Service{TemporalAddr: temporal.String(), client: harness.NewClient("http://" + addr.String())}
	ctx, s.cancel = context.WithCancel(ctx)
	build := serve.Build{Embed: temporald.Embed, Temporal: s.Log.Adjust, Journal: s.Log.Journal, Recorder: s.Log.Recorder}
	book := filepath.Join(dir, "book.yaml")
	if err := errors.Join(os.MkdirAll(dir, 0o700), os.WriteFile(book, []byte(gateBook), 0o600)); err != nil {
		return nil, err
	}
	args := []string{"dev", "--addr", addr.String(), "--temporal-addr", temporal.String(), "--temporal-ui-addr", "", "--data-dir", dir, "--sync", sync, "--log-level", "error", "--fallback", "echo", "--playbooks", book}
	s.ended.Go(func() {
		defer s.cancel()
		cli.Run(ctx, args, io.Discard, os.Stderr, build)
	})
	first, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	if err := harness.Repeat(first, s.Once); err != nil {
		s.Stop()
		return nil, fmt.Errorf("start Longhaul: %w", err)
	}
	return s, nil
}

// Stop stops the service and waits until it has stopped.
func (s *Service) Stop() {
	s.cancel()
	s.ended.Wait()
}

// Once sends one objective with a plan of three tasks that do nothing, and waits
// until it has completed.
func (s *Service) Once(ctx context.Context) error {
	return s.wait(ctx, s.message(&harness.Plan{Name: "Three", Tasks: []harness.PlanTask{{Name: "One"}, {Name: "Two"}, {Name: "Three"}}}))
}

// Everyday runs one objective with a plan of three tasks that each return a text. One client
// follows it by a stream, and another one, whose send is a repeat, waits until it has completed.
func (s *Service) Everyday(ctx context.Context) error {
	m := s.message(harness.NewPlan("Three", "say One", "say Two", "say Three"))
	stream, err := s.client.SendStream(ctx, m)
	if err != nil {
		return err
	}
	defer stream.Close()
	if _, err := stream.Next(); err != nil {
		return fmt.Errorf("the first event of %s: %w", m.ID, err)
	}
	if err := s.wait(ctx, m); err != nil {
		return err
	}
	for {
		switch _, err := stream.Next(); {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return fmt.Errorf("follow %s: %w", m.ID, err)
		}
	}
}

// message returns a new message with a plan, whose send waits.
func (s *Service) message(p *harness.Plan) harness.Message {
	return harness.Message{ID: "cost-" + strconv.FormatInt(s.n.Add(1), 10), Text: "go", Wait: true, Plan: p}
}

// wait sends a message and waits until its objective has completed.
func (s *Service) wait(ctx context.Context, m harness.Message) error {
	task, err := s.client.Send(ctx, m)
	if err != nil {
		return err
	}
	if task.State != "COMPLETED" {
		return fmt.Errorf("objective is %s, want COMPLETED: %s", task.State, task.Message)
	}
	return nil
}

// Gate sends one objective that waits at a gate, accepts there, and waits until the objective has
// completed.
func (s *Service) Gate(ctx context.Context) error {
	return s.answered(ctx, nil, func(m *harness.Message, gate string) { *m = harness.Reply(m.ID, m.TaskID, gate, "accept") })
}

// Question does the same with a task that asks and ends as soon as it has the answer.
func (s *Service) Question(ctx context.Context) error {
	return s.answered(ctx, harness.NewPlan("Ask", "ask Which color?; say done"), func(m *harness.Message, _ string) { m.Text = "blue" })
}

// answered sends one objective with a plan, nil for the one of the playbook, and when it waits the
// answer that answer makes of a message.
func (s *Service) answered(ctx context.Context, p *harness.Plan, answer func(m *harness.Message, gate string)) error {
	id := "gate-" + strconv.FormatInt(s.n.Add(1), 10)
	task, err := s.client.Send(ctx, harness.Message{ID: id, Text: "go", Plan: p})
	for err == nil && task.State != "INPUT_REQUIRED" {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(10 * time.Millisecond):
		}
		task, err = s.client.Get(ctx, task.ID)
	}
	if err != nil {
		return err
	}
	reply := harness.Message{ID: id + "-reply", TaskID: task.ID}
	answer(&reply, task.Gate.ID)
	reply.Wait = true
	return s.wait(ctx, reply)
}
