package console

import (
	"html/template"
	"mime"
	"net/http"
	"path"
	"strconv"
	"strings"

	"longhaul/a2a"
)

// Sizes in bytes of what a page shows of the parts of an object.
const (
	mostOfPart  = 16 << 10  // of one part
	mostOfParts = 64 << 10  // of all parts
	mostOfWhole = 200 << 10 // of all parts, if the reader asks for all
	manyParts   = 100       // how many parts are shown
)

// An object is a part of the object of a gate, or of a result, for the template "object".
// One of Text, HTML, Image and Link is set, or none for a file that can only be stored.
type object struct {
	ID    string // of its element
	Name  string
	About string // its type and size
	Text  string
	HTML  template.HTML // of Markdown, of JSON as a tree or of a table
	Image string        // path of the image
	Link  string        // to another site
	File  string        // path for storing it, "" for none
	Cut   bool          // Text or HTML is only the beginning
	Whole string        // path of the page with all of it, "" for none
	As    string        // how it is shown: asText, or what HTML is of
	Other string        // path of the page with the source of HTML, or with a text as Markdown
	Diff  *comparison   // with the object that was sent back, nil if there was none
}

// A viewer says how a page shows parts.
type viewer struct {
	Markdown markdown
	ID       string           // of the elements, before the number of the part
	File     func(int) string // path for storing the n-th part
	Most     int              // bytes of all parts, 0 for the usual
	Whole    string           // path of the page with all of the parts, "" on that page
	As       string           // how texts are shown: asMarkdown, asText, or "" for what their types say
	AsPath   func(as string) string
}

// objects returns parts as a page shows them, and how many it leaves out.
func (v viewer) objects(parts []a2a.Part) (out []object, more int) {
	one, left := mostOfPart, mostOfParts
	if v.Whole == "" {
		one, left = mostOfWhole, mostOfWhole
	}
	if v.Most > 0 {
		one, left = min(one, v.Most), v.Most
	}
	for i, p := range parts {
		if i == manyParts {
			return out, len(parts) - i
		}
		o := v.object(p, min(one, left))
		o.ID = v.ID + strconv.Itoa(i)
		if o.Link == "" {
			o.File = v.File(i)
		}
		if o.Image != "" {
			o.Image = o.File
		}
		if o.Cut {
			o.Whole = v.Whole
		}
		left -= len(o.Text) + len(o.HTML)
		left = max(left, 0)
		out = append(out, o)
	}
	return out, 0
}

// object returns a part with at most some bytes of it.
func (v viewer) object(p a2a.Part, most int) object {
	o := object{Name: shorten(a2a.Visible(p.Filename), mostLetters), About: mediaType(p)}
	text, kind := "", v.kind(p)
	switch {
	case p.Raw != nil:
		o.About = join(o.About, sizeText(len(p.Raw)))
		if isImage(http.DetectContentType(p.Raw)) {
			o.Image = "image"
		}
		return o
	case p.URL != nil:
		if o.Link = webLink(*p.URL); o.Link != "" {
			o.Text = shorten(a2a.Visible(*p.URL), 200)
			return o
		}
		text = *p.URL
	case p.Data != nil:
		text = a2a.DataText(p.Data)
	case p.Text != nil:
		text = *p.Text
	}
	o.About = join(o.About, sizeText(len(text)))
	whole := len(text)
	text, o.Cut = cutText(text, most)
	if o.Cut {
		o.About = join(o.About, "the first "+sizeText(len(text))+" of "+sizeText(whole)+" are shown")
	}
	if html, ok := v.html(p, text, kind); ok && (!o.Cut || kind == asMarkdown) && len(html) <= 4*mostOfPart {
		o.HTML, o.As, o.Other = html, kind, v.other(asText)
		return o
	}
	o.Text, o.As = a2a.Visible(text), asText
	if p.Text != nil && kind == asText {
		o.Other = v.other(asMarkdown)
	}
	return o
}

// How parts with text are shown.
const (
	asText     = "text"
	asMarkdown = "markdown"
	asTree     = "json"
	asTable    = "table"
)

// html returns the text of a part as HTML of a kind; ok is false if it is none.
func (v viewer) html(p a2a.Part, text, kind string) (html template.HTML, ok bool) {
	switch kind {
	case asMarkdown:
		html, err := v.Markdown.html(text)
		return html, err == nil
	case asTree:
		return treeHTML(p.Data)
	case asTable:
		return tableHTML(text)
	}
	return "", false
}

// kind returns how a part with text is shown.
func (v viewer) kind(p a2a.Part) string {
	extension := strings.ToLower(path.Ext(p.Filename))
	switch kind := mediaType(p); {
	case v.As == asText, p.URL != nil:
		return asText
	case p.Data != nil:
		return asTree
	case kind == "text/csv", kind == "" && extension == ".csv":
		return asTable
	case v.As == asMarkdown, kind == "text/markdown", kind == "" && (extension == ".md" || extension == ".markdown"):
		return asMarkdown
	}
	return asText
}

// other returns the path of the page that shows texts in another way.
func (v viewer) other(as string) string {
	if v.AsPath == nil {
		return ""
	}
	return v.AsPath(as)
}

// join joins two parts of a text. The first may be empty.
func join(a, b string) string {
	if a == "" {
		return b
	}
	return a + ", " + b
}

func mediaType(p a2a.Part) string {
	kind, _, _ := mime.ParseMediaType(p.MediaType)
	return kind
}

// isImage reports whether pages show content of a type as an image. An SVG image is not
// shown: it may have scripts.
func isImage(mediaType string) bool {
	switch mediaType {
	case "image/png", "image/jpeg", "image/gif", "image/webp":
		return true
	}
	return false
}
