package arch_test

import (
	"fmt"
	"go/ast"
	"go/token"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"

	"longhaul/internal/test"
)

// mannered are literary words, each with plain ones. Comments and texts do without them:
// a reader has to translate them first.
var mannered = []struct{ pattern, plain string }{
	{`somebody|nobody|anybody|someone`, "name the person or the program"},
	{`(?:goes|go|went|going|gone) on`, "continue"},
	{`what (?:is|was|are|were|has|had)`, "a noun: the object, the recorded event"},
	{`in vain`, "without success"},
	{`tells?|told|telling`, "report, notify, return, show, ask"},
	{`anew|afresh|once more`, "again"},
	{`as (?:it|they|he|she|one) likes?`, "at any time, in any order"},
	{`(?:to be|be) had`, "available"},
	{`(?:stands?|stood|standing) for`, "represents, takes the place of, is replaced by"},
	{`no matter|whatever|whoever`, "any, every"},
	{`for the sake of`, "for"},
	{`thus|hence|thereby|whence`, "so"},
	{`(?:know|knows|knew|known) of`, "has, finds"},
	{`learns?|learned|learnt`, "receives, sees, finds out"},
	{`(?:is|are|was|were) of (?:an?|no|another|some|this|the) (?:kind|type|use|size)`, "has another type, is useless"},
	{`(?:gives?|gave|given|giving) up`, "stops, releases"},
}

// plainHere are uses of these words that stay, each with its reason.
var plainHere = []struct{ path, text, reason string }{
	{"activities/echo/", "told to", "the answers of this test double are in recorded histories"},
	{"dev/cmd/record/", "o on", "texts of tasks in recorded histories"},
	{"dev/e2e/crashable/control.go", "told to fail", "as the test double says it"},
	{"activities/planner/rules.go", "what is", "the questions that the planner understands"},
	{"internal/prove/scorecard.go", "as it was told", "the title of a row in published scorecards"},
	{"internal/commands/gate.go", `"what is wrong"`, "stands in a command for the words of a person"},
	{"client/retry.go", "gave up after", "the usual words for the end of retries"},
	{"dev/e2e/crashable/main.go", "told", "the name of a point"},
}

var manneredWords = func() *regexp.Regexp {
	var all []string
	for _, m := range mannered {
		all = append(all, m.pattern)
	}
	return regexp.MustCompile(`(?i)\b(?:` + strings.Join(all, "|") + `)\b`)
}()

// checkWords returns the mannered words in the comments of a source and in its texts for
// people: errors and logs, and outside tests all with more than one word.
func checkWords(s source) (wrong []string) {
	for _, p := range s.prose() {
		for _, at := range manneredWords.FindAllStringIndex(p.text, -1) {
			around := p.text[max(0, at[0]-30):min(len(p.text), at[1]+30)]
			if !slices.ContainsFunc(plainHere, func(e struct{ path, text, reason string }) bool {
				return strings.HasPrefix(s.path, e.path) && strings.Contains(around, e.text)
			}) {
				word := p.text[at[0]:at[1]]
				wrong = append(wrong, fmt.Sprintf("line %d: write %s in place of %q in %q", p.line, plain(word), word, around))
			}
		}
	}
	return wrong
}

// plain returns what to write in place of a mannered word.
func plain(word string) string {
	for _, m := range mannered {
		if regexp.MustCompile(`(?i)^(?:` + m.pattern + `)$`).MatchString(word) {
			return strconv.Quote(m.plain)
		}
	}
	return ""
}

// A passage is text for readers.
type passage struct {
	line int
	text string
}

// reports are the functions whose texts are for readers in tests, too.
var reports = []string{"New", "Error", "Errorf", "Fatal", "Fatalf", "Skip", "Skipf", "Log", "Logf"}

// prose returns the comments of s and its texts for people, each in one line.
func (s source) prose() (out []passage) {
	names := map[*ast.CommentGroup]string{} // what a comment documents
	add := func(at token.Pos, text string) {
		out = append(out, passage{s.set.Position(at).Line, strings.Join(strings.Fields(text), " ")})
	}
	literals := func(n ast.Node) {
		ast.Inspect(n, func(n ast.Node) bool {
			if l, ok := n.(*ast.BasicLit); ok && l.Kind == token.STRING {
				if text, _ := strconv.Unquote(l.Value); strings.Contains(text, " ") {
					add(l.Pos(), text)
				}
			}
			return true
		})
	}
	if !s.test {
		literals(s.file)
	}
	ast.Inspect(s.file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			names[n.Doc] = n.Name.Name
		case *ast.Field:
			if len(n.Names) > 0 {
				names[n.Doc] = n.Names[0].Name
			}
		case *ast.CallExpr:
			if f, ok := n.Fun.(*ast.SelectorExpr); ok && s.test && slices.Contains(reports, f.Sel.Name) {
				literals(n)
			}
		}
		return true
	})
	for _, c := range s.file.Comments {
		text := c.Text()
		if first, rest, _ := strings.Cut(text, " "); first == names[c] {
			text = rest // a name is no word of the sentence
		}
		add(c.Pos(), text)
	}
	return out
}

// Comments, errors and logs are in plain words.
func TestWords(t *testing.T) {
	sources := test.Value(repository())(t)
	for _, s := range sources {
		for _, w := range checkWords(s) {
			t.Errorf("%s: %s", s.path, w)
		}
	}
}

// Each text here has one mannered word or none.
func TestCheckWords(t *testing.T) {
	for _, tt := range []struct{ path, text, want string }{
		{"api/send.go", "// Nobody reads it.\n", `"Nobody"`},
		{"api/send.go", "// It goes\n// on with the next.\n", `"goes on"`},
		{"api/send.go", "// tell says what was sent.\nfunc tell() {}\n", `"what was"`},
		{"api/send.go", "// tell sends a letter.\nfunc tell() {}\n", ""},
		{"api/send.go", "var x = \"it was asked in vain\"\n", `"in vain"`},
		{"api/send_test.go", "var x = \"it was asked in vain\"\n", ""},
		{"api/send_test.go", "func f() { t.Errorf(\"it was asked in vain\") }\n", `"in vain"`},
		{"api/send.go", "// Hencefort continues.\n", ""},
		{"internal/prove/scorecard.go", "// \"A result stays as it was told\"\n", ""},
		{"internal/prove/check.go", "// \"A result stays as it was told\"\n", `"told"`},
	} {
		sources := test.Value(load(fstest.MapFS{tt.path: {Data: []byte("package x\n\n" + tt.text)}}))(t)
		got := strings.Join(checkWords(sources[0]), "\n")
		if (tt.want == "") != (got == "") || !strings.Contains(got, tt.want) || strings.Contains(got, "\n") {
			t.Errorf("%s with %q: %q, want %s", tt.path, tt.text, got, tt.want)
		}
	}
}
