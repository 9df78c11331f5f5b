package main

import (
	"context"
	_ "embed" // of the handlers
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"longhaul/internal/child"
	"longhaul/internal/freeport"
)

const (
	restateVersion = "1.7.12"
	restateSDK     = "1.17.2"
	restateName    = "Restate " + restateVersion
	clockTick      = time.Second / 100 // of the times in /proc
)

//go:embed restate.mjs
var restateHandlers []byte

// A restate is Restate with its defaults, as two processes: its server, which waits for the disk as
// ours does, and the handlers of restate.mjs.
type restate struct {
	dir, packages           string
	ingress, handlers       netip.AddrPort
	serverProcess, handling *child.Process
	calls                   atomic.Int64
	client                  http.Client
}

// findRestate returns the directory in which npm has installed Restate, or an error that says how.
func findRestate() (packages string, err error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	packages = filepath.Join(cache, "longhaul-bench-restate-"+restateVersion)
	if servers, _ := filepath.Glob(restateServers(packages)); len(servers) == 0 {
		return "", fmt.Errorf("-peers needs Node.js and Restate: npm install --ignore-scripts --prefix %s @restatedev/restate-server@%s @restatedev/restate-sdk@%s",
			packages, restateVersion, restateSDK)
	}
	return packages, nil
}

// restateServers is the pattern of the program, which npm installs for the system alone.
func restateServers(packages string) string {
	return filepath.Join(packages, "node_modules", "@restatedev", "restate-server-*", "bin", "restate-server")
}

// startRestate starts both processes and waits until an objective has run. It returns nil without --peers.
func startRestate(ctx context.Context, s settings) (r *restate, err error) {
	if s.restate == "" {
		return nil, nil
	}
	r = &restate{packages: s.restate, dir: filepath.Join(s.dir, fmt.Sprintf("restate-%d", time.Now().UnixNano()))}
	r.client.Transport = &http.Transport{MaxIdleConnsPerHost: s.parallel}
	defer func() {
		if err != nil {
			err = fmt.Errorf("start Restate: %w", err)
			r.stop()
		}
	}()
	var node, admin netip.AddrPort
	for _, addr := range []*netip.AddrPort{&node, &admin, &r.ingress, &r.handlers} {
		if *addr, err = freeport.Addr(); err != nil {
			return r, err
		}
	}
	if err := r.startServer(node, admin); err != nil {
		return r, err
	}
	if err := r.startHandlers(); err != nil {
		return r, err
	}
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	err = child.Until(ctx, 100*time.Millisecond, func() error {
		return r.post(ctx, fmt.Sprintf("http://%v/deployments", admin), fmt.Sprintf(`{"uri":"http://%v"}`, r.handlers), "")
	})
	if err == nil {
		err = child.Until(ctx, 100*time.Millisecond, func() error { return r.once(ctx) })
	}
	return r, err
}

func (r *restate) startServer(node, admin netip.AddrPort) (err error) {
	if err := os.MkdirAll(r.dir, 0o700); err != nil {
		return err
	}
	servers, err := filepath.Glob(restateServers(r.packages))
	if err != nil {
		return err
	}
	cmd := exec.Command(servers[0], "--base-dir", filepath.Join(r.dir, "data"))
	cmd.Env = append(os.Environ(), "RESTATE_DISABLE_TELEMETRY=true", "RESTATE_LISTEN_MODE=tcp", "RESTATE_BIND_IP=127.0.0.1",
		fmt.Sprintf("RESTATE_BIND_PORT=%d", node.Port()), fmt.Sprintf("RESTATE_ADMIN__BIND_PORT=%d", admin.Port()), fmt.Sprintf("RESTATE_INGRESS__BIND_PORT=%d", r.ingress.Port()))
	r.serverProcess, err = child.Start(cmd, child.Options{Log: filepath.Join(r.dir, "server.log")})
	return err
}

func (r *restate) startHandlers() error {
	const name = "handlers.mjs"
	link := os.Symlink(filepath.Join(r.packages, "node_modules"), filepath.Join(r.dir, "node_modules"))
	if errors.Is(link, os.ErrExist) {
		link = nil // of a start before this one
	}
	if err := errors.Join(link, os.WriteFile(filepath.Join(r.dir, name), restateHandlers, 0o600)); err != nil {
		return err
	}
	cmd := exec.Command("node", name, strconv.Itoa(int(r.handlers.Port())))
	cmd.Dir = r.dir
	var err error
	r.handling, err = child.Start(cmd, child.Options{Log: filepath.Join(r.dir, "handlers.log")})
	return err
}

// stop may be called in any state.
func (r *restate) stop() {
	if r == nil {
		return
	}
	for _, p := range []*child.Process{r.handling, r.serverProcess} {
		if p != nil {
			_ = p.Stop(syscall.SIGTERM, 10*time.Second)
		}
	}
}

// once runs one objective until it has ended.
func (r *restate) once(ctx context.Context) error {
	return r.call(ctx, "objective/run", "")
}

// call calls a handler with a key of its own, as a message to Longhaul has an id.
func (r *restate) call(ctx context.Context, handler, body string) error {
	return r.post(ctx, fmt.Sprintf("http://%v/%s", r.ingress, handler), body, strconv.FormatInt(r.calls.Add(1), 10))
}

// post posts JSON, if there is any.
func (r *restate) post(ctx context.Context, url, body, key string) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		return err
	}
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	if key != "" {
		req.Header.Set("Idempotency-Key", key)
	}
	res, err := r.client.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	if res.StatusCode >= http.StatusBadRequest {
		return fmt.Errorf("%s answers %s", url, res.Status)
	}
	_, err = io.Copy(io.Discard, res.Body) // so that the connection is used again
	return err
}

// cpuTime returns the CPU time of both processes.
func (r *restate) cpuTime() (total time.Duration) {
	for _, p := range []*child.Process{r.serverProcess, r.handling} {
		stat, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.PID()))
		text := string(stat)
		fields := strings.Fields(text[strings.LastIndexByte(text, ')')+1:])
		for _, ticks := range fields[min(11, len(fields)):min(13, len(fields))] { // in the process and in the system
			n, _ := strconv.Atoi(ticks)
			total += time.Duration(n) * clockTick
		}
	}
	return total
}

// killOne kills the handlers, starts them again at once, and returns the seconds to their next step.
func (r *restate) killOne(ctx context.Context) (took float64, err error) {
	const before, count = 5, 20
	ctx, cancel := context.WithTimeout(ctx, 2*silentFor)
	defer cancel()
	steps := make(chan time.Time, 10*count) // some run twice
	listener := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { steps <- time.Now() }))
	defer listener.Close()
	if err := r.call(ctx, "steps/run/send", fmt.Sprintf(`{"url":%q,"count":%d}`, listener.URL, count)); err != nil {
		return 0, err
	}
	var began time.Time
	for i := 0; i < count; i++ {
		select {
		case at := <-steps:
			if i > before && took == 0 && at.After(began.Add(leftovers)) {
				took = at.Sub(began).Seconds()
			}
		case <-ctx.Done():
			return 0, ctx.Err()
		}
		if i == before {
			began = time.Now()
			r.handling.Kill()
			if err := r.startHandlers(); err != nil {
				return 0, err
			}
		}
	}
	return took, nil
}
