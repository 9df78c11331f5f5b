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
	"github.com/yuin/goldmark/renderer"
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
		goldmark.WithRendererOptions(renderer.WithNodeRenderers(util.Prioritized(inertNodes{}, 100))),
	)}
}

// html returns source as HTML.
func (m markdown) html(source string) (template.HTML, error) {
	var b bytes.Buffer
	if err := m.engine.Convert([]byte(a2a.Visible(source)), &b); err != nil {
		return "", err
	}
	return template.HTML(a2a.Visible(b.String())), nil // inertNodes write no HTML of the source
}

// inertNodes writes the nodes that would do more than show text.
type inertNodes struct{}

// RegisterFuncs implements [renderer.NodeRenderer].
func (n inertNodes) RegisterFuncs(to renderer.NodeRendererFuncRegisterer) {
	to.Register(ast.KindHeading, n.heading)
	to.Register(ast.KindLink, n.link)
	to.Register(ast.KindImage, n.image)
	to.Register(ast.KindAutoLink, n.address)
	to.Register(ast.KindRawHTML, n.rawHTML)
	to.Register(ast.KindHTMLBlock, n.htmlBlock)
}

// headingOffset is how many levels of headings a page has above the headings of a text.
const headingOffset = 2

func (inertNodes) heading(w util.BufWriter, _ []byte, node ast.Node, entering bool) (ast.WalkStatus, error) {
	level := strconv.Itoa(min(6, node.(*ast.Heading).Level+headingOffset))
	if entering {
		_, _ = w.WriteString("<h" + level + ">")
	} else {
		_, _ = w.WriteString("</h" + level + ">\n")
	}
	return ast.WalkContinue, nil
}

// link writes a link to another site. Any other is written as its text and its address.
func (n inertNodes) link(w util.BufWriter, _ []byte, node ast.Node, entering bool) (ast.WalkStatus, error) {
	n.anchor(w, addressIn(node.(*ast.Link).Destination), entering)
	return ast.WalkContinue, nil
}

// image writes a link to an image, since loading it would show its server who looks at it.
func (n inertNodes) image(w util.BufWriter, _ []byte, node ast.Node, entering bool) (ast.WalkStatus, error) {
	to := addressIn(node.(*ast.Image).Destination)
	if entering {
		n.anchor(w, to, true)
		_, _ = w.WriteString("Image: ")
		if !node.HasChildren() {
			n.text(w, to)
		}
		return ast.WalkContinue, nil
	}
	n.anchor(w, to, false)
	return ast.WalkContinue, nil
}

// addressIn returns the address in the destination of a link or an image, with the
// escapes and the character references of Markdown resolved.
func addressIn(destination []byte) string {
	return string(util.ResolveEntityNames(util.ResolveNumericReferences(util.UnescapePunctuations(destination))))
}

// anchor writes the beginning or the end of a link.
func (n inertNodes) anchor(w util.BufWriter, to string, entering bool) {
	switch link := webLink(to); {
	case link != "" && entering:
		_, _ = w.WriteString(`<a rel="noreferrer noopener" href="`)
		n.text(w, link)
		_, _ = w.WriteString(`">`)
	case link != "":
		_, _ = w.WriteString("</a>")
	case !entering:
		_, _ = w.WriteString(" (")
		n.text(w, to)
		_ = w.WriteByte(')')
	}
}

// address writes an address that is its own text.
func (n inertNodes) address(w util.BufWriter, source []byte, node ast.Node, entering bool) (ast.WalkStatus, error) {
	if !entering {
		return ast.WalkContinue, nil
	}
	a := node.(*ast.AutoLink)
	to := string(a.URL(source))
	if webLink(to) == "" {
		n.text(w, string(a.Label(source)))
		return ast.WalkSkipChildren, nil
	}
	n.anchor(w, to, true)
	n.text(w, string(a.Label(source)))
	n.anchor(w, to, false)
	return ast.WalkSkipChildren, nil
}

func (n inertNodes) rawHTML(w util.BufWriter, source []byte, node ast.Node, entering bool) (ast.WalkStatus, error) {
	if entering {
		segments := node.(*ast.RawHTML).Segments
		for i := range segments.Len() {
			segment := segments.At(i)
			n.text(w, string(segment.Value(source)))
		}
	}
	return ast.WalkSkipChildren, nil
}

func (n inertNodes) htmlBlock(w util.BufWriter, source []byte, node ast.Node, entering bool) (ast.WalkStatus, error) {
	block := node.(*ast.HTMLBlock)
	if entering {
		_, _ = w.WriteString("<pre>")
		for i := range block.Lines().Len() {
			line := block.Lines().At(i)
			n.text(w, string(line.Value(source)))
		}
		return ast.WalkContinue, nil
	}
	if block.HasClosure() {
		n.text(w, string(block.ClosureLine.Value(source)))
	}
	_, _ = w.WriteString("</pre>\n")
	return ast.WalkContinue, nil
}

func (inertNodes) text(w util.BufWriter, s string) { template.HTMLEscape(w, []byte(s)) }

// Limits of contents that have a form of their own. Larger ones are shown as text.
const (
	mostNodes   = 1000 // of a tree
	mostLevels  = 20
	mostCells   = 5000 // of a table
	openedNodes = 40   // a tree with fewer is open
)

// treeHTML returns a JSON object or list as lists that can be folded, with its members in their
// order; ok is false for other data and for too much of it.
func treeHTML(data json.RawMessage) (out template.HTML, ok bool) {
	if len(data) == 0 || data[0] != '{' && data[0] != '[' {
		return "", false
	}
	t := jsonTree{from: json.NewDecoder(bytes.NewReader(data)), open: bytes.Count(data, []byte{','}) < openedNodes}
	t.from.UseNumber()
	if t.value("", 0); t.failed || t.nodes > mostNodes {
		return "", false
	}
	return template.HTML(t.out.String()), true // text escapes all that comes from data
}

// A jsonTree writes JSON as HTML.
type jsonTree struct {
	from   *json.Decoder
	out    bytes.Buffer
	open   bool // its inner lists
	nodes  int
	failed bool
}

func (t *jsonTree) token() json.Token {
	token, err := t.from.Token()
	t.failed = t.failed || err != nil
	return token
}

func (t *jsonTree) text(element, s string) {
	t.out.WriteString("<" + element + ">")
	template.HTMLEscape(&t.out, []byte(a2a.Visible(s)))
	t.out.WriteString("</" + element + ">")
}

// value writes the next value, and before it the key that it has.
func (t *jsonTree) value(key string, level int) {
	t.nodes++
	token := t.token()
	if t.failed || t.nodes > mostNodes || level > mostLevels {
		t.failed = true
		return
	}
	end, nests := token.(json.Delim)
	inner := nests && level > 0 && t.from.More()
	switch {
	case inner && t.open:
		t.out.WriteString("<details open><summary>")
	case inner:
		t.out.WriteString("<details><summary>")
	}
	if key != "" {
		t.text("strong", key)
	}
	switch token := token.(type) {
	case json.Delim:
		t.list(end == '{', inner, level)
	case string:
		t.text("span", token)
	case nil:
		t.text("code", "null")
	default: // true, false or a number
		t.text("code", fmt.Sprint(token))
	}
	if inner {
		t.out.WriteString("</details>")
	}
}

// list writes the members of an object or a list up to its end.
func (t *jsonTree) list(object, inner bool, level int) {
	if !t.from.More() {
		t.text("i", "none")
		t.token()
		return
	}
	if inner {
		t.out.WriteString("</summary>")
	}
	t.out.WriteString("<ul>")
	for n := 1; !t.failed && t.from.More(); n++ {
		key := strconv.Itoa(n)
		if object {
			key, _ = t.token().(string)
		}
		t.out.WriteString("<li>")
		t.value(key, level+1)
		t.out.WriteString("</li>")
	}
	t.out.WriteString("</ul>")
	t.token()
}

// tableHTML returns a text with comma-separated values as a table, whose first row has the names
// of the columns; ok is false if it is none, or is too large.
func tableHTML(source string) (out template.HTML, ok bool) {
	rows, err := csv.NewReader(strings.NewReader(source)).ReadAll()
	if err != nil || len(rows) < 2 || len(rows)*len(rows[0]) > mostCells {
		return "", false
	}
	var b bytes.Buffer
	write := func(row []string, open, end string) {
		b.WriteString("<tr>")
		for _, cell := range row {
			b.WriteString(open)
			template.HTMLEscape(&b, []byte(a2a.Visible(cell)))
			b.WriteString(end)
		}
		b.WriteString("</tr>\n")
	}
	b.WriteString("<table><thead>")
	write(rows[0], `<th scope="col">`, "</th>")
	b.WriteString("</thead><tbody>")
	for _, row := range rows[1:] {
		write(row, "<td>", "</td>")
	}
	b.WriteString("</tbody></table>")
	return template.HTML(b.String()), true // every cell is escaped
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
		if text, ok := textIn(p); ok {
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
