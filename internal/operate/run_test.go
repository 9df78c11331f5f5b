package operate

import (
	"context"
	"io"

	"longhaul/internal/process"
)

// run runs a command of this package, and returns the exit code.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	p := &process.Process{Ctx: ctx, Stdout: stdout, Stderr: stderr}
	var grammar Commands
	parser, err := p.Parser(&grammar)
	if err == nil {
		err = p.Run(parser, args)
	}
	return p.Report(err)
}
