package crash_test

import (
	"context"
	"flag"
	"math/rand/v2"
	"regexp"
	"slices"
	"sync"
	"testing"
	"time"

	"longhaul/dev/e2e/harness"
	"longhaul/internal/test"
)

var (
	crashable    = flag.String("crashable", harness.Crashable, "program that the tests kill")
	proofClients = flag.String("clients", "", "regular expression for the clients of TestProof, by the names of scenarios; all without it")
	proofWithin  = flag.Duration("within", 5*time.Minute, "the longest that clients of TestProof wait")
)

// TestProof is the short form of TestChaos: one process with SQLite is killed every few
// seconds, while objectives of every kind run and clients compete.
func TestProof(t *testing.T) {
	t.Parallel()
	const lasts = 12 * time.Second
	kinds := test.Value(chosen(*proofClients))(t)
	ctx, cancel := context.WithTimeout(t.Context(), *proofWithin)
	defer cancel()
	w := newWorld(t, "--auth", "keys", "--rate-limit", "0", "--playbooks", test.File(t, "quorum.yaml", quorum),
		"--allow-private-egress", "--push-transitions", "all")
	w.push, w.patience = newDesk(t), min(within, *proofWithin)
	w.hire(func(name string) string { return w.site.Key(name, "--scopes", "all") })
	p := w.start(harness.AllInOne, "")
	var group sync.WaitGroup
	group.Go(func() { w.play(ctx, &group, kinds, max(2*len(kinds), 10), lasts) })
	for end := time.Now().Add(lasts); time.Now().Before(end) && !t.Failed(); {
		p.AwaitEnd(time.Duration(1000+rand.IntN(2000)) * time.Millisecond)
		p.Kill()
		p = w.start(harness.AllInOne, "")
		w.nextRound(false)
	}
	w.nextRound(true)
	group.Wait()
	test.Error(t, "the call", nil, w.ticks(ctx))
	all := w.settle()
	p.Stop()
	w.checkStopped(all)
}

// hire makes API keys for the callers, of whom ann begins the work.
func (w *world) hire(key func(name string) string) {
	anyone := w.c
	w.voters = map[string]*harness.Client{}
	for _, name := range []string{"ann", "bob", "carol", "dave"} {
		w.voters[name] = anyone.With("Authorization", "Bearer "+key(name))
	}
	w.c = w.voters["ann"]
}

// chosen returns the scenarios whose names match an expression.
func chosen(expression string) (kinds []scenario, err error) {
	is, err := regexp.Compile(expression)
	if err != nil {
		return nil, err
	}
	kinds = slices.Concat(scenarios, crew, []scenario{{"pushed", (*world).pushed}, {"edited", (*world).edited}})
	return slices.DeleteFunc(kinds, func(s scenario) bool { return !is.MatchString(s.name) }), nil
}

// scenario returns what drives the n-th objective, with the kinds in turn.
func (w *world) scenario(ctx context.Context, kinds []scenario, n int) func() {
	return func() {
		s := kinds[n%len(kinds)]
		if err := s.run(w, ctx, n); err != nil {
			w.t.Errorf("objective %d, %s: %v", n, s.name, err)
		}
	}
}

// play begins objectives of some kinds, and a schedule, in a time. group waits for their ends.
func (w *world) play(ctx context.Context, group *sync.WaitGroup, kinds []scenario, objectives int, lasts time.Duration) {
	test.Error(w.t, "make a schedule", nil, w.schedule(ctx))
	for n := range objectives {
		group.Go(w.scenario(ctx, kinds, n))
		select {
		case <-time.After(lasts / time.Duration(objectives+1)):
		case <-ctx.Done():
		}
	}
}
