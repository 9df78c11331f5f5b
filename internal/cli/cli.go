// Package cli is the program: it puts the commands of internal/serve, internal/operate and
// internal/commands together, reads configuration files, and has the commands about the
// program itself.
package cli

import (
	"cmp"
	"context"
	"io"
	_ "time/tzdata" // of schedules, for machines without time zones

	"github.com/alecthomas/kong"

	"longhaul/internal/commands"
	"longhaul/internal/operate"
	"longhaul/internal/process"
	"longhaul/internal/serve"
)

// Run runs the program with args and returns its exit code.
func Run(ctx context.Context, args []string, stdout, stderr io.Writer, b serve.Build) int {
	p := newProgram(ctx, stdout, stderr, b)
	return p.Report(p.start(args))
}

// A program has what commands need from the process.
type program struct {
	process.Process
	build serve.Build
	files usedFiles // of configuration
}

func newProgram(ctx context.Context, stdout, stderr io.Writer, b serve.Build) *program {
	p := &program{Process: process.Process{Ctx: ctx, Stdout: stdout, Stderr: stderr, Name: nameOf(b), Command: commandOf(b), Embeds: b.Embed != nil}, build: b}
	p.Check = p.checkCommand
	return p
}

// A grammar has the commands of every program.
type grammar struct {
	ShowVersion kong.VersionFlag `name:"version" help:"Show the version."`
	HelpAll     helpAllFlag      `help:"Show all flags of a command, by subject."`
	Config      kong.ConfigFlag  `help:"Configuration file (YAML): the names of flags without their dashes." env:"LONGHAUL_CONFIG" type:"path" placeholder:"FILE"`

	API       serve.API         `cmd:"" help:"Serve A2A; workers do the work."`
	Worker    serve.Worker      `cmd:"" help:"Do the work; any number of workers may run."`
	Check     serve.Check       `cmd:"" help:"Check playbooks and other files of the operator, and the settings, and start nothing."`
	People    commands.Commands `embed:""`
	Operators operate.Commands  `embed:""`
	New       newCommand        `cmd:"" help:"Write the source of a program with work of its own."`
	Show      configCommand     `cmd:"" name:"config" help:"Show every setting, its value and where it can be set."`
	Shell     completionCommand `cmd:"" name:"completion" help:"Print a script that completes commands, flags and their values: source <(${program} completion bash)."`
	Man       manCommand        `cmd:"" help:"Print or write the manual pages: ${program} man send | man -l -"`
	Version   versionCommand    `cmd:"" help:"Show the version."`
	Help      helpCommand       `cmd:"" help:"Show the commands, or the flags of one."`
}

// A devGrammar has those of the program with a Temporal server.
type devGrammar struct {
	Dev      serve.Dev            `cmd:"" default:"withargs" help:"Run everything in this process: Temporal, the API and a worker. With flags alone it is the default."`
	Temporal serve.TemporalServer `cmd:"" help:"Run only the built-in Temporal server."`
	grammar
}

// start runs the command that args name.
func (p *program) start(args []string) error {
	return p.files.at(p.Start(args, p.grammar(), p.options()...))
}

func (p *program) grammar() any {
	if p.build.Embed != nil {
		return &devGrammar{}
	}
	return &grammar{}
}

func (p *program) options() []kong.Option {
	return []kong.Option{
		kong.Description(cmp.Or(p.build.Description, "An A2A agent server with durable tasks.") + "\n\nExit codes: 0 done, 1 failed, 2 wrong arguments, 3 the task waits for a person, 130 stopped with Ctrl-C."),
		kong.Vars{"version": versionLine(p.build), "agent": cmp.Or(p.build.Name, "Longhaul"), "program": p.Name.String()},
		kong.Bind(p, p.build),
		kong.BindTo(p.build, (*commands.Planning)(nil)),
		kong.Configuration(p.files.read, defaultConfigFile),
		kong.ConfigureHelp(helpOptions),
		kong.Help(printHelp),
	}
}
