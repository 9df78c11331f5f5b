package egress

import (
	"net/http"
	"strconv"
	"time"
)

// RetryAfter returns how long a server wants its callers to wait, by the header
// Retry-After in an answer: 0 or more, and at most the given maximum. ok is false if
// the header is missing or malformed.
func RetryAfter(h http.Header, most time.Duration) (wait time.Duration, ok bool) {
	text := h.Get("Retry-After")
	if seconds, err := strconv.ParseFloat(text, 64); err == nil && seconds >= 0 { // some servers send fractions
		return time.Duration(min(seconds, most.Seconds()) * float64(time.Second)), true
	}
	if at, err := http.ParseTime(text); err == nil {
		return min(max(time.Until(at), 0), most), true
	}
	return 0, false
}
