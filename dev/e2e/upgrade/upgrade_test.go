// Package upgrade_test replaces the workers under work that waits for people: by a newer
// version, and back. Plans end with the version that began them, and no task runs twice.
package upgrade_test

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"longhaul/dev/e2e/harness"
	"longhaul/internal/test"
)

const within = 5 * time.Minute

// objectives is how many objectives the drill has, a third of them for each step.
var objectives = flag.Int("objectives", 60, "objectives in the drill")

// A drill is an installation whose workers are replaced.
type drill struct {
	*testing.T
	site    *harness.Site
	client  *harness.Client
	ran     string            // the file with the tasks that have run
	gates   map[string]string // of objectives that wait, by root task
	expects map[string]string // the version that has to do the work, by root task
}

func newDrill(t *testing.T) *drill {
	t.Helper()
	path := test.Value(filepath.Abs("playbook.yaml"))(t)
	site := harness.NewSite(t, harness.Dev, "--playbooks", path)
	site.Start(harness.Temporal)
	site.Start(harness.API)
	return &drill{t, site, site.Client(), filepath.Join(t.TempDir(), "ran"), map[string]string{}, map[string]string{}}
}

// worker starts a worker of a version, "" for one without. Its work notes the task, and
// results in the name of the version.
func (d *drill) worker(version string) *harness.Process {
	d.Helper()
	commands := filepath.Join(d.TempDir(), "commands.yaml")
	script := fmt.Sprintf(`echo "$LONGHAUL_TASK_ID" >> %s; printf %%s "%s"`, d.ran, version)
	test.OK(d, os.WriteFile(commands, []byte("commands:\n  work:\n    run: [/bin/sh, -c, '"+script+"']\n"), 0o600))
	env := []string{"LONGHAUL_COMMANDS=" + commands}
	if version != "" {
		env = append(env, "LONGHAUL_DEPLOYMENT=drill", "LONGHAUL_BUILD_ID="+version)
	}
	return d.site.Start(harness.Worker, env...)
}

// deployment runs "longhaul deployment" and returns its output.
func (d *drill) deployment(args ...string) string {
	d.Helper()
	return d.site.Run(slices.Concat([]string{"deployment"}, args, []string{"--deployment", "drill", "--temporal-addr", d.site.TemporalAddr})...)
}

// promote makes a version the current one, as soon as Temporal knows its workers.
func (d *drill) promote(version string) {
	d.Helper()
	harness.Eventually(d, within, "Temporal knows the workers of "+version, func() error {
		cmd := exec.CommandContext(d.Context(), d.site.Binary(), "deployment", "promote", version, "--deployment", "drill", "--temporal-addr", d.site.TemporalAddr)
		out, err := cmd.CombinedOutput()
		if err != nil {
			err = fmt.Errorf("%w: %s", err, out)
		}
		return err
	})
	if got := d.deployment("list"); !strings.Contains(got, version) || !strings.Contains(got, "current") {
		d.Errorf("the list of versions:\n%s", got)
	}
}

// begin starts n objectives that wait for a person. A version has to do the rest.
func (d *drill) begin(n int, version string) (ids []string) {
	d.Helper()
	for i := range n {
		task := d.client.MustSendUntil(d.Context(), d, harness.Message{ID: fmt.Sprintf("%d-%d", len(d.expects), i), Text: "go"})
		ids = append(ids, task.ID)
		d.expects[task.ID] = version
	}
	for _, id := range ids {
		d.gates[id] = d.client.AwaitGate(d, within, id).TaskID
	}
	return ids
}

// finish answers objectives, and checks that they complete with the work of the right
// version.
func (d *drill) finish(ids []string) {
	d.Helper()
	for _, id := range ids {
		d.client.MustSendUntil(d.Context(), d, harness.Message{ID: "go-" + id, TaskID: d.gates[id], Text: "yes"})
	}
	for _, id := range ids {
		test.Is(d, fmt.Sprintf("the work of %s was done by", id), d.expects[id], artifacts(d.client.AwaitState(d, within, id, "COMPLETED")))
	}
}

// artifacts returns the last text that a task made.
func artifacts(task *harness.Task) (text string) {
	for _, a := range task.Artifacts {
		text = a.Text
	}
	return text
}

// once checks that each objective has run its task exactly once.
func (d *drill) once() {
	d.Helper()
	data := harness.ReadFile(d, d.ran)
	times := map[string]int{}
	for line := range strings.FieldsSeq(string(data)) {
		times[line]++
	}
	for task, n := range times {
		test.Is(d, fmt.Sprintf("%s ran times", task), 1, n)
	}
	test.Is(d, "tasks ran", len(d.expects), len(times))
}

// Workers go from v1 to v2 and back to v1 while objectives wait for people. Each plan is
// finished by the version that began it, and the others run beside it.
func TestDrill(t *testing.T) {
	t.Parallel()
	d := newDrill(t)
	n := *objectives / 3
	began := time.Now()
	d.worker("v1")
	d.promote("v1")
	first := d.begin(n, "v1")
	d.worker("v2")
	d.promote("v2")
	second := d.begin(n, "v2")
	d.finish(first[:n/2])
	d.promote("v1") // v2 was a mistake
	third := d.begin(n, "v1")
	d.finish(first[n/2:])
	d.finish(third)
	d.finish(second)
	d.once()
	t.Logf("%d objectives in %v", 3*n, time.Since(began).Round(time.Second))
}

// The plans of a version whose workers are gone are moved to another one.
func TestMove(t *testing.T) {
	t.Parallel()
	d := newDrill(t)
	gone := d.worker("v1")
	d.promote("v1")
	ids := d.begin(5, "v2")
	d.worker("v2")
	d.promote("v2")
	gone.Stop()
	harness.Eventually(t, within, "the list has the plans", func() error {
		if got := d.deployment("list"); !strings.Contains(got, "needed by its plans  5") {
			return fmt.Errorf("the list:\n%s", got)
		}
		return nil
	})
	test.Is(t, "it says", "5 open plans of v1 continue with v2.\n", d.deployment("move", "v1", "v2"))
	d.finish(ids)
	d.once()
}

// Work that began without versions continues with the first version that is promoted.
func TestFirstVersion(t *testing.T) {
	t.Parallel()
	d := newDrill(t)
	before := d.worker("")
	ids := d.begin(5, "v1")
	d.worker("v1")
	d.promote("v1")
	before.Stop()
	d.finish(ids)
	d.finish(d.begin(5, "v1"))
	d.once()
}
