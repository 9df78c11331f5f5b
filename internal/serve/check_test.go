package serve

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"github.com/alecthomas/kong"

	"longhaul/internal/process"
	"longhaul/internal/test"
)

// checkFiles runs the command check, and returns all that it prints.
func checkFiles(t *testing.T, code int, args ...string) string {
	t.Helper()
	var out strings.Builder
	p := &process.Process{Ctx: t.Context(), Stdout: &out, Stderr: &out}
	var grammar struct {
		Check Check `cmd:""`
	}
	if got := p.Report(p.Start(append([]string{"check"}, args...), &grammar, kong.Bind(Build{}), kong.Vars{"agent": "Longhaul"})); got != code {
		t.Errorf("%v: exit code %d, want %d: %s", args, got, code, &out)
	}
	return out.String()
}

const commandsFile = "commands:\n  count: {run: [wc, -l]}\n"

// What check refuses a process refuses at its start in the same words, and the mistakes of all
// files are listed together.
func TestCheck_sameAsStart(t *testing.T) {
	for _, tt := range []struct{ playbook, commands, want string }{
		{"executer: shell", commandsFile, `:6: a task has no member "executer" (did you mean executor?)`},
		{"executor: shel", commandsFile, `:6: there is no executor "shel" (did you mean shell?); known are `},
		{"executor: shell\n    input: {command: conut}", commandsFile, `:7: there is no command "conut" (did you mean count?); known are count`},
		{"executor: shell", commandsFile, `:6: the input needs a member "command": known are count`},
		{"executor: [", "commands:\n  count: {rum: [wc]}\n", `:2: member "rum" is unknown (did you mean run?)`},
		{"executor: [", "commands:\n  count: {rum: [wc]}\n", `a.yaml:6: not valid YAML`},
	} {
		book := test.File(t, "a.yaml", "name: a\ndefault: true\nplans:\n- name: P\n  tasks:\n  - "+tt.playbook+"\n    name: T\n")
		commands := test.File(t, "commands.yaml", tt.commands)
		found := checkFiles(t, 1, book, commands)
		var started strings.Builder
		test.Is(t, fmt.Sprintf("%s: dev ends with", tt.playbook), 1, runCommand(t.Context(), []string{"dev", "--data-dir", t.TempDir(), "--addr", "127.0.0.1:0", "--playbooks", book, "--commands", commands}, io.Discard, &started, Build{Embed: mustNotStart(t)}))
		if !strings.Contains(found, tt.want) || strings.ReplaceAll(found, ", echo", "") != strings.ReplaceAll(strings.ReplaceAll(started.String(), ", echo", ""), "echo, ", "") {
			t.Errorf("%s: check says\n%sdev says\n%swant in both %s", tt.playbook, found, &started, tt.want)
		}
	}
}

func mustNotStart(t *testing.T) Embed {
	return func(context.Context, EmbedConfig) (*Embedded, error) {
		t.Error("Temporal is started")
		return nil, io.EOF
	}
}

// Files without mistakes are listed, of whichever kinds. The executor echo is known where dev is
// to start.
func TestCheck(t *testing.T) {
	book := test.File(t, "a.yaml", "name: a\ndefault: true\nplans: [{name: P, tasks: [{name: T, executor: echo}]}]\n")
	commands := test.File(t, "commands.yaml", commandsFile)
	agents := test.File(t, "agents.yaml", "agents: {one: {url: 'https://agent.example.com'}}\n")
	triggers := test.File(t, "triggers.yaml", "triggers: [{name: a, kind: secret, secret: 0123456789abcdef, principal: p, message: '{{.Body.a}}'}]\n")
	if said, want := checkFiles(t, 0, "--as", "dev", book, agents, commands, triggers), "No mistakes.\n"; !strings.HasPrefix(said, want) || strings.Count(said, "\n") != 5 {
		t.Errorf("it says\n%s", said)
	}
	if said := checkFiles(t, 1, "--as", "worker", book); !strings.Contains(said, "the executor echo is off: turn it on with --echo") {
		t.Errorf("a worker: it says\n%s", said)
	}
	if said := checkFiles(t, 1, test.File(t, "triggers.yaml", "triggers: [{name: a, kind: secret, secret: 0123456789abcdef, principal: p, message: '{{.Bdy}}'}]\n")); !strings.Contains(said, "trigger a: message: ") {
		t.Errorf("a mistake in a template: it says\n%s", said)
	}
	if said := checkFiles(t, 2, commands, commands); !strings.Contains(said, "both have commands") {
		t.Errorf("two files of a kind: it says\n%s", said)
	}
	test.Contains(t, "a missing file", "no such file", checkFiles(t, 1, filepath.Join(t.TempDir(), "missing.yaml")))
	test.Contains(t, "a wrong setting", "--max-plans must be above 0", checkFiles(t, 2, "--max-plans", "0"))
}

// A process in one piece that ends with an error keeps why, until it is started again.
func TestDev_keepsItsEnd(t *testing.T) {
	dir := t.TempDir()
	runCommand(t.Context(), []string{"dev", "--data-dir", dir, "--addr", "127.0.0.1:7999", "--max-plans", "0"}, io.Discard, io.Discard, Build{Embed: mustNotStart(t)})
	if end, ok := process.EndOf(dir, "http://localhost:7999"); !ok || end.Reason != "--max-plans must be above 0" {
		t.Errorf("kept %+v, %t", end, ok)
	}
}
