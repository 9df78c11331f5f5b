package cli

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"reflect"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"longhaul/internal/namespace"
	"longhaul/internal/process"
	"longhaul/internal/serve"
)

// configCommand is "longhaul config": it prints a configuration file with the
// current settings.
type configCommand struct {
	Changed   bool                    `help:"Show only the settings that differ from their defaults." action:""`
	Init      bool                    `help:"Write longhaul.yaml into this directory, with all settings as comments." action:""`
	Settings  serve.Settings          `embed:""`
	Version   namespace.WorkerVersion `embed:"" group:"Worker"`
	Elsewhere namespace.Elsewhere     `embed:"" group:"Temporal"`
	Wait      namespace.Wait          `embed:"" group:"Temporal"`
}

func (c *configCommand) Run(p *program, parsed *kong.Context) error {
	if c.Init {
		return c.init(p, parsed)
	}
	fmt.Fprintf(p.Stdout, "# Every setting and its value. A flag overrides the environment, and the\n# environment overrides this file: %s or the one that --config names.\n", defaultConfigFile)
	for _, flag := range settingsOf(parsed) {
		if !c.Changed || isChanged(parsed, flag) {
			fmt.Fprintf(p.Stdout, "\n# %s\n%s: %s\n", helpOf(flag), flag.Name, yamlValue(parsed.FlagValue(flag)))
		}
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

// init writes the configuration file with all settings as comments, by subject. It replaces none.
func (c *configCommand) init(p *program, parsed *kong.Context) error {
	text, subject := fmt.Sprintf("# Settings of %s. Remove the # before the name of a setting to set it. Flags and the environment\n# override this file.\n", p.Name), ""
	for _, flag := range settingsOf(parsed) {
		if flag.Group != nil && flag.Group.Title != subject {
			subject = flag.Group.Title
			text += "\n## " + subject + "\n"
		}
		value := yamlValue(defaultOf(flag))
		if flag.Tag.Type == "path" && flag.HasDefault { // which differs by directory
			value = yamlValue(flag.Default)
		}
		text += fmt.Sprintf("\n# %s\n#%s: %s\n", helpOf(flag), flag.Name, value)
	}
	file, err := os.OpenFile(defaultConfigFile, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%s exists already, and is kept", defaultConfigFile)
	}
	if err == nil {
		_, err = io.WriteString(file, text)
		err = errors.Join(err, file.Close())
	}
	if err != nil {
		return fmt.Errorf("write the settings: %w", err)
	}
	_, err = fmt.Fprintf(p.Stdout, "Wrote %s with all settings as comments. Programs that start in this directory read it.\n", defaultConfigFile)
	return err
}

// settingsOf returns the flags that are settings.
func settingsOf(parsed *kong.Context) []*kong.Flag {
	return slices.DeleteFunc(slices.Clone(parsed.Selected().Flags), func(flag *kong.Flag) bool { return flag.Tag.Has("action") })
}

// helpOf returns the help of a setting with its variable.
func helpOf(flag *kong.Flag) string {
	text := strings.TrimSpace(flag.Help)
	if len(flag.Envs) > 0 {
		text += " [" + strings.Join(flag.Envs, ", ") + "]"
	}
	return text
}

// isChanged reports whether the value of a setting is not its default.
func isChanged(parsed *kong.Context, flag *kong.Flag) bool {
	return yamlValue(parsed.FlagValue(flag)) != yamlValue(defaultOf(flag))
}

// defaultOf returns the default of a setting.
func defaultOf(flag *kong.Flag) any {
	value := reflect.New(flag.Target.Type()).Elem()
	if flag.HasDefault {
		_ = flag.Mapper.Decode(&kong.DecodeContext{Value: flag.Value, Scan: kong.Scan().PushTyped(flag.Default, kong.FlagValueToken)}, value) // kong has read it before
	}
	return value.Interface()
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
