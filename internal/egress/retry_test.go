package egress_test

import (
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"longhaul/internal/egress"
)

func TestRetryAfter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in := func(d time.Duration) string { return time.Now().Add(d).UTC().Format(http.TimeFormat) }
		for _, tt := range []struct {
			text string
			want time.Duration
			ok   bool
		}{
			{"7", 7 * time.Second, true},
			{"0", 0, true},
			{"0.25", 250 * time.Millisecond, true},
			{"86400", time.Hour, true},
			{"99999999999999999999", time.Hour, true},
			{in(2 * time.Minute), 2 * time.Minute, true},
			{in(48 * time.Hour), time.Hour, true},
			{in(-time.Minute), 0, true},
			{"", 0, false},
			{"-5", 0, false},
			{"NaN", 0, false},
			{"soon", 0, false},
		} {
			wait, ok := egress.RetryAfter(http.Header{"Retry-After": {tt.text}}, time.Hour)
			if wait != tt.want || ok != tt.ok {
				t.Errorf("%s: got %v, %v, want %v, %v", tt.text, wait, ok, tt.want, tt.ok)
			}
		}
	})
}
