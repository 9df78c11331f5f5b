package compose_test

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"longhaul/dev/e2e/harness"
	"longhaul/dev/topology"
)

const (
	slots = 5   // tasks that one worker runs at a time
	jobs  = 60  // tasks of the first tenant
	few   = 5   // of the second
	job   = 800 // milliseconds that a task waits
)

// Four workers run four times as many tasks at a time as one, and all of them together
// end nearly four times as soon. A tenant with a few tasks does not wait for those of
// another one that has begun many.
func TestScale(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	tally := filepath.Join(t.TempDir(), "tally")
	top, err := topology.Start(ctx, topology.Options{
		Env: map[string][]string{topology.Longhaul: {
			"LONGHAUL_FALLBACK=echo", "LONGHAUL_AUTH=keys", "LONGHAUL_ALLOW_ANYONE=false", fmt.Sprint("LONGHAUL_MAX_TASKS=", slots), "VICTIM_TALLY=" + tally,
		}},
		Packages: map[string]string{"longhaul": harness.Victim}, Log: t.Output(),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { must(t, top.Stop()) })
	url := "http://" + top.Addr("proxy", 7420)
	large, small := tenant(t, top, url, "large"), tenant(t, top, url, "small")

	one := run(ctx, t, large, "one", jobs)
	if busy := mostAtATime(t, tally, 0); busy > slots {
		t.Errorf("one worker ran %d tasks at a time, want at most %d", busy, slots)
	}
	must(t, top.Scale(ctx, "worker", 4))
	before := len(lines(t, tally))
	four := run(ctx, t, large, "four", jobs)
	if busy := mostAtATime(t, tally, before); busy <= 2*slots || busy > 4*slots {
		t.Errorf("four workers ran %d tasks at a time, want more than %d and at most %d", busy, 2*slots, 4*slots)
	}
	t.Logf("%d tasks of %d ms: one worker %v, four workers %v: %.1f times as fast", jobs, job, one, four, one.Seconds()/four.Seconds())

	var many sync.WaitGroup
	many.Go(func() { run(ctx, t, large, "many", 3*jobs) })
	harness.Eventually(t, time.Minute, "all workers are busy", func() error {
		if n := len(lines(t, tally)); n < before+2*jobs+4*slots {
			return fmt.Errorf("%d lines", n)
		}
		return nil
	})
	took := run(ctx, t, small, "few", few)
	ended := 0
	for _, l := range lines(t, tally)[before+2*jobs:] {
		if l.What == "end" {
			ended++
		}
	}
	many.Wait()
	if ended > 2*jobs {
		t.Errorf("when the %d tasks of the small tenant had ended, so had %d of %d others", few, ended-few, 3*jobs)
	}
	t.Logf("%d tasks of a tenant beside %d of another: %v, while %d of those ended", few, 3*jobs, took, ended-few)
}

// tenant returns a client with a key for a tenant.
func tenant(t *testing.T, top *topology.Topology, url, name string) *harness.Client {
	t.Helper()
	migrate := top.Project().Services["migrate"]
	journal := strings.Replace(*migrate.Environment["LONGHAUL_JOURNAL"], "postgres:5432", top.Addr("postgres", 5432), 1)
	cmd := exec.CommandContext(t.Context(), harness.Build(t, harness.Victim), "keys", "create", name, "--tenant", name, "--scopes", "all", "--journal", journal)
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return harness.NewClient(url).With("Authorization", "Bearer "+strings.TrimSpace(string(out)))
}

// run runs tasks that wait, each in an objective of its own, and returns how long that
// took.
func run(ctx context.Context, t *testing.T, c *harness.Client, name string, n int) time.Duration {
	began := time.Now()
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() {
			task, err := c.SendUntil(ctx, harness.Message{ID: fmt.Sprint(name, i), Text: fmt.Sprintf("work %dms; say done", job)})
			if err == nil {
				_, err = c.Follow(ctx, task.ID, 0).UntilState(ctx, "COMPLETED")
			}
			if err != nil {
				t.Errorf("%s %d: %v", name, i, err)
			}
		})
	}
	all.Wait()
	return time.Since(began)
}

func lines(t *testing.T, tally string) []harness.TallyLine {
	t.Helper()
	list, err := harness.ReadTally(tally)
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// mostAtATime returns how many tasks ran at a time, at the most, after some lines of
// the tally.
func mostAtATime(t *testing.T, tally string, after int) (most int) {
	t.Helper()
	now := 0
	list := lines(t, tally)[after:]
	slices.SortStableFunc(list, func(a, b harness.TallyLine) int { return a.At.Compare(b.At) })
	for _, l := range list {
		if l.What == "begin" {
			now++
		} else {
			now--
		}
		most = max(most, now)
	}
	return most
}
