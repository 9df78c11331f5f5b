package commands

import (
	"fmt"
	"strings"
	"time"

	"longhaul/a2a"
	"longhaul/opt"
)

// timeText returns a time for people, in a time zone; "" is UTC. The zero time is "".
func timeText(at a2a.Time, zone string) string {
	if at.IsZero() {
		return ""
	}
	in, err := time.LoadLocation(zone)
	if err != nil {
		in = time.UTC
	}
	return at.Time().In(in).Format("2006-01-02 15:04:05 MST")
}

// durationText returns a duration for people.
func durationText(d time.Duration) string {
	switch {
	case d < 10*time.Second:
		return fmt.Sprintf("%.1fs", d.Seconds())
	case d < time.Hour:
		return d.Round(time.Second).String()
	case d < 48*time.Hour:
		return strings.TrimSuffix(d.Round(time.Minute).String(), "0s")
	}
	return fmt.Sprintf("%d days", int(d.Hours()/24))
}

// shortDuration returns a duration without the parts that are zero: 2h in place of 2h0m0s.
func shortDuration(duration string) string {
	d, err := time.ParseDuration(duration)
	switch {
	case err != nil:
		return duration
	case d >= time.Hour && d%time.Hour == 0:
		return opt.Span(d)
	}
	text := d.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	return text
}
