package harness

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

const (
	readyTimeout = 60 * time.Second
	stopTimeout  = 45 * time.Second
)

// A Process is one run of a program. Its methods may be called from any
// goroutine.
type Process struct {
	Command string
	LogPath string // standard error and output

	site  *Site
	cmd   *exec.Cmd
	log   *os.File
	ended chan struct{}
	err   error // of Wait, once it has ended
}

func launch(s *Site, command, logPath string, env []string) (*Process, error) {
	if err := os.MkdirAll(filepath.Dir(logPath), 0o700); err != nil {
		return nil, err
	}
	log, err := os.Create(logPath)
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(s.binary, s.flags(command)...)
	cmd.Env = slices.Concat(environment(), s.Env, env)
	cmd.Dir = filepath.Dir(s.Dir)
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = Attributes()
	p := &Process{Command: command, LogPath: logPath, site: s, cmd: cmd, log: log, ended: make(chan struct{})}
	if err := cmd.Start(); err != nil {
		return nil, errors.Join(err, log.Close())
	}
	go func() {
		p.err = errors.Join(cmd.Wait(), log.Close())
		close(p.ended)
	}()
	return p, nil
}

// environment returns the environment of the test without settings of Longhaul and
// of Temporal's tools.
func environment() []string {
	own := slices.DeleteFunc(os.Environ(), func(e string) bool { return strings.HasPrefix(e, "LONGHAUL_") || strings.HasPrefix(e, "TEMPORAL_") })
	return append(own, "TEMPORAL_CONFIG_FILE="+os.DevNull, "LONGHAUL_ECHO=true", "LONGHAUL_FALLBACK=echo") // messages of tests are scripts for echo
}

// String names p in messages.
func (p *Process) String() string { return fmt.Sprintf("%s (%d)", p.Command, p.cmd.Process.Pid) }

// PID returns the id of the process.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// Ended is closed once the process has ended.
func (p *Process) Ended() <-chan struct{} { return p.ended }

// Killed reports whether the process has ended by SIGKILL.
func (p *Process) Killed() bool {
	select {
	case <-p.ended:
	default:
		return false
	}
	var exit *exec.ExitError
	if !errors.As(p.err, &exit) {
		return false
	}
	status, ok := exit.Sys().(syscall.WaitStatus)
	return ok && status.Signaled() && status.Signal() == syscall.SIGKILL
}

// Kill ends the process with SIGKILL and waits for its end. It does nothing if
// the process has ended.
func (p *Process) Kill() {
	_ = p.cmd.Process.Kill() // it may have ended
	<-p.ended
}

// Stop asks the process to end and waits for it. The test fails if the process
// does not end, or ends with an error.
func (p *Process) Stop() {
	p.site.t.Helper()
	_ = p.cmd.Process.Signal(syscall.SIGTERM)
	select {
	case <-p.ended:
		if p.err != nil {
			p.site.t.Errorf("%v ended with: %v", p, p.err)
		}
	case <-time.After(stopTimeout):
		p.site.t.Errorf("%v did not stop within %v", p, stopTimeout)
		p.Kill()
	}
}

// WaitReady waits until the process is ready: an API answers and can accept work;
// Temporal and a worker have logged that they are up.
func (p *Process) WaitReady() {
	p.site.t.Helper()
	Eventually(p.site.t, readyTimeout, p.Command+" is ready", func() error {
		select {
		case <-p.ended:
			p.site.t.Fatalf("%v ended before it was ready: %v\n%s", p, p.err, tail(p.LogPath, 4000))
		default:
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
	case <-p.ended:
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
		return errNotYet
	}
	return err
}

// Answers returns nil if the API answers a GET of path with 200.
func (s *Site) Answers(path string) error {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	return Answers(ctx, s.URL()+path)
}

// Answers returns nil if a GET of a URL is answered with 200.
func Answers(ctx context.Context, url string) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return fmt.Errorf("%s answers %s", url, res.Status)
	}
	return nil
}
