package crash_test

import (
	"context"
	"math/rand/v2"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"go.temporal.io/sdk/client"

	"longhaul/dev/e2e/harness"
	"longhaul/internal/needs"
	"longhaul/internal/pgserver"
	"longhaul/internal/test"
)

// A fleet is an installation of processes of their own: Temporal, PostgreSQL, two workers and
// two API.
type fleet struct {
	t        *testing.T
	w        *world
	postgres *pgserver.Server
	temporal string // its address
	roads    roads
	env      func(name string) []string // of a member
	calm     func()                     // follows the last fault; nil does nothing
	patience time.Duration              // how long clients may wait after the last fault
	running  map[string]*harness.Process
	killed   map[int]time.Time // by process id
}

// roads say how the processes of a fleet reach each other.
type roads interface {
	// road returns the address at which from reaches what listens at an address.
	road(from, to, addr string) string
	// start calls what starts a process, with the address for its API.
	start(name string, launch func(addr string))
}

// A member of a fleet is one of the processes between Temporal, PostgreSQL and the clients.
type member struct{ name, command string }

var members = []member{{"worker-1", harness.Worker}, {"worker-2", harness.Worker}, {"api-1", harness.API}, {"api-2", harness.API}}

// common are settings of all processes of an installation whose callers have keys.
func common(t *testing.T) []string {
	return []string{
		"LONGHAUL_AUTH=keys", "LONGHAUL_RATE_LIMIT=0", "LONGHAUL_MAX_CALLS=0", "LONGHAUL_MAX_STREAMS=0", "LONGHAUL_ALLOW_ANYONE=false", playbooks(t, quorum),
		"LONGHAUL_FALLBACK=echo", "LONGHAUL_ALLOW_PRIVATE_EGRESS=true", "LONGHAUL_PUSH_TRANSITIONS=all",
		"LONGHAUL_REPLY_WAIT=1s", "LONGHAUL_CANCEL_WAIT=1s", "LONGHAUL_CALL_TIMEOUT=5s",
	}
}

// playbooks returns the setting for playbooks.
func playbooks(t *testing.T, texts ...string) string {
	dir := t.TempDir()
	for i, text := range texts {
		harness.WriteFile(t, dir, strconv.Itoa(i)+".yaml", text)
	}
	return "LONGHAUL_PLAYBOOKS=" + dir
}

// newFleet starts the fleet of a world, with settings of PostgreSQL. env returns more of the environment of a
// member.
func newFleet(w *world, r roads, env func(name string) []string, settings ...string) *fleet {
	t := w.t
	t.Helper()
	needs.Tools(t, "postgres")
	f := &fleet{t: t, w: w, temporal: w.site.TemporalAddr, roads: r, env: env, patience: 3 * time.Minute, running: map[string]*harness.Process{}, killed: map[int]time.Time{}}
	var err error
	f.postgres, err = pgserver.Start(t.Context(), append(settings, "fsync=off")...)
	test.OK(t, err)
	t.Cleanup(func() {
		for _, p := range w.site.Started() {
			p.KillTree()
		}
		test.OK(t, f.postgres.Close())
	})
	test.OK(t, f.postgres.Create(t.Context(), "journal"))
	w.start(harness.Temporal, "")
	w.site.Env = append(common(t), "LONGHAUL_JOURNAL="+f.postgres.URL("journal"), "LONGHAUL_SECRET_KEYS="+strings.Repeat("A", 43)+"=")
	w.site.Run("migrate")
	w.temporal = func(t testing.TB) client.Client {
		c := test.Value(client.Dial(client.Options{HostPort: f.temporal}))(t)
		return c
	}
	w.site.TemporalAddr = "" // each member has its own
	var urls []string
	for _, m := range members {
		f.start(m)
		if m.command == harness.API {
			urls = append(urls, "http://"+r.road("client", m.name, w.site.Addr))
		}
	}
	w.c.URL, w.c.Others = urls[0], urls[1:]
	w.c.HTTP.Transport = &http.Transport{ // a link that is silent makes a result unknown
		MaxIdleConnsPerHost: 64, ResponseHeaderTimeout: 15 * time.Second, DialContext: (&net.Dialer{Timeout: 5 * time.Second}).DialContext,
	}
	w.push = newDesk(t)
	w.hire(func(name string) string { return w.site.Key(name, "--scopes", "all") })
	return f
}

// start starts a member and waits until it is ready.
func (f *fleet) start(m member) {
	f.t.Helper()
	env := append(f.env(m.name), "CRASHABLE_TALLY="+f.w.tally,
		"LONGHAUL_TEMPORAL_ADDR="+f.roads.road(m.name, "temporal", f.temporal),
		"LONGHAUL_JOURNAL="+strings.Replace(f.postgres.URL("journal"), f.postgres.Addr(), f.roads.road(m.name, "postgres", f.postgres.Addr()), 1))
	f.roads.start(m.name, func(addr string) {
		f.w.site.Addr = addr
		f.running[m.name] = f.w.site.Launch(m.command, env...)
	})
	f.running[m.name].WaitReady()
	f.t.Logf("%s is ready", m.name)
}

// replace kills a member, and starts another one in its place.
func (f *fleet) replace(m member) {
	f.t.Helper()
	f.running[m.name].Kill()
	f.killed[f.running[m.name].PID()] = time.Now()
	f.start(m)
}

// endure has clients compete for a time, while fault happens again and again, and judges what they
// have seen once all work has ended.
func (f *fleet) endure(l *life, lasts time.Duration, fault func(ctx context.Context, r *rand.Rand), more ...scenario) {
	f.t.Helper()
	ctx, cancel := context.WithTimeout(f.t.Context(), lasts+f.patience)
	defer cancel()
	kinds := test.Value(chosen(*proofClients))(f.t)
	kinds = append(kinds, more...)
	var group sync.WaitGroup
	group.Go(func() { f.w.play(ctx, &group, kinds, max(2*len(kinds), int(lasts.Seconds())), lasts) })
	r := rand.New(rand.NewPCG(l.Seed, 0))
	for end := time.Now().Add(lasts); time.Now().Before(end) && ctx.Err() == nil; l.Faults++ {
		fault(ctx, r)
		f.w.nextRound(false)
	}
	if f.calm != nil {
		f.calm()
	}
	f.w.nextRound(true)
	f.t.Logf("%d faults are over", l.Faults)
	group.Wait()
	f.t.Log("all clients have ended")
	test.Error(f.t, "the call", nil, f.w.ticks(ctx))
	f.checkAlone()
	f.w.checkJournal(f.w.settle(), readJournal(f.t, openDatabase(f.t, f.postgres.URL("journal"))))
	l.Objectives, l.Operations = len(f.w.tasks), f.w.judged
}

// checkAlone checks that no task ran twice at a time, in whichever processes.
func (f *fleet) checkAlone() {
	f.t.Helper()
	for key, r := range harness.Rounds(harness.Tally(f.t, f.w.tally)) {
		var lines []harness.TallyLine
		for _, a := range r {
			if at := f.killed[a.PID]; a.What == "" && !at.IsZero() {
				a.Ended = at
			}
			lines = append(lines, harness.TallyLine{PID: a.PID, At: a.Began, What: "begin"}, harness.TallyLine{PID: a.PID, At: a.Ended, What: a.What})
		}
		if n := harness.MostAtOnce(lines); n > 1 {
			f.t.Errorf("%s: ran %d times at once: %v", key, n, lines)
		}
	}
}

// wait waits for a time, and for the end of a test at most.
func wait(ctx context.Context, d time.Duration) {
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}

// between returns a random time.
func between(r *rand.Rand, least, most time.Duration) time.Duration {
	return least + time.Duration(r.Int64N(int64(most-least)))
}
