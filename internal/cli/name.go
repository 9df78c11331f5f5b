package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"longhaul/internal/process"
	"longhaul/internal/serve"
)

func nameOf(b serve.Build) process.Name { return process.Name(b.Name) }

// commandOf returns the name of b in command lines that people may copy: the path of the program, if
// they wrote that, so that the shell finds it, or "go run" with its directory.
func commandOf(b serve.Build) process.Name {
	dir, file := filepath.Split(b.Called)
	switch {
	case dir == "":
		return nameOf(b)
	case strings.Contains(dir, "/go-build") && strings.HasSuffix(dir, "/exe/"): // of go run
		if info, err := os.Stat(file); err == nil && info.IsDir() {
			return process.Name("go run ./" + file)
		}
		return "go run ."
	}
	return process.Name(b.Called)
}

func versionLine(b serve.Build) string {
	return nameOf(b).String() + " " + process.NewRelease(b.Version).String()
}

// versionCommand is "longhaul version".
type versionCommand struct{}

func (versionCommand) Run(p *program) error {
	_, err := fmt.Fprintln(p.Stdout, versionLine(p.build))
	return err
}
