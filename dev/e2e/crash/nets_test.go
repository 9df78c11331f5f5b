package crash_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/Shopify/toxiproxy/v2"
	"github.com/rs/zerolog"

	"longhaul/dev/e2e/harness"
	"longhaul/internal/test"
)

// Links between the processes of a fleet fail, one at a time.
func TestNets(t *testing.T) { live(t, map[string]func(*life, *testing.T){"links": (*life).spoil}) }

// spoil spoils a random link in a random way, again and again.
func (l *life) spoil(t *testing.T) {
	s := newLinks(t)
	f := newFleet(newWorld(t), s, func(string) []string { return nil })
	n := 0
	f.endure(l, time.Duration(l.pick(8, 60))*time.Second, func(ctx context.Context, r *rand.Rand) {
		at, with := s.all[r.IntN(len(s.all))], spoils[(n+r.IntN(2))%len(spoils)]
		directions := [][]string{{"upstream", "downstream"}, {"upstream"}, {"downstream"}}[r.IntN(3)]
		n++
		s.spoil(ctx, at, with, directions, between(r, 500*time.Millisecond, time.Duration(l.pick(1500, 8000))*time.Millisecond))
		wait(ctx, between(r, 0, time.Second))
	})
}

// A link is one road between two processes of a fleet, through a proxy that spoils it.
type link struct {
	name  string
	proxy *toxiproxy.Proxy
}

// links are the roads of a fleet.
type links struct {
	t      *testing.T
	server *toxiproxy.ApiServer
	all    []*link
}

func newLinks(t *testing.T) *links {
	zerolog.SetGlobalLevel(zerolog.Disabled)
	return &links{t: t, server: toxiproxy.NewServer(toxiproxy.NewMetricsContainer(nil), zerolog.Nop())}
}

// road implements [roads].
func (s *links) road(from, to, addr string) string { return s.open(from, to, "127.0.0.1", addr) }

// open opens a link that listens at an IP address.
func (s *links) open(from, to, ip, addr string) string {
	s.t.Helper()
	_, port, _ := strings.Cut(harness.FreeAddr(s.t), ":")
	l := &link{name: from + " — " + to, proxy: toxiproxy.NewProxy(s.server, from+"-"+to, ip+":"+port, addr)}
	test.OK(s.t, l.proxy.Start())
	s.t.Cleanup(l.proxy.Stop)
	s.all = append(s.all, l)
	s.t.Logf("%s: %s for %s", l.name, l.proxy.Listen, addr)
	return l.proxy.Listen
}

// start implements [roads].
func (s *links) start(_ string, launch func(addr string)) { launch(harness.FreeAddr(s.t)) }

// A spoil is one way in which a link fails, as a toxic of toxiproxy.
type spoil struct{ name, toxic string }

var spoils = []spoil{
	{"delay", `"type": "latency", "attributes": {"latency": 400, "jitter": 300}`},
	{"rate", `"type": "bandwidth", "attributes": {"rate": 4}`},
	{"cut", `"type": "reset_peer", "attributes": {"timeout": 0}`},
	{"black hole", `"type": "timeout", "attributes": {"timeout": 0}`},
}

// changesWithin bounds a change of a proxy, which waits for each of its connections.
const changesWithin = 20 * time.Second

// change changes a proxy. The test ends if that takes too long.
func (s *links) change(what string, change func(ctx context.Context) error) {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), changesWithin)
	defer cancel()
	done := make(chan error, 1)
	go func() { done <- change(ctx) }()
	select {
	case err := <-done:
		test.OK(s.t, err)
	case <-ctx.Done():
		s.t.Fatalf("%s: the proxy does not take it within %v", what, changesWithin)
	}
}

// spoil spoils a link for a time, in some directions.
func (s *links) spoil(ctx context.Context, l *link, with spoil, directions []string, lasts time.Duration) {
	s.t.Helper()
	what := fmt.Sprintf("%s, %s of %s for %v", with.name, strings.Join(directions, " and "), l.name, lasts)
	s.t.Log(what)
	for _, d := range directions {
		s.change(what, func(context.Context) error {
			_, err := l.proxy.Toxics.AddToxicJson(strings.NewReader(fmt.Sprintf(`{"name": %q, "stream": %q, %s}`, d, d, with.toxic)))
			return err
		})
	}
	wait(ctx, lasts)
	s.change("the end of "+what, func(ctx context.Context) error {
		l.proxy.Toxics.ResetToxics(ctx)
		return nil
	})
}
