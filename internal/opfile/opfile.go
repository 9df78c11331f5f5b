// Package opfile reads the YAML files of operators: errors name file and line, in the
// words of operators, and secrets come from the environment.
package opfile

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// maxFile is the size of a file at most.
const maxFile = 1 << 20

// A Problem is a mistake in a file.
type Problem struct {
	Line   int
	Text   string
	Member string // that is unknown; "" for another mistake
}

// In returns the error of a problem in a file.
func (p Problem) In(path string) error { return fmt.Errorf("%s:%d: %s", path, p.Line, p.Text) }

// Read reads a file into a struct as [Decode] does. An empty file changes nothing. what
// names the content of the file in an error. The error lists all mistakes, by line.
func Read(path, what string, to any) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("read the %s: %w", what, err)
	}
	return ReadText(data, path, to)
}

// ReadText is [Read] for the text of a file.
func ReadText(data []byte, path string, to any) error {
	doc, problem := Parse(data, "YAML document")
	if problem != nil {
		return problem.In(path)
	}
	if doc == nil {
		return nil
	}
	var wrong []error
	for _, p := range Decode(doc, to) {
		wrong = append(wrong, p.In(path))
	}
	return errors.Join(wrong...)
}

// Each calls prepare for the members of a map of a file, in the order of their names. The
// error lists all mistakes; each begins with what, which says what a member is, and the name.
func Each[T any](what string, members map[string]T, prepare func(member T, name string) error) error {
	var wrong []error
	for _, name := range slices.Sorted(maps.Keys(members)) {
		wrong = append(wrong, Within(what+" "+name+": ", prepare(members[name], name)))
	}
	return errors.Join(wrong...)
}

// Within returns err with a prefix before each of the mistakes that are joined in it, nil for nil.
func Within(prefix string, err error) error {
	if err == nil {
		return nil
	}
	list, joined := err.(interface{ Unwrap() []error })
	if !joined {
		return fmt.Errorf("%s%w", prefix, err)
	}
	var out []error
	for _, one := range list.Unwrap() {
		out = append(out, Within(prefix, one))
	}
	return errors.Join(out...)
}

// IsURL reports whether a text is the URL of a web server.
func IsURL(text string) bool {
	u, err := url.Parse(text)
	return err == nil && u.Host != "" && (u.Scheme == "https" || u.Scheme == "http")
}

// Parse returns the YAML document in data, nil if there is none. There must not be two;
// what names the document in that problem.
func Parse(data []byte, what string) (*yaml.Node, *Problem) {
	if len(data) > maxFile {
		return nil, &Problem{Line: 1, Text: fmt.Sprintf("the file has more than %d bytes", maxFile)}
	}
	d := yaml.NewDecoder(bytes.NewReader(data))
	var doc, more yaml.Node
	switch err := d.Decode(&doc); {
	case errors.Is(err, io.EOF):
		return nil, nil
	case err != nil:
		p := syntax(err.Error())
		p.Line = min(p.Line, 1+bytes.Count(bytes.TrimSpace(data), []byte("\n")))
		return nil, &p
	}
	if err := d.Decode(&more); !errors.Is(err, io.EOF) {
		return nil, &Problem{Line: max(more.Line, 1), Text: "a file holds one " + what}
	}
	return doc.Content[0], nil
}

// Members returns the members of the object in data, none if there is no such document.
func Members(data []byte) (names []string) {
	doc, problem := Parse(data, "document")
	if problem != nil || doc == nil || doc.Kind != yaml.MappingNode {
		return nil
	}
	for pair := range slices.Chunk(doc.Content, 2) {
		names = append(names, pair[0].Value)
	}
	return names
}

var syntaxForm = regexp.MustCompile(`^(?:yaml: )?(?:line (\d+): )?(.*)`)

// syntax takes an error of the YAML parser apart. The parser counts the lines of
// some errors from 0.
func syntax(text string) Problem {
	m := syntaxForm.FindStringSubmatch(text)
	line, _ := strconv.Atoi(m[1])
	if strings.HasPrefix(m[2], "did not find expected ") {
		line++
	}
	for _, known := range syntaxAdvice {
		if strings.Contains(m[2], known.says) {
			return Problem{Line: max(line, 1), Text: "not valid YAML: " + known.advice + " (" + m[2] + ")"}
		}
	}
	return Problem{Line: max(line, 1), Text: m[2]}
}

// syntaxAdvice has what to do about errors of the YAML parser, which name its own state.
var syntaxAdvice = []struct{ says, advice string }{
	{"mapping values are not allowed", "put a text that has a colon and a space in quotation marks, and indent members of one object alike"},
	{"could not find expected ':'", "write a colon and a space after the name of a member, and indent the lines of a text alike"},
	{"did not find expected key", "indent members of one object alike, and close quotation marks"},
	{"did not find expected '-'", "begin the items of one list alike, with a dash and a space"},
	{"did not find expected node content", "close each bracket, and give each member in it a value"},
	{"did not find expected ',' or", "close each bracket, put commas between the values in it, and quotes around texts with ? or :"},
	{"found unexpected end of stream", "close each quotation mark and bracket"},
	{"a tab character", "indent with spaces, not with tabs"},
	{"cannot start any token", "indent with spaces, not with tabs, and put a text that begins with a special character in quotation marks"},
	{"unknown escape character", "write \\\\ for a backslash in double quotation marks, or use single ones"},
	{"unknown anchor", "put a text that begins with * in quotation marks"},
	{"UTF-8", "save the file as UTF-8"},
}
