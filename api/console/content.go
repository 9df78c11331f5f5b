package console

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"html/template"
	"mime"
	"net/http"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/util"

	"longhaul/a2a"
	"longhaul/api/read"
	"longhaul/opt"
	"longhaul/opt/shown"
)

// A markdown writes Markdown of others as HTML that is inert: no HTML of its own, no
// images, and links only to other sites. It is safe for concurrent use.
type markdown struct{ engine goldmark.Markdown }

func newMarkdown() markdown {
	return markdown{goldmark.New(
		goldmark.WithExtensions(extension.NewTable(extension.WithTableCellAlignMethod(extension.TableCellAlignNone)), extension.Strikethrough),
		goldmark.WithRendererOptions(renderer.WithNodeRenderers(util.Prioritized(inert{}, 1))), // before all others
	)}
}

// html returns the HTML of a text, if that has most bytes at most: many references to one long address have more.
func (m markdown) html(source string, most int) (template.HTML, error) {
	b := bounded{most: most}
	if err := m.engine.Convert([]byte(a2a.Visible(source)), &b); err != nil {
		return "", err
	}
	return template.HTML(a2a.Visible(b.text.String())), nil // inert leaves nothing that does more than show text
}

// A bounded buffer refuses more than most bytes.
type bounded struct {
	text bytes.Buffer
	most int
}

var errTooLong = errors.New("the text is too long")

func (b *bounded) Write(p []byte) (int, error) {
	if b.text.Len()+len(p) > b.most {
		return 0, errTooLong
	}
	return b.text.Write(p)
}

// inert writes what would do more than show text.
type inert struct{}

// RegisterFuncs implements [renderer.NodeRenderer].
func (inert) RegisterFuncs(to renderer.NodeRendererFuncRegisterer) {
	for _, kind := range []ast.NodeKind{ast.KindHeading, ast.KindLink, ast.KindImage, ast.KindAutoLink, ast.KindRawHTML, ast.KindHTMLBlock} {
		to.Register(kind, func(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
			text, after := htmlOf(source, n)
			if !entering {
				text = after
			}
			_, err := w.WriteString(text)
			return ast.WalkContinue, err
		})
	}
}

// headingOffset is how many levels of headings a page has above the headings of a text.
const headingOffset = 2

// htmlOf returns the HTML before the children of a node, and the HTML after them.
func htmlOf(source []byte, n ast.Node) (before, after string) {
	switch n := n.(type) {
	case *ast.Heading:
		tag := fmt.Sprintf("h%d>", min(6, n.Level+headingOffset))
		return "<" + tag, "</" + tag + "\n"
	case *ast.Link:
		return linkHTML(addressIn(n.Destination))
	case *ast.Image: // loading it would show its server who looks at it
		address := addressIn(n.Destination)
		before, after = linkHTML(address)
		return before + "Image: " + shown.When(!n.HasChildren(), escaped(address)), after
	case *ast.AutoLink: // its label is its address
		before, after = linkHTML(string(n.URL(source)))
		return before + escaped(string(n.Label(source))), shown.When(before != "", after)
	case *ast.RawHTML:
		before = escaped(string(n.Segments.Value(source)))
	case *ast.HTMLBlock:
		text := string(n.Lines().Value(source))
		if n.HasClosure() {
			text += string(n.ClosureLine.Value(source))
		}
		before = "<pre><code>" + escaped(text) + "</code></pre>\n"
	}
	return before, ""
}

func escaped(text string) string { return string(util.EscapeHTML([]byte(text))) }

// addressIn returns the address in the destination of a link or an image, with the
// escapes and the character references of Markdown resolved.
func addressIn(destination []byte) string {
	return string(util.ResolveEntityNames(util.ResolveNumericReferences(util.UnescapePunctuations(destination))))
}

// linkHTML returns the HTML around the text of a link to another site. Any other link becomes its text and its address.
func linkHTML(address string) (before, after string) {
	if to := webLink(address); to != "" {
		return `<a href="` + escaped(to) + `" rel="noreferrer noopener">`, "</a>"
	}
	return "", escaped(" (" + address + ")")
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

// nodeOf returns a JSON object or list with its members in their order, nil for other data and for too much of it.
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

// A measure is how much a page shows: bytes of one part, of all parts, and parts. The content
// that was shown is taken off it.
type measure struct{ one, bytes, left int }

// The measures of the object of a gate, at first and if the reader asks for all, and of all
// results and messages of a page.
var (
	usualMeasure  = measure{16 << 10, 64 << 10, 100}
	wholeMeasure  = measure{200 << 10, 200 << 10, 100}
	recordMeasure = measure{mostShown, 64 << 10, 50}
)

const (
	mostShown   = 4 << 10 // bytes of one text beside a picture
	mostLetters = 120     // of a name
)

// An object is a part of the object of a gate, or of a result, for the template "object".
// One of Text, HTML, Tree, Table, Image and Link is set, or none for a file that can only be stored.
type object struct {
	ID    string // of its element
	Name  string
	About string // its type and size
	Text  string
	HTML  template.HTML // of Markdown
	Tree  *node
	Table [][]string
	Image string      // path of the image
	Link  string      // to another site
	File  string      // path for storing it, "" for none
	Cut   bool        // Text or HTML is only the beginning
	Whole string      // path of the page with all of it, "" for none
	As    string      // how it is shown
	Other string      // path of the page with the source, or with a text as Markdown
	Diff  *comparison // with the object that was sent back, nil if there was none
}

type viewer struct {
	markdown
	measure
	as     string                 // how texts are shown: asMarkdown, asText, or "" for what their types say
	whole  string                 // path of the page with all of the parts, "" on that page
	asPath func(as string) string // of the page that shows texts in another way; nil for none
}

type parts struct {
	List []object
	More int // how many are not shown
}

// parts returns parts as a page shows them. The ids of their elements begin with one, and file returns the path for
// storing the n-th part; nil for what cannot be stored.
func (v *viewer) parts(id string, all []a2a.Part, file func(int) string) (out parts) {
	for i, p := range all {
		if v.left--; v.left < 0 {
			out.More = len(all) - i
			break
		}
		o := object{ID: id + strconv.Itoa(i), Name: shorten(a2a.Visible(p.Filename), mostLetters), About: shorten(a2a.Visible(mediaType(p)), 40)}
		if file != nil {
			o.File = file(i)
		}
		v.add(&o, p, min(v.one, v.bytes))
		out.List = append(out.List, o)
	}
	return out
}

// add adds at most some bytes of a part to its object. Large contents, to which a part refers, are not read.
func (v *viewer) add(o *object, p a2a.Part, most int) {
	text, isText := p.Content()
	if !isText {
		kind, size := http.DetectContentType(p.Raw), len(p.Raw)
		if p.Ref != nil {
			kind, size = map[string]string{"raw": mediaType(p)}[p.Ref.Member], p.Ref.Size
		}
		o.About = join(o.About, sizeText(size))
		if slices.Contains(images, kind) {
			o.Image = o.File
		}
		return
	}
	if p.URL != nil {
		if o.Link = webLink(text); o.Link != "" {
			o.Text, o.File = shorten(a2a.Visible(text), 200), ""
			return
		}
	}
	whole := len(text)
	if text, o.Cut = cutText(text, most); o.Cut {
		o.About = join(o.About, "the first "+sizeText(len(text))+" of "+sizeText(whole)+" are shown")
		o.Whole = v.whole
	} else {
		o.About = "" // it is all there
	}
	v.show(o, p, text)
}

// How parts with text are shown.
const (
	asText     = "text"
	asMarkdown = "markdown"
	asTree     = "json"
	asTable    = "table"
)

// show adds a text to the object of its part, as its type or the reader wants it if that is possible.
func (v *viewer) show(o *object, p a2a.Part, text string) {
	o.As = v.kind(p)
	other := asText
	if !v.render(o, p, text) {
		o.Text, other = a2a.Visible(text), shown.When(p.Text != nil && o.As == asText, asMarkdown)
	}
	v.bytes = max(0, v.bytes-max(len(text), len(o.HTML)))
	if v.asPath != nil && other != "" {
		o.Other = v.asPath(other)
	}
}

// render adds a text that has a form of its own, and reports whether it has.
func (v *viewer) render(o *object, p a2a.Part, text string) bool {
	switch {
	case o.As == asMarkdown:
		o.HTML, _ = v.html(text, 4*usualMeasure.one) // one that is too long is shown as text
	case o.Cut:
	case o.As == asTree:
		o.Tree = nodeOf(p.Data)
	case o.As == asTable:
		o.Table = tableOf(text)
	}
	return o.Tree != nil || o.Table != nil || o.HTML != ""
}

func (v *viewer) kind(p a2a.Part) string {
	extension := strings.ToLower(path.Ext(p.Filename))
	switch kind := mediaType(p); {
	case v.as == asText, p.URL != nil:
		return asText
	case p.Data != nil:
		return asTree
	case kind == "text/csv", kind == "" && extension == ".csv":
		return asTable
	case v.as == asMarkdown, kind == "text/markdown", kind == "" && (extension == ".md" || extension == ".markdown"):
		return asMarkdown
	}
	return asText
}

// join joins two parts of a text. The first may be empty.
func join(a, b string) string { return strings.TrimPrefix(a+", "+b, ", ") }

func mediaType(p a2a.Part) string {
	kind, _, _ := mime.ParseMediaType(p.MediaType)
	return kind
}

// images are the types of content that pages show as an image. An SVG image is not shown: it may have scripts.
var images = []string{"image/png", "image/jpeg", "image/gif", "image/webp"}

type shownArtifact struct {
	a2a.Artifact
	ID    string // of its element
	Shown parts
}

// artifacts returns the artifacts of a task as a page shows them, and how many it leaves out.
func (v *viewer) artifacts(t a2a.Task) (out []shownArtifact, more int) {
	for n, a := range t.Artifacts {
		if v.left <= 0 {
			return out, len(t.Artifacts) - n
		}
		id := "r" + strconv.Itoa(n)
		out = append(out, shownArtifact{a, id, v.parts(id+"-", each(a.Parts, withLines), func(i int) string { return downloadPath(t.ID, a.ArtifactID, i) })})
	}
	return out, 0
}

// withLines returns a part; a text that is a JSON object or list has a line for each of its members.
func withLines(p a2a.Part) a2a.Part {
	if p.Text == nil {
		return p
	}
	text := strings.TrimSpace(*p.Text)
	if (strings.HasPrefix(text, "{") || strings.HasPrefix(text, "[")) && len(text) <= recordMeasure.bytes && json.Valid([]byte(text)) {
		p.Text = new(a2a.DataText(json.RawMessage(text)))
	}
	return p
}

// A file is content that a browser stores, and never opens as a page.
type file struct {
	Name, Type string
	Data       []byte
}

// download sends a part of an artifact as a file.
func download(v *visit) (view, error) {
	q := v.r.URL.Query()
	n, err := strconv.Atoi(q.Get("part"))
	if err != nil {
		n = -1
	}
	p, err := v.cfg.Service.Tasks.ReadContent(v.r.Context(), v.call, read.ContentParams{TaskID: q.Get("task"), ArtifactID: q.Get("artifact"), Part: n})
	if err != nil {
		return view{}, err
	}
	return view{File: fileOf(p, fmt.Sprintf("artifact-%d", n+1))}, nil
}

func downloadMessages(v *visit) (view, error) {
	o, err := v.cfg.Service.Objectives.GetObjective(v.r.Context(), v.call, read.GetObjectiveParams{ID: v.r.PathValue("id")})
	if err != nil {
		return view{}, err
	}
	t, err := v.cfg.Service.Tasks.GetTask(v.r.Context(), v.call, read.TaskParams{ID: o.Objective.RootID(), History: -1, Scope: shown.ScopeObjective})
	if err != nil {
		return view{}, err
	}
	data, err := json.MarshalIndent(t.History, "", "  ")
	return view{File: &file{Name: "messages.json", Type: "application/json", Data: data}}, err
}

// fileOf returns a part as a file. Its type says that it is text, an image or neither, and
// never what a browser would open as a page.
func fileOf(p a2a.Part, name string) *file {
	text, isText := p.Content()
	f, extension := &file{Type: "text/plain; charset=utf-8", Data: []byte(text)}, ".txt"
	switch kind := http.DetectContentType(p.Raw); {
	case !isText && slices.Contains(images, kind):
		f.Data, f.Type, extension = p.Raw, kind, "."+strings.TrimPrefix(kind, "image/")
	case !isText:
		f.Data, f.Type, extension = p.Raw, "application/octet-stream", ".bin"
	case p.Data != nil:
		f.Data, f.Type, extension = p.Data, "application/json", ".json"
	case p.Text != nil && mediaType(p) == "text/markdown":
		extension = ".md"
	}
	f.Name = cmp.Or(fileName(p.Filename), name+extension)
	return f
}

// Characters that names of files do without, and those that an underscore replaces.
var (
	hiddenForm = regexp.MustCompile(`[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+`)
	unsafeForm = regexp.MustCompile(`[^-_.() \p{L}\p{Nd}]`)
)

// fileName returns a name of others as one that is safe in any directory, "" if nothing of it is left.
func fileName(name string) string {
	name = hiddenForm.ReplaceAllString(path.Base(strings.ReplaceAll(name, `\`, "/")), "")
	name = unsafeForm.ReplaceAllString(name, "_")
	name = strings.Trim(name, ". ")
	if runes, extension := []rune(name), []rune(path.Ext(name)); len(runes) > mostLetters {
		if len(extension) > 10 {
			extension = nil
		}
		name = string(append(runes[:mostLetters-len(extension)], extension...))
	}
	if strings.Trim(name, "_") == "" {
		return ""
	}
	return name
}

// writeFile sends a file for a browser to store. Pages may show it as an image.
func writeFile(w http.ResponseWriter, f *file) {
	h := w.Header()
	h.Set("Content-Type", f.Type)
	h.Set("Content-Security-Policy", "default-src 'none'; sandbox")
	h.Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": f.Name}))
	h.Set("Content-Length", strconv.Itoa(len(f.Data)))
	w.WriteHeader(http.StatusOK)
	_, _ = w.Write(f.Data) // fails only if the client has disconnected
}

type shownMessage struct {
	a2a.Message
	ID    string    // of its element
	About *opt.Task // nil for the objective
	Shown parts
}

// messages returns messages about o as a page shows them, the latest first.
func (v *viewer) messages(o *opt.Objective, list []a2a.Message) (out []shownMessage) {
	for i, m := range slices.Backward(list) {
		parts := each(m.Parts, withLines)
		if m.Text() != "" { // data is the same for programs
			parts = slices.DeleteFunc(parts, func(p a2a.Part) bool { return p.Data != nil })
		}
		_, about := taskOf(o, m.TaskID)
		id := "m" + strconv.Itoa(i)
		out = append(out, shownMessage{m, id, about, v.parts(id+"-", parts, nil)})
	}
	return out
}
