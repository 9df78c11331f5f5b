package opt

import (
	"fmt"
	"time"
)

// Span returns a duration in days or hours if it is a whole number of them.
func Span(d time.Duration) string {
	const day = 24 * time.Hour
	switch {
	case d > 0 && d%day == 0:
		return count(int64(d/day), "day")
	case d > 0 && d%time.Hour == 0:
		return count(int64(d/time.Hour), "hour")
	}
	return d.String()
}

func count(n int64, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
