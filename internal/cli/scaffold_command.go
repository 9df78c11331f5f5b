package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"longhaul/internal/cli/scaffold"
	"longhaul/internal/process"
)

// newCommand is "longhaul new".
type newCommand struct {
	Dir    string `arg:"" help:"Directory for it, which is made; there must be nothing in it." type:"path"`
	Module string `help:"Path of its Go module. The last element is the name of the program. Default: example.com/ and the name of the directory." placeholder:"PATH"`
	Source string `name:"longhaul" help:"Directory with the source of Longhaul, of which the program is built. Default: where this program was built, or else the source around the working directory." type:"path" placeholder:"DIR"`
}

func (c *newCommand) Run(p *program) error {
	source, err := c.source()
	if err != nil {
		return err
	}
	if below, err := filepath.Rel(source, c.Dir); err == nil && filepath.IsLocal(below) {
		return process.Usagef("%s is in the source of Longhaul, whose go.work does not have the new module: choose a directory outside", c.Dir)
	}
	if c.Module == "" {
		c.Module = "example.com/" + filepath.Base(c.Dir)
	}
	if err := scaffold.CheckModule(c.Module); err != nil {
		return process.Usagef("%v; name another one with --module", err)
	}
	made := scaffold.Config{Dir: c.Dir, Source: source, Module: c.Module}
	files, err := scaffold.Write(made)
	if err != nil {
		return fmt.Errorf("write a program: %w", err)
	}
	fmt.Fprintf(p.Stdout, "The program %s is in %s:\n\n  %s\n\n", made.Name(), c.Dir, strings.Join(files, "\n  "))
	fmt.Fprintf(p.Stdout, "It is built with the source of Longhaul in %s. To start it:\n\n  cd %s\n  go build -o %[3]s . && ./%[3]s dev\n\nREADME.md says what to do next.\n",
		source, c.Dir, made.Name())
	return nil
}

// source returns the directory with the source of Longhaul.
func (c *newCommand) source() (string, error) {
	if c.Source != "" {
		if !scaffold.IsSource(c.Source) {
			return "", process.Usagef("--longhaul %s: the source of Longhaul is not there", c.Source)
		}
		return c.Source, nil
	}
	if _, file, _, ok := runtime.Caller(0); ok { // not in a build with -trimpath
		if dir := filepath.Join(filepath.Dir(file), "..", ".."); filepath.IsAbs(dir) && scaffold.IsSource(dir) {
			return dir, nil
		}
	}
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	if source, ok := findSource(dir); ok {
		return source, nil
	}
	return "", process.Usagef("the source of Longhaul is neither where this program was built nor around the working directory: name its directory with --longhaul DIR")
}

// findSource returns the source of Longhaul that dir is in.
func findSource(dir string) (source string, ok bool) {
	for !scaffold.IsSource(dir) {
		if dir == filepath.Dir(dir) {
			return "", false
		}
		dir = filepath.Dir(dir)
	}
	return dir, true
}
