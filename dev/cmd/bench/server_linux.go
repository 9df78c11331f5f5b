package main

import "syscall"

// attributes makes the kernel kill a server when bench is killed.
func attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }
