// Package load_test runs many clients at a time. It checks what they see, not how
// fast.
package load_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"longhaul/dev/e2e/harness"
	"longhaul/internal/test"
)

// patience keeps a loaded machine from changing what clients see.
var patience = []string{"--call-timeout", "60s", "--blocking-wait", "60s", "--reply-wait", "60s"}

// TestSubscribers has a thousand clients follow one task while it changes some
// two hundred times. They disconnect at random and resume after the last event
// they saw. All must get the same events, none lost and none twice.
func TestSubscribers(t *testing.T) {
	const subscribers, pieces = 1000, 200
	ctx, cancel := context.WithTimeout(t.Context(), 4*time.Minute)
	defer cancel()
	site := harness.NewSite(t, harness.Dev, patience...)
	site.Start(harness.AllInOne)
	c := site.Client()
	task := c.MustSend(ctx, t, harness.Message{ID: "work", Wait: true, Text: fmt.Sprintf("approve Begin?; stream %d 10ms; say done", pieces)})

	seen := make([][]harness.Event, subscribers)
	there := make(chan bool, subscribers)
	group, ctx := errgroup.WithContext(ctx)
	for i := range subscribers {
		group.Go(func() (err error) {
			seen[i], err = follow(ctx, c, task.ID, rand.New(rand.NewPCG(uint64(i), 1)), sync.OnceFunc(func() { there <- true }))
			return err
		})
	}
	group.Go(func() error {
		for range subscribers { // all of them are at the gate
			select {
			case <-there:
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		_, err := c.SendUntil(ctx, harness.Reply("go", task.ID, task.Gate.ID, "accept"))
		return err
	})
	test.OK(t, group.Wait())

	want := test.Value(c.All(t.Context(), task.ID, 0))(t)
	if len(want) < pieces {
		t.Fatalf("the task changed %d times, want at least %d", len(want), pieces)
	}
	for i, got := range seen {
		if diff := harness.Differ(want, got); diff != "" {
			t.Errorf("subscriber %d: %s", i, diff)
		}
	}
}

// follow reads the events of a task to its end, and disconnects and resumes at
// random. It calls ready when it has begun.
func follow(ctx context.Context, c *harness.Client, taskID string, r *rand.Rand, ready func()) ([]harness.Event, error) {
	var seen []harness.Event
	after := int64(0)
	for {
		s, err := c.Subscribe(ctx, taskID, after)
		if harness.MayRepeat(err) && ctx.Err() == nil {
			continue // the server closed the connection at this moment
		}
		if err != nil {
			return seen, err
		}
		for stay := 5 + r.IntN(200); stay > 0; stay-- {
			e, err := s.Next()
			if errors.Is(err, io.EOF) {
				s.Close()
				return seen, nil
			}
			if harness.MayRepeat(err) && ctx.Err() == nil {
				break // the stream broke: resume
			}
			if err != nil {
				s.Close()
				return seen, err
			}
			seen, after = append(seen, e), e.ID
			if e.State() == "INPUT_REQUIRED" {
				ready()
			}
			if e.State() == "COMPLETED" {
				s.Close()
				return seen, nil
			}
		}
		s.Close()
	}
}

// TestLargeParts sends more than Temporal accepts in one payload and gets all of
// it back: large payloads are stored outside the histories.
func TestLargeParts(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	site := harness.NewSite(t, harness.Dev, patience...)
	first := site.Start(harness.AllInOne)
	c := site.Client()
	text := "approve Go on?; say " + strings.Repeat("long ", 1<<20) // 5 MiB
	task := c.MustSend(ctx, t, harness.Message{ID: "large", Wait: true, Text: text})
	first.Kill()
	site.Start(harness.AllInOne)
	reply := harness.Reply("go", task.ID, task.Gate.ID, "accept")
	reply.Wait = true
	done := c.MustSend(ctx, t, reply)
	if done.State != "COMPLETED" || !strings.Contains(string(done.Raw), strings.Repeat("long ", 1000)) {
		t.Errorf("the task is %s, with %d bytes", done.State, len(done.Raw))
	}
}
