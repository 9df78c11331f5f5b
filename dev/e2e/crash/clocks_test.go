package crash_test

import (
	"context"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"longhaul/dev/e2e/harness"
	"longhaul/internal/test"
)

// The clocks of the processes of a fleet differ by minutes, and jump.
func TestClocks(t *testing.T) { live(t, map[string]func(*life, *testing.T){"clocks": (*life).jump}) }

// Playbooks for questions that expire: soon, and sooner than a clock that is ahead says.
const (
	soon = `name: soon
match: {pattern: "^soon "}
plans:
- name: Soon
  tasks:
  - name: Approve
    human: {approve: "Good?", responders: {principals: [ann]}, wait: [{after: 2s, do: expire, action: reject}]}
`
	later = `name: later
match: {pattern: "^later "}
plans:
- name: Later
  tasks:
  - name: Approve
    human: {approve: "Good?", responders: {principals: [ann]}, wait: [{after: 4m, do: expire, action: reject}]}
  - {name: Write, executor: echo, description: say written}
`
)

// The clocks at the beginning, and how far they jump, and may be from the true one.
var (
	firstClocks = map[string]time.Duration{"worker-1": -5 * time.Minute, "api-1": 5 * time.Minute}
	jumps       = []time.Duration{-3 * time.Minute, 3 * time.Minute}
)

const farthest = 8 * time.Minute

// machineRoads are those of one machine.
type machineRoads struct {
	t     *testing.T
	addrs map[string]string // by member
}

func newMachineRoads(t *testing.T) machineRoads { return machineRoads{t, map[string]string{}} }

func (machineRoads) road(_, _, addr string) string { return addr }

func (r machineRoads) start(name string, launch func(addr string)) {
	if r.addrs[name] == "" {
		r.addrs[name] = harness.FreeAddr(r.t)
	}
	launch(r.addrs[name])
}

// jump has the clock of a random process jump, again and again. A worker is killed now and then, whose tasks
// another one takes.
func (l *life) jump(t *testing.T) {
	dir, clocks := t.TempDir(), map[string]time.Duration{}
	set := func(name string, ahead time.Duration) {
		clocks[name] = ahead
		test.OK(t, os.Rename(harness.WriteFile(t, dir, "next", ahead.String()), filepath.Join(dir, name)))
	}
	for _, m := range members {
		set(m.name, firstClocks[m.name])
	}
	books := playbooks(t, quorum, soon, later)
	roads, links := newMachineRoads(t), newLinkbox(t)
	roads.addrs["api-1"] = harness.FreeAddr(t)
	notices := test.File(t, "notices.yaml", "channels:\n- {name: links, kind: webhook, url: \""+links.URL+"\", tenants: [default], principal: ann}\n")
	f := newFleet(newWorld(t), roads, func(name string) []string {
		return []string{
			"CRASHABLE_CLOCK=" + filepath.Join(dir, name), books, "LONGHAUL_NOTICES=" + notices,
			"LONGHAUL_ANSWER_KEYS=" + strings.Repeat("B", 42) + "A=", "LONGHAUL_PUBLIC_URL=http://" + roads.addrs["api-1"],
		}
	})
	f.w.behind = farthest
	f.endure(l, time.Duration(l.pick(8, 60))*time.Second, func(ctx context.Context, r *rand.Rand) {
		m, by := members[r.IntN(len(members))], jumps[r.IntN(len(jumps))]
		if l.Faults%5 == 4 {
			t.Logf("%s is killed", members[0].name)
			f.replace(members[0])
		}
		if ahead := clocks[m.name] + by; ahead.Abs() <= farthest {
			t.Logf("%s jumps by %v, and is ahead by %v", m.name, by, ahead)
			set(m.name, ahead)
		}
		wait(ctx, between(r, 300*time.Millisecond, 2*time.Second))
	}, scenario{"expired", (*world).expired}, scenario{"answered in time", (*world).inTime},
		scenario{"answered in time by a link", links.inTime}, scenario{"answered too late by a link", links.late})
}

// expired has a question without an answer.
func (w *world) expired(ctx context.Context, n int) error {
	_, err := w.begin(ctx, harness.Message{ID: id(n), Text: "soon " + id(n)}, expected{state: "FAILED"})
	return err
}

// inTime answers a question before it expires.
func (w *world) inTime(ctx context.Context, n int) error {
	f, err := w.begin(ctx, harness.Message{ID: id(n), Text: "later " + id(n)}, expected{state: "COMPLETED"})
	if err != nil {
		return err
	}
	return w.answer(ctx, f, planTask(f.TaskID, 1, 0), 1, decide("accept"))
}
