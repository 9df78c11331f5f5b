//go:build unix

package shell

import (
	"os/exec"
	"syscall"
)

// setGroup makes p run in a new process group, so that a stop reaches the programs that it
// starts.
func setGroup(p *exec.Cmd) {
	p.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	p.Cancel = func() error { return syscall.Kill(-p.Process.Pid, syscall.SIGTERM) }
}

// killGroup ends the programs of the group of p that still run.
func killGroup(p *exec.Cmd) {
	if p.Process != nil {
		_ = syscall.Kill(-p.Process.Pid, syscall.SIGKILL) // usually there is nothing
	}
}
