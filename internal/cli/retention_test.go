package cli

import (
	"io"
	"strings"
	"testing"
	"time"
)

func TestRetentionSettings(t *testing.T) {
	const day = 24 * time.Hour
	for ttl, want := range map[time.Duration]time.Duration{
		0: 7 * day, time.Second: time.Hour, 90 * time.Minute: 90 * time.Minute, 7 * day: 7 * day, 400 * day: 400 * day,
	} {
		s := retentionSettings{TTL: ttl}
		if got := s.namespaceTTL(); got != want || s.check() != nil {
			t.Errorf("--ttl %v: a namespace keeps ended work for %v, want %v; error %v", ttl, got, want, s.check())
		}
	}
}

// A TTL that would remove objectives at once is refused.
func TestRun_ttlTooShort(t *testing.T) {
	for _, ttl := range []string{"999ms", "-1h"} {
		var stderr strings.Builder
		args := []string{"worker", "--ttl=" + ttl, "--data-dir", t.TempDir(), "--temporal-addr", "127.0.0.1:1"}
		if code := Run(t.Context(), args, io.Discard, &stderr, Build{}); code != 2 || !strings.Contains(stderr.String(), "--ttl") {
			t.Errorf("--ttl %s: exit code %d, standard error:\n%s", ttl, code, stderr.String())
		}
	}
}
