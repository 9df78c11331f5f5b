package api_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"longhaul/api/call"
	"longhaul/internal/test"
)

// A stalled body arrives up to a size, and then no more of it.
type stalled struct {
	ctx  context.Context
	left int
	read *atomic.Int64
}

func (s *stalled) Read(p []byte) (int, error) {
	if s.left == 0 {
		<-s.ctx.Done()
		return 0, s.ctx.Err()
	}
	n := min(len(p), s.left)
	s.left -= n
	s.read.Add(int64(n))
	clear(p[:n])
	return n, nil
}

// A reading page reads the bodies of requests whose sender it does not know.
type reading struct{}

func (reading) Serve(_ *call.Call, w http.ResponseWriter, r *http.Request, _ string) {
	_, _ = io.ReadAll(http.MaxBytesReader(w, r.Body, 4<<20))
}

// What bodies hold that do not arrive has a limit, also of one tenant or one address. Small bodies, and those of others, are
// read meanwhile, and one that waits for too long is refused.
func TestServer_stalledBodies(t *testing.T) {
	s := newService(t, func(c *config) { c.Hooks = reading{} })
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		begin := func(path, credential string, length int64, times int) (list []*httptest.ResponseRecorder, read *atomic.Int64) {
			size := 15 << 20
			if credential == "" {
				size = 3 << 20
			}
			read = new(atomic.Int64)
			for range times {
				r := httptest.NewRequestWithContext(ctx, http.MethodPost, path, &stalled{ctx, size, read})
				r.ContentLength = length
				r.Header.Set("Authorization", credential)
				w := httptest.NewRecorder()
				list = append(list, w)
				go s.ServeHTTP(w, r)
			}
			synctest.Wait()
			return list, read
		}
		const most, small = 32 << 20, 64 << 10
		waiting, read := begin("/a2a", "Bearer acme/ann", -1, 10)
		if n := read.Load(); n < 15<<20 || n > most+10*small {
			t.Errorf("bodies of a tenant hold %d bytes", n)
		}
		if _, read := begin("/v1/schedules", "Bearer rival/eve", 15<<20, 1); read.Load() != 15<<20 {
			t.Errorf("%d bytes of the body of another tenant were read", read.Load())
		}
		if _, read := begin("/hooks/x", "", -1, 20); read.Load() > 16<<20+20*small {
			t.Errorf("bodies of one address hold %d bytes", read.Load())
		}
		if n := s.call(t, "ListTasks", `{}`); n.has("error") {
			t.Errorf("a small body: %v", n)
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		refused := 0
		for _, w := range waiting {
			if strings.Contains(w.Body.String(), "Too many calls") {
				refused++
			}
		}
		if refused < 8 {
			t.Errorf("%d bodies were refused", refused)
		}
		cancel()
	})
}

// Bodies of an unknown size hold as much as has arrived of them, and so do not wait for stalled ones.
func TestServer_stalledBodies_unknown(t *testing.T) {
	for _, tt := range []struct {
		name  string
		set   func(*config)
		begin func(i int) *http.Request
	}{
		{"of a tenant", func(*config) {}, func(int) *http.Request {
			r := httptest.NewRequest(http.MethodPost, "/a2a", nil)
			r.Header.Set("Authorization", "Bearer acme/ann")
			return r
		}},
		{"through a proxy", func(c *config) { c.Hooks, c.Proxies = reading{}, call.Proxies{netip.MustParsePrefix("10.0.0.0/8")} }, func(i int) *http.Request {
			r := httptest.NewRequest(http.MethodPost, "/hooks/x", nil)
			r.RemoteAddr = "10.0.0.1:80"
			r.Header.Set("X-Forwarded-For", fmt.Sprintf("192.0.2.%d", i))
			return r
		}},
	} {
		s := newService(t, tt.set)
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			const parallel, size = 100, 100 << 10
			read := new(atomic.Int64)
			for i := range parallel {
				r := tt.begin(i).WithContext(ctx)
				r.Body, r.ContentLength = io.NopCloser(&stalled{ctx, size, read}), -1
				go s.ServeHTTP(httptest.NewRecorder(), r)
			}
			synctest.Wait()
			test.Is(t, tt.name+": bytes that were read", int64(parallel*size), read.Load())
		})
	}
}
