package cli

import (
	"fmt"
	"strings"

	"github.com/alecthomas/kong"
)

// configCommand is "longhaul config": it prints a configuration file with the
// current settings.
type configCommand struct {
	allSettings
	versionSettings
	elsewhereSettings
	waitSettings
}

func (c *configCommand) Run(p *program, parsed *kong.Context) error {
	fmt.Fprintf(p.stdout, "# Every setting and its value. A flag overrides the environment, and the\n# environment overrides this file: %s or the one that --config names.\n", defaultConfigFile)
	for _, flag := range parsed.Selected().Flags {
		env := ""
		if len(flag.Envs) > 0 {
			env = " [" + strings.Join(flag.Envs, ", ") + "]"
		}
		fmt.Fprintf(p.stdout, "\n# %s%s\n%s: %s\n", strings.TrimSpace(flag.Help), env, flag.Name, yamlValue(parsed.FlagValue(flag)))
	}
	temporal, err := c.elsewhere(c.elsewhereSettings)
	if err != nil {
		return err
	}
	fmt.Fprint(p.stdout, "\n# Temporal for api and worker, and what set it:\n")
	for _, line := range temporal.describe() {
		fmt.Fprintf(p.stdout, "#   %s\n", line)
	}
	return nil
}

// yamlValue returns the value of a flag as YAML on one line.
func yamlValue(v any) string {
	switch v := v.(type) {
	case secret:
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
