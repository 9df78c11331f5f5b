// Package gate_test has many callers answer one gate of the whole service, and checks
// the recorded decisions with the program, as an auditor does.
package gate_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"longhaul/dev/e2e/harness"
	"longhaul/internal/test"
	"longhaul/opt"
)

const book = `name: book
default: true
skills: [{id: book, name: N, description: D, tags: [t]}]
plans:
- name: P
  tasks:
  - {name: Outline, description: say outline}
  - name: Approve
    human:
      approve: Good?
      object: '{{results "Outline"}}'
      responders: {groups: [editors], not-requester: true}
  - {name: Write, description: work 2s}
`

// An office is a site with callers.
type office struct {
	t    *testing.T
	site *harness.Site
	keys map[string]string // by caller
}

func newOffice(t *testing.T) office {
	t.Helper()
	path := test.File(t, "book.yaml", book)
	o := office{t, harness.NewSite(t, harness.Dev, "--auth", "keys", "--playbooks", path, "--push-signing", "--reply-wait=1m"), map[string]string{}}
	o.hire("ann", "--scopes", "all")
	for _, name := range []string{"bob", "carol", "dave", "erin", "frank"} {
		o.hire(name, "--scopes", "all", "--groups", "editors")
	}
	o.hire("mallory", "--scopes", "all")
	o.hire("reader", "--scopes", "runs:read", "--groups", "editors")
	o.hire("rival", "--scopes", "all", "--groups", "editors", "--tenant", "rival")
	return o
}

// hire makes an API key for a caller.
func (o office) hire(name string, args ...string) {
	o.t.Helper()
	o.keys[name] = o.site.Key(name, args...)
}

func (o office) client(name string) *harness.Client {
	return o.site.Client().With("Authorization", "Bearer "+o.keys[name])
}

// ask begins work and returns its root task at the gate.
func (o office) ask(ctx context.Context, id string) *harness.Task {
	o.t.Helper()
	task, err := o.client("ann").Send(ctx, harness.Message{ID: id, Text: "x", Wait: true})
	if err != nil || task.Gate == nil {
		o.t.Fatalf("%+v, %v", task, err)
	}
	return task
}

// An answer is one of many to a gate. Its result is the reason of the refusal, "" if it
// was accepted.
type answer struct {
	who, action, more string
	byPage            bool
}

// give gives an answer to a gate.
func (o office) give(ctx context.Context, a answer, id, gateID string) (refused string, err error) {
	if a.byPage {
		status, body, err := o.client(a.who).Page(ctx, http.MethodPost, "/v1/interrupts/"+gateID+"/answer", fmt.Sprintf(`{"action":%q,"messageId":%q%s}`, a.action, id, a.more))
		if err != nil || status == http.StatusOK {
			return "", err
		}
		var fault struct{ Error string }
		err = json.Unmarshal(body, &fault)
		return fault.Error, err
	}
	data := map[string]any{}
	if err := json.Unmarshal([]byte(fmt.Sprintf(`{"interruptId":%q,"action":%q%s}`, gateID, a.action, a.more)), &data); err != nil {
		return "", err
	}
	taskID, _ := opt.TaskOfGate(gateID)
	_, err = o.client(a.who).Send(ctx, harness.Message{ID: id, TaskID: taskID, Data: data})
	if code := harness.Code(err); code != 0 {
		return fmt.Sprint(code), nil
	}
	return "", err
}

// decisions returns the decisions of an objective as the API has them.
func (o office) decisions(ctx context.Context, id string) (page struct {
	Decisions []opt.Decision
	raw       []byte
}) {
	o.t.Helper()
	status, body, err := o.client("ann").Page(ctx, http.MethodGet, "/v1/objectives/"+id+"/decisions", "")
	if err != nil || status != http.StatusOK {
		o.t.Fatalf("status %d, %v: %s", status, err, body)
	}
	test.OK(o.t, json.Unmarshal(body, &page))
	page.raw = body
	return page
}

// verify checks decisions with the program and the public keys.
func (o office) verify(ctx context.Context, export []byte, args ...string) string {
	o.t.Helper()
	_, keys, err := o.client("ann").Page(ctx, http.MethodGet, "/.well-known/jwks.json", "")
	test.OK(o.t, err)
	return o.site.Run(append([]string{"verify", o.saved(export), "--jwks", o.saved(keys)}, args...)...)
}

func (o office) saved(content []byte) string {
	o.t.Helper()
	path := test.File(o.t, "saved.json", string(content))
	return path
}

// refusals returns how many answers the log of a process says were refused before they
// reached a workflow.
func refusals(t *testing.T, p *harness.Process) int {
	t.Helper()
	log := harness.ReadFile(t, p.LogPath)
	return strings.Count(string(log), "Refused an answer")
}

// Of fifty concurrent answers, of different kinds and senders, one has an effect.
// All others get a typed refusal, and each is in the chain or in the log.
func TestConcurrentAnswers(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	o := newOffice(t)
	p := o.site.Start(harness.AllInOne)
	task := o.ask(ctx, "work")
	kinds := []answer{{action: "accept"}, {action: "reject", more: `,"feedback":"no"`}, {action: "refine", more: `,"feedback":"shorter"`},
		{action: "edit-accept", more: `,"editedArtifactData":"mine"`}}
	const answers = 50
	results := make([]string, answers)
	begin := make(chan struct{})
	var wg sync.WaitGroup
	for i := range answers {
		a := kinds[i%len(kinds)]
		a.who, a.byPage = []string{"bob", "carol", "dave", "erin", "frank"}[i%5], i%2 == 0
		wg.Go(func() {
			<-begin
			var err error
			if results[i], err = o.give(ctx, a, fmt.Sprint("answer-", i), task.Gate.ID); err != nil {
				t.Errorf("answer %d: %v", i, err)
			}
		})
	}
	close(begin)
	wg.Wait()
	told := map[string]int{}
	for _, r := range results {
		told[r]++
	}
	if told[""] != 1 || told["-32004"]+told["unsupported_operation"] != answers-1 {
		t.Errorf("the answers got %v, want one success and refusals that the task does not wait", told)
	}
	page := o.decisions(ctx, task.ID)
	closed := 0
	for _, d := range page.Decisions {
		if d.Closed {
			closed++
		}
		if d.Closed != (d.Verdict == opt.Accepted) || d.Verdict != opt.Accepted && d.Verdict != opt.NotWaiting {
			t.Errorf("decision %d: %s, closed %v", d.N, d.Verdict, d.Closed)
		}
	}
	logged := refusals(t, p)
	if closed != 1 || len(page.Decisions)+logged != answers {
		t.Errorf("%d decisions, %d of them closed the gate, and %d are logged", len(page.Decisions), closed, logged)
	}
	t.Logf("%d answers were judged by the workflow, %d refused before", len(page.Decisions), logged)
	if out := o.verify(ctx, page.raw); !strings.Contains(out, "unchanged") || !strings.Contains(out, "is signed") {
		t.Errorf("verify says %s", out)
	}
	p.Stop()
}

// Answers of those who may not decide, and answers that come late, were altered or are
// played again, are refused and recorded, and do not change the gate.
func TestRefusedAnswers(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	o := newOffice(t)
	p := o.site.Start(harness.AllInOne)
	task := o.ask(ctx, "work")
	gate := task.Gate.ID
	shown := func() string {
		now := test.Value(o.client("ann").Get(ctx, task.Gate.TaskID))(t)
		return string(now.Raw)
	}
	before, judged, logged := shown(), 0, 0
	for i, step := range []struct {
		answer
		want   string
		judged bool
	}{
		{answer{who: "ann", action: "accept"}, "-32000", true},     // the requester
		{answer{who: "mallory", action: "accept"}, "-32000", true}, // not one of the group
		{answer{who: "mallory", action: "reject", byPage: true}, "permission_denied", true},
		{answer{who: "bob", action: "accept", more: `,"objectDigest":"sha256:00"`}, "-32602", true}, // altered
		{answer{who: "rival", action: "accept"}, "-32001", false},                                   // another tenant
		{answer{who: "rival", action: "accept", byPage: true}, "interrupt_not_found", false},
		{answer{who: "reader", action: "accept", byPage: true}, "permission_denied", false}, // without the scope
		{answer{who: "bob", action: "explode"}, "-32602", false},
	} {
		got, err := o.give(ctx, step.answer, fmt.Sprint("bad-", i), gate)
		if err != nil || got != step.want {
			t.Errorf("%s, %s: %q, %v, want %s", step.who, step.action, got, err, step.want)
		}
		if step.judged {
			judged++
		} else {
			logged++
		}
		if now := shown(); now != before {
			t.Errorf("%s, %s: the gate has changed from\n%s\nto\n%s", step.who, step.action, before, now)
		}
	}
	agent := map[string]any{"message": map[string]any{
		"messageId": "agent", "taskId": task.Gate.TaskID, "role": "ROLE_AGENT", "parts": []any{map[string]any{"data": map[string]any{"action": "accept"}}},
	}}
	if err := o.client("bob").Call(ctx, "SendMessage", agent, nil); harness.Code(err) != -32602 || shown() != before {
		t.Errorf("an answer in the role of an agent: %v", err)
	}
	logged++
	first := o.decisions(ctx, task.ID)
	good := answer{who: "bob", action: "accept"}
	for _, id := range []string{"good", "good"} { // and played again
		if got, err := o.give(ctx, good, id, gate); got != "" || err != nil {
			t.Errorf("the answer %s got %q, %v", id, got, err)
		}
	}
	altered := answer{who: "bob", action: "reject"}
	if got, err := o.give(ctx, altered, "good", gate); got == "" || err != nil { // under the same message id
		t.Errorf("an altered answer got %q, %v", got, err)
	}
	if got, err := o.give(ctx, answer{who: "carol", action: "reject"}, "late", gate); got != "-32004" || err != nil {
		t.Errorf("a late answer got %q, %v", got, err)
	}
	judged, logged = judged+1, logged+2 // the late one and the altered one
	last := o.decisions(ctx, task.ID)
	if n := refusals(t, p); len(last.Decisions) != judged || n != logged {
		t.Errorf("%d decisions, want %d; %d are logged, want %d", len(last.Decisions), judged, n, logged)
	}
	if d := last.Decisions[len(last.Decisions)-1]; d.DecidedBy != "bob" || !d.Closed {
		t.Errorf("the last decision is %+v", d)
	}
	if out := o.verify(ctx, last.raw, "--earlier", o.saved(first.raw)); !strings.Contains(out, "are still there") {
		t.Errorf("verify says %s", out)
	}
	changed := strings.Replace(string(last.raw), `"mallory"`, `"bob"`, 1)
	out, err := exec.CommandContext(ctx, harness.Build(t, harness.Dev), "verify", o.saved([]byte(changed))).CombinedOutput()
	if err == nil || !strings.Contains(string(out), "decision 2: number 2 of ") {
		t.Errorf("verify of a changed copy: %v, %s", err, out)
	}
	p.Stop()
}
