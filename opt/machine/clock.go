package machine

import "longhaul/a2a"

// A task runs while a leg of it does, and between two legs for as long as it has asked to wait: its work continues elsewhere.
// Workers measure legs, so that a wait for a worker does not count; one that Temporal times out has run as long as it may.
// That of one whose worker is lost, or that is elsewhere, counts from its begin to its end. No wait for people, budgets,
// quotas, turns or another attempt counts.
// An attempt that ends is counted at once. One that continues is counted with what its legs use, or after an hour:
// else each look at work elsewhere would have an event.

// A Clock is how long an attempt at a task ran that is under way, as far as no event counts it.
type Clock struct {
	Since a2a.Time `json:"since,omitzero"` // since when it runs; zero if it does not
	Ran   int64    `json:"ran,omitempty"`  // milliseconds before
}

// latestCount is after how many milliseconds an attempt is counted that continues.
const latestCount = 3_600_000

// lap adds what passed since the lap before: as many milliseconds as were measured, unless that is 0.
func (c *Clock) lap(now a2a.Time, measured int64) {
	switch {
	case measured > 0:
		c.Ran += measured
	case !c.Since.IsZero():
		c.Ran += max(0, now.Millis()-c.Since.Millis())
	}
	if !c.Since.IsZero() {
		c.Since = now
	}
}

// turn starts or stops the clock.
func (c *Clock) turn(now a2a.Time, runs bool) {
	if runs != c.Since.IsZero() {
		return
	}
	c.lap(now, 0)
	if c.Since = (a2a.Time{}); runs {
		c.Since = now
	}
}
