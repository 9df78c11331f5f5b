package console_test

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp"

	"longhaul/dev/e2e/harness"
	"longhaul/internal/test"
)

// A page does not change between the press of a button and its release: the click would
// be lost, or hit another element.
func testPressed(t *testing.T, o *office) {
	id, gate := o.ask(t, "pressed", harness.NewPlan("Pressed", "approve Press it?", "say pressed"))
	b := o.enter(t, "bob")
	b.open("/console/inbox/" + gate)
	b.sees("Your answer")
	b.holdRefresh()() // what follows the opening of the page is over
	b.mouse(chromedp.MousePressed, 2, 400)
	test.OK(t, test.Err(o.as("ann").Send(t.Context(), harness.Reply("pressed-yes", id, gate, "accept"))))
	b.refreshed()
	test.Error(t, "the page has changed under a pressed button", nil, test.Err(b.find("button", "Accept")))
	b.mouse(chromedp.MouseReleased, 2, 400)
	b.sees("Accepted by ann")
}

// A part of the page that goes leaves the others what they are: with their focus, and open.
func testStays(t *testing.T, o *office) {
	id, gate := o.ask(t, "stays", harness.NewPlan("Stays", "approve Does it stay?", "work 5m"))
	b := o.enter(t, "ann")
	b.open("/console/objectives/" + id)
	b.sees("Waits for anyone")
	b.clickFirst("DisclosureTriangle", "More")
	b.click("DisclosureTriangle", "Replan…")
	b.run(`window.stays = document.activeElement; null`)
	test.OK(t, test.Err(o.as("ann").Send(t.Context(), harness.Reply("stays-yes", id, gate, "accept"))))
	b.misses("Waits for anyone")
	if same, err := eval[bool](b, `stays.localName === "summary" && document.activeElement === stays && stays.closest("details").open`); err != nil || !same {
		at, _ := eval[string](b, `document.activeElement.outerHTML.slice(0, 200)`)
		t.Errorf("the focus is on %s, or the form has closed: %v", at, err)
	}
	b.clickFirst("DisclosureTriangle", "Cancel…")
	b.clickFirst("button", "Cancel")
	b.sees("Canceled.")
}

// A form that was written in, and that the page did not have for a while, can be sent once
// the page has it again.
func testRevived(t *testing.T, o *office) {
	id, _ := o.ask(t, "revived", harness.NewPlan("Revived", "approve Live again?"))
	b, other := o.enter(t, "ann"), o.enter(t, "bob")
	b.open("/console/objectives/" + id)
	b.clickFirst("DisclosureTriangle", "More")
	b.clickFirst("DisclosureTriangle", "Add a plan…")
	b.fillFirst("Name", "A later plan")
	b.fillFirst("Tasks, one on each line", "Sweep")
	other.open("/console/objectives/" + id)
	other.clickFirst("DisclosureTriangle", "More")
	other.clickFirst("DisclosureTriangle", "Cancel…")
	other.clickFirst("button", "Cancel")
	other.sees("Canceled.")
	b.sees("Retry")
	b.retired(1)
	other.open("/console/objectives/" + id)
	other.clickFirst("button", "Retry")
	other.sees("A new attempt has begun")
	b.retired(0)
	b.click("button", "Add the plan")
	b.sees("The plan was added.", "A later plan", "Sweep")
}

// retired waits until the page keeps so many forms that cannot be sent.
func (b *tab) retired(want int) {
	b.t.Helper()
	b.await(func() error {
		if n, err := eval[int](b, `document.querySelectorAll("form.retired").length`); err != nil || n != want {
			return fmt.Errorf("%d forms cannot be sent, want %d: %w", n, want, err)
		}
		return nil
	})
}

// A page of work that has ended follows a new attempt that another client begins, and its
// stream.
func testRetried(t *testing.T, o *office) {
	id, gate := o.ask(t, "retried", harness.NewPlan("Retried", "approve Once more?"))
	b, other := o.enter(t, "ann"), o.enter(t, "bob")
	other.open("/console/inbox/" + gate)
	other.click("DisclosureTriangle", "Reject…")
	other.click("button", "Reject")
	other.sees("Rejected by bob")
	b.open("/console/objectives/" + id)
	b.sees("failed", "Retry")
	b.misses("Waits for anyone")
	stop := b.holdRefresh() // it would be fetched after some seconds, and open its stream before it is hidden
	b.run(watchStreams)

	other.open("/console/objectives/" + id)
	other.clickFirst("button", "Retry")
	other.sees("A new attempt has begun")
	b.run(fmt.Sprintf(setHidden, true)) // once it is shown again, it is fetched at once
	b.run(fmt.Sprintf(setHidden, false))
	stop()
	b.sees("Waits for anyone", "Once more?")
	b.streams("opened", 1)
}
