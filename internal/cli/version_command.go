package cli

import (
	"fmt"

	"longhaul/internal/process"
	"longhaul/internal/serve"
)

func versionLine(b serve.Build) string {
	return nameOf(b).String() + " " + process.NewRelease(b.Version).String()
}

// versionCommand is "longhaul version".
type versionCommand struct{}

func (versionCommand) Run(p *program) error {
	_, err := fmt.Fprintln(p.Stdout, versionLine(p.build))
	return err
}
