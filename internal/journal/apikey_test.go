package journal_test

import (
	"testing"
	"time"

	"longhaul/a2a"
	"longhaul/internal/journal"
	"longhaul/internal/test"
	"longhaul/opt"
	"longhaul/opt/access"
)

func TestJournal_APIKey(t *testing.T) {
	each(t, func(t *testing.T, open func() *journal.Journal) {
		j, other := open(), open()
		at := a2a.At(time.Date(2026, 3, 1, 9, 30, 0, 0, time.UTC))
		key := access.APIKey{
			ID: "one", Tenant: "acme", Principal: "ann", Groups: []string{"finance"}, Scopes: []string{"runs:create", "runs:read"},
			Name: "The build", Hash: []byte{1, 2, 3}, CreatedAt: at, ExpiresAt: a2a.At(at.Time().Add(time.Hour)),
		}
		bare := access.APIKey{ID: "two", Tenant: "acme", Principal: "bob", Groups: []string{}, Scopes: []string{}, Hash: []byte{4}, CreatedAt: at}
		for _, k := range []access.APIKey{key, bare} {
			test.OK(t, j.APIKeys.AddAPIKey(t.Context(), k))
		}
		test.Fails(t, "the same id was taken twice", "", j.APIKeys.AddAPIKey(t.Context(), key))
		test.Equal(t, "keys", []access.APIKey{key, bare}, test.Value(other.APIKeys.APIKeys(t.Context()))(t))
		revoked := a2a.At(at.Time().Add(time.Minute))
		for i := range 2 {
			test.OK(t, j.APIKeys.RevokeAPIKey(t.Context(), "one", a2a.At(revoked.Time().Add(time.Duration(i)*time.Second))))
		}
		key.RevokedAt = revoked
		test.Equal(t, "revoked key", key, test.Value(other.APIKeys.APIKey(t.Context(), "one"))(t))
		fails(t, "an unknown key", opt.ErrUnknown)(j.APIKeys.APIKey(t.Context(), "none"))
		fails(t, "revoking an unknown key", opt.ErrUnknown)(j.APIKeys.RevokeAPIKey(t.Context(), "none", at))
	})
}
