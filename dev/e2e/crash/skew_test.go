package crash_test

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"syscall"
	"testing"
	"time"

	"go.temporal.io/sdk/client"

	"longhaul/dev/binary"
	"longhaul/dev/e2e/harness"
	"longhaul/internal/test"
	"longhaul/workflows"
)

// oldCommit is the youngest one whose program knows neither the usage of models (rules 7, migration 18) nor plans
// that wait with their reports (rules 8).
var oldCommit = flag.String("old", "ff3724756f74658334292bc97a447f2e2c83d3de", "commit or tag of the older program of TestSkew, with -lives")

// Workers and API are replaced by those of another version while clients compete, one at a time and in any order:
// by newer ones, back, and by newer ones again. Each may be killed in between.
func TestSkew(t *testing.T) { live(t, map[string]func(*life, *testing.T){"skew": (*life).deploy}) }

// versions returns two versions: of a short life the present program, and a newer one that is made of it; of a long
// life an older program, and the present one.
func (l *life) versions(t *testing.T, present string) (old, young version) {
	if !l.long {
		return version{"present", present}, version{"next", next(t)}
	}
	built := test.Value(binary.At(*oldCommit, harness.Crashable))(t)
	return version{"old", built}, version{"present", present}
}

// next builds the program with one more version of the rules, by which the first events of a plan never ride in the
// activity of its first task, and with one more table.
func next(t *testing.T) string {
	files := plant(t, []bug{
		{name: "newer rules", file: "opt/machine/objective.go", from: "const Rules = ", to: "const Rules = 1 + "},
		{name: "a rule", file: "opt/machine/plan_state.go", from: "s.Rules >= rulesSoon &&", to: "s.Rules >= rulesSoon && s.Rules < Rules &&"},
	})
	for _, dialect := range []string{"sqlite", "postgres"} {
		files[bug{file: "internal/journal/db/migrations/9999_next." + dialect + ".sql"}.path(t)] = "CREATE TABLE next (n BIGINT NOT NULL PRIMARY KEY);"
	}
	return build(t, files)
}

// deploy replaces members of a fleet that has begun with old ones. At the end all are new.
func (l *life) deploy(t *testing.T) {
	w := newWorld(t)
	old, young := l.versions(t, w.site.Binary())
	w.site.Use(old.binary)
	d := &deployment{fleet: newFleet(w, newMachineRoads(t), func(string) []string { return nil }), runs: map[string]version{}, to: young, from: old}
	if l.long { // the old program does not give back what it cannot continue: it is tried again after pauses that grow to ten
		w.patience, d.patience = 12*time.Minute, 12*time.Minute
	}
	for _, m := range members {
		d.runs[m.name] = old
	}
	w.site.Use(young.binary)
	w.site.Run("migrate")
	if !l.long {
		d.handOver(old, young)
	}
	d.calm = func() {
		for _, m := range members {
			if d.runs[m.name] != young {
				d.replace(m, young)
			}
		}
	}
	d.endure(l, time.Duration(l.pick(8, 90))*time.Second, func(ctx context.Context, r *rand.Rand) {
		if m := members[r.IntN(len(members))]; r.IntN(3) == 0 {
			d.replace(m, d.runs[m.name])
		} else {
			d.step(r)
		}
		wait(ctx, between(r, 0, time.Duration(l.pick(1, 3))*time.Second))
	})
}

// handOver has old workers continue what new ones have begun by rules that both know, and new ones what old ones have
// refused, though they were the only ones.
func (d *deployment) handOver(old, young version) {
	d.t.Helper()
	d.replaceAll(harness.Worker, young)
	d.approve(1000, old)
	d.refuseSoon()
	d.replaceAll(harness.API, young)
	d.approve(1001, young)
	d.to, d.from = old, young
}

// approve begins an objective that waits at a gate, gives all workers a version, and answers.
func (d *deployment) approve(n int, v version) {
	d.t.Helper()
	ctx := d.w.ctx()
	plan := harness.NewPlan("plan", "say first", "approve Go on?; "+say(n))
	f, err := d.w.begin(ctx, harness.Message{ID: id(n), Text: "handed over", Plan: plan}, completes(n))
	test.OK(d.t, err)
	if v == d.from { // old workers shall find it begun
		_, err = f.UntilState(ctx, "INPUT_REQUIRED")
		test.OK(d.t, err)
	}
	d.replaceAll(harness.Worker, v)
	test.OK(d.t, d.w.answer(ctx, f, planTask(f.TaskID, 1, 1), 1, decide("accept")))
	_, err = f.UntilState(ctx, "COMPLETED")
	test.OK(d.t, err)
}

// refuseSoon starts a run that is too new for all workers, and waits until it was refused several times. If they did
// not give it back, Temporal would wait for them longer than the test does.
func (d *deployment) refuseSoon() {
	d.t.Helper()
	c := d.w.temporal(d.t)
	defer c.Close()
	ctx, o := d.w.ctx(), client.StartWorkflowOptions{ID: "too new", TaskQueue: workflows.TaskQueue, WorkflowTaskTimeout: 2 * time.Minute}
	_, err := c.ExecuteWorkflow(ctx, o, workflows.Context, workflows.ContextInput{Tenant: "default", ContextID: "too new", Rules: 1 << 20})
	test.OK(d.t, err)
	harness.Eventually(d.t, within, "a workflow is refused", func() error {
		w, err := c.DescribeWorkflowExecution(ctx, o.ID, "")
		if n := w.GetPendingWorkflowTask().GetAttempt(); err == nil && n < 4 {
			err = fmt.Errorf("attempt %d", n)
		}
		return err
	})
	test.OK(d.t, c.TerminateWorkflow(ctx, o.ID, "", "It is too new."))
}

// replaceAll gives a version to all members that run a command.
func (d *deployment) replaceAll(command string, v version) {
	d.t.Helper()
	for _, m := range members {
		if m.command == command {
			d.replace(m, v)
		}
	}
}

// A version of the program.
type version struct{ name, binary string }

// A deployment replaces the members of a fleet.
type deployment struct {
	*fleet
	runs     map[string]version // by member
	to, from version
	left     []member // that have not got to
}

// step gives the next version to one more member. After the last one, all get the version before.
func (d *deployment) step(r *rand.Rand) {
	if len(d.left) == 0 {
		d.left = slices.DeleteFunc(slices.Clone(members), func(m member) bool { return d.runs[m.name] == d.to })
		r.Shuffle(len(d.left), func(i, j int) { d.left[i], d.left[j] = d.left[j], d.left[i] })
	}
	m := d.left[0]
	if r.IntN(2) == 0 {
		test.OK(d.t, d.running[m.name].Process.Stop(syscall.SIGTERM, time.Minute))
	}
	d.replace(m, d.to)
	if d.left = d.left[1:]; len(d.left) == 0 {
		d.to, d.from = d.from, d.to
	}
}

// replace kills a member if it runs, and starts it in a version.
func (d *deployment) replace(m member, v version) {
	d.t.Logf("%s becomes %s", m.name, v.name)
	d.runs[m.name] = v
	d.w.site.Use(v.binary)
	d.fleet.replace(m)
}
