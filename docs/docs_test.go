// Package docs_test checks the documents: their examples can be read, and their links
// lead somewhere.
package docs_test

import (
	"encoding/json"
	"errors"
	"go/ast"
	"go/token"
	"io"
	"io/fs"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"longhaul/internal/test"
)

// A document is a file in Markdown.
type document struct {
	path   string // from the root of the repository
	lines  []string
	blocks []block
}

// A block is a piece of code between fences.
type block struct {
	line     int // of its first line, from 1
	language string
	text     string
}

// documents returns the documents of the repository.
func documents(t *testing.T) []document {
	t.Helper()
	root := os.DirFS("..")
	var list []document
	err := fs.WalkDir(root, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && name != "." && (strings.HasPrefix(d.Name(), ".") || d.Name() == "node_modules" || d.Name() == "bin"):
			return fs.SkipDir
		case path.Ext(name) != ".md" || strings.Contains(name, "testdata/"):
			return nil
		}
		data, err := fs.ReadFile(root, name)
		list = append(list, read(name, string(data)))
		return err
	})
	if err != nil || len(list) < 10 {
		t.Fatalf("%d documents, %v", len(list), err)
	}
	return list
}

func read(name, text string) document {
	d := document{path: name, lines: strings.Split(text, "\n")}
	var open *block
	for i, line := range d.lines {
		language, fence := strings.CutPrefix(line, "```")
		switch {
		case fence && open == nil:
			open = &block{line: i + 2, language: strings.TrimSpace(language)}
		case fence:
			d.blocks = append(d.blocks, *open)
			open = nil
		case open != nil:
			open.text += line + "\n"
		}
	}
	return d
}

// Every block of JSON is one value or several, and every block of YAML can be read.
func TestDocuments_examplesCanBeRead(t *testing.T) {
	checked := 0
	for _, d := range documents(t) {
		for _, b := range d.blocks {
			var err error
			switch b.language {
			case "json":
				err = readJSON(b.text)
			case "yaml":
				err = yaml.Unmarshal([]byte(b.text), new(any))
			default:
				continue
			}
			checked++
			if err != nil {
				t.Errorf("%s:%d: %s: %v", d.path, b.line, b.language, err)
			}
		}
	}
	if checked < 15 {
		t.Errorf("only %d examples were found", checked)
	}
}

func readJSON(text string) error {
	values := json.NewDecoder(strings.NewReader(text))
	for {
		var value any
		switch err := values.Decode(&value); {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
	}
}

var (
	link   = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	inline = regexp.MustCompile("`[^`]*`")
	notID  = regexp.MustCompile(`[^\p{L}\p{N}\- _]`)
)

// Links to files of the repository, and to headings in documents, lead to something.
func TestDocuments_linksLeadSomewhere(t *testing.T) {
	list := documents(t)
	checked := 0
	for _, d := range list {
		for i, line := range d.lines {
			for _, found := range link.FindAllStringSubmatch(inline.ReplaceAllString(line, ""), -1) {
				target, heading, _ := strings.Cut(found[1], "#")
				if strings.Contains(target, ":") {
					continue // another site
				}
				checked++
				to := d.path
				if target != "" {
					to = path.Join(path.Dir(d.path), target)
				}
				if _, err := os.Stat("../" + to); err != nil {
					t.Errorf("%s:%d: there is no %s", d.path, i+1, to)
					continue
				}
				if heading != "" && path.Ext(to) == ".md" && !has(list, to, heading) {
					t.Errorf("%s:%d: %s has no heading #%s", d.path, i+1, to, heading)
				}
			}
		}
	}
	if checked < 100 {
		t.Errorf("only %d links were found", checked)
	}
}

// has reports whether a document has a heading with an anchor.
func has(list []document, name, anchor string) bool {
	i := slices.IndexFunc(list, func(d document) bool { return d.path == name })
	return i >= 0 && slices.ContainsFunc(list[i].lines, func(line string) bool {
		title := strings.TrimLeft(line, "#")
		return title != line && strings.HasPrefix(title, " ") && anchorOf(title) == anchor
	})
}

// anchorOf returns the anchor that web sites give to a heading.
func anchorOf(title string) string {
	return strings.ReplaceAll(notID.ReplaceAllString(strings.ToLower(strings.TrimSpace(title)), ""), " ", "-")
}

func TestRead(t *testing.T) {
	d := read("a.md", "# A `b`: c!\n```json\n{\"a\": 1}\n{}\n```\n```yaml\na: [\n```\n")
	if len(d.blocks) != 2 || readJSON(d.blocks[0].text) != nil || readJSON("{") == nil || d.blocks[1].line != 7 {
		t.Errorf("%+v", d.blocks)
	}
	if !has([]document{d}, "a.md", "a-b-c") || has([]document{d}, "a.md", "b") {
		t.Error("the anchor of the heading is another one")
	}
}

// widest is the most characters of a line. Lines of tables and of code cannot be broken.
const widest = 120

func TestDocuments_linesFit(t *testing.T) {
	prose := 0
	for _, d := range documents(t) {
		code := false
		for i, line := range d.lines {
			fence := strings.HasPrefix(strings.TrimSpace(line), "```")
			code = code != fence
			if code || fence || strings.HasPrefix(line, "|") || strings.HasPrefix(line, "    ") || strings.HasPrefix(line, "![") {
				continue
			}
			prose++
			if n := utf8.RuneCountInString(line); n > widest {
				t.Errorf("%s:%d: the line has %d characters, more than %d", d.path, i+1, n, widest)
			}
		}
	}
	if prose < 1000 {
		t.Errorf("only %d lines were checked", prose)
	}
}

// Documents stay short, since long ones are not read: README.md fits on a few screens,
// decisions.md has at most 60 decisions of six lines, and all but AGENTS.md and the changelog
// have at most 45,000 words.
func TestDocuments_short(t *testing.T) {
	if n := len(source(t, "README.md")); n > 8<<10 {
		t.Errorf("README.md has %d bytes, more than 8 KiB", n)
	}
	decisions := strings.Split(source(t, "docs/decisions.md"), "\n### ")[1:]
	if len(decisions) < 20 || len(decisions) > 60 {
		t.Errorf("docs/decisions.md has %d decisions", len(decisions))
	}
	for _, d := range decisions {
		title, text, _ := strings.Cut(d, "\n")
		text, _, _ = strings.Cut(text, "\n## ")
		if n := len(strings.Split(strings.TrimSpace(text), "\n")); n > 6 {
			t.Errorf("docs/decisions.md: %q has %d lines", title, n)
		}
	}
	words := 0
	for _, d := range documents(t) {
		if d.path == "README.md" || path.Dir(d.path) == "docs" {
			words += len(strings.Fields(strings.Join(d.lines, "\n")))
		}
	}
	if words > 45_000 {
		t.Errorf("the documents have %d words", words)
	}
}

// The functions and types in docs/architecture.md are in the files that it names.
func TestArchitecture_functions(t *testing.T) {
	named := regexp.MustCompile("`(\\w+)`(?: and `(\\w+)`)? in \\[[^\\]]*\\]\\(\\.\\./([^)]+\\.go)\\)")
	checked := 0
	for _, m := range named.FindAllStringSubmatch(source(t, "docs/architecture.md"), -1) {
		for _, name := range m[1:3] {
			if name == "" {
				continue
			}
			checked++
			if !regexp.MustCompile(`(?m)^(func (\([^)]*\) )?|type )` + name + `\b`).MatchString(source(t, m[3])) {
				t.Errorf("docs/architecture.md: %s is not in %s", name, m[3])
			}
		}
	}
	if checked < 15 {
		t.Errorf("only %d names were checked", checked)
	}
}

// Each attack in docs/security.md has tests, which are in the packages that it names, or else
// in dev/e2e/hostile.
func TestSecurity_attacks(t *testing.T) {
	_, table, _ := strings.Cut(source(t, "docs/security.md"), "| attack |")
	named, rows := regexp.MustCompile("`(Test\\w+)`|\\(([\\w/]+)\\)"), 0
	for _, row := range strings.Split(table, "\n")[2:] {
		cells := strings.Split(row, " | ")
		if len(cells) < 3 {
			break
		}
		rows++
		in, found := "dev/e2e/hostile", 0
		for _, m := range slices.Backward(named.FindAllStringSubmatch(cells[2], -1)) {
			if m[2] != "" {
				in = m[2]
				continue
			}
			found++
			test.Contains(t, cells[0]+": the tests", "func "+m[1]+"(", testsOf(t, in))
		}
		if found == 0 {
			t.Errorf("%s has no test", cells[0])
		}
	}
	if rows < 10 {
		t.Errorf("only %d attacks were checked", rows)
	}
}

// testsOf returns the source of the tests of a package.
func testsOf(t *testing.T, dir string) string {
	t.Helper()
	files := test.Value(fs.Glob(os.DirFS(".."), dir+"/*_test.go"))(t)
	var all strings.Builder
	for _, name := range files {
		all.WriteString(source(t, name))
	}
	return all.String()
}

// The messages in docs/troubleshooting.md are in the code: the texts between the parts
// that vary.
func TestTroubleshooting_messages(t *testing.T) {
	var code strings.Builder
	for _, text := range literals(files(t, "a2a", "opt", "api", "activities", "workflows", "worker", "client", "internal", "dev/temporald"), `(?s).*`) {
		code.WriteString(text + "\n")
	}
	all := code.String()
	checked := 0
	text := source(t, "docs/troubleshooting.md")
	for _, section := range strings.Split(text, "\n## ")[1:] {
		title, rest, _ := strings.Cut(section, "\n")
		if !strings.Contains(rest, "\n| message |") {
			continue
		}
		for _, message := range words(tables(t, "troubleshooting.md", title), 0) {
			for _, part := range strings.Split(message, "…") {
				part = strings.Trim(part, " ,.:()")
				if len(part) < 6 || part == "FILE:LINE" {
					continue
				}
				checked++
				if !strings.Contains(all, part) {
					t.Errorf("docs/troubleshooting.md: %q of %q is not in the code", part, message)
				}
			}
		}
	}
	if checked < 40 {
		t.Errorf("only %d texts were checked", checked)
	}
}

// Troubleshooting says for every reason of an error what to do.
func TestTroubleshooting_reasons(t *testing.T) {
	reasons := words(tables(t, "api.md", "Errors"), 0)
	for _, reason := range reasons {
		if reason != "A2A_PUSH_EGRESS_DENIED" && !strings.Contains(source(t, "docs/troubleshooting.md"), "`"+reason+"`") { // that is only in tests
			t.Errorf("docs/troubleshooting.md has no %s", reason)
		}
	}
	if len(reasons) < 30 {
		t.Errorf("only %d reasons were checked", len(reasons))
	}
}

// The codes of failed tasks are those that executors return.
func TestTroubleshooting_codes(t *testing.T) {
	var code []string
	for _, f := range files(t, "activities", "opt") {
		ast.Inspect(f, func(n ast.Node) bool {
			var value ast.Expr
			switch n := n.(type) {
			case *ast.ValueSpec:
				if name := n.Names[0].Name; (strings.HasPrefix(name, "Code") || strings.HasPrefix(name, "Reason")) && len(n.Values) == 1 {
					value = n.Values[0]
				}
			case *ast.CallExpr:
				switch f := n.Fun.(type) {
				case *ast.Ident:
					if (f.Name == "Failed" || f.Name == "Rejected") && len(n.Args) > 0 {
						value = n.Args[0]
					}
				case *ast.SelectorExpr:
					if (f.Sel.Name == "Failed" || f.Sel.Name == "Rejected") && len(n.Args) > 0 {
						value = n.Args[0]
					}
				}
			}
			if l, ok := value.(*ast.BasicLit); ok && l.Kind == token.STRING {
				code = append(code, strings.Trim(l.Value, `"`))
			}
			return true
		})
	}
	slices.Sort(code)
	compare(t, "codes of failed tasks", slices.Compact(code), words(tables(t, "troubleshooting.md", "A task fails"), 0))
}
