package signing_test

import (
	"encoding/base64"
	"strings"
	"testing"
	"time"

	"longhaul/internal/signing"
	"longhaul/internal/test"
)

func TestStatement(t *testing.T) {
	c, store := &clock{began}, newStore(t)
	k := signing.New(signing.Config{Store: store, Now: c.read})
	keys, err := k.PublicKeys(t.Context())
	test.OK(t, err)
	const text = `{"count":2}`
	signed, err := k.SignStatement(t.Context(), []byte(text))
	test.OK(t, err)
	c.now = began.Add(10 * 365 * 24 * time.Hour)
	test.Is(t, "statement", text, string(test.Value(signing.Statement(keys, signed))(t)))
	other, err := signing.New(signing.Config{Store: newStore(t), Now: c.read}).PublicKeys(t.Context())
	test.OK(t, err)
	parts := strings.Split(signed, ".")
	parts[1] = base64.RawURLEncoding.EncodeToString([]byte(`{"count":1}`))
	delivery, err := signing.New(signing.Config{Store: store, Now: (&clock{began}).read}).Sign(t.Context(), "d", "t", []byte("body"))
	test.OK(t, err)
	for name, tt := range map[string]struct{ keys, signed, want string }{
		"changed":                       {string(keys), strings.Join(parts, "."), "is not valid"},
		"keys of another installation":  {string(other), signed, "not among the public keys"},
		"a signature of something else": {string(keys), delivery, "something else"},
		"no signature":                  {string(keys), "x", "not a JWS"},
		"no keys":                       {`{"keys":[]}`, signed, "no public keys"},
	} {
		if got, err := signing.Statement([]byte(tt.keys), tt.signed); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %s, %v, want %q", name, got, err, tt.want)
		}
	}
}
