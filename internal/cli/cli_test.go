package cli

import (
	"context"
	"fmt"
	"io"
	"strings"
	"testing"

	"longhaul/internal/process"
	"longhaul/internal/serve"
	"longhaul/internal/test"
)

// A program has its own name, version and description.
func TestRun_named(t *testing.T) {
	b := serve.Build{Name: "poems", Version: "1.2", Description: "Writes poems."}
	for _, tt := range []struct {
		args []string
		want string
	}{
		{[]string{"version"}, "poems 1.2\n"},
		{[]string{"--help"}, "Usage: poems <command>"},
		{[]string{"--help"}, "Writes poems."},
		{[]string{"api", "--help-all"}, `--agent-name="poems"`},
		{[]string{"bogus"}, "poems: there is no command bogus\nSee poems --help."},
	} {
		var out strings.Builder
		Run(t.Context(), tt.args, &out, &out, b)
		if !strings.Contains(out.String(), tt.want) {
			t.Errorf("%s: got\n%s\nwant in it\n%s", tt.args, out.String(), tt.want)
		}
	}
	if said := refused(t, b, "worker", "--planner", "bard", "--data-dir", t.TempDir(), "--temporal-addr", "127.0.0.1:1"); !strings.Contains(said, `poems: --planner "bard"`) {
		t.Errorf("it says\n%s", said)
	}
}

// Commands that are printed for people begin as the user has called the program.
func TestRun_namesItsCommands(t *testing.T) {
	for called, want := range map[string]process.Name{
		"poems": "poems", "./poems": "./poems", "/opt/poems": "/opt/poems", "bin/poems": "bin/poems",
		"/tmp/go-build123/b001/exe/completion": "go run ./completion", "/tmp/go-build123/b001/exe/press": "go run .",
	} {
		test.Is(t, fmt.Sprintf("called as %s: commands begin with", called), want, commandOf(serve.Build{Name: "poems", Called: called}))
	}
	var out strings.Builder
	Run(t.Context(), []string{"get", "--url", "http://127.0.0.1:1", "--patience", "0", "task-x"}, io.Discard, &out, serve.Build{Name: "poems", Called: "./bin/poems", Embed: func(context.Context, serve.EmbedConfig) (*serve.Embedded, error) { return nil, nil }})
	if want := "To start everything in one process: ./bin/poems dev."; !strings.Contains(out.String(), want) {
		t.Errorf("got\n%s\nwant in it\n%s", out.String(), want)
	}
}

func TestRun_version(t *testing.T) {
	for _, arg := range []string{"version", "--version"} {
		test.Is(t, arg, "longhaul "+process.Version+"\n", show(t, arg))
	}
}
