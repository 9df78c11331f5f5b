package cli

import (
	"fmt"
	"io"
	"os"

	"github.com/alecthomas/kong"
	"go.yaml.in/yaml/v3"
)

// defaultConfigFile is read if it exists and --config names no other file.
const defaultConfigFile = "longhaul.yaml"

// A yamlFile gives flags the values of a configuration file. Flags on the command
// line and the environment override it.
type yamlFile map[string]any

func fromYAML(r io.Reader) (kong.Resolver, error) {
	f := yamlFile{}
	if err := yaml.NewDecoder(r).Decode(&f); err != nil && err != io.EOF {
		return nil, fmt.Errorf("read configuration: %w", err)
	}
	return f, nil
}

// Validate refuses members that are no flag of any command.
func (f yamlFile) Validate(app *kong.Application) error {
	known := map[string]bool{}
	_ = kong.Visit(app, func(node kong.Visitable, next kong.Next) error {
		if flag, ok := node.(*kong.Flag); ok {
			known[flag.Name] = true
		}
		return next(nil)
	})
	for name := range f {
		if !known[name] {
			return fmt.Errorf("the configuration file has %q, which is no setting; the command config lists them all", name)
		}
	}
	return nil
}

// Resolve implements [kong.Resolver].
func (f yamlFile) Resolve(_ *kong.Context, _ *kong.Path, flag *kong.Flag) (any, error) {
	for _, name := range flag.Envs {
		if _, set := os.LookupEnv(name); set {
			return nil, nil
		}
	}
	return f[flag.Name], nil
}
