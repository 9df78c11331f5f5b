package crash_test

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"longhaul/dev/e2e/harness"
	"longhaul/dev/proof/power"
)

// powerKinds are the kinds of lives with disks that lose power, or fail.
var powerKinds = map[string]func(*life, *testing.T){
	"files": func(l *life, t *testing.T) { l.lose(t, power.Ordered, false, harness.AllInOne) },
	"files, names apart": func(l *life, t *testing.T) {
		l.lose(t, power.Apart, false, harness.Temporal, harness.Worker, harness.API)
	},
	"PostgreSQL":         func(l *life, t *testing.T) { l.lose(t, power.Ordered, true, harness.AllInOne) },
	"sync normal":        (*life).loseMore,
	"faults":             func(l *life, t *testing.T) { l.fail(t, "data") },
	"PostgreSQL, faults": func(l *life, t *testing.T) { l.fail(t, "PostgreSQL") },
}

// The power is cut, and disks fail.
func TestPower(t *testing.T) {
	kinds := maps.Clone(powerKinds)
	if *livesFor == 0 {
		delete(kinds, "PostgreSQL, faults") // which takes too long
	}
	live(t, kinds)
}

// lost adds what the disks have lost.
func (l *life) lost(m *machine) {
	for _, d := range m.disks {
		losses := d.Losses()
		l.Writes, l.Torn = l.Writes+losses.Writes, l.Torn+losses.Torn
	}
	l.Confirmed, l.Objectives = m.calls.n.Load(), len(m.w.tasks)
}

// lose cuts the power at random moments, also while the processes start, and the disks lose
// unsynced writes: all of them, or a random part. All that was acknowledged must be there and end as it
// should, and readers have seen what the journal has.
func (l *life) lose(t *testing.T, names power.Names, postgres bool, commands ...string) {
	w := newWorld(t) // --sync full is the default
	m := newMachine(t, w, names, l.Seed, postgres)
	w.push = newDesk(t)
	w.site.Env = append(w.site.Env, "LONGHAUL_ALLOW_PRIVATE_EGRESS=true", "LONGHAUL_PUSH_TRANSITIONS=all")
	kinds := slices.Concat(scenarios, []scenario{{"pushed", (*world).pushed}, {"edited", (*world).edited}})
	cuts, objectives := l.pick(1, 10), l.pick(len(kinds), 100)
	ctx, cancel := context.WithTimeout(t.Context(), time.Duration(cuts)*30*time.Second+within)
	defer cancel()
	var group sync.WaitGroup
	for ; ; l.Cuts++ {
		last := l.Cuts == cuts
		m.launch(commands...)
		if last || rand.IntN(4) > 0 { // else the power may be cut while they start
			m.waitReady()
			l.Checked += m.checkAcked()
		}
		for n := begin(l.Cuts, cuts, objectives); n < begin(l.Cuts+1, cuts, objectives); n++ {
			group.Go(w.scenario(ctx, kinds, n))
		}
		if last {
			break
		}
		if p := m.running[0]; p.AwaitEnd(time.Duration(200+rand.IntN(3000)) * time.Millisecond) {
			t.Fatalf("%v ended by itself: %v", p, p.Wait())
		}
		m.cut(m.disks["data"].AnyLoss())
		w.nextRound(false)
	}
	w.nextRound(true)
	group.Wait()
	all := w.settle()
	m.checkStopped(all)
	l.lost(m)
}

// begin returns how many objectives to begin before a round: a quarter in each of
// the first rounds if there are only a few rounds.
func begin(round, rounds, objectives int) int {
	return min(round*max(objectives/rounds, objectives/4), objectives)
}

// loseMore is for --sync normal, with which a cut may take back the last moments of the work. The
// journal loses nothing: the process starts again, all work ends, if only as failed, and new work
// does, too.
func (l *life) loseMore(t *testing.T) {
	w := newWorld(t, "--sync", "normal")
	m := newMachine(t, w, power.Ordered, l.Seed, false)
	for cuts, objectives := l.pick(1, 6), l.pick(17, 51); l.Cuts < cuts; l.Cuts++ {
		ctx, cancel := context.WithCancel(t.Context())
		var group sync.WaitGroup
		p := m.start()
		for n := begin(l.Cuts, cuts, objectives); n < begin(l.Cuts+1, cuts, objectives); n++ {
			group.Go(func() { _ = scenarios[n%len(scenarios)].run(w, ctx, n) }) // its work may be taken back
		}
		p.AwaitEnd(time.Duration(1000+rand.IntN(3000)) * time.Millisecond)
		m.cut(m.disks["data"].AnyLoss())
		cancel()
		group.Wait()
		w.nextRound(false)
	}
	p := m.start()
	w.works("after the last cut")
	l.Checked += m.checkAcked()
	t.Logf("Ends of %d tasks that were acknowledged, and others: %v", len(w.tasks), w.finish())
	p.Stop()
	l.lost(m)
}

// works checks that new work is taken, and ends.
func (w *world) works(when string) {
	w.t.Helper()
	task := w.c.MustSendUntil(w.ctx(), w.t, harness.Message{ID: when, Text: "say it works"})
	w.ack(task.ID, expected{state: "COMPLETED", text: "it works"})
	w.c.AwaitState(w.t, within, task.ID, "COMPLETED")
}

// finish ends the work that waits for a client, and waits until all has ended. It returns how often
// objectives ended in each state.
func (w *world) finish() (ended map[string]int) {
	w.t.Helper()
	harness.Eventually(w.t, 3*time.Minute, "all work has ended", func() error {
		all, err := w.c.Objectives(w.ctx())
		if err != nil {
			return err
		}
		ended = map[string]int{}
		var open []string
		for _, o := range all {
			task, err := w.c.Get(w.ctx(), o.ID)
			switch {
			case err != nil:
				return err
			case task.Ended():
				ended[task.State]++
				continue
			case task.Gate != nil && task.Gate.Kind == "approval":
				_, err = w.c.Send(w.ctx(), harness.Reply(fmt.Sprint("finish-", rand.Uint64()), o.ID, task.Gate.ID, "reject"))
			default:
				_, err = w.c.Cancel(w.ctx(), o.ID)
			}
			open = append(open, fmt.Sprintf("%s is %s (%v): %v", o.ID, task.State, o.Metadata, err))
		}
		if len(open) > 0 {
			return fmt.Errorf("%d are open: %s", len(open), strings.Join(open, "\n"))
		}
		return nil
	})
	return ended
}

// A process whose syncs do nothing loses what it has acknowledged, and the test notices.
func TestPower_noticesLoss(t *testing.T) {
	t.Parallel()
	for name, code := range map[string]int{"syncs": 0, "no syncs": -32001} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			m := newMachine(t, w, power.Ordered, *livesSeed, false)
			m.start()
			if name == "no syncs" {
				m.disks["data"].IgnoreSyncs()
			}
			task := w.c.MustSendUntil(w.ctx(), t, harness.Message{ID: "only", Text: "work 10m"})
			m.cut(power.LoseAll)
			m.start()
			if _, err := w.c.Get(w.ctx(), task.ID); harness.Code(err) != code {
				t.Errorf("the task after a power cut: %v, want code %d", err, code)
			}
		})
	}
}

// With --sync normal work is durable soon, also when no more comes.
func TestPower_normalSoon(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "--sync", "normal")
	m := newMachine(t, w, power.Ordered, *livesSeed, false)
	m.start()
	task := w.c.MustSendUntil(w.ctx(), t, harness.Message{ID: "gate", Text: "x", Plan: harness.NewPlan("plan", "approve Go on?; "+say(0))})
	gate := w.c.AwaitGate(t, within, task.ID)
	harness.Eventually(t, within, "all is durable", func() error {
		if n := m.disks["data"].Unsynced("temporal.db-wal"); n > 0 {
			return fmt.Errorf("%d writes are not", n)
		}
		return nil
	})
	m.cut(power.LoseAll)
	m.start()
	w.c.MustSendUntil(w.ctx(), t, harness.Reply("reply", task.ID, gate.ID, "accept"))
	w.c.AwaitState(t, within, task.ID, "COMPLETED")
}
