package docs_test

import (
	"strings"
	"testing"

	"longhaul/dev/e2e/harness"
)

// The commands of the first three sections of docs/quickstart.md, and `longhaul new` of the
// last, work in their order: an approval survives kill -9, a playbook of the reader's own is
// carried out, and a program of the reader's own is written. TestNew of dev/e2e/program
// builds and runs such a program.
func TestQuickstart(t *testing.T) {
	text := harness.ReadFile(t, "../../../docs/quickstart.md")
	commands := commandsOf(string(text))
	if len(commands) < 15 {
		t.Fatalf("only %d commands were found", len(commands))
	}
	s := newShell(t)
	var gate, task, last string
	for _, command := range commands {
		code := 0
		if strings.HasPrefix(command, "./longhaul send") {
			code = 3 // it waits for a person
		}
		if strings.HasPrefix(command, "kill") {
			s.run(command+"\nwait $! 2>/dev/null; true", 0) // until its port is free
			continue
		}
		if strings.Contains(command, "GATE-ID") && gate == "" || strings.Contains(command, "TASK-ID") && task == "" {
			t.Fatalf("before %s\nno command has printed the ids", command)
		}
		if dir, ok := strings.CutPrefix(command, "./longhaul new "); ok && !strings.HasPrefix(dir, "../") {
			t.Errorf("%s\nthe reader is in the clone, in which there can be no program", command)
		}
		last = s.run(strings.NewReplacer("GATE-ID", gate, "TASK-ID", task).Replace(command), code)
		if id := gateID.FindString(last); id != "" {
			gate = id
		}
		if id := taskID.FindString(last); strings.HasPrefix(command, "./longhaul send") && id != "" {
			task = id
		}
		if strings.Contains(command, "second") && !strings.Contains(last, "Publish a notice of 6 words?") {
			t.Errorf("the question of the playbook is another one:\n%s", last)
		}
		if strings.Contains(command, "watch") && !strings.Contains(last, "completed") {
			t.Errorf("the task has not ended:\n%s", last)
		}
	}
	if !strings.Contains(last, "checksum/checksum.go") {
		t.Errorf("the last command has not listed the source of a program:\n%s", last)
	}
}
