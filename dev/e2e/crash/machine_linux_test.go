package crash_test

import (
	"bytes"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"longhaul/dev/e2e/harness"
	"longhaul/dev/proof/power"
	"longhaul/internal/needs"
	"longhaul/internal/pgserver"
	"longhaul/internal/test"
)

// A machine has the disks of a site, which lose their power together.
type machine struct {
	t        *testing.T
	w        *world
	disks    map[string]*power.Disk // "data" and "PostgreSQL"
	mounts   map[string]*power.Mount
	postgres *pgserver.Server // nil for a journal in the data directory
	running  []*harness.Process
	calls    *confirmed
	dirs     []string // to be removed
}

// newMachine puts the data directory of a world on a disk, and the journal on PostgreSQL with
// another one.
func newMachine(t *testing.T, w *world, names power.Names, seed uint64, postgres bool) *machine {
	t.Helper()
	m := &machine{t: t, w: w, disks: map[string]*power.Disk{}, mounts: map[string]*power.Mount{}}
	m.calls = &confirmed{of: w.c.HTTP.Transport}
	w.c.HTTP.Transport = m.calls
	t.Cleanup(m.close)
	m.disks["data"], m.mounts["data"] = power.In(t, names, seed, w.site.Dir)
	if postgres {
		m.startPostgres(names, seed)
	}
	return m
}

// startPostgres starts a PostgreSQL for the journal, on a disk of its own.
func (m *machine) startPostgres(names power.Names, seed uint64) {
	m.t.Helper()
	needs.Tools(m.t, "postgres")
	dir, err := os.MkdirTemp("", "longhaul-power-") // which another user may enter
	test.OK(m.t, err)
	m.dirs = append(m.dirs, dir)
	test.OK(m.t, os.Chmod(dir, 0o711))
	data := filepath.Join(dir, "data")
	m.disks["PostgreSQL"], m.mounts["PostgreSQL"] = power.In(m.t, names, seed, data)
	m.postgres, err = pgserver.StartOn(m.t.Context(), data)
	test.OK(m.t, err)
	m.disks["PostgreSQL"].SyncAll() // initdb syncs nothing
	test.OK(m.t, m.postgres.Create(m.t.Context(), "journal"))
	m.w.site.Env = append(m.w.site.Env, "LONGHAUL_JOURNAL="+m.postgres.URL("journal"), "LONGHAUL_SECRET_KEYS="+strings.Repeat("A", 43)+"=")
	m.w.site.Run("migrate")
}

// launch starts processes, which are those that run.
func (m *machine) launch(commands ...string) {
	m.t.Helper()
	m.running = nil
	for _, command := range commands {
		m.running = append(m.running, m.w.launch(command, ""))
	}
}

func (m *machine) waitReady() {
	m.t.Helper()
	for _, p := range m.running {
		p.WaitReady()
	}
}

// start starts all in one process, and waits until it is ready.
func (m *machine) start() *harness.Process {
	m.t.Helper()
	m.launch(harness.AllInOne)
	m.waitReady()
	return m.running[0]
}

// cut cuts the power of the processes and the disks, and switches the disks and PostgreSQL on again.
func (m *machine) cut(how power.Loss) {
	m.t.Helper()
	for _, mount := range m.mounts {
		mount.Off()
	}
	for _, p := range m.running {
		p.Kill()
	}
	if m.postgres != nil {
		test.OK(m.t, m.postgres.Kill())
	}
	for name, mount := range m.mounts {
		restored := test.Value(mount.Restore(how))(m.t)
		m.mounts[name] = restored
	}
	if m.postgres != nil {
		test.OK(m.t, m.postgres.Run(m.t.Context()))
	}
}

// checkAcked checks that each task that was acknowledged is there, and returns how many.
func (m *machine) checkAcked() int {
	m.t.Helper()
	ids := m.w.acked()
	for _, id := range ids {
		if _, err := m.w.c.Get(m.w.ctx(), id); err != nil {
			m.t.Errorf("acknowledged, and lost: %s: %v", id, err)
		}
	}
	m.w.checked += len(ids)
	return len(ids)
}

// checkStopped stops the processes, and checks the files.
func (m *machine) checkStopped(all streams) {
	m.t.Helper()
	for _, p := range slices.Backward(m.running) {
		p.Stop()
	}
	at := m.w.site.Dir
	defer func() { m.w.site.Dir = at }()
	m.w.site.Dir = filepath.Join(m.t.TempDir(), "data") // SQLite maps files, which must not be those of a disk of this process
	test.OK(m.t, os.CopyFS(m.w.site.Dir, os.DirFS(at)))
	m.w.site.CheckFiles(m.t)
	m.w.checkJournal(all, m.readJournal())
}

func (m *machine) readJournal() *journal {
	m.t.Helper()
	if m.postgres == nil {
		return openJournal(m.t, m.w.site)
	}
	return readJournal(m.t, openDatabase(m.t, m.postgres.URL("journal")))
}

func (m *machine) close() {
	for _, p := range m.w.site.Started() {
		p.KillTree()
	}
	if m.postgres != nil {
		_ = m.postgres.Close() // its log says how it ended
	}
	for _, mount := range m.mounts {
		test.Error(m.t, "the call", nil, mount.Close())
	}
	for _, dir := range m.dirs {
		test.OK(m.t, os.RemoveAll(dir))
	}
}

// A confirmed transport counts the calls that change something and were acknowledged.
type confirmed struct {
	of http.RoundTripper
	n  atomic.Int64
}

var changing = regexp.MustCompile(`"method":"(SendMessage|CancelTask|objectives/create|plans/create)"`)

func (c *confirmed) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Body == nil {
		return c.of.RoundTrip(r)
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	res, err := c.of.RoundTrip(r)
	if err != nil || !changing.Match(body) {
		return res, err
	}
	defer res.Body.Close()
	answer, err := io.ReadAll(res.Body)
	if err == nil && !bytes.Contains(answer, []byte(`"error":{`)) {
		c.n.Add(1)
	}
	res.Body = io.NopCloser(bytes.NewReader(answer))
	return res, err
}
