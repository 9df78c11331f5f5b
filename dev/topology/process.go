package topology

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/compose-spec/compose-go/v2/types"
)

// defaultGrace is the time that Docker gives a container to stop.
const defaultGrace = 10 * time.Second

// A Process runs in place of one container of a service. Its address and directories stay
// the same after a restart. Its methods may be called from any goroutine.
type Process struct {
	Name    string // service and number: worker-2
	Service string
	IP      string
	LogPath string // standard error and output of all runs

	topology   *Topology
	spec       types.ServiceConfig
	image      image
	as         *syscall.Credential // nil for the current user
	translator translator

	mu       sync.Mutex
	run      *run // the latest, nil before the first
	wanted   bool // to run: not stopped, not killed
	restarts int
}

// A run is one run of a process.
type run struct {
	cmd   *exec.Cmd
	log   *os.File
	ended chan struct{}
	err   error // of Wait, once it has ended
}

// Addr returns the address of a port of the process.
func (p *Process) Addr(port int) string { return fmt.Sprintf("%s:%d", p.IP, port) }

// PID returns the id of the latest run, 0 if there was none.
func (p *Process) PID() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.run == nil {
		return 0
	}
	return p.run.cmd.Process.Pid
}

// Running reports whether the process runs.
func (p *Process) Running() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.run != nil && !p.run.hasEnded()
}

// Restarts returns how often the process ended by itself and was started again.
func (p *Process) Restarts() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.restarts
}

// Launch starts the process, unless it runs, and does not wait until it is healthy.
func (p *Process) Launch() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.wanted = true
	if p.run != nil && !p.run.hasEnded() {
		return nil
	}
	return p.launch()
}

// Start starts the process, unless it runs, and waits until it is healthy.
func (p *Process) Start(ctx context.Context) error {
	if err := p.Launch(); err != nil {
		return err
	}
	return p.WaitHealthy(ctx)
}

// Signal sends a signal to the process, such as SIGSTOP for one that hangs.
func (p *Process) Signal(signal os.Signal) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.run == nil {
		return os.ErrProcessDone
	}
	return p.run.cmd.Process.Signal(signal)
}

// Kill ends the process and its children with SIGKILL, and waits for its end. It
// does nothing if the process does not run.
func (p *Process) Kill() {
	p.mu.Lock()
	p.wanted = false
	latest := p.run
	p.mu.Unlock()
	if latest == nil || latest.hasEnded() {
		return
	}
	children := descendants(latest.cmd.Process.Pid)
	_ = latest.cmd.Process.Kill() // it may have ended
	for _, pid := range children {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
	<-latest.ended
}

// Stop asks the process to end, as Docker does, and kills it if it has not ended
// within the grace period of its service. The error says so, or how it ended
// otherwise than well.
func (p *Process) Stop() error {
	p.mu.Lock()
	p.wanted = false
	latest := p.run
	p.mu.Unlock()
	if latest == nil || latest.hasEnded() {
		return nil
	}
	signal := p.image.stop
	if signal == 0 {
		signal = syscall.SIGTERM
	}
	_ = latest.cmd.Process.Signal(signal) // it may have ended
	grace := defaultGrace
	if p.spec.StopGracePeriod != nil {
		grace = time.Duration(*p.spec.StopGracePeriod)
	}
	timer := time.NewTimer(grace)
	defer timer.Stop()
	select {
	case <-latest.ended:
		if latest.err != nil {
			return fmt.Errorf("%s ended with: %w", p.Name, latest.err)
		}
		return nil
	case <-timer.C:
		p.Kill()
		return fmt.Errorf("%s did not stop within %v and was killed", p.Name, grace)
	}
}

// hasEnded reports whether the run has ended.
func (r *run) hasEnded() bool {
	select {
	case <-r.ended:
		return true
	default:
		return false
	}
}

// launch starts a run, with the lock held.
func (p *Process) launch() error {
	cmd, err := p.command(p.spec.Entrypoint, p.spec.Command)
	if err != nil {
		return fmt.Errorf("start %s: %w", p.Name, err)
	}
	log, err := os.OpenFile(p.LogPath, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("start %s: %w", p.Name, err)
	}
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		return errors.Join(fmt.Errorf("start %s: %w", p.Name, err), log.Close())
	}
	latest := &run{cmd: cmd, log: log, ended: make(chan struct{})}
	p.run = latest
	p.topology.running.Go(func() { p.watch(latest) })
	return nil
}

// watch waits for the end of a run, and starts another one if the policy of the
// service says so.
func (p *Process) watch(r *run) {
	r.err = errors.Join(r.cmd.Wait(), r.log.Close())
	close(r.ended)
	p.mu.Lock()
	restart := p.wanted && p.restartable(r.err)
	p.mu.Unlock()
	if !restart {
		return
	}
	select {
	case <-time.After(min(5*time.Second, 100*time.Millisecond<<min(p.Restarts(), 6))):
	case <-p.topology.stopping:
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.wanted && p.run == r {
		p.restarts++
		if err := p.launch(); err != nil {
			fmt.Fprintf(p.topology.log, "%s: %v\n", p.Name, err)
		}
	}
}

// restartable reports whether the restart policy starts a process again that ended with
// err. The lock is held.
func (p *Process) restartable(err error) bool {
	policy, limit := p.spec.Restart, 0
	if _, scanErr := fmt.Sscanf(policy, "on-failure:%d", &limit); scanErr == nil {
		return err != nil && p.restarts < limit
	}
	return policy == types.RestartPolicyAlways || policy == types.RestartPolicyUnlessStopped || policy == types.RestartPolicyOnFailure && err != nil
}

// wait waits for the end of a process that runs to its end.
func (p *Process) wait(ctx context.Context) error {
	for {
		p.mu.Lock()
		latest := p.run
		p.mu.Unlock()
		select {
		case <-latest.ended:
		case <-ctx.Done():
			return fmt.Errorf("%s has not ended: %w\n%s", p.Name, ctx.Err(), p.tail())
		}
		p.mu.Lock()
		last := p.run == latest && !p.restartable(latest.err)
		p.mu.Unlock()
		switch {
		case latest.err == nil:
			return nil
		case last:
			return fmt.Errorf("%s ended with: %w\n%s", p.Name, latest.err, p.tail())
		}
		if err := pause(ctx); err != nil {
			return fmt.Errorf("%s ended with: %w\n%s", p.Name, latest.err, p.tail())
		}
	}
}

// tail returns the end of the log.
func (p *Process) tail() string {
	data, err := os.ReadFile(p.LogPath)
	if err != nil {
		return err.Error()
	}
	return string(data[max(0, len(data)-3000):])
}

// command returns a command in the environment of the process.
func (p *Process) command(entrypoint, command []string) (*exec.Cmd, error) {
	args, err := p.image.arguments(p.topology.bin(), entrypoint, command)
	if err != nil {
		return nil, err
	}
	for i := range args[1:] {
		args[i+1] = p.translator.text(args[i+1])
	}
	if imageName(p.spec) == database && filepath.Base(args[0]) == "postgres" {
		args = append(args, p.serverArguments()...)
	}
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Dir = p.dir()
	cmd.Env = p.environment()
	cmd.SysProcAttr = attributes(p.as)
	return cmd, nil
}

// environment returns the variables of the process: of the image, of the
// service, and those that the topology adds.
func (p *Process) environment() []string {
	env := environment(p.topology.bin(), p.dir())
	for _, name := range names(p.image.env) {
		env = append(env, name+"="+p.translator.variable(name, p.image.env[name]))
	}
	for _, name := range names(p.spec.Environment) {
		if value := p.spec.Environment[name]; value != nil {
			env = append(env, name+"="+p.translator.variable(name, *value))
		}
	}
	return slices.Concat(env, p.topology.options.Env[p.Service], p.topology.options.Env[imageName(p.spec)])
}

// dir is the directory that the process has for itself.
func (p *Process) dir() string { return filepath.Join(p.topology.dir, p.Name) }
