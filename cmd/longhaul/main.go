// Longhaul is an A2A agent server whose work survives anything. This is the
// thin program: it needs a Temporal server elsewhere. The program in dev carries
// one.
package main

import (
	"context"
	"os"

	"longhaul/internal/cli"
)

func main() { os.Exit(cli.Run(context.Background(), os.Args[1:], os.Stdout, os.Stderr, cli.Build{})) }
