// Package child runs programs as child processes, for tests and tools: it starts them,
// keeps what they print, waits until they are ready, and ends them. A process that is to
// run again is started as a new [Process] with the same log.
package child

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"
)

// Options say how a program runs, beside its command.
type Options struct {
	Log  string              // file to which standard output and error are added; "" leaves those of the command
	As   *syscall.Credential // the user; nil for the current one
	Last syscall.Signal      // that the process gets when this one is killed, on Linux; 0 is SIGKILL
}

// A Process is one run of a program. Its methods may be called from any goroutine.
type Process struct {
	LogPath string // "" if the command has its own output

	cmd   *exec.Cmd
	ended chan struct{}
	err   error // of the run, once it has ended
}

// Start starts a command, in a group of its own: Ctrl-C must not reach it before us.
func Start(cmd *exec.Cmd, o Options) (*Process, error) {
	cmd.SysProcAttr = attributes(o)
	p := &Process{LogPath: o.Log, cmd: cmd, ended: make(chan struct{})}
	var log io.Closer = io.NopCloser(nil)
	if o.Log != "" {
		file, err := os.OpenFile(o.Log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
		if err != nil {
			return nil, err
		}
		cmd.Stdout, cmd.Stderr, log = file, file, file
	}
	if err := cmd.Start(); err != nil {
		return nil, errors.Join(fmt.Errorf("start %s: %w", filepath.Base(cmd.Path), err), log.Close())
	}
	go func() {
		p.err = errors.Join(cmd.Wait(), log.Close())
		close(p.ended)
	}()
	return p, nil
}

// PID returns the id of the process.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// Ended is closed once the process has ended.
func (p *Process) Ended() <-chan struct{} { return p.ended }

// Running reports whether the process has not ended.
func (p *Process) Running() bool {
	select {
	case <-p.ended:
		return false
	default:
		return true
	}
}

// Wait waits for the end of the process. The error is nil if it ended well.
func (p *Process) Wait() error {
	<-p.ended
	return p.err
}

// Signal sends a signal to the process.
func (p *Process) Signal(s os.Signal) error { return p.cmd.Process.Signal(s) }

// Kill ends the process with SIGKILL, and waits for its end. Its children stay. It does
// nothing if the process has ended.
func (p *Process) Kill() {
	_ = p.cmd.Process.Kill() // it may have ended
	<-p.ended
}

// KillTree does the same to the children of the process, too.
func (p *Process) KillTree() {
	if !p.Running() {
		return
	}
	_ = p.Signal(syscall.SIGSTOP) // else it may begin another child after they are listed
	children := descendants(p.PID())
	_ = p.cmd.Process.Kill()
	for _, pid := range children {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
	<-p.ended
}

// Stop asks the process to end with a signal, and kills it and its children if it has not ended within a
// time. The error says so, or how it ended otherwise than well, now or before.
func (p *Process) Stop(with os.Signal, within time.Duration) error {
	_ = p.Signal(with) // it may have ended
	timer := time.NewTimer(within)
	defer timer.Stop()
	select {
	case <-p.ended:
	case <-timer.C:
		p.KillTree()
		return fmt.Errorf("did not stop within %v and was killed", within)
	}
	if p.err != nil {
		return fmt.Errorf("ended with: %w", p.err)
	}
	return nil
}

// Tail returns the end of the log, at most so many bytes.
func (p *Process) Tail(size int) string { return Tail(p.LogPath, size) }

// Tail returns the end of a file, at most so many bytes, or why it cannot be read.
func Tail(path string, size int) string {
	data, err := os.ReadFile(path)
	if err != nil {
		return err.Error()
	}
	return string(data[max(0, len(data)-size):])
}

// Until calls check, at once and then again and again, until it returns nil or ctx ends.
// The error is of both.
func Until(ctx context.Context, every time.Duration, check func() error) error {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		err := check()
		if err == nil {
			return nil
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return fmt.Errorf("%w (at last: %w)", context.Cause(ctx), err)
		}
	}
}

// Answers returns nil if a GET of a URL is answered with 200. It uses no proxy and leaves
// no connection open.
func Answers(ctx context.Context, url string) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	res, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return fmt.Errorf("%s answers %s", url, res.Status)
	}
	return nil
}
