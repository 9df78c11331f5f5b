//go:build !unix

package shell

import "os/exec"

func runGroup(p *exec.Cmd) error { return p.Run() }
