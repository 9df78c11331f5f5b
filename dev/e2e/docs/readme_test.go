// Package docs_test runs the commands of README.md as a new user would.
package docs_test

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"longhaul/dev/e2e/harness"
	"longhaul/internal/needs"
	"longhaul/internal/test"
)

// section returns the commands of a section of README.md.
func section(t *testing.T, heading string) []string {
	t.Helper()
	text := harness.ReadFile(t, "../../../README.md")
	_, after, ok := strings.Cut(string(text), "\n"+heading+"\n")
	if !ok {
		t.Fatalf("README.md has no section %q", heading)
	}
	after, _, _ = strings.Cut(after, "\n#")
	commands := commandsOf(after)
	if len(commands) < 4 {
		t.Fatalf("%q has only %d commands", heading, len(commands))
	}
	return commands
}

// commandsOf returns the commands of a text: its indented lines, of which those that
// continue a command are joined with it.
func commandsOf(after string) (commands []string) {
	within := false // a command that continues
	for line := range strings.Lines(after) {
		code, ok := strings.CutPrefix(line, "    ")
		if !ok {
			continue
		}
		if within {
			commands[len(commands)-1] += code
		} else {
			commands = append(commands, code)
		}
		whole := commands[len(commands)-1]
		within = strings.Count(whole, "'")%2 == 1 || strings.HasPrefix(whole, "for ") && !strings.Contains(whole, "\ndone") ||
			strings.Contains(whole, "<<'END'\n") && !strings.HasSuffix(whole, "\nEND\n")
	}
	return commands
}

// A shell is a shell in which a reader enters commands.
type shell struct {
	t     *testing.T
	in    io.Writer
	out   *bufio.Scanner
	names *strings.Replacer // of what the reader has to put in
	n     int
}

// newShell returns a shell in an empty directory with the program in it.
func newShell(t *testing.T) *shell {
	t.Helper()
	dir := t.TempDir()
	test.OK(t, os.Symlink(harness.Build(t, harness.Dev), dir+"/program"))
	addr := harness.FreeAddr(t)
	cmd := exec.Command("bash")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "LONGHAUL_ADDR="+addr, "LONGHAUL_URL=http://"+addr, "LONGHAUL_TEMPORAL_UI_ADDR=", "COLUMNS=200")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	in := test.Value(cmd.StdinPipe())(t)
	out := test.Value(cmd.StdoutPipe())(t)
	cmd.Stderr = cmd.Stdout
	test.OK(t, cmd.Start())
	t.Cleanup(func() {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // the shell and the server
		_ = cmd.Wait()
	})
	return &shell{t: t, in: in, out: bufio.NewScanner(out), names: strings.NewReplacer("127.0.0.1:7420", addr, "go build -o longhaul ./dev", "cp -L program longhaul")}
}

// run enters a command and returns what it prints.
func (s *shell) run(command string, wantCode int) string {
	s.t.Helper()
	if strings.Contains(command, "curl ") {
		needs.Tools(s.t, "curl")
	}
	s.n++
	command = strings.TrimSuffix(s.names.Replace(command), "\n")
	end := fmt.Sprintf("end of command %d:", s.n)
	test.OK(s.t, test.Err(fmt.Fprintf(s.in, "%s\ncode=$?; echo; echo '%s' $code\n", command, end)))
	timer := time.AfterFunc(2*time.Minute, func() { s.t.Errorf("%s did not end", command); _ = s.in.(io.Closer).Close() })
	defer timer.Stop()
	var printed strings.Builder
	for s.out.Scan() {
		if code, ok := strings.CutPrefix(s.out.Text(), end+" "); ok {
			if code != fmt.Sprint(wantCode) {
				s.t.Fatalf("%s\nexit code %s, want %d:\n%s", command, code, wantCode, printed.String())
			}
			return printed.String()
		}
		printed.WriteString(s.out.Text() + "\n")
	}
	s.t.Fatalf("%s\nthe shell has ended: %s", command, printed.String())
	return ""
}

var (
	gateID = regexp.MustCompile(`task-[a-z0-9]+-\d+-\d+:\d+`)
	taskID = regexp.MustCompile(`obj-[a-z0-9]+`)
)

// The tour of README.md: an approval survives kill -9, is answered, and the task ends.
func TestReadme_tour(t *testing.T) {
	s := newShell(t)
	var gate, task string
	for _, command := range section(t, "## A tour") {
		code := 0
		if strings.HasPrefix(command, "./longhaul send") {
			code = 3 // it waits for a person
		}
		if strings.Contains(command, "GATE-ID") && gate == "" || strings.Contains(command, "TASK-ID") && task == "" {
			t.Fatalf("before %s\nno command has printed the ids", command)
		}
		if strings.HasPrefix(command, "kill") {
			s.run(command+"\nwait $! 2>/dev/null; true", 0) // until its port is free
			continue
		}
		out := s.run(strings.NewReplacer("GATE-ID", gate, "TASK-ID", task).Replace(command), code)
		if id := gateID.FindString(out); strings.Contains(command, "inbox") {
			gate = id
		}
		if id := taskID.FindString(out); strings.Contains(command, "send") && id != "" {
			if task != "" && task != id {
				t.Errorf("the same message has begun %s and %s", task, id)
			}
			task = id
		}
		if strings.Contains(command, "watch") && !strings.Contains(out, "completed") {
			t.Errorf("the task has not ended:\n%s", out)
		}
	}
	if task == "" || gate == "" {
		t.Errorf("the tour names the task %q and the gate %q", task, gate)
	}
}
