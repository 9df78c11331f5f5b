package handoff_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"longhaul/activities"
	"longhaul/activities/agent"
	"longhaul/activities/executortest"
	"longhaul/dev/e2e/harness"
	"longhaul/internal/egress"
	"longhaul/internal/test"
	"longhaul/opt"
)

// officials start agents on the official SDKs, and return their URLs.
var officials = map[string]func(t *testing.T) string{
	"Go 1.0":                       func(t *testing.T) string { return go10(t, false, nil) },
	"Go 1.0 over plain HTTP":       func(t *testing.T) string { return go10(t, true, nil) },
	"Go 0.3":                       go03,
	"JavaScript 1.0":               func(t *testing.T) string { return js(t, "v10", "rpc") },
	"JavaScript 1.0 on plain HTTP": func(t *testing.T) string { return js(t, "v10", "rest") },
	"JavaScript 0.3":               func(t *testing.T) string { return js(t, "v03", "rpc") },
}

// js runs an agent in JavaScript until the test ends.
func js(t *testing.T, version, binding string) string {
	t.Helper()
	src := filepath.Join("js", version)
	cmd := exec.Command("node", filepath.Join(harness.NodeProgram(t, src, filepath.Join(src, "main.mjs"), filepath.Join("js", "agent.mjs")), "main.mjs"), binding)
	cmd.Stderr = os.Stderr
	in, out := harness.Start(t, cmd)
	t.Cleanup(func() {
		_ = in.Close() // which ends the process
		_ = cmd.Wait()
	})
	url, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatalf("the agent did not say its URL: %v", err)
	}
	return strings.TrimSpace(url)
}

// executor returns one that knows the agent at a URL as "other".
func executor(t *testing.T, url string) *agent.Executor {
	t.Helper()
	path := test.File(t, "agents.yaml", fmt.Sprintf("agents: {other: {url: '%s'}}", url))
	agents := test.Value(agent.Load(path, agent.Reader{Env: os.LookupEnv}))(t)
	c := test.Value(egress.New(egress.Config{AllowPrivate: true, MaxAnswer: agent.MaxAnswer}))(t)
	t.Cleanup(c.Close)
	return agent.New(agent.Config{Agents: agents, HTTP: c})
}

func work(message string) activities.Work {
	return activities.Work{
		Tenant: "test", ObjectiveID: "objective", TaskID: "task-" + message, Round: 1, Attempt: 1, Key: "task-" + message + ":1",
		Input: json.RawMessage(fmt.Sprintf(`{"agent":"other","message":%q}`, message)),
	}
}

// looks has a task that waits for the remote one look at it every few milliseconds, until
// that is where the task no longer parks or ctx is done.
func looks(ctx context.Context) func(activities.Work, activities.Outcome) *activities.Outcome {
	tick := time.Tick(20 * time.Millisecond)
	return func(_ activities.Work, o activities.Outcome) *activities.Outcome {
		if o.Park.Wait > 0 {
			select {
			case <-ctx.Done(): // the suite cancels it
			case <-tick:
			}
		}
		return nil
	}
}

func play(ctx context.Context, e activities.Executor, w activities.Work) (executortest.Played, string) {
	p, err := executortest.Player{Executor: e, Parked: looks(ctx), Twice: true, Legs: 200}.Play(ctx, w)
	if err != nil {
		return p, "error " + err.Error()
	}
	out := []string{string(p.Outcome.State), p.Outcome.Code}
	if p.Outcome.Gate != nil {
		out = append(out, p.Outcome.Gate.Prompt())
	}
	for _, a := range p.Artifacts {
		out = append(out, a.Text())
	}
	return p, strings.Join(out, "|")
}

// Tasks are handed over to agents on the official SDKs. Every leg runs twice, as if its
// worker had crashed.
func TestHandoff_officialAgents(t *testing.T) {
	for name, start := range officials {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), within)
			defer cancel()
			e := executor(t, start(t))
			for message, want := range map[string]string{
				"go there": "completed||Done: go there",
				"fail":     "failed|remote-failed",
				"reject":   "rejected|rejected_by_remote",
			} {
				if _, got := play(ctx, e, work(message)); got != want {
					t.Errorf("%s: got %q, want %q", message, got, want)
				}
			}
			answers(ctx, t, e)
			cancels(ctx, t, e)
		})
	}
}

// answers answers the question of a remote task.
func answers(ctx context.Context, t *testing.T, e activities.Executor) {
	t.Helper()
	p, got := play(ctx, e, work("ask"))
	if want := "input-required||Agent other asks: Which color?"; got != want {
		t.Errorf("ask: got %q, want %q", got, want)
		return
	}
	w := p.Work
	w.Replies = []opt.Reply{{GateID: opt.GateID(w.TaskID, 1), Answers: []opt.Answer{{ID: "answer", Answer: json.RawMessage(`"blue"`)}}}}
	w.Round, w.Leg, w.Key = 2, 0, w.TaskID+":2"
	if _, got := play(ctx, e, w); got != "completed||Done: blue" {
		t.Errorf("after the answer: got %q", got)
	}
}

// cancels cancels a task whose remote one works.
func cancels(ctx context.Context, t *testing.T, e activities.Executor) {
	t.Helper()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	n, look := 0, looks(ctx)
	p, _ := executortest.Player{Executor: e, Parked: func(w activities.Work, o activities.Outcome) *activities.Outcome {
		if n++; n == 2 { // the message is sent
			outcome := activities.Failed("enough", "Enough.")
			return &outcome
		}
		return look(w, o)
	}}.Play(ctx, work("long"))
	w := p.Work
	w.Cancel = true
	if _, got := play(ctx, e, w); got != "failed|"+agent.CodeStopped {
		t.Errorf("cancel: got %q, want %s", got, agent.CodeStopped)
	}
}
