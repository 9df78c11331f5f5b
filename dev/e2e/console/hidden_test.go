package console_test

import (
	"fmt"
	"testing"

	"longhaul/dev/e2e/harness"
	"longhaul/internal/test"
)

// watchStreams counts the streams that a page opens and closes.
const watchStreams = `window.streams = { opened: 0, closed: 0 };
{
	const close = EventSource.prototype.close;
	EventSource.prototype.close = function () { streams.closed++; close.call(this); };
	window.EventSource = class extends EventSource { constructor(url) { super(url); streams.opened++; } };
}
null`

// setHidden hides the page, as another tab in front of it does, or shows it again.
const setHidden = `Object.defineProperty(document, "hidden", { configurable: true, get: () => %v });
document.dispatchEvent(new Event("visibilitychange"));
null`

// A page that is hidden holds no connection to the server, of which a browser has six for
// all its tabs. Once it is visible it shows the changes since then.
func testHidden(t *testing.T, o *office) {
	gate := o.begin(t, "Write notes about hiding")
	a, b, shown := o.enter(t, "ann"), o.enter(t, "bob"), o.enter(t, "bob")
	for _, tab := range []*tab{a, b, shown} {
		tab.open("/console/inbox/" + gate)
		tab.sees("Your answer")
	}
	b.run(watchStreams)
	b.run(fmt.Sprintf(setHidden, true))
	b.streams("closed", 1)
	before := b.requests()
	a.click("button", "Accept")
	a.sees("Accepted by ann")
	shown.sees("Accepted by ann") // without a reload: the event has come
	a.click("link", "Look at it again")
	a.click("link", "Write notes about hiding")
	a.sees("completed") // a second later, after more events
	if n := b.requests(); n != before {
		t.Errorf("a hidden page was fetched %d times", n-before)
	}
	b.run(fmt.Sprintf(setHidden, false))
	b.streams("opened", 1)
	b.sees("Accepted by ann")
}

// catchNotices has the browser allow notices, and keeps them.
const catchNotices = `window.notices = [];
window.Notification = class { static permission = "granted"; static requestPermission() { return "granted"; } constructor(title, options) { notices.push(options.body); } };
null`

// Who allows it gets a notice of a question that comes while the page is hidden.
func testNotices(t *testing.T, o *office) {
	b := o.enter(t, "nora")
	b.open("/console/inbox")
	b.sees("Nothing waits for you.")
	b.run(catchNotices)
	b.click("button", "Notify me")
	b.await(func() error {
		if on, err := eval[string](b, `document.querySelector("[data-notify]").ariaPressed`); err != nil || on != "true" {
			return fmt.Errorf("notices are not on: %s, %w", on, err)
		}
		return nil
	})
	b.look("notices")
	b.open("/console/find") // which does not show new questions by itself
	b.run(catchNotices)
	o.askAs(t, "nora", "noticed", harness.NewPlan("Noticed", "approve Have you seen it?"))
	b.await(func() error { // the number of questions is kept for a moment
		b.run(fmt.Sprintf(setHidden, true))
		if notices, err := eval[[]string](b, `notices`); err != nil || len(notices) == 0 || notices[0] != "1 question waits for you." {
			return fmt.Errorf("the notices are %q: %w", notices, err)
		}
		return nil
	})
}

// requests returns how often the script of the page has fetched it.
func (b *tab) requests() int {
	b.t.Helper()
	n := test.Value(eval[int](b, `asked + fetched`))(b.t)
	return n
}

// streams fails unless the page has "opened" or "closed" so many streams since it was watched.
func (b *tab) streams(what string, want int) {
	b.t.Helper()
	if got, err := eval[int](b, "streams."+what); err != nil || got != want {
		b.t.Errorf("the page has %s %d streams, want %d: %v", what, got, want, err)
	}
}
