// Package cli holds the commands of both programs and wires everything
// together. It alone reads flags, the environment and the configuration file.
package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"reflect"
	"time"
	_ "time/tzdata" // of schedules, for machines without time zones

	"github.com/alecthomas/kong"

	"longhaul/a2a"
	"longhaul/opt"
)

// Run runs the program with args and returns its exit code.
func Run(ctx context.Context, args []string, stdout, stderr io.Writer, b Build) int {
	if err := run(ctx, args, stdout, stderr, b); err != nil {
		if showUsage(stderr, b.name(), err) {
			return exitUsage
		}
		fmt.Fprintf(stderr, "%s: %s\n", b.name(), a2a.Visible(err.Error())) // it may quote an agent or a file
		var exit *exitError
		if errors.As(err, &exit) {
			return exit.ExitCode()
		}
		return 1
	}
	return 0
}

// A program has what commands need from the process.
type program struct {
	ctx    context.Context
	stdout io.Writer
	stderr io.Writer
	build  Build
	files  usedFiles // of configuration
}

// commands are the commands of every program.
type commands struct {
	ShowVersion kong.VersionFlag `name:"version" help:"Show the version."`
	Config      kong.ConfigFlag  `help:"Configuration file (YAML): the names of flags without their dashes." env:"LONGHAUL_CONFIG" type:"path" placeholder:"FILE"`

	API     apiCommand        `cmd:"" help:"Serve A2A; workers do the work."`
	Worker  workerCommand     `cmd:"" help:"Do the work; any number of workers may run."`
	Health  healthCommand     `cmd:"" help:"Ask a process on this machine, or at a URL, whether it is ready; for health checks."`
	Send    sendCommand       `cmd:"" help:"Send a message to an agent and show the result."`
	Watch   watchCommand      `cmd:"" help:"Show what happens to a task until it has ended."`
	Inbox   inboxCommand      `cmd:"" help:"List the tasks that wait for a person, the oldest first."`
	Answer  answerCommand     `cmd:"" help:"Answer a waiting task."`
	Decided decisionsCommand  `cmd:"" name:"decisions" help:"List the decisions at the gates of an objective."`
	Verify  verifyCommand     `cmd:"" help:"Check saved decisions without a server: none was changed, added or removed."`
	List    listCommand       `cmd:"" help:"List objectives, the newest first."`
	Get     getCommand        `cmd:"" help:"Show a task, and how to answer it if it waits."`
	Goal    objectiveCommand  `cmd:"" name:"objective" help:"Show an objective with its plans and tasks."`
	Cancel  cancelCommand     `cmd:"" help:"Cancel a task."`
	Times   scheduleCommand   `cmd:"" name:"schedule" help:"Make, list, pause, trigger and delete schedules, which start objectives at times."`
	Card    cardCommand       `cmd:"" help:"Show the card of an agent: its skills and where it is served."`
	Deploy  deploymentCommand `cmd:"" name:"deployment" help:"Show and promote the versions of the workers, for deploys without surprises."`
	Prove   proveCommand      `cmd:"" help:"Kill, restart and cut off an A2A server, any one, and show what it keeps."`
	Migrate migrateCommand    `cmd:"" help:"Make the tables of a journal in PostgreSQL, or bring them up to date."`
	Keys    keysCommand       `cmd:"" help:"Create, list and revoke API keys."`
	Store   journalCommand    `cmd:"" name:"journal" help:"Verify, rebuild or compact the journal: the data that clients see."`
	New     newCommand        `cmd:"" help:"Write the source of a program with work of its own."`
	Show    configCommand     `cmd:"" name:"config" help:"Show every setting, its value and where it can be set."`
	Shell   completionCommand `cmd:"" name:"completion" help:"Print a script that completes commands, flags and their values: source <(${program} completion bash)."`
	Man     manCommand        `cmd:"" help:"Print or write the manual pages: ${program} man send | man -l -"`
	Version versionCommand    `cmd:"" help:"Show the version."`
	Help    helpCommand       `cmd:"" help:"Show the commands, or the flags of one."`
}

// devCommands are the commands of the program with a Temporal server.
type devCommands struct {
	Dev      devCommand      `cmd:"" default:"withargs" help:"Run everything in this process: Temporal, the API and a worker. The default."`
	Temporal temporalCommand `cmd:"" help:"Run only the built-in Temporal server."`
	commands
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer, b Build) error {
	var exit *int
	p := &program{ctx: ctx, stdout: stdout, stderr: stderr, build: b}
	parser, err := newParser(p, kong.Exit(func(code int) { exit = &code }))
	if err != nil {
		return err
	}
	if err := checkCommand(parser.Model, args); err != nil {
		return err
	}
	parsed, err := parser.Parse(args)
	if exit != nil {
		return nil // help was shown
	}
	if err != nil {
		return p.files.at(err)
	}
	return withCommand(parsed, parsed.Run())
}

// newParser returns the parser of the arguments of p.
func newParser(p *program, exit kong.Option) (*kong.Kong, error) {
	var grammar any = &commands{}
	if p.build.Embed != nil {
		grammar = &devCommands{}
	}
	b := p.build
	parser, err := kong.New(grammar,
		kong.Name(b.name().String()),
		kong.Description(cmp.Or(b.Description, "An A2A agent server with durable tasks.")+"\n\nExit codes: 0 done, 1 failed, 2 wrong arguments, 3 the task waits for a person, 130 stopped with Ctrl-C."),
		kong.Vars{"version": b.versionLine(), "agent": cmp.Or(b.Name, "Longhaul"), "program": b.name().String()},
		kong.TypeMapper(reflect.TypeFor[time.Duration](), kong.MapperFunc(readDuration)),
		kong.Bind(p),
		kong.Writers(p.stdout, p.stderr),
		exit,
		kong.Configuration(p.files.read, defaultConfigFile),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true}),
	)
	if err != nil {
		return nil, fmt.Errorf("build the command line: %w", err)
	}
	return parser, nil
}

// readDuration reads a duration, which may begin with days.
func readDuration(ctx *kong.DecodeContext, target reflect.Value) error {
	var text string
	if err := ctx.Scan.PopValueInto("duration", &text); err != nil {
		return err
	}
	d, err := opt.ParseSpan(text)
	if err != nil {
		return err
	}
	target.SetInt(int64(d))
	return nil
}
