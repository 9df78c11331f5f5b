//go:build !linux

package child

import "syscall"

func attributes(o Options) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Credential: o.As, Setpgid: true}
}

func descendants(int) []int { return nil }
