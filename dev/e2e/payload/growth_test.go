package payload_test

import (
	"database/sql"
	"fmt"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	historypb "go.temporal.io/api/history/v1"
	"google.golang.org/protobuf/proto"

	"longhaul/activities/llm/llmtest"
	"longhaul/dev/e2e/harness"
	"longhaul/internal/test"
	"longhaul/opt"
)

// The notes of the test, 120 KB.
const (
	growthNotes = 30
	growthNote  = 4 << 10
	growthTasks = 20
	growthLegs  = 6 // of the first task, with all notes
)

// growing returns a playbook whose tasks are of a model.
func growing() string {
	var text strings.Builder
	text.WriteString("name: growing\ndescription: Many tasks\ndefault: true\n" +
		"skills: [{id: growing, name: Growing, description: Many tasks, tags: [test], examples: [hello]}]\nplans:\n  - name: Many\n    tasks:\n")
	for n := range growthTasks {
		fmt.Fprintf(&text, "      - {name: Task %d, executor: llm, input: {prompt: hello, maxTurns: 100}}\n", n)
	}
	return text.String()
}

// Every task of a plan works with all notes, and so does each turn of a model. Temporal and the
// journal store them once for the inputs, and once for the memos of the model.
func TestGrowth(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		env  []string
		args []string
	}{{"plain", nil, nil}, {"encrypted", []string{env(oldKey)}, []string{"--encrypt-journal"}}} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			sent := make(chan struct{})
			var heard atomic.Int32 // turns with all notes
			model := llmtest.New(t, func(n int, r llmtest.Request) llmtest.Turn {
				all := checkHeard(t, n, r)
				switch {
				case n == 0:
					return llmtest.Turn{Stall: func() bool { <-sent; return false }}
				case !all || heard.Add(1) < growthLegs: // after an empty answer there is another turn
					return llmtest.Turn{}
				}
				return llmtest.Turn{Text: []string{"done"}}
			})
			dir := t.TempDir()
			models := harness.WriteFile(t, dir, "models.yaml", fmt.Sprintf("models:\n  main: {provider: openai, url: %q, model: scripted}\n", model.URL+"/v1"))
			site := harness.NewSite(t, harness.Dev, append([]string{"--playbooks", harness.WriteFile(t, dir, "growing.yaml", growing()), "--models", models}, tt.args...)...)
			site.Env = tt.env
			server := site.Start(harness.AllInOne)
			c := site.Client()
			task := c.MustSendUntil(t.Context(), t, harness.Message{ID: "request", Text: "hello"})
			for n := range growthNotes {
				text := fmt.Sprintf("note-%d. %s", n, strings.Repeat("x", growthNote))
				c.MustSendUntil(t.Context(), t, harness.Message{ID: fmt.Sprint("note-", n), TaskID: task.ID, Text: text})
			}
			close(sent)
			c.AwaitState(t, 2*time.Minute, task.ID, "COMPLETED")
			test.Is(t, "turns had all notes", growthTasks+growthLegs-1, heard.Load())
			all, _ := histories(t, site)
			server.Stop()
			inline, stored := runBytes(all[opt.PlanID(task.ID, 1)]), blobBytes(t, site)
			t.Logf("%d bytes in the history and %d in blobs, of %d notes with %d bytes", inline, stored, growthNotes, growthNotes*growthNote)
			if inline+stored > 4*growthNotes*growthNote {
				t.Errorf("the inputs and outcomes of %d tasks take %d bytes in the history and %d in blobs", growthTasks, inline, stored)
			}
		})
	}
}

// checkHeard reports whether a turn of the model has all notes. None may be there twice.
func checkHeard(t *testing.T, turn int, r llmtest.Request) bool {
	heard := 0
	for n := range growthNotes {
		got := strings.Count(r.Body, fmt.Sprintf("note-%d.", n))
		if heard += got; got > 1 {
			t.Errorf("turn %d has note %d %d times", turn, n, got)
		}
	}
	return heard == growthNotes
}

// runBytes returns the size of the inputs and the results of Run in a history.
func runBytes(h *historypb.History) (n int) {
	runs := map[int64]bool{}
	for _, e := range h.GetEvents() {
		if s := e.GetActivityTaskScheduledEventAttributes(); s.GetActivityType().GetName() == "Run" {
			runs[e.GetEventId()] = true
			n += proto.Size(s.GetInput())
		}
		if c := e.GetActivityTaskCompletedEventAttributes(); runs[c.GetScheduledEventId()] {
			n += proto.Size(c.GetResult())
		}
	}
	return n
}

// blobBytes returns the size of all blobs in the journal.
func blobBytes(t *testing.T, site *harness.Site) (n int) {
	t.Helper()
	db := test.Value(sql.Open("sqlite", "file:"+filepath.Join(site.Dir, "journal.db")))(t)
	defer db.Close()
	test.OK(t, db.QueryRow("SELECT COALESCE(SUM(LENGTH(data)), 0) FROM blobs").Scan(&n))
	return n
}
