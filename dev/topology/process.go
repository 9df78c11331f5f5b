package topology

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"github.com/compose-spec/compose-go/v2/types"

	"longhaul/internal/child"
)

const (
	defaultGrace = 10 * time.Second       // that Docker gives a container to stop
	checkPause   = 100 * time.Millisecond // between two looks at a process that is not ready yet
	tail         = 3000                   // bytes of a log in an error
)

// A Process runs in place of one container of a service. Its address and directories stay
// the same after a restart. Its methods may be called from any goroutine.
type Process struct {
	Name    string // service and number: worker-2
	Service string
	IP      string
	LogPath string // standard error and output of all runs

	topology   *Topology // whose processes end before it does
	bin, dir   string    // the programs; the directory that the process has for itself
	extra      []string  // KEY=value, added to its environment
	spec       types.ServiceConfig
	image      image
	as         *syscall.Credential // nil for the current user
	translator translator

	mu       sync.Mutex
	run      *child.Process // the latest, nil before the first
	wanted   bool           // to run: not stopped, not killed
	restarts int
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
	return p.run.PID()
}

// Running reports whether the process runs.
func (p *Process) Running() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.run != nil && p.run.Running()
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
	if p.run != nil && p.run.Running() {
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
	return p.run.Signal(signal)
}

// Kill ends the process and its children with SIGKILL, and waits for its end. It
// does nothing if the process does not run.
func (p *Process) Kill() {
	if latest := p.release(); latest != nil {
		latest.KillTree()
	}
}

// Stop asks the process to end, as Docker does, and kills it if it has not ended
// within the grace period of its service. The error says so, or how it ended
// otherwise than well.
func (p *Process) Stop() error {
	latest := p.release()
	if latest == nil || !latest.Running() {
		return nil
	}
	grace := defaultGrace
	if p.spec.StopGracePeriod != nil {
		grace = time.Duration(*p.spec.StopGracePeriod)
	}
	if err := latest.Stop(cmp.Or(p.image.stop, syscall.SIGTERM), grace); err != nil {
		return fmt.Errorf("%s %w", p.Name, err)
	}
	return nil
}

// release returns the latest run, nil if there was none. It will not be started again.
func (p *Process) release() *child.Process {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.wanted = false
	return p.run
}

// launch starts a run, with the lock held.
func (p *Process) launch() error {
	cmd, err := p.command(context.Background(), p.spec.Entrypoint, p.spec.Command)
	if err != nil {
		return fmt.Errorf("start %s: %w", p.Name, err)
	}
	latest, err := child.Start(cmd, child.Options{Log: p.LogPath, As: p.as})
	if err != nil {
		return fmt.Errorf("%s: %w", p.Name, err)
	}
	p.run = latest
	p.topology.running.Go(func() { p.watch(latest) })
	return nil
}

// watch waits for the end of a run, and starts another one if the policy of the
// service says so.
func (p *Process) watch(r *child.Process) {
	err := r.Wait()
	p.mu.Lock()
	restart, unexpected := p.wanted && p.restartable(err), p.wanted
	p.mu.Unlock()
	if unexpected && (restart || err != nil) {
		fmt.Fprintln(p.topology.log, downText(p.Name, err, restart))
	}
	if !restart {
		return
	}
	select {
	case <-time.After(min(5*time.Second, 100*time.Millisecond<<min(p.Restarts(), 6))):
	case <-p.topology.stopping:
		return
	}
	p.relaunch(r)
}

// relaunch starts another run after r, if this was the latest and none of others has been asked for.
func (p *Process) relaunch(r *child.Process) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.wanted && p.run == r {
		p.restarts++
		if err := p.launch(); err != nil {
			fmt.Fprintln(p.topology.log, err)
		} else {
			fmt.Fprintf(p.topology.log, "%s: started again\n", p.Name)
		}
	}
}

// downText says that a process has ended by itself, with err.
func downText(name string, err error, restart bool) string {
	text := name + ": down"
	if err != nil {
		text += ", " + err.Error()
	}
	if restart {
		text += "; it is started again"
	}
	return text + ". Its log: scripts/topology logs " + name
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
	var ended error
	err := p.until(ctx, func() error {
		p.mu.Lock()
		defer p.mu.Unlock()
		if p.run.Running() {
			return errors.New("it has not ended")
		}
		if ended = p.run.Wait(); ended != nil && p.restartable(ended) {
			return ended
		}
		return nil
	})
	if err == nil && ended != nil {
		return fmt.Errorf("%s ended with: %w\n%s", p.Name, ended, child.Tail(p.LogPath, tail))
	}
	return err
}

// until waits until check returns nil. Otherwise the error has the end of the log.
func (p *Process) until(ctx context.Context, check func() error) error {
	if err := child.Until(ctx, checkPause, check); err != nil {
		return fmt.Errorf("%s: %w\n%s", p.Name, err, child.Tail(p.LogPath, tail))
	}
	return nil
}

// command returns a command in the environment of the process.
func (p *Process) command(ctx context.Context, entrypoint, command []string) (*exec.Cmd, error) {
	args, err := p.image.arguments(p.bin, entrypoint, command)
	if err != nil {
		return nil, err
	}
	for i := range args[1:] {
		args[i+1] = p.translator.text(args[i+1])
	}
	if imageName(p.spec) == database && filepath.Base(args[0]) == "postgres" {
		args = append(args, p.serverArguments()...)
	}
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Dir = p.dir
	cmd.Env = p.environment()
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: p.as}
	return cmd, nil
}

// environment returns the variables of the process: of the image, of the
// service, and those that the topology adds.
func (p *Process) environment() []string {
	env := environment(p.bin, p.dir)
	for _, name := range names(p.image.env) {
		env = append(env, name+"="+p.translator.variable(name, p.image.env[name]))
	}
	for _, name := range names(p.spec.Environment) {
		if value := p.spec.Environment[name]; value != nil {
			env = append(env, name+"="+p.translator.variable(name, *value))
		}
	}
	return append(env, p.extra...)
}
