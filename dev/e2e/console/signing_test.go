package console_test

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"
)

// People sign in with their key, see when it is wrong, sign out, and see when their
// session has ended.
func testSigning(t *testing.T, o *office) {
	b := o.newTab(t)
	b.allow("status of 401")
	b.open("/console/inbox?show=all")
	b.at("/console/sign-in")
	b.fill("API key", "lh_wrong")
	b.press(kb.Enter)
	b.sees("not valid")
	b.fill("API key", o.keys["carol"])
	b.press(kb.Enter)
	b.at("/console/inbox")
	b.sees("carol")

	b.click("button", "Sign out")
	b.at("/console/sign-in")
	b.open("/console/inbox")
	b.at("/console/sign-in")

	o.signIn(b, "carol")
	b.open("/console/inbox")
	o.revoke(t, "carol")
	b.sees("signed out") // by the script, without a reload
	b.reload()
	b.at("/console/sign-in")
	b.sees("Your session has ended")
}

// revoke ends the key of a person.
func (o *office) revoke(t *testing.T, name string) {
	t.Helper()
	id := strings.Split(o.keys[name], "_")[1]
	o.site.Run("keys", "revoke", id, "--data-dir", o.site.Dir)
}
