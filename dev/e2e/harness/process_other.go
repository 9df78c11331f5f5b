//go:build !linux

package harness

import "syscall"

// Attributes returns nil: the system cannot kill a process when another one is killed.
func Attributes() *syscall.SysProcAttr { return nil }
