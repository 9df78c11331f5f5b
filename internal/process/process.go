package process

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"

	"github.com/alecthomas/kong"
)

// A Process has what every command needs.
type Process struct {
	Ctx            context.Context
	Stdin          *os.File // of the person at a terminal; nil: standard input
	Stdout, Stderr io.Writer
	Name           Name // of the program
	Command        Name // in command lines that people may copy
	Embeds         bool // the program has a Temporal server inside

	// Check refuses arguments before they are parsed. Nil refuses none.
	Check func(app *kong.Application, args []string) error

	// Explain adds to an error of a command what to do about it. Nil adds nothing.
	Explain func(error) error

	helped bool // the parser has shown help, and nothing is to be run
	json   bool // the command prints JSON, so its errors are JSON, too
}

// An Advised error has what to do about it.
type Advised struct {
	Err    error
	Hint   string // "" if that is not known
	Code   int    // of the agent that has refused a call; 0 for other errors
	Reason string // for programs; "" if there is none
}

func (e *Advised) Error() string {
	if e.Hint == "" {
		return e.Err.Error()
	}
	return e.Err.Error() + "\n" + e.Hint
}

func (e *Advised) Unwrap() error { return e.Err }

// exitUsage is the exit code for wrong arguments.
const exitUsage = 2

// A UsageError says that the arguments of a command are wrong, or that one is missing.
type UsageError struct {
	Text    string
	Command string // with the program; "" for that alone
}

func (e *UsageError) Error() string { return e.Text }

// Usagef returns a [UsageError].
func Usagef(format string, args ...any) error {
	return &UsageError{Text: fmt.Sprintf(format, args...)}
}

// An ExitError ends the program with its own exit code.
type ExitError struct {
	Code int // of the program
	Text string
}

func (e *ExitError) Error() string { return e.Text }

// Exit codes of commands about tasks.
const (
	ExitWaits       = 3   // the task waits for a person
	ExitInterrupted = 130 // after Ctrl-C, as shells have it
)

// Interruptible returns a context that ends at Ctrl-C.
func Interruptible(ctx context.Context) (context.Context, context.CancelFunc) {
	return signal.NotifyContext(ctx, os.Interrupt)
}
