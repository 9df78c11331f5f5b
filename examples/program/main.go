// Release is a Longhaul program: work of its own, a playbook for it, and every command
// of longhaul.
package main

import (
	"embed"
	"os"

	"longhaul"
	"longhaul/dev/temporald"

	"example.com/release/checksum"
)

//go:embed playbooks
var playbooks embed.FS

func main() { longhaul.Main(program("dist")) }

// program returns the program. Its work is about the files in dir.
func program(dir string) longhaul.Program {
	return longhaul.Program{
		Name:        "release",
		Description: "Has the files of a release approved, and checks that they are still those.",
		Executors:   map[string]longhaul.Executor{"checksum": checksum.Executor{Files: os.DirFS(dir)}},
		Playbooks:   playbooks,
		Embed:       temporald.Embed, // for the command dev: a Temporal server in this process
	}
}
