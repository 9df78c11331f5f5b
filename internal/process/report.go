package process

import (
	"errors"
	"fmt"
	"strings"

	"longhaul/a2a"
)

// Report prints an error, and returns the exit code of the program.
func (p *Process) Report(err error) int {
	if err == nil {
		return 0
	}
	f := p.failureOf(err)
	switch {
	case p.json:
		_ = PrintJSON(p.Stderr, map[string]failure{"error": f})
	case f.ExitCode == exitUsage:
		fmt.Fprintf(p.Stderr, "%s: %s\n%s\n", p.Name, a2a.Visible(err.Error()), f.Hint)
	default:
		fmt.Fprintf(p.Stderr, "%s: %s\n", p.Name, a2a.Visible(err.Error())) // it may quote an agent or a file
	}
	return f.ExitCode
}

// Note prints lines beside the result of a command: text that ends with a new line.
func (p *Process) Note(text string) {
	if p.json {
		_ = PrintJSON(p.Stderr, map[string]string{"note": strings.TrimSpace(text)})
		return
	}
	fmt.Fprint(p.Stderr, text)
}

// A failure is an error in the output of a command that prints JSON.
type failure struct {
	Code     int    `json:"code,omitempty"` // of the agent that has refused a call
	Reason   string `json:"reason"`
	Message  string `json:"message"`
	Hint     string `json:"hint,omitempty"` // what to do about it
	ExitCode int    `json:"exitCode"`
}

// exitReasons are the reasons of errors that have none, by exit code.
var exitReasons = map[int]string{1: "FAILED", exitUsage: "WRONG_ARGUMENTS", ExitWaits: "WAITS_FOR_PERSON", ExitInterrupted: "STOPPED"}

func (p *Process) failureOf(err error) failure {
	f := failure{Message: err.Error(), ExitCode: 1}
	if exit, ok := errors.AsType[*ExitError](err); ok {
		f.ExitCode = exit.Code
	}
	if wrong, ok := errors.AsType[*UsageError](err); ok {
		command := wrong.Command
		if command == "" {
			command = p.Name.String()
		}
		f.ExitCode, f.Hint = exitUsage, fmt.Sprintf("See %s --help.", command)
	}
	for advised, ok := errors.AsType[*Advised](err); ok; advised, ok = errors.AsType[*Advised](advised.Err) {
		f.Code, f.Reason, f.Message = advised.Code, advised.Reason, advised.Err.Error()
		f.Hint = strings.TrimSpace(f.Hint + "\n" + advised.Hint)
	}
	if f.Reason == "" {
		f.Reason = exitReasons[f.ExitCode]
	}
	return f
}
