package crash_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"longhaul/internal/needs"
	"longhaul/internal/test"
)

// Packets of the processes of a fleet vanish.
func TestNets_namespaces(t *testing.T) {
	live(t, map[string]func(*life, *testing.T){"namespaces": (*life).vanish})
}

// A network is that of one process: a namespace, and a cable to the test's own network.
type network struct {
	name        string // of the namespace, and of this end of the cable
	here, there string // the addresses of the ends
}

// networks are roads on which packets vanish: connections stay open, and nothing says that the other end is
// gone.
type networks struct {
	*links // to servers on loopback, from the ends that are here
	cables []*network
}

// vanishings are the ways in which a network is lost: commands for its beginning and for its end. A frame for
// an address of the hardware that there is not gets lost.
var vanishings = []struct{ name, begin, end string }{
	{"the link is down", "link set NAME down", "link set NAME up"},
	{"it gets nothing", "neigh replace THERE lladdr 02:00:00:00:00:01 dev NAME nud permanent", "neigh del THERE dev NAME"},
	{"it sends nothing", "-n NAME neigh replace HERE lladdr 02:00:00:00:00:01 dev eth0 nud permanent", "-n NAME neigh del HERE dev eth0"},
}

// ip runs the command of that name.
func (n *network) ip(args string) error {
	args = strings.NewReplacer("NAME", n.name, "HERE", n.here, "THERE", n.there).Replace(args)
	if out, err := exec.Command("ip", strings.Fields(args)...).CombinedOutput(); err != nil {
		return fmt.Errorf("ip %s: %w: %s", args, err, out)
	}
	return nil
}

// newNetworks makes one network for each member of a fleet.
func newNetworks(t *testing.T) *networks {
	t.Helper()
	if os.Getuid() != 0 {
		needs.Missing(t, "root", "this test makes network namespaces, for which it needs root")
	}
	needs.Tools(t, "ip")
	s := &networks{links: newLinks(t)}
	for i := range members {
		block := fmt.Sprintf("10.%d.%d.%%d", 192+os.Getpid()&63, os.Getpid()>>6&255) // to which webhooks may go
		n := &network{name: fmt.Sprintf("lh%d-%d", os.Getpid(), i), here: fmt.Sprintf(block, 4*i+1), there: fmt.Sprintf(block, 4*i+2)}
		if err := n.ip("netns add NAME"); err != nil {
			needs.Missing(t, "the right to make network namespaces", err.Error())
		}
		t.Cleanup(func() { // with a namespace alone, its cable is gone only some time later
			test.OK(t, errors.Join(n.ip("link del NAME"), n.ip("netns del NAME")))
		})
		for _, args := range []string{
			"link add NAME type veth peer name eth0 netns NAME", "addr add HERE/30 dev NAME", "link set NAME up",
			"-n NAME addr add THERE/30 dev eth0", "-n NAME link set eth0 up", "-n NAME link set lo up", "-n NAME route add default via HERE",
		} {
			test.OK(t, n.ip(args))
		}
		s.cables = append(s.cables, n)
	}
	return s
}

// of returns the network of a member.
func (s *networks) of(name string) *network {
	for i, m := range members {
		if m.name == name {
			return s.cables[i]
		}
	}
	return nil
}

// road implements [roads]. Temporal, which is on loopback, has a proxy at this end of the cable.
func (s *networks) road(from, to, addr string) string {
	switch to {
	case "temporal":
		return s.open(from, to, s.of(from).here, addr)
	case "postgres":
		_, port, _ := strings.Cut(addr, ":")
		return s.of(from).here + ":" + port
	}
	return addr
}

// settings are those of a PostgreSQL at this end of all cables. A lease of a worker ends by the silence of its
// own connection.
func (s *networks) settings() []string {
	f, err := os.CreateTemp("", "longhaul-hba-") // which another user may read
	test.OK(s.t, err)
	s.t.Cleanup(func() { test.OK(s.t, os.Remove(f.Name())) })
	_, err = f.WriteString("local all all trust\nhost all all 127.0.0.1/32 trust\nhost all all 10.0.0.0/8 trust\n")
	test.OK(s.t, errors.Join(err, f.Chmod(0o644), f.Close()))
	return []string{"listen_addresses=*", "hba_file=" + f.Name()}
}

// start implements [roads].
func (s *networks) start(name string, launch func(addr string)) {
	s.t.Helper()
	n := s.of(name)
	runtime.LockOSThread() // a namespace belongs to a thread, and a process begins in that of the thread that starts it
	defer runtime.UnlockOSThread()
	own := test.Value(os.Open("/proc/thread-self/ns/net"))(s.t)
	defer own.Close()
	other := test.Value(os.Open("/run/netns/" + n.name))(s.t)
	defer other.Close()
	test.OK(s.t, unix.Setns(int(other.Fd()), unix.CLONE_NEWNET))
	defer func() { test.OK(s.t, unix.Setns(int(own.Fd()), unix.CLONE_NEWNET)) }()
	launch(n.there + ":7420")
}

// vanish takes the network from a random process, again and again.
func (l *life) vanish(t *testing.T) {
	s := newNetworks(t)
	f := newFleet(newWorld(t), s, func(string) []string { return nil }, s.settings()...)
	f.w.push.URL = "http://" + s.open("a worker", "webhook", s.cables[0].here, strings.TrimPrefix(f.w.push.URL, "http://"))
	f.endure(l, time.Duration(l.pick(8, 60))*time.Second, func(ctx context.Context, r *rand.Rand) {
		i, way := r.IntN(len(members)), vanishings[r.IntN(len(vanishings))]
		lasts := between(r, 500*time.Millisecond, time.Duration(l.pick(2500, 12000))*time.Millisecond)
		t.Logf("%s for %v: %s", members[i].name, lasts, way.name)
		test.OK(t, s.cables[i].ip(way.begin))
		wait(ctx, lasts)
		test.OK(t, s.cables[i].ip(way.end))
		wait(ctx, between(r, 0, time.Second))
	})
}
