package console_test

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"longhaul/dev/e2e/harness"
	"longhaul/internal/test"
)

// A counted visit counts what a person does.
type countedVisit struct {
	*tab
	clicks, keys, texts int
}

func (c *countedVisit) click(role, name string) {
	c.t.Helper()
	c.clicks++
	c.tab.click(role, name)
}

func (c *countedVisit) press(keys ...string) {
	c.t.Helper()
	for _, key := range keys {
		c.keys++
		c.tab.press(key)
	}
}

// send writes a text into the field with the focus, and sends it, which takes its key twice.
func (c *countedVisit) send(field, text string) {
	c.t.Helper()
	c.texts++
	c.tab.fill(field, text)
	for range 2 {
		c.keys++
		c.tab.press(kb.Enter, chromedp.KeyModifiers(chromedp.ModifierCtrl))
	}
}

// One person decides at twenty gates with the keyboard: one after another, one is sent back, one
// is changed, ten are decided together, and the one that came back is accepted by its changes.
func testApproving(t *testing.T, o *office) {
	var last string
	for i := range 8 {
		last, _ = o.askAs(t, "dora", fmt.Sprint("single-", i), harness.NewPlan("Single", fmt.Sprintf("approve Order %d chairs?", i+2)))
	}
	for _, name := range []string{"better", "changed"} {
		m := harness.Message{ID: "approving-" + name, Text: "Write notes to be " + name, Wait: true}
		if waiting, err := o.as("dora").Send(t.Context(), m); err != nil || waiting.Gate == nil {
			t.Fatalf("%s: %+v, %v", name, waiting, err)
		}
	}
	for i := range 10 {
		o.askAs(t, "dora", fmt.Sprint("alike-", i), &harness.Plan{Name: "Pay", Tasks: []harness.PlanTask{{Name: "Pay the invoice", Description: fmt.Sprintf("approve Pay invoice %d?", i+1)}}})
	}

	b := &countedVisit{tab: o.enter(t, "dora")}
	b.resize(1280, 800)
	b.open("/console/")
	b.click("link", "Inbox 20 waiting")
	b.reads("Order 2 chairs?")
	b.await(func() error { // the title is there before the script
		if keys, err := eval[bool](b.tab, `document.getElementById("armed") !== null`); err != nil || !keys {
			return fmt.Errorf("the page takes no keys: %w", err)
		}
		return nil
	})
	b.press("a")
	b.refreshed() // which leaves the first press what it is
	b.press("a")
	for i := range 7 {
		b.reads(fmt.Sprintf("Order %d chairs?", i+3))
		b.press("a", "a")
	}
	b.look("approving")
	b.resize(1280, 800)
	b.reads("Publish the notes?")
	b.press("s")
	b.send("What should be better", "Say how it tastes.")
	b.sees("Sent back to be made better by dora")
	b.reads("Publish the notes?")
	b.press("e")
	b.send("The text", "Tea is lukewarm.")
	b.sees("Accepted with changes by dora")
	b.reads("Pay invoice 1?")
	b.press("t")
	b.sees("10 questions at once", "Pay invoice 10?")
	b.look("together")
	b.resize(1280, 800)
	b.press("a", "a")
	b.sees("and 9 more")
	b.reads("Publish the notes? (2nd time)")
	b.sees("Mind: Say how it tastes.")
	b.look("changed")
	b.resize(1280, 800)
	b.press("a", "a")
	b.sees("Nothing waits for you.", "Accepted by dora: Publish the notes? (2nd time)")
	t.Logf("20 gates: %d clicks, %d keys, %d texts", b.clicks, b.keys, b.texts)
	if b.clicks > 1 || b.keys > 30 {
		t.Error("that is more than it was")
	}
	b.open("/console/objectives/" + last)
	b.sees("completed")
}

// refreshed waits until the page was fetched again.
func (b *tab) refreshed() {
	b.t.Helper()
	before, err := eval[int](b, `fetched`)
	test.OK(b.t, err)
	b.await(func() error {
		if n, err := eval[int](b, `fetched`); err != nil || n == before {
			return fmt.Errorf("the page was not fetched: %v", err)
		}
		return nil
	})
}

// reads waits until a question is the one to decide on.
func (b *tab) reads(title string) {
	b.t.Helper()
	b.await(func() error {
		shown, err := eval[[]string](b, `[document.querySelector(".review h1")?.textContent ?? "", location.search, document.getElementById("armed")?.textContent ?? "", document.activeElement.outerHTML.slice(0, 80), String(asked)]`)
		if err != nil || shown[0] != title {
			return fmt.Errorf("the question is %q, want %q: %v", shown, title, err)
		}
		return nil
	})
}
