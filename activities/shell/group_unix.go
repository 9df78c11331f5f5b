//go:build unix

package shell

import (
	"context"
	"os/exec"
	"syscall"

	"longhaul/activities"
)

// runGroup runs p in a new process group, so that a stop reaches the programs that it starts, and
// ends those that remain.
func runGroup(ctx context.Context, p *exec.Cmd) error {
	p.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	p.Cancel = func() error {
		end := syscall.SIGTERM
		if activities.IsFenced(ctx) { // another worker begins the task at once
			end = syscall.SIGKILL
		}
		return syscall.Kill(-p.Process.Pid, end)
	}
	programs.prepare()
	if err := p.Start(); err != nil {
		return err
	}
	programs.add(p.Process.Pid)
	defer programs.remove(p.Process.Pid)
	defer func() { _ = syscall.Kill(-p.Process.Pid, syscall.SIGKILL) }() // usually there is nothing
	return p.Wait()
}
