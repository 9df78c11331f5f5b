// Package hooks_test sends events to the triggers of two API processes, signed by the official
// libraries of their senders, while processes are killed: each event begins one task.
package hooks_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"longhaul/dev/e2e/harness"
	"longhaul/internal/test"
)

const (
	within = 60 * time.Second
	secret = "whsec_of_both_senders"
	file   = `triggers:
- {name: pulls, kind: github, secret: '${HOOK_SECRET}', principal: github, when: '{{eq .Event "pull_request"}}', message: 'say {{.Body.title}}'}
- {name: paid, kind: stripe, secret: '${HOOK_SECRET}', principal: stripe, message: 'say {{.Event}}'}
`
	invoice = `{"id":"evt_1","object":"event","type":"invoice.paid"}`
)

// pulls are the bodies of events of GitHub.
func pulls() (list []string) {
	for n := range 10 {
		list = append(list, fmt.Sprintf(`{"number":%d,"title":"Faster – \"ü\""}`, n))
	}
	return list
}

// sign returns the signatures that the official libraries make and accept: of each body for GitHub.
func sign(t *testing.T, bodies []string) (gitHub []string, stripe string) {
	t.Helper()
	program := filepath.Join(harness.NodeProgram(t, "js", filepath.Join("js", "main.mjs")), "main.mjs")
	input := test.Value(json.Marshal(map[string]any{"secret": secret, "github": bodies, "stripe": invoice}))(t)
	cmd := exec.CommandContext(t.Context(), "node", program)
	cmd.Stdin = bytes.NewReader(input)
	out, err := cmd.CombinedOutput()
	var made struct {
		GitHub []string
		Stripe string
	}
	if err != nil || json.Unmarshal(out, &made) != nil || len(made.GitHub) != len(bodies) {
		t.Fatalf("the libraries: %v\n%s", err, out)
	}
	return made.GitHub, made.Stripe
}

// An event is a request for a trigger.
type event struct {
	trigger, body string
	header        map[string]string
}

// send sends an event to a server, and returns the status and the task.
func (e event) send(ctx context.Context, url string) (status int, taskID string, err error) {
	sender := harness.Client{URL: url, HTTP: http.DefaultClient, Header: e.header}
	status, raw, err := sender.Page(ctx, http.MethodPost, "/hooks/"+e.trigger, e.body)
	var out struct{ TaskID string }
	_ = json.Unmarshal(raw, &out) // there may be none
	return status, out.TaskID, err
}

// until sends an event as senders do, to one server after the other, until it is accepted.
func (e event) until(ctx context.Context, urls ...string) (taskID string, err error) {
	n := 0
	err = harness.Repeat(ctx, func(ctx context.Context) error {
		status, id, err := e.send(ctx, urls[n%len(urls)])
		n++
		if taskID = id; err == nil && status != http.StatusAccepted {
			err = fmt.Errorf("%s: %d", e.trigger, status)
		}
		return err
	})
	return taskID, err
}

// Each event is sent four times at once to two API processes, of which one is killed meanwhile, and
// again when all has ended: it begins one task.
func TestTriggers_once(t *testing.T) {
	t.Parallel()
	bodies := pulls()
	gitHub, stripe := sign(t, bodies)
	site := harness.NewSite(t, harness.Dev)
	site.Hide(secret)
	site.Env = []string{"LONGHAUL_TRIGGERS=" + test.File(t, "triggers.yaml", file), "HOOK_SECRET=" + secret}
	site.Start(harness.Temporal)
	site.Start(harness.Worker)
	one := site.URL()
	api := site.Start(harness.API)
	site.Addr = harness.FreeAddr(t)
	other := site.URL()
	site.Start(harness.API)

	events := []event{{"paid", invoice, map[string]string{"Stripe-Signature": stripe}}}
	for n, body := range bodies {
		events = append(events, event{"pulls", body, map[string]string{"X-Hub-Signature-256": gitHub[n], "X-GitHub-Event": "pull_request", "X-GitHub-Delivery": fmt.Sprint("d-", n)}})
	}
	pull := bodies[0]
	for name, e := range map[string]event{
		"an altered body": {"pulls", pull + " ", events[1].header}, "another sender": {"paid", pull, events[1].header}, "no sender": {"pulls", pull, nil},
	} {
		if status, _, err := e.send(t.Context(), one); status != http.StatusUnauthorized {
			t.Errorf("%s: %d %v", name, status, err)
		}
	}
	ping := event{"pulls", pull, map[string]string{"X-Hub-Signature-256": gitHub[0], "X-GitHub-Event": "ping"}}
	if status, _, err := ping.send(t.Context(), one); status != http.StatusOK {
		t.Errorf("an event that starts nothing: %d %v", status, err)
	}

	ctx, cancel := context.WithTimeout(t.Context(), within)
	defer cancel()
	begun := make([]struct {
		sync.Mutex
		ids map[string]bool
	}, len(events))
	var senders sync.WaitGroup
	for i, e := range events {
		for _, urls := range [][]string{{one, other}, {other, one}, {one, one}, {other}} {
			senders.Go(func() {
				id, err := e.until(ctx, urls...)
				if err != nil {
					t.Errorf("event %d: %v", i, err)
					return
				}
				begun[i].Lock()
				defer begun[i].Unlock()
				if begun[i].ids == nil {
					begun[i].ids = map[string]bool{}
				}
				begun[i].ids[id] = true
			})
		}
	}
	api.Kill()
	second := site.Addr
	site.Addr = strings.TrimPrefix(one, "http://")
	site.Start(harness.API)
	site.Addr = second
	senders.Wait()

	c := site.Client()
	for i, e := range events {
		if len(begun[i].ids) != 1 {
			t.Fatalf("event %d began %v", i, begun[i].ids)
		}
		for id := range begun[i].ids {
			c.AwaitState(t, within, id, "COMPLETED")
			if e.trigger == "pulls" {
				e.header["X-GitHub-Delivery"] += "-captured" // which no signature covers
			}
			if again, err := e.until(ctx, one); again != id || err != nil {
				t.Errorf("event %d: a repeat got %s and not %s, %v", i, again, id, err)
			}
		}
	}
	list, err := c.Objectives(t.Context())
	if err != nil || len(list) != len(events) {
		t.Errorf("%d events began %d objectives, %v", len(events), len(list), err)
	}
}
