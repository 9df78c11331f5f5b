package crash_test

import (
	"context"
	"flag"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"longhaul/dev/e2e/harness"
)

var crashable = flag.String("crashable", harness.Crashable, "program that the tests kill")

// TestProof is the short form of TestChaos: one process with SQLite is killed every few
// seconds, while objectives of every kind run and clients compete.
func TestProof(t *testing.T) {
	const objectives, lasts = 44, 12 * time.Second // two of each kind
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	w := newWorld(t, "--auth", "keys", "--playbooks", harness.WriteFile(t, t.TempDir(), "quorum.yaml", quorum),
		"--allow-private-egress", "--push-transitions", "all")
	w.push = newDesk(t)
	w.hire(func(name string) string { return w.site.Key(name, "--scopes", "all") })
	p := w.start(harness.AllInOne, "")
	var group sync.WaitGroup
	group.Go(func() {
		for end := time.Now().Add(lasts); time.Now().Before(end) && !t.Failed(); {
			p.AwaitEnd(time.Duration(1000+rand.IntN(2000)) * time.Millisecond)
			p.Kill()
			p = w.start(harness.AllInOne, "")
			w.nextRound(false)
		}
		p.Kill()
		p = w.launch(harness.AllInOne, "")
		w.nextRound(true)
	})
	w.play(ctx, &group, objectives, lasts)
	group.Wait()
	if err := w.ticks(ctx); err != nil {
		t.Error(err)
	}
	all := w.settle()
	p.Stop()
	w.checkStopped(all)
}

// hire makes API keys for the callers, of whom ann begins the work.
func (w *world) hire(key func(name string) string) {
	anyone := w.c
	w.voters = map[string]*harness.Client{}
	for _, name := range []string{"ann", "bob", "carol"} {
		w.voters[name] = anyone.With("Authorization", "Bearer "+key(name))
	}
	w.c = w.voters["ann"]
}

// play begins objectives of all kinds, and a schedule, in a time. group waits for their ends.
func (w *world) play(ctx context.Context, group *sync.WaitGroup, objectives int, lasts time.Duration) {
	if err := w.schedule(ctx); err != nil {
		w.t.Errorf("make a schedule: %v", err)
	}
	kinds := slices.Concat(scenarios, crew, []scenario{{"pushed", (*world).pushed}, {"edited", (*world).edited}})
	for n := range objectives {
		group.Go(func() {
			s := kinds[n%len(kinds)]
			if err := s.run(w, ctx, n); err != nil {
				w.t.Errorf("objective %d, %s: %v", n, s.name, err)
			}
		})
		select {
		case <-time.After(lasts / time.Duration(objectives+1)):
		case <-ctx.Done():
		}
	}
}
