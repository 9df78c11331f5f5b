package crash_test

import (
	"context"
	"errors"
	"flag"
	"math/rand/v2"
	"slices"
	"syscall"
	"testing"
	"time"

	"longhaul/dev/binary"
	"longhaul/dev/e2e/harness"
)

// oldCommit is the youngest one whose program knows neither the usage of models (rules 7, migration 18) nor plans
// that wait with their reports (rules 8).
var oldCommit = flag.String("old", "ff3724756f74658334292bc97a447f2e2c83d3de", "commit or tag of the older program of TestSkew")

// Workers and API are replaced by those of another version while clients compete, one at a time and in any order:
// by newer ones, back, and by newer ones again. Each may be killed in between.
func TestSkew(t *testing.T) {
	if *livesFor == 0 {
		t.Skip("it takes minutes to build an older program: make proof-skew")
	}
	old, err := binary.At(*oldCommit, harness.Crashable)
	if errors.Is(err, binary.ErrNoHistory) {
		t.Skipf("NOT TESTED: versions together. An older program cannot be built: %v", err)
	}
	must(t, err)
	live(t, map[string]func(*life, *testing.T){"skew": func(l *life, t *testing.T) { l.deploy(t, old) }})
}

// deploy replaces members of a fleet that has begun with old ones. At the end all are new.
func (l *life) deploy(t *testing.T, binary string) {
	w := newWorld(t)
	w.patience = 12 * time.Minute // a workflow that old workers cannot continue is tried again after pauses that grow to ten
	old, young := version{"old", binary}, version{"new", w.site.Binary()}
	w.site.Use(old.binary)
	d := &deployment{newFleet(w, newMachineRoads(t), func(string) []string { return nil }), map[string]version{}, young, old, nil}
	d.patience = w.patience
	for _, m := range members {
		d.runs[m.name] = old
	}
	w.site.Use(young.binary)
	w.site.Run("migrate")
	d.calm = func() {
		for _, m := range members {
			if d.runs[m.name] == old {
				d.replace(m, young)
			}
		}
	}
	d.endure(l, 90*time.Second, func(ctx context.Context, r *rand.Rand) {
		if m := members[r.IntN(len(members))]; r.IntN(3) == 0 {
			d.replace(m, d.runs[m.name])
		} else {
			d.step(r)
		}
		wait(ctx, between(r, 0, 3*time.Second))
	})
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
		d.left = slices.Clone(members)
		r.Shuffle(len(d.left), func(i, j int) { d.left[i], d.left[j] = d.left[j], d.left[i] })
	}
	m := d.left[0]
	if r.IntN(2) == 0 {
		must(d.t, d.running[m.name].Process.Stop(syscall.SIGTERM, time.Minute))
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
