package console_test

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"longhaul/a2a"
	"longhaul/internal/test"
)

var png, _ = base64.StdEncoding.DecodeString("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==")

func text(s, media, name string) a2a.Part {
	return a2a.Part{Text: &s, MediaType: media, Filename: name}
}

func link(s string) a2a.Part { return a2a.Part{URL: &s} }

// elements returns the elements of the main part of a page with their attributes.
func elements(t *testing.T, page string) (list []string) {
	t.Helper()
	_, main, ok := strings.Cut(page, `<main id="main"`)
	if !ok {
		t.Fatal("the page has no main part")
	}
	for z := html.NewTokenizer(strings.NewReader(main)); ; {
		switch z.Next() {
		case html.ErrorToken:
			return list
		case html.StartTagToken, html.SelfClosingTagToken:
			token := z.Token()
			list = append(list, token.Data)
			for _, a := range token.Attr {
				list = append(list, token.Data+"."+a.Key+"="+a.Val)
			}
		}
	}
}

// Content of others has no effect in a page: no elements, no attributes, no addresses of
// its own.
func TestObject_hostile(t *testing.T) {
	const script = `<script>alert(1)</script>`
	hostile := "# Title\n" + script + "\n\n<img src=x onerror=alert(1)> <b style=\"color:red\">b</b>\n\n" +
		"[a](javascript:alert(1)) [b](data:text/html,x) [c](//evil.example) [d](https://ok.example/x) [e](jAvAsCrIpT&colon;alert(1)) <javascript:alert(1)> <https://auto.example>\n\n" +
		"![pixel](https://spy.example/p.png) [ref]\n\n[ref]: javascript:alert(2)\n\nHidden \u202etxt\u202c &#x202e;entity\n\n<!-- comment -->\n\n<svg onload=alert(1)>\n"
	svg := a2a.Part{Raw: []byte(`<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>`), MediaType: "image/png", Filename: "../../etc/\u202egnp.svg"}
	page := a2a.Part{Raw: []byte("<html>" + script), MediaType: "text/html", Filename: "a\"b\r\nc.html"}
	s := begin(t, approval(text(hostile, "text/markdown", ""), text(script+" \u202e x", "", script), a2a.DataPart(map[string]string{"k": script}), svg, page,
		link("javascript:alert(1)"), link("https://ok.example/<y>")))
	s.send(t, "acme/carl", "Go")
	gate, b := s.open(t), s.signedIn(t, "acme/ann")
	for _, path := range []string{"", "?as=markdown", "?as=text", "?all=1"} {
		p := b.get("/console/inbox/" + gate + path)
		if p.status != http.StatusOK {
			t.Fatalf("%s: %d", path, p.status)
		}
		for _, e := range elements(t, p.html) {
			name, value, isAttribute := strings.Cut(e, "=")
			switch _, attribute, _ := strings.Cut(name, "."); {
			case !isAttribute && regexp.MustCompile(`^(script|svg|iframe|object|embed|b|base|link|style)$`).MatchString(e):
				t.Errorf("%s: there is an element %s", path, e)
			case strings.HasPrefix(attribute, "on"), attribute == "style":
				t.Errorf("%s: there is an attribute %s", path, e)
			case name == "a.href" && !regexp.MustCompile(`^(/console/|\?|#|https://(ok|auto|spy)\.example)`).MatchString(value), name == "img.src" && !strings.HasPrefix(value, "/console/"):
				t.Errorf("%s: there is an address %s", path, e)
			}
		}
		if strings.ContainsAny(p.html, "\u202e\u202c") || strings.Contains(strings.ToLower(p.html), "&#x202e") {
			t.Errorf("%s: characters that change the direction are invisible", path)
		}
	}
	p := b.get("/console/inbox/" + gate)
	p.holds(t, "<h3>Title</h3>", `<a href="https://ok.example/x" rel="noreferrer noopener">d</a>`, `<a href="https://spy.example/p.png" rel="noreferrer noopener">Image: pixel</a>`, "‹U+202E›",
		"<pre><code>&lt;script&gt;alert(1)&lt;/script&gt;", `&lt;b style=&quot;color:red&quot;&gt;b&lt;/b&gt;`, "&lt;!-- comment --&gt;", "&lt;svg onload=alert(1)&gt;")
	for n, want := range map[string][2]string{"3": {"application/octet-stream", "attachment; filename=gnp.svg"}, "4": {"application/octet-stream", "attachment; "}, "1": {"text/plain; charset=utf-8", "attachment; "}} {
		h := b.get("/console/inbox/" + gate + "/parts/" + n).header
		if h.Get("Content-Type") != want[0] || !strings.HasPrefix(h.Get("Content-Disposition"), want[1]) || h.Get("X-Content-Type-Options") != "nosniff" || h.Get("Content-Security-Policy") != "default-src 'none'; sandbox" {
			t.Errorf("part %s has the headers %v", n, h)
		}
	}
	for _, n := range []string{"7", "-1", "x"} {
		b.get("/console/inbox/"+gate+"/parts/"+n).shows(t, http.StatusNotFound)
	}
}

// The address of a link is the one that its Markdown means, and is judged as that.
func TestObject_addressesInMarkdown(t *testing.T) {
	source := `[a](https://a.example/?x=1&amp;y=2) [b](https://b.example/a\_b\(c) [c](https&colon;//c.example/) ![d](https://d.example/?x&#61;1&#x26;y) [e](javascript&#58;alert(1))`
	s := begin(t, approval(text(source, "text/markdown", "")))
	s.send(t, "acme/carl", "Go")
	p := s.signedIn(t, "acme/ann").get("/console/inbox/" + s.open(t))
	p.holds(t, `href="https://a.example/?x=1&amp;y=2" rel="noreferrer noopener">a</a>`, `href="https://b.example/a_b(c" rel="noreferrer noopener">b</a>`,
		`href="https://c.example/" rel="noreferrer noopener">c</a>`, `href="https://d.example/?x=1&amp;y" rel="noreferrer noopener">Image: d</a>`, "e (javascript:alert(1))")
}

// Images are shown by their content, all else is a file.
func TestObject_images(t *testing.T) {
	s := begin(t, approval(a2a.Part{Raw: png, MediaType: "application/x-other", Filename: "dot.png"}, a2a.Part{Raw: []byte("no image"), MediaType: "image/png"}))
	s.send(t, "acme/carl", "Go")
	gate, b := s.open(t), s.signedIn(t, "acme/ann")
	p := b.get("/console/inbox/" + gate)
	path := "/console/inbox/" + strings.ReplaceAll(gate, ":", "%3A") + "/parts/0"
	page{html: strings.ReplaceAll(p.html, ":1/parts", "%3A1/parts")}.holds(t, `<img src="`+path+`" alt="Image dot.png"`)
	test.Is(t, "images", 1, strings.Count(p.html, "<img"))
	if image := b.get(path); image.html != string(png) || image.header.Get("Content-Type") != "image/png" {
		t.Errorf("the image has the headers %v", image.header)
	}
}

// The links of a page keep how it shows texts, and how much of them.
func TestObject_ways(t *testing.T) {
	s := begin(t, approval(text(strings.Repeat("word ", 6000), "", ""), text("> "+strings.Repeat("word ", 20), "", "")))
	s.send(t, "acme/carl", "Go")
	gate, b := s.open(t), s.signedIn(t, "acme/ann")
	path := "/console/inbox/" + gate
	at := func(query string) string {
		return `href="/console/inbox/` + strings.ReplaceAll(gate, ":", "%3A") + query + `"`
	}
	for query, want := range map[string][]string{
		"":                   {at("?all=1"), at("?as=markdown")},
		"?as=markdown":       {at("?all=1&amp;as=markdown"), at("?as=text")},
		"?all=1":             {at("?all=1&amp;as=markdown")},
		"?all=1&as=markdown": {at("?all=1&amp;as=text")},
		"?as=other":          {at("?all=1"), at("?as=markdown")},
	} {
		page{path: query, html: strings.ReplaceAll(b.get(path+query).html, ":1?", "%3A1?")}.holds(t, want...)
	}
}

// A Markdown text that is too large to be shown as such is shown as it is, without a link
// that would show the same.
func TestObject_noOtherWay(t *testing.T) {
	s := begin(t, approval(text(strings.Repeat("[x](http://a.example) ", 2_000), "text/markdown", "")))
	s.send(t, "acme/carl", "Go")
	p := s.signedIn(t, "acme/ann").get("/console/inbox/" + s.open(t) + "?all=1")
	p.wants(t, "[x](http://a.example)", "!Show as Markdown", "!Show the source")
}

// A large text is cut: the page stays small, and all of it is one step away.
func TestObject_large(t *testing.T) {
	large := strings.Repeat("0123456789 abcdef\n", 60_000)
	s := begin(t, approval(text(large, "text/plain", "big.txt"), text(strings.Repeat("[x](http://a.example) ", 20_000), "text/markdown", "")))
	s.send(t, "acme/carl", "Go")
	gate, b := s.open(t), s.signedIn(t, "acme/ann")
	p := b.get("/console/inbox/" + gate)
	if len(p.html) > 300<<10 {
		t.Errorf("the page has %d bytes", len(p.html))
	}
	p.wants(t, "Show all", "Download", "the first 16 KiB of 1.0 MiB are shown")
	if whole := b.get("/console/inbox/" + gate + "?all=1"); len(whole.html) < 200<<10 || len(whole.html) > 1<<20 {
		t.Errorf("the page with all of it has %d bytes", len(whole.html))
	}
	if file := b.get("/console/inbox/" + gate + "/parts/0"); file.html != large || file.header.Get("Content-Disposition") != "attachment; filename=big.txt" {
		t.Errorf("the file has %d bytes and the headers %v", len(file.html), file.header)
	}
}

// Many parts are cut, too: those after the first ones have less room.
func TestObject_many(t *testing.T) {
	parts := slices.Repeat([]a2a.Part{text(strings.Repeat("0123456789 abcdef\n", 1000), "text/plain", "")}, 8)
	s := begin(t, approval(parts...))
	s.send(t, "acme/carl", "Go")
	p := s.signedIn(t, "acme/ann").get("/console/inbox/" + s.open(t))
	if len(p.html) > 100<<10 || strings.Count(p.html, "<figure") != len(parts) || !strings.Contains(p.text, "It is too much to be shown here.") {
		t.Errorf("the page has %d bytes and %d parts", len(p.html), strings.Count(p.html, "<figure"))
	}
}

// JSON is shown as a tree, and comma-separated values as a table, unless they are too large or
// broken.
func TestObject_forms(t *testing.T) {
	s := begin(t, approval(
		a2a.Part{Data: json.RawMessage(`{"to":"Yard","lines":[{"amount":12.50,"paid":false}],"none":[],"note":null}`)},
		a2a.Part{Text: new("name,pieces\n\"Cups, blue\",12\n"), Filename: "cups.csv"},
		a2a.Part{Text: new("name,pieces\n\"Cups"), MediaType: "text/csv"},
		a2a.Part{Data: json.RawMessage(strings.Repeat("[", 40) + strings.Repeat("]", 40))},
	))
	s.send(t, "acme/carl", "Go")
	gate, b := s.open(t), s.signedIn(t, "acme/ann")
	p := b.get("/console/inbox/" + gate)
	p.holds(t, `<ul><li><strong>to</strong><span>Yard</span></li><li><details open><summary><strong>lines</strong></summary><ul><li><details open><summary><strong>1</strong></summary><ul><li><strong>amount</strong><code>12.50</code></li><li><strong>paid</strong><code>false</code></li></ul></details></li></ul></details></li><li><strong>none</strong><i>none</i></li><li><strong>note</strong><code>null</code></li></ul>`)
	p.holds(t, `<tr><th scope="col">name</th><th scope="col">pieces</th></tr>`, "<tr><td>Cups, blue</td><td>12</td></tr>")
	p.holds(t, "name,pieces\n&#34;Cups</pre>")
	p.wants(t, "to Yard")
	b.get("/console/inbox/"+gate+"?as=text").holds(t, "&#34;amount&#34;: 12.50", "name,pieces\n&#34;Cups, blue&#34;,12")
	if n := strings.Count(p.html, `class="json"`); n != 1 {
		t.Errorf("there are %d trees", n)
	}
}

// What a page does for a text is no more than a multiple of its length, however it is made.
func TestObject_costs(t *testing.T) {
	numbers := make([]string, 1<<14)
	for i := range numbers {
		numbers[i] = strconv.Itoa(i)
	}
	line := strings.Join(numbers, " ")
	references := "[a]: http://x.example/" + strings.Repeat("b", 32<<10) + "\n\n" + strings.Repeat("[a] ", 8<<10)
	s := begin(t, approval(a2a.TextPart(line)))
	s.send(t, "acme/carl", "Go")
	gate, b := s.open(t), s.signedIn(t, "acme/ann")
	b.answer(gate, b.get("/console/inbox/"+gate), "action", "refine", "feedback", "Shorter")
	s.world.Gate(gate[:strings.LastIndexByte(gate, ':')], *approval(a2a.TextPart(strings.ReplaceAll(line, " ", "-")), text(references, "text/markdown", "")))
	gate = s.open(t)
	for _, query := range []string{"", "?all=1"} { // the first one without most of the references
		if n := allocated(func() { b.get("/console/inbox/" + gate + query) }); n > 512<<20 {
			t.Errorf("%s: %d MB", query, n>>20)
		}
	}
}

// allocated returns how many bytes work allocates.
func allocated(work func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	work()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}
