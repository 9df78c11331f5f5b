// Longhaul is an A2A agent server with durable tasks. This program needs a
// separate Temporal server; the program in dev has one built in.
package main

import (
	"context"
	"os"

	"longhaul/internal/cli"
)

func main() { os.Exit(cli.Run(context.Background(), os.Args[1:], os.Stdout, os.Stderr, cli.Build{})) }
