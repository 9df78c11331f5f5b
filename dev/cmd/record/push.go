package main

import (
	"context"
	"io"
	"net/http"
	"strings"
	"sync"

	"longhaul/a2a"
	"longhaul/activities"
	"longhaul/opt/outbox"
)

// pushShapes are the courses of deliveries to one config, by the name of the shape,
// which is the id of the task as well: what the receiver answers to each attempt.
var pushShapes = []pushShape{
	{"push", []int{200, 503, 200, 404, 200}, false},
	{"push-gone", []int{500, 410}, false},
	{"push-continued", append(repeat(200, 20), 503, 200), true},
}

// A pushShape is one course of deliveries.
type pushShape struct {
	name    string
	answers []int
	long    bool // continues as new
}

func repeat(answer, n int) (list []int) {
	for range n {
		list = append(list, answer)
	}
	return list
}

// receivers answer deliveries as the shapes say, and are the journal of these deliveries. A
// delivery is due until its answer is not 5xx.
type receivers struct {
	mu      sync.Mutex
	answers map[string][]int // by task
	tries   map[string]int
}

func newReceivers() *receivers {
	h := &receivers{answers: map[string][]int{}, tries: map[string]int{}}
	for _, s := range pushShapes {
		h.answers[s.name] = s.answers
	}
	return h
}

func (h *receivers) NextDelivery(_ context.Context, taskID, configID string) (c outbox.PushConfig, d outbox.Delivery, ok bool, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	c = outbox.PushConfig{TaskID: taskID, ID: configID, Version: "1.0", URL: "https://" + taskID + ".example.com/"}
	d = outbox.Delivery{TaskID: taskID, ConfigID: configID, N: int64(1000 - len(h.answers[taskID]) - h.tries[taskID]), State: a2a.Completed, Tries: h.tries[taskID]}
	return c, d, len(h.answers[taskID]) > 0, nil
}

func (h *receivers) NextNotice(context.Context, string, string) (n outbox.Notice, d outbox.Delivery, ok bool, err error) {
	return n, d, false, nil
}

func (h *receivers) NoteDelivery(_ context.Context, _ outbox.PushConfig, d outbox.Delivery, _ outbox.DeliveryAttempt, s outbox.DeliveryStatus) (outbox.DeliveryStatus, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.answers[d.TaskID] = h.answers[d.TaskID][1:]
	h.tries[d.TaskID]++
	if s != outbox.DeliveryDue {
		h.tries[d.TaskID] = 0
	}
	return s, nil
}

func (h *receivers) Do(_ context.Context, r *http.Request) (*http.Response, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	name, _, _ := strings.Cut(r.URL.Host, ".")
	return &http.Response{StatusCode: h.answers[name][0], Body: io.NopCloser(strings.NewReader(""))}, nil
}

// push returns the parts with which the worker makes deliveries.
func (h *receivers) push() *activities.Push {
	return &activities.Push{Journal: h, Sender: h, Notice: func(string, a2a.StatusUpdate) (string, []byte, error) { return "text/plain", nil, nil }}
}

func (s pushShape) run(ctx context.Context, r *recorder) ([]string, error) {
	engine := r.usual
	if s.long {
		engine = r.long
	}
	if err := engine.Push(ctx, outbox.PushKey{TaskID: s.name, ConfigID: "config"}); err != nil {
		return nil, err
	}
	id := "push-" + s.name + "-config"
	return []string{id}, r.temporal.GetWorkflow(ctx, id, "").Get(ctx, nil)
}
