package main

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"longhaul/activities"
	"longhaul/dev/e2e/harness"
)

// stamps finds the times in events and artifacts.
var stamps = regexp.MustCompile(`stamp:(\d+)`)

// measureStreams measures the time from a change to the byte at a subscriber, while many
// subscribe to the same task.
func measureStreams(ctx context.Context, s settings, r *report, both []*contender) error {
	for _, n := range s.subscribers {
		found, err := alternate(ctx, max(1, s.rounds/2), both, func(ctx context.Context, side *contender, round int) (map[string]float64, error) {
			return subscribers(ctx, side.client, n, fmt.Sprintf("stream-%d-%d", n, round))
		})
		if err != nil {
			return err
		}
		name := fmt.Sprintf("a change to the byte at each of %d subscribers", n)
		r.compare("c", name+": p50", "ms", found, "p50")
		f := r.compare("c", name+": p95", "ms", found, "p95")
		if n == 100 {
			f.setAim("< 50 ms", f.Value < 50)
		}
	}
	return nil
}

// subscribers subscribes n clients to one task and returns how late they receive its changes.
func subscribers(ctx context.Context, c *harness.Client, n int, id string) (map[string]float64, error) {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	settle := time.Duration(n)*3*time.Millisecond + 500*time.Millisecond
	task, err := send(ctx, c, harness.Message{ID: id, Text: fmt.Sprintf("work %v; stamp 20 100ms", settle)})
	if err != nil {
		return nil, err
	}
	var mu sync.Mutex
	var late []float64
	group, ctx := errgroup.WithContext(ctx)
	for range n {
		group.Go(func() error {
			return follow(ctx, c, task.ID, func(line string) {
				now := time.Now()
				mu.Lock()
				defer mu.Unlock()
				for _, at := range times(line) {
					late = append(late, milliseconds(now.Sub(at)))
				}
			})
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	if len(late) < n {
		return nil, fmt.Errorf("%d subscribers got %d changes of 20 each", n, len(late))
	}
	return percentiles(late), nil
}

// follow passes on every update of an artifact in the stream of a task, until the stream
// ends. The client of the harness would not read event ids of others.
func follow(ctx context.Context, c *harness.Client, id string, on func(line string)) error {
	body := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"SubscribeToTask","params":{"id":%q}}`, id)
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.URL+"/", strings.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("A2A-Version", "1.0")
	res, err := c.HTTP.Do(req)
	if err != nil {
		return err
	}
	defer func() { _ = res.Body.Close() }()
	lines := bufio.NewScanner(res.Body)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		if line := lines.Text(); strings.Contains(line, "artifactUpdate") {
			on(line)
		}
	}
	return lines.Err()
}

// times returns the times in a text.
func times(text string) (list []time.Time) {
	for _, found := range stamps.FindAllStringSubmatch(text, -1) {
		n, _ := strconv.ParseInt(found[1], 10, 64)
		list = append(list, time.Unix(0, n))
	}
	return list
}

const answersInRound = 8

// measureAnswers measures the time from an answer to a question until the executor runs
// again.
func measureAnswers(ctx context.Context, s settings, r *report, both []*contender) error {
	found, err := alternate(ctx, s.rounds, both, func(ctx context.Context, side *contender, round int) (map[string]float64, error) {
		var took []float64
		for i := range answersInRound {
			d, err := answerOne(ctx, side.client, fmt.Sprintf("answer-%d-%d", round, i))
			if err != nil {
				return nil, err
			}
			took = append(took, milliseconds(d))
		}
		return percentiles(took), nil
	})
	if err != nil {
		return err
	}
	r.compare("d", "an answer is sent until the work continues: p50", "ms", found, "p50")
	f := r.compare("d", "an answer is sent until the work continues: p95", "ms", found, "p95")
	f.setAim("< 100 ms", f.Value < 100)
	return nil
}

// answerOne answers a question and returns how long after that the work continued.
func answerOne(ctx context.Context, c *harness.Client, id string) (time.Duration, error) {
	task, err := send(ctx, c, harness.Message{ID: id, Text: "ask Which color?; stamp 1 0s"})
	if err != nil {
		return 0, err
	}
	if err := untilState(ctx, c, task.ID, "INPUT_REQUIRED"); err != nil {
		return 0, err
	}
	began, err := reply(ctx, c, task.ID)
	if err != nil {
		return 0, err
	}
	if err := untilEnded(ctx, c, task.ID); err != nil {
		return 0, err
	}
	task, err = c.Get(ctx, task.ID)
	if err != nil {
		return 0, err
	}
	at := times(string(task.Raw))
	if len(at) == 0 {
		return 0, fmt.Errorf("the task ended as %s without continuing", task.State)
	}
	return at[0].Sub(began), nil
}

// reply answers a task and returns when the answer that was accepted was sent. The
// official server shows a question a moment before it takes the answer.
func reply(ctx context.Context, c *harness.Client, taskID string) (sent time.Time, err error) {
	for range 50 {
		sent = time.Now()
		if _, err = c.Send(ctx, harness.Message{ID: "answer-" + taskID, TaskID: taskID, Text: "blue"}); err == nil {
			return sent, nil
		}
		_ = activities.Sleep(ctx, 10*time.Millisecond)
	}
	return sent, err
}
