package opfile_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"

	"longhaul/internal/opfile"
	"longhaul/internal/test"
)

type part struct {
	Name  string        `yaml:"name"`
	Wait  time.Duration `yaml:"wait"`
	Count int           `yaml:"count"`
	Price float64       `yaml:"price"`
	On    bool          `yaml:"on"`
	List  []string      `yaml:"list"`
	Any   any           `yaml:"any"`

	//lint:ignore U1000 the reader must not find it
	inner int
}

type form struct {
	Parts map[string]*part `yaml:"parts"`
	Nodes []yaml.Node      `yaml:"nodes"`
	Skip  int              `yaml:"-"`
}

func read(t *testing.T, text string) (form, error) {
	t.Helper()
	dir := t.TempDir()
	path := filepath.Join(dir, "x.yaml")
	test.OK(t, os.WriteFile(path, []byte(text), 0o600))
	var out form
	err := opfile.Read(path, "parts", &out)
	if err != nil {
		err = errors.New(strings.ReplaceAll(err.Error(), dir+string(filepath.Separator), ""))
	}
	return out, err
}

func TestRead(t *testing.T) {
	got, err := read(t, `
parts:
  empty:
  one: &one {name: 7, wait: 90s, count: 3e0, price: 2, on: true, list: [a, b], any: {x: [1]}}
  two:
    <<: *one
    name: two
  three: *one
  days: {<<: *one, wait: 1d12h}
nodes: [a, {b: c}]
`)
	test.OK(t, err)
	one := part{Name: "7", Wait: 90 * time.Second, Count: 3, Price: 2, On: true, List: []string{"a", "b"}, Any: map[string]any{"x": []any{1}}}
	two, three := one, one
	days := one
	two.Name, days.Wait = "two", 36*time.Hour
	want := map[string]*part{"empty": nil, "one": &one, "two": &two, "three": &three, "days": &days}
	if diff := cmp.Diff(want, got.Parts, cmp.AllowUnexported(part{})); diff != "" || len(got.Nodes) != 2 {
		t.Errorf("parts (-want +got):\n%s%d nodes", diff, len(got.Nodes))
	}
	for _, text := range []string{"", "# nothing", "---"} {
		if got, err := read(t, text); err != nil || got.Parts != nil {
			t.Errorf("%q: %+v, %v", text, got, err)
		}
	}
	if err := opfile.Read(filepath.Join(t.TempDir(), "none.yaml"), "parts", &got); !errors.Is(err, os.ErrNotExist) || !strings.HasPrefix(err.Error(), "read the parts: ") {
		t.Errorf("no file: %v", err)
	}
}

func TestRead_mistakes(t *testing.T) {
	const members = "; the members are name, wait, count, price, on, list, any"
	for _, tt := range []struct{ text, want string }{
		{"part: {}", `x.yaml:1: member "part" is unknown (did you mean parts?); the members are parts, nodes`},
		{"parts:\n  a:\n    nome: x\n  b:\n    inner: 1", `x.yaml:3: member "nome" is unknown (did you mean name?)` + members + "\n" + `x.yaml:5: member "inner" is unknown` + members},
		{"Skip: 1", `x.yaml:1: member "Skip" is unknown; the members are parts, nodes`},
		{"parts:\n  a: {on: true}\n  a: {}", `x.yaml:3: member "a" is there twice`},
		{"parts:\n  a:\n    on: true\n    on: true", `x.yaml:4: member "on" is there twice`},
		{"parts:\n  a: {any: {b: 1, b: 2}}", `x.yaml:2: mapping key "b" already defined at line 2`},
		{"parts: {a: {name: [secret]}}", "x.yaml:1: name: must be a text"},
		{"parts: {a: {wait: secret}}", "x.yaml:1: wait: must be a duration, such as 90s, 2h or 7d"},
		{"parts: {a: {wait: 7}}", "x.yaml:1: wait: must be a duration, such as 90s, 2h or 7d"},
		{"parts: {a: {wait: 0}}", "x.yaml:1: wait: must be a duration, such as 90s, 2h or 7d"},
		{"parts: {a: {wait: [7d]}}", "x.yaml:1: wait: must be a duration, such as 90s, 2h or 7d"},
		{"parts: {a: {count: 1.5}}", "x.yaml:1: count: must be a whole number"},
		{"parts: {a: {price: secret}}", "x.yaml:1: price: must be a number"},
		{"parts: {a: {on: secret}}", "x.yaml:1: on: must be true or false"},
		{"parts: {a: {list: b}}", "x.yaml:1: list: must be a list"},
		{"parts: {a: {list: [[b]]}}", "x.yaml:1: list: must be a text"},
		{"parts: {a: b}", "x.yaml:1: a: must be an object"},
		{"- a", "x.yaml:1: must be an object"},
		{"parts:\n  a: {<<: {nome: x}}", `x.yaml:2: member "nome" is unknown (did you mean name?)` + members},
		{"parts:\n  a: {<<: [{nome: x}]}", `x.yaml:2: member "nome" is unknown (did you mean name?)` + members},
		{"parts:\n  a: &a {any: *a}", "x.yaml:1: anchor 'a' value contains itself"},
		{"parts: [", "x.yaml:1: not valid YAML: close each bracket, and give each member in it a value (did not find expected node content)"},
		{"parts: {a: x: y}", "x.yaml:1: not valid YAML: close each bracket, put commas between the values in it, and quotes around texts with ? or : (did not find expected ',' or '}')"},
		{"parts: {a: Really?, b: 1}", "x.yaml:1: not valid YAML: close each bracket, put commas between the values in it, and quotes around texts with ? or : (did not find expected ',' or '}')"},
		{"parts: a: b", "x.yaml:1: not valid YAML: put a text that has a colon and a space in quotation marks, and indent members of one object alike (mapping values are not allowed in this context)"},
		{"parts:\n\ta: {}", "x.yaml:2: not valid YAML: indent with spaces, not with tabs, and put a text that begins with a special character in quotation marks (found character that cannot start any token)"},
		{"parts: @a", "x.yaml:1: not valid YAML: indent with spaces, not with tabs, and put a text that begins with a special character in quotation marks (found character that cannot start any token)"},
		{"parts: 'a", "x.yaml:1: not valid YAML: close each quotation mark and bracket (found unexpected end of stream)"},
		{"parts: *a", "x.yaml:1: not valid YAML: put a text that begins with * in quotation marks (unknown anchor 'a' referenced)"},
		{"parts:\n  - a\n  b: c", "x.yaml:2: not valid YAML: begin the items of one list alike, with a dash and a space (did not find expected '-' indicator)"},
		{"parts:\n  a: 1\n b: 2", "x.yaml:3: not valid YAML: indent members of one object alike, and close quotation marks (did not find expected key)"},
		{"parts:\na", "x.yaml:2: not valid YAML: write a colon and a space after the name of a member, and indent the lines of a text alike (could not find expected ':')"},
		{"parts: \"\\d\"", "x.yaml:1: not valid YAML: write \\\\ for a backslash in double quotation marks, or use single ones (found unknown escape character)"},
		{"parts: \xff", "x.yaml:1: not valid YAML: save the file as UTF-8 (invalid leading UTF-8 octet)"},
		{"parts: {}\n---\nparts: {}", "x.yaml:2: a file holds one YAML document"},
		{strings.Repeat("#", 1<<20+1), "x.yaml:1: the file has more than 1048576 bytes"},
	} {
		_, err := read(t, tt.text)
		if err == nil {
			t.Errorf("%.80s: it was accepted", tt.text)
			continue
		}
		test.Equal(t, fmt.Sprintf("%.80s: error", tt.text), tt.want, err.Error())
	}
}

func env(name string) (string, bool) {
	value, ok := map[string]string{"KEY": "canary", "LINES": "canary\r\nX: y", "EMPTY": ""}[name]
	return value, ok
}

func TestEnv_Expand(t *testing.T) {
	for _, tt := range []struct {
		text, want string
		values     int
		wrong      string
	}{
		{"Bearer ${KEY}", "Bearer canary", 1, ""},
		{"${KEY}${KEY}", "canarycanary", 2, ""},
		{"$KEY $$ ${} ${1} ${KEY", "$KEY $$ ${} ${1} ${KEY", 0, ""},
		{"${KEY} ${NONE} ${EMPTY}", "canary  ", 1, "the environment variable NONE is not set\nthe environment variable EMPTY is not set"},
	} {
		got, values, wrong := opfile.Env(env).Expand(tt.text)
		message := ""
		if err := errors.Join(wrong...); err != nil {
			message = err.Error()
		}
		if got != tt.want || len(values) != tt.values || message != tt.wrong {
			t.Errorf("%s: got %q, %d values, %q", tt.text, got, len(values), message)
		}
	}
	if got, _, wrong := opfile.Env(nil).Expand("a${NONE}"); got != "a" || wrong != nil {
		t.Errorf("without variables: %q, %v", got, wrong)
	}
}

func TestEnv_Headers(t *testing.T) {
	got := opfile.Env(env).Headers(map[string]string{
		"Authorization": "Bearer ${KEY}", "A b": "x", "C": "${LINES}", "content-type": "x", "Own-thing": "x", "accept": "x", "Accepted": "${NONE}",
	}, "Accept", "Own-*")
	var wrong []string
	for _, err := range got.Wrong {
		wrong = append(wrong, err.Error())
		if errors.Is(err, opfile.ErrOwn) != strings.Contains(err.Error(), "chosen") {
			t.Errorf("%v is or is not ErrOwn", err)
		}
	}
	want := []string{
		`"A b" and its value cannot be a header`, "the environment variable NONE is not set", `"C" and its value cannot be a header`,
		`"Own-thing" cannot be chosen`, `"accept" cannot be chosen`, `"content-type" cannot be chosen`,
	}
	test.Equal(t, "mistakes", want, wrong)
	if got.Headers["Authorization"] != "Bearer canary" || len(got.Values) != 2 {
		t.Errorf("got %+v", got)
	}
}
