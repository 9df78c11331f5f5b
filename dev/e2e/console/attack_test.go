package console_test

import (
	"strings"
	"testing"
	"unicode"

	"longhaul/dev/e2e/harness"
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
		} {
			b.open(path)
			b.sees(strings.Fields(h.text)[0])
			b.isInert(path)
		}
	}
}

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
