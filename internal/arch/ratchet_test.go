package arch_test

import (
	"fmt"
	"go/ast"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"longhaul/internal/test"
)

// figures are numbers by subject.
type figures map[string]int

// measures returns by check the figures that are above its limit.
func measures(sources []source) map[string]figures {
	p := newProgram(sources)
	found := map[string]figures{}
	above := func(check, subject string, n, limit int) {
		if found[check] == nil {
			found[check] = figures{}
		}
		if n > limit {
			found[check][subject] = n
		}
	}
	for room, u := range p.packages {
		lines := 0
		for _, s := range u.sources {
			lines += s.set.File(s.file.FileStart).LineCount()
			for _, d := range s.file.Decls {
				if f, ok := d.(*ast.FuncDecl); ok && f.Body != nil {
					above("complexity", s.nameOf(f), complexity(f), s.maxComplexity(f))
				}
			}
		}
		above("hundreds of lines", room, (lines+99)/100, maxHundreds)
		above("files", room, len(u.sources), maxPackage)
		above("files in circles", room, inCircles(u.calls()), 0)
		for name, n := range p.methods(room) {
			above("methods", room+"."+name, n, maxMethods)
		}
		if !among(room, []string{"internal/journal", "internal/serve", "internal/operate"}) { // itself, the wiring, and the commands for it
			above("variables with a whole journal", room, u.holders("internal/journal.Journal"), 0)
		}
	}
	return found
}

func (s source) maxComplexity(f *ast.FuncDecl) int {
	if s.table(f.Body) {
		return maxTableComplexity
	}
	return maxComplexity
}

// compare returns how the figures of a check differ from those that are allowed.
func compare(check string, allowed, found figures) (wrong []string) {
	for subject, n := range found {
		switch most := allowed[subject]; {
		case most == 0:
			wrong = append(wrong, fmt.Sprintf("%s: %s has %d now, which is above the limit", check, subject, n))
		case n > most:
			wrong = append(wrong, fmt.Sprintf("%s: %s rose from %d to %d; it may only fall", check, subject, most, n))
		case n < most:
			wrong = append(wrong, fmt.Sprintf("%s: %s fell from %d to %d: lower the number in the table", check, subject, most, n))
		}
	}
	for subject, most := range allowed {
		if found[subject] == 0 {
			wrong = append(wrong, fmt.Sprintf("%s: %s fell from %d to within the limit: remove it from the table", check, subject, most))
		}
	}
	slices.Sort(wrong)
	return wrong
}

func TestRatchet(t *testing.T) {
	sources := test.Value(repository())(t)
	found := measures(sources)
	if diff := cmp.Diff(slices.Sorted(maps.Keys(found)), slices.Sorted(maps.Keys(allowed))); diff != "" {
		t.Errorf("checks without figures, or figures without a check:\n%s", diff)
	}
	for _, check := range slices.Sorted(maps.Keys(found)) {
		for _, wrong := range compare(check, allowed[check], found[check]) {
			t.Error(wrong)
		}
	}
}

func TestCompare(t *testing.T) {
	got := compare("files", figures{"a": 5, "b": 5, "c": 5, "d": 5}, figures{"a": 5, "b": 6, "c": 4, "e": 7})
	want := []string{
		"files: b rose from 5 to 6; it may only fall",
		"files: c fell from 5 to 4: lower the number in the table",
		"files: d fell from 5 to within the limit: remove it from the table",
		"files: e has 7 now, which is above the limit",
	}
	test.Equal(t, "compare", want, got)
}

// A small repository that breaks each limit.
func TestMeasures(t *testing.T) {
	files := fstest.MapFS{}
	add := func(name, text string) { files[name] = &fstest.MapFile{Data: []byte("package x\n" + text)} }

	add("internal/journal/journal.go", "type Journal struct{}\n")
	add("api/hold.go", "import journal \"longhaul/internal/journal\"\ntype s struct{ j *journal.Journal }\nfunc f(j *journal.Journal) { k := j; _ = k }\n")
	add("api/hold_test.go", "import journal \"longhaul/internal/journal\"\nvar j journal.Journal\n")
	add("internal/serve/hold.go", "import journal \"longhaul/internal/journal\"\nvar j journal.Journal\n")

	methods := "import \"other.example.com/y\"\ntype core struct{ y.Y }\ntype part struct{ *core }\ntype whole struct{ part; *core; n int }\ntype wrapper struct{ *whole }\n"
	for i := range 25 {
		methods += fmt.Sprintf("func (c *core) m%d() {}\nfunc (w wrapper) w%d() {}\n", i, i)
	}
	add("opt/methods.go", methods)

	branches := func(n int) (text string) {
		for range n {
			text += "if a && b { }\n"
		}
		return text
	}
	add("a2a/branch.go", "func deep(a, b bool) {\n"+branches(8)+"}\nfunc flat(a, b bool) {\n"+branches(7)+"}\nfunc (t T) table(a, b bool) {\nswitch {\ncase a:\n"+branches(9)+"}\n}\n")

	for i := range 5 { // each calls the next, the last one the second
		add(fmt.Sprintf("client/c%d.go", i), fmt.Sprintf("type t%d struct{}\nfunc (t%d) call() { func() { t%d{}.call() }() }\n", i, i, 1+i%4))
	}
	add("client/c4_test.go", "func (t4) test() { t0{}.call() }\n")
	for i := range maxPackage + 1 {
		add(fmt.Sprintf("workflows/w%d.go", i), "")
	}
	add("worker/long.go", strings.Repeat("//\n", maxHundreds*100))

	sources := test.Value(load(files))(t)
	want := map[string]figures{
		"complexity":                     {"a2a.deep": 17},
		"files":                          {"workflows": maxPackage + 1},
		"files in circles":               {"client": 4},
		"hundreds of lines":              {"worker": maxHundreds + 1},
		"methods":                        {"opt.whole": 50, "opt.wrapper": 50},
		"variables with a whole journal": {"api": 3},
	}
	test.Equal(t, "measures", want, measures(sources))
}
