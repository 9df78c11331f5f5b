//go:build !unix

package shell

import (
	"context"
	"os/exec"
)

func runGroup(_ context.Context, p *exec.Cmd) error { return p.Run() }
