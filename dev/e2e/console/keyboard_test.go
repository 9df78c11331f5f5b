package console_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/chromedp/chromedp/kb"

	"longhaul/internal/test"
)

// controls is a script that lists what the keyboard has to reach, in the order of the page.
// It keeps the elements: attributes of tests go when the page is refreshed.
const controls = `(window.stops = [...document.querySelectorAll("a[href], button, input:not([type=hidden]), select, textarea, summary, [tabindex='0']")]
	.filter((e) => e.checkVisibility({visibilityProperty: true}) && !e.disabled && !(e.type === "radio" && !e.checked && e.form?.querySelector("[name='" + e.name + "']:checked"))))
	.map((e, i) => i + " " + e.outerHTML.slice(0, 120))`

// focused is a script that describes the control that has the focus, and how it shows it.
const focused = `(() => {
	const e = document.activeElement, style = getComputedStyle(e);
	return [String(stops.indexOf(e)), style.outlineStyle === "none" || parseFloat(style.outlineWidth) < 2 ? "unseen" : "seen", e.outerHTML.slice(0, 120)];
})()`

// tabs presses Tab until all controls of the page had the focus, each visibly and in their
// order.
func (b *tab) tabs() {
	b.t.Helper()
	defer b.holdRefresh()()
	all, err := eval[[]string](b, controls)
	if err != nil || len(all) == 0 {
		b.t.Fatalf("the page has no controls: %v", err)
	}
	test.OK(b.t, test.Err(eval[any](b, "document.activeElement.blur(); null")))
	var reached []string
	for range 2 * len(all) {
		b.press(kb.Tab)
		at := test.Value(eval[[]string](b, focused))(b.t)
		if at[0] == "-1" || slices.Contains(reached, at[0]) {
			break
		}
		if at[1] != "seen" {
			b.t.Errorf("the focus cannot be seen at %s", at[2])
		}
		reached = append(reached, at[0])
	}
	var want []string
	for i := range all {
		want = append(want, fmt.Sprint(i))
	}
	if !slices.Equal(reached, want) {
		b.t.Errorf("%s: Tab reaches the controls %v, want %v of %q", b.path(), reached, want, all)
	}
}

// The keyboard alone is enough.
func testKeyboard(t *testing.T, o *office) {
	b := o.newTab(t)
	b.open("/console/sign-in")
	b.tabs()
	b.fill("API key", o.keys["ann"])
	b.press(kb.Enter)
	b.sees("Sign out")
	gate := o.begin(t, "Write notes about keys")
	for _, path := range []string{"/console/", "/console/inbox", "/console/inbox/" + gate, "/console/objectives", "/console/new"} {
		b.open(path)
		b.tabs()
	}
	b.open("/console/inbox")
	b.press(kb.Tab)
	b.press(kb.Enter) // skips to the content
	if at, err := eval[string](b, "document.activeElement.id"); err != nil || at != "main" {
		t.Errorf("the link that skips to the content leads to %q, %v", at, err)
	}
}
