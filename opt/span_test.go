package opt_test

import (
	"testing"
	"time"

	"longhaul/opt"
)

func TestParseSpan(t *testing.T) {
	const day = 24 * time.Hour
	for text, want := range map[string]time.Duration{
		"90s": 90 * time.Second, "1.5h": 90 * time.Minute, "7d": 7 * day, "1d12h": 36 * time.Hour, "0d": 0, "-5m": -5 * time.Minute, "65535d": 65535 * day,
	} {
		if got, err := opt.ParseSpan(text); err != nil || got != want {
			t.Errorf("%s: %v, %v, want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"", "7", "d", "x", "-1d", "1.5d", "1d-2h", "1dx", "1d2", "65536d"} {
		if got, err := opt.ParseSpan(text); err == nil {
			t.Errorf("%q is read as %v", text, got)
		}
	}
}
