package console

import (
	"bytes"
	"html/template"
	"strconv"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/util"

	"longhaul/a2a"
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
