// Package handoff_test hands tasks over to other agents: to those on the official SDKs,
// and from one Longhaul to another while their processes are killed.
package handoff_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"longhaul/dev/e2e/harness"
	"longhaul/internal/test"
)

const within = 2 * time.Minute

// A pair is a desk that hands its work over to writers, both of them Longhauls.
type pair struct {
	desk, writers *harness.Site
}

// newPair returns a pair. tasks are the writers'; more are members of the
// writers in the desk's file.
func newPair(t *testing.T, tasks, more string) pair {
	t.Helper()
	dir := t.TempDir()
	write := func(name, text string) string { return harness.WriteFile(t, dir, name, text) }
	book := "name: %s\ndefault: true\nskills: [{id: %[1]s, name: N, description: D, tags: [t]}]\nplans:\n- name: P\n  tasks:\n%s"
	p := pair{harness.NewSite(t, harness.Dev), harness.NewSite(t, harness.Dev)}
	p.writers.Env = []string{"LONGHAUL_PLAYBOOKS=" + write("writers.yaml", fmt.Sprintf(book, "write", tasks)), "LONGHAUL_ALLOW_PRIVATE_EGRESS=true"}
	p.desk.Env = []string{
		"LONGHAUL_PLAYBOOKS=" + write("desk.yaml", fmt.Sprintf(book, "letter", "  - {name: Write, executor: agent, input: {agent: writers, skill: write, message: x}}\n")),
		"LONGHAUL_AGENTS=" + write("agents.yaml", fmt.Sprintf("agents: {writers: {url: '%s'%s}}\n", p.writers.URL(), more)),
		"LONGHAUL_ALLOW_PRIVATE_EGRESS=true", "LONGHAUL_PUBLIC_URL=" + p.desk.URL(),
	}
	return p
}

// begin sends a message to the desk and returns its root task.
func (p pair) begin(t *testing.T) string {
	t.Helper()
	return p.desk.Client().MustSendUntil(t.Context(), t, harness.Message{ID: "m", Text: "x"}).ID
}

// remote waits until the writers have a task in a state, and returns its id.
func (p pair) remote(t *testing.T, state string) (id string) {
	t.Helper()
	harness.Eventually(t, within, "the writers have a task that is "+state, func() error {
		list, err := p.writers.Client().List(t.Context(), nil)
		if err != nil {
			return err
		}
		for _, task := range list.Tasks {
			if id = task.ID; strings.HasPrefix(id, "obj-") && task.State == state {
				return nil
			}
		}
		return fmt.Errorf("%d tasks", len(list.Tasks))
	})
	return id
}

// answer answers the question of the desk.
func (p pair) answer(t *testing.T, root *harness.Task, text string) {
	t.Helper()
	harness.Eventually(t, within, "the answer is taken", func() error {
		_, err := p.desk.Client().Send(t.Context(), harness.Message{ID: "answer-" + text, TaskID: root.ID, Text: text})
		return err
	})
}

// completed checks the end: the letter has come up, and the writers wrote once.
func (p pair) completed(t *testing.T, root, want string) {
	t.Helper()
	task := p.desk.Client().AwaitState(t, within, root, "COMPLETED")
	if len(task.Artifacts) != 1 || task.Artifacts[0].Text != want {
		t.Errorf("the artifacts are %+v, want %q", task.Artifacts, want)
	}
	p.once(t)
}

// once checks that the writers were given the task once.
func (p pair) once(t *testing.T) {
	t.Helper()
	list, err := p.writers.Client().Objectives(t.Context())
	if err != nil || len(list) != 1 {
		t.Errorf("the writers have %d objectives, want 1 (%v)", len(list), err)
	}
}

const asks = "  - {name: Draft, description: 'work 1s; ask Which tone?; say Dear neighbors'}\n"

// The questions of the writers are in the inbox of the desk, and the answers travel down.
// The writers know where the work comes from.
func TestHandoff_questions(t *testing.T) {
	t.Parallel()
	p := newPair(t, "  - {name: Draft, description: 'ask Which tone?; ask How long?; say Dear neighbors'}\n", "")
	p.writers.Start(harness.AllInOne)
	p.desk.Start(harness.AllInOne)
	root := p.desk.Client().AwaitState(t, within, p.begin(t), "INPUT_REQUIRED")
	if want := "Agent writers asks: Which tone?"; root.Gate == nil || root.Gate.Kind != "clarification" || !strings.Contains(root.Message, want) {
		t.Errorf("the desk asks %q at %+v, want %q", root.Message, root.Gate, want)
	}
	remote := test.Value(p.writers.Client().Get(t.Context(), p.remote(t, "INPUT_REQUIRED")))(t)
	if raw := string(remote.Raw); !strings.Contains(raw, "urn:longhaul:handoff:v1") || !strings.Contains(raw, root.ID) {
		t.Errorf("the remote task does not say how it was handed over: %s", raw)
	}
	p.answer(t, root, "friendly")
	p.desk.Client().Await(t, within, root.ID, "asks the second question", func(task *harness.Task) bool {
		return task.State == "INPUT_REQUIRED" && strings.Contains(task.Message, "Agent writers asks: How long?")
	})
	p.answer(t, root, "short")
	p.completed(t, root.ID, "Which tone? friendly\nHow long? short\nDear neighbors")
}

// An approval of the writers is one at the desk, and a rejection there is one here.
func TestHandoff_approval(t *testing.T) {
	t.Parallel()
	p := newPair(t, `  - {name: Draft, description: say Dear neighbors}
  - {name: Check, dependencies: [Draft], human: {approve: "Good?", object: '{{results "Draft"}}'}}
  - {name: Send, dependencies: [Check], description: say Sent}
`, ", no-push: true, no-stream: true")
	p.writers.Start(harness.AllInOne)
	p.desk.Start(harness.AllInOne)
	root := p.desk.Client().AwaitState(t, within, p.begin(t), "INPUT_REQUIRED")
	if root.Gate == nil || root.Gate.Kind != "approval" || !strings.Contains(root.Message, "Agent writers asks: Good?") || !strings.Contains(string(root.Raw), "Dear neighbors") {
		t.Fatalf("the desk shows %s", root.Raw)
	}
	p.desk.Client().MustSend(t.Context(), t, harness.Reply("reject", root.ID, root.Gate.ID, "reject"))
	if failed := p.desk.Client().AwaitState(t, within, root.ID, "FAILED"); !strings.Contains(failed.Message, "Agent writers failed") {
		t.Errorf("the desk says %q", failed.Message)
	}
	p.remote(t, "FAILED")
	p.once(t)
}

// Work that needs an authorization two agents away continues by itself when that agent has
// it, also if a person here says that it was given: the writers look at the other agent, and
// push to the desk. An agent on the official SDK takes no messages meanwhile.
func TestHandoff_authorization(t *testing.T) {
	t.Parallel()
	for _, accepts := range []bool{false, true} {
		authorized := make(chan struct{})
		other := go10(t, false, authorized)
		p := newPair(t, "  - {name: Draft, executor: agent, input: {agent: other, message: auth}}\n", "")
		file := test.File(t, "others.yaml", fmt.Sprintf("agents: {other: {url: '%s', poll: 1s}}\n", other))
		p.writers.Env = append(p.writers.Env, "LONGHAUL_AGENTS="+file)
		p.writers.Start(harness.AllInOne)
		p.desk.Start(harness.AllInOne)
		root := p.desk.Client().AwaitState(t, within, p.begin(t), "AUTH_REQUIRED")
		if root.Gate == nil || root.Gate.Kind != "credential" || !strings.Contains(root.Message, "Log in at https://example.com.") {
			t.Fatalf("the desk shows %s", root.Raw)
		}
		p.remote(t, "AUTH_REQUIRED")
		if accepts {
			p.answer(t, root, "accept")
			p.remote(t, "WORKING")
		}
		close(authorized)
		p.completed(t, root.ID, "Done: auth")
	}
}

// The writers are killed while they work and while they wait for the answer.
func TestHandoff_writersKilled(t *testing.T) {
	t.Parallel()
	p := newPair(t, asks, "")
	w := p.writers.Start(harness.AllInOne)
	p.desk.Start(harness.AllInOne)
	id := p.begin(t)
	p.remote(t, "WORKING")
	w.Kill()
	w = p.writers.Start(harness.AllInOne)
	root := p.desk.Client().AwaitState(t, within, id, "INPUT_REQUIRED")
	w.Kill()
	p.answer(t, root, "friendly")
	p.desk.Client().AwaitState(t, within, id, "WORKING")
	p.writers.Start(harness.AllInOne)
	p.completed(t, id, "Which tone? friendly\nDear neighbors")
}

// The desk is killed while the writers work, while it asks, and right after the answer.
func TestHandoff_deskKilled(t *testing.T) {
	t.Parallel()
	p := newPair(t, asks, "")
	p.writers.Start(harness.AllInOne)
	d := p.desk.Start(harness.AllInOne)
	id := p.begin(t)
	p.remote(t, "WORKING")
	d.Kill()
	p.remote(t, "INPUT_REQUIRED")
	d = p.desk.Start(harness.AllInOne)
	root := p.desk.Client().AwaitState(t, within, id, "INPUT_REQUIRED")
	d.Kill()
	d = p.desk.Start(harness.AllInOne)
	p.answer(t, root, "friendly")
	d.Kill()
	p.desk.Start(harness.AllInOne)
	p.completed(t, id, "Which tone? friendly\nDear neighbors")
}

// Pieces that the writers stream are shown at the desk, and the whole replaces them.
func TestHandoff_stream(t *testing.T) {
	t.Parallel()
	p := newPair(t, "  - {name: Draft, description: stream 8 500ms}\n", ", no-push: true")
	p.writers.Start(harness.AllInOne)
	p.desk.Start(harness.AllInOne)
	id := p.begin(t)
	followed := p.desk.Client().Follow(t.Context(), id, 0)
	_, err := followed.Until(t.Context(), func(e harness.Event) bool {
		return strings.Contains(e.Data, "piece 2 of 8") && !strings.Contains(e.Data, "piece 8 of 8")
	})
	test.OK(t, err)
	want := ""
	for i := range 8 {
		want += fmt.Sprintf("piece %d of 8\n", i+1)
	}
	p.completed(t, id, want)
}

// A cancellation at the desk cancels the task of the writers, and the desk says whether
// that is confirmed.
func TestHandoff_cancel(t *testing.T) {
	t.Parallel()
	for _, down := range []bool{false, true} {
		p := newPair(t, "  - {name: Draft, description: work 1h}\n", "")
		w := p.writers.Start(harness.AllInOne)
		d := p.desk.Start(harness.AllInOne)
		id, want := p.begin(t), "confirmed that it canceled the task"
		p.remote(t, "WORKING")
		if down {
			w.Kill()
			want = "could not confirm it: its state is unknown"
		}
		p.desk.Client().MustCancel(t.Context(), t, id)
		p.desk.Client().AwaitState(t, within, id, "CANCELED")
		task := p.desk.Client().AwaitState(t, within, "task-"+strings.TrimPrefix(id, "obj-")+"-1-0", "CANCELED")
		if !strings.Contains(task.Message, want) {
			t.Errorf("down %t: the canceled task says %q, want %q", down, task.Message, want)
		}
		if !down {
			p.remote(t, "CANCELED")
			p.once(t)
			w.Kill()
		}
		d.Kill()
	}
}
