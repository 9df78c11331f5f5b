package docs_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"longhaul/api/call"
	"longhaul/api/operation"
	"longhaul/internal/test"
)

// A table is a table of a document: the cells of its rows, with its heading.
type table [][]string

// tables returns the tables below a heading, up to the next heading of any level.
func tables(t *testing.T, name, heading string) (list []table) {
	t.Helper()
	text := test.Value(os.ReadFile(name))(t)
	_, section, ok := strings.Cut(string(text), "\n## "+heading+"\n")
	if !ok {
		t.Fatalf("%s has no section %q", name, heading)
	}
	section, _, _ = strings.Cut(section, "\n##")
	for _, block := range strings.Split(section, "\n\n") {
		lines := strings.Split(strings.TrimSpace(block), "\n")
		if !strings.HasPrefix(lines[0], "|") || len(lines) < 3 {
			continue
		}
		var rows table
		for _, line := range lines[2:] {
			cells := strings.Split(strings.Trim(line, "|"), " | ")
			for i, cell := range cells {
				cells[i] = strings.TrimSpace(cell)
			}
			rows = append(rows, cells)
		}
		list = append(list, rows)
	}
	if list == nil {
		t.Fatalf("%s: %q has no table", name, heading)
	}
	return list
}

var quoted = regexp.MustCompile("`([^`]+)`")

// words returns what stands between backquotes in the given columns of tables.
func words(list []table, columns ...int) (out []string) {
	for _, rows := range list {
		for _, row := range rows {
			for _, c := range columns {
				if c >= len(row) {
					continue
				}
				for _, m := range quoted.FindAllStringSubmatch(row[c], -1) {
					out = append(out, m[1])
				}
			}
		}
	}
	return out
}

// compare reports names that are only in the code, and names that are only in the document.
func compare(t *testing.T, what string, code, document []string) {
	t.Helper()
	if len(code) < 5 {
		t.Fatalf("%s: only %d were found in the code", what, len(code))
	}
	for _, x := range code {
		if !slices.Contains(document, x) {
			t.Errorf("%s: %s is not in the document", what, x)
		}
	}
	for _, x := range document {
		if !slices.Contains(code, x) {
			t.Errorf("%s: the document has %s, which is not in the code", what, x)
		}
	}
}

// files returns the parsed Go files below directories of the repository, without tests.
func files(t *testing.T, dirs ...string) (list []*ast.File) {
	t.Helper()
	for _, dir := range dirs {
		err := fs.WalkDir(os.DirFS("../"+dir), ".", func(name string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || path.Ext(name) != ".go" || strings.HasSuffix(name, "_test.go") {
				return err
			}
			f, err := parser.ParseFile(token.NewFileSet(), path.Join("..", dir, name), nil, 0)
			list = append(list, f)
			return err
		})
		test.OK(t, err)
	}
	return list
}

// literals returns the strings in code that match a pattern, each once.
func literals(list []*ast.File, pattern string) (out []string) {
	match := regexp.MustCompile("^(?:" + pattern + ")$")
	for _, f := range list {
		ast.Inspect(f, func(n ast.Node) bool {
			if l, ok := n.(*ast.BasicLit); ok && l.Kind == token.STRING {
				if s, err := strconv.Unquote(l.Value); err == nil && match.MatchString(s) {
					out = append(out, s)
				}
			}
			return true
		})
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// source returns a file of the repository.
func source(t *testing.T, name string) string {
	t.Helper()
	text := test.Value(os.ReadFile("../" + name))(t)
	return string(text)
}

// submatches returns the groups of each match, separated by spaces.
func submatches(text, pattern string) (out []string) {
	for _, m := range regexp.MustCompile(pattern).FindAllStringSubmatch(text, -1) {
		out = append(out, strings.Join(m[1:], " "))
	}
	return out
}

// The tables have the line of each operation, with its names, routes and scopes.
func TestAPI_operations(t *testing.T) {
	var a2a, opt, pages []string
	for _, o := range operation.All() {
		scopes := scopesOf(o)
		switch {
		case o.Family == operation.Core:
			a2a = append(a2a, strings.Join([]string{code(o.V03), code(o.ID), code(o.Routes...), scopes}, " | "))
		case o.Family == operation.OPT:
			opt = append(opt, code(o.ID)+" | "+scopes)
		case o.Family == operation.Page && o.When != operation.Seams:
			names := []string{strings.Replace(o.Routes[0], " ", " /v1/", 1)}
			if o.V03 != "" {
				names = append(names, o.V03)
			}
			pages = append(pages, code(names...)+" | "+scopes)
		}
	}
	compare(t, "methods of A2A", a2a, columns(tables(t, "api.md", "Methods of A2A")[0], 0, 1, 2, 3))
	compare(t, "methods of OPT", opt, columns(tables(t, "api.md", "Methods of OPT")[0], 0, 2))
	compare(t, "pages", pages, columns(tables(t, "api.md", "Pages beside A2A")[0], 0, 2))
}

func scopesOf(o *operation.Operation) string {
	if len(o.Scopes) == len(call.Scopes()) {
		return "any"
	}
	var names []string
	for _, s := range o.Scopes {
		names = append(names, string(s))
	}
	return code(names...)
}

// code returns words as a list in a document.
func code(list ...string) string { return "`" + strings.Join(list, "`, `") + "`" }

// columns returns the given columns of a table, a line each.
func columns(rows table, which ...int) (lines []string) {
	for _, row := range rows {
		var cells []string
		for _, c := range which {
			cells = append(cells, row[c])
		}
		lines = append(lines, strings.Join(cells, " | "))
	}
	return lines
}

// Every metadata key in the code has a line, and the other way round.
func TestAPI_metadata(t *testing.T) {
	code := literals(files(t, "a2a", "opt", "api", "activities", "workflows", "client", "internal"), `(opt|longhaul)/v1/[A-Za-z]+`)
	compare(t, "metadata keys", append(code, "openwop"), words(tables(t, "api.md", "Metadata"), 0))
}

// Every reason of an error has a line, and the other way round.
func TestAPI_reasons(t *testing.T) {
	code := literals(files(t, "api/call", "api/read", "api/write", "api/push", "api/stream", "api/work", "api/letter", "api/gate", "api/message", "api/schedule", "api/receive"), `[A-Z][A-Z0-9]*(_[A-Z0-9]+)+|UNAVAILABLE|UNAUTHENTICATED`)
	code = append(code, submatches(source(t, "api/wire/fault.go"), `(?:reason|plain): "([A-Z_]+)"`)...)
	rows := tables(t, "api.md", "Errors")
	compare(t, "reasons", code, words(rows, 0))

	// The codes of kinds with a reason of their own are as in the table in the code.
	for _, row := range rows[0] {
		reason := strings.Trim(row[0], "`")
		line := regexp.MustCompile(`code: ([-\w]+), http: http\.Status(\w+), .*"` + reason + `"\}`).FindStringSubmatch(source(t, "api/wire/fault.go"))
		if line == nil {
			continue
		}
		test.Is(t, fmt.Sprintf("docs/api.md: %s has the code", reason), strings.NewReplacer("codeInvalidParams", "-32602", "codeNotFound", "-32000").Replace(line[1]), row[1])
	}
}

// Every header of ours and of A2A has a line, and the other way round.
func TestAPI_headers(t *testing.T) {
	code := submatches(source(t, "api/wire/version.go")+source(t, "a2a/codec/version.go"), `Header\w+\s+= "([^"]+)"`)
	code = append(code, submatches(source(t, "activities/push.go"), `\w+Header\s+= "([^"]+)"`)...)
	code = append(code, submatches(source(t, "activities/push.go"), `Header\.Set\("([^"]*A2A-N[^"]*)"`)...)
	code = append(code, submatches(source(t, "api/response.go")+source(t, "api/call/fault.go"), `Set\("(Retry-After|WWW-Authenticate|X-[^"]+)"`)...)
	compare(t, "headers", code, words(tables(t, "api.md", "Headers"), 0))
}

// Every document that anyone may read is in the table.
func TestAPI_documents(t *testing.T) {
	_, list, _ := strings.Cut(source(t, "api/server.go"), "func (s *Server) public()")
	list, _, _ = strings.Cut(list, "\n}")
	named := strings.Join(words(tables(t, "api.md", "Addresses"), 0), " ") + " "
	found := submatches(list, `"(/?[\w./-]*(?:\.well-known|openapi)[\w./-]*)"`)
	if len(found) < 6 {
		t.Fatalf("only %d documents were found: %v", len(found), found)
	}
	for _, document := range found {
		if !strings.Contains(named, document+" ") {
			t.Errorf("%s is not in docs/api.md", document)
		}
	}
}
