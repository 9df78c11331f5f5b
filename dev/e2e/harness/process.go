package harness

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"longhaul/internal/child"
)

const (
	readyTimeout = 60 * time.Second
	stopTimeout  = 45 * time.Second
)

// A Process is one run of a program. Its methods may be called from any
// goroutine.
type Process struct {
	*child.Process
	Command string

	site *Site
}

func launch(s *Site, command, logPath string, env []string) (*Process, error) {
	if err := os.MkdirAll(filepath.Dir(logPath), 0o700); err != nil {
		return nil, err
	}
	cmd := exec.Command(s.binary, s.flags(command)...)
	cmd.Env = slices.Concat(environment(), s.Env, env)
	cmd.Dir = filepath.Dir(s.Dir)
	started, err := child.Start(cmd, child.Options{Log: logPath})
	return &Process{started, command, s}, err
}

// environment returns the environment of the test without settings of Longhaul and
// of Temporal's tools.
func environment() []string {
	own := slices.DeleteFunc(os.Environ(), func(e string) bool { return strings.HasPrefix(e, "LONGHAUL_") || strings.HasPrefix(e, "TEMPORAL_") })
	return append(own, "TEMPORAL_CONFIG_FILE="+os.DevNull,
		"LONGHAUL_ECHO=true", "LONGHAUL_FALLBACK=echo") // messages of tests are scripts for echo
}

// String names p in messages.
func (p *Process) String() string { return fmt.Sprintf("%s (%d)", p.Command, p.PID()) }

// Killed reports whether the process has ended by SIGKILL.
func (p *Process) Killed() bool {
	var exit *exec.ExitError
	if p.Running() || !errors.As(p.Wait(), &exit) {
		return false
	}
	status, ok := exit.Sys().(syscall.WaitStatus)
	return ok && status.Signaled() && status.Signal() == syscall.SIGKILL
}

// Stop asks the process to end and waits for it. The test fails if the process
// does not end, or ends with an error.
func (p *Process) Stop() {
	p.site.t.Helper()
	if err := p.Process.Stop(syscall.SIGTERM, stopTimeout); err != nil {
		p.site.t.Errorf("%v %v", p, err)
	}
}

// WaitReady waits until the process is ready: an API answers and can accept work;
// Temporal and a worker have logged that they are up.
func (p *Process) WaitReady() {
	p.site.t.Helper()
	Eventually(p.site.t, readyTimeout, p.Command+" is ready", func() error {
		if !p.Running() {
			p.site.t.Fatalf("%v ended before it was ready: %v\n%s", p, p.Wait(), p.Tail(4000))
		}
		return p.ready()
	})
}

func (p *Process) ready() error {
	switch p.Command {
	case AllInOne, API:
		return p.site.Answers("/readyz")
	case Worker:
		return p.Logged("Working")
	default:
		return p.Logged("Temporal is up")
	}
}

// AwaitEnd waits until the process has ended, at most for a time and until the end of
// the test. It reports whether the process has ended.
func (p *Process) AwaitEnd(most time.Duration) bool {
	timer := time.NewTimer(most)
	defer timer.Stop()
	select {
	case <-p.Ended():
		return true
	case <-timer.C:
	case <-p.site.t.Context().Done():
	}
	return false
}

// Logged returns nil once the process has logged text.
func (p *Process) Logged(text string) error {
	log, err := os.ReadFile(p.LogPath)
	if err == nil && !strings.Contains(string(log), text) {
		return errors.New("not yet")
	}
	return err
}

// Answers returns nil if the API answers a GET of path with 200.
func (s *Site) Answers(path string) error {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	return child.Answers(ctx, s.URL()+path)
}
