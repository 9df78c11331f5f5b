package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
	"go.yaml.in/yaml/v3"

	"longhaul/internal/opfile"
	"longhaul/internal/process"
)

// defaultConfigFile is read if it exists and --config names no other file.
const defaultConfigFile = "longhaul.yaml"

// A yamlFile gives flags the values of a configuration file. Flags on the command
// line and the environment override it.
type yamlFile struct {
	name    string
	members map[string]yaml.Node // values by the name of the flag
	lines   map[string]int       // of their names
	given   map[string]bool      // those whose value counts: neither the command line nor a variable has another
}

// usedFiles are the configuration files of a run, in which its errors name lines.
type usedFiles []*yamlFile

// read reads a configuration file. It is a [kong.ConfigurationLoader].
func (u *usedFiles) read(r io.Reader) (kong.Resolver, error) {
	f := &yamlFile{name: defaultConfigFile, members: map[string]yaml.Node{}, lines: map[string]int{}, given: map[string]bool{}}
	if file, ok := r.(interface{ Name() string }); ok {
		f.name = file.Name()
	}
	data, err := io.ReadAll(r)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", f.name, err)
	}
	root, problem := opfile.Parse(data, "configuration")
	switch {
	case problem != nil:
		return nil, problem.In(f.name)
	case root == nil:
		return f, nil
	}
	if root.Kind != yaml.MappingNode {
		return nil, fmt.Errorf("%s:%d: a configuration file has the names of settings with their values, such as addr: 127.0.0.1:7420", f.name, root.Line)
	}
	for i := 0; i+1 < len(root.Content); i += 2 {
		name := root.Content[i]
		if line, twice := f.lines[name.Value]; twice {
			return nil, fmt.Errorf("%s:%d: %s is in line %d already", f.name, name.Line, name.Value, line)
		}
		f.members[name.Value], f.lines[name.Value] = *root.Content[i+1], name.Line
	}
	*u = append(*u, f)
	return f, nil
}

// at returns err, and the line of each setting that it is about if a file has given that.
func (u usedFiles) at(err error) error {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		list := slices.Clone(joined.Unwrap())
		for i := range list {
			list[i] = u.at(list[i])
		}
		if all := errors.Join(joined.Unwrap()...); all.Error() == err.Error() { // else it has words of its own
			return errors.Join(list...)
		}
	}
	wrong, ok := errors.AsType[*process.UsageError](err)
	flag, named := "", false
	if ok {
		flag, named = strings.CutPrefix(wrong.Text, "--")
	}
	if i := strings.IndexAny(flag, ": ="); i >= 0 {
		flag = flag[:i]
	}
	for _, f := range u {
		if named && f.given[flag] {
			return &process.UsageError{Text: fmt.Sprintf("%s:%d: %s", f.name, f.lines[flag], wrong.Text), Command: wrong.Command}
		}
	}
	return err
}

// Validate refuses members that are no flag of any command.
func (f *yamlFile) Validate(app *kong.Application) error {
	known := []string{}
	_ = kong.Visit(app, func(node kong.Visitable, next kong.Next) error {
		if flag, ok := node.(*kong.Flag); ok {
			known = append(known, flag.Name)
		}
		return next(nil)
	})
	for name, line := range f.lines {
		if !slices.Contains(known, name) {
			text := fmt.Sprintf("%s:%d: the configuration file has %q, which is no setting", f.name, line, name)
			if like := opfile.Nearest(name, known); len(like) > 0 {
				text += "; did you mean " + like[0] + "?"
			}
			return errors.New(text + ". The command config lists them all")
		}
	}
	return nil
}

// Resolve implements [kong.Resolver].
func (f *yamlFile) Resolve(_ *kong.Context, _ *kong.Path, flag *kong.Flag) (any, error) {
	for _, name := range flag.Envs {
		if _, set := os.LookupEnv(name); set {
			return nil, nil
		}
	}
	node, ok := f.members[flag.Name]
	if !ok {
		return nil, nil
	}
	var value any
	if err := node.Decode(&value); err != nil {
		return nil, fmt.Errorf("%s:%d: %s", f.name, node.Line, strings.TrimPrefix(err.Error(), "yaml: "))
	}
	f.given[flag.Name] = true
	return value, nil
}
