// Package rebuild_test loses the journal of a running service, and rebuilds it from
// Temporal.
package rebuild_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"longhaul/dev/e2e/harness"
	"longhaul/internal/journal"
	"longhaul/internal/seal"
	"longhaul/internal/test"
	"longhaul/opt"
	"longhaul/opt/shown"
)

const (
	within  = 60 * time.Second
	request = "Please do it" // the text of messages
)

// A world is a service with work of every kind.
type world struct {
	*testing.T
	site  *harness.Site
	c     *harness.Client
	tasks []string // root tasks
	gates []string // those that wait at a gate
}

func newWorld(t *testing.T, env ...string) *world {
	site := harness.NewSite(t, harness.Dev, "--max-events", "100")
	site.Env = env
	return &world{T: t, site: site, c: site.Client()}
}

// send sends a message, and waits until its task is in a state.
func (w *world) send(m harness.Message, state string) {
	w.Helper()
	if m.Text == "" {
		m.Text = request
	}
	task, err := w.c.SendUntil(w.Context(), m)
	if err != nil {
		w.Fatalf("send %s: %v", m.ID, err)
	}
	w.tasks = append(w.tasks, task.ID)
	w.c.AwaitState(w.T, within, task.ID, state)
	if state == "INPUT_REQUIRED" {
		w.gates = append(w.gates, task.ID)
	}
}

// work begins work of every kind.
func (w *world) work() {
	long := make([]string, 25)
	for i := range long {
		long[i] = fmt.Sprintf("say %d", i)
	}
	w.send(harness.Message{ID: "plain", Plan: harness.NewPlan("plain", "say one", "say two")}, "COMPLETED")
	w.send(harness.Message{ID: "parallel", Plan: harness.NewPlan("parallel", "say a", "say b", "say c", "say d").Unordered()}, "COMPLETED")
	w.send(harness.Message{ID: "streams", Plan: harness.NewPlan("streams", "stream 20 1ms", "say done")}, "COMPLETED")
	w.send(harness.Message{ID: "fails", Plan: harness.NewPlan("fails", "fail")}, "FAILED")
	w.send(harness.Message{ID: "long", Plan: harness.NewPlan("long", long...)}, "COMPLETED")
	w.send(harness.Message{ID: "large", Plan: harness.NewPlan("large", "say small"), Text: strings.Repeat("large ", 10_000)}, "COMPLETED")
	w.send(harness.Message{ID: "plans", Plans: []*harness.Plan{harness.NewPlan("first", "say 1"), harness.NewPlan("second", "approve second; say 2")}}, "INPUT_REQUIRED")
	w.send(harness.Message{ID: "gate", Plan: harness.NewPlan("gate", "say before", "approve it; say approved")}, "INPUT_REQUIRED")
	w.send(harness.Message{ID: "queued", ContextID: "shared", Plan: harness.NewPlan("queued", "approve first; say first")}, "INPUT_REQUIRED")
	w.send(harness.Message{ID: "behind", ContextID: "shared", Plan: harness.NewPlan("behind", "say second")}, "SUBMITTED")
	w.send(harness.Message{ID: "parts", Plan: harness.NewPlan("parts", slices.Concat(long, []string{"approve parts; say end"})...)}, "INPUT_REQUIRED")
}

// finish answers all gates, and waits until everything has ended.
func (w *world) finish() {
	w.Helper()
	for i, id := range w.gates {
		task, err := w.c.Get(w.Context(), id)
		if err != nil || task.Gate == nil {
			w.Fatalf("%s: no gate: %v", id, err)
		}
		if _, err := w.c.SendUntil(w.Context(), harness.Reply(fmt.Sprint("reply-", i), id, task.Gate.ID, "accept")); err != nil {
			w.Fatalf("answer %s: %v", id, err)
		}
	}
	for _, id := range w.tasks {
		w.c.AwaitEnd(w.T, within, id)
	}
}

// run runs a command of the journal and returns what it prints.
func (w *world) run(command string, out any) (failed bool) {
	w.Helper()
	args := []string{"journal", command, "--data-dir", w.site.Dir, "--json"}
	cmd := exec.CommandContext(w.Context(), harness.Build(w.T, harness.Dev), append(args, "--temporal-addr", w.site.TemporalAddr)...)
	cmd.Env = append(os.Environ(), w.site.Env...)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	text, err := cmd.Output()
	if err := json.Unmarshal(text, out); err != nil {
		w.Fatalf("journal %s: %v\n%s%s", command, err, text, stderr.String())
	}
	return err != nil
}

// A summary is what the commands print.
type summary struct {
	Objectives, Equal, Restored, Events, Found, Rewound int
	Problems                                            []struct{ ObjectiveID, Kind, Detail string }
}

func (s summary) kinds() (kinds []string) {
	for _, p := range s.Problems {
		kinds = append(kinds, p.Kind)
	}
	return kinds
}

// lose removes the journal, and returns the path of a copy.
func (w *world) lose() string {
	w.Helper()
	kept := filepath.Join(w.TempDir(), "journal.db")
	for _, end := range []string{"", "-wal", "-shm"} {
		name := filepath.Join(w.site.Dir, "journal.db"+end)
		data, err := os.ReadFile(name)
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		test.OK(w, errors.Join(err, os.WriteFile(kept+end, data, 0o600), os.Remove(name)))
	}
	return kept
}

// A journal that is lost while nothing runs is rebuilt, and shows the same. It is
// encrypted if the lost one was.
func TestRebuild(t *testing.T) {
	t.Run("plain", func(t *testing.T) { testRebuild(t, true) })
	t.Run("encrypted", func(t *testing.T) { testRebuild(t, false, "LONGHAUL_ENCRYPT_JOURNAL=true") })
}

func testRebuild(t *testing.T, readable bool, env ...string) {
	w := newWorld(t, env...)
	p := w.site.Start(harness.AllInOne)
	w.work()
	var s summary
	if w.run("verify", &s) || s.Found > 0 || s.Equal != len(w.tasks) {
		t.Errorf("before: %+v, want %d equal objectives", s, len(w.tasks))
	}
	shown := w.shown()
	events := test.Value(w.c.All(t.Context(), w.tasks[0], 0))(t)
	p.Stop()
	kept := w.lose()

	temporal := w.site.Start(harness.Temporal)
	if failed := w.run("rebuild", &s); !failed || s.Restored != len(w.tasks) || !slices.Equal(s.kinds(), []string{"lost-contents"}) {
		t.Errorf("rebuilt: %+v, want %d objectives, one without its large content", s, len(w.tasks))
	}
	if failed := w.run("verify", &s); failed || s.Equal != len(w.tasks) {
		t.Errorf("verified: %+v, want %d equal objectives", s, len(w.tasks))
	}
	if failed := w.run("rebuild", &s); failed || s.Events != 0 {
		t.Errorf("rebuilt again: %+v, want nothing", s)
	}
	w.compare(kept)
	w.keeps(readable)
	temporal.Stop()

	w.site.Start(harness.AllInOne)
	w.compact()
	w.keeps(readable)
	for id, before := range shown {
		if diff := cmp.Diff(before, w.shown()[id]); diff != "" && !strings.Contains(diff, "content are lost") {
			t.Errorf("%s (-before +rebuilt):\n%s", id, diff)
		}
	}
	w.resumes(w.gates[0], events[len(events)-1].ID)
	w.finish()
	if w.run("verify", &s) || s.Equal != len(w.tasks) {
		t.Errorf("in the end: %+v, want %d equal objectives", s, len(w.tasks))
	}
}

// keeps checks whether the files of the journal have the text of messages.
func (w *world) keeps(readable bool) {
	w.Helper()
	found := false
	for _, end := range []string{"", "-wal"} {
		data, err := os.ReadFile(filepath.Join(w.site.Dir, "journal.db"+end))
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			w.Fatal(err)
		}
		found = found || bytes.Contains(data, []byte(request))
	}
	if found != readable {
		w.Errorf("the text of messages is readable in the files of the journal: %t", found)
	}
}

// compact gives free space of the journal back.
func (w *world) compact() {
	w.Helper()
	w.site.Run("journal", "compact", "--data-dir", w.site.Dir)
}

// A lost journal is rebuilt while work runs.
func TestRebuild_whileWorkRuns(t *testing.T) {
	w := newWorld(t)
	p := w.site.Start(harness.AllInOne)
	w.work()
	for i := range 3 {
		w.send(harness.Message{ID: fmt.Sprint("runs-", i), Plan: harness.NewPlan("runs", "work 2s", "stream 300 10ms", "say done")}, "WORKING")
	}
	p.Kill()
	w.lose()
	w.site.Start(harness.AllInOne)
	var s summary
	if w.run("rebuild", &s); s.Restored != len(w.tasks) {
		t.Errorf("rebuilt: %+v, want %d objectives", s, len(w.tasks))
	}
	w.finish()
	if w.run("verify", &s) || s.Equal != len(w.tasks) {
		t.Errorf("in the end: %+v, want %d equal objectives", s, len(w.tasks))
	}
}

// shown returns what clients see of all tasks.
func (w *world) shown() map[string]string {
	w.Helper()
	out := map[string]string{}
	for _, id := range w.tasks {
		task, err := w.c.Get(w.Context(), id)
		if err != nil {
			w.Errorf("get %s: %v", id, err)
			continue
		}
		out[id] = string(task.Raw)
	}
	return out
}

// resumes checks that a client that resumes with a number from the lost journal gets
// the task, and not another event.
func (w *world) resumes(id string, after int64) {
	w.Helper()
	ctx, cancel := context.WithTimeout(w.Context(), within)
	defer cancel()
	stream, err := w.c.Subscribe(ctx, id, after)
	if err != nil {
		w.Fatalf("resume %s: %v", id, err)
	}
	defer stream.Close()
	first, err := stream.Next()
	if err != nil && !errors.Is(err, io.EOF) || first.Task() == nil {
		w.Errorf("resume %s after event %d: %s, error %v; want the task", id, after, first.Data, err)
	}
}

// compare compares the rebuilt journal with a copy of the former one.
func (w *world) compare(kept string) {
	w.Helper()
	before, now := w.open(kept), w.open(filepath.Join(w.site.Dir, "journal.db"))
	for _, id := range w.tasks {
		old := test.Value(before.Objective(w.Context(), "default", id))(w)
		got, err := now.Objective(w.Context(), "default", id)
		if err != nil {
			w.Errorf("%s: %v", id, err)
			continue
		}
		test.Equal(w, fmt.Sprintf("objective %s", old.Name), old, got)
		ids := []string{id}
		for _, p := range old.Plans {
			for _, t := range p.Tasks {
				ids = append(ids, t.A2AID())
			}
		}
		for _, id := range ids {
			test.Equal(w, fmt.Sprintf("%s of %s", id, old.Name), view(w, before, id), view(w, now, id), cmpopts.EquateEmpty())
		}
		test.Equal(w, fmt.Sprintf("events of %s", old.Name), facts(w, before, old.ID), facts(w, now, old.ID))
	}
}

func (w *world) open(path string) *journal.Journal {
	w.Helper()
	keys := test.Value(seal.File(filepath.Join(w.site.Dir, "secret.key")))(w)
	box := test.Value(seal.New(keys...))(w)
	j := test.Value(journal.Open(w.Context(), journal.Config{Path: path, Sealer: box}))(w)
	w.Cleanup(func() { _ = j.Close() })
	return j
}

// view returns a task without its number, which is another one.
func view(w *world, j *journal.Journal, id string) shown.TaskView {
	w.Helper()
	v, err := j.Task(w.Context(), "default", id, shown.TaskWant{History: -1, Artifacts: true})
	if err != nil {
		w.Error(err)
	}
	v.Seq = 0
	return v
}

// facts returns the events of an objective without the pieces of artifacts. Their order
// counts within each source alone: work at the same time may have been recorded in
// another one.
func facts(w *world, j *journal.Journal, id string) (list []string) {
	w.Helper()
	events, err := j.Events(w.Context(), id, 0, 0)
	if err != nil {
		w.Error(err)
	}
	for _, e := range events {
		if e.Event.Kind != opt.ArtifactAdded {
			list = append(list, fmt.Sprintf("%s%s %d %s %s → %s %v", e.Event.PlanID, e.Event.TaskID, e.Event.N, e.Event.Kind, e.Event.From, e.Event.To, e.Event.At))
		}
	}
	slices.Sort(list)
	return list
}
