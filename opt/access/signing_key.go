package access

import "longhaul/a2a"

// A SigningKey signs deliveries to push configs.
type SigningKey struct {
	ID        string
	Private   []byte // secret: PKCS #8
	CreatedAt a2a.Time
}
