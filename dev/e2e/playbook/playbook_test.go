// Package playbook_test tests playbooks with the whole service: retries, and
// playbooks that change while the service runs.
package playbook_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"longhaul/dev/e2e/harness"
	"longhaul/internal/test"
)

const within = 30 * time.Second

// A file is a playbook file that tests rewrite.
type file struct {
	t    *testing.T
	path string
}

func newFile(t *testing.T) file { return file{t, filepath.Join(t.TempDir(), "book.yaml")} }

// write writes a playbook for all requests, with a skill and one plan of tasks.
func (f file) write(name, tasks string) {
	f.t.Helper()
	text := "name: " + name + "\ndefault: true\nskills: [{id: " + name + ", name: N, description: D, tags: [t]}]\nplans:\n- name: P\n  tasks:\n" + tasks
	test.OK(f.t, os.WriteFile(f.path, []byte(text), 0o600))
}

// skill returns the skill on the agent card.
func skill(site *harness.Site) (string, error) {
	res, err := http.Get(site.URL() + "/.well-known/agent-card.json")
	if err != nil {
		return "", err
	}
	defer res.Body.Close()
	var card struct{ Skills []struct{ ID string } }
	if err := json.NewDecoder(res.Body).Decode(&card); err != nil || len(card.Skills) != 1 {
		return "", fmt.Errorf("card %+v: %v", card, err)
	}
	return card.Skills[0].ID, nil
}

// Playbooks are reloaded while work with the former playbooks waits.
func TestReload(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	books := newFile(t)
	books.write("old", "  - {name: Ask, human: {approve: 'Go on?'}}\n  - {name: Say, description: say old}\n")
	site := harness.NewSite(t, harness.Dev, "--playbooks", books.path)
	p := site.Start(harness.AllInOne)
	c := site.Client()
	hangUp := func() {
		t.Helper()
		test.OK(t, syscall.Kill(p.PID(), syscall.SIGHUP))
	}
	before := c.MustSend(ctx, t, harness.Message{ID: "before", Text: "x"})
	gate := c.AwaitState(t, within, before.ID, "INPUT_REQUIRED").Gate

	books.write("new", "  - {name: Say, description: say new}\n")
	hangUp()
	harness.Eventually(t, within, "the card has the new skill", func() error {
		got, err := skill(site)
		if err == nil && got != "new" {
			err = fmt.Errorf("it has %q", got)
		}
		return err
	})
	made(t, c, "after", "new")

	books.write("bad", "  - {name: Say, description: say bad}\n  - {name: Shout, executor: megaphone}\n")
	hangUp()
	harness.Eventually(t, within, "the mistake is logged", func() error {
		return p.Logged(books.path + `:8: there is no executor \"megaphone\"`)
	})
	if got, err := skill(site); got != "new" || err != nil {
		t.Errorf("the card has %q, error %v", got, err)
	}
	made(t, c, "later", "new")

	c.MustSend(ctx, t, harness.Reply("go", before.ID, gate.ID, "accept"))
	if task := c.AwaitState(t, within, before.ID, "COMPLETED"); len(task.Artifacts) != 1 || task.Artifacts[0].Text != "old" {
		t.Errorf("the work that was begun before made %+v", task.Artifacts)
	}
	p.Stop()
}

// made checks the result of a new message.
func made(t *testing.T, c *harness.Client, id, want string) {
	t.Helper()
	task, err := c.Send(t.Context(), harness.Message{ID: id, Text: "x", Wait: true})
	if err != nil || task.State != "COMPLETED" || len(task.Artifacts) != 1 || task.Artifacts[0].Text != want {
		t.Errorf("%s made %+v, error %v; want %s", id, task, err, want)
	}
}

// Tasks are retried as they say, also after time-outs that only Temporal notices.
// A running task shows its attempt.
func TestRetries(t *testing.T) {
	t.Parallel()
	books := newFile(t)
	books.write("retries", `
  - {name: Flaky, description: 'fail 1 busy; work 2s; pass', retry: {wait: 1s, except: [bad-input]}, optional: true}
  - {name: Refused, description: fail 1 bad-input, retry: {except: [bad-input]}, optional: true}
  - {name: Slow once, description: work 1h, timeout: 1s, retry: {except: [timeout]}, optional: true}
  - {name: Slow twice, description: work 1h, timeout: 1s, retry: {attempts: 2}, optional: true}
`)
	site := harness.NewSite(t, harness.Dev, "--playbooks", books.path)
	p := site.Start(harness.AllInOne)
	c := site.Client()
	root := c.MustSend(t.Context(), t, harness.Message{ID: "m", Text: "x"})
	var tasks []harness.TaskOfPlan
	look := func() error {
		o, err := c.Objective(t.Context(), root.ID)
		if err == nil && len(o.Plans) != 1 {
			err = fmt.Errorf("it has %d plans", len(o.Plans))
		}
		if err == nil {
			tasks = o.Plans[0].Tasks
		}
		return err
	}
	harness.Eventually(t, within, "the objective has a plan", look)
	harness.Eventually(t, within, "the second attempt shows while it runs", func() error {
		state, attempt := shown(t, c, tasks[0].ID)
		if state == "COMPLETED" {
			t.Fatalf("the first task has ended, and shows attempt %d", attempt)
		}
		if attempt != 2 {
			return fmt.Errorf("it is %s in attempt %d", state, attempt)
		}
		return nil
	})
	c.AwaitState(t, within, root.ID, "COMPLETED")
	test.OK(t, look())
	for i, want := range []string{"COMPLETED <nil> 2", "FAILED bad-input 1", "FAILED timeout 1", "FAILED timeout 2"} {
		state, attempt := shown(t, c, tasks[i].ID)
		test.Is(t, tasks[i].Name, want, fmt.Sprintf("%s %v %d", state, tasks[i].Metadata["opt/v1/failureReason"], attempt))
	}
	p.Stop()
}

// shown returns the state of a task and the attempt that it shows.
func shown(t *testing.T, c *harness.Client, id string) (state string, attempt int) {
	t.Helper()
	task := test.Value(c.Get(t.Context(), id))(t)
	var raw struct {
		Metadata struct {
			Attempt int `json:"longhaul/v1/attempt"`
		}
	}
	test.OK(t, json.Unmarshal(task.Raw, &raw))
	return task.State, raw.Metadata.Attempt
}
