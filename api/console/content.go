package console

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"html/template"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"

	"longhaul/a2a"
	"longhaul/opt"
)

// A markdown writes Markdown of others as HTML that is inert: no HTML of its own, no
// images, and links only to other sites. It is safe for concurrent use.
type markdown struct{ engine goldmark.Markdown }

func newMarkdown() markdown {
	return markdown{goldmark.New(
		goldmark.WithExtensions(extension.NewTable(extension.WithTableCellAlignMethod(extension.TableCellAlignNone)), extension.Strikethrough),
		goldmark.WithParserOptions(parser.WithASTTransformers(util.Prioritized(inert{}, 1000))), // after all others
	)}
}

// html returns source as HTML.
func (m markdown) html(source string) (template.HTML, error) {
	var b bytes.Buffer
	if err := m.engine.Convert([]byte(a2a.Visible(source)), &b); err != nil {
		return "", err
	}
	return template.HTML(a2a.Visible(b.String())), nil // inert leaves nothing that does more than show text
}

// inert replaces what would do more than show text.
type inert struct{}

// headingOffset is how many levels of headings a page has above the headings of a text.
const headingOffset = 2

// Transform implements [parser.ASTTransformer].
func (inert) Transform(document *ast.Document, from text.Reader, _ parser.Context) {
	var all []ast.Node
	_ = ast.Walk(document, func(n ast.Node, entering bool) (ast.WalkStatus, error) { // which returns no error
		if entering {
			all = append(all, n)
		}
		return ast.WalkContinue, nil
	})
	for _, n := range all {
		switch n := n.(type) {
		case *ast.Heading:
			n.Level = min(6, n.Level+headingOffset)
		case *ast.Link:
			n.Title = nil
			setLink(n, addressIn(n.Destination))
		case *ast.AutoLink:
			if address := string(n.URL(from.Source())); webLink(address) == "" {
				replace(n, literal(string(n.Label(from.Source()))))
			} else {
				setLink(n, address)
			}
		case *ast.Image:
			setLink(imageLink(n), addressIn(n.Destination))
		case *ast.RawHTML:
			replace(n, literal(string(n.Segments.Value(from.Source()))))
		case *ast.HTMLBlock:
			code := ast.NewCodeBlock()
			lines := *n.Lines()
			if n.HasClosure() {
				lines.Append(n.ClosureLine)
			}
			code.SetLines(&lines)
			replace(n, code)
		}
	}
}

func replace(n, by ast.Node) { n.Parent().ReplaceChild(n.Parent(), n, by) }

// literal returns a text that is written as it is.
func literal(s string) ast.Node {
	n := ast.NewString([]byte(s))
	n.SetRaw(true)
	return n
}

// addressIn returns the address in the destination of a link or an image, with the
// escapes and the character references of Markdown resolved.
func addressIn(destination []byte) string {
	return string(util.ResolveEntityNames(util.ResolveNumericReferences(util.UnescapePunctuations(destination))))
}

// setLink keeps a link to another site. Any other becomes its text and its address.
func setLink(n ast.Node, address string) {
	if webLink(address) != "" {
		n.SetAttributeString("rel", []byte("noreferrer noopener"))
		return
	}
	for n.HasChildren() {
		n.Parent().InsertBefore(n.Parent(), n, n.FirstChild())
	}
	replace(n, literal(" ("+address+")"))
}

// imageLink puts a link to an image in its place, since loading it would show its server who looks at it.
func imageLink(image *ast.Image) *ast.Link {
	link := ast.NewLink()
	link.Destination = image.Destination
	link.AppendChild(link, literal("Image: "))
	if !image.HasChildren() {
		link.AppendChild(link, literal(addressIn(image.Destination)))
	}
	for image.HasChildren() {
		link.AppendChild(link, image.FirstChild())
	}
	replace(image, link)
	return link
}

// Limits of contents that have a form of their own. Larger ones are shown as text.
const (
	mostNodes   = 1000 // of a tree
	mostLevels  = 20
	mostCells   = 5000 // of a table
	openedNodes = 40   // a tree with fewer is open
)

// A node is a value in JSON, with its key or its number in a list, for the template "node".
type node struct {
	Key, Text string
	Quoted    bool // Text is a string
	Of        []node
	Open      bool // the members of Of
}

// nodeOf returns a JSON object or list with its members in their order, nil for other data and
// for too much of it.
func nodeOf(data json.RawMessage) *node {
	if len(data) == 0 || data[0] != '{' && data[0] != '[' {
		return nil
	}
	r := nodeReader{json.NewDecoder(bytes.NewReader(data)), mostNodes, bytes.Count(data, []byte{','}) < openedNodes}
	r.UseNumber()
	if n, ok := r.node("", 0); ok {
		return &n
	}
	return nil
}

// A nodeReader reads at most so many nodes.
type nodeReader struct {
	*json.Decoder
	left int
	open bool
}

func (r *nodeReader) node(key string, level int) (n node, ok bool) {
	r.left--
	token, err := r.Token()
	if err != nil || r.left < 0 || level > mostLevels {
		return n, false
	}
	n = node{Key: a2a.Visible(key), Open: r.open}
	switch token := token.(type) {
	case nil:
		n.Text = "null"
	case string:
		n.Text, n.Quoted = a2a.Visible(token), true
	case json.Delim:
		for i := 1; r.More(); i++ {
			key := strconv.Itoa(i)
			if token == '{' {
				name, _ := r.Token()
				key, _ = name.(string)
			}
			member, ok := r.node(key, level+1)
			if !ok {
				return n, false
			}
			n.Of = append(n.Of, member)
		}
		_, err = r.Token() // the end
	default: // true, false or a number
		n.Text = fmt.Sprint(token)
	}
	return n, err == nil
}

// tableOf returns the rows of a text with comma-separated values, the first with the names of the
// columns; nil if it is none, or is too large.
func tableOf(source string) [][]string {
	rows, err := csv.NewReader(strings.NewReader(source)).ReadAll()
	if err != nil || len(rows) < 2 || len(rows)*len(rows[0]) > mostCells {
		return nil
	}
	return rows
}

// deciding are the names of members of JSON by which people decide.
var deciding = []string{"amount", "total", "sum", "price", "cost", "currency", "risk", "severity", "priority"}

// gistWidth is the width of what a list shows of an object.
const gistWidth = 150

// gistOf returns what the object of a gate is about, in a line: the first lines of a text, or
// members of JSON, those by which people decide first.
func gistOf(g *opt.Gate) string {
	for _, p := range g.Object {
		if len(p.Data) > 0 && p.Data[0] == '{' {
			return shorten(a2a.Visible(membersText(p.Data)), gistWidth)
		}
		if text, ok := p.Content(); ok {
			text, _ = cutText(text, 4*gistWidth)
			return shorten(a2a.Visible(plainLines(text)), gistWidth)
		}
	}
	if len(g.Object) > 0 {
		return shorten(join(a2a.Visible(g.Object[0].Filename), mediaType(g.Object[0])), gistWidth)
	}
	return shorten(a2a.Visible(cmp.Or(g.Description, membersText(g.ArtifactData))), gistWidth)
}

// plainLines returns the lines of a text in one, without the signs of Markdown.
func plainLines(text string) string {
	var list []string
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(strings.TrimLeft(strings.ReplaceAll(line, "**", ""), "#>` \t")); line != "" {
			list = append(list, line)
		}
	}
	return strings.Join(list, " · ")
}

// membersText returns members of a JSON object that are no lists in a line, "" for other data.
func membersText(data json.RawMessage) string {
	var members map[string]any
	if json.Unmarshal(data, &members) != nil {
		return ""
	}
	rank := func(name string) int {
		at := slices.IndexFunc(deciding, func(word string) bool { return strings.Contains(strings.ToLower(name), word) })
		if at < 0 {
			return len(deciding)
		}
		return at
	}
	var list []string
	for _, name := range slices.SortedFunc(maps.Keys(members), func(a, b string) int {
		return cmp.Or(rank(a)-rank(b), strings.Compare(a, b))
	}) {
		switch value := members[name].(type) {
		case string:
			list = append(list, name+" "+value)
		case float64:
			list = append(list, name+" "+strconv.FormatFloat(value, 'f', -1, 64))
		}
	}
	return strings.Join(list, " · ")
}
