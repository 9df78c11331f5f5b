// Package webhook_test tests tasks that a web service accepts and ends later by a
// callback, while the processes of Longhaul are killed.
package webhook_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"longhaul/dev/e2e/harness"
	"longhaul/internal/test"
)

const within = 60 * time.Second

// A work has the members of a task's work that a service reads.
type work struct {
	Key         string          `json:"key"`
	CallbackURL string          `json:"callbackUrl"`
	WakeURL     string          `json:"wakeUrl"`
	Cancel      bool            `json:"cancel"`
	Replies     json.RawMessage `json:"replies"`
}

// A service accepts every task.
type service struct {
	*httptest.Server
	mu   sync.Mutex
	work []work
}

func newService(t *testing.T) *service {
	s := &service{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var got work
		err := json.NewDecoder(r.Body).Decode(&got)
		key := got.Key
		if got.Cancel {
			key += ":cancel"
		}
		if err != nil || r.Header.Get("Idempotency-Key") != key {
			t.Errorf("the service gets %+v under the key %q, %v", got, r.Header.Get("Idempotency-Key"), err)
		}
		s.mu.Lock()
		s.work = append(s.work, got)
		s.mu.Unlock()
		w.WriteHeader(http.StatusAccepted)
	}))
	t.Cleanup(s.Close)
	return s
}

// next waits for the n-th request.
func (s *service) next(t *testing.T, n int) (w work) {
	t.Helper()
	harness.Eventually(t, within, fmt.Sprintf("request %d", n), func() error {
		s.mu.Lock()
		defer s.mu.Unlock()
		if len(s.work) < n {
			return fmt.Errorf("there were %d", len(s.work))
		}
		w = s.work[n-1]
		return nil
	})
	return w
}

// callback sends a callback, and returns the status of the answer.
func callback(t *testing.T, url, key, body string) int {
	t.Helper()
	status, _ := harness.NewClient(url).With("Idempotency-Key", key).MustPage(t, http.MethodPost, "", body)
	return status
}

// A site is an installation whose messages are tasks for the service.
type site struct {
	*harness.Site
	env string
}

func newSite(t *testing.T, s *service) site {
	t.Helper()
	dir := t.TempDir()
	write := func(name, text string) string { return harness.WriteFile(t, dir, name, text) }
	endpoints := write("endpoints.yaml", fmt.Sprintf("endpoints: {shop: {url: '%s/tasks', cancel: true}}\n", s.URL))
	books := write("playbook.yaml", `
name: shop
default: true
plans:
- name: Order
  tasks:
  - {name: Pack, executor: http, input: {endpoint: shop, data: {order: "{{.Message}}"}}}
`)
	made := harness.NewSite(t, harness.Dev, "--playbooks", books, "--allow-private-egress")
	made.Start(harness.Temporal)
	return site{made, "LONGHAUL_PUBLIC_URL=" + made.URL() + "\x00LONGHAUL_ENDPOINTS=" + endpoints}
}

func (s site) start(command string) *harness.Process {
	return s.Start(command, strings.Split(s.env, "\x00")...)
}

// A service accepts a task. The worker and the API are killed; the service sends each
// callback twice while no worker runs. No callback is lost or counted twice.
func TestService_sendsCallbacksLater(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	shop := newService(t)
	s := newSite(t, shop)
	api, worker := s.start(harness.API), s.start(harness.Worker)
	c := s.Client()
	root := c.MustSend(ctx, t, harness.Message{ID: "m", Text: "tea"})
	w := shop.next(t, 1)
	c.AwaitText(t, within, root.ID, "Waiting for shop.")
	worker.Kill()
	api.Kill()
	s.start(harness.API)
	for i := range 2 {
		for key, body := range map[string]string{
			"half":  `{"text":"Half of it is packed."}`,
			"slip":  `{"artifact":{"artifactId":"slip","parts":[{"text":"tea"}]},"append":true}`,
			"wrong": `{"outcome":{"state":"working"}}`,
		} {
			want := http.StatusAccepted
			if key == "wrong" {
				want = http.StatusBadRequest
			}
			test.Is(t, fmt.Sprintf("callback %s the time %d", key, i+1), want, callback(t, w.CallbackURL, key, body))
		}
	}
	test.Is(t, "a wake", http.StatusAccepted, callback(t, w.WakeURL, "wake", `{"outcome":{"state":"completed"}}`))
	test.Is(t, "a forged URL", http.StatusNotFound, callback(t, w.CallbackURL[:len(w.CallbackURL)-3], "forged", `{}`))
	s.start(harness.Worker)
	c.AwaitText(t, within, root.ID, "Half of it is packed.")
	test.Is(t, "the outcome", http.StatusAccepted, callback(t, w.CallbackURL, "done", `{"outcome":{"state":"completed","artifacts":[{"artifactId":"bill","parts":[{"data":{"total":3}}]}]}}`))
	task := c.AwaitEnd(t, within, root.ID)
	if task.State != "COMPLETED" || len(task.Artifacts) != 2 || task.Artifacts[0].Text != "tea" {
		t.Errorf("the task is %s with %+v", task.State, task.Artifacts)
	}
	test.Is(t, "a late callback", http.StatusGone, callback(t, w.CallbackURL, "late", `{"text":"More."}`))
	test.Is(t, "the service got the task times", 1, len(shop.work))
}

// A person answers the question of a service, which gets the task again with the answer. A
// task that is canceled is canceled at the service, too.
func TestService_asksAndIsCanceled(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	shop := newService(t)
	s := newSite(t, shop)
	s.start(harness.API)
	s.start(harness.Worker)
	c := s.Client()
	root := c.MustSend(ctx, t, harness.Message{ID: "m", Text: "tea"})
	w := shop.next(t, 1)
	if got := callback(t, w.CallbackURL, "ask", `{"outcome":{"state":"input-required","gate":{"kind":"approval","title":"Send it by air?","actions":["accept","reject"]}}}`); got != http.StatusAccepted {
		t.Fatalf("the question: %d", got)
	}
	gate := c.AwaitGate(t, within, root.ID)
	c.MustSend(ctx, t, harness.Reply("r", gate.TaskID, gate.ID, "accept"))
	again := shop.next(t, 2)
	if again.Key == w.Key || !bytes.Contains(again.Replies, []byte(`"accept"`)) {
		t.Errorf("the service gets %+v", again)
	}
	test.Is(t, "the outcome of the former round", http.StatusAccepted, callback(t, w.CallbackURL, "old", `{"outcome":{"state":"failed"}}`))
	c.AwaitText(t, within, root.ID, "Waiting for shop.")
	c.MustCancel(ctx, t, root.ID)
	if last := shop.next(t, 3); !last.Cancel {
		t.Errorf("the service gets %+v", last)
	}
	if task := c.AwaitEnd(t, within, root.ID); task.State != "CANCELED" {
		t.Errorf("the task is %s", task.State)
	}
}
