package cli

import (
	"context"
	"fmt"
	"io"
	"strings"
	"testing"

	"longhaul/internal/serve"
	"longhaul/internal/test"
)

// Wrong arguments end every command with the exit code 2, and it says where to look.
func TestRun_wrongArguments(t *testing.T) {
	const url, gateID = "http://127.0.0.1:1", "task-aaaaaaaaaaaaaaaaaaaaaaaaaa-1-0:1"
	dir := t.TempDir()
	for _, tt := range []struct {
		args []string
		want string
	}{
		{[]string{"send", "--url", url}, "longhaul: say what to send: a text, --data or --file\nSee longhaul send --help.\n"},
		{[]string{"send", "--url", url, "--data", "{x"}, "--data {x is not JSON"},
		{[]string{"send", "--url", "nonsense", "hi"}, "is not the URL of an agent"},
		{[]string{"answer", "--url", url, gateID}, "say what to answer: accept, reject"},
		{[]string{"answer", "--url", url, gateID, "refine"}, "say what to refine"},
		{[]string{"answer", "--url", url, gateID, "edit"}, "say what replaces the object"},
		{[]string{"keys", "create", "ann", "--scopes", "bogus", "--data-dir", dir}, "unknown scope \"bogus\""},
		{[]string{"keys", "create", "ann", "--scopes", "all", "--expires=-1h", "--data-dir", dir}, "--expires must be above 0"},
		{[]string{"man", "nope"}, "no manual page about \"nope\""},
		{[]string{"list", "--url", url, "--limit", "0"}, "--limit must be 1 or more"},
		{[]string{"schedule", "create", "nightly", "hi", "--url", url}, "say when: --cron"},
		{[]string{"schedule", "create", "nightly", "hi", "--overlap", "nope", "--url", url}, `--overlap must be one of "skip",`},
		{[]string{"schedule", "backfill", "nightly", "--from", "2026-12-01T00:00:00Z", "--to", "never", "--url", url}, "--until \"never\" is not a time"},
		{[]string{"worker", "--max-tasks", "many"}, "--max-tasks"},
		{[]string{"worker", "--workflow-memory", "1MiB"}, "--workflow-memory \"1MiB\" is not a number of bytes, such as 64MiB, of 2MiB or more"},
		{[]string{"api", "--quota", "gates=1"}, "--quota \"gates=1\" is not QUOTA=N"},
		{[]string{"worker", "--quota", "open-gates=1,acme:open-gates"}, "--quota \"acme:open-gates\" is not QUOTA=N"},
		{[]string{"help", "nope"}, "there is no command nope\nSee longhaul --help."},
	} {
		if said := refused(t, serve.Build{}, tt.args...); !strings.Contains(said, tt.want) || !strings.Contains(said, "\nSee longhaul ") {
			t.Errorf("%s says\n%s\nwant in it\n%s", tt.args, said, tt.want)
		}
	}
}

// A mistyped command names the nearest one, in both programs.
func TestRun_mistyped(t *testing.T) {
	embed := func(context.Context, serve.EmbedConfig) (*serve.Embedded, error) { panic("it was started") }
	for _, b := range []serve.Build{{}, {Embed: embed}} {
		for word, want := range map[string]string{
			"sned": "longhaul: there is no command sned. Did you mean send?\nSee longhaul --help.\n",
			"inbx": "Did you mean inbox?", "anwser": "Did you mean answer?", "objectives": "Did you mean objective?", "sched": "Did you mean schedule?",
			"frobnicate": "longhaul: there is no command frobnicate\nSee",
		} {
			if said := refused(t, b, word, "x"); !strings.Contains(said, want) {
				t.Errorf("%s says\n%s\nwant in it\n%s", word, said, want)
			}
		}
	}
}

// A program without Temporal says why it lacks the commands that need it, and what to use.
func TestRun_withoutTemporal(t *testing.T) {
	for name, source := range map[string]string{"": ", or from the source of Longhaul: go run ./dev ", "poems": ""} {
		for _, word := range []string{"dev", "temporal"} {
			want := "this program has no Temporal inside, which the command " + word + " needs: use api and worker with a Temporal elsewhere" + source
			if source != "" {
				want += word
			}
			if said := refused(t, serve.Build{Name: name}, word); !strings.Contains(said, ": "+want+"\n") {
				t.Errorf("%s says\n%s\nwant\n%s", word, said, want)
			}
		}
	}
}

// Without arguments both programs name the first commands, and start nothing.
func TestRun_noArguments(t *testing.T) {
	embed := func(context.Context, serve.EmbedConfig) (*serve.Embedded, error) { panic("it was started") }
	for want, b := range map[string]serve.Build{
		"dev     Run everything in this process": {Name: "poems", Called: "./poems", Embed: embed}, "worker  Do the work": {Name: "poems", Called: "./poems"},
	} {
		said := refused(t, b)
		for _, want := range []string{"poems: name a command. The first ones:\n\n  ./poems ", "\n  ./poems " + want, "\n  ./poems inbox   List", "\n\nSee poems --help.\n"} {
			if !strings.Contains(said, want) {
				t.Errorf("it says\n%s\nwant in it\n%s", said, want)
			}
		}
	}
}

// The command help shows what the flag --help shows.
func TestRun_help(t *testing.T) {
	if all := show(t, "help"); all != show(t, "--help") || !strings.Contains(all, "Exit codes: 0 done, 1 failed, 2 wrong arguments") {
		t.Errorf("help shows\n%s", all)
	}
	for _, command := range [][]string{{"send"}, {"keys", "create"}} {
		got, want := show(t, append([]string{"help"}, command...)...), show(t, append(command, "--help")...)
		if got != want || !strings.Contains(got, "Usage: longhaul "+strings.Join(command, " ")) {
			t.Errorf("help %s shows\n%s\nwant\n%s", command, got, want)
		}
	}
}

// A command with many flags shows the ten common ones, and what the others are about; --help-all
// shows all.
func TestRun_helpCommon(t *testing.T) {
	for _, command := range []string{"api", "worker", "check", "config"} {
		short, all := show(t, command, "--help"), show(t, command, "--help-all")
		if n := strings.Count(short, "\n"); n > 60 || !strings.Contains(short, "--data-dir") || !strings.Contains(short, "To see them: longhaul "+command+" --help-all") {
			t.Errorf("%s --help has %d lines:\n%s", command, n, short)
		}
		if !strings.Contains(all, "--max-events") || strings.Contains(short, "--max-events") || !strings.Contains(all, "\nJournal\n") || !strings.Contains(short, "Journal") {
			t.Errorf("%s --help-all shows\n%s", command, all)
		}
	}
	if said := show(t, "send", "--help"); !strings.Contains(said, "--patience") {
		t.Errorf("send --help shows\n%s", said)
	}
}

// show returns what a command prints.
func show(t *testing.T, args ...string) string {
	t.Helper()
	var stdout, stderr strings.Builder
	if code := Run(t.Context(), args, &stdout, &stderr, serve.Build{}); code != 0 {
		t.Fatalf("%s: exit code %d\n%s", args, code, stderr.String())
	}
	return stdout.String()
}

// refused returns what a program says about wrong arguments.
func refused(t *testing.T, b serve.Build, args ...string) string {
	t.Helper()
	var stderr strings.Builder
	test.Is(t, fmt.Sprintf("%s: exit code", args), 2, Run(t.Context(), args, io.Discard, &stderr, b))
	return stderr.String()
}

// The usage of each command is named, also after another one has made the same mistake.
func TestRun_missingKeys(t *testing.T) {
	for _, command := range []string{"api", "worker"} {
		said := refused(t, serve.Build{}, command, "--journal", "postgres://127.0.0.1:1/none", "--data-dir", t.TempDir(), "--temporal-addr", "127.0.0.1:1")
		if want := "See longhaul " + command + " --help."; !strings.Contains(said, "needs --secret-keys") || !strings.Contains(said, want) {
			t.Errorf("%s: no %q in\n%s", command, want, said)
		}
	}
}
