//go:build unix

package shell

import (
	"os/exec"
	"syscall"
)

// runGroup runs p in a new process group, so that a stop reaches the programs that it starts, and
// ends those that remain.
func runGroup(p *exec.Cmd) error {
	p.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	p.Cancel = func() error { return syscall.Kill(-p.Process.Pid, syscall.SIGTERM) }
	if err := p.Start(); err != nil {
		return err
	}
	programs.tell('+', p.Process.Pid)
	defer programs.tell('-', p.Process.Pid)
	defer func() { _ = syscall.Kill(-p.Process.Pid, syscall.SIGKILL) }() // usually there is nothing
	return p.Wait()
}
