package signing_test

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"
	"github.com/google/go-cmp/cmp"

	"longhaul/a2a"
	"longhaul/internal/signing"
	"longhaul/internal/test"
	"longhaul/opt/outbox"
)

func newLinks(t *testing.T, c *clock, keys ...byte) *signing.Links {
	t.Helper()
	var list [][]byte
	for _, k := range keys {
		list = append(list, bytes.Repeat([]byte{k}, 32))
	}
	l := test.Value(signing.NewLinks(c.read, list...))(t)
	return l
}

var link = outbox.AnswerLink{
	ID: "n1", Tenant: "acme", Principal: "ann", Groups: []string{"editors"}, GateID: "task-x-1-0:1", ObjectDigest: "sha256:00", Expires: a2a.At(began.Add(time.Hour)),
}

func TestLinks(t *testing.T) {
	c := &clock{began}
	token := test.Value(newLinks(t, c, 1).Sign(link))(t)
	got, err := newLinks(t, c, 2, 1).Verify(token) // after another key was put first
	test.OK(t, err)
	test.Equal(t, "link", link, got)
	test.Error(t, "without its key", signing.ErrLink, test.Err(newLinks(t, c, 2).Verify(token)))
	c.now = began.Add(time.Hour)
	test.Error(t, "an hour later", signing.ErrLinkExpired, test.Err(newLinks(t, c, 1).Verify(token)))
	test.Error(t, "an hour later, without its key", signing.ErrLink, test.Err(newLinks(t, c, 2).Verify(token)))
}

// A token with any character changed is not valid, and neither are other tokens.
func TestLinks_altered(t *testing.T) {
	l := newLinks(t, &clock{began}, 1)
	token := test.Value(l.Sign(link))(t)
	for i := range token {
		for _, with := range []string{"A", "B", "", ".", "AA"} {
			altered := token[:i] + with + token[i+1:]
			if got, err := l.Verify(altered); altered != token && err == nil && !cmp.Equal(got, link) {
				t.Errorf("%s was accepted", altered)
			}
		}
	}
	head := test.Value(jwt.ParseSigned(token, []jose.SignatureAlgorithm{jose.HS256}))(t)
	key := jose.SigningKey{Algorithm: jose.HS256, Key: bytes.Repeat([]byte{1}, 32)}
	signer, err := jose.NewSigner(key, (&jose.SignerOptions{}).WithHeader("kid", head.Headers[0].KeyID)) // for another purpose
	test.OK(t, err)
	other := test.Value(jwt.Signed(signer).Claims(jwt.Claims{Subject: "ann", Expiry: jwt.NewNumericDate(began.Add(time.Hour))}).Serialize())(t)
	_, payload, _ := strings.Cut(token, ".")
	for _, wrong := range []string{"", "x", "a.b.c", other, "eyJhbGciOiJub25lIn0." + payload, "eyJhbGciOiJub25lIn0." + strings.Split(payload, ".")[0] + "."} {
		test.Error(t, wrong, signing.ErrLink, test.Err(l.Verify(wrong)))
	}
}

func TestNewLinks_mistakes(t *testing.T) {
	test.Fails(t, "no key was accepted", "", test.Err(signing.NewLinks(nil)))
	test.Fails(t, "a short key was accepted", "", test.Err(signing.NewLinks(nil, make([]byte, 16))))
}
