package namespace

import (
	"testing"
	"time"
)

func TestRetentionSettings(t *testing.T) {
	const day = 24 * time.Hour
	for ttl, want := range map[time.Duration]time.Duration{
		0: 7 * day, time.Second: time.Hour, 90 * time.Minute: 90 * time.Minute, 7 * day: 7 * day, 400 * day: 400 * day,
	} {
		s := Retention{TTL: ttl}
		if got := s.NamespaceTTL(); got != want || s.CheckTTL() != nil {
			t.Errorf("--ttl %v: a namespace keeps ended work for %v, want %v; error %v", ttl, got, want, s.CheckTTL())
		}
	}
}
