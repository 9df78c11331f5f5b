package longhaul_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"longhaul"
	"longhaul/a2a"
	"longhaul/activities"
	"longhaul/internal/test"
	"longhaul/opt/rehearse"
)

// shout is an executor that answers in capitals.
type shout struct{}

func (shout) Execute(_ context.Context, w activities.Work, _ activities.Stream) (activities.Outcome, error) {
	text := a2a.TextPart(strings.ToUpper(w.Description))
	return activities.Completed(a2a.Artifact{ArtifactID: "shout", Parts: []a2a.Part{text}}), nil
}

const playbook = `name: shout
match: {keywords: [shout]}
plans: [{name: Shout, tasks: [{name: Shout, executor: shout, description: "{{.Message}}"}]}]
`

// A program has the commands of longhaul under its own name.
func Example() {
	code := longhaul.Run(context.Background(), []string{"version"}, os.Stdout, os.Stderr, longhaul.Program{
		Name:      "shouter",
		Version:   "0.1",
		Executors: map[string]longhaul.Executor{"shout": shout{}},
	})
	fmt.Println(code)
	// Output:
	// shouter 0.1
	// 0
}

func TestProgram_Check(t *testing.T) {
	executors := map[string]longhaul.Executor{"shout": shout{}}
	for _, tt := range []struct {
		name    string
		program longhaul.Program
		others  []string
		want    string
	}{
		{name: "longhaul itself"},
		{"own work", longhaul.Program{Executors: executors, Playbooks: files(playbook)}, nil, ""},
		{"no executor", longhaul.Program{Playbooks: files(playbook)}, nil, `books/a.yaml:3: there is no executor "shout"; known are check, refuse`},
		{"an executor of a flag", longhaul.Program{Playbooks: files(playbook)}, []string{"shout"}, ""},
		{"echo is off", longhaul.Program{Playbooks: files(strings.ReplaceAll(playbook, "shout,", "echo,"))}, nil, `books/a.yaml:3: there is no executor "echo"`},
		{"echo is on", longhaul.Program{Playbooks: files(strings.ReplaceAll(playbook, "executor: shout, ", ""))}, []string{"echo"}, ""},
		{"no default", longhaul.Program{Executors: executors, Playbooks: files(strings.ReplaceAll(playbook, "executor: shout, ", ""))}, nil, "books/a.yaml:3: the task names no executor"},
		{"its default", longhaul.Program{Executors: executors, Default: "shout", Playbooks: files(strings.ReplaceAll(playbook, "executor: shout, ", ""))}, nil, ""},
		{"mistakes", longhaul.Program{Playbooks: files("name: a\nsteps: []")}, nil, `books/a.yaml:2: a playbook has no member "steps"`},
		{"no files", longhaul.Program{Playbooks: fstest.MapFS{}}, nil, "load playbooks: no *.yaml among the files of the program"},
	} {
		err := tt.program.Check(tt.others...)
		if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: got %v, want %q", tt.name, err, tt.want)
		}
	}
}

func files(text string) fstest.MapFS { return fstest.MapFS{"books/a.yaml": {Data: []byte(text)}} }

// A program without Embed has no command dev; one with it starts its Temporal first.
func TestRun_embed(t *testing.T) {
	var stderr strings.Builder
	if code := longhaul.Run(t.Context(), []string{"dev"}, io.Discard, &stderr, longhaul.Program{Name: "shouter"}); code != 2 || !strings.Contains(stderr.String(), "shouter: this program has no Temporal inside") {
		t.Errorf("without: exit code %d\n%s", code, stderr.String())
	}
	stderr.Reset()
	broken := errors.New("no room for a server")
	p := longhaul.Program{Embed: func(context.Context, longhaul.EmbedConfig) (*longhaul.Embedded, error) { return nil, broken }}
	if code := longhaul.Run(t.Context(), []string{"dev", "--data-dir", t.TempDir()}, io.Discard, &stderr, p); code != 1 || !strings.Contains(stderr.String(), broken.Error()) {
		t.Errorf("with: exit code %d\n%s", code, stderr.String())
	}
}

// An agent of the program takes the place of playbooks.
func TestRun_agents(t *testing.T) {
	var stderr strings.Builder
	args := []string{"api", "--agent", "clerk", "--addr", "127.0.0.1:0", "--data-dir", t.TempDir(), "--temporal-addr", "127.0.0.1:1"}
	longhaul.Run(t.Context(), args, io.Discard, &stderr, longhaul.Program{Agents: map[string]longhaul.Agent{"actor": nil}})
	if want := `--agent "clerk": this program has playbooks, actor`; !strings.Contains(stderr.String(), want) {
		t.Errorf("got\n%s\nwant in it %s", stderr.String(), want)
	}
}

// A press prints texts, each key once.
type press map[string]string

func (p press) Print(_ context.Context, key, text string) (string, error) {
	if p[key] == "" {
		p[key] = text
	}
	return "https://press.example.com/" + key, nil
}

// The executor of README.md is the one below, and its playbook fits it.
func TestReadme_work(t *testing.T) {
	readme, own := read(t, "README.md"), read(t, "longhaul_test.go")
	blocks := regexp.MustCompile("(?s)```(?:go|yaml)\n(.*?)```").FindAllStringSubmatch(readme, -1)
	if len(blocks) != 2 || !strings.Contains(own, blocks[0][1]) {
		t.Fatalf("README.md has %d examples, and this file another executor than the first", len(blocks))
	}
	shop := press{}
	p := longhaul.Program{Executors: map[string]longhaul.Executor{"publish": publish{shop}}, Playbooks: files(blocks[1][1])}
	test.Error(t, "the call", nil, p.Check("llm"))
	for range 2 {
		o, err := publish{shop}.Execute(t.Context(), activities.Work{Key: "k", Input: json.RawMessage(`"Tea"`)}, nil)
		if err != nil || len(o.Artifacts) != 1 || len(shop) != 1 || shop["k"] != "Tea" {
			t.Errorf("%+v, %v, printed %v", o, err, shop)
		}
	}
}

func read(t *testing.T, name string) string {
	t.Helper()
	text := test.Value(os.ReadFile(name))(t)
	return string(text)
}

type publish struct{ press press }

func (p publish) Execute(ctx context.Context, w activities.Work, _ activities.Stream) (activities.Outcome, error) {
	var text string
	if err := json.Unmarshal(w.Input, &text); err != nil {
		return activities.Rejected("bad-input", "The input must be a text."), nil
	}
	url, err := p.press.Print(ctx, w.Key, text) // a repeat with this key prints nothing
	if err != nil {
		return activities.Outcome{}, err // this attempt failed, and the task is attempted again
	}
	return activities.Completed(a2a.Artifact{ArtifactID: "page", Parts: []a2a.Part{a2a.TextPart(url)}}), nil
}

// The playbooks of a program are rehearsed; a message that none of them takes has no plan.
func TestProgram_Rehearse(t *testing.T) {
	program := longhaul.Program{Executors: map[string]longhaul.Executor{"shout": shout{}}, Playbooks: files(playbook)}
	r, err := program.Rehearse("shout hello", rehearse.Assumptions{})
	if err != nil || r.Planner != "playbook shout" || r.Status != "completed" || len(r.Tasks) != 1 {
		t.Errorf("got %+v, error %v", r, err)
	}
	r, err = program.Rehearse("whisper", rehearse.Assumptions{})
	if err != nil || r.Status != "failed" || !strings.Contains(r.Failure, "shout") {
		t.Errorf("got %+v, error %v", r, err)
	}
}

// A rehearsal without a message, or of a playbook that is not there, is wrong usage; one of work that
// fails has that exit code.
func TestRun_rehearse(t *testing.T) {
	program := longhaul.Program{Executors: map[string]longhaul.Executor{"shout": shout{}}, Playbooks: files(playbook)}
	for _, tt := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"shout", "hello"}, 0, "completed after"},
		{[]string{"shout", "whisper"}, 0, "completed after"},
		{[]string{"shout"}, 2, "name a playbook and a message, such as: longhaul rehearse playbooks"},
		{[]string{"shuot", "hello"}, 2, `there is no playbook "shuot" (did you mean shout?)`},
		{[]string{"./missing", "hello"}, 1, "missing"},
	} {
		var out strings.Builder
		code := longhaul.Run(t.Context(), append([]string{"rehearse"}, tt.args...), &out, &out, program)
		if code != tt.code || !strings.Contains(out.String(), tt.want) {
			t.Errorf("%v: exit code %d, %s", tt.args, code, &out)
		}
	}
}

// The playbook of docs/decide.md is rehearsed: its checks decide about a usual order, and its buyers if a
// check asks.
func TestProgram_Rehearse_decide(t *testing.T) {
	book := regexp.MustCompile("(?s)```yaml\n(.*?)```").FindStringSubmatch(read(t, "docs/decide.md"))[1]
	program := longhaul.Program{Executors: map[string]longhaul.Executor{"echo": shout{}}, Playbooks: files(book)}
	for asked, form := range []rehearse.Work{{Verdict: "accept"}, {Verdict: "ask"}} {
		r, err := program.Rehearse("pay for tea", rehearse.Assumptions{Tasks: map[string]rehearse.Work{"Form": form}})
		if err != nil || r.Status != "completed" || len(r.Gates) != 1 || r.Gates[0].Task != "Accept: Order" || len(r.Gates[0].Asked) != asked {
			t.Errorf("if a check says %s: %+v, %v", form.Verdict, r, err)
		}
	}
}

// Programs have calendars among their playbooks.
func TestProgram_calendars(t *testing.T) {
	files := fstest.MapFS{
		"pay.yaml": {Data: []byte("name: pay\ndefault: true\nplans:\n- name: Pay\n  tasks:\n  - name: Approve\n    human:\n      approve: Pay?\n" +
			"      wait: [{after: 4 working hours, calendar: office, do: remind}]\n")},
		"calendars.yaml": {Data: []byte("calendars:\n  office:\n    time-zone: Europe/Berlin\n    hours: {mon-fri: [09:00-17:00]}\n")},
	}
	program := longhaul.Program{Playbooks: files}
	test.Error(t, "the call", nil, program.Check())
	r, err := program.Rehearse("pay", rehearse.Assumptions{
		At: time.Date(2026, 3, 27, 14, 0, 0, 0, time.UTC), People: []rehearse.Person{{Name: "ann", Silent: true}},
	})
	if err != nil || len(r.Gates) != 1 || len(r.Gates[0].Asked) != 2 {
		t.Fatalf("%+v, %v", r, err)
	}
	// Friday 15:00 to Monday 11:00 in Berlin, over the change to summer
	test.Is(t, "asked", (rehearse.Ask{At: 67 * time.Hour, Step: "remind", Calendar: "office"}), r.Gates[0].Asked[1])
	files["more.yaml"] = files["calendars.yaml"]
	test.Fails(t, "with two files", "more.yaml:1: calendars.yaml has calendars, too", program.Check())
	delete(files, "more.yaml")
	delete(files, "calendars.yaml")
	test.Fails(t, "without the file", `pay.yaml:9: there is no calendar "office"`, program.Check())
}

// A rehearsal that begins on a Friday afternoon says when people are asked, by their calendar.
func TestRun_rehearseCalendar(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"pay.yaml": "name: pay\ndefault: true\nplans:\n- name: Pay\n  tasks:\n  - name: Approve\n    human:\n      approve: Pay?\n      responders: {groups: [buyers]}\n" +
			"      wait: [{after: 4 working hours, do: remind}, {after: 16 working hours, do: expire}]\n",
		"calendars.yaml": "calendars:\n  office:\n    time-zone: Europe/Berlin\n    hours: {mon-fri: [09:00-12:00, 13:00-18:00]}\n    holidays: {2026-03-30: moving}\n    groups: [buyers]\n",
		"assume.yaml":    "at: 2026-03-27T15:00:00+01:00\npeople: [{name: ann, groups: [buyers], after: never}]\n",
	} {
		test.OK(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	run := func(args ...string) (int, string) {
		var out, wrong strings.Builder
		code := longhaul.Run(t.Context(), args, &out, &wrong, longhaul.Program{})
		return code, out.String() + wrong.String()
	}
	file := func(name string) string { return filepath.Join(dir, name) }
	code, out := run("rehearse", file("pay.yaml"), "go", "--calendars", file("calendars.yaml"), "--assume", file("assume.yaml"))
	for _, want := range []string{
		"  after 0s (Fri 27 Mar 2026 15:00): the group buyers.\n",
		"(Tue 31 Mar 2026 09:00): remind, by the calendar office\n", // in Berlin, an hour ahead of the zone of assume.yaml by then
		"(Wed 1 Apr 2026 14:00): rejected by timer",
	} {
		if code != 0 || !strings.Contains(out, want) {
			t.Errorf("exit %d, no %q in\n%s", code, want, out)
		}
	}
	if code, out := run("check", file("pay.yaml"), file("calendars.yaml")); code != 0 || !strings.Contains(out, "calendars.yaml") {
		t.Errorf("check: exit %d\n%s", code, out)
	}
	if code, out := run("check", dir); code == 0 || !strings.Contains(out, "assume.yaml") || strings.Contains(out, "calendar") {
		t.Errorf("check of a directory with calendars: exit %d\n%s", code, out)
	}
	if code, out := run("check", file("pay.yaml")); code == 0 || !strings.Contains(out, "pay.yaml:10: working time needs a calendar") {
		t.Errorf("check without calendars: exit %d\n%s", code, out)
	}
}
