package crash_test

import (
	"database/sql"
	"errors"
	"flag"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"longhaul/dev/e2e/harness"
	"longhaul/internal/needs"
	"longhaul/internal/pgserver"
	"longhaul/internal/test"
)

var kills = flag.Int("kills", 3, "of the process, in the tests of lost workers")

// A process is killed again and again while ten objectives work through lists and one
// works on a task of 20 s. Nothing fails, since a lost worker is not a failed attempt. Objectives
// continue long before the silence of their worker would be noticed; a task that had begun at the moment of a
// kill may wait for that. The test logs how soon.
func TestCrash_recovery(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name     string
		commands []string // the first one is killed
		postgres bool
	}{
		{"all-in-one", []string{harness.AllInOne}, false},
		{"worker, file", []string{harness.Worker, harness.API, harness.Temporal}, false},
		{"worker, PostgreSQL", []string{harness.Worker, harness.API, harness.Temporal}, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			read := func() *journal { return openJournal(t, w.site) }
			if tt.postgres {
				read = onPostgres(t, w.site)
			}
			running := map[string]*harness.Process{}
			for _, command := range slices.Backward(tt.commands) {
				running[command] = w.start(command, "")
			}
			killed := w.killAgainAndAgain(running, tt.commands[0])
			all := w.settle()
			for _, command := range tt.commands {
				running[command].Stop()
			}
			j := read()
			w.checkJournal(all, j)
			waits := j.waits(t, killed)
			if len(waits) == 0 {
				t.Fatal("no objective was at work at a kill")
			}
			if waits[len(waits)/2] > 15*time.Second { // half of --worker-timeout
				t.Errorf("p50 %v: leases have no effect", waits[len(waits)/2])
			}
			t.Logf("From a kill to the next event of an objective of many tasks: p50 %v, max %v, of %d", waits[len(waits)/2], waits[len(waits)-1], len(waits))
		})
	}
}

// killAgainAndAgain kills a process while objectives work, starts it again at once, and returns
// when it was killed.
func (w *world) killAgainAndAgain(running map[string]*harness.Process, command string) (at []time.Time) {
	tasks := 3 * *kills
	for n := range 11 {
		scripts := slices.Repeat([]string{"work 1500ms"}, tasks)
		if n == 0 {
			scripts = []string{"work 20s"}
		}
		plan := harness.NewPlan("list", append(scripts, say(n))...)
		test.OK(w.t, test.Err(w.begin(w.ctx(), harness.Message{ID: id(n), Text: "x", Plan: plan}, completes(n))))
	}
	for range *kills {
		running[command].AwaitEnd(4 * time.Second)
		at = append(at, time.Now())
		running[command].Kill()
		running[command] = w.start(command, "")
	}
	return at
}

// onPostgres has the journal of a site in PostgreSQL, and returns what reads it.
func onPostgres(t *testing.T, site *harness.Site) (read func() *journal) {
	t.Helper()
	needs.Tools(t, "postgres")
	server, err := pgserver.Start(t.Context(), "fsync=off")
	if err == nil {
		t.Cleanup(func() { _ = server.Close() })
		err = server.Create(t.Context(), "journal")
	}
	test.OK(t, err)
	url := server.URL("journal")
	site.Env = append(site.Env, "LONGHAUL_JOURNAL="+url, "LONGHAUL_SECRET_KEYS="+strings.Repeat("A", 43)+"=")
	site.Run("migrate")
	return func() *journal {
		db := test.Value(sql.Open("pgx", url))(t)
		defer db.Close()
		return readJournal(t, db)
	}
}

// waits returns how long objectives of more than two tasks that had not ended took
// from each kill to their next event, shortest first.
func (j *journal) waits(t *testing.T, kills []time.Time) (all []time.Duration) {
	t.Helper()
	for id, events := range j.events {
		if j.ended[planTask(id, 1, 2)] == nil {
			continue
		}
		for _, kill := range kills {
			i := slices.IndexFunc(events, func(e event) bool { return e.at().After(kill) })
			if i > 0 {
				all = append(all, events[i].at().Sub(kill).Round(time.Millisecond))
			}
		}
	}
	slices.Sort(all)
	return all
}

// A worker that is paused keeps its tasks, if it was silent for less than --worker-timeout. After a longer pause another one has begun them, and what the first one still says is
// refused.
func TestPaused_worker(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name    string
		silent  time.Duration
		workers int // that run the task
	}{{"short", 2 * time.Second, 1}, {"long", 0, 2}} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.site.Env = []string{"LONGHAUL_WORKER_TIMEOUT=8s"}
			running := map[int]*harness.Process{}
			for _, command := range []string{harness.Temporal, harness.API, harness.Worker, harness.Worker} {
				p := w.start(command, "")
				running[p.PID()] = p
			}
			plan := harness.NewPlan("plan", "work 15s", say(0))
			f := test.Value(w.begin(w.ctx(), harness.Message{ID: id(0), Text: "x", Plan: plan}, completes(0)))(t)
			first := w.awaitTries(planTask(f.TaskID, 1, 0)+":1", 1)[0]
			worker := running[first.PID]
			test.OK(t, worker.Signal(syscall.SIGSTOP))
			if tt.silent > 0 {
				worker.AwaitEnd(tt.silent)
			} else {
				w.awaitTries(planTask(f.TaskID, 1, 0)+":1", 2)
			}
			test.OK(t, worker.Signal(syscall.SIGCONT))
			all := w.settle()
			for _, command := range []string{harness.Worker, harness.API, harness.Temporal} {
				for _, p := range running {
					if p.Command == command {
						p.Stop()
					}
				}
			}
			if got := w.awaitTries(planTask(f.TaskID, 1, 0)+":1", 1); len(got) != tt.workers {
				t.Errorf("%d workers ran the task, want %d", len(got), tt.workers)
			}
			w.checkStopped(all)
		})
	}
}

// awaitTries waits until a round of a task was begun so often, and returns its beginnings.
func (w *world) awaitTries(key string, n int) (r harness.Round) {
	w.t.Helper()
	harness.Eventually(w.t, within, "the task runs", func() error {
		lines, err := harness.ReadTally(w.tally)
		if r = harness.Rounds(lines)[key]; err == nil && len(r) < n {
			err = errors.New("not yet")
		}
		return err
	})
	return r
}
