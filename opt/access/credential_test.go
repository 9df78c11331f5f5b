package access_test

import (
	"testing"
	"time"

	"longhaul/a2a"
	"longhaul/internal/test"
	"longhaul/opt/access"
)

func TestAPIKey_Valid(t *testing.T) {
	now := a2a.At(time.Date(2026, 3, 1, 9, 30, 0, 0, time.UTC))
	after, before := a2a.At(now.Time().Add(time.Millisecond)), a2a.At(now.Time().Add(-time.Millisecond))
	for name, tc := range map[string]struct {
		key  access.APIKey
		want bool
	}{
		"for ever":        {access.APIKey{}, true},
		"not yet expired": {access.APIKey{ExpiresAt: after}, true},
		"expires now":     {access.APIKey{ExpiresAt: now}, false},
		"expired":         {access.APIKey{ExpiresAt: before}, false},
		"revoked":         {access.APIKey{RevokedAt: before}, false},
		"revoked later":   {access.APIKey{RevokedAt: after}, false},
	} {
		test.Is(t, name, tc.want, tc.key.Valid(now))
	}
}
