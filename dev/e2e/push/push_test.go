// Package push_test has the service deliver states of tasks to receivers that
// are slow, fail or are gone, while its processes are killed.
package push_test

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"

	"longhaul/dev/e2e/harness"
	"longhaul/internal/test"
)

const within = 60 * time.Second

// Secrets that must be nowhere but in the headers of deliveries.
const (
	token       = "canary-token-5c2e91"
	credentials = "canary-credentials-77ab03"
)

// config returns a push config with secrets as A2A 1.0 has it.
func config(id, url string) map[string]any {
	return map[string]any{
		"id": id, "url": url, "token": token, "authentication": map[string]any{"scheme": "Bearer", "credentials": credentials},
	}
}

// send begins a task that asks once, with a push config, and repeats the call
// until it is answered.
func send(t *testing.T, c *harness.Client, id string, push map[string]any, scripts ...string) *harness.Task {
	t.Helper()
	params := map[string]any{
		"message": map[string]any{
			"messageId": id, "role": "ROLE_USER", "parts": []any{map[string]any{"text": "x"}},
			"metadata": map[string]any{"opt/v1/plan": harness.NewPlan("plan", scripts...)},
		},
		"configuration": map[string]any{"returnImmediately": true, "taskPushNotificationConfig": push},
	}
	var out struct{ Task *harness.Task }
	ctx, cancel := context.WithTimeout(t.Context(), within)
	defer cancel()
	if err := harness.Repeat(ctx, func(ctx context.Context) error { return c.Call(ctx, "SendMessage", params, &out) }); err != nil {
		t.Error(err)
		return nil
	}
	return out.Task
}

// add adds a push config to a task.
func add(t *testing.T, c *harness.Client, taskID, id, url string) {
	t.Helper()
	params := config(id, url)
	params["taskId"] = taskID
	test.OK(t, c.Call(t.Context(), "CreateTaskPushNotificationConfig", params, nil))
}

// accept waits for the gate of a task and opens it.
func accept(t *testing.T, c *harness.Client, taskID string) {
	t.Helper()
	gate := c.AwaitGate(t, within, taskID)
	if _, err := c.SendUntil(t.Context(), harness.Reply("reply-"+taskID, taskID, gate.ID, "accept")); err != nil {
		t.Error(err)
	}
}

// Receivers that are slow, dead or refuse delay neither the task nor others.
func TestPush(t *testing.T) {
	t.Parallel()
	r := newReceiver(t)
	site := harness.NewSite(t, harness.Dev, "--allow-private-egress", "--push-transitions", "all", "--push-signing")
	site.Hide(token, credentials)
	site.Start(harness.AllInOne)
	c := site.Client()
	id := send(t, c, "m", config("inline", r.url("inline")), "work 10ms", "approve Go on?", "work 500ms; say done").ID
	paths := []string{"plain", "slow", "gone", "refuses", "moved", "fails-twice", "busy-once"}
	for _, path := range paths {
		add(t, c, id, path, r.url(path))
	}
	add(t, c, id, "down", "http://127.0.0.1:9/")
	accept(t, c, id)
	c.AwaitState(t, within, id, "COMPLETED")

	r.await(t, "inline", id, "SUBMITTED", "WORKING", "INPUT_REQUIRED", "WORKING", "COMPLETED")
	for _, path := range []string{"plain", "fails-twice", "busy-once", "refuses"} {
		harness.Eventually(t, within, "the end comes to "+path, func() error {
			got, err := r.states(path, id)
			if err == nil && (len(got) == 0 || got[len(got)-1] != "COMPLETED") {
				err = fmt.Errorf("it got %v", got)
			}
			return err
		})
	}
	checkRequest(t, r.at("plain")[0])
	checkSignature(t, site, r.at("plain")[0])
	for _, n := range r.at("refuses") {
		if n.attempt != 1 {
			t.Errorf("%s was attempted again after 403", n.id)
		}
	}
	test.Is(t, "requests followed a redirect", 0, len(r.at("elsewhere")))
	if got := states(r.at("gone")); len(got) != 1 {
		t.Errorf("after 410 came %v", got)
	}
	harness.Eventually(t, within, "the config that is gone is removed", func() error {
		ids, err := pushIDs(t.Context(), c, id)
		if err == nil && (slices.Contains(ids, "gone") || !slices.Contains(ids, "slow")) {
			err = fmt.Errorf("there are %v", ids)
		}
		return err
	})
	redelivers(t, site, r, id)
}

func states(list []notice) (out []string) {
	for _, n := range list {
		out = append(out, n.state)
	}
	return out
}

func pushIDs(ctx context.Context, c *harness.Client, taskID string) (ids []string, err error) {
	var out struct {
		Configs []struct{ ID string }
	}
	err = c.Call(ctx, "ListTaskPushNotificationConfigs", map[string]any{"taskId": taskID}, &out)
	for _, p := range out.Configs {
		ids = append(ids, p.ID)
	}
	return ids, err
}

// checkRequest checks the headers and the body of a delivery.
func checkRequest(t *testing.T, n notice) {
	t.Helper()
	got := map[string]string{}
	for _, name := range []string{"Content-Type", "A2A-Version", "Authorization", "X-A2A-Notification-Token", "A2A-Notification-Token"} {
		got[name] = n.header.Get(name)
	}
	want := map[string]string{
		"Content-Type": "application/a2a+json", "A2A-Version": "1.0", "Authorization": "Bearer " + credentials,
		"X-A2A-Notification-Token": token, "A2A-Notification-Token": token,
	}
	test.Equal(t, "headers", want, got)
	var body map[string]map[string]any
	test.OK(t, json.Unmarshal([]byte(n.body), &body))
	delete(body["statusUpdate"], "contextId")
	for _, known := range []string{"taskId", "status", "metadata"} {
		if body["statusUpdate"][known] == nil {
			t.Errorf("no %s in %s", known, n.body)
		}
		delete(body["statusUpdate"], known)
	}
	if len(body) != 1 || len(body["statusUpdate"]) != 0 {
		t.Errorf("the body has more: %s", n.body)
	}
}

// checkSignature verifies a delivery with the keys that the site publishes.
func checkSignature(t *testing.T, site *harness.Site, n notice) {
	t.Helper()
	_, keys := harness.Get(t, site.URL()+"/.well-known/jwks.json")
	var set jose.JSONWebKeySet
	test.OK(t, json.Unmarshal(keys, &set))
	token := test.Value(jwt.ParseSigned(n.header.Get("X-Longhaul-Signature"), []jose.SignatureAlgorithm{jose.ES256}))(t)
	var claims struct {
		jwt.Claims
		BodySHA256 string `json:"body_sha256"`
	}
	test.OK(t, token.Claims(set, &claims))
	sum := sha256.Sum256([]byte(n.body))
	if claims.ID != n.id || claims.Subject != n.taskID || claims.BodySHA256 != base64.RawURLEncoding.EncodeToString(sum[:]) {
		t.Errorf("the signature says %+v", claims)
	}
}

// redelivers has the last delivery to a receiver made again.
func redelivers(t *testing.T, site *harness.Site, r *receiver, taskID string) {
	t.Helper()
	had := r.at("plain")
	last := had[len(had)-1]
	res := test.Value(http.Post(fmt.Sprintf("%s/v1/tasks/%s/deliveries/plain/%d/redeliver", site.URL(), taskID, last.n), "application/json", nil))(t)
	_ = res.Body.Close()
	if res.StatusCode/100 != 2 {
		t.Fatalf("redeliver answers %s", res.Status)
	}
	harness.Eventually(t, within, "the delivery is made again", func() error {
		got := r.at("plain")
		if again := got[len(got)-1]; len(got) != len(had)+1 || again.id != last.id || again.attempt != last.attempt+1 || again.body != last.body {
			return fmt.Errorf("%d came: %+v", len(got)-len(had), again)
		}
		return nil
	})
}

// A process kills itself at a named point. Every state is delivered, in order.
func TestPush_killedAtPoints(t *testing.T) {
	t.Parallel()
	for _, point := range []string{"engine-started", "accepted", "outcome-before-record:2", "mid-record:2", "recorded:1", "recorded:2", "recorded:3"} {
		t.Run(point, func(t *testing.T) {
			r := newReceiver(t)
			site := harness.NewSite(t, harness.Crashable, "--allow-private-egress")
			p := site.Start(harness.AllInOne, "CRASHABLE_POINT="+point)
			c := site.Client()
			var client sync.WaitGroup
			ids := make(chan string, 1)
			client.Go(func() {
				task := send(t, c, "m", config("hook", r.url("hook")), "work 10ms", "approve Go on?; say done")
				if task == nil {
					return
				}
				accept(t, c, task.ID)
				ids <- task.ID
			})
			if p.AwaitEnd(within); !p.Killed() {
				t.Fatal("the point was not reached")
			}
			site.Start(harness.AllInOne)
			client.Wait()
			r.await(t, "hook", <-ids, "INPUT_REQUIRED", "COMPLETED")
		})
	}
}

// The worker is killed while a receiver has a delivery that it has not answered,
// and the API right after it has answered a send. Another worker makes the
// delivery again, under the same id.
func TestPush_killedDuringDelivery(t *testing.T) {
	t.Parallel()
	r := newReceiver(t)
	site := harness.NewSite(t, harness.Dev)
	site.Env = append(site.Env, "LONGHAUL_ALLOW_PRIVATE_EGRESS=true")
	site.Start(harness.Temporal)
	api, worker := site.Start(harness.API), site.Start(harness.Worker)
	var kill sync.Once
	killed := make(chan struct{})
	r.mu.Lock()
	r.hook = func(notice) {
		kill.Do(func() {
			worker.Kill()
			close(killed)
		})
	}
	r.mu.Unlock()
	c := site.Client()
	id := send(t, c, "m", config("hook", r.url("hook")), "approve Go on?; say done").ID
	api.Kill()
	<-killed
	site.Start(harness.Worker)
	site.Start(harness.API)
	accept(t, c, id)
	r.await(t, "hook", id, "INPUT_REQUIRED", "COMPLETED")
	var repeats []string
	for _, n := range r.at("hook") {
		if n.state == "INPUT_REQUIRED" {
			repeats = append(repeats, n.id)
		}
	}
	if len(repeats) < 2 || len(slices.Compact(repeats)) != 1 {
		t.Errorf("deliveries of the state during which the worker was killed: %s", strings.Join(repeats, " "))
	}
}

// While the receiver is down, many tasks end; it gets every end once it is up,
// across a restart of everything.
func TestPush_receiverIsDown(t *testing.T) {
	t.Parallel()
	r := newReceiver(t)
	r.closed = true
	site := harness.NewSite(t, harness.Dev, "--allow-private-egress")
	p := site.Start(harness.AllInOne)
	c := site.Client()
	var ids []string
	for i := range 10 {
		ids = append(ids, send(t, c, fmt.Sprint("m", i), config("hook", r.url("hook")), "say done").ID)
	}
	for _, id := range ids {
		c.AwaitState(t, within, id, "COMPLETED")
		harness.Eventually(t, within, "it was attempted", func() error {
			if states, err := r.states("hook", id); err != nil || len(states) != 1 {
				return fmt.Errorf("%v, %v", states, err)
			}
			return nil
		})
	}
	p.Kill()
	r.mu.Lock()
	r.closed = false
	before := len(r.got)
	r.mu.Unlock()
	site.Start(harness.AllInOne)
	harness.Eventually(t, within, "all ends are delivered", func() error {
		r.mu.Lock()
		defer r.mu.Unlock()
		var missing []string
		for _, id := range ids {
			if !slices.ContainsFunc(r.got[before:], func(n notice) bool { return n.taskID == id && n.state == "COMPLETED" }) {
				missing = append(missing, id)
			}
		}
		if len(missing) > 0 {
			return fmt.Errorf("%d are missing", len(missing))
		}
		return nil
	})
}
