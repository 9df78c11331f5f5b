package console_test

import (
	"testing"

	"longhaul/dev/e2e/harness"
)

const lostBanner = "The connection is lost"

// A page says when the server has died, keeps what it showed, and continues by itself
// once the server is back.
func testLost(t *testing.T, o *office) {
	o.ask(t, "lost", harness.NewPlan("Lost", "approve Keep the light on?", "say on"))
	b := o.enter(t, "ann")
	b.allow("net::ERR_", "status of 503") // as the connections end
	b.open("/console/inbox")
	b.sees("Keep the light on?")
	o.process.Kill()
	b.sees(lostBanner, "Keep the light on?")
	b.look("lost")
	o.process = o.site.Start(harness.AllInOne)
	b.misses(lostBanner)
	o.ask(t, "found", harness.NewPlan("Found", "approve Is it back?", "say back"))
	b.sees("Is it back?", "Keep the light on?")
}
