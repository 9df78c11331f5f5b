package identity

import (
	"crypto/tls"
	"crypto/x509"

	"longhaul/api/service"
)

// Certificates says who the TLS clients with a verified certificate are. Their
// principal is the first URI in the certificate, else the first DNS name, else the
// common name.
type Certificates struct {
	Tenant string
	Scopes []service.Scope
}

// caller returns the caller on a connection; nil for one without TLS. A nil c
// accepts none.
func (c *Certificates) caller(state *tls.ConnectionState) (service.Caller, error) {
	if c == nil || state == nil || len(state.VerifiedChains) == 0 {
		return service.Caller{}, errNone
	}
	return named(service.Caller{Tenant: c.Tenant, Principal: subject(state.VerifiedChains[0][0]), Scopes: c.Scopes})
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
