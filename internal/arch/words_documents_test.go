package arch_test

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"regexp"
	"strings"
	"testing"
)

// code is text in documents that readers do not read as sentences: blocks and quotations
// of code.
var code = regexp.MustCompile("(?s:```.*?```)|(?m:^    .*$)|`[^`]*`")

// plainInDocuments are uses of mannered words in documents that stay.
var plainInDocuments = []string{
	"as it was told", // the title of a row in published scorecards
}

// checkDocument returns the mannered words in a document, but those that begin questions:
// "what" with a verb.
func checkDocument(text string) (wrong []string) {
	text = code.ReplaceAllStringFunc(text, func(c string) string { return strings.Repeat("\n", strings.Count(c, "\n")) })
	for _, quiet := range plainInDocuments {
		text = strings.ReplaceAll(text, quiet, "")
	}
	flat := strings.ReplaceAll(text, "\n", " ")
	for _, at := range manneredWords.FindAllStringIndex(flat, -1) {
		word := flat[at[0]:at[1]]
		if strings.HasPrefix(strings.ToLower(word), "what") && !strings.EqualFold(word, "whatever") {
			continue
		}
		line := 1 + strings.Count(text[:at[0]], "\n")
		wrong = append(wrong, fmt.Sprintf("%d: write %s in place of %q in %q", line, plain(word), word, flat[max(0, at[0]-30):min(len(flat), at[1]+30)]))
	}
	return wrong
}

// Documents are in plain words, too.
func TestWords_documents(t *testing.T) {
	repository, documents := os.DirFS("../.."), 0
	err := fs.WalkDir(repository, ".", func(name string, d fs.DirEntry, err error) error {
		switch base := path.Base(name); {
		case err != nil:
			return err
		case d.IsDir() && name != "." && (strings.HasPrefix(base, ".") || base == "testdata" || base == "node_modules" || base == "bin"):
			return fs.SkipDir
		case d.IsDir() || path.Ext(name) != ".md":
			return nil
		}
		documents++
		text, err := fs.ReadFile(repository, name)
		for _, w := range checkDocument(string(text)) {
			t.Errorf("%s:%s", name, w)
		}
		return err
	})
	if err != nil || documents < 20 {
		t.Errorf("%d documents, %v", documents, err)
	}
}

func TestCheckDocument(t *testing.T) {
	for text, want := range map[string]string{
		"Work\ngoes on.":             `2: write "continue" in place of "goes on"`,
		"One.\n\nNobody answers.":    `3: write "name the person or the program" in place of "Nobody"`,
		"## What is a plan?":         "",
		"`nobody` and\n\n    anew\n": "",
		"```sh\necho nobody\n```\nx": "",
		"    a\n\nNobody answers.":   `3: write "name the person or the program" in place of "Nobody"`,
	} {
		if got := strings.Join(checkDocument(text), "\n"); (want == "") != (got == "") || !strings.HasPrefix(got, want) {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
