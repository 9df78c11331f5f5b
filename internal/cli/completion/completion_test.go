package completion_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/alecthomas/kong"

	"longhaul/internal/cli/completion"
	"longhaul/internal/needs"
	"longhaul/internal/test"
)

// A grammar has everything that scripts distinguish. Its texts have characters that
// shells treat in a special way.
type grammar struct {
	Config string `help:"File with $settings: \"all\" of them." type:"path"`

	Tea struct {
		Brew struct {
			Kind   string `help:"Kind; it's a 'word'." enum:",black,green" default:""`
			Strong bool   `short:"s" help:"Strong [really]: 100%."`
			Secret bool   `hidden:""`
			Cup    string `arg:"" help:"Cup."`
		} `cmd:"" aliases:"make" help:"Brew it; $(date) \\ back\\\\slash. And drink it."`
		Pour struct{} `cmd:"" help:"Pour it."`
		Spit struct{} `cmd:"" hidden:""`
	} `cmd:"" help:"Tea."`
	Paint struct {
		Colour string   `arg:"" enum:"red,blue" help:"Colour."`
		Walls  []string `arg:"" type:"path" help:"Walls."`
	} `cmd:"" help:"Paint walls."`
	Serve struct {
		Port int  `help:"Port." default:"80"`
		Pull bool `hidden:""`
	} `cmd:"" default:"withargs" help:"Serve."`
}

// Every shell proposes the same for the same line.
func TestWrite(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"wall-one", "wall two"} {
		test.OK(t, os.WriteFile(filepath.Join(dir, name), nil, 0o600))
	}
	walls := []string{"wall two", "wall-one"}
	tests := []struct {
		line string
		want []string
	}{
		{"te", []string{"tea"}},
		{"", []string{"paint", "serve", "tea"}},
		{"tea ", []string{"brew", "pour"}},
		{"tea p", []string{"pour"}},
		{"tea brew --", []string{"--config", "--help", "--kind", "--strong"}},
		{"tea make --k", []string{"--kind"}},
		{"tea brew --kind ", []string{"black", "green"}},
		{"tea brew --kind g", []string{"green"}},
		{"tea brew --kind=g", []string{"green"}},
		{"tea brew -s --kind black --str", []string{"--strong"}},
		{"tea brew cup", nil},
		{"tea brew -- --", nil},
		{"--config tea pa", []string{"paint"}}, // tea is a file here
		{"--config=a:b pa", []string{"paint"}},
		{"--port 70 --p", []string{"--port"}}, // of the command that runs if none is named
		{"serve --port ", nil},
		{"paint ", []string{"blue", "red"}},
		{"paint -- r", []string{"red"}},
		{"paint red wall", walls},
		{"paint --config http://h:1/ red one two wall", walls},
		{"tea --config wall", walls},
		{"tea brew --config=wall", walls},
	}
	for _, shell := range []string{"bash", "zsh", "fish"} {
		t.Run(shell, func(t *testing.T) {
			path := needs.Tool(t, shell)
			file := test.File(t, "script", script(t, shell, "tea-house"))
			for _, tt := range tests {
				got := proposals(t, exec.Command(path, args[shell]("tea-house "+tt.line, file)...), dir)
				if shell == "zsh" {
					got = selected(got, tt.line)
				}
				test.Equal(t, fmt.Sprintf("%q", tt.line), tt.want, got)
			}
		})
	}
}

// Texts come as they are: nothing in them is run or replaced.
func TestWrite_texts(t *testing.T) {
	needs.Tools(t, "fish", "zsh")
	want := `Brew it; $(date) \ back\\slash`
	file := test.File(t, "script", script(t, "fish", "tea-house"))
	out, err := exec.Command("fish", args["fish"]("tea-house tea br", file)...).CombinedOutput()
	if got := strings.TrimSpace(string(out)); err != nil || got != "brew\t"+want {
		t.Errorf("fish: %q, error %v; want %q", got, err, want)
	}
	cmd := exec.Command("zsh", "-f", "-c", zshStubs+`_describe() { print -rl -- "${(@P)@[-1]}" }; source /dev/stdin; words=(tea-house tea br) CURRENT=3; _tea_house`)
	cmd.Stdin = strings.NewReader(script(t, "zsh", "tea-house"))
	out, err = cmd.CombinedOutput()
	if got, _, _ := strings.Cut(string(out), "\n"); err != nil || got != "brew:"+want {
		t.Errorf("zsh: %q, error %v; want %q", got, err, want)
	}
}

// zsh completes from the first key on, when it runs the file of its name in $fpath.
func TestWrite_autoload(t *testing.T) {
	dir := t.TempDir()
	test.OK(t, os.WriteFile(filepath.Join(dir, "_tea-house"), []byte(script(t, "zsh", "tea-house")), 0o600))
	run := zshStubs + `compdef() { print "compdef $@" }; fpath=("$1"); autoload -U _tea-house; words=(tea-house tea p) CURRENT=3; _tea-house`
	if got := proposals(t, exec.Command("zsh", "-f", "-c", run, "zsh", dir), dir); !slices.Equal(got, []string{"brew", "pour"}) {
		t.Errorf("proposals %q", got)
	}
}

func TestWrite_unknownShell(t *testing.T) {
	var out strings.Builder
	err := completion.Write(&out, "csh", kong.Must(&grammar{}).Model.Node, "tea-house")
	if err == nil || !strings.Contains(err.Error(), "choose bash, zsh or fish") || out.Len() > 0 {
		t.Errorf("error %v, output %q", err, out.String())
	}
}

func script(t *testing.T, shell, name string) string {
	t.Helper()
	var out strings.Builder
	test.OK(t, completion.Write(&out, shell, kong.Must(&grammar{}).Model.Node, name))
	return out.String()
}

// zshStubs replace the parts of zsh that only run while a person types.
const zshStubs = `
compdef() { }
compset() { }
_message() { }
_files() { print -rl -- * }
compadd() { shift; print -rl -- "$@" }
_describe() { local p; for p in "${(@P)@[-1]}"; do print -r -- "${p%%:*}"; done }
`

// args are the arguments with which a shell prints what its script proposes at the end of
// a line.
var args = map[string]func(line, file string) []string{
	"bash": func(line, file string) []string {
		// As readline splits it.
		words := regexp.MustCompile(`[=:]|[^=: ]+`).FindAllString(line, -1)
		if strings.HasSuffix(line, " ") {
			words = append(words, "")
		}
		run := `source "$1"; COMP_LINE=$2 COMP_POINT=${#2}; shift 2; COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)); _tea_house; printf '%s\n' "${COMPREPLY[@]}"`
		return append([]string{"--norc", "-c", run, "bash", file, line}, words...)
	},
	"zsh": func(line, file string) []string {
		run := zshStubs + `source "$1"; shift; words=("$@") CURRENT=$#; _tea_house`
		return append([]string{"-f", "-c", run, "zsh", file}, strings.Split(line, " ")...)
	},
	"fish": func(line, file string) []string {
		return []string{"--no-config", "-c", `source $argv[1]; complete -C $argv[2]`, file, line}
	},
}

// proposals are what cmd prints, in order.
func proposals(t *testing.T, cmd *exec.Cmd, dir string) []string {
	t.Helper()
	var errs strings.Builder
	cmd.Dir, cmd.Stderr = dir, &errs
	out, err := cmd.Output()
	if errs.Len() > 0 {
		t.Errorf("%v: %s (%v)", cmd.Args, errs.String(), err)
	}
	var words []string
	for line := range strings.Lines(string(out)) {
		word, _, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t") // after it is the text
		if _, value, ok := strings.Cut(word, "="); ok {
			word = value // fish proposes flag and value
		}
		if word != "" && len(word) != len("-s") {
			words = append(words, strings.ReplaceAll(word, `\ `, " "))
		}
	}
	slices.Sort(words)
	return words
}

// selected are those of words that the end of line begins: zsh itself selects them.
func selected(words []string, line string) []string {
	begin := line[strings.LastIndexAny(line, " =")+1:]
	var those []string
	for _, w := range words {
		if strings.HasPrefix(w, begin) {
			those = append(those, w)
		}
	}
	return those
}
