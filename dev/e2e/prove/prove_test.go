// Package prove_test runs "longhaul prove" on Longhaul and on the official servers.
package prove_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"longhaul/dev/e2e/harness"
	"longhaul/internal/pgserver"
	"longhaul/internal/prove"
	"longhaul/internal/test"
)

// run runs prove on a server that command starts at the address of site, and returns its
// scorecard.
func run(t *testing.T, site *harness.Site, command string) *prove.Scorecard {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, harness.Build(t, harness.Dev), "prove", site.URL(), "--run", command,
		"--rounds", "1", "--tasks", "10", "--json", "-", "--log", filepath.Join(t.TempDir(), "server.log"),
		"--message", "work 300ms; stream 6 100ms; say {token}")
	var out, notes bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &notes
	err := cmd.Run()
	var card prove.Scorecard
	if bad := json.Unmarshal(out.Bytes(), &card); bad != nil {
		t.Fatalf("prove: %v, and no scorecard: %v\n%s", err, bad, notes.String())
	}
	if (err == nil) != card.Clean() {
		t.Errorf("prove ended with %v, and its scorecard is clean: %t", err, card.Clean())
	}
	for _, e := range card.Experiments {
		t.Logf("%s: %+v, %+v", e.Name, e.Recovery, e.Checks)
	}
	return &card
}

// Nothing that Longhaul has acknowledged is lost, repeated or out of order when it is
// killed, restarted and cut off.
func TestProve_longhaul(t *testing.T) {
	t.Parallel()
	site := harness.NewSite(t, harness.Dev)
	card := run(t, site, fmt.Sprintf("exec %s dev --addr %s --temporal-addr %s --temporal-ui-addr '' --data-dir %s --allow-private-egress",
		harness.Build(t, harness.Dev), site.Addr, site.TemporalAddr, site.Dir))
	for _, f := range card.Findings {
		t.Errorf("%s, %s in %s: task %s: %s", f.Check, f.Kind, f.Experiment, f.TaskID, f.Seen)
	}
	for _, check := range card.Checks {
		if n := card.Of(check.Name); n.Cases == 0 {
			t.Errorf("%q was not checked: %s", check.Title, n.Skipped)
		}
	}
}

// The official JavaScript server keeps its tasks in a database: a kill loses none of them, and the work that it
// has interrupted does not continue.
func TestProve_officialDatabase(t *testing.T) {
	t.Parallel()
	dir := harness.NodeProgram(t, "../official/js", "../official/js/main.mjs", "../official/js/kit.json")
	server := test.Value(pgserver.Start(t.Context(), "fsync=off"))(t)
	t.Cleanup(func() { _ = server.Close() })
	test.OK(t, server.Create(t.Context(), "a2a"))
	out, err := exec.CommandContext(t.Context(), "node", filepath.Join(dir, "node_modules/.bin/a2a-db"), "upgrade", "--url", server.URL("a2a")).CombinedOutput()
	if err != nil {
		t.Fatalf("make the tables: %v\n%s", err, out)
	}
	site := harness.NewSite(t, harness.Dev)
	_, port, _ := strings.Cut(site.Addr, ":")
	card := run(t, site, fmt.Sprintf("exec node %s %s '%s'", filepath.Join(dir, "main.mjs"), port, server.URL("a2a")))
	for _, e := range card.Experiments {
		if n := e.Checks["accepted"]; n.Cases == 0 || !n.Clean() {
			t.Errorf("%s: accepted: %+v, want none lost", e.Name, n)
		}
		if n := e.Checks["finished"]; (e.Recovery != nil) != (n.Lost > 0) {
			t.Errorf("%s: finished: %+v, want work lost with the process alone", e.Name, n)
		}
	}
}

// The official server keeps its tasks in memory: prove has to see that a kill loses them
// all, and that during a rebuild no event is lost and streams are complete.
func TestProve_official(t *testing.T) {
	t.Parallel()
	site := harness.NewSite(t, harness.Dev)
	card := run(t, site, fmt.Sprintf("exec %s --addr %s", harness.Build(t, "longhaul/dev/e2e/official/server"), site.Addr))
	for _, e := range card.Experiments {
		n := e.Checks["accepted"]
		if e.Recovery == nil && n.Lost > 0 {
			t.Errorf("%s: %d tasks are lost though the server ran", e.Name, n.Lost)
		}
		if e.Recovery != nil && n.Lost == 0 {
			t.Errorf("%s: no task is lost though they were in memory", e.Name)
		}
	}
	if n := card.Of("streams"); n.Cases == 0 || !n.Clean() {
		t.Errorf("streams: %+v, want whole ones", n)
	}
}
