// Package signing signs deliveries to webhooks, statements about decisions and the agent
// card, so that others can verify that they come from this installation and are unchanged. A [Keeper]
// signs with keys that all processes share through a [Store], and publishes their public
// parts.
//
// Keys are renewed without a gap. A new key is published for an hour before it
// signs, longer than receivers keep the list; the former one stays published for
// a week after. Which key signs follows from the ages in the list alone, so processes
// need not agree on a switch. [Links] signs answer links, with keys of the operator.
package signing

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"

	"longhaul/a2a"
	"longhaul/a2a/codec"
	"longhaul/opt/access"
)

// Times in the life of a key.
const (
	publishBefore     = time.Hour           // for which a key is published before it signs
	keyLifetime       = 30 * 24 * time.Hour // of a key, until the next one is made
	publishAfter      = 7 * 24 * time.Hour  // for which a key stays published after the next one signs
	signatureLifetime = 5 * time.Minute     // of a signature
	cacheTime         = time.Minute         // of the list of keys in this process
)

// A Store keeps the keys.
type Store interface {
	// SigningKeys returns all keys, the oldest first.
	SigningKeys(ctx context.Context) ([]access.SigningKey, error)
	// RenewSigningKey adds a key and removes others, unless the newest key is not
	// the one with the id newest, "" for none.
	RenewSigningKey(ctx context.Context, newest string, k access.SigningKey, remove []string) error
}

// Config says what a Keeper works with.
type Config struct {
	Store Store
	Now   func() time.Time // nil means time.Now
}

// A Keeper signs deliveries. It is safe for concurrent use.
type Keeper struct {
	cfg Config

	mu     sync.Mutex
	keys   []key     // the oldest first
	readAt time.Time // when keys were read
	cards  map[signedCard][]codec.CardSignature
}

// A key is a key that can sign.
type key struct {
	id      string
	private *ecdsa.PrivateKey
	created time.Time
}

// New returns a keeper.
func New(cfg Config) *Keeper {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	return &Keeper{cfg: cfg}
}

// Claims are the claims of a signature.
type Claims struct {
	jwt.Claims        // jti is the id of the delivery, sub the id of the task
	BodySHA256 string `json:"body_sha256"` // digest of the body, in base64url without padding
}

// Sign returns a JWT about a delivery.
func (k *Keeper) Sign(ctx context.Context, deliveryID, taskID string, body []byte) (string, error) {
	now := k.cfg.Now()
	keys, err := k.current(ctx, now)
	if err != nil {
		return "", err
	}
	signer, err := keys[signingKeyIndex(keys, now)].signer("JWT")
	if err != nil {
		return "", fmt.Errorf("sign a delivery: %w", err)
	}
	sum := sha256.Sum256(body)
	return jwt.Signed(signer).Claims(Claims{
		jwt.Claims{
			Subject: taskID, ID: deliveryID, IssuedAt: jwt.NewNumericDate(now), Expiry: jwt.NewNumericDate(now.Add(signatureLifetime)),
		},
		base64.RawURLEncoding.EncodeToString(sum[:]),
	}).Serialize()
}

// PublicKeys returns the public keys as a JSON Web Key Set. A reader may keep it
// for [CacheFor].
func (k *Keeper) PublicKeys(ctx context.Context) ([]byte, error) {
	now := k.cfg.Now()
	keys, err := k.current(ctx, now)
	if err != nil {
		return nil, err
	}
	set := jose.JSONWebKeySet{Keys: []jose.JSONWebKey{}}
	for _, key := range keys[countExpired(keys, now):] {
		set.Keys = append(set.Keys, jose.JSONWebKey{Key: key.private.Public(), KeyID: key.id, Algorithm: string(jose.ES256), Use: "sig"})
	}
	return json.Marshal(set)
}

// CacheFor is how long a reader may keep the public keys.
const CacheFor = 5 * time.Minute

// current returns the keys, at least one, after making a new one if it is time.
func (k *Keeper) current(ctx context.Context, now time.Time) ([]key, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(k.keys) > 0 && now.Before(k.readAt.Add(cacheTime)) && !needsNewKey(k.keys, now) {
		return k.keys, nil
	}
	keys, err := k.load(ctx)
	if err == nil && needsNewKey(keys, now) {
		if err = k.renew(ctx, keys, now); err == nil {
			keys, err = k.load(ctx)
		}
	}
	if err == nil && len(keys) == 0 {
		err = errors.New("there is none")
	}
	if err != nil {
		return nil, fmt.Errorf("signing keys: %w", err)
	}
	k.keys, k.readAt = keys, now
	return keys, nil
}

func (k *Keeper) load(ctx context.Context) ([]key, error) {
	stored, err := k.cfg.Store.SigningKeys(ctx)
	if err != nil {
		return nil, err
	}
	var keys []key
	for _, s := range stored {
		parsed, err := x509.ParsePKCS8PrivateKey(s.Private)
		private, ok := parsed.(*ecdsa.PrivateKey)
		if err != nil || !ok {
			return nil, fmt.Errorf("key %s cannot be read", s.ID) // the cause may show a part of it
		}
		keys = append(keys, key{s.ID, private, s.CreatedAt.Time()})
	}
	return keys, nil
}

// renew adds a key, and removes those that are no longer published.
func (k *Keeper) renew(ctx context.Context, keys []key, now time.Time) error {
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	secret, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		return err
	}
	newest, remove := "", []string(nil)
	for i, key := range keys {
		if newest = key.id; i < countExpired(keys, now) {
			remove = append(remove, key.id)
		}
	}
	return k.cfg.Store.RenewSigningKey(ctx, newest, access.SigningKey{ID: rand.Text(), Private: secret, CreatedAt: a2a.At(now)}, remove)
}

// needsNewKey reports whether it is time for a new key.
func needsNewKey(keys []key, now time.Time) bool {
	return len(keys) == 0 || !now.Before(keys[len(keys)-1].created.Add(keyLifetime))
}

// signingKeyIndex returns the index of the key that signs: the newest that was published
// long enough. The very first one signs at once.
func signingKeyIndex(keys []key, now time.Time) int {
	for i := len(keys) - 1; i > 0; i-- {
		if !now.Before(keys[i].created.Add(publishBefore)) {
			return i
		}
	}
	return 0
}

// countExpired returns how many of the keys are no longer published.
func countExpired(keys []key, now time.Time) int {
	return signingKeyIndex(keys, now.Add(-publishAfter))
}
