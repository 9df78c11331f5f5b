package console

import (
	"html/template"
	"mime"
	"net/http"
	"path"
	"slices"
	"strconv"
	"strings"

	"longhaul/a2a"
)

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

// A viewer shows parts.
type viewer struct {
	markdown
	measure
	as     string                 // how texts are shown: asMarkdown, asText, or "" for what their types say
	whole  string                 // path of the page with all of the parts, "" on that page
	asPath func(as string) string // of the page that shows texts in another way; nil for none
}

// The parts of something as a page shows them.
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
		o := v.object(p, min(v.one, v.bytes))
		o.ID = id + strconv.Itoa(i)
		if file != nil && o.Link == "" {
			o.File = file(i)
		}
		if o.Image != "" {
			o.Image = o.File
		}
		if o.Cut {
			o.Whole = v.whole
		}
		out.List = append(out.List, o)
	}
	return out
}

// object returns a part with at most some bytes of it. Large contents, to which a part refers, are not read.
func (v *viewer) object(p a2a.Part, most int) object {
	o := object{Name: shorten(a2a.Visible(p.Filename), mostLetters), About: shorten(a2a.Visible(mediaType(p)), 40)}
	text := ""
	switch {
	case p.Ref != nil:
		o.About = join(o.About, sizeText(p.Ref.Size))
		if p.Ref.Member == "raw" && slices.Contains(images, mediaType(p)) {
			o.Image = "image"
		}
		return o
	case p.Raw != nil:
		o.About = join(o.About, sizeText(len(p.Raw)))
		if slices.Contains(images, http.DetectContentType(p.Raw)) {
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
	whole := len(text)
	if text, o.Cut = cutText(text, most); o.Cut {
		o.About = join(o.About, "the first "+sizeText(len(text))+" of "+sizeText(whole)+" are shown")
	} else {
		o.About = "" // it is all there
	}
	v.show(&o, p, text)
	return o
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
	switch {
	case o.As == asTree && !o.Cut:
		o.Tree = nodeOf(p.Data)
	case o.As == asTable && !o.Cut:
		o.Table = tableOf(text)
	case o.As == asMarkdown:
		if html, err := v.html(text); err == nil && len(html) <= 4*usualMeasure.one {
			o.HTML = html
		}
	}
	other := asText
	if o.Tree == nil && o.Table == nil && o.HTML == "" {
		o.Text, other = a2a.Visible(text), ""
		if p.Text != nil && o.As == asText {
			other = asMarkdown
		}
	}
	v.bytes = max(0, v.bytes-max(len(text), len(o.HTML)))
	if v.asPath != nil && other != "" {
		o.Other = v.asPath(other)
	}
}

// kind returns how a part with text is shown.
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
