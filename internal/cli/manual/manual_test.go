package manual_test

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
	"github.com/google/go-cmp/cmp"

	"longhaul/internal/cli/manual"
	"longhaul/internal/needs"
	"longhaul/internal/test"
)

type grammar struct {
	Config string `help:"File with settings." type:"path" placeholder:"FILE"`

	Tea struct {
		Brew struct {
			Kind   string `help:"Kind of tea." enum:",black,green" default:"green" env:"TEA_KIND"`
			Strong bool   `short:"s" help:"Twice as much."`
			Secret bool   `hidden:""`
			Cup    string `arg:"" help:".cup is a file."`
		} `cmd:"" aliases:"make" help:"Brew it. .dots and 'quotes' at the beginning of a line are text, and so is a \\backslash."`
		Spit struct{} `cmd:"" hidden:""`
	} `cmd:"" help:"Tea."`
	Hide  struct{} `cmd:"" hidden:""`
	Serve struct{} `cmd:"" default:"withargs" help:"Serve URLs, with options such as --config: all of them, many, and yet a few more, .so that 'lines are broken."`
}

func pages() manual.Manual {
	app := kong.Must(&grammar{}, kong.Name("house"), kong.Description("A house for tea.\n\nExit codes: 0 done."))
	return manual.Manual{App: app.Model.Node, Version: "v1.2.3", Date: "2026-01-02", Files: []manual.File{{Name: "house.yaml", Help: "Settings."}}}
}

// Both programs that show pages find nothing to complain about.
func TestManual_Write_valid(t *testing.T) {
	needs.Tools(t, "mandoc", "groff")
	for _, name := range pages().Pages() {
		text := page(t, name)
		for _, args := range [][]string{{"mandoc", "-T", "lint"}, {"groff", "-man", "-ww", "-z"}} {
			cmd := exec.Command(args[0], args[1:]...)
			cmd.Stdin = strings.NewReader(text)
			out, err := cmd.CombinedOutput()
			if err != nil || len(out) > 0 {
				t.Errorf("page %q: %v: %v\n%s\n%s", name, args, err, out, text)
			}
		}
	}
}

// What people read.
func TestManual_Write(t *testing.T) {
	want := `HOUSE-TEA(1) house manual HOUSE-TEA(1)
NAME
house-tea - tea
SYNOPSIS
house tea brew <cup> [flags]
DESCRIPTION
Tea.
COMMANDS
tea brew
Brew it. .dots and 'quotes' at the beginning of a line are text, and so
is a \backslash. Also: make.
cup .cup is a file.
--kind=KIND
Kind of tea. One of: black, green. The default is green. The
variable is TEA_KIND.
-s, --strong
Twice as much.
SEE ALSO
house(1)
house v1.2.3 2026-01-02 HOUSE-TEA(1)`
	test.Equal(t, "house-tea", want, read(t, "tea"))
	for _, want := range []string{
		"house - a house for tea", "Exit codes: 0 done.", "house-tea(1)", "With flags alone it does the same as house serve.", "--config=FILE", "house.yaml\nSettings.",
	} {
		if got := read(t, ""); !strings.Contains(got, want) {
			t.Errorf("the page about the program does not have %q:\n%s", want, got)
		}
	}
	if got := read(t, "serve"); !strings.Contains(got, "and yet a\nfew more, .so that 'lines are broken.") || !strings.Contains(got, "house with flags alone") {
		t.Errorf("house-serve:\n%s", got)
	}
}

// A command below another has a page, too.
func TestManual_Write_below(t *testing.T) {
	want := `HOUSE-TEA-BREW(1) house manual HOUSE-TEA-BREW(1)
NAME
house-tea-brew - brew it
SYNOPSIS
house tea brew <cup> [flags]
DESCRIPTION
Brew it. .dots and 'quotes' at the beginning of a line are text, and so
is a \backslash.
cup .cup is a file.
OPTIONS
`
	if got := read(t, "tea brew"); !strings.HasPrefix(got, want) {
		t.Errorf("house-tea-brew (-want +got):\n%s", cmp.Diff(want, got))
	}
}

func TestManual_Pages(t *testing.T) {
	test.Equal(t, "pages", []string{"", "tea", "serve"}, pages().Pages())
	test.Is(t, "names of files", "house.1 house-tea.1", pages().FileName("")+" "+pages().FileName("tea"))
	for _, name := range []string{"coffee", "tea coffee", "tea spit", "hide", "serve tea"} {
		err := pages().Write(&strings.Builder{}, name)
		test.Fails(t, name, "name one of the commands tea, serve", err)
	}
}

func page(t *testing.T, name string) string {
	t.Helper()
	var out strings.Builder
	test.OK(t, pages().Write(&out, name))
	return out.String()
}

// read is a page as it is shown, without indentation and empty lines.
func read(t *testing.T, name string) string {
	t.Helper()
	cmd := exec.Command(needs.Tool(t, "mandoc"), "-T", "ascii", "-O", "width=78")
	cmd.Stdin = strings.NewReader(page(t, name))
	out := test.Value(cmd.Output())(t)
	var shown strings.Builder
	for i, c := range out {
		if c != '\b' && (i+1 == len(out) || out[i+1] != '\b') {
			shown.WriteByte(c) // a letter over another one is bold or underlined
		}
	}
	var lines []string
	for line := range strings.Lines(shown.String()) {
		if line = strings.Join(strings.Fields(line), " "); line != "" {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "\n")
}
