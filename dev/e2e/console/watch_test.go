package console_test

import (
	"fmt"
	"strings"
	"testing"

	"longhaul/internal/test"
)

// The tabs of these tests notice what must not happen: a script in a page, one that fails,
// a request to another site. Otherwise no other test here could find it.
func testWatching(t *testing.T, o *office) {
	b := o.newTab(t)
	b.allow("The policy refuses", "violates", "a script failed", "a request to another site", "net::ERR", "Fetch API cannot load")
	b.open("/console/sign-in")
	for _, script := range []string{
		`document.body.append(Object.assign(document.createElement("script"), {text: "document.title = 'broken'"}))`,
		`document.body.append(Object.assign(document.createElement("img"), {src: "https://elsewhere.invalid/"}))`,
		`setTimeout(() => { throw new Error("on purpose"); })`,
	} {
		test.OK(t, test.Err(eval[any](b, script+"; null")))
	}
	b.await(func() error {
		b.mu.Lock()
		defer b.mu.Unlock()
		seen := strings.Join(b.faults, "\n")
		for _, want := range []string{"The policy refuses script-src-elem inline", "The policy refuses img-src", "a script failed"} {
			if !strings.Contains(seen, want) {
				return fmt.Errorf("no fault says %q: %s", want, seen)
			}
		}
		return nil
	})
	if title, err := eval[string](b, "document.title"); err != nil || title == "broken" {
		t.Errorf("a script in a page ran: the title is %q, %v", title, err)
	}
}
