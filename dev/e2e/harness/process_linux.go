package harness

import "syscall"

// attributes makes the kernel kill a process when the test process is killed.
func attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }
