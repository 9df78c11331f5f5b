package access

import "longhaul/a2a"

// An APIKey allows calls with its secret, as a principal.
type APIKey struct {
	ID        string // public, part of the text that callers send
	Tenant    string
	Principal string
	Groups    []string
	Scopes    []string
	Name      string // for people
	Hash      []byte // of the secret, which is not kept
	CreatedAt a2a.Time
	ExpiresAt a2a.Time // zero: never
	RevokedAt a2a.Time // zero: not revoked
}

// Valid reports whether k may be used at a time.
func (k APIKey) Valid(at a2a.Time) bool {
	return k.RevokedAt.IsZero() && (k.ExpiresAt.IsZero() || at.Millis() < k.ExpiresAt.Millis())
}
