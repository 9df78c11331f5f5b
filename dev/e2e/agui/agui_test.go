// Package agui_test has the official client of AG-UI, unchanged, run work at the service while
// its process is killed, and CopilotKit.
package agui_test

import (
	"bufio"
	"io"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"longhaul/dev/e2e/harness"
	"longhaul/internal/test"
)

const book = `name: asks
default: true
skills: [{id: asks, name: N, description: D, tags: [t]}]
plans:
- name: P
  tasks:
  - {name: Draft, executor: echo, description: stream 3 10ms; say A draft}
  - {name: Slow, executor: echo, description: work 2s; say slow}
  - name: Approve
    human: {approve: "Go on?", wait: [{after: 1h, do: expire, action: reject}]}
  - name: Details
    human: {questions: [{id: n, question: "How many?", schema: {type: integer, minimum: 1}}]}
  - {name: Final, executor: echo, description: say All done}
`

// newSite returns a site with the work of book, which runs.
func newSite(t *testing.T) (*harness.Site, *harness.Process) {
	site := harness.NewSite(t, harness.Dev)
	site.Env = []string{"LONGHAUL_PLAYBOOKS=" + test.File(t, "book.yaml", book)}
	return site, site.Start(harness.AllInOne)
}

// play runs a scenario of the program in dir. At the line "kill" the process is killed and started again.
func play(t *testing.T, site *harness.Site, p *harness.Process, dir, scenario string) {
	t.Helper()
	program := filepath.Join(harness.NodeProgram(t, dir, filepath.Join(dir, "main.mjs")), "main.mjs")
	cmd := exec.CommandContext(t.Context(), "node", program, site.URL()+"/agui", scenario)
	var complaints strings.Builder
	cmd.Stderr = &complaints
	in, out := harness.Start(t, cmd)
	done := false
	for lines := bufio.NewScanner(out); lines.Scan(); {
		switch lines.Text() {
		case "kill":
			p.Kill()
			p = site.Start(harness.AllInOne)
			_, _ = io.WriteString(in, "again\n")
		case "done":
			done = true
		}
	}
	if err := cmd.Wait(); err != nil || !done {
		t.Fatalf("the client: %v\n%s", err, &complaints)
	}
}

// A run is shown, answered and shown again, over a kill of the process.
func TestClient(t *testing.T) {
	t.Parallel()
	site, p := newSite(t)
	play(t, site, p, "js", "all")
	list, err := site.Client().Objectives(t.Context())
	if err != nil || len(list) != 1 {
		t.Errorf("%d objectives, %v: want the one of the run that was repeated", len(list), err)
	}
}

// A run continues after the last event that its client has.
func TestContinues(t *testing.T) {
	t.Parallel()
	site, p := newSite(t)
	play(t, site, p, "js", "cut")
}

// The runtime of CopilotKit has the service as its agent, and its client answers gates.
func TestCopilotKit(t *testing.T) {
	t.Parallel()
	site, p := newSite(t)
	play(t, site, p, "copilot", "all")
}
