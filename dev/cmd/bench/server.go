package main

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"time"

	"longhaul"
	"longhaul/a2a"
	"longhaul/activities"
	"longhaul/activities/echo"
	"longhaul/dev/e2e/harness"
	"longhaul/dev/e2e/official"
	"longhaul/dev/temporald"
	"longhaul/internal/child"
	"longhaul/internal/freeport"
)

// Words by which this program runs as one of the servers that it measures.
const (
	serveLonghaul = "serve-longhaul"
	serveOfficial = "serve-official"
)

// serve runs a server until it is killed.
func serve(which string, args []string) {
	if which == serveLonghaul {
		os.Args = append([]string{"longhaul"}, args...)
		longhaul.Main(longhaul.Program{Embed: temporald.Embed, Executors: map[string]longhaul.Executor{"echo": stamping{}}})
		return
	}
	server := &http.Server{Addr: args[0], Handler: official.Handler("http://" + args[0] + "/"), ReadHeaderTimeout: 10 * time.Second}
	fmt.Fprintln(os.Stderr, server.ListenAndServe())
	os.Exit(1)
}

// stamping is the executor echo with one command more: "stamp 10 50ms" adds pieces to
// an artifact that hold the time at which they were made.
type stamping struct{ echo.Executor }

var stampCommand = regexp.MustCompile(`(?:work (\S+); )?stamp (\d+) (\S+)`)

// Execute implements [activities.Executor].
func (e stamping) Execute(ctx context.Context, w activities.Work, out activities.Stream) (activities.Outcome, error) {
	script := w.Description
	script = cmp.Or(script, w.Name)
	found := stampCommand.FindStringSubmatch(script)
	if found == nil || strings.HasPrefix(script, "ask") && len(w.Replies) == 0 {
		w.Description, _, _ = strings.Cut(script, "; stamp")
		return e.Executor.Execute(ctx, w, out)
	}
	before, _ := time.ParseDuration(found[1])
	n, _ := strconv.Atoi(found[2])
	apart, _ := time.ParseDuration(found[3])
	_ = activities.Sleep(ctx, before) // the end says whether it was canceled
	for i := range n {
		piece := a2a.Artifact{ArtifactID: "stamps", Parts: []a2a.Part{a2a.TextPart(official.Stamp())}}
		if err := out.Chunk(ctx, piece, i == n-1); err != nil {
			return activities.Outcome{}, err
		}
		_ = activities.Sleep(ctx, apart)
	}
	return activities.Completed(), ctx.Err()
}

// A site is one installation of Longhaul, or the official server: where it runs and
// what it runs with.
type site struct {
	dir, addr, temporal string
	sync                string
	env                 []string // KEY=value, for its processes
}

func newSite(s settings, name string) (*site, error) {
	addr, err := freeport.Addr()
	if err != nil {
		return nil, err
	}
	temporal, err := freeport.Addr()
	if err != nil {
		return nil, err
	}
	at := &site{dir: filepath.Join(s.dir, name), addr: addr.String(), temporal: temporal.String(), sync: s.sync}
	return at, os.MkdirAll(at.dir, 0o700)
}

func (at *site) client() *harness.Client { return harness.NewClient("http://" + at.addr) }

// A server is one process.
type server struct{ *child.Process }

// start runs a command of Longhaul, or the official server, and waits until it is ready.
func (at *site) start(ctx context.Context, command string) (*server, error) {
	args := []string{serveLonghaul, command, "--data-dir", at.dir, "--temporal-addr", at.temporal, "--log-level", "error"}
	switch command {
	case "dev":
		args = append(args, "--addr", at.addr, "--temporal-ui-addr", "", "--sync", at.sync, "--fallback", "echo")
	case "temporal":
		args = append(args, "--temporal-ui-addr", "")
	case "api":
		args = append(args, "--addr", at.addr, "--fallback", "echo")
	case "worker":
		args = append(args, "--fallback", "echo")
	case serveOfficial:
		args = []string{serveOfficial, at.addr}
	}
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(self, args...)
	cmd.Env = append(os.Environ(), at.env...)
	started, err := child.Start(cmd, child.Options{Log: filepath.Join(at.dir, command+".log")})
	if err != nil {
		return nil, err
	}
	p := &server{started}
	if err := at.ready(ctx, p, command); err != nil {
		p.Kill()
		return nil, fmt.Errorf("start %s: %w\n%s", command, err, p.Tail(1000))
	}
	return p, nil
}

// ready waits until a process answers, or for a worker until it has begun.
func (at *site) ready(ctx context.Context, p *server, command string) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	return harness.Repeat(ctx, func(ctx context.Context) error {
		if !p.Running() {
			return &harness.RPCError{Message: "it ended"} // which is not repeated
		}
		switch command {
		case "worker":
			return nil // the first task says whether it works
		case "temporal":
			conn, err := net.DialTimeout("tcp", at.temporal, time.Second)
			if err == nil {
				err = conn.Close()
			}
			return err
		}
		return child.Answers(ctx, "http://"+at.addr+map[bool]string{true: "/.well-known/agent-card.json", false: "/readyz"}[command == serveOfficial])
	})
}

// stop asks the process to end, and kills it if it does not.
func (p *server) stop() { _ = p.Stop(syscall.SIGTERM, 30*time.Second) }

// memory returns the resident memory of the process in KiB; 0 where it cannot be read.
func (p *server) memory() float64 {
	status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.PID()))
	found := regexp.MustCompile(`RssAnon:\s+(\d+) kB`).FindSubmatch(status)
	if found == nil {
		return 0
	}
	n, _ := strconv.Atoi(string(found[1]))
	return float64(n)
}
