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
	keys := test.Value(k.PublicKeys(t.Context()))(t)
	const text = `{"count":2}`
	signed := test.Value(k.SignStatement(t.Context(), []byte(text)))(t)
	c.now = began.Add(10 * 365 * 24 * time.Hour)
	test.Is(t, "statement", text, string(test.Value(signing.Statement(keys, signed))(t)))
	other := test.Value(signing.New(signing.Config{Store: newStore(t), Now: c.read}).PublicKeys(t.Context()))(t)
	parts := strings.Split(signed, ".")
	parts[1] = base64.RawURLEncoding.EncodeToString([]byte(`{"count":1}`))
	delivery := test.Value(signing.New(signing.Config{Store: store, Now: (&clock{began}).read}).Sign(t.Context(), "d", "t", []byte("body")))(t)
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
