// Package language_test runs tasks on Temporal workers in other languages, which use
// only the JSON of tasks and no code of Longhaul.
package language_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"longhaul/dev/e2e/harness"
	"longhaul/internal/child"
	"longhaul/internal/test"
)

const within = 3 * time.Minute

// example is the directory with the example of workers.
const example = "../../../examples/worker"

// newSite returns a site whose messages are tasks for an external worker. Both have env.
func newSite(t *testing.T, playbook string, env ...string) *harness.Site {
	t.Helper()
	path := test.Value(filepath.Abs(playbook))(t)
	site := harness.NewSite(t, harness.Dev, "--playbooks", path)
	site.Env = env
	site.Start(harness.AllInOne)
	return site
}

// start runs a worker for a site until the test ends.
func start(t *testing.T, site *harness.Site, dir, program string, args ...string) *child.Process {
	t.Helper()
	cmd := exec.Command(program, args...)
	cmd.Dir = dir
	cmd.Env = append(append(os.Environ(), site.Env...), "TEMPORAL_ADDRESS="+site.TemporalAddr, "TEMPORAL_NAMESPACE=default")
	w := test.Value(child.Start(cmd, child.Options{Log: filepath.Join(t.TempDir(), "worker.log")}))(t)
	t.Cleanup(func() {
		w.Kill()
		if t.Failed() {
			t.Logf("%s:\n%s", program, w.Tail(20_000))
		}
	})
	return w
}

// typeScript returns a directory with the worker in TypeScript of the example.
func typeScript(t *testing.T) string {
	t.Helper()
	return harness.NodeProgram(t, example, filepath.Join(example, "worker.ts"), filepath.Join(example, "codec.ts"), filepath.Join(example, "package.json"))
}

// words returns a message with n words.
func words(id string, n int) harness.Message {
	return harness.Message{ID: id, Text: strings.TrimSpace(strings.Repeat("word ", n))}
}

// A worker in TypeScript is killed in the middle of a task. The next one continues where
// the last heartbeat was, and clients see the progress all the time.
func TestTypeScript_killed(t *testing.T) {
	t.Parallel()
	site := newSite(t, filepath.Join(example, "playbook.yaml"))
	dir := typeScript(t)
	first := start(t, site, dir, "node", "--import", "tsx", "worker.ts")
	c := site.Client()
	root := sent(t, c, words("m", 8))
	c.AwaitText(t, within, root, "Counted 3 of 8 words.")
	first.Kill()
	start(t, site, dir, "node", "--import", "tsx", "worker.ts")
	task := c.AwaitState(t, within, root, "COMPLETED")
	if len(task.Artifacts) != 1 || !strings.Contains(string(task.Raw), `"words":8`) {
		t.Errorf("the result is %+v", task.Artifacts)
	}
}

// The example in TypeScript has no mistakes of types.
func TestTypeScript_types(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), within)
	defer cancel()
	cmd := exec.CommandContext(ctx, "node", "node_modules/typescript/bin/tsc",
		"--noEmit", "--strict", "--skipLibCheck", "--module", "nodenext", "--target", "es2022", "worker.ts")
	cmd.Dir = typeScript(t)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// Workers in TypeScript and Go have codecs for payloads that are encrypted. The first of
// two keys encrypts what Longhaul writes, and all of them decrypt.
func TestEncrypted(t *testing.T) {
	t.Parallel()
	keys := []string{base64.StdEncoding.EncodeToString(bytes.Repeat([]byte{1}, 32)), base64.StdEncoding.EncodeToString(bytes.Repeat([]byte{2}, 32))}
	binary := filepath.Join(t.TempDir(), "words")
	harness.Go(t, filepath.Join(example, "go"), "build", "-o", binary, ".")
	dir := typeScript(t)
	for _, program := range [][]string{{binary}, {"node", "--import", "tsx", "worker.ts"}} {
		site := newSite(t, filepath.Join(example, "playbook.yaml"), "LONGHAUL_PAYLOAD_KEYS="+keys[0]+","+keys[1])
		site.Env = []string{"LONGHAUL_PAYLOAD_KEYS=" + keys[1] + ", " + keys[0]}
		start(t, site, dir, program[0], program[1:]...)
		c := site.Client()
		task := c.AwaitState(t, within, sent(t, c, words("m", 3)), "COMPLETED")
		if !strings.Contains(string(task.Raw), `"words":3`) {
			t.Errorf("%s: the result is %+v", program[0], task.Artifacts)
		}
	}
}

// A task that is canceled stops its worker.
func TestTypeScript_canceled(t *testing.T) {
	t.Parallel()
	site := newSite(t, filepath.Join(example, "playbook.yaml"))
	dir := typeScript(t)
	start(t, site, dir, "node", "--import", "tsx", "worker.ts")
	c := site.Client()
	root := sent(t, c, words("m", 600))
	c.AwaitText(t, within, root, "Counted 1 of 600 words.")
	c.MustCancel(t.Context(), t, root)
	c.AwaitState(t, within, root, "CANCELED")
}

// playbook returns a file with a playbook that has the activity of tests.mjs with a name
// do each message.
func playbook(t *testing.T, activity string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "playbook.yaml")
	text := fmt.Sprintf(`
name: tests
default: true
plans:
- name: Try
  tasks:
  - {name: Try, executor: temporal, attempts: 2, input: {queue: flaky, activity: %s, heartbeat: 5s, data: "{{.Message}}"}}
`, activity)
	test.OK(t, os.WriteFile(file, []byte(text), 0o600))
	return file
}

// tried returns a site with a worker for a playbook that has the activity with a name do
// each message.
func tried(t *testing.T, activity string) *harness.Site {
	t.Helper()
	site := newSite(t, playbook(t, activity))
	start(t, site, harness.NodeProgram(t, example, "tests.mjs"), "node", "tests.mjs")
	return site
}

// sent sends a message and returns the id of its root task.
func sent(t *testing.T, c *harness.Client, m harness.Message) string {
	t.Helper()
	return c.MustSend(t.Context(), t, m).ID
}

// Temporal repeats an activity that fails, as often as the task may be attempted.
func TestJavaScript_fails(t *testing.T) {
	t.Parallel()
	c := tried(t, "flaky").Client()
	good := sent(t, c, harness.Message{ID: "good", Text: "good"})
	if task := c.AwaitState(t, within, good, "COMPLETED"); len(task.Artifacts) != 1 || task.Artifacts[0].Text != "Attempt 2." {
		t.Errorf("the result is %+v", task.Artifacts)
	}
	broken := sent(t, c, harness.Message{ID: "broken", Text: "broken"})
	if task := c.AwaitState(t, within, broken, "FAILED"); !strings.Contains(task.Message, "It is broken.") {
		t.Errorf("it says %q", task.Message)
	}
}

// Clients see the texts in the heartbeats of an activity.
func TestJavaScript_beats(t *testing.T) {
	t.Parallel()
	c := tried(t, "beats").Client()
	root := sent(t, c, harness.Message{ID: "m", Text: "go"})
	c.AwaitText(t, within, root, "Beat ")
	task, err := c.Get(t.Context(), root)
	if err != nil || len(task.Artifacts) != 1 || !strings.HasPrefix(task.Artifacts[0].Text, "beat ") {
		t.Errorf("the artifacts are %+v, %v", task.Artifacts, err)
	}
	c.MustCancel(t.Context(), t, root)
	c.AwaitState(t, within, root, "CANCELED")
}

// Clients see after a minute that no worker has taken a task, which continues to wait.
func TestGo_comesLate(t *testing.T) {
	t.Parallel()
	site := newSite(t, filepath.Join(example, "playbook.yaml"))
	binary := filepath.Join(t.TempDir(), "words")
	harness.Go(t, filepath.Join(example, "go"), "build", "-o", binary, ".")
	c := site.Client()
	root := sent(t, c, words("m", 5))
	c.AwaitText(t, within, root, `Waiting for a worker of queue "words".`)
	start(t, site, "", binary)
	task := c.AwaitState(t, within, root, "COMPLETED")
	if len(task.Artifacts) != 1 || !strings.Contains(string(task.Raw), `"words":5`) {
		t.Errorf("the result is %+v", task.Artifacts)
	}
}
