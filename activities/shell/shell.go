// Package shell runs commands that the operator lists, as tasks. Use it for
// programs that are on the worker's machine. A task names a command and gives its
// input; it cannot run anything else.
//
// There is no shell: each argument is a template of its own, and its text is one
// argument of the program, also with spaces or quotes. A program gets no environment
// but the variables that its command names.
//
// A program that exits with 0 completes the task with its standard output, and programs
// that it has started end with it. Another exit code fails the attempt, which is repeated
// like any task.
package shell

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
	"text/template"
	"time"

	"go.uber.org/zap"

	"longhaul/a2a"
	"longhaul/activities"
	"longhaul/internal/tracing"
)

// Kind is the kind of tasks that the executor runs.
const Kind = "shell"

// Codes of failures.
const (
	CodeInput   = "bad-input"        // the input does not fit the command
	CodeExit    = "exit"             // the program ended with another code than 0
	CodeStart   = "not-started"      // the program is missing, or may not be run
	CodeOutput  = "output-too-large" // there was more standard output than the command allows
	CodeNotJSON = "not-json"         // the standard output should be JSON and is not
	CodeTimeout = "command-timeout"  // the program took longer than the command allows
)

// stopWait is how long a program that was asked to stop may take before it is killed.
const stopWait = 3 * time.Second

// maxLoggedBytes is how many bytes of standard error are logged, from its end.
const maxLoggedBytes = 4 << 10

// An Executor runs commands. It may be used from any goroutine.
type Executor struct {
	Commands map[string]*Command // from [Load]
	Log      *zap.Logger         // gets the standard error of programs that fail; nil discards it
}

// input is the input of a task.
type input struct {
	Command string         `json:"command"`
	Values  map[string]any `json:"values"`
}

// Named implements [activities.Namer].
func (e Executor) Named() []activities.Named {
	return []activities.Named{{Member: "command", Names: slices.Sorted(maps.Keys(e.Commands))}}
}

// Execute implements [activities.Executor].
func (e Executor) Execute(ctx context.Context, w activities.Work, _ activities.Stream) (activities.Outcome, error) {
	var in input
	if err := activities.ReadInput(w, &in); err != nil {
		return activities.Rejected(CodeInput, "The input of the task must have a command and may have values."), nil
	}
	c := e.Commands[in.Command]
	if c == nil {
		return activities.Rejected(CodeInput, fmt.Sprintf("There is no command %q on this worker.", in.Command)), nil
	}
	call, problem := c.call(facts{
		Values: in.Values, Text: w.RequestText(), Notes: w.NotesText(), Description: w.Description, Objective: w.Objective, Results: w.ResultsText(""),
		TaskID: w.TaskID, Key: w.Key,
	})
	if problem != "" {
		return activities.Rejected(CodeInput, problem), nil
	}
	if c.SendWork {
		var err error
		if call.stdin, err = json.Marshal(w); err != nil {
			return activities.Outcome{}, err
		}
	}
	return e.run(ctx, c, call)
}

// A call is a command with its arguments.
type call struct {
	args  []string
	stdin []byte
	env   []string
}

// run runs a program to its end.
func (e Executor) run(ctx context.Context, c *Command, call call) (activities.Outcome, error) {
	limited, cancel := context.WithTimeout(ctx, c.Timeout)
	defer cancel()
	dir := c.Dir
	if dir == "" {
		made, err := os.MkdirTemp("", "longhaul-task-")
		if err != nil {
			return activities.Outcome{}, err
		}
		defer func() { _ = os.RemoveAll(made) }()
		dir = made
	}
	out, problems := &head{most: c.Output, full: cancel}, &tail{most: maxLoggedBytes}
	p := exec.CommandContext(limited, call.args[0], call.args[1:]...)
	p.Dir, p.Env, p.Stdin, p.Stdout, p.Stderr = dir, slices.Concat(call.env, tracing.Environment(ctx)), bytes.NewReader(call.stdin), out, problems
	p.WaitDelay = stopWait
	err := runGroup(ctx, p)
	if errors.Is(err, exec.ErrWaitDelay) { // it ended with 0, and one that it has started had its output open
		err = nil
	}
	var cause error // for the operator alone: it may name the program and the directory
	switch {
	case ctx.Err() != nil:
		return activities.Outcome{}, ctx.Err()
	case out.over:
		return activities.Failed(CodeOutput, fmt.Sprintf("The command printed more than %d bytes.", c.Output)), nil
	case err == nil: // also if its time was over right after
		return c.outcome(out.text)
	case limited.Err() != nil:
		err = &activities.Error{Code: CodeTimeout, Message: fmt.Sprintf("The command took longer than %v.", c.Timeout)}
	default:
		cause, err = err, failure(err)
	}
	if e.Log != nil {
		activities.Log(ctx, e.Log).Warn("A command failed", zap.String("command", c.name), zap.Error(err), zap.NamedError("cause", cause), zap.ByteString("stderr", problems.text))
	}
	return activities.Outcome{}, err
}

// failure returns the error of an attempt whose program ended with err. It has
// nothing of the program's output.
func failure(err error) error {
	switch exit, ended := errors.AsType[*exec.ExitError](err); {
	case ended && exit.ExitCode() > 0:
		return &activities.Error{Code: fmt.Sprintf("%s-%d", CodeExit, exit.ExitCode()), Message: fmt.Sprintf("The command ended with code %d.", exit.ExitCode())}
	case ended:
		return &activities.Error{Code: CodeExit, Message: "The command was ended by a signal."}
	}
	return &activities.Error{Code: CodeStart, Message: "The command could not be started."}
}

// outcome returns the outcome of a program that has printed out.
func (c *Command) outcome(out []byte) (activities.Outcome, error) {
	part := a2a.TextPart(strings.ToValidUTF8(string(out), "\uFFFD"))
	if c.JSON {
		if !json.Valid(out) {
			return activities.Outcome{}, &activities.Error{Code: CodeNotJSON, Message: "The command did not print JSON."}
		}
		part = a2a.Part{Data: json.RawMessage(bytes.TrimSpace(out))}
	}
	return activities.Completed(a2a.Artifact{ArtifactID: "output", Name: c.name, Parts: []a2a.Part{part}}), nil
}

// facts are the data for the templates of a command.
type facts struct {
	Values      map[string]any // of the input of the task
	Text        string         // of the request
	Notes       string         // texts of the messages after it
	Description string         // of the task
	Objective   string         // its name
	Results     string         // texts of the tasks before
	TaskID, Key string
}

// call fills in the templates of c. problem says, for clients, why the facts do not
// fit; "" if they do.
func (c *Command) call(f facts) (out call, problem string) {
	if problem := wrongValue(f.Values); problem != "" {
		return call{}, problem
	}
	out.args = slices.Clone(c.Run[:1])
	for i, t := range c.args {
		arg, err := executeTemplate(t, f)
		switch {
		case err != nil:
			return call{}, missingValueText
		case strings.ContainsRune(arg, 0):
			return call{}, fmt.Sprintf("Argument %d has a zero byte.", i+1)
		case strings.HasPrefix(arg, "-") && !strings.HasPrefix(c.Run[i+1], "-"):
			return call{}, fmt.Sprintf("Argument %d must not begin with a dash: the program would take it for an option.", i+1)
		}
		out.args = append(out.args, arg)
	}
	if c.stdin != nil {
		in, err := executeTemplate(c.stdin, f)
		if err != nil {
			return call{}, missingValueText
		}
		out.stdin = []byte(in)
	}
	out.env = append(c.environment(), "LONGHAUL_TASK_ID="+f.TaskID, "LONGHAUL_KEY="+f.Key)
	return out, ""
}

// environment returns the variables of the worker that the program gets.
func (c *Command) environment() (env []string) {
	for _, name := range c.Env {
		if value, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+value)
		}
	}
	return env
}

func wrongValue(values map[string]any) (problem string) {
	for name, v := range values {
		switch v.(type) {
		case string, bool, json.Number:
		default:
			return fmt.Sprintf("The value %q must be a text, a number or a boolean.", name)
		}
	}
	return ""
}

const missingValueText = "The input of the task misses a value that the command needs."

func executeTemplate(t *template.Template, f facts) (string, error) {
	var b strings.Builder
	err := t.Execute(&b, f)
	return b.String(), err
}
