package cli

import (
	"fmt"
	"strings"

	"github.com/alecthomas/kong"

	"longhaul/internal/namespace"
	"longhaul/internal/process"
	"longhaul/internal/serve"
)

// configCommand is "longhaul config": it prints a configuration file with the
// current settings.
type configCommand struct {
	Settings  serve.Settings          `embed:""`
	Version   namespace.WorkerVersion `embed:"" group:"Worker"`
	Elsewhere namespace.Elsewhere     `embed:"" group:"Temporal"`
	Wait      namespace.Wait          `embed:"" group:"Temporal"`
}

func (c *configCommand) Run(p *program, parsed *kong.Context) error {
	fmt.Fprintf(p.Stdout, "# Every setting and its value. A flag overrides the environment, and the\n# environment overrides this file: %s or the one that --config names.\n", defaultConfigFile)
	for _, flag := range parsed.Selected().Flags {
		env := ""
		if len(flag.Envs) > 0 {
			env = " [" + strings.Join(flag.Envs, ", ") + "]"
		}
		fmt.Fprintf(p.Stdout, "\n# %s%s\n%s: %s\n", strings.TrimSpace(flag.Help), env, flag.Name, yamlValue(parsed.FlagValue(flag)))
	}
	temporal, err := c.Settings.Shared.Temporal.Target(c.Elsewhere)
	if err != nil {
		return err
	}
	fmt.Fprint(p.Stdout, "\n# Temporal for api and worker, and what set it:\n")
	for _, line := range temporal.Describe() {
		fmt.Fprintf(p.Stdout, "#   %s\n", line)
	}
	return nil
}

// yamlValue returns the value of a flag as YAML on one line.
func yamlValue(v any) string {
	switch v := v.(type) {
	case process.Secret:
		if v != "" {
			return `"" # it has a value, which is not shown`
		}
		return `""`
	case string:
		return fmt.Sprintf("%q", v)
	case []string:
		quoted := make([]string, len(v))
		for i, s := range v {
			quoted[i] = fmt.Sprintf("%q", s)
		}
		return "[" + strings.Join(quoted, ", ") + "]"
	}
	return fmt.Sprint(v)
}
