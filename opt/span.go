package opt

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Span returns a duration in days or hours if it is a whole number of them.
func Span(d time.Duration) string {
	const day = 24 * time.Hour
	switch {
	case d > 0 && d%day == 0:
		return Count(int(d/day), "day")
	case d > 0 && d%time.Hour == 0:
		return Count(int(d/time.Hour), "hour")
	}
	return d.String()
}

// units are those of [InUnits].
var units = []struct {
	ms   int64
	name string
}{{24 * time.Hour.Milliseconds(), "d"}, {time.Hour.Milliseconds(), "h"}, {time.Minute.Milliseconds(), "min"}, {1000, "s"}, {1, "ms"}}

// InUnits returns a time in milliseconds in one unit, or in two if there are less of the first one than so many, such as
// 3 h 20 min.
func InUnits(ms, few int64) string {
	for i, u := range units[:len(units)-1] {
		if ms < u.ms {
			continue
		}
		text := fmt.Sprintf("%d %s", ms/u.ms, u.name)
		if rest := ms % u.ms / units[i+1].ms; rest > 0 && ms/u.ms < few && u.name != "s" {
			text += fmt.Sprintf(" %d %s", rest, units[i+1].name)
		}
		return text
	}
	return fmt.Sprintf("%d ms", ms)
}

// Count returns a number with a noun, in the plural unless the number is 1.
func Count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// ParseSpan reads a duration as [time.ParseDuration] does. It may begin with days:
// 7d or 1d12h.
func ParseSpan(text string) (time.Duration, error) {
	before, rest, found := strings.Cut(text, "d")
	if !found {
		return time.ParseDuration(text)
	}
	n, err := strconv.ParseUint(before, 10, 16)
	if err != nil {
		return 0, fmt.Errorf("%q is no duration such as 90s, 2h or 7d", text)
	}
	days := time.Duration(n) * 24 * time.Hour
	if rest == "" {
		return days, nil
	}
	d, err := time.ParseDuration(rest)
	if err != nil || d < 0 {
		return 0, fmt.Errorf("%q is no duration such as 90s, 2h or 7d", text)
	}
	return days + d, nil
}
