package crash_test

import (
	"context"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"go.temporal.io/sdk/client"

	"longhaul/dev/e2e/harness"
	"longhaul/internal/needs"
	"longhaul/internal/pgserver"
)

// A fleet is an installation of processes of their own: Temporal, PostgreSQL, two workers and
// two API.
type fleet struct {
	t        *testing.T
	w        *world
	postgres *pgserver.Server
	temporal string // its address
	roads    roads
}

// roads say how the processes of a fleet reach each other.
type roads interface {
	// road returns the address at which from reaches what listens at an address.
	road(from, to, addr string) string
	// start runs what starts a process, and returns the address for its API.
	start(name string, launch func(addr string))
}

// A member of a fleet is one of the processes between Temporal, PostgreSQL and the clients.
type member struct{ name, command string }

var members = []member{{"worker-1", harness.Worker}, {"worker-2", harness.Worker}, {"api-1", harness.API}, {"api-2", harness.API}}

// common are settings of all processes of an installation whose callers have keys.
func common(t *testing.T) []string {
	return []string{
		"LONGHAUL_AUTH=keys", "LONGHAUL_RATE_LIMIT=0", "LONGHAUL_ALLOW_ANYONE=false", "LONGHAUL_PLAYBOOKS=" + harness.WriteFile(t, t.TempDir(), "quorum.yaml", quorum),
		"LONGHAUL_FALLBACK=echo", "LONGHAUL_ALLOW_PRIVATE_EGRESS=true", "LONGHAUL_PUSH_TRANSITIONS=all",
		"LONGHAUL_REPLY_WAIT=1s", "LONGHAUL_CANCEL_WAIT=1s", "LONGHAUL_CALL_TIMEOUT=5s",
	}
}

// newFleet starts a fleet, with settings of PostgreSQL. env returns more of the environment of a member.
func newFleet(t *testing.T, r roads, env func(name string) []string, settings ...string) *fleet {
	t.Helper()
	needs.Tools(t, "postgres")
	w := newWorld(t)
	f := &fleet{t: t, w: w, temporal: w.site.TemporalAddr, roads: r}
	var err error
	f.postgres, err = pgserver.Start(t.Context(), append(settings, "fsync=off")...)
	must(t, err)
	t.Cleanup(func() {
		for _, p := range w.site.Started() {
			p.KillTree()
		}
		must(t, f.postgres.Close())
	})
	must(t, f.postgres.Create(t.Context(), "journal"))
	w.start(harness.Temporal, "")
	w.site.Env = append(common(t), "LONGHAUL_JOURNAL="+f.postgres.URL("journal"), "LONGHAUL_SECRET_KEYS="+strings.Repeat("A", 43)+"=")
	w.site.Run("migrate")
	w.temporal = func(t testing.TB) client.Client {
		c, err := client.Dial(client.Options{HostPort: f.temporal})
		must(t, err)
		return c
	}
	w.site.TemporalAddr = "" // each member has its own
	var urls []string
	for _, m := range members {
		f.start(m, env(m.name)...)
		if m.command == harness.API {
			urls = append(urls, "http://"+r.road("client", m.name, w.site.Addr))
		}
	}
	w.c.URL, w.c.Others = urls[0], urls[1:]
	w.c.HTTP.Transport = &http.Transport{MaxIdleConnsPerHost: 64, ResponseHeaderTimeout: 15 * time.Second} // a link that is silent makes a result unknown
	w.push = newDesk(t)
	w.hire(func(name string) string { return w.site.Key(name, "--scopes", "all") })
	return f
}

// start starts a member and waits until it is ready.
func (f *fleet) start(m member, env ...string) {
	f.t.Helper()
	env = append(env, "CRASHABLE_TALLY="+f.w.tally,
		"LONGHAUL_TEMPORAL_ADDR="+f.roads.road(m.name, "temporal", f.temporal),
		"LONGHAUL_JOURNAL="+strings.Replace(f.postgres.URL("journal"), f.postgres.Addr(), f.roads.road(m.name, "postgres", f.postgres.Addr()), 1))
	f.roads.start(m.name, func(addr string) {
		f.w.site.Addr = addr
		f.w.site.Start(m.command, env...)
	})
	f.t.Logf("%s is ready", m.name)
}

// endure has clients compete for a time, while fault happens again and again, and judges what they
// have seen once it has ended. fault returns false when the last one is over.
func (f *fleet) endure(l *life, lasts time.Duration, fault func(ctx context.Context, r *rand.Rand)) {
	f.t.Helper()
	ctx, cancel := context.WithTimeout(f.t.Context(), lasts+3*time.Minute)
	defer cancel()
	kinds, err := chosen(*proofClients)
	must(f.t, err)
	var group sync.WaitGroup
	group.Go(func() { f.w.play(ctx, &group, kinds, max(2*len(kinds), int(lasts.Seconds())), lasts) })
	r := rand.New(rand.NewPCG(l.Seed, 0))
	for end := time.Now().Add(lasts); time.Now().Before(end) && ctx.Err() == nil; l.Faults++ {
		fault(ctx, r)
		f.w.nextRound(false)
	}
	f.w.nextRound(true)
	f.t.Logf("%d faults are over", l.Faults)
	group.Wait()
	f.t.Log("all clients have ended")
	if err := f.w.ticks(ctx); err != nil {
		f.t.Error(err)
	}
	f.w.checkJournal(f.w.settle(), readJournal(f.t, openDatabase(f.t, f.postgres.URL("journal"))))
	l.Objectives, l.Operations = len(f.w.tasks), f.w.judged
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
