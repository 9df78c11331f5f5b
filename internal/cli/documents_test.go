package cli_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"longhaul/internal/cli"
	"longhaul/internal/test"
)

// command matches a line of a document that runs the program: in a block, or indented.
var command = regexp.MustCompile(`^(?:    )?(?:\$ )?((?:[A-Z_]+=\S+ )*)(?:\./|bin/)?(?:longhaul|longhaul-dev|go run \./dev)((?: .*)?)$`)

// Every command in the documents has arguments that the program takes.
func TestDocuments_commands(t *testing.T) {
	var names []string
	for _, pattern := range []string{"../../README.md", "../../docs/*.md", "../../examples/*.md", "../../examples/*/*.md"} {
		found := test.Value(filepath.Glob(pattern))(t)
		names = append(names, found...)
	}
	checked := 0
	for _, name := range names {
		text := test.Value(os.ReadFile(name))(t)
		block := false
		text = []byte(strings.ReplaceAll(string(text), "\\\n", " ")) // a command that continues
		for line := range strings.Lines(string(text)) {
			line = strings.TrimSuffix(line, "\n")
			if strings.HasPrefix(line, "```") {
				block = !block
			}
			found := command.FindStringSubmatch(line)
			if found == nil || !block && !strings.HasPrefix(line, "    ") {
				continue
			}
			checked++
			if err := cli.Parse(words(t, found[2])); err != nil {
				t.Errorf("%s: %s: %v", name, strings.TrimSpace(line), err)
			}
		}
	}
	if checked < 50 {
		t.Errorf("only %d commands were found", checked)
	}
}

// words returns the words of arguments as a shell splits them, up to the end of the
// command. An ellipsis means that more arguments may follow.
func words(t *testing.T, arguments string) []string {
	t.Helper()
	arguments = strings.ReplaceAll(arguments, "…", "")
	cmd := exec.Command("bash", "-c", "program() { for word; do printf '%s\\0' \"$word\" >&3; done; }\nexec 3>&1 >/dev/null\nprogram "+arguments)
	cmd.Dir = t.TempDir()
	out, err := cmd.Output()
	if err != nil && len(out) == 0 && strings.TrimSpace(arguments) != "" {
		t.Errorf("the shell refuses %s: %v", arguments, err)
	}
	list := strings.Split(string(out), "\x00")
	return list[:len(list)-1]
}
