package identity

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base32"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"longhaul/a2a"
	"longhaul/api/call"
	"longhaul/opt"
	"longhaul/opt/access"
)

const (
	keyPrefix = "lh_"
	keyHeader = "X-API-Key"
)

// A KeyReader has the API keys. For an unknown id the error wraps opt.ErrUnknown.
type KeyReader interface {
	APIKey(ctx context.Context, id string) (access.APIKey, error)
}

var encoding = base32.NewEncoding("abcdefghijklmnopqrstuvwxyz234567").WithPadding(base32.NoPadding)

// NewKey gives k a new id and a new secret, of 32 random bytes, and returns the
// text that callers send. The text is not kept in k.
func NewKey(k *access.APIKey) (text string) {
	var random [42]byte
	rand.Read(random[:]) // never fails
	k.ID = encoding.EncodeToString(random[:10])
	secret := encoding.EncodeToString(random[10:])
	hash := sha256.Sum256([]byte(secret))
	k.Hash = hash[:]
	return keyPrefix + k.ID + "_" + secret
}

// KeyID returns the id of a key, given the id itself or the whole text of the key.
func KeyID(text string) string {
	id, _, _ := strings.Cut(strings.TrimPrefix(text, keyPrefix), "_")
	return id
}

// keys checks API keys. The secrets are random, so a plain hash protects them.
type keys struct {
	reader KeyReader
	now    func() time.Time
}

var errKey = errors.New("the API key is unknown, wrong, revoked or expired")

// check returns the caller with a key. All checks are made in each case, so that the time
// they take does not show which one failed.
func (k *keys) check(ctx context.Context, text string) (accepted, error) {
	id := KeyID(text)
	secret := strings.TrimPrefix(strings.TrimPrefix(text, keyPrefix+id), "_")
	hash := sha256.Sum256([]byte(secret))
	key, err := k.reader.APIKey(ctx, id)
	unknown := errors.Is(err, opt.ErrUnknown)
	if err != nil && !unknown {
		return accepted{}, fmt.Errorf("%w: read an API key: %w", opt.ErrUnavailable, err)
	}
	if unknown {
		key.Hash = make([]byte, len(hash))
	}
	now := k.now()
	right, valid := subtle.ConstantTimeCompare(hash[:], key.Hash) == 1, key.Valid(a2a.At(now))
	if unknown || !right || !valid {
		return accepted{}, errKey
	}
	caller, err := withValidNames(call.Caller{Tenant: key.Tenant, Principal: key.Principal, Groups: key.Groups, Scopes: knownScopes(key.Scopes)})
	until := now.Add(trustKey)
	if expires := key.ExpiresAt.Time(); !expires.IsZero() && expires.Before(until) {
		until = expires
	}
	return accepted{caller, until}, err
}

// knownScopes returns the scopes among names.
func knownScopes(names []string) (out []call.Scope) {
	for _, s := range call.Scopes() {
		if slices.Contains(names, string(s)) {
			out = append(out, s)
		}
	}
	return out
}

func unavailable(err error) bool { return errors.Is(err, opt.ErrUnavailable) }
