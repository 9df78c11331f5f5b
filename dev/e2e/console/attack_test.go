package console_test

import (
	"encoding/json"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode"

	"go.temporal.io/sdk/client"

	"longhaul/a2a"
	"longhaul/dev/e2e/harness"
	"longhaul/internal/test"
	"longhaul/opt"
)

// hostile are texts that would do something, or deceive, if a page did not show them as
// text. Each has the word that shows that it is visible.
var hostile = []struct{ name, text string }{
	{"script", `inert-1 <script>alert(1)</script><img src=x onerror=alert(2)>`},
	{"svg", `inert-2 <svg onload=alert(3)><a href="javascript:alert(4)">press</a></svg>`},
	{"link", `inert-3 javascript:alert(5) data:text/html,<script>alert(6)</script>`},
	{"markdown", `inert-4 [press](javascript:alert(7)) ![see](https://elsewhere.invalid/x.png) <iframe src="https://elsewhere.invalid"></iframe>`},
	{"template", `inert-5 {{.Title}} "'></textarea></title></style><h1>taken over</h1>`},
	{"bidi", "inert-6 \u202egnp.exe\u202c \u2066left\u2069"},
	{"huge", "inert-8 " + strings.Repeat("<b>huge</b> ", 75_000)},
	{"long", "inert-7 " + strings.Repeat("long ", 400) + strings.Repeat("W", 2000)},
}

// Texts of others do nothing: no dialog, no violation of the policy, no request elsewhere,
// which fail the test by themselves, and no element of theirs in the page.
func testAttack(t *testing.T, o *office) {
	b := o.enter(t, "ann")
	for _, h := range hostile {
		name := oneLine(h.text)
		script := h.text[:min(len(h.text), 4000)] // the message has all of it
		plan := &harness.Plan{Name: name, Tasks: []harness.PlanTask{{Name: name, Description: "say " + script}, {Name: name, Description: "approve " + script}}}
		m := harness.Message{ID: "attack-" + h.name, Text: h.text, Plan: plan, ContextID: "context-" + h.name, Wait: true}
		task, err := o.as("ann").Send(t.Context(), m)
		if err != nil || task.Gate == nil {
			t.Fatalf("%s: %+v, %v", h.name, task, err)
		}
		for _, path := range []string{
			"/console/inbox", "/console/inbox/" + task.Gate.ID, "/console/objectives/" + task.ID, "/console/objectives/" + task.ID + "/timeline", "/console/objectives",
			"/console/objectives/" + task.ID + "?task=1-0", "/console/objectives/" + task.ID + "?task=1-1",
		} {
			b.open(path)
			b.sees(strings.Fields(h.text)[0])
			b.isInert(path)
		}
		for text, want := range map[string]string{script + " notes": "Publish the notes?", script: "A worker makes the plan once the objective has begun"} {
			b.open("/console/new?text=" + url.QueryEscape(text))
			b.click("button", "Show the plan")
			b.sees(strings.Fields(h.text)[0], want)
			b.isInert("the preview of " + h.name)
		}
	}
	o.attackByFiles(t, b)
}

// hostileParts are parts of results that would do something if a page opened them, showed
// them as what they say they are, or led where they say.
func hostileParts() []a2a.Part {
	const svg, page = `<svg xmlns="http://www.w3.org/2000/svg" onload="alert(10)"><script>alert(11)</script></svg>`, `<!DOCTYPE html><script>alert(12)</script><h1>taken over</h1>`
	name := "inert-9 \u202egnp.exe\u202c \"><img src=x onerror=alert(13)> ../../etc/passwd\r\nX-Evil: 1"
	parts := []a2a.Part{
		{Raw: []byte(svg), Filename: name + ".svg", MediaType: "image/svg+xml"},
		{Raw: []byte(svg), Filename: "inert-10.png", MediaType: "image/png"},
		{Raw: []byte(page), Filename: "inert-11.html", MediaType: "text/html"},
		{Text: new(page), Filename: "inert-12.html", MediaType: "text/html"},
		{Text: new(svg), Filename: "inert-13.svg", MediaType: "image/svg+xml"},
		{Text: new("[press](javascript:alert(14)) <img src=x onerror=alert(15)> ![see](data:image/svg+xml,x)"), Filename: "inert-14.md", MediaType: "text/markdown"},
		{Data: []byte(`{"inert-15": "</pre><script>alert(16)</script>\u202e"}`), MediaType: `application/json"><script>alert(17)</script>`},
	}
	for _, address := range []string{"javascript:alert(18)", "JaVaScRiPt:alert(19)", " javascript:alert(20)", "data:text/html,<script>alert(21)</script>", "https://user:pass@elsewhere.invalid/", "//elsewhere.invalid/", "https://elsewhere.invalid/\u202egnp.exe"} {
		parts = append(parts, a2a.Part{URL: new(address), Filename: "inert-16 " + address, MediaType: "text/html"})
	}
	return parts
}

// attackByFiles has hostile files and addresses as results and as the object of a question,
// recorded as they are: the service refuses some of them.
func (o *office) attackByFiles(t *testing.T, b *tab) {
	t.Helper()
	objective, question := o.askAbout(t, "attack", hostileParts(), "")
	for _, path := range []string{objective, objective + "?task=1-0", objective + "?task=1-1", objective + "/timeline", question, question + "?as=markdown", question + "?as=text", question + "?all=1"} {
		b.open(path)
		if strings.HasSuffix(path, "1-0") || strings.HasPrefix(path, question) {
			b.sees("inert-9", "inert-10.png", "inert-12.html", "inert-15", "inert-16")
		}
		b.isInert(path)
		files, err := eval[[]string](b, downloads)
		if err != nil || len(files) > 0 {
			t.Errorf("%s has files that a browser may open: %q, %v", path, files, err)
		}
	}
}

// askAbout records a question about an object, as the service would refuse it or has no program
// that makes it, and returns the pages of its objective and of itself. name has six letters, and
// more is JSON for the gate.
func (o *office) askAbout(t *testing.T, name string, object []a2a.Part, more string) (objective, question string) {
	t.Helper()
	gate := o.begin(t, "Write notes about "+name)
	ref, _ := opt.ParseID(gate[:strings.LastIndexByte(gate, ':')])
	unique := strings.TrimPrefix(ref.ObjectiveID, "obj-")
	other := unique[:len(unique)-6] + name
	parts := test.Value(json.Marshal(object))(t)
	draft := regexp.MustCompile(`\[\{"text":"# Tea[^}]*\}\]`)
	o.run(t, "obj-"+other, "plan-"+other+"-1")
	o.record(t, ref.ObjectiveID, "obj-"+other, 0, func(events string) string {
		if len(draft.FindAllString(events, -1)) < 2 {
			t.Fatalf("no result and no object in %s", events)
		}
		events = strings.ReplaceAll(events, `"title":"Publish the notes?"`, `"title":"Publish the notes?"`+more)
		return draft.ReplaceAllLiteralString(strings.ReplaceAll(events, unique, other), string(parts))
	})
	return "/console/objectives/obj-" + other, "/console/inbox/" + strings.ReplaceAll(gate, unique, other)
}

// run begins workflows that no worker has, so that work that was only recorded is not taken for
// work whose workflows are gone.
func (o *office) run(t *testing.T, ids ...string) {
	t.Helper()
	c := o.site.Temporal(t)
	defer c.Close()
	for _, id := range ids {
		options := client.StartWorkflowOptions{ID: id, TaskQueue: "nobody", WorkflowExecutionTimeout: time.Hour}
		test.OK(t, test.Err(c.ExecuteWorkflow(t.Context(), options, "Nothing")))
	}
}

// downloads is a script that lists the files of a page that a browser would not store, or
// would run.
const downloads = `Promise.all([...new Set([...document.querySelectorAll("a[download], img")].map((e) => e.href ?? e.src))].map(async (url) => {
	const r = await fetch(url), h = (name) => r.headers.get(name) ?? "";
	const stored = h("Content-Disposition").startsWith("attachment") && !/[\u202a-\u202e]|%E2%80%AE|X-Evil:/i.test(h("Content-Disposition")) && h("X-Evil") === "";
	const inert = /^(text\/plain|application\/octet-stream|application\/json|image\/(png|jpeg|gif|webp))(;|$)/.test(h("Content-Type")) && h("X-Content-Type-Options") === "nosniff" && h("Content-Security-Policy").includes("sandbox");
	return r.ok && stored && inert ? "" : url + ": " + r.status + " " + h("Content-Disposition") + " " + h("Content-Type");
})).then((all) => all.filter(Boolean))`

// oneLine returns what a name may have of a text: names have no control characters.
func oneLine(text string) string {
	text = strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Cf, r) {
			return -1
		}
		return r
	}, text)
	return text[:min(len(text), 250)]
}

// foreign is a script that lists elements that no page of the console has of its own, and
// text whose direction is overridden.
const foreign = `[...[...document.querySelectorAll("script:not([src^='/console/assets/']), iframe, object, embed, [onload], [onerror], [onclick], [style], a[href^='javascript:' i], a[href^='data:' i], img:not([src^='/console/'])")].map((e) => e.outerHTML.slice(0, 200)),
	...[...document.querySelectorAll("h1")].filter((e) => e.textContent.includes("taken over") && e.childElementCount === 0 && e.textContent.trim() === "taken over").map((e) => e.outerHTML),
	...(/[\u202a-\u202e\u2066-\u2069]/.test([...document.querySelectorAll("body *:not(bdi):not(bdi *)")].flatMap((e) => [...e.childNodes]).filter((n) => n.nodeType === 3).map((n) => n.data).join(" ")) ? ["text with a changed direction outside of bdi"] : [])]`

// isInert checks that nothing in the page comes from the texts of others but text.
func (b *tab) isInert(at string) {
	b.t.Helper()
	found, err := eval[[]string](b, foreign)
	if err != nil || len(found) > 0 {
		b.t.Errorf("%s has %q, %v", at, found, err)
	}
	if size, err := eval[int](b, "document.documentElement.outerHTML.length"); err != nil || size > largest {
		b.t.Errorf("%s has %d letters, %v", at, size, err)
	}
	b.resize(360, 780)
	b.fits(at)
	b.resize(1280, 900)
}
