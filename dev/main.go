// Dev is Longhaul in one process: the commands of cmd/longhaul and a Temporal
// server.
package main

import (
	"context"
	"os"

	"longhaul/activities"
	"longhaul/dev/embedded"
	"longhaul/dev/scripted"
	"longhaul/internal/cli"
)

func main() {
	os.Exit(cli.Run(context.Background(), os.Args[1:], os.Stdout, os.Stderr, cli.Build{
		Called:    os.Args[0],
		Embed:     embedded.Start,
		Executors: map[string]activities.Executor{scripted.Kind: scripted.Executor{}},
		Agents:    map[string]cli.Agent{scripted.Kind: scripted.Agent{}},
	}))
}
