package identity

import (
	"crypto/tls"
	"crypto/x509"
	"time"

	"longhaul/api/call"
)

// Certificates says who the TLS clients with a verified certificate are. Their
// principal is the first URI in the certificate, else the first DNS name, else the
// common name.
type Certificates struct {
	Tenant string
	Scopes []call.Scope
	Prefix string // before the name in the certificate, as Tokens.PrincipalPrefix
}

// caller returns the caller on a connection; state is nil for one without TLS. A
// connection may be open for longer than its certificate is valid. A nil c accepts
// none.
func (c *Certificates) caller(state *tls.ConnectionState, now time.Time) (call.Caller, error) {
	if c == nil || state == nil || len(state.VerifiedChains) == 0 {
		return call.Caller{}, errNone
	}
	leaf := state.VerifiedChains[0][0]
	if now.After(leaf.NotAfter) {
		return call.Caller{}, errExpired
	}
	return withValidNames(call.Caller{Tenant: c.Tenant, Principal: prefixed(c.Prefix, subject(leaf)), Scopes: c.Scopes})
}

func subject(leaf *x509.Certificate) string {
	switch {
	case len(leaf.URIs) > 0:
		return leaf.URIs[0].String()
	case len(leaf.DNSNames) > 0:
		return leaf.DNSNames[0]
	}
	return leaf.Subject.CommonName
}
