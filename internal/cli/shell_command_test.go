package cli

import (
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/creack/pty"

	"longhaul/internal/needs"
	"longhaul/internal/serve"
	"longhaul/internal/test"
)

// The script is for the name by which the user has called the program.
func TestRun_completion(t *testing.T) {
	embed := func(context.Context, serve.EmbedConfig) (*serve.Embedded, error) { return nil, nil }
	for _, tt := range []struct {
		build serve.Build
		args  []string
		want  string
	}{
		{serve.Build{}, nil, "complete -F _longhaul longhaul\n"},
		{serve.Build{Name: "poems", Called: "./bin/poems-dev", Embed: embed}, nil, "complete -F _poems_dev poems-dev\n"},
		{serve.Build{Called: "/tmp/x"}, []string{"--name", "lh"}, "complete -F _lh lh\n"},
		{serve.Build{Embed: embed}, nil, "commands='dev temporal api "},
	} {
		var out, errs strings.Builder
		code := Run(t.Context(), append([]string{"completion", "bash"}, tt.args...), &out, &errs, tt.build)
		if code != 0 || !strings.Contains(out.String(), tt.want) {
			t.Errorf("%+v %s: exit code %d, %s; want %q in\n%s", tt.build, tt.args, code, errs.String(), tt.want, out.String())
		}
	}
}

// One page about the program and one about each command, which are valid.
func TestRun_man(t *testing.T) {
	needs.Tools(t, "mandoc")
	dir := filepath.Join(t.TempDir(), "man1")
	var out, errs strings.Builder
	if code := Run(t.Context(), []string{"man", "--dir", dir}, &out, &errs, serve.Build{Name: "poems", Version: "1.2"}); code != 0 {
		t.Fatalf("exit code %d: %s", code, errs.String())
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.1"))
	if err != nil || len(files) < 20 || !slices.Contains(files, filepath.Join(dir, "poems.1")) || !slices.Contains(files, filepath.Join(dir, "poems-send.1")) {
		t.Fatalf("files %v, error %v", files, err)
	}
	found, err := exec.Command("mandoc", append([]string{"-T", "lint", "-W", "warning"}, files...)...).CombinedOutput()
	for line := range strings.Lines(string(found)) {
		if !strings.Contains(line, "missing date") { // tests have no commit
			t.Errorf("%s (%v)", line, err)
		}
	}
	if len(found) == 0 && err != nil {
		t.Errorf("mandoc: %v", err)
	}
	if got := show(t, "man", "keys", "create"); !strings.Contains(got, ".SH NAME\nlonghaul\\-keys\\-create \\- create an API key") {
		t.Errorf("man keys create shows\n%s", got)
	}
	if code := Run(t.Context(), []string{"man", "send"}, &out, &errs, serve.Build{Name: "poems"}); code != 0 || !strings.Contains(out.String(), ".SH NAME\npoems\\-send \\- send a message") {
		t.Errorf("exit code %d:\n%s%s", code, out.String(), errs.String())
	}
	for _, args := range [][]string{{"man", "bogus"}, {"man", "send", "--dir", dir}} {
		if said := refused(t, serve.Build{}, args...); !strings.Contains(said, "name ") {
			t.Errorf("%s: %s", args, said)
		}
	}
}

// On a terminal a page is shown by man, or by mandoc where man takes no page from its input.
func TestRun_manOnTerminal(t *testing.T) {
	sed := test.Value(exec.LookPath("sed"))(t)
	for name, scripts := range map[string]map[string]string{
		"man":    {"man": "test \"$*\" = '-l -' && sed -n 's/^.TH/shown:/p'"},
		"mandoc": {"man": "exit 5", "mandoc": "test \"$*\" = -a && sed -n 's/^.TH/shown:/p'"},
		"":       {"man": "exit 5"},
	} {
		dir := t.TempDir()
		for program, script := range scripts {
			test.OK(t, os.WriteFile(filepath.Join(dir, program), []byte("#!/bin/sh\n"+script+"\n"), 0o755))
		}
		test.OK(t, os.Symlink(sed, filepath.Join(dir, "sed")))
		t.Setenv("PATH", dir)
		ours, theirs, err := pty.Open()
		if err != nil {
			t.Fatalf("this test needs pseudo-terminals: %v", err)
		}
		shown := make(chan string)
		go func() {
			text, _ := io.ReadAll(ours) // the error is that theirs is closed
			shown <- string(text)
		}()
		var errs strings.Builder
		if code := Run(t.Context(), []string{"man", "send"}, theirs, &errs, serve.Build{}); code != 0 {
			t.Errorf("%q: exit code %d: %s", name, code, &errs)
		}
		_ = theirs.Close()
		text := <-shown
		_ = ours.Close()
		if got := strings.HasPrefix(text, `shown: "LONGHAUL\\-SEND" 1`); got != (name != "") || !got && !strings.Contains(text, `.TH "LONGHAUL\\-SEND" 1`) {
			t.Errorf("%q shows\n%s", name, text)
		}
	}
}
