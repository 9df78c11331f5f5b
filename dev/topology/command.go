package topology

import (
	"bytes"
	"context"
	"os/exec"
)

// output runs a command that ctx ends, and returns its output.
func output(ctx context.Context, cmd *exec.Cmd) (string, error) {
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		return "", err
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	select {
	case err := <-ended:
		return out.String(), err
	case <-ctx.Done():
		_ = cmd.Process.Kill()
		<-ended
		return out.String(), ctx.Err()
	}
}
