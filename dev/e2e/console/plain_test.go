package console_test

import (
	"testing"

	"github.com/chromedp/cdproto/emulation"

	"longhaul/dev/e2e/harness"
)

// Without scripts the pages work, and show the present state when they are loaded.
func testPlain(t *testing.T, o *office) {
	b := o.newTab(t)
	call(b, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
	o.signIn(b, "ann")
	o.ask(t, "plain", harness.NewPlan("Plain", "approve Without scripts?", "say plain"))
	b.open("/console/inbox")
	b.sees("Without scripts?", "UTC") // times are as the server writes them
	b.click("link", "Without scripts?")
	b.click("button", "Accept")
	b.sees("Accepted by ann")
	o.order(b, "Write notes without scripts")
	b.at("/console/objectives/")
	b.clickFirst("DisclosureTriangle", "More")
	b.clickFirst("DisclosureTriangle", "Cancel…")
	b.clickFirst("button", "Cancel")
	b.sees("canceled")
}
