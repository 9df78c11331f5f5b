package shell

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"text/template"
	"time"

	"longhaul/internal/opfile"
)

// A Command is a program that tasks may run.
type Command struct {
	Run      []string      `yaml:"run"`       // the program and templates of its arguments
	Dir      string        `yaml:"dir"`       // where it runs; "" for a new directory that is removed afterwards
	Env      []string      `yaml:"env"`       // names of the variables that it inherits
	Stdin    string        `yaml:"stdin"`     // template of its standard input
	SendWork bool          `yaml:"send-work"` // its standard input is the work as JSON, as every executor gets it
	JSON     bool          `yaml:"json"`      // its standard output is JSON
	Timeout  time.Duration `yaml:"timeout"`   // 0 means 10 minutes
	Output   int64         `yaml:"output"`    // bytes of standard output at most; 0 means 1 MiB

	name  string
	args  []*template.Template
	stdin *template.Template
}

// Limits of a command that sets none.
const (
	defaultTimeout = 10 * time.Minute
	defaultOutput  = 1 << 20
)

// Load reads a file with commands. The error lists everything that is wrong.
func Load(path string) (map[string]*Command, error) {
	var form struct {
		Commands map[string]*Command `yaml:"commands"`
	}
	if err := opfile.Read(path, "commands", &form); err != nil {
		return nil, err
	}
	if len(form.Commands) == 0 {
		return nil, fmt.Errorf("%s: the file needs commands", path)
	}
	return form.Commands, opfile.Within(path+": ", opfile.Each("command", form.Commands, (*Command).prepare))
}

// prepare checks c, sets its defaults and reads its templates.
func (c *Command) prepare(name string) error {
	if c == nil || len(c.Run) == 0 || c.Run[0] == "" {
		return errors.New("needs run: a program and its arguments")
	}
	var wrong []error
	if strings.Contains(c.Run[0], "{{") {
		wrong = append(wrong, errors.New("the program must not be a template"))
	}
	if c.Stdin != "" && c.SendWork {
		wrong = append(wrong, errors.New("has stdin or send-work, not both"))
	}
	if c.Timeout < 0 || c.Output < 0 {
		wrong = append(wrong, errors.New("has a limit below 0"))
	}
	if c.Dir != "" && !filepath.IsAbs(c.Dir) {
		wrong = append(wrong, fmt.Errorf("dir must be an absolute path, not %q", c.Dir))
	}
	c.name, c.Timeout, c.Output = name, cmp.Or(c.Timeout, defaultTimeout), cmp.Or(c.Output, defaultOutput)
	return errors.Join(append(wrong, c.parse()...)...)
}

// parse reads the templates of c, and returns the mistakes in them.
func (c *Command) parse() (wrong []error) {
	for i, arg := range c.Run[1:] {
		t, err := parse(arg)
		wrong = append(wrong, opfile.Within(fmt.Sprintf("argument %d: ", i+1), err))
		c.args = append(c.args, t)
	}
	if c.Stdin != "" {
		t, err := parse(c.Stdin)
		wrong = append(wrong, opfile.Within("stdin: ", err))
		c.stdin = t
	}
	return wrong
}

// parse reads a template, and tries it. A value that is missing is an error when the
// result is filled in for a task.
func parse(text string) (*template.Template, error) {
	t, err := template.New("").Parse(text)
	if err == nil {
		err = t.Execute(io.Discard, facts{})
	}
	if err != nil {
		return nil, err
	}
	return t.Option("missingkey=error"), nil
}
