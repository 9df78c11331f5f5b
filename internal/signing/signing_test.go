package signing_test

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"slices"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"

	"longhaul/internal/journal"
	"longhaul/internal/seal"
	"longhaul/internal/signing"
	"longhaul/internal/test"
	"longhaul/opt/access"
)

var began = time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)

// A clock is the time of some keepers.
type clock struct{ now time.Time }

func (c *clock) read() time.Time { return c.now }

func newStore(t *testing.T) signing.Store {
	t.Helper()
	box := test.Value(seal.New(make([]byte, 32)))(t)
	j := test.Value(journal.Open(t.Context(), journal.Config{Sealer: box}))(t)
	t.Cleanup(func() { _ = j.Close() })
	return j.SigningKeys
}

// publicKeys returns what a keeper publishes.
func publicKeys(t *testing.T, k *signing.Keeper) (set jose.JSONWebKeySet) {
	t.Helper()
	text := test.Value(k.PublicKeys(t.Context()))(t)
	test.OK(t, json.Unmarshal(text, &set))
	for _, key := range set.Keys {
		if !key.IsPublic() {
			t.Fatalf("key %s is not public", key.KeyID)
		}
	}
	return set
}

func ids(set jose.JSONWebKeySet) (out []string) {
	for _, key := range set.Keys {
		out = append(out, key.KeyID)
	}
	return out
}

// verify returns the claims of a signature as a receiver does, and the id of its
// key.
func verify(t *testing.T, set jose.JSONWebKeySet, token string) (claims signing.Claims, kid string, err error) {
	t.Helper()
	parsed := test.Value(jwt.ParseSigned(token, []jose.SignatureAlgorithm{jose.ES256}))(t)
	return claims, parsed.Headers[0].KeyID, parsed.Claims(set, &claims)
}

func sign(t *testing.T, k *signing.Keeper) string {
	t.Helper()
	token := test.Value(k.Sign(t.Context(), "task/config/7", "task", []byte("body")))(t)
	return token
}

func TestKeeper_Sign(t *testing.T) {
	c := &clock{began}
	k := signing.New(signing.Config{Store: newStore(t), Now: c.read})
	got, _, err := verify(t, publicKeys(t, k), sign(t, k))
	test.OK(t, err)
	sum := sha256.Sum256([]byte("body"))
	want := signing.Claims{
		Claims: jwt.Claims{
			Subject: "task", ID: "task/config/7",
			IssuedAt: jwt.NewNumericDate(began), Expiry: jwt.NewNumericDate(began.Add(5 * time.Minute)),
		},
		BodySHA256: base64.RawURLEncoding.EncodeToString(sum[:]),
	}
	test.Equal(t, "claims", want, got)
	other := signing.New(signing.Config{Store: newStore(t), Now: c.read})
	if _, _, err := verify(t, publicKeys(t, other), sign(t, k)); err == nil {
		t.Error("a signature of another installation was accepted")
	}
}

// Over months, a receiver that keeps the list of keys for as long as it may can
// verify every signature, also one that it looks at days later, and keys change.
func TestKeeper_renewsWithoutGap(t *testing.T) {
	c, store := &clock{began}, newStore(t)
	keepers := []*signing.Keeper{signing.New(signing.Config{Store: store, Now: c.read}), signing.New(signing.Config{Store: store, Now: c.read})}
	used := map[string]bool{}
	for hour := range 70 * 24 {
		c.now = began.Add(time.Duration(hour) * time.Hour)
		set := publicKeys(t, keepers[hour%2])
		if len(set.Keys) > 3 {
			t.Fatalf("after %v %d keys are published", c.now.Sub(began), len(set.Keys))
		}
		c.now = c.now.Add(signing.CacheFor)
		_, kid, err := verify(t, set, sign(t, keepers[(hour+1)%2]))
		if err != nil {
			t.Fatalf("after %v: %v", c.now.Sub(began), err)
		}
		used[kid] = true
	}
	test.Is(t, "keys signed in 70 days", 3, len(used))
}

// A former key is published for a week after the last signature with it.
func TestKeeper_keepsFormerKey(t *testing.T) {
	c := &clock{began}
	k := signing.New(signing.Config{Store: newStore(t), Now: c.read})
	first := ids(publicKeys(t, k))[0]
	changed := began.Add(30 * 24 * time.Hour)
	for _, tt := range []struct {
		at               time.Duration // after the second key was made
		published, signs bool          // the first key
	}{
		{-time.Minute, true, true}, {0, true, true}, {59 * time.Minute, true, true}, {time.Hour, true, false},
		{7 * 24 * time.Hour, true, false}, {7*24*time.Hour + time.Hour, false, false},
	} {
		c.now = changed.Add(tt.at)
		_, kid, err := verify(t, publicKeys(t, k), sign(t, k))
		test.OK(t, err)
		if got := slices.Contains(ids(publicKeys(t, k)), first); got != tt.published || (kid == first) != tt.signs {
			t.Errorf("after %v: the first key is published: %v, and signs: %v", tt.at, got, kid == first)
		}
	}
}

// Two processes that begin at the same time agree on one key.
func TestKeeper_agree(t *testing.T) {
	store := newStore(t)
	race := &racing{Store: store}
	a := signing.New(signing.Config{Store: race})
	b := signing.New(signing.Config{Store: store})
	race.before = func() { publicKeys(t, b) }
	test.Equal(t, "keys", ids(publicKeys(t, a)), ids(publicKeys(t, b)))
}

// racing lets something happen between the reading of keys and the first change.
type racing struct {
	signing.Store
	before func()
}

func (r *racing) SigningKeys(ctx context.Context) (list []access.SigningKey, err error) {
	list, err = r.Store.SigningKeys(ctx)
	if r.before != nil {
		before := r.before
		r.before = nil
		before()
	}
	return list, err
}
