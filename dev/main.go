// Dev is Longhaul in one process: the commands of cmd/longhaul and a Temporal
// server.
package main

import (
	"longhaul"
	"longhaul/dev/scripted"
	"longhaul/dev/temporald"
)

func main() {
	longhaul.Main(longhaul.Program{
		Embed:     temporald.Embed,
		Executors: map[string]longhaul.Executor{scripted.Kind: scripted.Executor{}},
		Agents:    map[string]longhaul.Agent{scripted.Kind: scripted.Agent{}},
	})
}
