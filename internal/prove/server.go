package prove

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"sync"
	"syscall"
	"time"
)

// A Server is what prove can do to the process of a server.
type Server interface {
	// Start starts the server and does not wait until it is ready.
	Start(ctx context.Context) error
	// Kill ends it without notice, and returns when it has ended.
	Kill(ctx context.Context) error
	// Stop asks it to end, and returns when it has ended.
	Stop(ctx context.Context) error
}

// errNoStop is the error of a server that can only be killed.
var errNoStop = errors.New("no command stops the server")

// stopTimeout is how long a server may take to end when it is asked to.
const stopTimeout = 40 * time.Second

// A Process is a server that prove runs itself: a line for the shell, with all that it
// starts.
type Process struct {
	Line string
	Log  io.Writer // gets standard output and error

	mu    sync.Mutex
	cmd   *exec.Cmd
	ended chan struct{}
}

// Start implements [Server].
func (p *Process) Start(context.Context) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	cmd := exec.Command("sh", "-c", p.Line)
	cmd.Stdout, cmd.Stderr = p.Log, p.Log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // so that a signal reaches its children, too
	cmd.WaitDelay = time.Second
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start %q: %w", p.Line, err)
	}
	ended := make(chan struct{})
	go func() {
		_ = cmd.Wait() // it is killed, so its result says nothing
		close(ended)
	}()
	p.cmd, p.ended = cmd, ended
	return nil
}

// Ended reports whether the process has ended by itself, or was never started.
func (p *Process) Ended() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.cmd == nil {
		return true
	}
	select {
	case <-p.ended:
		return true
	default:
		return false
	}
}

// Kill implements [Server] with SIGKILL to the whole group of processes.
func (p *Process) Kill(ctx context.Context) error { return p.signal(ctx, syscall.SIGKILL) }

// Stop implements [Server] with SIGTERM, and SIGKILL if that does not end it in time.
func (p *Process) Stop(ctx context.Context) error {
	asked, cancel := context.WithTimeout(ctx, stopTimeout)
	defer cancel()
	if p.signal(asked, syscall.SIGTERM) == nil {
		return nil
	}
	return errors.Join(fmt.Errorf("the server did not end within %v of SIGTERM", stopTimeout), p.Kill(context.WithoutCancel(ctx)))
}

func (p *Process) signal(ctx context.Context, s syscall.Signal) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.cmd == nil {
		return nil
	}
	_ = syscall.Kill(-p.cmd.Process.Pid, s) // it may have ended
	select {
	case <-p.ended:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Commands are a server that runs elsewhere, with lines for the shell that act on it.
type Commands struct {
	StartLine, KillLine string
	StopLine            string // "" if the server can only be killed
}

// Start implements [Server].
func (c Commands) Start(ctx context.Context) error { return shell(ctx, c.StartLine) }

// Kill implements [Server].
func (c Commands) Kill(ctx context.Context) error { return shell(ctx, c.KillLine) }

// Stop implements [Server].
func (c Commands) Stop(ctx context.Context) error {
	if c.StopLine == "" {
		return errNoStop
	}
	return shell(ctx, c.StopLine)
}

// shell runs a command line and waits for it, not for processes that it starts in the background.
func shell(ctx context.Context, line string) error {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "sh", "-c", line)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr, cmd.WaitDelay = &out, &out, time.Second
	if err := cmd.Run(); err != nil && !errors.Is(err, exec.ErrWaitDelay) {
		return fmt.Errorf("%q: %w: %s", line, err, bytes.TrimSpace(out.Bytes()))
	}
	return nil
}
