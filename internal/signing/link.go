package signing

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"

	"longhaul/a2a"
	"longhaul/opt/outbox"
)

// Errors of Verify.
var (
	ErrLink        = errors.New("it is not signed by a key that is here")
	ErrLinkExpired = errors.New("it has expired")
)

// Links signs answer links and verifies them: JWTs with HMAC-SHA-256. It is safe for
// concurrent use.
type Links struct {
	first string // id of the key that signs
	keys  map[string][]byte
	now   func() time.Time
}

// NewLinks returns links with keys of 32 bytes, at least one. The first signs, all
// verify. A nil clock means time.Now.
func NewLinks(now func() time.Time, keys ...[]byte) (*Links, error) {
	if now == nil {
		now = time.Now
	}
	l := &Links{keys: map[string][]byte{}, now: now}
	for i, key := range keys {
		if len(key) != sha256.Size {
			return nil, fmt.Errorf("key %d has %d bytes, want %d", i+1, len(key), sha256.Size)
		}
		sum := sha256.Sum256(append([]byte("longhaul answer key id "), key...))
		id := hex.EncodeToString(sum[:8])
		l.keys[id] = key
		if i == 0 {
			l.first = id
		}
	}
	if l.first == "" {
		return nil, errors.New("no key")
	}
	return l, nil
}

// forAnswers is the audience of answer links, so that no other token is one.
const forAnswers = "longhaul answer"

// linkClaims are the claims of an answer link.
type linkClaims struct {
	jwt.Claims
	Tenant string   `json:"tenant"`
	Groups []string `json:"groups,omitempty"`
	Gate   string   `json:"gate"`
	Digest string   `json:"object,omitempty"`
}

// Sign returns the token of a link.
func (l *Links) Sign(a outbox.AnswerLink) (string, error) {
	signer, err := jose.NewSigner(
		jose.SigningKey{Algorithm: jose.HS256, Key: l.keys[l.first]}, (&jose.SignerOptions{}).WithType("JWT").WithHeader("kid", l.first))
	if err != nil {
		return "", fmt.Errorf("sign an answer link: %w", err)
	}
	return jwt.Signed(signer).Claims(linkClaims{
		jwt.Claims{ID: a.ID, Subject: a.Principal, Audience: jwt.Audience{forAnswers}, Expiry: jwt.NewNumericDate(a.Expires.Time())},
		a.Tenant, a.Groups, a.GateID, a.ObjectDigest,
	}).Serialize()
}

// Verify returns the link of a token. The error is [ErrLink] or [ErrLinkExpired],
// and the latter only for a token that one of the keys has signed.
func (l *Links) Verify(token string) (outbox.AnswerLink, error) {
	parsed, err := jwt.ParseSigned(token, []jose.SignatureAlgorithm{jose.HS256})
	if err != nil || len(parsed.Headers) != 1 {
		return outbox.AnswerLink{}, ErrLink
	}
	key, ok := l.keys[parsed.Headers[0].KeyID]
	var c linkClaims
	if !ok || parsed.Claims(key, &c) != nil || !c.Audience.Contains(forAnswers) || c.Expiry == nil {
		return outbox.AnswerLink{}, ErrLink
	}
	if !l.now().Before(c.Expiry.Time()) {
		return outbox.AnswerLink{}, ErrLinkExpired
	}
	return outbox.AnswerLink{
		ID: c.ID, Tenant: c.Tenant, Principal: c.Subject, Groups: c.Groups, GateID: c.Gate, ObjectDigest: c.Digest, Expires: a2a.At(c.Expiry.Time()),
	}, nil
}
