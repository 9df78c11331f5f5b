package arch_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"longhaul/internal/test"
)

// The diagram of the rooms in docs/architecture.md has all packages that the program consists of,
// and each imports only those that come after it.
func TestDiagram(t *testing.T) {
	places := diagram(t)
	sources := test.Value(repository())(t)
	seen := map[string]bool{}
	for _, s := range sources {
		at := slices.Index(places, s.room)
		if s.test || !isPartOfTheProgram(s.room) {
			continue
		}
		seen[s.room] = true
		if at < 0 {
			t.Errorf("docs/architecture.md: %s is not in the diagram of the rooms", s.room)
		}
		for _, p := range s.imports() {
			if room, ok := ours(p); ok && slices.Index(places, room) <= at {
				t.Errorf("%s imports %s, which comes before it in the diagram of docs/architecture.md", s.path, room)
			}
		}
	}
	for _, room := range places {
		if !seen[room] {
			t.Errorf("docs/architecture.md: there is no package %s", room)
		}
	}
}

// diagram returns the rooms in the diagram, in its order.
func diagram(t *testing.T) (places []string) {
	text := test.Value(os.ReadFile("../../docs/architecture.md"))(t)
	_, rest, _ := strings.Cut(string(text), "\n## Rooms\n")
	_, rest, _ = strings.Cut(rest, "```\n")
	lines, _, ok := strings.Cut(rest, "```")
	if !ok {
		t.Fatal("docs/architecture.md has no diagram of the rooms")
	}
	for line := range strings.Lines(lines) {
		names := strings.Fields(line)
		if !strings.HasPrefix(line, " ") {
			names = names[1:] // after the name of the line
		}
		for _, name := range names {
			if name == module {
				name = "."
			}
			places = append(places, name)
		}
	}
	return places
}

// isPartOfTheProgram reports whether a room is none for tests, examples, documents or tools.
func isPartOfTheProgram(room string) bool {
	for _, outside := range []string{"dev", "examples", "deploy", "docs", "tools", "internal/arch", "internal/needs", "internal/child", "internal/freeport", "internal/pgserver", "opt/machine/sim"} {
		if under(room, outside) {
			return false
		}
	}
	return !strings.HasSuffix(room, "test")
}
