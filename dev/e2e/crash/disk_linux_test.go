package crash_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"longhaul/dev/e2e/harness"
	"longhaul/dev/proof/power"
	"longhaul/internal/test"
)

// A diskFault is one way in which some files of a disk fail for some seconds.
type diskFault struct {
	name  string
	calls []string
	no    syscall.Errno // 0 for calls that are slow
	files string        // whose names begin so
}

// diskFaults lists the ways in which all files fail.
var diskFaults = []diskFault{
	{"syncs fail", []string{"sync"}, syscall.EIO, ""},
	{"the disk is full", []string{"write", "create"}, syscall.ENOSPC, ""},
	{"writes fail", []string{"write"}, syscall.EIO, ""},
	{"reads fail", []string{"read"}, syscall.EIO, ""},
	{"syncs are slow", []string{"sync"}, 0, ""},
}

// failing are the files that fail alone.
var failing = []string{"journal.db", "temporal.db", "temporal-visibility.db", "leases"}

// call implements [power.Fault]. Leases have names of their own.
func (f diskFault) call(call, name string) syscall.Errno {
	if f.files == "leases" && (strings.HasSuffix(name, ".lease") || strings.HasSuffix(name, ".begun")) {
		name = "leases"
	}
	for _, c := range f.calls {
		if c == call && strings.HasPrefix(name, f.files) {
			if f.no == 0 {
				time.Sleep(300 * time.Millisecond)
			}
			return f.no
		}
	}
	return 0
}

// silent reports whether the log need not say so: calls are slow, the kernel has the pages, or
// only heartbeats find out.
func (f diskFault) silent() bool { return f.no == 0 || f.calls[0] == "read" || f.files == "leases" }

// fail has a disk fail while work runs, and be well again: the process says so and continues, or
// ends and can be started again. Then the power is cut, which loses all unsynced writes: nothing
// that was acknowledged may be lost, also where a sync failed and a later one did not.
func (l *life) fail(t *testing.T, disk string) {
	w := newWorld(t)
	m := newMachine(t, w, power.Ordered, l.Seed, disk == "PostgreSQL")
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Minute)
	defer cancel()
	var group sync.WaitGroup
	start := func(f diskFault) *harness.Process {
		if l.long {
			return m.startOn(disk, f)
		}
		return m.start()
	}
	p, n := start(diskFaults[rand.IntN(len(diskFaults))]), 0 // on an empty disk
	for _, fault := range l.faults(disk) {
		for range l.pick(9, len(scenarios)) {
			group.Go(w.scenario(ctx, scenarios, n))
			n++
		}
		p.AwaitEnd(500 * time.Millisecond)
		m.fail(p, disk, fault, l.pick(1000, 1000+rand.IntN(3000)))
		if p.Running() {
			p.WaitReady()
			w.works(fault.name + " " + fault.files)
		}
		m.cut(power.LoseAll)
		w.nextRound(false)
		p = start(fault)
		l.Checked += m.checkAcked()
		l.Cuts, l.Faults = l.Cuts+1, l.Faults+1
	}
	w.nextRound(true)
	group.Wait()
	w.tally = os.DevNull // tasks that stream begin again if the journal does not take the last piece
	m.checkStopped(w.settle())
	l.lost(m)
}

// faults returns the faults of a life: all of all files, or two that matter most.
func (l *life) faults(disk string) []diskFault {
	switch {
	case !l.long:
		return diskFaults[:2]
	case disk == "PostgreSQL":
		return diskFaults
	}
	all := slices.Clone(diskFaults)
	for _, files := range failing {
		for _, f := range diskFaults {
			f.files = files
			all = append(all, f)
		}
	}
	return all
}

// fail has a disk fail for a time, and checks that the log of the process and its health say so. A
// supervisor starts PostgreSQL again, which ends when it cannot write its log.
func (m *machine) fail(p *harness.Process, disk string, f diskFault, millis int) {
	m.t.Helper()
	before := len(p.Tail(1 << 30))
	m.disks[disk].Fail(f.call)
	if !f.silent() && (f.files == "" || f.files == "journal.db") {
		harness.Eventually(m.t, within, "the process is not ready: "+f.name, func() error {
			if p.Running() && m.w.site.Answers("/readyz") == nil {
				return errors.New("it is")
			}
			return nil
		})
	}
	p.AwaitEnd(time.Duration(millis) * time.Millisecond)
	m.heal(disk)
	p.AwaitEnd(time.Second)
	log := p.Tail(1 << 30)[before:]
	said := symptom(log)
	m.t.Logf("%s on the disk of %s, %q: the process runs: %v, its log says %.200q", f.name, disk, f.files, p.Running(), said)
	if said == "" && !f.silent() && m.postgres == nil {
		m.t.Errorf("%s, %q: the log does not say so:\n%s", f.name, f.files, log)
	}
}

// heal ends the fault of a disk.
func (m *machine) heal(disk string) {
	m.t.Helper()
	m.disks[disk].Fail(nil)
	if m.postgres != nil {
		test.OK(m.t, m.postgres.Kill())
		test.OK(m.t, m.postgres.Run(m.t.Context()))
	}
}

// startOn starts a process on a disk that fails and is well again: it becomes ready, or ends and
// says why, and the next one becomes ready.
func (m *machine) startOn(disk string, f diskFault) *harness.Process {
	m.t.Helper()
	m.disks[disk].Fail(f.call)
	m.launch(harness.AllInOne)
	p := m.running[0]
	p.AwaitEnd(2 * time.Second)
	m.heal(disk)
	harness.Eventually(m.t, within, "the process is ready, or has ended", func() error {
		if !p.Running() {
			return nil
		}
		return m.w.site.Answers("/readyz")
	})
	if p.Running() {
		return p
	}
	if strings.Contains(p.Tail(1<<30), "move the directory aside") {
		m.t.Errorf("%s, %q: the advice is to give the data up", f.name, f.files)
	}
	m.t.Logf("%s on the disk of %s, %q, at the start: the process ended, and its log ends with %q", f.name, disk, f.files, p.Tail(300))
	return m.start()
}

// A process that cannot use its files as the disk fails does not ask for others: they are well.
func TestDisk_start(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	m := newMachine(t, w, power.Ordered, *livesSeed, false)
	m.start().Stop()
	for _, f := range diskFaults[:4] {
		f.files = "temporal.db"
		m.startOn("data", f).Stop()
	}
}

// symptoms are what a log says of a disk that fails.
var symptoms = []string{"disk I/O error", "disk is full", "input/output error", "no space left on device"}

// symptom returns the line of a log that has a symptom, "" for none.
func symptom(log string) string {
	for line := range strings.Lines(log) {
		for _, s := range symptoms {
			if strings.Contains(line, s) {
				return strings.TrimSpace(line)
			}
		}
	}
	return ""
}
