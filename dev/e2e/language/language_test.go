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
)

const within = 3 * time.Minute

// example is the directory with the example of workers.
const example = "../../../examples/worker"

// newSite returns a site whose messages are tasks for an external worker. Both have env.
func newSite(t *testing.T, playbook string, env ...string) *harness.Site {
	t.Helper()
	path, err := filepath.Abs(playbook)
	if err != nil {
		t.Fatal(err)
	}
	site := harness.NewSite(t, harness.Dev, "--playbooks", path)
	site.Env = env
	site.Start(harness.AllInOne)
	return site
}

// A worker is a process that works for a site.
type worker struct {
	t   *testing.T
	cmd *exec.Cmd
}

// start runs a worker until the test ends.
func start(t *testing.T, site *harness.Site, dir, program string, args ...string) *worker {
	t.Helper()
	cmd := exec.Command(program, args...)
	cmd.Dir = dir
	cmd.Env = append(append(os.Environ(), site.Env...), "TEMPORAL_ADDRESS="+site.TemporalAddr, "TEMPORAL_NAMESPACE=default")
	log := filepath.Join(t.TempDir(), "worker.log")
	out, err := os.Create(log)
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stdout, cmd.Stderr = out, out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	w := &worker{t, cmd}
	t.Cleanup(func() {
		w.kill()
		_ = out.Close()
		if text, err := os.ReadFile(log); err == nil && t.Failed() {
			t.Logf("%s:\n%s", program, text)
		}
	})
	return w
}

// kill ends the worker at once.
func (w *worker) kill() {
	_ = w.cmd.Process.Kill()
	_ = w.cmd.Wait()
}

// says waits until the root task reports a text that has part in it.
func says(ctx context.Context, t *testing.T, c *harness.Client, id, part string) {
	t.Helper()
	harness.Eventually(t, within, "the task says "+part, func() error {
		task, err := c.Get(ctx, id)
		if err != nil {
			return err
		}
		if text := task.Message; !strings.Contains(text, part) {
			return fmt.Errorf("it is %s and says %q", task.State, text)
		}
		return nil
	})
}

// ends waits for the end of a task.
func ends(ctx context.Context, t *testing.T, c *harness.Client, id, state string) *harness.Task {
	t.Helper()
	var task *harness.Task
	harness.Eventually(t, within, "the task ends", func() (err error) {
		if task, err = c.Get(ctx, id); err == nil && !task.Ended() {
			err = fmt.Errorf("it is %s", task.State)
		}
		return err
	})
	if task.State != state {
		t.Fatalf("the task ended %s: %s", task.State, task.Message)
	}
	return task
}

// words returns a message with n words.
func words(id string, n int) harness.Message {
	return harness.Message{ID: id, Text: strings.TrimSpace(strings.Repeat("word ", n))}
}

// A worker in TypeScript is killed in the middle of a task. The next one continues where
// the last heartbeat was, and clients see the progress all the time.
func TestTypeScript_killed(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), 3*within)
	defer cancel()
	site := newSite(t, filepath.Join(example, "playbook.yaml"))
	dir := harness.NodeProgram(t, example, filepath.Join(example, "worker.ts"), filepath.Join(example, "codec.ts"), filepath.Join(example, "package.json"))
	first := start(t, site, dir, "node", "--import", "tsx", "worker.ts")
	c := site.Client()
	root := sent(ctx, t, c, words("m", 8))
	says(ctx, t, c, root, "Counted 3 of 8 words.")
	first.kill()
	start(t, site, dir, "node", "--import", "tsx", "worker.ts")
	task := ends(ctx, t, c, root, "COMPLETED")
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
	cmd.Dir = harness.NodeProgram(t, example, filepath.Join(example, "worker.ts"), filepath.Join(example, "codec.ts"), filepath.Join(example, "package.json"))
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// Workers in TypeScript and Go have codecs for payloads that are encrypted. The first of
// two keys encrypts what Longhaul writes, and all of them decrypt.
func TestEncrypted(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), 3*within)
	defer cancel()
	keys := []string{base64.StdEncoding.EncodeToString(bytes.Repeat([]byte{1}, 32)), base64.StdEncoding.EncodeToString(bytes.Repeat([]byte{2}, 32))}
	binary := filepath.Join(t.TempDir(), "words")
	harness.Go(t, filepath.Join(example, "go"), "build", "-o", binary, ".")
	dir := harness.NodeProgram(t, example, filepath.Join(example, "worker.ts"), filepath.Join(example, "codec.ts"), filepath.Join(example, "package.json"))
	for _, program := range [][]string{{binary}, {"node", "--import", "tsx", "worker.ts"}} {
		site := newSite(t, filepath.Join(example, "playbook.yaml"), "LONGHAUL_PAYLOAD_KEYS="+keys[0]+","+keys[1])
		site.Env = []string{"LONGHAUL_PAYLOAD_KEYS=" + keys[1] + ", " + keys[0]}
		start(t, site, dir, program[0], program[1:]...)
		c := site.Client()
		task := ends(ctx, t, c, sent(ctx, t, c, words("m", 3)), "COMPLETED")
		if !strings.Contains(string(task.Raw), `"words":3`) {
			t.Errorf("%s: the result is %+v", program[0], task.Artifacts)
		}
	}
}

// A task that is canceled stops its worker.
func TestTypeScript_canceled(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), 3*within)
	defer cancel()
	site := newSite(t, filepath.Join(example, "playbook.yaml"))
	dir := harness.NodeProgram(t, example, filepath.Join(example, "worker.ts"), filepath.Join(example, "codec.ts"), filepath.Join(example, "package.json"))
	start(t, site, dir, "node", "--import", "tsx", "worker.ts")
	c := site.Client()
	root := sent(ctx, t, c, words("m", 600))
	says(ctx, t, c, root, "Counted 1 of 600 words.")
	if _, err := c.Cancel(ctx, root); err != nil {
		t.Fatal(err)
	}
	ends(ctx, t, c, root, "CANCELED")
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
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
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
func sent(ctx context.Context, t *testing.T, c *harness.Client, m harness.Message) string {
	t.Helper()
	root, err := c.Send(ctx, m)
	if err != nil {
		t.Fatal(err)
	}
	return root.ID
}

// Temporal repeats an activity that fails, as often as the task may be attempted.
func TestJavaScript_fails(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), 3*within)
	defer cancel()
	c := tried(t, "flaky").Client()
	good := sent(ctx, t, c, harness.Message{ID: "good", Text: "good"})
	if task := ends(ctx, t, c, good, "COMPLETED"); len(task.Artifacts) != 1 || task.Artifacts[0].Text != "Attempt 2." {
		t.Errorf("the result is %+v", task.Artifacts)
	}
	broken := sent(ctx, t, c, harness.Message{ID: "broken", Text: "broken"})
	if task := ends(ctx, t, c, broken, "FAILED"); !strings.Contains(task.Message, "It is broken.") {
		t.Errorf("it says %q", task.Message)
	}
}

// Clients see the texts in the heartbeats of an activity.
func TestJavaScript_beats(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), 3*within)
	defer cancel()
	c := tried(t, "beats").Client()
	root := sent(ctx, t, c, harness.Message{ID: "m", Text: "go"})
	says(ctx, t, c, root, "Beat ")
	task, err := c.Get(ctx, root)
	if err != nil || len(task.Artifacts) != 1 || !strings.HasPrefix(task.Artifacts[0].Text, "beat ") {
		t.Errorf("the artifacts are %+v, %v", task.Artifacts, err)
	}
	if _, err := c.Cancel(ctx, root); err != nil {
		t.Fatal(err)
	}
	ends(ctx, t, c, root, "CANCELED")
}

// Clients see after a minute that no worker has taken a task, which continues to wait.
func TestGo_comesLate(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), 3*within)
	defer cancel()
	site := newSite(t, filepath.Join(example, "playbook.yaml"))
	binary := filepath.Join(t.TempDir(), "words")
	harness.Go(t, filepath.Join(example, "go"), "build", "-o", binary, ".")
	c := site.Client()
	root := sent(ctx, t, c, words("m", 5))
	says(ctx, t, c, root, `Waiting for a worker of queue "words".`)
	start(t, site, "", binary)
	task := ends(ctx, t, c, root, "COMPLETED")
	if len(task.Artifacts) != 1 || !strings.Contains(string(task.Raw), `"words":5`) {
		t.Errorf("the result is %+v", task.Artifacts)
	}
}
