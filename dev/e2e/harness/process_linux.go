package harness

import "syscall"

// Attributes makes the kernel kill a process that is started with them when this one is
// killed. Other systems cannot do so.
func Attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }
