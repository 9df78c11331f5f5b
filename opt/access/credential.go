package access

import (
	"longhaul/a2a"
)

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

// A SigningKey signs deliveries to push configs.
type SigningKey struct {
	ID        string
	Private   []byte // secret: PKCS #8
	CreatedAt a2a.Time
}

// A Session is a browser that is signed in to the console. It can do what its credential
// allows, until it expires or is closed.
type Session struct {
	ID         string // the SHA-256 hash of the secret in the browser's cookie
	Credential string // the API key or token with which its requests are authenticated; stored encrypted
	Refresh    string // token that renews the credential; "" for none; stored encrypted
	IDToken    string // names the session at the provider, to end it there; "" for none; stored encrypted
	ExpiresAt  a2a.Time

	// The times when a credential that can be renewed is due, and when it is no longer
	// accepted. Zero for other credentials.
	RenewAt, ValidUntil a2a.Time
}
