package doors_test

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"longhaul/dev/e2e/harness"
	"longhaul/internal/test"
)

var races = flag.Int("races", 5, "how many gates are raced for")

// Editors answer a gate at all doors at once, while the process is killed. One of them decides, each of
// the others sees who that was, and the decisions are one chain that verifies.
//
//	cd dev && go test ./e2e/doors -run Races -args -races 50
func TestRaces(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	p := o.site.Start(harness.AllInOne)
	for _, name := range editors {
		o.signIn(t.Context(), name)
	}
	won := map[string]int{}
	for n := range *races {
		root := o.ask(fmt.Sprint("race-", n), "Write")
		answers := o.race(root, &p)
		at, raw := o.decisions(root)
		winner := closedBy(t, at)
		if winner == "" {
			t.Fatalf("race %d: no decision: %v", n, answers)
		}
		for i, a := range answers {
			switch {
			case a.outcome == accepted && editors[i] != winner:
				t.Errorf("race %d: %s was accepted at %s, but %s has decided", n, editors[i], a.door, winner)
			case a.outcome == refused && !strings.Contains(a.says, winner):
				t.Errorf("race %d: %s does not hear at %s that %s has decided: %s", n, editors[i], a.door, winner, a.says)
			case a.outcome == accepted || editors[i] == winner:
				won[a.door]++
			}
		}
		o.verify(raw)
	}
	t.Logf("of %d races, these doors have won: %v", *races, won)
}

// An answered is what an editor has seen at a door.
type answered struct {
	door string
	outcome
	says string
}

// race has each editor answer a gate at a door, at a random moment, until the editor knows what came of
// it. Meanwhile the process is killed and started again.
func (o *office) race(root *harness.Task, p **harness.Process) []answered {
	o.t.Helper()
	ctx, cancel := context.WithTimeout(o.t.Context(), 4*time.Minute)
	defer cancel()
	order := rand.Perm(len(doors))
	out := make([]answered, len(editors))
	var wg sync.WaitGroup
	for i, who := range editors {
		d, pause := doors[order[i]], time.Duration(rand.IntN(400))*time.Millisecond
		a := try{who: who, thread: root.ContextID, gate: root.Gate, digest: root.Gate.Digest, action: []string{"accept", "reject"}[rand.IntN(2)], id: root.ID + who}
		wg.Go(func() {
			time.Sleep(pause) // a random moment, which nothing waits for
			out[i].door, out[i].outcome = d.name, unknown
			for out[i].outcome == unknown && ctx.Err() == nil {
				out[i].outcome, out[i].says = d.answer(o, ctx, a)
			}
		})
	}
	time.Sleep(time.Duration(rand.IntN(500)) * time.Millisecond) // the command needs some of it to begin
	(*p).Kill()
	*p = o.site.Start(harness.AllInOne)
	wg.Wait()
	return out
}

// verify checks saved decisions with the program, as an auditor does.
func (o *office) verify(raw string) {
	o.t.Helper()
	path := test.File(o.t, "saved.json", raw)
	if out := o.site.Run("verify", path); !strings.Contains(out, "unchanged") {
		o.t.Errorf("verify says %s", out)
	}
}
